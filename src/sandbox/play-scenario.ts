import { hash } from 'node:crypto';
import { answerEmpty, answerError } from './answer.ts';
import { type Dialect, NOBODY } from './dialect.ts';
import { FAULTS } from './play-fault.ts';
import { accept, type Reply, type Taken } from './reply.ts';
import type { Fault, RetryAfter, Scenario } from './scenarios.ts';

/** What scripted answers need to remember and to know. */
export interface Stage {
  readonly dialect: Dialect;
  readonly nextId: () => string;
  readonly now: () => number;
  /** Hashes of the requests that were throttled once, and are accepted when they come again. */
  readonly throttled: Set<string>;
}

/** So many throttled requests are remembered; those that never came again are forgotten, oldest first. */
const MAX_THROTTLED = 10_000;

const SCRIPTED = { detail: "Scripted: chosen by the last three digits of the recipient's address." };

/** The reply that a scenario asks for. `text` is the request's body, by which a repeated request is known. */
export function playScenario(stage: Stage, scenario: Scenario, taken: Taken, text: string): Reply {
  const { play } = scenario;
  switch (play.kind) {
    case 'status':
      return playStatus(stage, scenario, play.status, play.headers, taken);
    case 'throttle':
      return playThrottle(stage, scenario, play.once, play.retryAfter, taken, text);
    case 'fault':
      return playFault(stage, scenario, play.fault, taken);
  }
}

function playStatus(
  stage: Stage,
  scenario: Scenario,
  status: number,
  headers: Readonly<Record<string, string>>,
  taken: Taken,
): Reply {
  const isEmpty = status === 204 || (status >= 300 && status < 400);
  if (isEmpty) return plain(scenario, status, taken, (outgoing) => answerEmpty(outgoing, status, headers));
  if (status < 300) return accept(stage.dialect, taken, scenario.digits, status);
  return plain(scenario, status, taken, (outgoing) => answerError(outgoing, stage.dialect, status, SCRIPTED, headers));
}

function playThrottle(
  stage: Stage,
  scenario: Scenario,
  once: boolean,
  retryAfter: RetryAfter,
  taken: Taken,
  text: string,
): Reply {
  if (once && comesAgain(stage.throttled, text)) return accept(stage.dialect, taken, scenario.digits);
  const headers = retryAfterHeader(retryAfter, stage.now());
  return plain(scenario, 429, taken, (outgoing) => answerError(outgoing, stage.dialect, 429, SCRIPTED, headers));
}

/** True when this very body was seen and has not been accepted since; else it is remembered. */
function comesAgain(throttled: Set<string>, text: string): boolean {
  const key = hash('sha256', text, 'base64');
  if (throttled.delete(key)) return true;
  throttled.add(key);
  const [oldest] = throttled;
  if (throttled.size > MAX_THROTTLED && oldest !== undefined) throttled.delete(oldest);
  return false;
}

function retryAfterHeader(wait: RetryAfter, nowMs: number): Readonly<Record<string, string>> {
  if (wait === null) return {};
  if (wait.form === 'seconds') return { 'Retry-After': String(wait.seconds) };
  return { 'Retry-After': new Date(nowMs + wait.seconds * 1000).toUTCString() };
}

function playFault({ dialect }: Stage, { digits }: Scenario, fault: Fault, taken: Taken): Reply {
  const { status, givesId, play } = FAULTS[fault];
  const success = dialect.acceptedStatus;
  const json = dialect.accepted(taken.id, taken.message, taken.refusals);
  return {
    status: status === 'success' ? success : status,
    digits,
    id: givesId ? taken.id : null,
    message: taken.message,
    refusals: givesId ? taken.refusals : NOBODY,
    taken: status === 'success' ? taken : null,
    write: (outgoing) => play(outgoing, json, success),
  };
}

function plain({ digits }: Scenario, status: number, taken: Taken, write: Reply['write']): Reply {
  const { message } = taken;
  return { status, digits, id: null, message, refusals: NOBODY, taken: status < 300 ? taken : null, write };
}
