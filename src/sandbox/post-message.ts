import type { IncomingMessage, ServerResponse } from 'node:http';
import { mask } from '../util/mask.ts';
import { safeLine } from '../util/safe.ts';
import { answerProblem } from './answer.ts';
import { addressesOf, type Message } from './check-message.ts';
import { type Desk, decide } from './decide.ts';
import type { Inbox, ReceivedFacts } from './inbox.ts';
import { later } from './play-fault.ts';
import type { Receipts } from './receipts.ts';
import { receiveBody } from './receive-body.ts';
import type { Reply } from './reply.ts';

/** A desk that keeps what it receives. */
export interface Counter extends Desk {
  readonly inbox: Inbox;
  readonly receipts: Receipts | null;
  readonly latencyMs: number;
  readonly log: ((line: string) => void) | null;
}

/**
 * `POST /v2/messages`: receive, decide, keep, answer. The receipt is written before the answer, so that whoever
 * compares the two never finds an answer without its receipt.
 */
export async function postMessage(
  counter: Counter,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await receiveBody(incoming);
  if (body === 'cut-off') return;
  if (body === 'too-large') {
    answerProblem(outgoing, 413, { detail: 'The body is larger than 1 MiB.' }, { Connection: 'close' });
    return;
  }
  const reply = decide(counter, incoming.headers, body);
  keep(counter, reply, body);
  if (counter.latencyMs > 0) later(outgoing, counter.latencyMs, () => reply.write(outgoing));
  else reply.write(outgoing);
}

function keep(counter: Counter, reply: Reply, bytes: Buffer): void {
  const facts: ReceivedFacts = {
    number: counter.inbox.received + 1,
    receivedAtMs: counter.now(),
    status: reply.status,
    scenario: reply.scenario?.digits ?? null,
    id: reply.id,
    isMessage: reply.message !== null,
  };
  counter.receipts?.append({ ...facts, bytes });
  counter.inbox.add(facts, bytes);
  counter.log?.(logLine(facts, reply.message));
}

/** For eyes: addresses are masked, and nothing from outside reaches a terminal as it came. */
function logLine({ number, status, scenario, id }: ReceivedFacts, message: Message | null): string {
  const script = scenario === null ? '' : ` (script ${scenario})`;
  const to = message === null ? '' : ` ${addressesOf(message).map(mask).join(', ')}`;
  return safeLine(`#${number} ${status ?? 'no answer'}${script}${to}${id === null ? '' : ` ${id}`}`);
}
