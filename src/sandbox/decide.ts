import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { countOf, pointerTo } from './addresses.ts';
import type { Message, MessageChecker, MessageFault } from './check-message.ts';
import type { Dialect, Refusals } from './dialect.ts';
import { type Acquaintance, judge } from './judge.ts';
import { playScenario, type Stage } from './play-scenario.ts';
import { accept, type Reply, refusal, refuseMessage } from './reply.ts';

/** What the API needs to know to judge a request. */
export interface Desk extends Stage, Acquaintance {
  readonly apiKey: string;
  readonly checker: MessageChecker;
  readonly maxRecipients: number;
}

/** Judges one request as the API would: the key, the form of the body, the message, its recipients, their scripts. */
export function decide(desk: Desk, headers: IncomingHttpHeaders, body: Buffer): Reply {
  const { dialect } = desk;
  if (headers['x-api-key'] !== desk.apiKey) return refusal(dialect, 401, NO_KEY);
  if (!isPlainJson(headers)) return refusal(dialect, 415, NOT_PLAIN_JSON);
  if (!isUtf8(body)) return refusal(dialect, 400, 'The body is not UTF-8.');
  const text = body.toString('utf8');
  const message = parse(text);
  if (message === undefined) return refusal(dialect, 400, 'The body is not JSON.');
  if (!desk.checker.isMessage(message)) return notAMessage(dialect, desk.checker.faults());
  if (countOf(message) > desk.maxRecipients) return tooMany(desk, message);
  return answerMessage(desk, message, text);
}

const NO_KEY = 'The header X-Api-Key is missing or not the key of this sandbox.';
const NOT_PLAIN_JSON = 'The body must be application/json in UTF-8, not compressed.';
const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

function answerMessage(desk: Desk, message: Message, text: string): Reply {
  const { dialect } = desk;
  const { scenario, refusals } = judge(desk, message);
  if (scenario !== null) return playScenario(desk, scenario, { id: desk.nextId(), message, refusals }, text);
  if (refusals.size === 0) return accept(dialect, { id: desk.nextId(), message, refusals }, null);
  return answerRefusals(desk, message, refusals);
}

/** Inside an answer of success where the dialect has a place for it, else for the whole request. */
function answerRefusals(desk: Desk, message: Message, refusals: Refusals): Reply {
  const { dialect } = desk;
  const [first] = refusals;
  const alone = dialect.results === 'several' && countOf(message) === 1;
  if (first === undefined || (dialect.results !== 'never' && !alone)) {
    return accept(dialect, { id: desk.nextId(), message, refusals }, null);
  }
  const [position, why] = first;
  const errors = alone ? undefined : [{ detail: why.detail, pointer: pointerTo(message, position) }];
  return refuseMessage(dialect, message, why, errors);
}

function tooMany({ dialect, maxRecipients }: Desk, message: Message): Reply {
  const detail = `The message has ${countOf(message)} recipients, and at most ${maxRecipients} are taken.`;
  return refuseMessage(dialect, message, { status: 413, code: 'too-many-recipients', detail, digits: null });
}

/** The first fault stands in the detail too: that is the sentence which clients show. */
function notAMessage(dialect: Dialect, faults: readonly MessageFault[]): Reply {
  const [first] = faults;
  const place = first === undefined ? '' : `: ${first.pointer} ${first.detail}`;
  return refusal(dialect, dialect.invalidStatus, `The body is not a message${place}.`, faults);
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
