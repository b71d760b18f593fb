import { type Formats, PLAIN } from '../../report/formats.ts';
import { type Html, html } from '../../util/escape.ts';

/** A part of a page with its heading. */
export function section(heading: string, content: Html | readonly (Html | null)[]): Html {
  const parts = 'markup' in content ? [content] : content.filter((part) => part !== null);
  return html`<section>
<h2>${heading}</h2>
${parts}</section>
`;
}

export interface Column {
  readonly title: string;
  /** Figures are aligned right. */
  readonly kind?: 'figure';
}

/** A cell: text, or markup where it is more than text. */
type Cell = string | number | Html;

/** On a narrow screen a table scrolls sideways, or the last cell of each row, a text, goes below the others. */
type Narrow = 'scrolled' | 'stacked';

/** A table that scrolls by itself where it is too wide, also by keyboard; the first cell of a row is its name. */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly Html[],
  narrow: Narrow = 'scrolled',
): Html {
  const head = columns.map(
    ({ title, kind }) => html`<th scope="col"${kind === 'figure' ? FIGURE : null}>${title}</th>`,
  );
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="${narrow}">
<thead><tr>${head}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`;
}

/** @param name - the cells that follow are those of the columns after the first */
export function row(columns: readonly Column[], name: Cell, cells: readonly Cell[], isFaint = false): Html {
  const others = cells.map((cell, i) => html`<td${columns[i + 1]?.kind === 'figure' ? FIGURE : null}>${cell}</td>`);
  return html`<tr${isFaint ? FAINT : null}><th scope="row"${columns[0]?.kind === 'figure' ? FIGURE : null}>${name}</th>${others}</tr>
`;
}

/** Text of ours, with parts between backticks as code. */
export function coded(text: string): Html {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}

/** A time for readers, and exactly for machines; invalid text from outside stays text. */
export function timeOf(iso: string, { instant }: Formats = PLAIN): Html {
  return ISO.test(iso) ? html`<time datetime="${iso}">${instant(iso)}</time>` : html`${instant(iso)}`;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const FIGURE = html` class="n"`;
const FAINT = html` class="none"`;
