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
