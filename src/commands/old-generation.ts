import v8 from 'node:v8';

/** How often it is looked how large the old generation is, which takes 10 us. */
const EVERY_MS = 250;

/** Garbage that is let be. To look through all of it takes some 10 ms, a few times in a million rows. */
const MOST_GARBAGE_BYTES = 4 * 1024 * 1024;

/**
 * Looks through V8's old generation as soon as it has grown, where the process was started with bounds
 * (`young-generation.ts`): they switch off that V8 does so by itself beside the work, and left alone it comes too late.
 * An API that closes each connection behind its answer would cost a gigabyte, for V8 does not see what connections take.
 *
 * @param collect - looks through everything at once
 */
export function boundOldGeneration(collect: () => void): void {
  let inUse = 0;
  const look = (): void => {
    if (oldBytes() <= inUse + MOST_GARBAGE_BYTES) return;
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
