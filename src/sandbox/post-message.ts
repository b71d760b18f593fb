import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { safeLine } from '../util/escape.ts';
import { receiveBody } from '../util/http-server.ts';
import { parseJson } from '../util/json.ts';
import { mask } from '../util/redact.ts';
import { deviceOf, takes } from './devices.ts';
import { type Answer, type Ending, endingOf, statusTitle } from './endings.ts';
import {
  ACCEPTED,
  acceptedJson,
  type Message,
  NOT_A_MESSAGE,
  PROBLEM_TYPE,
  type Problem,
  problemJson,
  type Refusal,
  type Refusals,
  recipientsOf,
  UNSUPPORTED,
} from './form.ts';
import { isSuccess, type Received } from './inbox.ts';
import { type ProviderApi, wordBy } from './provider-api.ts';
import type { SandboxState } from './state.ts';

/** An answer before the ending may cut it. */
interface Written {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Headers;
}

interface Reply extends Pick<Received, 'scenario' | 'id' | 'to'> {
  readonly written: Written;
  readonly cut?: Answer['cut'];
  readonly delayMs?: number | undefined;
  /** The recipients that are refused inside an answer of success. */
  readonly refusals?: Refusals;
  /** The API goes on with it, whether the client learns of it or not. */
  readonly taken?: readonly [id: string, message: Message, refusals: Refusals] | undefined;
}

/** Writes the receipt before the answer and any report, so a comparison never finds one of them without its receipt. */
export async function postMessage(
  state: SandboxState,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const bytes = await receiveBody(incoming, MAX_BODY_BYTES);
  if (bytes === 'cut-off') return;
  if (bytes === 'too-large') {
    return answerProblem(outgoing, 413, { detail: 'The body is larger than 1 MiB.' }, { Connection: 'close' });
  }
  const { inbox, receipts, reporter, log } = state;
  const { written, cut, delayMs = 0, taken, refusals, ...facts } = replyTo(state, incoming, bytes);
  const entry: Received = {
    ...facts,
    number: inbox.received + 1,
    receivedAtMs: state.now(),
    status: isAnswered(cut) ? written.status : undefined,
    refused: facts.to?.filter((_, i) => refusals?.has(i)) ?? [],
    bytes,
  };
  receipts?.append(entry);
  inbox.add(entry);
  log?.(logLine(entry));
  if (taken !== undefined) await reporter?.follow(...taken);
  later(outgoing, state.latencyMs + delayMs, () => write(outgoing, written, cut));
}

/** The API's own limit is unstated. */
const MAX_BODY_BYTES = 1_048_576;
const SHOWN = 3;

/** Masks addresses, and makes text from outside safe for a terminal. */
function logLine({ number, status, scenario, id, refused, to: addresses }: Received): string {
  const script = scenario === undefined ? '' : ` (script ${scenario})`;
  const more = addresses !== null && addresses.length > SHOWN ? ` and ${addresses.length - SHOWN} more` : '';
  const to = addresses === null ? '' : ` ${addresses.slice(0, SHOWN).map(mask).join(', ')}${more}`;
  const not = refused.length === 0 ? '' : ` (${refused.length} refused)`;
  return safeLine(`#${number} ${status ?? 'no answer'}${script}${to}${not}${id === undefined ? '' : ` ${id}`}`);
}

/** A request that the API takes. */
interface Asked {
  readonly to: readonly string[];
  /** By its name in the API; undefined where it is not known. */
  readonly channel: string | undefined;
  readonly message?: Message;
  /** @param status - that of the ending, if one answers all */
  usual(status: number | undefined, id: string, refusals: Refusals): Written;
}

type Fault = Problem & { readonly status: number };

const NOT_UTF8: Fault = { status: 400, detail: 'The body is not UTF-8.' };

