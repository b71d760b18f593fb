/** A JSON pointer (RFC 6901) taken apart: the names to follow, none for the whole document. */
export type Pointer = readonly string[];

/** Takes a pointer apart; the first `/` may be missing. */
export function parsePointer(text: string): Pointer {
  if (text === '') return [];
  const names = text.startsWith('/') ? text.slice(1).split('/') : text.split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * The value at the first pointer that exists in the document, null included; undefined if none exists. Own properties
 * only: a document with `__proto__` in it neither finds nor changes anything.
 */
export function find(document: unknown, pointers: readonly Pointer[], accept: (value: unknown) => boolean): unknown {
  for (const pointer of pointers) {
    const value = follow(document, pointer);
    if (accept(value)) return value;
  }
  return undefined;
}

/** The value at a pointer, or undefined. */
export function follow(document: unknown, pointer: Pointer): unknown {
  let value = document;
  for (const name of pointer) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = INDEX.test(name) ? value[Number(name)] : undefined;
    else value = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return value;
}

/** Is this name the index of an entry? */
export function isIndex(name: string): boolean {
  return INDEX.test(name);
}

/** `CHANNEL_NOT_SUPPORTED` and `channel-not-supported` are one word. */
export function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;
