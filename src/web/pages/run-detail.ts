import { OUTCOMES, type OutcomeState } from '../../model.ts';
import type { DeliveryCount } from '../../report/deliveries.ts';
import { type Html, html } from '../../util/escape.ts';
import { round, type Tone } from '../charts/chart.ts';
import { lineChart } from '../charts/lines.ts';
import type { Slot } from '../time-counts.ts';
import { address, table, type View } from './layout.ts';

/** What a pass over all recipients of a run finds. */
export interface RunDetail {
  /** Outcomes over time; `others` were rejected, failed or are in doubt. */
  readonly times: readonly Slot<'accepted' | 'others'>[];
  readonly deliveries: readonly DeliveryCount[];
  readonly variants: readonly VariantCount[];
  readonly parts: number;
  /** Null where nothing has a price. */
  readonly cost: number | null;
}

export interface VariantCount {
  readonly name: string;
  readonly counts: Readonly<Record<OutcomeState, number>>;
  readonly delivered: number;
}

/** How quickly a run went; nothing where it took no time worth a chart. */
export function runCharts({ times }: RunDetail): Html {
  if (times.length < 2) return html``;
  const line = (name: 'accepted' | 'others', label: string, tone: Tone) => ({
    name: label,
    tone,
    points: times.map((slot) => ({ x: slot.fromMs, y: perSecond(slot, slot.counts[name]) })),
  });
  const hasOthers = times.some(({ counts }) => counts.others > 0);
  const series = [
    line('accepted', 'accepted', 'accepted'),
    ...(hasOthers ? [line('others', 'rejected, failed or in doubt', 'rejected')] : []),
  ];
  const most = Math.max(...times.map((slot) => perSecond(slot, slot.counts.accepted + slot.counts.others)));
  const description = `Messages that came to an outcome, from the first start to the last outcome; at most ${most} a second.`;
  return html`<h2>Over time</h2>
${lineChart({ title: 'Outcomes a second (times in UTC)', description, series, xKind: 'time', yUnit: 'a second', area: true })}`;
}

/** Bars of a sparkline at most. */
const MOST_BARS = 32;
const SPARK_PX = 20;

/** When messages were accepted, from the first to the last, as small bars. */
export function sparkline(times: RunDetail['times']): Html {
  const each = Math.ceil(times.length / MOST_BARS);
  const sums = Array.from({ length: Math.ceil(times.length / each) }, (_, i) =>
    times.slice(i * each, (i + 1) * each).reduce((sum, { counts }) => sum + counts.accepted, 0),
  );
  const most = Math.max(1, ...sums);
  const width = 100 / sums.length;
  const bars = sums.map((sum, i) => {
    const height = sum === 0 ? 0 : Math.max(1, Math.round((sum / most) * SPARK_PX));
    return html`<rect x="${round(i * width)}%" y="${SPARK_PX - height}" width="${round(width * 0.8)}%" height="${height}"/>`;
  });
  const fastest = Math.max(...times.map((slot) => perSecond(slot, slot.counts.accepted)));
  return html`<svg class="spark" role="img" width="96" height="${SPARK_PX}"><title>Accepted over time, at most ${fastest} a second</title>${bars}</svg>`;
}

function perSecond({ widthMs }: Slot<string>, count: number): number {
  return Math.round((count * 10_000) / widthMs) / 10;
}

/** The outcomes of each variant; null if the run has none. */
export function variantsTable({ formats }: View, run: string, { variants }: RunDetail): Html | null {
  if (variants.length === 0) return null;
  const cameBack = variants.some(({ delivered }) => delivered > 0);
  const shown = OUTCOMES.filter((outcome) => variants.some(({ counts }) => counts[outcome] > 0));
  const rows = variants.map(({ name, counts, delivered }) => ({
    cells: [
      html`<a href="${address(['runs', run, 'recipients'], { variant: name })}">${name}</a>`,
      ...shown.map((outcome) => formats.number(counts[outcome])),
      ...(cameBack
        ? [`${formats.number(delivered)} (${formats.percent(delivered, Math.max(delivered, counts.accepted))})`]
        : []),
    ],
  }));
  const titles = [
    ...shown.map((outcome) => ({ title: outcome, isFigure: true })),
    ...(cameBack ? [{ title: 'delivered', isFigure: true }] : []),
  ];
  return html`<h2>Variants</h2>
${table('Whether they differ by more than chance is in the report.', [{ title: 'Variant' }, ...titles], rows)}`;
}
