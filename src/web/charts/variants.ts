import type { Report } from '../../model.ts';
import { type Formats, PLAIN } from '../../report/formats.ts';
import { intervalOf, rateOf, significanceWords, winnerWords } from '../../report/variants-text.ts';
import type { Html } from '../../util/escape.ts';
import { funnelCells, variantFunnel } from './funnel.ts';
import { intervalChart } from './lines.ts';

/** How the variants of a run compare. */
interface Comparison {
  /** Whether they differ by more than chance, and who won; empty where nothing can be said. */
  readonly said: string;
  /** Headings of the cells, all of them figures. */
  readonly titles: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly (Html | string)[] }[];
  /** The rate of each with its interval; null for fewer than two. */
  readonly chart: Html | null;
}

/** How far the messages of each variant came, and whether they differ; null without variants. */
export function comparisonOf(
  { variants, significance = null, ...report }: Pick<Report, 'variants' | 'significance' | 'winner'>,
  formats: Formats,
): Comparison | null {
  if (variants === undefined) return null;
  const { titles, cells } = funnelCells(variants.map(variantFunnel), formats);
  const rows = variants.map((variant, i) => ({
    name: variant.name,
    cells: [...(cells[i] ?? []), rateOf(variant, formats), intervalOf(variant, formats)],
  }));
  const said = [significanceWords({ variants, significance }), winnerWords(report, formats)]
    .filter((text) => text !== '')
    .join(' ');
  const intervals = variants.flatMap(({ name, rate, low, high }) =>
    rate === null || low === null || high === null ? [] : [{ label: name, value: rate, low, high }],
  );
  const chart = intervalChart({
    title: 'Accepted, with 95% intervals',
    description: said === '' ? 'The share of each variant that was accepted.' : said,
    format: (share) => (formats === PLAIN ? `${Number((share * 100).toFixed(1))}%` : formats.percent(share, 1)),
    bounds: [0, 1],
    figures: 'elsewhere',
    intervals,
  });
  return { said, titles: [...titles, 'Rate', '95% interval'], rows, chart: intervals.length > 1 ? chart : null };
}
