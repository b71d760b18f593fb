import { EXACT_MS } from './throttle.ts';
import type { Timers } from './timers.ts';

/** A wait ends at a whole second: at 100 messages a second, the ledger writes a group of them in one transaction. */
const GRAIN_MS = 1000;

export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** Time that passes only while everything waits for it: days go by in the time that the work in them takes. */
export function createVirtualTime(fromMs: number) {
  let nowMs = fromMs;
  let held = 0;
  let open = 0;
  /** The latest first: the next one is at the end. Of those at one instant, the first to come is the last. */
  const agenda: { readonly atMs: number; readonly work: () => void }[] = [];

  const add = (atMs: number, work: () => void): (() => void) => {
    const event = { atMs: Math.max(nowMs, atMs), work };
    let low = 0;
    let high = agenda.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((agenda[middle]?.atMs ?? 0) > event.atMs) low = middle + 1;
      else high = middle;
    }
    agenda.splice(low, 0, event);
    return () => {
      const found = agenda.indexOf(event);
      if (found !== -1) agenda.splice(found, 1);
    };
  };
  const sleep: Timers['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const over = (): void => {
        cancel();
        signal.removeEventListener('abort', over);
        resolve();
      };
      const cancel = add(Math.ceil((nowMs + ms - EXACT_MS) / GRAIN_MS) * GRAIN_MS, over);
      signal.addEventListener('abort', over);
    });
  const pass = (): (() => void) => {
    held -= 1;
    let isOver = false;
    return () => {
      if (!isOver) held += 1;
      isOver = true;
    };
  };
  /** One turn of the event loop settles all promises. The lists are real files, whose reading takes no virtual time. */
  const settled = async (): Promise<void> => {
    do {
      await turn();
      // Long work that lets others go on has begun its next turn by then.
      await turn();
    } while (held > 0 || process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq$)/.test(name)));
  };

  return {
    timers: {
      monotonicMs: () => nowMs - fromMs,
      sleep,
      soon: (work) => void add(nowMs, work),
      later: (ms, work) => void add(nowMs + ms, work),
      lateMs: GRAIN_MS,
    } satisfies Timers,
    /** Ms since 1970. */
    get nowMs(): number {
      return Math.floor(nowMs);
    },
    /** Calls `work` at an instant, in ms since 1970; later, where that has passed. */
    at: (ms: number, work: () => void) => void add(ms, work),
    /** No time passes until `work` has ended, except between `pass` and the call of the function that it returned. */
    async hold<T>(work: () => Promise<T>): Promise<T> {
      held += 1;
      open += 1;
      try {
        return await work();
      } finally {
        held -= 1;
        open -= 1;
      }
    },
    pass,
    /** Lets time pass until nothing is left to happen before `untilMs` and all that was held has ended. */
    async play(untilMs: number, signal: AbortSignal): Promise<void> {
      for (await settled(); ; await settled()) {
        const next = agenda.at(-1);
        if (signal.aborted && open === 0) return;
        if (next === undefined || (next.atMs >= untilMs && open === 0)) {
          if (open > 0) continue;
          return;
        }
        agenda.pop();
        nowMs = next.atMs;
        next.work();
      }
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
