import { OUTCOMES, type OutcomeState, type RunState, type Totals } from '../model.ts';
import { totalsKey } from '../report/tally.ts';
import { Html, html } from '../util/html.ts';
import type { Formats } from './serve-format.ts';

/** Small pieces that several pages have. */

/** A class of a colour, by the name of an outcome: never text from outside. */
export function tone(outcome: OutcomeState): Html {
  return new Html(`tone-${outcome}`);
}

/** A bar of the outcomes of a run; its words say what the colours show. */
export function totalsBar(totals: Totals, formats: Formats): Html {
  const parts = OUTCOMES.flatMap((outcome) => {
    const count = totals[totalsKey(outcome)];
    return count === 0 ? [] : [{ outcome, count }];
  });
  const words = parts.map(({ outcome, count }) => `${formats.number(count)} ${outcome}`).join(', ');
  return html`<div class="bar small" role="img" aria-label="${words === '' ? 'none' : words}">${parts.map(
    ({ outcome, count }) => html`<span class="${tone(outcome)}" style="flex:${count}"></span>`,
  )}</div>`;
}

const STATE_TONES: Readonly<Record<RunState, OutcomeState>> = {
  running: 'deferred',
  finished: 'accepted',
  partial: 'in-doubt',
  halted: 'rejected',
  interrupted: 'in-doubt',
};

export function stateMark(state: RunState): Html {
  return html`<span class="state" style="color:var(--${new Html(STATE_TONES[state])})">${state}</span>`;
}

/** A list of pairs of a name and what it is. */
export function facts(pairs: readonly (readonly [name: string, value: Html | string | number | null])[]): Html {
  const shown = pairs.filter(([, value]) => value !== null && value !== '');
  return html`<dl>${shown.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
  )}</dl>`;
}

export interface Column {
  readonly title: string;
  readonly isFigure?: boolean;
  /** Said to those who do not see the column; its heading is empty for the others. */
  readonly isHidden?: boolean;
  /** Left out where no row has anything in it. */
  readonly isOptional?: boolean;
}

export interface TableRow {
  readonly id?: string;
  readonly cells: readonly (Html | string | number | null)[];
}

/**
 * A table whose rows become blocks on narrow screens. The first cell of a row names it.
 *
 * @param caption what the table holds, for everybody
 */
export function table(caption: Html | string, allColumns: readonly Column[], allRows: readonly TableRow[]): Html {
  const isShown = allColumns.map(
    ({ isOptional }, i) => isOptional !== true || allRows.some(({ cells }) => cells[i] !== ''),
  );
  const columns = allColumns.filter((_, i) => isShown[i]);
  const rows = allRows.map((row) => ({ ...row, cells: row.cells.filter((_, i) => isShown[i]) }));
  const head = columns.map(
    ({ title, isFigure, isHidden }) =>
      html`<th scope="col"${isFigure ? FIGURE : null}>${isHidden ? html`<span class="hidden">${title}</span>` : title}</th>`,
  );
  const body = rows.map(({ id, cells }) => {
    const shown = cells.map((cell, index) => {
      const { title = '', isFigure } = columns[index] ?? {};
      if (index === 0) return html`<th scope="row">${cell ?? ''}</th>`;
      return html`<td${isFigure ? FIGURE : null} data-label="${title}">${cell ?? ''}</td>`;
    });
    return html`<tr${id === undefined ? null : html` id="${id}"`}>${shown}</tr>
`;
  });
  return html`<div class="scroll"><table class="stack">
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`;
}

const FIGURE = new Html(' class="n"');

/** A choice of one, or of all. */
export function select(
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string | null,
): Html {
  return html`<p class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">any</option>${options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? SELECTED : null}>${text}</option>`,
  )}</select></p>`;
}

const SELECTED = new Html(' selected');

/** Links to the pages before and behind. */
export function pager(label: string, links: readonly (readonly [text: string, href: string | null])[]): Html | null {
  const shown = links.filter(([, href]) => href !== null);
  if (shown.length === 0) return null;
  return html`<nav class="pager" aria-label="${label}">${shown.map(([text, href]) => html`<a class="button" href="${href ?? ''}">${text}</a>`)}</nav>`;
}
