import type { Report } from '../model.ts';
import { latencyGroups, type SavedLatency } from '../report/latency.ts';
import { countOf, duration, milliseconds, number } from '../report/words.ts';
import { type Html, html } from '../util/html.ts';
import { histogram } from './charts/histogram.ts';
import { lineChart } from './charts/line-chart.ts';
import { section } from './report-parts.ts';
import type { Slot } from './time-counts.ts';

/** How quickly messages were accepted, and how quickly the API answered; null where neither is known. */
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
