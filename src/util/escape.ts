/** Well-formed markup: only `html` makes it, so that text cannot become markup by accident. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value in a template: text and numbers are escaped, markup is not; null, undefined and false are nothing. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

/** Escapes every value, for text and for quoted attributes; not for names of tags, `<style>` or addresses. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = strings[0] ?? '';
  for (const [index, value] of values.entries()) markup += render(value) + (strings[index + 1] ?? '');
  return new Html(markup);
}

/** For text and quoted attributes. Shows control characters and bidirectional marks by their numbers. */
export function escapeHtml(text: string): string {
  return escapeMarkup(safe(text));
}

/** Keeps invisible characters, for text that is sent and not shown here. */
export function escapeMarkup(text: string): string {
  return SPECIAL.test(text) ? text.replace(SPECIAL_ALL, (character) => ENTITIES[character] ?? '') : text;
}

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(render).join('');
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
 * Shows as `\u{..}` what a terminal would obey or what would reorder the line: control characters except the newline,
 * bidirectional marks, U+2028, U+2029, lone surrogates. `util.stripVTControlCharacters` leaves many of them.
 */
export function safe(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_ALL, shown) : text;
}

/** As `safe`, and on one line: newlines are shown as `\n`. */
export function safeLine(text: string): string {
  return safe(text).replaceAll('\n', '\\n');
}

/** Writes every such character as `\uXXXX`; `JSON.stringify` does so only below U+0020. It parses to the same value. */
export function jsonText(value: object | string, indent = 0): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

export function escapedJson(json: string): string {
  return IN_STRING.test(json) ? json.replace(IN_STRING_ALL, inJson) : json;
}

/** Scripts get exactly what people wrote; a terminal, nothing that it would obey. Colours of text formats stay. */
export function forReader(text: string, format: string, isTerminal: boolean): string {
  if (FOR_EYES.has(format)) return withoutCommands(text);
  if (!isTerminal || !SHOWN.test(text)) return text;
  return text.replace(SHOWN_ALL, JSON_FORMATS.has(format) ? inJson : shown);
}

/**
 * Text without commands of CI runners: `::` at the beginning of a line (GitHub Actions), `##[`, `##vso[` (Azure DevOps) or
 * `##teamcity[` anywhere. Ignores case and invisible characters, as some runners do.
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

/** Also without meaning to a shell: a shell may read a log at its start, and must not run the name of a campaign. */
export function logJson(json: string): string {
  return escapedJson(json).replace(/[$`]/g, inJson);
}

function shown(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** `U+00A0`: of a character that cannot be shown, or looks like another one. */
export function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
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

export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*$/.test(text) ? text : quoted(text);
}

/** One word for a POSIX shell in quotes, also where it needs none. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as a part of a regular expression, outside of a class. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
