import type { WebhookEvent } from '../model.ts';

/**
 * Holds events durably that came in for an environment (empty: nobody says which); when it throws or rejects, none of
 * them is held.
 */
export type Record = (events: readonly WebhookEvent[], environment: string) => void | Promise<void>;

/** Collects the events of requests that come in together, so that they share one commit. */
export interface Group {
  /** Resolves when the events are held. Rejects with what `record` threw. */
  add(events: readonly WebhookEvent[]): Promise<void>;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly events: readonly WebhookEvent[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Events of one commit, about: others who write to the ledger wait as long as it takes (some 20 ms). */
const MOST_EVENTS = 1_000;

/** Turns of the event loop without another request, after which a group is complete. */
const QUIET_TURNS = 2;

/** A group is complete after so long in any case. */
const LONGEST_GATHERING_MS = 4;

/**
 * Everything that can be read by now is recorded together. The more comes in while a commit blocks the loop, the larger
 * the next group: nothing need be tuned, and a single event does not wait. One turn of the loop would not do, because
 * Node accepts only one new connection in each: 50 senders that connect at once were 50 commits.
 */
export function createGroup(record: (events: readonly WebhookEvent[]) => void | Promise<void>): Group {
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | null = null;

  const takeSome = (): readonly Waiting[] => {
    let events = 0;
    let count = 0;
    // At least one request, however many events it has: its events are held together or not at all.
    while (count < waiting.length && (count === 0 || events < MOST_EVENTS)) {
      events += waiting[count]?.events.length ?? 0;
      count++;
    }
    const some = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return some;
  };

  const gather = async (): Promise<void> => {
    const beganMs = performance.now();
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() - beganMs < LONGEST_GATHERING_MS; ) {
      const before = waiting.length;
      await turn();
      quiet = waiting.length > before ? 0 : quiet + 1;
    }
  };

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gather();
      const some = takeSome();
      try {
        // Awaited only where there is something to wait for: the answers go out in the same turn then.
        const pending = record(some.flatMap((one) => one.events));
        if (pending !== undefined) await pending;
        for (const one of some) one.resolve();
      } catch (error) {
        for (const one of some) one.reject(error);
      }
    }
    flushing = null;
  };

  return {
    add(events) {
      return new Promise((resolve, reject) => {
        waiting.push({ events, resolve, reject });
        flushing ??= flush();
      });
    },
    async idle() {
      while (flushing !== null) await flushing;
    },
  };
}

/** The end of this turn of the event loop: everything that could be read has been. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
