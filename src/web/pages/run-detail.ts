import type { Ledger } from '../../ledger/ledger.ts';
import type { Report } from '../../model.ts';
import type { CauseCount } from '../../report/causes.ts';
import type { CameBack } from '../../report/tally.ts';
import type { VariantCount } from '../../report/variants.ts';
import { type Html, html } from '../../util/escape.ts';
import { round, type Tone } from '../charts/chart.ts';
import { lineChart } from '../charts/lines.ts';
import { comparisonOf } from '../charts/variants.ts';
import type { Slot } from '../time-counts.ts';
import { address, table, tone, type View } from './layout.ts';

/** What a pass over all recipients of a run finds. */
export interface RunDetail {
  /** Outcomes over time; `others` were rejected, failed or are in doubt. */
  readonly times: readonly Slot<'accepted' | 'others'>[];
  /** Why messages failed, the most frequent cause first. */
  readonly causes: readonly CauseCount[];
  readonly cameBack: CameBack;
  readonly changed: ReturnType<Ledger['changed']>;
  /** Recipients that were given a variant, by outcome. */
  readonly variants: readonly VariantCount[];
  readonly parts: number;
  /** Null where nothing has a price. */
  readonly cost: number | null;
}

/** Causes that are shown each in a row of its own. */
const MOST_SHOWN = 10;

/** Why messages failed, each cause with a link to its recipients; null where none failed. */
export function causesTable({ formats }: View, run: string, recipients: number, { causes }: RunDetail): Html | null {
  if (causes.length === 0) return null;
  const sum = causes.reduce((all, { count }) => all + count, 0);
  const named = causes.filter(({ cause }) => cause !== null).slice(0, MOST_SHOWN);
  const shown = named.reduce((all, { count }) => all + count, 0);
  const rows = named.map(({ end, cause, count }) => {
    const [word, of] = 'outcome' in end ? [end.outcome, end.outcome] : [end.delivery, 'rejected' as const];
    const to = address(['runs', run, 'recipients'], { ...end, cause });
    return {
      cells: [
        html`<span><span class="key ${tone(of)}" aria-hidden="true"></span><a class="cause" href="${to}">${cause}</a></span>`,
        html`<span class="nowrap">${word}</span>`,
        formats.number(count),
        formats.percent(count, recipients),
      ],
    };
  });
  const rest = sum - shown;
  if (rest > 0) rows.push({ cells: [html`other causes`, '', formats.number(rest), formats.percent(rest, recipients)] });
  const columns = [
    { title: 'Cause' },
    { title: 'End' },
    { title: 'Recipients', isFigure: true },
    { title: 'Share', isFigure: true },
  ];
  const words = `${formats.count(sum, 'recipient')} whose message failed, or may have failed, by what the API or the delivery report says.`;
  return html`<h2>Failures</h2>
${table(words, columns, rows)}`;
}

/** How quickly a run went; nothing where it took no time worth a chart. */
export function runCharts({ formats }: View, { times }: RunDetail): Html {
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
  const description = `Messages that came to an outcome, from the first start to the last outcome; at most ${formats.number(most)} a second.`;
  const title = `Outcomes a second (times in ${formats.timeZone})`;
  return html`<h2>Over time</h2>
${lineChart({ title, description, series, xKind: 'time', yUnit: 'a second', area: true, formats })}`;
}

/** Bars of a sparkline at most. */
const MOST_BARS = 32;
const SPARK_PX = 20;

/** When messages were accepted, from the first to the last, as small bars. */
export function sparkline({ number }: View['formats'], times: RunDetail['times']): Html {
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
  return html`<svg class="spark" role="img" width="96" height="${SPARK_PX}"><title>Accepted over time, at most ${number(fastest)} a second</title>${bars}</svg>`;
}

function perSecond({ widthMs }: Slot<string>, count: number): number {
  return Math.round((count * 10_000) / widthMs) / 10;
}

/** How far the messages of each variant came, and whether they differ; null without variants. */
export function variantsSection({ formats }: View, report: Report): Html | null {
  const comparison = comparisonOf(report, formats);
  if (comparison === null) return null;
  const { said, titles, rows, chart } = comparison;
  const columns = [{ title: 'Variant' }, ...titles.map((title) => ({ title, isFigure: true }))];
  const lines = rows.map(({ name, cells }) => ({
    cells: [html`<a href="${address(['runs', report.run, 'recipients'], { variant: name })}">${name}</a>`, ...cells],
  }));
  return html`<h2>Variants</h2>
${table(said, columns, lines)}${chart}`;
}
