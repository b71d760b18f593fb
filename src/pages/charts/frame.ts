import { type Html, html } from '../../util/html.ts';
import { safeLine } from '../../util/safe.ts';

/** What every chart says about itself. */
export interface ChartWords {
  /** What is shown, in a few words: the heading of the chart. */
  readonly title: string;
  /** What there is to see, in a sentence, for those who do not see it. */
  readonly description: string;
  /** Where the page has the figures in a table of its own beside the chart: `elsewhere`. Folded below it by default. */
  readonly figures?: 'folded' | 'elsewhere';
}

/** The figures of a chart as rows, the first cell of each being its name. */
export interface ChartTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * A chart has no viewBox of its own: what lies across it is given in percent and what lies down it in pixels, so that
 * it fills any width while its text keeps its size. Everything is laid out to fit this width, which is what a screen
 * of 320 px leaves; anything wider only moves things apart.
 */
export const NARROWEST = 270;

/** From this width on a chart has room for longer names; style.ts asks for the same. */
export const WIDER = 416;

/** What the figures on the left take of that, and half a label on the right. */
export const PLOT_NARROWEST = NARROWEST - 62;

interface Parts {
  readonly height: number;
  readonly drawing: Html | readonly Html[];
  readonly legend?: Html;
  readonly table: ChartTable;
  /** A chart with figures on its left, or one that takes the whole width. */
  readonly kind?: 'plot' | 'whole';
}

/** A drawing with its heading, and all of its figures as a table that is folded away. */
export function chart(words: ChartWords, { height, drawing, legend, table, kind = 'whole' }: Parts): Html {
  return html`<figure class="chart">
<figcaption>${safeLine(words.title)}</figcaption>
${legend ?? null}<svg class="${kind}" role="img" width="100%" height="${height}"><title>${safeLine(words.title)}</title><desc>${safeLine(words.description)}</desc>
${drawing}</svg>
${words.figures === 'elsewhere' ? null : tableOf(words.title, table)}</figure>
`;
}

/** In the place of a chart that has nothing to show. */
export function emptyChart({ title }: ChartWords): Html {
  return html`<figure class="chart"><figcaption>${safeLine(title)}</figcaption><p class="soft">Nothing to show yet.</p></figure>
`;
}

/** A page stays small: what has more rows than this is better read from a machine format. */
const MOST_ROWS = 300;

function tableOf(title: string, { columns, rows }: ChartTable): Html {
  const head = columns.map((name, i) => html`<th scope="col"${i === 0 ? null : FIGURES}>${safeLine(name)}</th>`);
  const shown = rows.slice(0, MOST_ROWS).map(([name = '', ...cells]) => {
    const figures = cells.map((cell) => html`<td class="n">${safeLine(cell)}</td>`);
    return html`<tr><th scope="row">${safeLine(name)}</th>${figures}</tr>
`;
  });
  const left = rows.length - shown.length;
  return html`<details><summary>Figures as a table</summary>
<div class="scroll" tabindex="0" role="group" aria-label="${safeLine(title)}"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${shown}</tbody>
</table></div>${left > 0 ? html`<p class="soft">and ${left} more</p>` : null}</details>
`;
}

const FIGURES = html` class="n"`;
