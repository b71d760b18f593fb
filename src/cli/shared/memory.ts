import v8 from 'node:v8';

/** Bytes of the young generation. More took no less CPU (docs/internals/measurements.md). */
const ENOUGH = 16 * 2 ** 20;
const LOOK_MS = 50;

/**
 * Keeps V8 from taking more memory than it needs, which on a large machine made 300 MB of a `send` that had 25 of live
 * objects. Its young generation doubles up to a size that follows from the machine's memory: here up to what is enough.
 * Its old one is collected when it has grown by a half, not when it is three times as large. Sizes cannot be set in a
 * process that runs; these two factors can, and V8 reads them when it grows.
 */
export function boundMemory(): void {
  v8.setFlagsFromString('--heap-growing-percent=50');
  const look = setInterval(() => {
    const young = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    if ((young?.space_size ?? 0) < ENOUGH) return;
    v8.setFlagsFromString('--semi-space-growth-factor=1');
    clearInterval(look);
  }, LOOK_MS);
  look.unref();
}
