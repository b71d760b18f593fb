import type { OutcomeState, RunState } from '../model.ts';
import { Html, html } from '../util/escape.ts';
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

export function section(heading: string, content: Html | readonly (Html | null)[]): Html {
  const parts = 'markup' in content ? [content] : content.filter((part) => part !== null);
  return html`<section>
<h2>${heading}</h2>
${parts}</section>
`;
}

export function swatch(tone: Tone): Html {
  return html`<span class="key ${toneClass(tone)}" aria-hidden="true"></span>`;
}

export function crumbs(links: readonly (readonly [text: string, href: string])[], here: string): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb"><ol>${links.map(([text, href]) => html`<li><a href="${href}">${text}</a></li>`)}<li aria-current="page">${here}</li></ol></nav>`;
}

export function empty(text: string, more: Html | readonly (Html | null)[] = []): Html {
  const parts = 'markup' in more ? [html`<p class="soft">${more}</p>`] : more.filter((part) => part !== null);
  return html`<div class="empty"><p>${text}</p>${parts}</div>`;
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

export function facts(pairs: readonly (readonly [name: string, value: Html | string | number | null])[]): Html {
  const shown = pairs.filter(([, value]) => value !== null && value !== '');
  return html`<dl>${shown.map(
    ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
  )}</dl>`;
}

/** Our text, with parts between backticks as code. */
export function coded(text: string): Html {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
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

interface TableRow {
  readonly id?: string;
  readonly isPart?: boolean;
  readonly cells: readonly (Html | string | number | null)[];
}

/** The first cell of a row names it. On narrow screens each row is a block. */
export function table(
  caption: Html | string | null,
  allColumns: readonly Column[],
  allRows: readonly TableRow[],
): Html {
  const isShown = allColumns.map(
    ({ isOptional }, i) => isOptional !== true || allRows.some(({ cells }) => cells[i] !== ''),
  );
  const columns = allColumns.filter((_, i) => isShown[i]);
  const classes = columns.map(({ isFigure, isLow, isRoomy }) => {
    const names = [isFigure ? 'n' : '', isLow ? 'low' : '', isRoomy ? 'roomy' : ''].filter((name) => name !== '');
    return names.length === 0 ? null : html` class="${names.join(' ')}"`;
  });
  const head = columns.map(
    ({ title, isHidden, sort }, i) =>
      html`<th scope="col"${classes[i] ?? null}${sort?.now == null ? null : html` aria-sort="${sort.now}"`}>${isHidden ? html`<span class="hidden">${title}</span>` : sort === undefined ? title : html`<a href="${sort.href}">${title}</a>`}</th>`,
  );
  const body = allRows.map(({ id, isPart, cells }) => {
    const shown = cells
      .filter((_, i) => isShown[i])
      .map((cell, i) =>
        i === 0
          ? html`<th scope="row"${classes[i] ?? null}>${cell}</th>`
          : html`<td${classes[i] ?? null} data-label="${columns[i]?.title ?? ''}">${cell}</td>`,
      );
    return html`<tr${id === undefined ? null : html` id="${id}"`}${isPart ? PART : null}>${shown}</tr>
`;
  });
  return html`<div class="scroll"><table>
${caption === null ? null : html`<caption>${caption}</caption>`}
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>
`;
}

const PART = new Html(' class="part"');
const SELECTED = new Html(' selected');

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
