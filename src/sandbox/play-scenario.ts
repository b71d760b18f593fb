import { hash } from 'node:crypto';
import { answerEmpty, answerProblem } from './answer.ts';
import type { Message } from './check-message.ts';
import { FAULTS } from './play-fault.ts';
import { accept, acceptedJson, type Reply } from './reply.ts';
import type { Fault, RetryAfter, Scenario } from './scenarios.ts';

/** What scripted answers need to remember and to know. */
export interface Stage {
  readonly nextId: () => string;
  readonly now: () => number;
  /** Hashes of the requests that were throttled once, and are accepted when they come again. */
  readonly throttled: Set<string>;
}

/** So many throttled requests are remembered; those that never came again are forgotten, oldest first. */
const MAX_THROTTLED = 10_000;

const SCRIPTED = "Scripted: chosen by the last three digits of the recipient's number.";

/** The reply that a scenario asks for. `text` is the request's body, by which a repeated request is known. */
export function playScenario(stage: Stage, scenario: Scenario, message: Message, text: string): Reply {
  const { play } = scenario;
  switch (play.kind) {
    case 'status':
      return playStatus(stage, scenario, play.status, play.headers, message);
    case 'throttle':
      return playThrottle(stage, scenario, play.once, play.retryAfter, message, text);
    case 'fault':
      return playFault(stage, scenario, play.fault, message);
  }
}

function playStatus(
  stage: Stage,
  scenario: Scenario,
  status: number,
  headers: Readonly<Record<string, string>>,
  message: Message,
): Reply {
  if (status === 204) return plain(scenario, status, message, (outgoing) => answerEmpty(outgoing, status, headers));
  if (status < 300) return accept(stage.nextId(), message, scenario, status);
  if (status < 400) return plain(scenario, status, message, (outgoing) => answerEmpty(outgoing, status, headers));
  const problem = { detail: SCRIPTED };
  return plain(scenario, status, message, (outgoing) => answerProblem(outgoing, status, problem, headers));
}

function playThrottle(
  stage: Stage,
  scenario: Scenario,
  once: boolean,
  retryAfter: RetryAfter,
  message: Message,
  text: string,
): Reply {
  if (once && comesAgain(stage.throttled, text)) return accept(stage.nextId(), message, scenario);
  const headers = retryAfterHeader(retryAfter, stage.now());
  const problem = { detail: SCRIPTED };
  return plain(scenario, 429, message, (outgoing) => answerProblem(outgoing, 429, problem, headers));
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

function playFault(stage: Stage, scenario: Scenario, fault: Fault, message: Message): Reply {
  const { status, givesId, play } = FAULTS[fault];
  const id = stage.nextId();
  const json = acceptedJson(id, message);
  return { status, scenario, id: givesId ? id : null, message, write: (outgoing) => play(outgoing, json) };
}

function plain(scenario: Scenario, status: number, message: Message, write: Reply['write']): Reply {
  return { status, scenario, id: null, message, write };
}
