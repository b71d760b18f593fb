import type { Coverage } from './coverage.ts';

/** A simulated instant of a simulated machine: what is to happen, in order, and what has happened. */
export interface World {
  /** The monotonic clock, in ms. */
  readonly monotonicMs: number;
  /** The calendar's clock, which can be set. */
  readonly wallMs: number;
  setClock(byMs: number): void;
  /** When it was set last, by the monotonic clock. */
  readonly clockSetMs: number;
  /** The latest that it ever said. */
  readonly latestMs: number;
  /** Calls `work` when `ms` have passed; returns a function that takes it back. */
  after(ms: number, work: () => void): () => void;
  /**
   * Lets time pass until `done`. Between two events everything that real code does at once has been done: promises are
   * settled and no file is being read.
   */
  run(done: () => boolean): Promise<void>;
  /** Waits until nothing happens any more without time passing. */
  settle(): Promise<void>;
  /** One line of the history; made only when it is read. */
  note(text: () => string): void;
  /** Something speaks against the promise. */
  object(what: string): void;
  readonly violations: readonly string[];
  readonly log: readonly string[];
  readonly cover: Coverage['count'];
}

export interface WorldOptions {
  readonly startMs: number;
  readonly recording: boolean;
  readonly coverage: Coverage;
  /** Default: `MOST_EVENTS`. */
  readonly mostEvents?: number;
}

interface Event {
  readonly at: number;
  readonly work: () => void;
}

/** More events than any history of an hour has: beyond it something goes round in circles. */
const MOST_EVENTS = 20_000;
/** Faults repeat; more than this is not read. */
const MOST_VIOLATIONS = 20;

export function createWorld({ startMs, recording, coverage, mostEvents = MOST_EVENTS }: WorldOptions): World {
  let now = 0;
  let wall = startMs;
  let latest = startMs;
  let events = 0;
  let clockSet = Number.NEGATIVE_INFINITY;
  /** Latest first, so that the next one is at the end; of those at one instant, the first to come is the last. */
  const agenda: Event[] = [];
  const violations: string[] = [];
  const log: string[] = [];

  const note = (text: () => string): void => {
    if (recording) log.push(`${now.toFixed(3).padStart(12)}  ${text()}`);
  };
  const world: World = {
    get monotonicMs() {
      return now;
    },
    get wallMs() {
      return Math.floor(wall + now);
    },
    get latestMs() {
      return Math.max(latest, world.wallMs);
    },
    setClock(byMs) {
      latest = world.latestMs;
      wall += byMs;
      clockSet = now;
      note(() => `clock set by ${byMs} ms to ${new Date(world.wallMs).toISOString()}`);
    },
    get clockSetMs() {
      return clockSet;
    },
    after(ms, work) {
      const event = { at: now + Math.max(0, ms), work };
      let low = 0;
      let high = agenda.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((agenda[middle]?.at ?? 0) > event.at) low = middle + 1;
        else high = middle;
      }
      agenda.splice(low, 0, event);
      return () => {
        const found = agenda.indexOf(event);
        if (found !== -1) agenda.splice(found, 1);
      };
    },
    async run(done) {
      await settle();
      while (!done()) {
        const event = agenda.pop();
        events += 1;
        if (event === undefined || events > mostEvents) {
          const what = event === undefined ? 'nothing is left to happen' : `${mostEvents} events have happened`;
          throw new Error(`A start never ends: ${what}.`);
        }
        now = event.at;
        event.work();
        await settle();
      }
    },
    settle,
    note,
    object(what) {
      note(() => `VIOLATION ${what}`);
      if (violations.length < MOST_VIOLATIONS) violations.push(what);
    },
    violations,
    log,
    cover: coverage.count,
  };
  return world;
}

/**
 * One turn of the event loop settles all promises. The list is read from a real file, so it is waited for; how long the
 * real machine takes for it is no part of the history.
 */
async function settle(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (process.getActiveResourcesInfo().some((name) => name === 'FSReqPromise' || name === 'CloseReq'));
}
