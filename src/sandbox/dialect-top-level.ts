import type { Dialect, ErrorRest } from './dialect.ts';
import { bareNumber } from './message.ts';
import { respell, type SandboxEvent, type Words } from './story.ts';

/**
 * Only the id, at the top; errors with a code, a description and violations. A request is accepted or refused as a
 * whole.
 */
export const TOP_LEVEL_DIALECT: Dialect = {
  name: 'top-level',
  says: 'one messageId at the top, errors with errorCode and description; taken whole or not at all',
  request: 'Message',
  acceptedStatus: 202,
  invalidStatus: 400,
  unsupportedStatus: 422,
  results: 'never',
  accepted: (id) => `{"messageId":"${id}"}`,
  errorType: 'application/json',
  error,
};

/** Codes that say more than the status does. */
const CODES: ReadonlyMap<string, string> = new Map([['channel-not-supported', 'E4221']]);

function error(status: number, { detail, code, errors }: ErrorRest): string {
  const violations = errors?.map((fault) => ({ property: propertyOf(fault.pointer), violation: fault.detail }));
  const errorCode = CODES.get(code ?? '') ?? `E${status}`;
  return JSON.stringify({ errorCode, description: detail, ...(violations === undefined ? {} : { violations }) });
}

/** `#/recipients/0/msisdn` as `recipients[0].msisdn`. */
export function propertyOf(pointer: string): string {
  return pointer
    .replace(/^#\/?/, '')
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.');
}

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
  return EVENT_CODES[code] ?? 'E5000';
}

const EVENT_CODES: Readonly<Record<string, string>> = {
  'channel-not-supported': 'E4221',
  'absent-subscriber': 'E1180',
  'unknown-subscriber': 'E1190',
  'opted-out': 'E1240',
  blocked: 'E1350',
};
