import type { LegTotals, Report } from '../model.ts';
import type { VariantDeliveries } from '../report/deliveries.ts';
import { intervalOf, othersOf, rateOf, shareOf, significanceWords, winnerWords } from '../report/variants-text.ts';
import { number } from '../report/words.ts';
import { type Html, html } from '../util/html.ts';
import { formatMoney } from '../util/money.ts';
import { intervalChart } from './charts/interval-chart.ts';
import { type Column, row, section, table } from './report-parts.ts';

/** What became of the messages on each channel; null where the campaign has one channel only. */
export function legsOf({ legs }: Report, currency: string | null | undefined): Html | null {
  if (legs === undefined) return null;
  const cost = currency ? `Cost (${currency})` : 'Cost';
  const columns = columnsOf('Channel', [...LEG_COUNTS.map(([title]) => title), cost]);
  const rows = legs.map((leg) => {
    const counts = LEG_COUNTS.map(([, key]) => number(leg[key]));
    return row(columns, leg.channel, [...counts, leg.cost === null ? '-' : formatMoney(leg.cost)]);
  });
  return section('Channels', table('Channels', columns, rows));
}

const LEG_COUNTS: readonly (readonly [title: string, key: Exclude<keyof LegTotals, 'channel' | 'cost'>])[] = [
  ['Attempted', 'attempted'],
  ['Accepted', 'accepted'],
  ['Rejected', 'rejected'],
  ['In doubt', 'inDoubt'],
  ['Failed', 'failed'],
  ['Fell back', 'fellBack'],
  ['Pending', 'pending'],
  ['Parts', 'parts'],
];

/** What became of each variant, and what the comparison says; null without variants. */
export function variantsOf({ variants, significance = null, ...report }: Report): Html | null {
  if (variants === undefined) return null;
  const came = variants.some(({ delivered }) => delivered !== undefined);
  const columns = columnsOf('Variant', came ? [...PLAIN, ...CAME_BACK.map(([title]) => title)] : PLAIN);
  const rows = variants.map((variant) => {
    const { name, recipients, accepted, rejected } = variant;
    const counts = [recipients, accepted, rejected, othersOf(variant)].map(number);
    const shares = came ? CAME_BACK.map(([, key]) => shareOf(variant, key)) : [];
    return row(columns, name, [...counts, rateOf(variant), intervalOf(variant), ...shares]);
  });
  const intervals = variants.flatMap(({ name, rate, low, high }) =>
    rate === null || low === null || high === null ? [] : [{ label: name, value: rate, low, high }],
  );
  const said = [significanceWords({ variants, significance }), winnerWords(report)].filter((text) => text !== '');
  const chart = intervalChart({
    title: 'Accepted, with 95 % intervals',
    description: said.length === 0 ? 'The share of each variant that was accepted.' : said.join(' '),
    format: (share) => `${Number((share * 100).toFixed(1))} %`,
    bounds: [0, 1],
    figures: 'elsewhere',
    intervals,
  });
  const words =
    said.length === 0
      ? null
      : html`<p>${said.join(' ')}</p>
`;
  return section('Variants', [words, intervals.length > 1 ? chart : null, table('Variants', columns, rows)]);
}

const PLAIN = ['Recipients', 'Accepted', 'Rejected', 'Other', 'Rate', '95 % interval'];

const CAME_BACK: readonly (readonly [title: string, key: keyof VariantDeliveries])[] = [
  ['Delivered', 'delivered'],
  ['Read', 'read'],
  ['Replied', 'replied'],
  ['Opted out', 'optedOut'],
];

function columnsOf(name: string, figures: readonly string[]): readonly Column[] {
  return [{ title: name }, ...figures.map((title) => ({ title, kind: 'figure' as const }))];
}
