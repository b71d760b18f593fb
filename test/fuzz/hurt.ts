import fc from 'fast-check';

export interface Damage {
  /** Which file, modulo their number. */
  readonly file: number;
  readonly kind: 'flip' | 'fill' | 'cut' | 'insert' | 'append' | 'swap pages' | 'empty' | 'zero' | 'gone';
  /** Where, as a share of the length. */
  readonly at: number;
  readonly length: number;
  readonly bytes: Uint8Array;
}

export const damage: fc.Arbitrary<Damage> = fc.record({
  file: fc.nat(7),
  kind: fc.constantFrom(
    'flip',
    'flip',
    'flip',
    'fill',
    'cut',
    'insert',
    'append',
    'swap pages',
    'empty',
    'zero',
    'gone',
  ),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.constantFrom(1, 4, 100, 4096, 10_000),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 16 }),
});

/** The bytes after the damage; null where the file is gone. */
export function hurt(old: Buffer, { kind, at, length, bytes }: Damage): Buffer | null {
  const offset = Math.floor(at * old.length);
  const [before, after] = [old.subarray(0, offset), old.subarray(offset)];
  const fill = Buffer.alloc(length, bytes);
  switch (kind) {
    case 'gone':
      return null;
    case 'empty':
      return Buffer.alloc(0);
    case 'flip':
      return flipped(old, offset, bytes[0] ?? 0);
    case 'zero':
      return Buffer.concat([before, Buffer.alloc(Math.min(length, after.length)), after.subarray(length)]);
    case 'fill':
      return Buffer.concat([before, fill.subarray(0, after.length), after.subarray(length)]);
    case 'cut':
      return before;
    case 'insert':
      return Buffer.concat([before, fill, after]);
    case 'append':
      return Buffer.concat([old, fill]);
    case 'swap pages':
      return swapped(old, offset - (offset % PAGE));
  }
}

const PAGE = 4096;

function flipped(old: Buffer, offset: number, bit: number): Buffer {
  const bytes = Buffer.from(old);
  if (offset < bytes.length) bytes[offset] = (bytes[offset] ?? 0) ^ (1 << (bit % 8));
  return bytes;
}

/** The page at `start` and the one behind it change places. */
function swapped(old: Buffer, start: number): Buffer {
  const parts = [start + PAGE, start].map((from) => old.subarray(from, from + PAGE));
  return Buffer.concat([old.subarray(0, start), ...parts, old.subarray(start + 2 * PAGE)]);
}
