import {
  type Delivery,
  type OutcomeState,
  type ReplyTotals,
  type Report,
  type RunState,
  UNMATCHED_REASONS,
  type UnmatchedReason,
} from '../model.ts';
import { formatMoney } from '../util/money.ts';
import { onDemand } from '../util/on-demand.ts';

/** Numbers and times as people read them, the same in every format for eyes. */

/** `1,234,567`. */
export function number(value: number): string {
  const written = String(value);
  // The tables of Intl take 14 ms. Numbers that need no rounding look the same without them.
  return PLAIN.test(written) ? written.replace(BEFORE_THREES, ',') : numbers().format(value);
}

/** No sign, no exponent, and no more decimals than are shown. */
const PLAIN = /^\d{1,15}(?:\.\d{1,3})?$/;
/** Where a comma goes: what follows up to the point, or the end, is whole groups of three. */
const BEFORE_THREES = /\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g;

/** Where a message went, and which address the list has since. */
export function changedText(sentTo: string, listTo: string | null): string {
  return `sent to ${sentTo}; the list now says ${listTo ?? 'none'}`;
}

/** `1 recipient`, `2 recipients`. */
export function countOf(count: number, noun: string, several = `${noun}s`): string {
  return `${number(count)} ${count === 1 ? noun : several}`;
}

/** A share in percent with one decimal; what is not nothing never shows as 0, nor what is not everything as 100. */
export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  if (part === whole) return '100 %';
  const tenths = Math.round((part / whole) * 1000);
  return tenths === 0 ? '< 0.1 %' : `${(Math.min(tenths, 999) / 10).toFixed(1)} %`;
}

/** `1.20`, or `1.20 EUR` where the currency is known. */
export function money(units: number, currency: string | null | undefined): string {
  return currency ? `${formatMoney(units)} ${currency}` : formatMoney(units);
}

/** Milliseconds: `0.42 ms`, `12 ms`, `1.2 s`. */
export function milliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? Number(ms.toFixed(2)) : Math.round(ms)} ms`;
}

/** How long a run took: `0.8 s`, `42 s`, `3 min 5 s`, `2 h 0 min`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** An ISO 8601 instant as `2026-11-21 09:00:00 UTC`; anything else as it is. */
export function instant(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? iso : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** When it began, and how long it took or that it still goes on. */
export function period(startedAt: string, finishedAt: string | null): string {
  if (finishedAt === null) return `Started ${instant(startedAt)}.`;
  const ms = Date.parse(finishedAt) - Date.parse(startedAt);
  return `Started ${instant(startedAt)}${ms >= 0 ? `, took ${duration(ms)}` : ''}.`;
}

/** That personal data was taken out of a run; nothing where it was not. */
export function purgedWords(purgedAt: string | undefined): readonly string[] {
  return purgedAt === undefined ? [] : [`Personal data purged on ${instant(purgedAt)}.`];
}

/** The state of a run as the end of "The run ...". */
export const STATE_WORDS: Readonly<Record<RunState, string>> = {
  running: 'is running',
  finished: 'is finished',
  partial: 'is not finished',
  halted: 'was halted',
  interrupted: 'was interrupted',
};

/** What an outcome means, in half a sentence. */
export const OUTCOME_WORDS: Readonly<Record<OutcomeState, string>> = {
  accepted: 'the API took the message',
  rejected: 'the API refused the recipient',
  failed: 'never reached the API',
  skipped: 'left out by a rule',
  deferred: 'a rule says later',
  'in-doubt': 'may have reached the API, no usable answer',
  pending: 'not sent yet',
};

/** Delivery states, in half a sentence. */
export const DELIVERY_WORDS: Readonly<Record<Delivery, string>> = {
  queued: 'the provider has it',
  sent: 'the network has it',
  delivered: 'it arrived',
  read: 'it was opened',
  expired: 'it did not arrive in time',
  undeliverable: 'it cannot be delivered to this address',
  failed: 'it could not be delivered',
  rejected: 'the provider or the network refused it',
  unknown: 'an unknown state',
  replied: 'answered',
  'opted-out': 'answered not to be written to any more',
};

/** One line of delivery states: the word, how many, their share and what it means. */
type DeliveryLine = readonly [word: string, count: number, share: string, meaning: string];

/** Delivery states as shares of the messages that may have been received, and how many have no report. */
export function deliveryLines({ deliveries, totals }: Pick<Report, 'deliveries' | 'totals'>): readonly DeliveryLine[] {
  const counts = Object.entries(deliveries);
  const known = counts.reduce((sum, [, count]) => sum + count, 0);
  if (known === 0) return [];
  const all = Math.max(known, totals.accepted + totals.inDoubt);
  const lines = counts.map(([word, count]): DeliveryLine => {
    const meaning = Object.hasOwn(DELIVERY_WORDS, word) ? DELIVERY_WORDS[word as Delivery] : '';
    return [word, count, percent(count, all), meaning];
  });
  return all === known ? lines : [...lines, ['-', all - known, percent(all - known, all), 'nothing came back yet']];
}

/** Why a delivery report that names the id of a message is not about it, in half a sentence. */
export const UNMATCHED_WORDS: Readonly<Record<UnmatchedReason, string>> = {
  environment: 'came in for another environment, or for none that is known',
  reference: 'names the reference of another message',
  address: 'names another address',
  time: 'is older than the message',
};

/** Delivery reports that count nowhere, by why. */
export function unmatchedLines({
  unmatchedReports = {},
}: Pick<Report, 'unmatchedReports'>): readonly (readonly [why: UnmatchedReason, count: number, meaning: string])[] {
  return UNMATCHED_REASONS.flatMap((why) => {
    const count = unmatchedReports[why] ?? 0;
    return count === 0 ? [] : [[why, count, UNMATCHED_WORDS[why]] as const];
  });
}

/** `12 recipients, 3 replies wait for review`. */
export function repliesText({ recipients, review }: ReplyTotals): string {
  const waiting = `${countOf(review, 'reply', 'replies')} ${review === 1 ? 'waits' : 'wait'} for review`;
  return [countOf(recipients, 'recipient'), ...(review === 0 ? [] : [waiting])].join(', ');
}

const numbers = onDemand(() => new Intl.NumberFormat('en-GB'));
