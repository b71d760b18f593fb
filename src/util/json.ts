export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Names that would reach behind an object: never a key, a column or a helper. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The reverse of `parsePointer`: `['send', 'a/b']` is `/send/a~1b`. */
export function pointerTo(segments: readonly (string | number)[]): string {
  return segments.map((s) => `/${String(s).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function valueAt(document: unknown, pointer: string): unknown {
  return follow(document, parsePointer(pointer));
}

/** `Array.isArray`, for lists that are read-only. */
export function isList<T>(value: T): value is Extract<T, readonly unknown[]> {
  return Array.isArray(value);
}

/** An object of names and values: neither null nor a list. */
export function isMapping(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Every text in a value, in order. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(textsIn);
}

/** Freezes plain data at any depth, and the values of maps (a map itself is read-only only by its type). */
export function freezeAll<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) freezeAll(inner);
  return value;
}

/** Undefined, which JSON cannot hold, where it is not JSON. Ignores a byte order mark. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

/** Numbers that a double cannot hold become strings, because ids are written as numbers too. Undefined: not JSON. */
export function parseExactly(text: string): unknown {
  const document = parseJson(text);
  return document !== undefined && LONG_NUMBER.test(text) ? parseDigits(text) : document;
}

export function parseDigits(text: string): unknown {
  return parseJson(text.replace(STRING_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

const BYTE_ORDER_MARK = 0xfeff;
const LONG_NUMBER = /[0-9.eE+-]{16}/;
/** Only for well-formed JSON: on a text without an end it would take quadratic time. */
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]{15,}/g;

/** A JSON pointer (RFC 6901) taken apart: the names to follow, none for the whole document. */
export type Pointer = readonly string[];

/** The first `/` may be missing. */
export function parsePointer(text: string): Pointer {
  if (text === '') return [];
  const names = text.startsWith('/') ? text.slice(1).split('/') : text.split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Null included; undefined: none exists. Own properties only: `__proto__` finds and changes nothing. */
export function find(document: unknown, pointers: readonly Pointer[], accept: (value: unknown) => boolean): unknown {
  for (const pointer of pointers) {
    const value = follow(document, pointer);
    if (accept(value)) return value;
  }
  return undefined;
}

export function follow(document: unknown, pointer: Pointer): unknown {
  let value = document;
  for (const name of pointer) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = INDEX.test(name) ? value[Number(name)] : undefined;
    else value = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return value;
}

export function isIndex(name: string): boolean {
  return INDEX.test(name);
}

/** `CHANNEL_NOT_SUPPORTED` and `channel-not-supported` are one word. */
export function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;

export type JsonPiece =
  | { readonly text: string; readonly line: number }
  | { readonly fault: JsonFault; readonly line: number };

/** `unfinished`: the file ends in the middle of a value. `too-large`: a value longer than is read. `stray`: a bracket. */
export type JsonFault = 'unfinished' | 'too-large' | 'stray';

/**
 * Splits JSON lines, values one after the other, or the entries of an array, in constant memory, without checking values.
 * Of JSON lines a broken one is a value too; in every other form it reads nothing after a value without an end.
 *
 * @param pieces text with LF at the end of lines, without a byte order mark
 * @param maxCharacters longest value, in UTF-16 units
 */
export async function* jsonValues(
  pieces: AsyncIterable<string>,
  maxCharacters: number,
): AsyncGenerator<readonly JsonPiece[]> {
  let head = '';
  let scan: Scan | null = null;
  for await (const piece of pieces) {
    if (scan !== null) {
      yield scan.push(piece);
      if (scan.isOver()) return;
      continue;
    }
    head += piece;
    if (!head.trimStart().includes('\n') && head.length <= maxCharacters) continue;
    scan = scanOf(head, maxCharacters);
    yield scan.push(head);
    if (scan.isOver()) return;
  }
  if (scan !== null) yield scan.end();
  else {
    scan = scanOf(head, maxCharacters);
    yield [...scan.push(head), ...scan.end()];
  }
}

type Scan = { push(text: string): readonly JsonPiece[]; end(): readonly JsonPiece[]; isOver(): boolean };

function scanOf(head: string, maxCharacters: number): Scan {
  const first = head.trimStart().split('\n', 1)[0] ?? '';
  return first.startsWith('{') && parseJson(first) !== undefined ? scanLines(maxCharacters) : scanValues(maxCharacters);
}

function scanLines(maxCharacters: number): Scan {
  let held = '';
  let line = 0;
  const pieceOf = (text: string): readonly JsonPiece[] => {
    line += 1;
    if (text.length > maxCharacters) return [{ fault: 'too-large', line }];
    const trimmed = text.trim();
    return trimmed === '' ? [] : [{ text: trimmed, line }];
  };
  return {
    push(text) {
      const lines = (held + text).split('\n');
      held = lines.pop() ?? '';
      // A text that is too long is not kept, only the fact.
      if (held.length > maxCharacters) held = held.slice(0, maxCharacters + 1);
      return lines.flatMap(pieceOf);
    },
    end: () => pieceOf(held),
    isOver: () => false,
  };
}

function scanValues(maxCharacters: number): Scan {
  let held = '';
  let line = 1;
  let startLine = 1;
  let depth = 0;
  let inValue = false;
  let inString = false;
  let isEscaped = false;
  let inArray = false;
  let isOver = false;

  const push = (text: string): JsonPiece[] => {
    const found: JsonPiece[] = [];
    let start = 0;
    const begin = (at: number): void => {
      inValue = true;
      start = at;
      startLine = line;
    };
    const finish = (end: number): void => {
      found.push({ text: held + text.slice(start, end), line: startLine });
      held = '';
      inValue = false;
    };
    for (let i = 0; i < text.length && !isOver; i++) {
      const unit = text.charCodeAt(i);
      if (unit === LF) line += 1;
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (unit === BACKSLASH) isEscaped = true;
        else if (unit === QUOTE) {
          inString = false;
          if (depth === 0) finish(i + 1);
        }
        continue;
      }
      if (inValue && depth === 0 && (unit <= SPACE || unit === COMMA || ENDS.has(unit))) finish(i);
      if (!inValue) {
        if (unit <= SPACE || unit === COMMA) continue;
        if (unit === OPEN_ARRAY && !inArray) inArray = true;
        else if (unit === CLOSE_ARRAY && inArray) inArray = false;
        else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
          found.push({ fault: 'stray', line });
          isOver = true;
        } else begin(i);
        if (!inValue) continue;
      }
      if (unit === QUOTE) inString = true;
      else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) depth += 1;
      else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
        depth -= 1;
        if (depth === 0) finish(i + 1);
      }
    }
    if (inValue) held += text.slice(start);
    if (held.length > maxCharacters && !isOver) {
      found.push({ fault: 'too-large', line: startLine });
      isOver = true;
    }
    return found;
  };

  return {
    push,
    end() {
      if (isOver) return [];
      const isWord = inValue && depth === 0 && !inString;
      if (isWord) return [{ text: held, line: startLine }];
      return inValue || inArray ? [{ fault: 'unfinished', line: inValue ? startLine : line }] : [];
    },
    isOver: () => isOver,
  };
}

const [LF, SPACE, QUOTE, COMMA, BACKSLASH] = [0x0a, 0x20, 0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const ENDS: ReadonlySet<number> = new Set([QUOTE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT]);
