import type { OutcomeState, RunState } from '../model.ts';
import { type Html, type HtmlValue, html } from '../util/escape.ts';
import { type Tone, toneClass } from './charts/chart.ts';

/** An address of these pages: each step is one segment, with any characters. Every `href` comes from this function. */
export function address(
  steps: readonly (string | number)[],
  query: Readonly<Record<string, string | number | null>> = {},
): string {
  const path = `/${steps.map((step) => encodeURIComponent(String(step))).join('/')}`;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

export function section(heading: string, content: HtmlValue): Html {
  return html`<section>
<h2>${heading}</h2>
${content}</section>
`;
}

export function swatch(tone: Tone): Html {
  return html`<span class="key ${toneClass(tone)}" aria-hidden="true"></span>`;
}

export function crumbs(links: readonly (readonly [text: string, href: string])[], here: string): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><ol>${links.map(([text, href]) => html`<li><a href="${href}">${text}</a></li>`)}<li aria-current="page">${here}</li></ol></nav>`;
}

export function empty(text: string, hint: HtmlValue = null, more: HtmlValue = null): Html {
  return html`<div class="empty"><p>${text}</p>${hint && html`<p class="soft">${hint}</p>`}${more}</div>`;
}

const STATE_TONES: Readonly<Record<RunState, OutcomeState>> = {
  running: 'deferred',
  finished: 'accepted',
  partial: 'in-doubt',
  halted: 'rejected',
  interrupted: 'in-doubt',
};

export function stateMark(state: RunState, words: string = state): Html {
  return html`<span class="state ${toneClass(STATE_TONES[state])}">${words}</span>`;
}

/** Omits those without a value. */
export function facts(pairs: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '');
  return html`<dl>${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** Our text, with parts between backticks as code. */
export function coded(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

export interface Column {
  readonly title: string;
  /** For a sortable column: the address that sorts by it, and the current order. */
  readonly sort?: { readonly href: string; readonly now: 'ascending' | 'descending' | null };
  readonly isFigure?: boolean;
  /** Goes below the first cell, with its title, where the table has little room. */
  readonly isLow?: boolean;
  /** Holds a bar or a text, and gets the room that others leave. */
  readonly isRoomy?: boolean;
  /** Its heading is for screen readers only. */
  readonly isHidden?: boolean;
  /** Hidden if all rows are empty. */
  readonly isOptional?: boolean;
}

export type Cells = readonly HtmlValue[];

export function figureColumns(...titles: readonly string[]): readonly Column[] {
  return titles.map((title) => ({ title, isFigure: true }));
}

/** The first cell of a row names it. On narrow screens each row is a block. */
export function table(
  caption: HtmlValue,
  allColumns: readonly Column[],
  rows: readonly (Cells | { readonly id?: string; readonly isPart?: boolean; readonly cells: Cells })[],
): Html {
  const allRows = rows.map((row) => ('cells' in row ? row : { cells: row }));
  const isShown = allColumns.map(
    ({ isOptional }, i) => isOptional !== true || allRows.some(({ cells }) => (cells[i] || '') !== ''),
  );
  const columns = allColumns.filter((_, i) => isShown[i]);
  const classes = columns.map(({ isFigure, isLow, isRoomy }) => {
    const names = [isFigure && 'n', isLow && 'low', isRoomy && 'roomy'].filter(Boolean);
    return names.length > 0 && html` class="${names.join(' ')}"`;
  });
  const head = columns.map(
    ({ title, isHidden, sort }, i) =>
      html`<th scope="col"${classes[i]}${sort?.now && html` aria-sort="${sort.now}"`}>${isHidden ? html`<span class="hidden">${title}</span>` : sort === undefined ? title : html`<a href="${sort.href}">${title}</a>`}</th>`,
  );
  const body = allRows.map(({ id, isPart, cells }) => {
    const shown = cells
      .filter((_, i) => isShown[i])
      .map((cell, i) =>
        i === 0
          ? html`<th scope="row"${classes[i]}>${cell}</th>`
          : html`<td${classes[i]} data-label="${columns[i]?.title ?? ''}">${cell}</td>`,
      );
    return html`<tr${id !== undefined && html` id="${id}"`}${isPart && html` class="part"`}>${shown}</tr>
`;
  });
  return html`<div class="scroll"><table>
${caption && html`<caption>${caption}</caption>`}
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>
`;
}

/** A search of a page, and what narrows its list further. */
export function searchForm(
  to: string,
  about: string,
  field: string,
  q: string,
  more: { readonly hidden?: Hidden; readonly fields?: HtmlValue; readonly links?: HtmlValue } = {},
): Html {
  return html`<form class="filters" method="get" action="${to}" role="search" aria-label="${about}">${hiddenFields(more.hidden ?? {})}
<p class="field wide"><label for="q">${field}</label><input id="q" name="q" type="search" value="${q}" maxlength="300" autocomplete="off" spellcheck="false"></p>
${more.fields}<p class="actions"><button class="main">Search</button>${more.links}</p></form>`;
}

export type Hidden = Readonly<Record<string, string | number | null | readonly number[]>>;

/** Omits those without a value. */
export function hiddenFields(fields: Hidden): readonly Html[] {
  const all = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  );
  const given = all.filter(([, value]) => value !== null && value !== '');
  return given.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

export function select(
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string | undefined,
): Html {
  return html`<p class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">any</option>${options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></p>`;
}

/**
 * Text with a button that copies it, where the browser allows that.
 * @param block the name of the text, shown as a block; null: inline
 */
export function copied(text: string, block: string | null = null): Html {
  const content = html`<code>${text}</code>`;
  return html`<div class="copied">${block === null ? content : html`<pre tabindex="0" role="group" aria-label="${block}">${content}</pre>`}<button type="button" class="quiet">Copy<span class="hidden"> ${text}</span></button></div>`;
}

export function pager(label: string, links: readonly (readonly [text: string, href: string | null])[]): Html | null {
  const shown = links.filter(([, href]) => href !== null);
  if (shown.length === 0) return null;
  return html`<nav class="pager" aria-label="${label}">${shown.map(([text, href]) => html`<a class="button" href="${href ?? ''}">${text}</a>`)}</nav>`;
}

/**
 * A page of a list that is all there, and the links to those before and after it.
 * @param from - the place of its first item; null: the newest
 */
export function pageOf<T>(
  all: readonly T[],
  from: number | null,
  most: number,
  noun: string,
  at: (from: number | null) => string,
) {
  const first = Math.min(from ?? 0, Math.max(0, all.length - 1));
  const links = pager(`More ${noun}`, [
    [`Newer ${noun}`, first > 0 ? at(first > most ? first - most : null) : null],
    [`Older ${noun}`, first + most < all.length ? at(first + most) : null],
  ]);
  return { shown: all.slice(first, first + most), links };
}
