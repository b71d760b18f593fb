import type { ServerResponse } from 'node:http';
import { answerError, answerJson } from './answer.ts';
import type { Message, MessageFault } from './check-message.ts';
import type { Dialect, Refusal, Refusals } from './dialect.ts';
import { NO_REFUSALS } from './dialect.ts';

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
