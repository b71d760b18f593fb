import { bareNumber } from './addresses.ts';
import { respell } from './respell.ts';
import type { SandboxEvent, Words } from './sandbox-event.ts';

/**
 * Deep, as Meta posts what happens on WhatsApp: statuses and messages in the changes of an entry, times in Unix seconds
 * as text, `id` and `recipient_id`. There is no word for undelivered ones but `failed`: the error tells them apart.
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
