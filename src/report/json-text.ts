/**
 * JSON that a terminal survives: `JSON.stringify` escapes C0 but leaves DEL, C1, the bidirectional marks and the line
 * separators as they are. Written as `\uXXXX` they are the same data to whoever parses it.
 */
export function jsonText(value: object, indent = 0): string {
  const text = JSON.stringify(value, null, indent);
  return OBEYED.test(text) ? text.replace(OBEYED_ALL, escaped) : text;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const CLASS = '[\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]';
const OBEYED = new RegExp(CLASS);
const OBEYED_ALL = new RegExp(CLASS, 'g');
