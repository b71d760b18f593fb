import { safe } from './safe.ts';

/** Markup that is known to be well-formed: only `html` makes it, so that text cannot become markup by accident. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value in a template: text and numbers are escaped, markup is not, null is nothing. */
type HtmlValue = Html | string | number | null | readonly Html[];

/**
 * Tagged template for pages: every interpolated value is escaped, for text and for quoted attributes. Attributes must
 * be quoted. Values are not allowed in the name of a tag or attribute, in `<style>` or in an address.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = strings[0] ?? '';
  for (const [index, value] of values.entries()) markup += render(value) + (strings[index + 1] ?? '');
  return new Html(markup);
}

/**
 * Text as HTML text or as the value of a quoted attribute. What a reader could not see or a terminal would obey
 * (control characters, bidirectional marks) is shown by its number, as everywhere where people read.
 */
export function escapeHtml(text: string): string {
  return escapeMarkup(safe(text));
}

/** The same for text that is sent and not shown here: invisible characters are kept. */
export function escapeMarkup(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIAL_ALL, (character) => ENTITIES[character] ?? '') : text;
}

function render(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map((one) => one.markup).join('');
  return escapeHtml(String(value));
}

const SPECIAL = /[&<>"'`]/;
const SPECIAL_ALL = /[&<>"'`]/g;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};
