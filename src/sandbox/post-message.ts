import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Word } from '../providers/rules.ts';
import { safeLine } from '../util/escape.ts';
import { receiveBody } from '../util/http-server.ts';
import { mask } from '../util/redact.ts';
import { deviceOf, takes } from './devices.ts';
import { type Answer, type Ending, endingOf, statusTitle } from './endings.ts';
import {
  ACCEPTED,
  acceptedJson,
  addressesOf,
  countOf,
  type Message,
  NOT_A_MESSAGE,
  PROBLEM_TYPE,
  type Problem,
  problemJson,
  type Refusal,
  type Refusals,
  UNSUPPORTED,
} from './form.ts';
import type { ReceivedFacts } from './inbox.ts';
import { type ProviderApi, wordBy } from './provider-api.ts';
import type { SandboxState } from './state.ts';

interface Reply {
  /** Absent where no status will be sent. */
  readonly status: number | undefined;
  /** Ending of the address that chose the answer. */
  readonly digits?: string | undefined;
  /** The id that the client will be given. */
  readonly id?: string | undefined;
  /** Absent where the body is not a message. */
  readonly to?: readonly string[];
  /** For the reports. */
  readonly message?: Message;
  /** The recipients that are refused inside an answer of success. */
  readonly refusals: Refusals;
  /** The id of the message that the API goes on with, whether the client learns of it or not. */
  readonly takenAs?: string | undefined;
  readonly write: (outgoing: ServerResponse) => void;
}

/** Writes the receipt before the answer and any report, so a comparison never finds one of them without its receipt. */
export async function postMessage(
  state: SandboxState,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await receiveBody(incoming, MAX_BODY_BYTES);
  if (body === 'cut-off') return;
  if (body === 'too-large') {
    answerProblem(outgoing, 413, { detail: 'The body is larger than 1 MiB.' }, { Connection: 'close' });
    return;
  }
  const reply = replyTo(state, incoming, body);
  keep(state, reply, body);
  const { message, takenAs, refusals } = reply;
  if (state.reporter !== undefined && message !== undefined && takenAs !== undefined) {
    const early = state.reporter.follow(takenAs, message, refusals);
    if (early !== undefined) await early;
  }
  later(outgoing, state.latencyMs, () => reply.write(outgoing));
}

/** The API's own limit is unstated. */
const MAX_BODY_BYTES = 1_048_576;
const NO_REFUSALS: Refusals = new Map();
const NONE: readonly string[] = [];

function keep(state: SandboxState, reply: Reply, bytes: Buffer): void {
  const { status, digits, id, to = null, refusals } = reply;
  const facts: ReceivedFacts = {
    number: state.inbox.received + 1,
    receivedAtMs: state.now(),
    status,
    scenario: digits,
    id,
    to,
    refused: to === null || refusals.size === 0 ? NONE : to.filter((_, i) => refusals.has(i)),
    taken: isSuccess(status) && (refusals.size === 0 || refusals.size < (to?.length ?? 0)),
  };
  state.receipts?.append({ ...facts, bytes });
  state.inbox.add(facts, bytes);
  state.log?.(logLine(facts));
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

const SHOWN = 3;

/** Masks addresses, and makes text from outside safe for a terminal. */
function logLine({ number, status, scenario, id, refused, to: addresses }: ReceivedFacts): string {
  const script = scenario === undefined ? '' : ` (script ${scenario})`;
  const more = addresses !== null && addresses.length > SHOWN ? ` and ${addresses.length - SHOWN} more` : '';
  const to = addresses === null ? '' : ` ${addresses.slice(0, SHOWN).map(mask).join(', ')}${more}`;
  const not = refused.length === 0 ? '' : ` (${refused.length} refused)`;
  return safeLine(`#${number} ${status ?? 'no answer'}${script}${to}${not}${id === undefined ? '' : ` ${id}`}`);
}

/** A request that the API takes. */
interface Asked {
  readonly to: readonly string[];
  /** The position of the first contact of an address book; numbers and email addresses come before it. */
  readonly contactsFrom: number;
  /** By its name in the API; undefined where it is not known. */
  readonly channel: string | undefined;
  readonly message?: Message;
  /** @param status - that of the ending, if one answers all */
  usual(status: number | undefined, id: string, refusals: Refusals): Usual;
}

interface Usual {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Headers;
}

type Fault = Problem & { readonly status: number };

function replyTo(state: SandboxState, incoming: IncomingMessage, body: Buffer): Reply {
  const { provider, maxRecipients } = state;
  const asked = provider === null ? readMessage(state, incoming.headers, body) : readBy(provider, incoming, body);
  if ('detail' in asked) return refuse(asked);
  const { to } = asked;
  if (to.length <= maxRecipients) return answerAsked(state, asked, body);
  const detail = `The request has ${to.length} recipients, and at most ${maxRecipients} are taken.`;
  return { ...refuse({ status: 413, detail, code: 'too-many-recipients' }), to };
}

const NOT_UTF8: Fault = { status: 400, detail: 'The body is not UTF-8.' };

function readMessage(state: SandboxState, headers: IncomingHttpHeaders, body: Buffer): Asked | Fault {
  if (headers['x-api-key'] !== state.apiKey) {
    return { status: 401, detail: 'The header X-Api-Key is missing or not the key of this sandbox.' };
  }
  if (!isPlainJson(headers)) {
    return { status: 415, detail: 'The body must be application/json in UTF-8, not compressed.' };
  }
  if (!isUtf8(body)) return NOT_UTF8;
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8'));
  } catch {
    return { status: 400, detail: 'The body is not JSON.' };
  }
  const { checker } = state;
  if (checker.isMessage(message)) return askedBy(message);
  const errors = checker.faults();
  // Clients show the detail, so it has the first fault too.
  const place = errors[0] === undefined ? '' : `: ${errors[0].pointer} ${errors[0].detail}`;
  return { status: NOT_A_MESSAGE, detail: `The body is not a message${place}.`, errors };
}

