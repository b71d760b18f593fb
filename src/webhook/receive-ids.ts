import { hash } from 'node:crypto';

/** Ids of requests that were received, with what they brought. */
export interface SeenIds {
  /**
   * Whether this id came with another body before. One that comes with the same body again is an honest retry: nobody
   * knows whether the sender got its answer.
   */
  isReused(id: string, body: Uint8Array, nowMs: number): boolean;
  /** What it brought is not held: the sender may say it again in other bytes. */
  forget(id: string): void;
}

/** Entries of a generation: some 50 MB in all, which 800 requests a second reach after 10 minutes. */
const MOST_IDS = 250_000;

/**
 * Remembers ids for at least twice the tolerance: a signature may be dated that far ahead, and is good that long after.
 * Whoever has only copied a request cannot send something else under its id; whatever is forgotten when a flood of ids
 * fills the memory is still held only once, because the ledger knows events by what they say.
 *
 * @param toleranceMs of the scheme
 */
export function rememberIds(toleranceMs: number, most = MOST_IDS): SeenIds {
  // Three generations of one tolerance each: what moves out of the last is older than two.
  let generations: readonly Map<string, string>[] = [new Map()];
  let beganMs = Number.NEGATIVE_INFINITY;
  const advance = (nowMs: number): Map<string, string> => {
    const [newest = new Map<string, string>()] = generations;
    const old = nowMs - beganMs >= toleranceMs;
    if (!old && newest.size < most) return newest;
    if (old) beganMs = nowMs;
    const next = new Map<string, string>();
    generations = [next, ...generations.slice(0, 2)];
    return next;
  };
  return {
    isReused(id, body, nowMs) {
      const newest = advance(nowMs);
      const key = digest(id);
      const content = digest(body);
      for (const generation of generations) {
        const known = generation.get(key);
        if (known !== undefined) return known !== content;
      }
      newest.set(key, content);
      return false;
    },
    forget(id) {
      const key = digest(id);
      for (const generation of generations) generation.delete(key);
    },
  };
}

/** 16 bytes as as many characters: ids are as long as senders like. */
function digest(content: string | Uint8Array): string {
  return hash('sha256', content, 'buffer').toString('latin1', 0, 16);
}
