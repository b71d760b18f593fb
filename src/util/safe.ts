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
  return IN_STRING.test(json) ? json.replace(IN_STRING_ALL, escaped) : json;
}

/**
 * A piece of a result as a terminal may be given it. Formats for scripts hold what people wrote, exactly, which is for
 * files and pipes; texts for eyes have been through `safe`, and their own colours and cursor movements stay.
 */
export function forTerminal(text: string, format: string): string {
  if (FOR_EYES.has(format)) return text;
  if (!SHOWN.test(text)) return text;
  return text.replace(SHOWN_ALL, JSON_FORMATS.has(format) ? escaped : shown);
}

const FOR_EYES: ReadonlySet<string> = new Set(['text', 'brief']);
const JSON_FORMATS: ReadonlySet<string> = new Set(['json', 'jsonl', 'sarif']);

function shown(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function escaped(character: string): string {
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
