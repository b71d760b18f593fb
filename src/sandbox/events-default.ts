import { respell } from './respell.ts';
import { isoOf, type SandboxEvent } from './sandbox-event.ts';

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
