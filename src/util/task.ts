/**
 * A task that takes a while. Await it for its result, loop over it for what happens meanwhile, or both. It begins at
 * once, even if it is neither awaited nor looped over. Leaving the loop early ends the work in good order, as its
 * signal does, and waits for that.
 */
export interface Task<Item, Result> extends Promise<Result>, AsyncIterable<Item> {}

interface TaskOptions<Item> {
  readonly signal: AbortSignal | undefined;
  /** A new item replaces one that the loop has not read yet; absent: every item is kept until it is read. */
  readonly newestOnly?: boolean;
  /** Called with `show` when a loop begins; the function that it returns is called at the end. */
  readonly watch?: (show: (item: Item) => void) => () => void;
}

/**
 * The loop and the caller that awaits both get an error; one must handle it. `work` begins in the same turn; what it shows
 * is dropped without a loop.
 */
export function startTask<Item, Result>(
  work: (facts: { readonly show: (item: Item) => void; readonly signal: AbortSignal }) => Promise<Result>,
  { signal, newestOnly = false, watch }: TaskOptions<Item>,
): Task<Item, Result> {
  const left = new AbortController();
  const both = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  let queue: Item[] = [];
  let isWatched = false;
  let ended = false;
  let wake = (): void => undefined;
  const show = (item: Item): void => {
    if (newestOnly) queue = [item];
    else queue.push(item);
    wake();
  };
  const promise = work({ show, signal: both }).finally(() => {
    ended = true;
    wake();
  });

  async function* items(): AsyncGenerator<Item, void, undefined> {
    const unwatch = watch?.(show);
    try {
      for (;;) {
        yield* queue.splice(0);
        if (ended && queue.length === 0) break;
        if (queue.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      await promise;
    } finally {
      unwatch?.();
      left.abort();
      await promise.catch(() => undefined);
    }
  }

  return Object.assign(promise, {
    [Symbol.asyncIterator](): AsyncIterator<Item, void, undefined> {
      if (isWatched) throw new TypeError('A task can be looped over once.');
      isWatched = true;
      // An error is thrown in the loop, so a caller that loops need not await the task as well.
      promise.catch(() => undefined);
      return items();
    },
  });
}
