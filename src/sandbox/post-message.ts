import type { IncomingMessage, ServerResponse } from 'node:http';
import { mask } from '../util/mask.ts';
import { receiveBody } from '../util/receive-body.ts';
import { safeLine } from '../util/safe.ts';
import { addressesOf, countOf } from './addresses.ts';
import { answerError } from './answer.ts';
import type { Message } from './check-message.ts';
import { type Desk, decide } from './decide.ts';
import type { Inbox, ReceivedFacts } from './inbox.ts';
import { later } from './play-fault.ts';
import type { Receipts } from './receipts.ts';
import type { Reply } from './reply.ts';
import type { Reporter } from './reporter.ts';

/** A desk that keeps what it receives. */
export interface Counter extends Desk {
  readonly inbox: Inbox;
  readonly receipts: Receipts | null;
  /** Posts what comes back; null without a webhook, so that nothing has to be looked at then. */
  readonly reporter: Reporter | null;
  readonly latencyMs: number;
  readonly log: ((line: string) => void) | null;
}

/**
 * `POST /v2/messages`: receive, decide, keep, report, answer. The receipt is written before the answer and before what
 * is reported, so that whoever compares them never finds one without its receipt.
 */
export async function postMessage(
  counter: Counter,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await receiveBody(incoming, MAX_BODY_BYTES);
  if (body === 'cut-off') return;
  if (body === 'too-large') {
    answerError(outgoing, counter.dialect, 413, TOO_LARGE, { Connection: 'close' });
    return;
  }
  const decided = decide(counter, incoming.headers, body);
  const followers = counter.reporter === null ? null : counter.reporter.follow(decided);
  const reply = followers === null ? decided : followers.reply;
  keep(counter, reply, body);
  const early = followers === null ? null : followers.begin();
  if (early !== null) await early;
  if (counter.latencyMs > 0) later(outgoing, counter.latencyMs, () => reply.write(outgoing));
  else reply.write(outgoing);
}

/** Largest body that is read. The API's own limit is unstated. */
const MAX_BODY_BYTES = 1_048_576;
const TOO_LARGE = { detail: 'The body is larger than 1 MiB.' };

function keep(counter: Counter, reply: Reply, bytes: Buffer): void {
  const facts: ReceivedFacts = {
    number: counter.inbox.received + 1,
    receivedAtMs: counter.now(),
    status: reply.status,
    scenario: reply.digits,
    id: reply.id,
    isMessage: reply.message !== null,
    refused: refusedBy(reply),
    taken: isTaken(reply),
  };
  counter.receipts?.append({ ...facts, bytes });
  counter.inbox.add(facts, bytes);
  counter.log?.(logLine(facts, reply.message));
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
