import { follow, parsePointer } from './pointer.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The reverse of `parsePointer`: `['send', 'a/b']` is `/send/a~1b`. */
export function pointerTo(segments: readonly (string | number)[]): string {
  return segments.map((s) => `/${String(s).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value that the pointer names, or undefined. */
export function valueAt(document: unknown, pointer: string): unknown {
  return follow(document, parsePointer(pointer));
}

/** Freezes plain data at any depth, and the values of maps (a map itself is read-only only by its type). */
export function freezeAll<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) freezeAll(inner);
  return value;
}

/** The JSON document, or undefined, which is not a value of JSON. A byte order mark before it is ignored. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The document with all its digits: numbers that a double cannot hold become strings, because ids are written as
 * numbers too. Undefined if the text is not JSON.
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
/** Only for well-formed JSON: on a text without an end it would take quadratic time. */
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]{15,}/g;
