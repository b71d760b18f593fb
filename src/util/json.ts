import { follow, parsePointer } from './pointer.ts';

/** The reverse of `parsePointer`: `['send', 'a/b']` is `/send/a~1b`. */
export function pointerTo(segments: readonly (string | number)[]): string {
  return segments.map((s) => `/${String(s).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value that the pointer names, or undefined. */
export function valueAt(document: unknown, pointer: string): unknown {
  return follow(document, parsePointer(pointer));
}

/** Freezes plain data, however deep, and what maps hold (a map itself stays read-only by its type alone). */
export function freezeAll<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) freezeAll(inner);
  return value;
}

/** The JSON document, or undefined: JSON has no such value. A byte order mark before it is none of it. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The document with every digit that was written: numbers that a double cannot hold are strings in it, because ids are
 * written as numbers too. Undefined where the text is no JSON.
 */
export function parseExactly(text: string): unknown {
  const document = parseJson(text);
  return document !== undefined && LONG_NUMBER.test(text) ? parseDigits(text) : document;
}

/** The document of a text that is JSON, with long numbers as the strings that they were written as. */
export function parseDigits(text: string): unknown {
  return parseJson(text.replace(STRING_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

const BYTE_ORDER_MARK = 0xfeff;
const LONG_NUMBER = /[0-9.eE+-]{16}/;
/** For well-formed JSON alone: on a text that never ends it would take the square of its length. */
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]{15,}/g;
