import type { ServerResponse } from 'node:http';
import { type Dialect, type ErrorRest, NO_REFUSALS, type Refusal, type Refusals } from './dialect.ts';
import { DEFAULT_DIALECT } from './dialect-default.ts';
import type { Message, MessageFault } from './message.ts';

/** What a request will be answered, decided before anything is written. */
export interface Reply {
  /** null where no status will be sent. */
  readonly status: number | null;
  /** Ending of the address that chose the answer; null without one. */
  readonly digits: string | null;
  /** The id that the client will be given; null where it learns none. */
  readonly id: string | null;
  /** null where the body is not a message. */
  readonly message: Message | null;
  /** The recipients refused inside a success response, by position. */
  readonly refusals: Refusals;
  /** What the API goes on with, whether the client learns of it or not; null where it took nothing. */
  readonly taken: Taken | null;
  readonly write: (outgoing: ServerResponse) => void;
}

/** The facts about a message that its script needs. */
export interface Taken {
  readonly id: string;
  readonly message: Message;
  readonly refusals: Refusals;
}

/** The message is taken, but for those of its recipients that are refused. */
export function accept(dialect: Dialect, taken: Taken, digits: string | null, status = dialect.acceptedStatus): Reply {
  const { id, message, refusals } = taken;
  const json = dialect.accepted(id, message, refusals);
  return { status, digits, id, message, refusals, taken, write: (outgoing) => answerJson(outgoing, status, json) };
}

/** The answer to a request that the API does not accept. */
export function refusal(dialect: Dialect, status: number, detail: string, errors?: readonly MessageFault[]): Reply {
  const rest = errors === undefined ? { detail } : { detail, errors };
  const write = (outgoing: ServerResponse): void => answerError(outgoing, dialect, status, rest);
  return { status, digits: null, id: null, message: null, refusals: NO_REFUSALS, taken: null, write };
}

/** A message is refused as a whole because of one recipient, or of how many there are. */
export function refuseMessage(dialect: Dialect, message: Message, why: Refusal, errors?: MessageFault[]): Reply {
  const { status, code, detail, digits } = why;
  const rest = errors === undefined ? { detail, code } : { detail, code, errors };
  const write = (outgoing: ServerResponse): void => answerError(outgoing, dialect, status, rest);
  return { status, digits, id: null, message, refusals: NO_REFUSALS, taken: null, write };
}

type Headers = Readonly<Record<string, string>>;

/**
 * Writes a whole answer. It goes straight to Node's response: through a web `Response` without patched globals the
 * same answer costs twice the processor time (46 us against 23 us a request), and patching `Response` is nothing that
 * a library may do to the process that it runs in.
 */
export function answer(outgoing: ServerResponse, status: number, type: string, body: string, headers?: Headers): void {
  if (outgoing.destroyed) return;
  const length = Buffer.byteLength(body);
  outgoing.writeHead(status, { 'Content-Type': type, 'Content-Length': length, ...headers });
  outgoing.end(body);
}

/** A 2xx with JSON. */
export function answerJson(outgoing: ServerResponse, status: number, json: string): void {
  answer(outgoing, status, 'application/json', json);
}

/** An error of the API, in its dialect. */
export function answerError(
  outgoing: ServerResponse,
  dialect: Dialect,
  status: number,
  rest: ErrorRest,
  headers?: Headers,
): void {
  answer(outgoing, status, dialect.errorType, dialect.error(status, rest), headers);
}

/** An error of the sandbox itself, in the form of RFC 9457 with every dialect. */
export function answerProblem(outgoing: ServerResponse, status: number, rest: ErrorRest, headers?: Headers): void {
  answerError(outgoing, DEFAULT_DIALECT, status, rest, headers);
}

/** An answer that has no body, and by its status may have none. */
export function answerEmpty(outgoing: ServerResponse, status: number, headers: Headers): void {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, status === 204 ? headers : { 'Content-Length': 0, ...headers });
  outgoing.end();
}
