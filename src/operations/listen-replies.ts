import type { Ledger } from '../ledger/ledger.ts';
import { joinReplies } from './join-replies.ts';

/** Looks for the messages of replies while nothing more urgent happens. */
export interface IdleJoiner {
  /** Replies have come in. */
  noticed(): void;
  /** Ends what is under way, between two of its steps. */
  close(): Promise<void>;
}

interface IdleFacts {
  readonly now: () => number;
  readonly startLifts: boolean;
  /** Told of contacts whose message was answered with a word of opting out. */
  readonly onSuppressed: (addresses: readonly string[]) => void;
  /** Told why it could not be done; it is tried again when the next reply comes in. */
  readonly log: (line: string) => void;
  /** How long no reply must have come in, and how long it is waited for that at most; in ms. */
  readonly idleMs?: number;
  readonly mostMs?: number;
}

const IDLE_MS = 10_000;
const MOST_MS = 60_000;

/** What an earlier process received and did not come to look for is looked for too. */
export function createIdleJoiner(
  ledger: { readonly events: Pick<Ledger['events'], 'joinReplies' | 'hasUnjoined'> },
  { now, startLifts, onSuppressed, log, idleMs = IDLE_MS, mostMs = MOST_MS }: IdleFacts,
): IdleJoiner {
  let timer: NodeJS.Timeout | null = null;
  let waitsSinceMs: number | null = null;
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    try {
      const { suppressed } = await joinReplies(ledger, { now, startLifts, stopped: () => isClosed });
      if (suppressed.length > 0) onSuppressed(suppressed);
    } catch (error) {
      log(`not looked for what replies answer: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const begin = (): void => {
    timer = null;
    waitsSinceMs = null;
    work = work.then(look);
  };
  const noticed = (): void => {
    if (isClosed) return;
    const atMs = performance.now();
    waitsSinceMs ??= atMs;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(begin, Math.max(0, Math.min(idleMs, waitsSinceMs + mostMs - atMs)));
    timer.unref();
  };

  if (ledger.events.hasUnjoined()) noticed();
  return {
    noticed,
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await work;
    },
  };
}
