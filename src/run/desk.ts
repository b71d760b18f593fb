import { LedgerError } from '../ledger/ledger-error.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { TimedAnswer, TimedClaim } from './claim-in-time.ts';
import { TIMERS, type Timers } from './timers.ts';

/** What the desk needs of a ledger: one transaction for outcomes and claims. */
export interface DeskLedger {
  commit(results: readonly ResultRecord[], claims: readonly TimedClaim[]): readonly TimedAnswer[];
}

/**
 * The desk where deliveries hand in what happened and ask for the next recipient. All that comes in during one turn of
 * the event loop goes into one transaction: outcomes first, then claims. So a commit is shared by all who wait for it,
 * and claimed rows without a recorded outcome are never more than the deliveries in flight are for (FAILURES rule 1).
 */
export interface Desk {
  /** Resolves once the claim is on disk. Rejects when the ledger cannot be written: then nothing may be posted. */
  claim(request: TimedClaim): Promise<TimedAnswer>;
  /** Hands in an outcome; it is written with the next claim, at the latest at the end of this turn. */
  record(result: ResultRecord): void;
  /** Resolves when everything handed in so far is on disk. */
  written(): Promise<void>;
  /** The same at the end of a start: nothing more is handed in. */
  flush(): Promise<void>;
  /** The error that ended the desk, if any: it takes nothing more then. */
  readonly failure: Error | null;
}

interface Waiting {
  readonly resolve: (answer: TimedAnswer) => void;
  readonly reject: (error: Error) => void;
}

export function createDesk(
  ledger: DeskLedger,
  onFailure: (error: Error) => void,
  { soon }: Pick<Timers, 'soon'> = TIMERS,
): Desk {
  let results: ResultRecord[] = [];
  let claims: TimedClaim[] = [];
  let waiting: Waiting[] = [];
  let scheduled = false;
  let flushing = false;
  let failure: Error | null = null;

  const commit = (): void => {
    scheduled = false;
    if (results.length === 0 && claims.length === 0) return;
    const [nowResults, nowClaims, nowWaiting] = [results, claims, waiting];
    results = [];
    claims = [];
    waiting = [];
    try {
      if (failure !== null) throw failure;
      const answers = ledger.commit(nowResults, nowClaims);
      for (let i = 0; i < nowWaiting.length; i++) nowWaiting[i]?.resolve(answers[i] ?? 'taken');
    } catch (error) {
      const first = failure === null;
      failure ??= error instanceof Error ? error : new Error(String(error));
      // What happened must not be forgotten because a claim beside it could not be written: after a full disk the
      // outcomes alone may still fit (the ledger itself refuses when the handle can no longer be trusted).
      const recorded = error instanceof LedgerError && error.recorded;
      if (!recorded && nowResults.length > 0) recordAlone(nowResults);
      for (const { reject } of nowWaiting) reject(failure);
      if (first) onFailure(failure);
    }
  };
  /** A last try to keep what happened; where it fails, the row stays claimed and will be in doubt at the next start. */
  const recordAlone = (late: readonly ResultRecord[]): void => {
    if (isBusy(failure) && !flushing) {
      // A4: each try waits for as long as the first one did, so there is one for all, at the end.
      results.push(...late);
      return;
    }
    try {
      ledger.commit(late, []);
    } catch {
      // Said already: the failure that ended the desk is what the user is shown.
    }
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    soon(commit);
  };
  const write = (last: boolean): Promise<void> =>
    new Promise((resolve) => {
      soon(() => {
        flushing ||= last;
        commit();
        resolve();
      });
    });

  return {
    claim: (request) =>
      new Promise((resolve, reject) => {
        claims.push(request);
        waiting.push({ resolve, reject });
        schedule();
      }),
    record(result) {
      if (failure !== null) recordAlone([result]);
      else {
        results.push(result);
        schedule();
      }
    },
    written: () => write(false),
    flush: () => write(true),
    get failure() {
      return failure;
    },
  };
}

function isBusy(failure: Error | null): boolean {
  return failure instanceof LedgerError && failure.kind === 'busy';
}