function askedBy(message: Message): Asked {
  return {
    to: addressesOf(message),
    contactsFrom: message.recipients?.length ?? 0,
    channel: message.channel,
    message,
    usual(given, id, refusals) {
      const [only] = countOf(message) === 1 && given === undefined ? refusals.values() : [];
      const status = given ?? only?.status ?? ACCEPTED;
      if (isSuccess(status)) return { status, type: 'application/json', text: acceptedJson(id, message, refusals) };
      return { status, type: PROBLEM_TYPE, text: problemJson(status, only ?? SCRIPTED) };
    },
  };
}

const SCRIPTED = { detail: "Scripted: chosen by the last three digits of the recipient's address." };

/** Answered by the examples of a provider that the endings of the addresses choose. */
function readBy(provider: ProviderApi, { url = '/', headers }: IncomingMessage, body: Buffer): Asked | Fault {
  if (!isUtf8(body)) return NOT_UTF8;
  const request = provider.read(url, headers, body.toString('utf8'));
  if ('detail' in request) return request;
  const { to, form } = request;
  const [channel, ...others] = form.channels ?? [];
  return {
    to,
    contactsFrom: to.length,
    channel: others.length === 0 ? channel : undefined,
    usual(status, id, refusals) {
      const words = to.map((_, i) => wordOf(refusals.get(i)));
      const [first] = refusals.values();
      const answer = provider.answer(words, status ?? first?.status ?? ACCEPTED, request, id);
      return { ...answer, type: answer.headers['Content-Type'] ?? '' };
    },
  };
}

function wordOf(refusal: Refusal | undefined): Word {
  if (refusal === undefined) return 'accepted';
  return refusal.code === UNSUPPORTED.code ? 'unsupported' : wordBy(refusal.status);
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

function isPlainJson({ 'content-encoding': encoding, 'content-type': type }: IncomingHttpHeaders): boolean {
  if (encoding !== undefined && encoding !== 'identity') return false;
  return type === 'application/json' || (type !== undefined && JSON_TYPE.test(type));
}

function refuse({ status, ...problem }: Fault): Reply {
  return { status, refusals: NO_REFUSALS, write: (outgoing) => answerProblem(outgoing, status, problem) };
}

/** An ending has priority over the device. A refusal is about one recipient; the first other answer is about all. */
function answerAsked(state: SandboxState, asked: Asked, body: Buffer): Reply {
  const { to, contactsFrom, channel, message } = asked;
  const refusals = new Map<number, Refusal>();
  let chosen: Ending | undefined;
  for (const [i, address] of to.entries()) {
    const isContact = i >= contactsFrom;
    const ending = endingOf(address, isContact, state.scripts);
    const refusal =
      ending === undefined ? (isContact ? undefined : unsupported(state, address, channel)) : refusalBy(ending);
    if (refusal !== undefined && (ending === undefined || to.length > 1)) refusals.set(i, refusal);
    else if (ending?.answer !== undefined) chosen ??= ending;
  }
  const answer = answerNow(state, chosen, body);
  const { status } = answer;
  if (status !== undefined && !isSuccess(status))
    for (const i of to.keys()) refusals.set(i, { status, code: 'scripted', detail: '' });
  const reply = play(state, chosen, answer, refusals, (id) => asked.usual(status, id, refusals));
  return { ...reply, to, ...(message === undefined ? {} : { message }) };
}

/** Not about one recipient of several: the key, credit, the rate, the size, and a client that gave up. */
const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 413, 425, 429, 499]);

