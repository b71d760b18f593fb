import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { safeLine } from '../util/escape.ts';
import { receiveBody } from '../util/http-server.ts';
import { mask } from '../util/redact.ts';
import { type Device, deviceByDigits, hasMeaning, scriptOf, takes } from './devices.ts';
import { type Dialect, NO_REFUSALS, type Refusal, type Refusals, UNSUPPORTED } from './dialect.ts';
import type { Inbox, Receipts, ReceivedFacts } from './inbox.ts';
import {
  addressesOf,
  bareNumber,
  countOf,
  type Message,
  type MessageChecker,
  type MessageFault,
  pointerTo,
} from './message.ts';
import {
  accept,
  answer,
  answerEmpty,
  answerError,
  answerJson,
  type Reply,
  refusal,
  refuseMessage,
  type Taken,
} from './reply.ts';
import type { Reporter } from './reporter.ts';
import {
  type Fault,
  ownRefusal,
  type RetryAfter,
  type Scenario,
  type ScriptedNumbers,
  statusTitle,
} from './scenarios.ts';

/** The state of a sandbox, and where it keeps what it receives. */
export interface SandboxState extends ApiContext {
  readonly inbox: Inbox;
  readonly receipts: Receipts | null;
  /** Posts delivery reports and replies; null without a webhook. */
  readonly reporter: Reporter | null;
  readonly latencyMs: number;
  readonly log: ((line: string) => void) | null;
}

/**
 * `POST /v2/messages`: receive, decide, keep, report, answer. The receipt is written before the answer and before any
 * report, so a comparison never finds one of them without its receipt.
 */
export async function postMessage(
  state: SandboxState,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await receiveBody(incoming, MAX_BODY_BYTES);
  if (body === 'cut-off') return;
  if (body === 'too-large') {
    answerError(outgoing, state.dialect, 413, TOO_LARGE, { Connection: 'close' });
    return;
  }
  const decided = decide(state, incoming.headers, body);
  const followers = state.reporter === null ? null : state.reporter.follow(decided);
  const reply = followers === null ? decided : followers.reply;
  keep(state, reply, body);
  const early = followers === null ? null : followers.begin();
  if (early !== null) await early;
  if (state.latencyMs > 0) later(outgoing, state.latencyMs, () => reply.write(outgoing));
  else reply.write(outgoing);
}

/** Largest body that is read. The API's own limit is unstated. */
const MAX_BODY_BYTES = 1_048_576;
const TOO_LARGE = { detail: 'The body is larger than 1 MiB.' };

function keep(state: SandboxState, reply: Reply, bytes: Buffer): void {
  const facts: ReceivedFacts = {
    number: state.inbox.received + 1,
    receivedAtMs: state.now(),
    status: reply.status,
    scenario: reply.digits,
    id: reply.id,
    isMessage: reply.message !== null,
    refused: refusedBy(reply),
    taken: isTaken(reply),
  };
  state.receipts?.append({ ...facts, bytes });
  state.inbox.add(facts, bytes);
  state.log?.(logLine(facts, reply.message));
}

function refusedBy({ message, refusals }: Reply): readonly string[] {
  if (message === null || refusals.size === 0) return NONE;
  return addressesOf(message).filter((_address, i) => refusals.has(i));
}

const NONE: readonly string[] = [];

/** A success, for one recipient at least. */
function isTaken({ status, message, refusals }: Reply): boolean {
  if (status === null || status < 200 || status > 299) return false;
  return refusals.size === 0 || (message !== null && refusals.size < countOf(message));
}

/** For eyes: addresses are masked, and nothing from outside reaches a terminal as it came. */
function logLine({ number, status, scenario, id, refused }: ReceivedFacts, message: Message | null): string {
  const script = scenario === null ? '' : ` (script ${scenario})`;
  const to = message === null ? '' : ` ${shown(addressesOf(message))}`;
  const not = refused.length === 0 ? '' : ` (${refused.length} refused)`;
  return safeLine(`#${number} ${status ?? 'no answer'}${script}${to}${not}${id === null ? '' : ` ${id}`}`);
}

const SHOWN = 3;

