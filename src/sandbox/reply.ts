import type { ServerResponse } from 'node:http';
import { answerJson, answerProblem } from './answer.ts';
import type { Message, MessageFault } from './check-message.ts';
import type { Scenario } from './scenarios.ts';

/** What a request will be answered, decided before anything is written. */
export interface Reply {
  /** null where no status will be sent. */
  readonly status: number | null;
  readonly scenario: Scenario | null;
  /** The id that the client will be given; null where it learns none. */
  readonly id: string | null;
  /** null where the body is not a message. */
  readonly message: Message | null;
  readonly write: (outgoing: ServerResponse) => void;
}

/** The message is taken. */
export function accept(id: string, message: Message, scenario: Scenario | null, status = 202): Reply {
  const json = acceptedJson(id, message);
  return { status, scenario, id, message, write: (outgoing) => answerJson(outgoing, status, json) };
}

/** The request is not one that the API takes. */
export function refusal(status: number, detail: string, errors?: readonly MessageFault[]): Reply {
  const problem = errors === undefined ? { detail } : { detail, errors };
  const write = (outgoing: ServerResponse): void => answerProblem(outgoing, status, problem);
  return { status, scenario: null, id: null, message: null, write };
}

/**
 * The answer's body: one id for the message, and one per recipient where there are several. Put together by hand: an
 * id holds nothing that JSON would escape, and the numbers have passed the schema's pattern.
 */
export function acceptedJson(id: string, message: Message): string {
  const recipients = message.recipients ?? [];
  if (recipients.length < 2) return `{"id":"${id}","status":"accepted"}`;
  const each = recipients.map(({ msisdn }, i) => `{"id":"${id}-${i + 1}","msisdn":"${msisdn}","status":"accepted"}`);
  return `{"id":"${id}","status":"accepted","recipients":[${each.join(',')}]}`;
}
