/**
 * Makes text from outside fit for eyes: everything that a terminal would obey or that would reorder the line is shown
 * as `\u{..}` instead (C0 but the newline, DEL, C1, bidirectional marks, U+2028, U+2029, lone surrogates).
 * `util.stripVTControlCharacters` is not enough: it leaves CR, BS, BEL, bidi marks and the rest of C1.
 * Machine formats (json, jsonl) must not use it: they are exact.
 */
export function safe(text: string): string {
  return UNSAFE.test(text) ? text.replace(UNSAFE_ALL, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`) : text;
}

/** As `safe`, and on one line: newlines are shown as `\n`. */
export function safeLine(text: string): string {
  return safe(text).replaceAll('\n', '\\n');
}

const CLASS =
  '[\\0-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]';
const UNSAFE = new RegExp(CLASS, 'u');
const UNSAFE_ALL = new RegExp(CLASS, 'gu');