function shown(addresses: readonly string[]): string {
  const more = addresses.length - SHOWN;
  return addresses.slice(0, SHOWN).map(mask).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** What the API needs to decide about a request. */
interface ApiContext extends ScenarioContext, RecipientSettings {
  readonly apiKey: string;
  readonly checker: MessageChecker;
  readonly maxRecipients: number;
}

/**
 * Decides about one request as the API would: the key, the form of the body, the message, its recipients, their
 * scripts.
 */
function decide(context: ApiContext, headers: IncomingHttpHeaders, body: Buffer): Reply {
  const { dialect } = context;
  if (headers['x-api-key'] !== context.apiKey) return refusal(dialect, 401, NO_KEY);
  if (!isPlainJson(headers)) return refusal(dialect, 415, NOT_PLAIN_JSON);
  if (!isUtf8(body)) return refusal(dialect, 400, 'The body is not UTF-8.');
  const text = body.toString('utf8');
  const message = parse(text);
  if (message === undefined) return refusal(dialect, 400, 'The body is not JSON.');
  if (!context.checker.isMessage(message)) return notAMessage(dialect, context.checker.faults());
  if (countOf(message) > context.maxRecipients) return tooMany(context, message);
  return answerMessage(context, message, text);
}

const NO_KEY = 'The header X-Api-Key is missing or not the key of this sandbox.';
const NOT_PLAIN_JSON = 'The body must be application/json in UTF-8, not compressed.';
const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

function answerMessage(context: ApiContext, message: Message, text: string): Reply {
  const { dialect } = context;
  const { scenario, refusals } = judge(context, message);
  if (scenario !== null) return playScenario(context, scenario, { id: context.nextId(), message, refusals }, text);
  if (refusals.size === 0) return accept(dialect, { id: context.nextId(), message, refusals }, null);
  return answerRefusals(context, message, refusals);
}

/** Inside an answer of success where the dialect has a place for it, else for the whole request. */
function answerRefusals(context: ApiContext, message: Message, refusals: Refusals): Reply {
  const { dialect } = context;
  const [first] = refusals;
  const alone = dialect.results === 'several' && countOf(message) === 1;
  if (first === undefined || (dialect.results !== 'never' && !alone)) {
    return accept(dialect, { id: context.nextId(), message, refusals }, null);
  }
  const [position, why] = first;
  const errors = alone ? undefined : [{ detail: why.detail, pointer: pointerTo(message, position) }];
  return refuseMessage(dialect, message, why, errors);
}

function tooMany({ dialect, maxRecipients }: ApiContext, message: Message): Reply {
  const detail = `The message has ${countOf(message)} recipients, and at most ${maxRecipients} are taken.`;
  return refuseMessage(dialect, message, { status: 413, code: 'too-many-recipients', detail, digits: null });
}

/** The first fault is in the detail too: clients show that sentence. */
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

/** The settings that decide how a recipient is answered. */
export interface RecipientSettings {
  readonly dialect: Dialect;
  readonly scripts: ScriptedNumbers;
  /** Devices of a file by number, without `+`; they come before those of the table. */
  readonly devices: ReadonlyMap<string, Device>;
}

/** What the recipients ask for, each judged by itself. */
interface Verdict {
  /** The first scenario that is about the whole request; null without one. */
  readonly scenario: Scenario | null;
  /** The refused recipients, by position. */
  readonly refusals: Refusals;
}

const ALL_TAKEN: Verdict = { scenario: null, refusals: NO_REFUSALS };

/**
 * Decides about every recipient of a message: a script has priority over the device. A refusal that is only about one
 * of several recipients belongs to that one; all other results of scripts are about the request.
 */
function judge(known: RecipientSettings, message: Message): Verdict {
  const number = onlyNumber(message);
  if (number !== null && known.devices.size === 0 && !hasMeaning(number)) return ALL_TAKEN;
  return judgeAll(known, message);
}

/** The number of a message to one number; nearly all are, so that they take the short way. */
function onlyNumber({ recipients, addressBook }: Message): string | null {
  if (recipients?.length !== 1 || addressBook !== undefined) return null;
  const msisdn = recipients[0]?.msisdn;
  return typeof msisdn === 'string' ? msisdn : null;
}

function judgeAll(known: RecipientSettings, message: Message): Verdict {
  const inline = message.recipients?.length ?? 0;
  const refusals = new Map<number, Refusal>();
  let scenario: Scenario | null = null;
  for (const [i, address] of addressesOf(message).entries()) {
    const script = scriptOf(address, i >= inline, known.scripts);
    const refusal = script === null ? unsupported(known, address, i >= inline, message.channel) : refusalBy(script);
    if (refusal !== null && (script === null || isOwn(known.dialect, message))) refusals.set(i, refusal);
    else scenario ??= script;
  }
  return { scenario, refusals };
}

/** With only one recipient, its scripted answer is the whole answer, unless the dialect has entries even then. */
function isOwn(dialect: Dialect, message: Message): boolean {
  return dialect.results === 'always' || countOf(message) > 1;
}

function refusalBy(scenario: Scenario): Refusal | null {
  const status = ownRefusal(scenario);
  if (status === null) return null;
  const code = statusTitle(status).toLowerCase().replaceAll(' ', '-');
  return { status, code, detail: `Scripted: ${statusTitle(status)}.`, digits: scenario.digits };
}

function unsupported(known: RecipientSettings, address: string, isContact: boolean, channel: string): Refusal | null {
  if (isContact || address.includes('@')) return null;
  const device = deviceOf(known, address);
  if (device === null || takes(device, channel)) return null;
  const detail = `The recipient cannot receive ${channel}: the device is ${articleFor(device.label)} ${device.label}.`;
  return { status: known.dialect.unsupportedStatus, code: UNSUPPORTED, detail, digits: null };
}

function articleFor(label: string): 'a' | 'an' {
  return /^[aeiou]/i.test(label) ? 'an' : 'a';
}

function deviceOf({ devices, scripts }: RecipientSettings, msisdn: string): Device | null {
  const named = devices.size === 0 ? undefined : devices.get(bareNumber(msisdn));
  return named ?? deviceByDigits(msisdn, scripts);
}

/** What scripted answers need, and what they remember. */
interface ScenarioContext {
  readonly dialect: Dialect;
  readonly nextId: () => string;
  readonly now: () => number;
  /** Hashes of the requests that were throttled once, and are accepted when they come again. */
  readonly throttled: Set<string>;
}

/** So many throttled requests are remembered; those that never came again are forgotten, oldest first. */
const MAX_THROTTLED = 10_000;

const SCRIPTED = { detail: "Scripted: chosen by the last three digits of the recipient's address." };

/** The reply that a scenario asks for. `text` is the request's body, by which a repeated request is recognised. */
function playScenario(context: ScenarioContext, scenario: Scenario, taken: Taken, text: string): Reply {
  const { play } = scenario;
  switch (play.kind) {
    case 'status':
      return playStatus(context, scenario, play.status, play.headers, taken);
    case 'throttle':
      return playThrottle(context, scenario, play.once, play.retryAfter, taken, text);
    case 'fault':
      return playFault(context, scenario, play.fault, taken);
  }
}

function playStatus(
  context: ScenarioContext,
  scenario: Scenario,
  status: number,
  headers: Readonly<Record<string, string>>,
  taken: Taken,
): Reply {
  const isEmpty = status === 204 || (status >= 300 && status < 400);
  if (isEmpty) return plain(scenario, status, taken, (outgoing) => answerEmpty(outgoing, status, headers));
  if (status < 300) return accept(context.dialect, taken, scenario.digits, status);
  return plain(scenario, status, taken, (outgoing) =>
    answerError(outgoing, context.dialect, status, SCRIPTED, headers),
  );
}

function playThrottle(
  context: ScenarioContext,
  scenario: Scenario,
  once: boolean,
  retryAfter: RetryAfter,
  taken: Taken,
  text: string,
): Reply {
  if (once && comesAgain(context.throttled, text)) return accept(context.dialect, taken, scenario.digits);
  const headers = retryAfterHeader(retryAfter, context.now());
  return plain(scenario, 429, taken, (outgoing) => answerError(outgoing, context.dialect, 429, SCRIPTED, headers));
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

function playFault({ dialect }: ScenarioContext, { digits }: Scenario, fault: Fault, taken: Taken): Reply {
  const { status, givesId, play } = FAULTS[fault];
  const success = dialect.acceptedStatus;
  const json = dialect.accepted(taken.id, taken.message, taken.refusals);
  return {
    status: status === 'success' ? success : status,
    digits,
    id: givesId ? taken.id : null,
    message: taken.message,
    refusals: givesId ? taken.refusals : NO_REFUSALS,
    taken: status === 'success' ? taken : null,
    write: (outgoing) => play(outgoing, json, success),
  };
}

function plain({ digits }: Scenario, status: number, taken: Taken, write: Reply['write']): Reply {
  const { message } = taken;
  return { status, digits, id: null, message, refusals: NO_REFUSALS, taken: status < 300 ? taken : null, write };
}

const SLOW_MS = 3_000;
const DRIP_MS = 200;
/** A reset drops data that the client has not read yet: the half answer gets this long to arrive. */
const ARRIVE_MS = 50;
const LARGE_BYTES = 1_048_576;

const NOT_HTTP = '220 mail.invalid ESMTP ready\r\n';
const HTML = '<!doctype html>\n<title>Welcome</title>\n<h1>Sign in to the network</h1>\n';

/** One way to misbehave. */
interface FaultPlay {
  /** Status that goes out: one of success as the dialect has it; null where none does. */
  readonly status: number | 'success' | null;
  /** The client is given the message's id in a whole answer. */
  readonly givesId: boolean;
  /** `json` is the body of the answer that would have been given, `success` its status. */
  readonly play: (outgoing: ServerResponse, json: string, success: number) => void;
}

const FAULTS: Readonly<Record<Fault, FaultPlay>> = {
  reset: { status: null, givesId: false, play: reset },
  silence: { status: null, givesId: false, play: () => {} },
  slow: { status: 'success', givesId: true, play: playSlow },
  html: { status: 200, givesId: false, play: (outgoing) => answer(outgoing, 200, 'text/html; charset=utf-8', HTML) },
  empty: { status: 'success', givesId: false, play: (outgoing, _json, success) => answerEmpty(outgoing, success, {}) },
  half: { status: 'success', givesId: false, play: playHalf },
  close: { status: null, givesId: false, play: (outgoing) => outgoing.socket?.end() },
  'no-id': {
    status: 'success',
    givesId: false,
    play: (outgoing, _json, success) => answerJson(outgoing, success, '{}'),
  },
  'plain-text': {
    status: 'success',
    givesId: false,
    play: (outgoing, _json, success) => answer(outgoing, success, 'text/plain', 'OK'),
  },
  'not-http': { status: null, givesId: false, play: (outgoing) => outgoing.socket?.end(NOT_HTTP) },
  interim: { status: 'success', givesId: true, play: playInterim },
  large: { status: 'success', givesId: false, play: playLarge },
  compressed: { status: 'success', givesId: false, play: playCompressed },
  drip: { status: 'success', givesId: false, play: playDrip },
};

function playSlow(outgoing: ServerResponse, json: string, success: number): void {
  later(outgoing, SLOW_MS, () => answerJson(outgoing, success, json));
}

function playLarge(outgoing: ServerResponse, json: string, success: number): void {
  answerJson(outgoing, success, json.padEnd(LARGE_BYTES));
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

function playHalf(outgoing: ServerResponse, json: string, success: number): void {
  outgoing.writeHead(success, { 'Content-Type': 'application/json', 'Content-Length': json.length });
  outgoing.write(json.slice(0, json.length / 2), () => later(outgoing, ARRIVE_MS, () => reset(outgoing)));
}

function playInterim(outgoing: ServerResponse, json: string, success: number): void {
  for (let i = 0; i < 3; i += 1) outgoing.writeProcessing();
  answerJson(outgoing, success, json);
}

function playCompressed(outgoing: ServerResponse, json: string, success: number): void {
  const body = gzipSync(json);
  outgoing.writeHead(success, {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
    'Content-Length': body.length,
  });
  outgoing.end(body);
}

function playDrip(outgoing: ServerResponse, _json: string, success: number): void {
  outgoing.writeHead(success, { 'Content-Type': 'application/json' });
  outgoing.write('{');
  const timer = setInterval(() => outgoing.write(' '), DRIP_MS);
  outgoing.once('close', () => clearInterval(timer));
}

/** Does something later, unless the client is gone by then. */
function later(outgoing: ServerResponse, delayMs: number, action: () => void): void {
  const timer = setTimeout(action, delayMs);
  outgoing.once('close', () => clearTimeout(timer));
}
