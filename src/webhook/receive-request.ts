import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scheme, WebhookEvent } from '../model.ts';
import { isAnnouncedTooLarge, receiveBody } from '../util/receive-body.ts';
import type { Verifier } from './proof.ts';
import { answerEmpty, refuse } from './receive-answer.ts';
import type { Group } from './receive-group.ts';
import type { SeenIds } from './receive-ids.ts';
import type { RefusalLog } from './receive-log.ts';
import type { Connections } from './server-connections.ts';
import { challengeOf } from './verify.ts';

/** The events of a body, as `createInterpreter` reads it. */
export interface Reading {
  readonly events: readonly WebhookEvent[];
  /** Why none of it was read: sentences without anything that the body holds. */
  readonly problems: readonly { readonly message: string; readonly status: 400 | 413 }[];
}

export type Interpret = (body: Buffer, nowMs: number) => Reading;

/** What a request needs to be received. */
export interface Desk {
  readonly scheme: Scheme;
  readonly verify: Verifier;
  /** What each environment has of its own; empty: of requests of which nobody says which they are for. */
  readonly of: (environment: string) => { readonly ids: SeenIds; readonly group: Group };
  readonly interpret: Interpret;
  readonly log: RefusalLog;
  readonly now: () => number;
  readonly connections: () => Connections;
  /** Nothing new is taken: connections go with their answers. */
  readonly isClosing: () => boolean;
}

/** Where a request came in. */
export interface Place {
  /** Whose events these are; empty: nobody says. */
  readonly environment: string;
  /** What stands behind the path, where that is the secret; else null. */
  readonly segment: string | null;
}

/**
 * One POST: its body is read within the limit, its sender proven, its events held, and only then it is answered.
 * Nothing that it holds is looked at before its sender has proved itself, and nothing but the ledger can make it a 5xx.
 */
export async function receiveRequest(
  desk: Desk,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { environment, segment }: Place,
): Promise<void> {
  const { socket } = incoming;
  const { ids, group } = desk.of(environment);
  const connections = desk.connections();
  connections.began(socket);
  const no = (status: number, reason: string, headers: Readonly<{ [name: string]: string }> = {}): void => {
    desk.log.refused(status, reason);
    refuse(incoming, outgoing, status, headers);
  };
  const coding = incoming.headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') return no(415, 'the body is compressed', { 'Accept-Encoding': 'identity' });
  if (isAnnouncedTooLarge(incoming, MAX_BODY_BYTES)) return no(413, TOO_LARGE);
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const body = await receiveBody(incoming, MAX_BODY_BYTES);
  if (body === 'cut-off') return;
  if (body === 'too-large') return no(413, TOO_LARGE);

  const nowMs = desk.now();
  const verdict = desk.verify({ headers: incoming.headers, body, segment }, nowMs);
  if (!verdict.verified) {
    const challenge = challengeOf(desk.scheme);
    return no(401, verdict.reason, challenge === null ? {} : { 'WWW-Authenticate': challenge });
  }
  if (verdict.id !== null && ids.isReused(verdict.id, body, nowMs)) {
    return no(401, 'its id came with another body before');
  }
  connections.answering(socket);
  const { events, problems } = read(desk, body, nowMs);
  const [problem] = problems;
  if (events.length === 0 && problem !== undefined) return no(problem.status, problem.message);
  try {
    if (events.length > 0) await group.add(events);
  } catch {
    if (verdict.id !== null) ids.forget(verdict.id);
    // Whoever records says what is wrong; the sender tries again later.
    return no(503, 'the events could not be stored', { 'Retry-After': '10' });
  }
  outgoing.once('finish', () => connections.answered(socket));
  answerEmpty(outgoing, 200, desk.isClosing() ? { Connection: 'close' } : {});
}

/** Standard Webhooks advises senders to stay below 20 kB. */
const MAX_BODY_BYTES = 64 * 1024;
const TOO_LARGE = 'the body has more than 64 KiB';

/** What a proven sender says is never lost: where reading it fails, it is kept as it is. */
function read(desk: Desk, body: Buffer, nowMs: number): Reading {
  try {
    return desk.interpret(body, nowMs);
  } catch (error) {
    desk.log.refused(200, `a body that is kept unread, by a bug: ${error instanceof Error ? error.name : 'unknown'}`);
    return { events: [{ kind: 'unread', body: body.toString('utf8') }], problems: [] };
  }
}
