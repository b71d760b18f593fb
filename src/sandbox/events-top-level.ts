import { bareNumber } from './addresses.ts';
import { respell } from './respell.ts';
import type { SandboxEvent, Words } from './sandbox-event.ts';

/**
 * Flat, as Vonage posts it: numbers without `+`, channels in small letters, times in whole seconds; several events are
 * a list without a name.
 */
export function topLevelEvents(events: readonly SandboxEvent[]): unknown {
  const [first] = events;
  return first !== undefined && events.length === 1 ? eventOf(first) : events.map(eventOf);
}

const WORDS: Words = {
  queued: 'submitted',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  expired: 'expired',
  failed: 'failed',
  undeliverable: 'undeliverable',
  rejected: 'rejected',
  'unheard-of': 'handed-to-aggregator',
};

function eventOf({ subject, beat, atMs }: SandboxEvent): unknown {
  const { messageId, to, sender, echo } = subject;
  const timestamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const channel = subject.channel.toLowerCase();
  if (beat.kind === 'reply') {
    return { channel, from: bareNumber(respell(to, beat.spelling)), to: sender, text: beat.text, timestamp };
  }
  const status = WORDS[beat.word];
  const error = beat.error === null ? {} : { error: { code: codeOf(beat.error.code), reason: beat.error.detail } };
  return { messageId, channel, from: sender, to: bareNumber(to), timestamp, status, ...error, ...echo };
}

/** Numbers, as its answers have them. */
function codeOf(code: string): string {
  return CODES[code] ?? 'E5000';
}

const CODES: Readonly<Record<string, string>> = {
  'channel-not-supported': 'E4221',
  'absent-subscriber': 'E1180',
  'unknown-subscriber': 'E1190',
  'opted-out': 'E1240',
  blocked: 'E1350',
};
