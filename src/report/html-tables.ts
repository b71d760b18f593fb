import type { LegTotals, Report } from '../model.ts';
import { Html, html } from '../util/html.ts';
import { formatMoney } from '../util/money.ts';
import { intervalOf, othersOf, rateOf, significanceWords } from './variants-text.ts';
import { number } from './words.ts';

/** What became of the messages on each channel; null where the campaign has one channel only. */
export function legsSection({ legs }: Report, currency: string | null): Html | null {
  if (legs === undefined) return null;
  const cost = currency === null ? 'Cost' : `Cost (${currency})`;
  const rows = legs.map(
    (leg) =>
      html`<tr><th scope="row">${leg.channel}</th>${counts(LEG_COUNTS.map(([, key]) => leg[key]))}<td class="n">${leg.cost === null ? '-' : formatMoney(leg.cost)}</td></tr>
`,
  );
  return section('Channels', ['Channel', ...LEG_COUNTS.map(([title]) => title), cost], rows, null);
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
export function variantsSection({ variants, significance = null }: Report): Html | null {
  if (variants === undefined) return null;
  const rows = variants.map((variant) => {
    const { name, recipients, accepted, rejected } = variant;
    return html`<tr><th scope="row">${name}</th>${counts([recipients, accepted, rejected, othersOf(variant)])}<td class="n">${rateOf(variant)}</td><td class="n">${intervalOf(variant)}</td></tr>
`;
  });
  const titles = ['Variant', 'Recipients', 'Accepted', 'Rejected', 'Other', 'Rate', '95 % interval'];
  return section('Variants', titles, rows, significanceWords({ variants, significance }));
}

/** The first column names the rows, the others are figures. */
function section(heading: string, titles: readonly string[], rows: readonly Html[], said: string | null): Html {
  const head = titles.map((title, index) => html`<th scope="col"${index === 0 ? null : FIGURES}>${title}</th>`);
  return html`<section>
<h2>${heading}</h2>
<div class="scroll"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>${said === null || said === '' ? null : html`<p>${said}</p>`}
</section>`;
}

function counts(values: readonly number[]): readonly Html[] {
  return values.map((value) => html`<td class="n">${number(value)}</td>`);
}

const FIGURES = new Html(' class="n"');
