import v8 from 'node:v8';

/** How often it is looked how large the old generation is, which takes 10 us. */
const EVERY_MS = 250;

/** Garbage that is let be. To look through all of it takes some 10 ms, a few times in a million rows. */
const MOST_GARBAGE_BYTES = 4 * 1024 * 1024;

/** The same as a share of what is in use, for that is what looking costs. */
const MOST_GARBAGE = 0.25;

/**
 * Looks through V8's old generation as soon as it has grown, where the process was started with bounds
 * (`src/commands/young-generation.ts`): they switch off that V8 does so by itself beside the work, and left alone it comes
 * too late. An API that closes each connection behind its answer would cost a gigabyte, for V8 does not see what
 * connections take. Each thread has generations of its own, and is to call it.
 *
 * @param collect - looks through everything at once; undefined in a process without bounds, which needs none
 */
export function boundOldGeneration(collect: (() => unknown) | undefined): void {
  if (collect === undefined) return;
  let inUse = 0;
  const look = (): void => {
    if (oldBytes() <= inUse + Math.max(MOST_GARBAGE_BYTES, MOST_GARBAGE * inUse)) return;
    collect();
    inUse = oldBytes();
  };
  setInterval(look, EVERY_MS).unref();
}

function oldBytes(): number {
  let bytes = 0;
  for (const { space_name: name, space_used_size: used } of v8.getHeapSpaceStatistics()) {
    if (name === 'old_space' || name === 'large_object_space') bytes += used;
  }
  return bytes;
}