function readMessage({ apiKey, checker }: SandboxState, headers: IncomingHttpHeaders, body: Buffer): Asked | Fault {
  if (headers['x-api-key'] !== apiKey) {
    return { status: 401, detail: 'The header X-Api-Key is missing or not the key of this sandbox.' };
  }
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers;
  if (encoding !== 'identity' || !JSON_TYPE.test(type)) {
    return { status: 415, detail: 'The body must be application/json in UTF-8, not compressed.' };
  }
  if (!isUtf8(body)) return NOT_UTF8;
  const message = parseJson(body.toString('utf8'));
  if (message === undefined) return { status: 400, detail: 'The body is not JSON.' };
  if (checker.isMessage(message)) return askedBy(message);
  const errors = checker.faults();
  // Clients show the detail, so it has the first fault too.
  const place = errors[0] === undefined ? '' : `: ${errors[0].pointer} ${errors[0].detail}`;
  return { status: NOT_A_MESSAGE, detail: `The body is not a message${place}.`, errors };
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

function askedBy(message: Message): Asked {
  const recipients = recipientsOf(message);
  return {
    to: recipients.map(({ address }) => address),
    channel: message.channel,
    message,
    usual(given, id, refusals) {
      const [only] = recipients.length === 1 && given === undefined ? refusals.values() : [];
      const status = given ?? only?.status ?? ACCEPTED;
      if (isSuccess(status)) return { status, type: 'application/json', text: acceptedJson(id, recipients, refusals) };
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
    channel: others.length === 0 ? channel : undefined,
    usual(given, id, refusals) {
      const words = to.map((_, i) => {
        const { status, code } = refusals.get(i) ?? { status: ACCEPTED, code: '' };
        if (given !== undefined && !isSuccess(given)) return wordBy(given);
        return code === UNSUPPORTED.code ? 'unsupported' : wordBy(status);
      });
      const [first] = refusals.values();
      const answer = provider.answer(words, given ?? first?.status ?? ACCEPTED, request, id);
      return { ...answer, type: answer.headers['Content-Type'] ?? '' };
    },
  };
}

function refuse({ status, ...problem }: Fault, to: readonly string[] | null = null): Reply {
  return { to, written: { status, type: PROBLEM_TYPE, text: problemJson(status, problem) } };
}

/** An ending has priority over the device. A refusal is about one recipient; the first other answer is about all. */
function replyTo(state: SandboxState, incoming: IncomingMessage, body: Buffer): Reply {
  const { provider, maxRecipients, scripts } = state;
  const asked = provider === null ? readMessage(state, incoming.headers, body) : readBy(provider, incoming, body);
  if ('detail' in asked) return refuse(asked);
  const { to, channel, message } = asked;
  if (to.length > maxRecipients) {
    const detail = `The request has ${to.length} recipients, and at most ${maxRecipients} are taken.`;
    return refuse({ status: 413, detail, code: 'too-many-recipients' }, to);
  }
  const refusals = new Map<number, Refusal>();
  let chosen: Ending | undefined;
  for (const [i, address] of to.entries()) {
    const ending = endingOf(address, scripts);
    const refusal = ending === undefined ? unsupported(state, address, channel) : refusalBy(ending);
    if (refusal !== undefined && (ending === undefined || to.length > 1)) refusals.set(i, refusal);
    else if (ending?.answer !== undefined) chosen ??= ending;
  }
  const wanted = chosen?.answer ?? {};
  const key = wanted.once === true ? hash('sha256', body, 'base64') : null;
  // Whether this body was seen and has not been accepted since; else it is remembered now.
  const comesAgain = key !== null && state.throttled.delete(key);
  if (key !== null && !comesAgain) state.throttled.add(key);
  const answer = comesAgain ? {} : wanted;
  const { cut, delayMs, headers } = answer;
  const id = `${state.idPrefix}-${state.inbox.received + 1}`;
  const written = { headers, ...asked.usual(answer.status, id, refusals), ...answer.body };
  const isGood = isAnswered(cut) && isSuccess(written.status);
  const givesId = isGood && written.status !== 204 && answer.body === undefined && cut === undefined;
  const isTaken = chosen?.reports === undefined ? isGood : chosen.reports.length > 0;
  return {
    to,
    written,
    cut,
    delayMs,
    scenario: chosen?.digits,
    ...(givesId && { id, refusals }),
    taken: isTaken && message !== undefined ? [id, message, refusals] : undefined,
  };
}

function isAnswered(cut: Answer['cut']): boolean {
  return cut === undefined || cut === 'half';
}

/** Not about one recipient of several: the key, credit, the rate, the size, and a client that gave up. */
const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 413, 425, 429, 499]);

function refusalBy({ answer: { status = 0 } = {} }: Ending): Refusal | undefined {
  if (status < 400 || status > 499 || ABOUT_THE_REQUEST.has(status)) return undefined;
  const title = statusTitle(status);
  return { status, code: title.toLowerCase().replaceAll(' ', '-'), detail: `Scripted: ${title}.` };
}

function unsupported(state: SandboxState, address: string, channel: string | undefined): Refusal | undefined {
  const device = deviceOf(address, state.devices, state.scripts);
  if (channel === undefined || device === undefined || takes(device, channel)) return undefined;
  const article = /^[aeiou]/i.test(device.label) ? 'an' : 'a';
  const detail = `The recipient cannot receive ${channel}: the device is ${article} ${device.label}.`;
  return { ...UNSUPPORTED, detail };
}

/** A reset drops data that the client has not read yet: the half answer gets this long to arrive. */
const ARRIVE_MS = 50;

function write(outgoing: ServerResponse, { status, type, text, headers }: Written, cut: Answer['cut']): void {
  if (cut === 'silence') return;
  if (cut === 'reset') outgoing.socket?.resetAndDestroy();
  else if (cut === 'close') outgoing.socket?.end();
  else if (cut === 'half') {
    outgoing.writeHead(status, { 'Content-Type': type, 'Content-Length': text.length });
    const reset = (): void => void outgoing.socket?.resetAndDestroy();
    outgoing.write(text.slice(0, text.length / 2), () => later(outgoing, ARRIVE_MS, reset));
  } else answer(outgoing, status, type, status >= 300 && status < 400 ? '' : text, headers);
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

export function answer(outgoing: ServerResponse, status: number, type: string, body: string, headers?: Headers): void {
  if (outgoing.destroyed) return;
  const text = status === 204 ? '' : body;
  const about = text === '' ? {} : { 'Content-Type': type };
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(text) };
  outgoing.writeHead(status, { ...about, ...length, ...headers });
  outgoing.end(text);
}

export function answerProblem(outgoing: ServerResponse, status: number, problem: Problem, headers?: Headers): void {
  answer(outgoing, status, PROBLEM_TYPE, problemJson(status, problem), headers);
}