function refusalBy({ answer }: Ending): Refusal | undefined {
  const status = answer?.status ?? 0;
  if (status < 400 || status > 499 || ABOUT_THE_REQUEST.has(status)) return undefined;
  const title = statusTitle(status);
  return { status, code: title.toLowerCase().replaceAll(' ', '-'), detail: `Scripted: ${title}.` };
}

function unsupported(state: SandboxState, address: string, channel: string | undefined): Refusal | undefined {
  const device = address.includes('@') ? undefined : deviceOf(address, state.devices, state.scripts);
  if (channel === undefined || device === undefined || takes(device, channel)) return undefined;
  const article = /^[aeiou]/i.test(device.label) ? 'an' : 'a';
  const detail = `The recipient cannot receive ${channel}: the device is ${article} ${device.label}.`;
  return { ...UNSUPPORTED, detail };
}

/** By the request's body: an answer that comes once is not given to the same request again. */
function answerNow(state: SandboxState, ending: Ending | undefined, body: Buffer): Answer {
  const wanted: Answer = ending?.answer ?? {};
  return wanted.once === true && comesAgain(state.throttled, body) ? {} : wanted;
}

/** @param usual - the answer where the ending has no body */
function play(
  state: SandboxState,
  ending: Ending | undefined,
  answer: Answer,
  refusals: Refusals,
  usual: (id: string) => Usual,
): Reply {
  const { body, cut, delayMs = 0 } = answer;
  const id = `${state.idPrefix}-${state.inbox.received + 1}`;
  const isAnswered = cut === undefined || cut === 'half';
  const said = { headers: answer.headers, ...usual(id), ...body };
  const isGood = isAnswered && isSuccess(said.status);
  const givesId = isGood && said.status !== 204 && body === undefined && cut === undefined;
  const isTaken = ending?.reports === undefined ? isGood : ending.reports.length > 0;
  return {
    status: isAnswered ? said.status : undefined,
    digits: ending?.answer === undefined ? undefined : ending.digits,
    id: givesId ? id : undefined,
    refusals: givesId ? refusals : NO_REFUSALS,
    takenAs: isTaken ? id : undefined,
    write: (outgoing) => later(outgoing, delayMs, () => writeAs(answer, outgoing, said)),
  };
}

/** Forgets the oldest first. */
const MAX_THROTTLED = 10_000;

/** True: this body was seen and has not been accepted since. False: it is remembered now. */
function comesAgain(throttled: Set<string>, body: Buffer): boolean {
  const key = hash('sha256', body, 'base64');
  if (throttled.delete(key)) return true;
  throttled.add(key);
  const [oldest] = throttled;
  if (throttled.size > MAX_THROTTLED && oldest !== undefined) throttled.delete(oldest);
  return false;
}

/** A reset drops data that the client has not read yet: the half answer gets this long to arrive. */
const ARRIVE_MS = 50;

function writeAs({ cut }: Answer, outgoing: ServerResponse, { status, type, text, headers }: Usual): void {
  if (cut === 'silence') return;
  if (cut === 'reset') outgoing.socket?.resetAndDestroy();
  else if (cut === 'close') outgoing.socket?.end();
  else if (cut === 'half') {
    outgoing.writeHead(status, { 'Content-Type': type, 'Content-Length': text.length });
    const reset = (): void => void outgoing.socket?.resetAndDestroy();
    outgoing.write(text.slice(0, text.length / 2), () => later(outgoing, ARRIVE_MS, reset));
  } else if (text === '' || status === 204 || (status >= 300 && status < 400)) answerEmpty(outgoing, status, headers);
  else answer(outgoing, status, type, text, headers);
}

/** Unless the client is gone by then. */
function later(outgoing: ServerResponse, delayMs: number, action: () => void): void {
  if (delayMs === 0) action();
  else {
    const timer = setTimeout(action, delayMs);
    outgoing.once('close', () => clearTimeout(timer));
  }
}

type Headers = Readonly<Record<string, string>> | undefined;

/** Straight to Node's response: a web `Response` without patched globals takes 46 us a request instead of 23. */
export function answer(outgoing: ServerResponse, status: number, type: string, body: string, headers?: Headers): void {
  if (outgoing.destroyed) return;
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { 'Content-Type': type, 'Content-Length': length, ...headers });
  outgoing.end(body);
}

export function answerProblem(outgoing: ServerResponse, status: number, problem: Problem, headers?: Headers): void {
  answer(outgoing, status, PROBLEM_TYPE, problemJson(status, problem), headers);
}

export function answerEmpty(outgoing: ServerResponse, status: number, headers?: Headers): void {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, status === 204 ? headers : { 'Content-Length': 0, ...headers });
  outgoing.end();
}
