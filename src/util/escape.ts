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

/**
 * Makes text from outside safe to show: characters that a terminal would obey, or that would reorder the line, become
 * `\u{..}` (control characters except the newline, bidirectional marks, U+2028, U+2029, lone surrogates).
 * `util.stripVTControlCharacters` is not enough: it leaves CR, BS, BEL, bidirectional marks and most of U+0080 to U+009F.
 */
export function safe(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_ALL, shown) : text;
}

/** As `safe`, and on one line: newlines are shown as `\n`. */
export function safeLine(text: string): string {
  return safe(text).replaceAll('\n', '\\n');
}

/**
 * JSON in which every such character is written as `\uXXXX`: `JSON.stringify` does that only for those below U+0020 and
 * lone surrogates. It parses to the same value.
 */
export function jsonText(value: object | string, indent = 0): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

/** The same for text that is JSON already: such characters are only in its strings. */
export function escapedJson(json: string): string {
  return IN_STRING.test(json) ? json.replace(IN_STRING_ALL, inJson) : json;
}

/**
 * A piece of a result as stdout gets it. Formats for scripts hold what people wrote, exactly; a terminal gets them
 * without what it would obey. Texts for eyes have been through `safe`, and their own colours and cursor movements stay.
 */
export function forReader(text: string, format: string, isTerminal: boolean): string {
  if (FOR_EYES.has(format)) return withoutCommands(text);
  if (!isTerminal || !SHOWN.test(text)) return text;
  return text.replace(SHOWN_ALL, JSON_FORMATS.has(format) ? inJson : shown);
}

/**
 * Text in which no CI runner finds a command, wherever it is read: a line that begins with `::` (GitHub Actions), or
 * `##[`, `##vso[` (Azure DevOps) or `##teamcity[` anywhere in a line. Runners compare some of them as people do:
 * without invisible characters, and in any case.
 */
export function withoutCommands(text: string): string {
  if (!text.includes('#') && !text.includes(':')) return text;
  return text.replace(LINE_COMMAND, '$1 ').replace(ANYWHERE, '$& ');
}

const INVISIBLE = '\\p{Default_Ignorable_Code_Point}*';
const LINE_COMMAND = new RegExp(
  `^((?:[^\\S\\r\\n]|(?!\\s)\\p{Default_Ignorable_Code_Point})*:)(?=${INVISIBLE}:)`,
  'gmu',
);
const ANYWHERE = new RegExp(
  `#${INVISIBLE}#(?=${INVISIBLE}(?:${['vso', 'teamcity'].map((word) => [...word].join(INVISIBLE)).join('|')})?${INVISIBLE}\\[)`,
  'giu',
);

const FOR_EYES: ReadonlySet<string> = new Set(['text', 'brief']);
const JSON_FORMATS: ReadonlySet<string> = new Set(['json', 'jsonl']);

/**
 * The same, and nothing in it means anything to a shell: a log can be named so that a shell reads it at its start, and
 * what campaigns and ledgers are called must not run there.
 */
export function logJson(json: string): string {
  return escapedJson(json).replace(/[$`]/g, inJson);
}

function shown(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function inJson(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const ABOVE_ASCII = '\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff';
const CLASS = `[\\0-\\x09\\x0b-\\x1f${ABOVE_ASCII}\\ud800-\\udfff]`;
const UNSAFE = new RegExp(CLASS, 'u');
const UNSAFE_ALL = new RegExp(CLASS, 'gu');
const IN_STRING = new RegExp(`[${ABOVE_ASCII}]`);
const IN_STRING_ALL = new RegExp(`[${ABOVE_ASCII}]`, 'g');
/** Tabs move within the line, and CR LF is how lines of some formats end. */
const ON_SCREEN = `\\r(?!\\n)|[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f${ABOVE_ASCII}]`;
const SHOWN = new RegExp(ON_SCREEN);
const SHOWN_ALL = new RegExp(ON_SCREEN, 'g');

/** One word for a POSIX shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*$/.test(text) ? text : quoted(text);
}

/** One word for a POSIX shell in quotes, also where it needs none. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
