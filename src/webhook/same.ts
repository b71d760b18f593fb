import { hash, timingSafeEqual } from 'node:crypto';

/**
 * Whether two texts are the same, in a time that says nothing of where they differ. Hashes of them are compared,
 * because `timingSafeEqual` throws where lengths differ.
 */
export function isSame(given: string | Uint8Array, expected: string | Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'));
}

/** Whether one of several is the same. All of them are looked at, so that time does not say which it was. */
export function isOneOf(given: string | Uint8Array, expected: readonly (string | Uint8Array)[]): boolean {
  return expected.reduce<boolean>((found, one) => isSame(given, one) || found, false);
}
