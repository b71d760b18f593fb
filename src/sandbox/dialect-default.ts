import type { Dialect, ErrorRest, Refusals } from './dialect.ts';
import { addressesOf, countOf, fieldAt, type Message } from './message.ts';
import { statusTitle } from './scenarios.ts';
import { isoOf, respell, type SandboxEvent } from './story.ts';

/** `id` and `status`, with one entry each where there are several recipients; errors as RFC 9457 describes them. */
export const DEFAULT_DIALECT: Dialect = {
  name: 'default',
  says: 'one id, an entry for each of several recipients, errors as RFC 9457 describes them',
  request: 'Message',
  acceptedStatus: 202,
  invalidStatus: 422,
  unsupportedStatus: 422,
  results: 'several',
  accepted,
  errorType: 'application/problem+json',
  error,
};

/** The only recipient's answer is put together by hand: an id holds nothing that JSON would escape. */
function accepted(id: string, message: Message, refusals: Refusals): string {
  if (countOf(message) < 2) return `{"id":"${id}","status":"accepted"}`;
  const recipients = addressesOf(message).map((address, i) => {
    const who = { [fieldAt(message, address, i)]: address };
    const refusal = refusals.get(i);
    if (refusal === undefined) return { id: `${id}-${i + 1}`, ...who, status: 'accepted' };
    return { ...who, status: 'rejected', error: { code: refusal.code, detail: refusal.detail } };
  });
  return JSON.stringify({ id, status: statusOf(recipients.length, refusals.size), recipients });
}

function statusOf(count: number, refused: number): string {
  if (refused === 0) return 'accepted';
  return refused === count ? 'rejected' : 'partially-accepted';
}

/** An error with a code has a type of its own; for others the status is enough. */
function error(status: number, { code, ...rest }: ErrorRest): string {
  const type = code === undefined ? 'about:blank' : `http://sandbox.invalid/problems/${code}`;
  const title = code === undefined ? statusTitle(status) : titleOf(code);
  return JSON.stringify({ type, title, status, ...(code === undefined ? {} : { code }), ...rest });
}

function titleOf(code: string): string {
  return `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('-', ' ')}`;
}

/** handbill's plain form: an object for one event, `events` for several. */
export function defaultEvents(events: readonly SandboxEvent[]): unknown {
  const [first] = events;
  if (first !== undefined && events.length === 1) return eventOf(first);
  return { events: events.map(eventOf) };
}

function eventOf({ subject, beat, atMs }: SandboxEvent): unknown {
  const timestamp = isoOf(atMs);
  if (beat.kind === 'reply') {
    return { from: respell(subject.to, beat.spelling), to: subject.sender, text: beat.text, timestamp };
  }
  const { messageId, to, channel, echo } = subject;
  const status = beat.word === 'unheard-of' ? 'handed-to-aggregator' : beat.word;
  const error = beat.error === null ? {} : { error: { code: beat.error.code, detail: beat.error.detail } };
  return { messageId, status, timestamp, ...error, to, channel, ...echo };
}
