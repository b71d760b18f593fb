import type { Outcome, ReplyMeaning, Report } from '../model.ts';
import { countOf, deliveryLines, number, unmatchedLines } from '../report/words.ts';
import { type Html, html } from '../util/html.ts';
import { barChart } from './charts/bar-chart.ts';
import { lineChart } from './charts/line-chart.ts';
import type { Tone } from './charts/tones.ts';
import { type Column, row, section, table } from './report-parts.ts';
import { createTimeCounts, type Slot } from './time-counts.ts';

/** When each thing was said first about the message to somebody, in ms since 1970; null: it was not. */
export type ReturnTimes = Readonly<Record<Returned, number | null>>;

/** Each holds the next, but for the last: whoever answered has read it. */
export const RETURNED = ['arrived', 'read', 'replied', 'did not arrive'] as const;
export type Returned = (typeof RETURNED)[number];

/** Counts what came back as recipients go by. */
export interface ReturnedWatch {
  add(outcome: Outcome): void;
  slots(): readonly Slot<Returned>[];
}

/**
 * @param timesOf - asked only about whom something came back
 * @param nowMs - providers may write any time into a report: what lies before the start or in the future is taken for
 * the nearest that is possible
 */
export function watchReturned(
  timesOf: (outcome: Outcome) => ReturnTimes,
  startMs: number,
  nowMs: number,
): ReturnedWatch {
  const counts = createTimeCounts(RETURNED, startMs);
  return {
    add(outcome) {
      if ((outcome.delivery ?? null) === null) return;
      const times = timesOf(outcome);
      for (const name of RETURNED) {
        const atMs = times[name];
        if (atMs !== null) counts.add(name, Math.min(atMs, Math.max(nowMs, startMs)));
      }
    },
    slots: () => counts.slots(),
  };
}

/** What came back about the last messages, and when; null where nothing did. */
export function deliveriesOf(report: Report, slots: readonly Slot<Returned>[]): Html | null {
  const lines = deliveryLines(report);
  if (lines.length === 0) return null;
  const rows = lines.map(([word, count, share, meaning]) =>
    row(DELIVERY_COLUMNS, word === '-' ? 'nothing' : word, [number(count), share, meaning]),
  );
  return section('Deliveries', [overTime(slots), table('Deliveries', DELIVERY_COLUMNS, rows, 'stacked')]);
}

/** Reports that name messages of the run and are not about them; null for none. */
export function unmatchedOf(report: Report): Html | null {
  const lines = unmatchedLines(report);
  if (lines.length === 0) return null;
  const rows = lines.map(([why, count, meaning]) => row(UNMATCHED_COLUMNS, why, [number(count), meaning]));
  return section('Unmatched delivery reports', [
    html`<p>They name ids of messages of this run and are not about them. They count nowhere.</p>
`,
    table('Unmatched delivery reports', UNMATCHED_COLUMNS, rows, 'stacked'),
  ]);
}

const UNMATCHED_COLUMNS: readonly Column[] = [
  { title: 'Why' },
  { title: 'Reports', kind: 'figure' },
  { title: 'Meaning' },
];

const DELIVERY_COLUMNS: readonly Column[] = [
  { title: 'Came back' },
  { title: 'Recipients', kind: 'figure' },
  { title: 'Share', kind: 'figure' },
  { title: 'Meaning' },
];

function overTime(slots: readonly Slot<Returned>[]): Html | null {
  const first = slots[0];
  if (first === undefined) return null;
  const shown = RETURNED.filter((name) => slots.some(({ counts }) => counts[name] > 0));
  const series = shown.map((name) => {
    let sum = 0;
    const points = slots.map(({ fromMs, widthMs, counts }) => {
      sum += counts[name];
      return { x: fromMs + widthMs, y: sum };
    });
    return { name, tone: TONES[name], points: [{ x: first.fromMs, y: 0 }, ...points], sum };
  });
  const words = series.map(({ name, sum }) => `${name} ${number(sum)}`).join(', ');
  const title = 'What had come back when (UTC)';
  return lineChart({ title, description: `In the end: ${words}.`, series, xKind: 'time', yUnit: 'recipients' });
}

const TONES: Readonly<Record<Returned, Tone>> = {
  arrived: 'one',
  read: 'four',
  replied: 'three',
  'did not arrive': 'rejected',
};

/** Replies to the messages of a run by what they mean; their texts are personal and stay in the ledger. */
export type ReplyCounts = Readonly<Record<ReplyMeaning, number>>;

/** Who replied and what they meant; null where nobody did. */
export function repliesOf({ replies, run }: Report, counts: ReplyCounts | null): Html | null {
  if (replies === undefined) return null;
  const meanings = Object.entries(REPLY_WORDS) as [ReplyMeaning, string][];
  const bars = meanings.map(([meaning, label]) => ({
    label,
    value: counts?.[meaning] ?? 0,
    tone: REPLY_TONES[meaning],
  }));
  const all = bars.reduce((sum, { value }) => sum + value, 0);
  const title = countOf(all, 'reply', 'replies');
  const description = bars.map(({ label, value }) => `${label} ${number(value)}`).join(', ');
  return section('Replies', [
    html`<p>${countOf(replies.recipients, 'recipient')} replied${replies.review === 0 ? '' : `, and ${countOf(replies.review, 'reply', 'replies')} ${replies.review === 1 ? 'waits' : 'wait'} for review`}. Their words are not on this page: <code>handbill replies --campaign ${run}</code> shows them.</p>
`,
    all === 0 ? null : barChart({ title, description, bars, order: 'given' }),
  ]);
}

const REPLY_WORDS: Readonly<Record<ReplyMeaning, string>> = {
  'opt-out': 'want no more messages',
  review: 'may want no more messages: to be read',
  'opt-in': 'want messages again',
  answer: 'anything else',
};
const REPLY_TONES: Readonly<Record<ReplyMeaning, Tone>> = {
  'opt-out': 'rejected',
  review: 'in-doubt',
  'opt-in': 'accepted',
  answer: 'plain',
};
