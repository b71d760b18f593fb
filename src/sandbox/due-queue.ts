/** Things that are due at a time; those of one time in the order in which they came. */
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

/** A binary heap: a timer for each of a hundred thousand things would keep them all until it fires. */
export function createDueQueue<T>(): DueQueue<T> {
  const heap: Entry<T>[] = [];
  let number = 0;
  return {
    add(dueMs, thing) {
      number += 1;
      const entry = { dueMs, number, thing };
      heap.push(entry);
      rise(heap, heap.length - 1, entry);
    },
    get nextMs() {
      return heap[0]?.dueMs ?? null;
    },
    take(byMs) {
      const [first] = heap;
      if (first === undefined || first.dueMs > byMs) return null;
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) sink(heap, last);
      return first.thing;
    },
    get size() {
      return heap.length;
    },
  };
}

function isBefore<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.dueMs === b.dueMs ? a.number < b.number : a.dueMs < b.dueMs;
}

function rise<T>(heap: Entry<T>[], from: number, entry: Entry<T>): void {
  let at = from;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = entry;
}

function sink<T>(heap: Entry<T>[], entry: Entry<T>): void {
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    const [left, right] = [heap[below], heap[below + 1]];
    if (left === undefined) break;
    const child = right !== undefined && isBefore(right, left) ? right : left;
    if (child === right) below += 1;
    if (!isBefore(child, entry)) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = entry;
}
