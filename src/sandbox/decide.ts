import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Message, MessageChecker, MessageFault } from './check-message.ts';
import { playScenario, type Stage } from './play-scenario.ts';
import { accept, type Reply, refusal } from './reply.ts';
import { type Scenario, type ScriptedNumbers, scenarioFor } from './scenarios.ts';

/** What the API needs to know to judge a request. */
export interface Desk extends Stage {
  readonly apiKey: string;
  readonly checker: MessageChecker;
  readonly scripts: ScriptedNumbers;
}

/** Judges one request as the API would: the key, the form of the body, the message, and then the script. */
export function decide(desk: Desk, headers: IncomingHttpHeaders, body: Buffer): Reply {
  if (headers['x-api-key'] !== desk.apiKey) return refusal(401, NO_KEY);
  if (!isPlainJson(headers)) return refusal(415, NOT_PLAIN_JSON);
  if (!isUtf8(body)) return refusal(400, 'The body is not UTF-8.');
  const text = body.toString('utf8');
  const message = parse(text);
  if (message === undefined) return refusal(400, 'The body is not JSON.');
  if (!desk.checker.isMessage(message)) return notAMessage(desk.checker.faults());
  const scenario = scriptedIn(message, desk.scripts);
  if (scenario === null) return accept(desk.nextId(), message, null);
  return playScenario(desk, scenario, message, text);
}

const NO_KEY = 'The header X-Api-Key is missing or not the key of this sandbox.';
const NOT_PLAIN_JSON = 'The body must be application/json in UTF-8, not compressed.';
const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/** The first fault stands in the detail too: that is the sentence which clients show. */
function notAMessage(faults: readonly MessageFault[]): Reply {
  const [first] = faults;
  const place = first === undefined ? '' : `: ${first.pointer} ${first.detail}`;
  return refusal(422, `The body is not a message${place}.`, faults);
}

function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return false;
  const type = headers['content-type'];
  return type === 'application/json' || (type !== undefined && JSON_TYPE.test(type));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One request has one answer: with several recipients, the first one with a script decides for all of them. */
function scriptedIn(message: Message, whose: ScriptedNumbers): Scenario | null {
  for (const { msisdn } of message.recipients ?? []) {
    const scenario = scenarioFor(msisdn, whose);
    if (scenario !== null) return scenario;
  }
  return null;
}
