import type { Outcome, ReplyMeaning, Report } from '../../model.ts';
import { latencyGroups, type SavedLatency } from '../../report/latency.ts';
import { countOf, deliveryLines, duration, milliseconds, number, unmatchedLines } from '../../report/words.ts';
import { type Html, html } from '../../util/html.ts';
import { barChart } from '../charts/bars.ts';
import type { Tone } from '../charts/chart.ts';
import { histogram, lineChart } from '../charts/lines.ts';
import { createTimeCounts, type Slot } from '../time-counts.ts';
import { type Column, row, section, table } from './parts.ts';

/** When each event was first reported about the message of a recipient, in ms since 1970; null: it was not. */
export type ReturnTimes = Readonly<Record<Returned, number | null>>;

/** Each of the first three is implied by the next: a recipient who replied has read the message. */
const RETURNED = ['arrived', 'read', 'replied', 'did not arrive'] as const;
type Returned = (typeof RETURNED)[number];

/** Counts reports and replies as recipients are read. */
interface ReturnedWatch {
  add(outcome: Outcome): void;
  slots(): readonly Slot<Returned>[];
}

/**
 * @param timesOf - asked only about recipients with reports or replies
 * @param nowMs - providers may write any time into a report: a time before the start or in the future is moved to the
 * nearest possible one
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

/** Reports about the last messages, and when they came; null if there are none. */
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

/** Replies to the messages of a run by meaning; their texts are personal and stay in the ledger. */
export type ReplyCounts = Readonly<Record<ReplyMeaning, number>>;

/** Replies and their meanings; null if there are none. */
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

/** How quickly messages were accepted, and how quickly the API answered; null if both are unknown. */
export function paceOf(
  report: Report,
  accepted: readonly Slot<'accepted'>[],
  latency: SavedLatency | null,
): Html | null {
  const parts = [rateOf(accepted), latencyOf(report, latency)].filter((part) => part !== null);
  return parts.length === 0
    ? null
    : section(
        'Pace',
        html`<div class="charts">
${parts}</div>
`,
      );
}

function rateOf(slots: readonly Slot<'accepted'>[]): Html | null {
  const [first] = slots;
  if (first === undefined) return null;
  const { widthMs } = first;
  const [unit, unitMs] = UNITS.find(([, , mostMs]) => widthMs <= mostMs) ?? LAST_UNIT;
  const total = slots.reduce((sum, { counts }) => sum + counts.accepted, 0);
  if (slots.length === 1)
    return html`<p>${countOf(total, 'message')} ${total === 1 ? 'was' : 'were'} accepted within ${duration(widthMs)}.</p>
`;
  const points = slots.map(({ fromMs, counts }) => ({
    x: fromMs + widthMs / 2,
    y: (counts.accepted * unitMs) / widthMs,
  }));
  const fastest = points.reduce((most, { y }) => Math.max(most, y), 0);
  return lineChart({
    title: 'Accepted over time (UTC)',
    description: `${countOf(total, 'message')}, at most ${number(Math.round(fastest * 10) / 10)} ${unit}.`,
    series: [{ name: 'accepted', tone: 'accepted', points }],
    xKind: 'time',
    yUnit: `messages ${unit}`,
    area: true,
  });
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
type Unit = readonly [word: string, ms: number, mostMs: number];
const LAST_UNIT: Unit = ['a day', DAY, Number.POSITIVE_INFINITY];
const UNITS: readonly Unit[] = [
  ['a second', 1_000, 15_000],
  ['a minute', MINUTE, 15 * MINUTE],
  ['an hour', HOUR, 6 * HOUR],
  LAST_UNIT,
];

function latencyOf({ requests }: Report, latency: SavedLatency | null): Html | null {
  if (requests.posted === 0) return null;
  const { p50, p95, p99 } = requests.latencyMs;
  const marks = [
    { label: 'p50', value: p50 },
    { label: 'p95', value: p95 },
    { label: 'p99', value: p99 },
  ];
  const words = `Half of the requests were answered within ${milliseconds(p50)}, 95 % within ${milliseconds(p95)} and 99 % within ${milliseconds(p99)}.`;
  if (latency === null || latency.buckets.length === 0)
    return html`<p>${words}</p>
`;
  const buckets = latencyGroups(latency, MOST_BARS).map(({ fromMs, toMs, count }) => ({
    from: fromMs,
    to: toMs,
    count,
  }));
  return histogram({
    title: 'Latency of requests',
    description: words,
    buckets,
    marks,
    format: milliseconds,
    yUnit: 'requests',
  });
}

const MOST_BARS = 36;
