import v8 from 'node:v8';

/** Bytes of the young generation. More took no less CPU (docs/internals/measurements.md). */
const ENOUGH = 16 * 2 ** 20;
const LOOK_MS = 50;

/**
 * On a large machine V8 took 300 MB for a `send` with 25 of live objects: its young generation doubles up to a size
 * that follows from the machine's memory. Limits that, and collects the old generation when it has grown by a half. A
 * running process cannot set sizes, but these two factors, which V8 reads when it grows.
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
