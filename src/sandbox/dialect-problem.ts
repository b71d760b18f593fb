import type { Dialect, ErrorRest } from './dialect.ts';
import { propertyOf } from './dialect-top-level.ts';
import { bareNumber } from './message.ts';
import { statusTitle } from './scenarios.ts';
import { respell, type SandboxEvent, type Words } from './story.ts';

/** 201 and the id; errors as ASP.NET writes RFC 9457. A request is taken whole or not at all. */
export const PROBLEM_DIALECT: Dialect = {
  name: 'problem',
  says: '201 with one id, errors as ASP.NET writes them; taken whole or not at all',
  request: 'Message',
  acceptedStatus: 201,
  invalidStatus: 400,
  unsupportedStatus: 404,
  results: 'never',
  accepted: (id) => `{"id":"${id}"}`,
  errorType: 'application/problem+json',
  error,
};

function error(status: number, { detail, errors }: ErrorRest): string {
  const type = typeOf(status);
  if (errors === undefined) return JSON.stringify({ type, title: statusTitle(status), status, detail });
  const title = 'One or more validation errors occurred.';
  return JSON.stringify({ type, title, status, detail, errors: byProperty(errors) });
}

/** An object of arrays, its keys as C# writes them: `{ "Recipients[0].Msisdn": ["..."] }`. */
function byProperty(errors: NonNullable<ErrorRest['errors']>): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { detail, pointer } of errors) {
    const property = propertyOf(pointer).replace(/(?:^|\.)[a-z]/g, (letter) => letter.toUpperCase()) || '$';
    found.set(property, [...(found.get(property) ?? []), detail]);
  }
  return Object.fromEntries(found);
}

/** The section of RFC 9110 that defines the status, where one does. */
function typeOf(status: number): string {
  const section = sectionOf(status);
  return section === null ? 'about:blank' : `https://tools.ietf.org/html/rfc9110#section-15.${section}`;
}

const LATER_SECTIONS: Readonly<Record<number, string>> = { 421: '5.20', 422: '5.21', 426: '5.22' };

function sectionOf(status: number): string | null {
  if (status >= 400 && status <= 418) return `5.${status - 399}`;
  if (status >= 500 && status <= 505) return `6.${status - 499}`;
  return LATER_SECTIONS[status] ?? null;
}

/**
 * Nested, as Meta posts events of WhatsApp: statuses and messages in the changes of an entry, times in Unix seconds as
 * text, `id` and `recipient_id`. The only word for undelivered ones is `failed`: the error shows the difference.
 */
export function problemEvents(events: readonly SandboxEvent[]): unknown {
  const statuses = events.filter(({ beat }) => beat.kind === 'report').map(statusOf);
  const messages = events.flatMap(messageOf);
  const value = {
    ...(statuses.length === 0 ? {} : { statuses }),
    ...(messages.length === 0 ? {} : { messages }),
  };
  return { object: 'sandbox', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] };
}

const WORDS: Words = {
  queued: 'accepted',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  expired: 'failed',
  failed: 'failed',
  undeliverable: 'failed',
  rejected: 'failed',
  'unheard-of': 'handed-to-aggregator',
};

function statusOf({ subject, beat, atMs }: SandboxEvent): unknown {
  if (beat.kind !== 'report') return null;
  const { error, word } = beat;
  const errors = error === null ? {} : { errors: [{ code: error.code, title: error.detail }] };
  return {
    id: subject.messageId,
    status: WORDS[word],
    timestamp: secondsOf(atMs),
    recipient_id: bareNumber(subject.to),
    ...errors,
    ...subject.echo,
  };
}

function messageOf({ subject, beat, atMs }: SandboxEvent): unknown[] {
  if (beat.kind !== 'reply') return [];
  const from = bareNumber(respell(subject.to, beat.spelling));
  return [{ from, timestamp: secondsOf(atMs), type: 'text', text: { body: beat.text } }];
}

function secondsOf(atMs: number): string {
  return String(Math.floor(atMs / 1000));
}
