import TinyQueue from 'tinyqueue';

/** Entries that are due at a time; those of the same time in the order in which they were added. */
export interface DueQueue<T> {
  add(dueMs: number, thing: T): void;
  /** When the next is due; null where nothing waits. */
  readonly nextMs: number | null;
  /** Takes the next, if it is due by then. */
  take(byMs: number): T | null;
  readonly size: number;
}

interface Entry<T> {
  readonly dueMs: number;
  readonly number: number;
  readonly thing: T;
}

/** One queue instead of a timer for each: a hundred thousand timers would keep their things until they fire. */
export function createDueQueue<T>(): DueQueue<T> {
  const queue = new TinyQueue<Entry<T>>([], (a, b) => a.dueMs - b.dueMs || a.number - b.number);
  let number = 0;
  return {
    add(dueMs, thing) {
      number += 1;
      queue.push({ dueMs, number, thing });
    },
    get nextMs() {
      return queue.peek()?.dueMs ?? null;
    },
    take(byMs) {
      const first = queue.peek();
      if (first === undefined || first.dueMs > byMs) return null;
      queue.pop();
      return first.thing;
    },
    get size() {
      return queue.length;
    },
  };
}
