/** JSON pointers (RFC 6901): where a value stands in a document. */

/** `['send', 'a/b']` is `/send/a~1b`. */
export function pointerTo(segments: readonly (string | number)[]): string {
  return segments.map((s) => `/${String(s).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The reverse of `pointerTo`. */
export function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value that the pointer names, or undefined. Only own properties count: data from outside has no prototype. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of segmentsOf(pointer)) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[segment];
  }
  return value;
}

/** Freezes plain data, however deep, and what maps hold (a map itself stays read-only by its type alone). */
export function freezeAll<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) freezeAll(inner);
  return value;
}
