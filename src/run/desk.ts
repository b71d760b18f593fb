import { LedgerError } from '../ledger/ledger-error.ts';
import type { ResultRecord } from '../ledger/records.ts';
import type { TimedAnswer, TimedClaim } from './claim-in-time.ts';
import { TIMERS, type Timers } from './timers.ts';

/** What the desk needs of a ledger: one transaction for outcomes and claims. */
export interface DeskLedger {
  /** The answers count once `durable` says so. */
  commit(results: readonly ResultRecord[], claims: readonly TimedClaim[]): readonly TimedAnswer[];
  /** Null: what was committed is on the disk. Else resolves once it is; rejects where that cannot be had. Default: null. */
  durable?(): Promise<void> | null;
  /** Asked once a disk has claims that it worked on while everything else went on: what they come to by now. */
  again?(claims: readonly TimedClaim[], answers: readonly TimedAnswer[]): readonly TimedAnswer[];
  /** The only try that is left, with nothing to claim: on the disk when this returns. Default: `commit`. */
  record?(results: readonly ResultRecord[]): void;
  /** Told of each commit once it is on the disk. */
  committed?(results: readonly ResultRecord[], claims: readonly TimedClaim[], answers: readonly TimedAnswer[]): void;
}

/**
 * The desk where deliveries hand in what happened and ask for the next recipient. What comes in together goes into one
 * transaction: outcomes first, then claims. So a commit is shared by all who wait for it, and claimed rows without
 * a recorded outcome are never more than the deliveries in flight are for (FAILURES rule 1).
 *
 * Together is what comes in during one turn of the event loop; and while most deliveries wait for their answers, also
 * what follows within `LINGER_MS`, and once more so long where half as many wait by then as are out: those who answer
 * so fast do not notice. A commit costs some 300 us of CPU however much is in it, so with 44 recipients in it each pays
 * 13 us for its rows and the commit, with 11 it is 26.
 *
 * While a disk works on one commit, what comes in gathers for the next: the event loop goes on, and there is never more
 * than one that is not on the disk yet.
 */
export interface Desk {
  /**
   * Resolves once the claims of one request are on disk, with an answer for each; with null when the ledger cannot be
   * written: then nothing may be posted.
   */
  claim(requests: readonly TimedClaim[]): Promise<readonly TimedAnswer[] | null>;
  /** Hands in an outcome; it is written with the next claims, at the latest twice `LINGER_MS` after this turn. */
  record(result: ResultRecord): void;
  /** Resolves when everything handed in so far is on disk. */
  written(): Promise<void>;
  /** The same at the end of a start: nothing more is handed in. */
  flush(): Promise<void>;
  /** The error that ended the desk, if any: it takes nothing more then. */
  readonly failure: Error | null;
  /** What happened and could not be written: it may be once the ledger can be reached again. */
  readonly unwritten: readonly ResultRecord[];
}

/** Longest that anything waits for others: a hundredth of what an API takes that answers within 200 ms. */
const LINGER_MS = 2;

/** With fewer deliveries out, half of them are worth a commit; with more, two of three are waited for. */
const MANY = 16;

interface Waiting {
  /** How many claims it is for. */
  readonly count: number;
  readonly resolve: (answers: readonly TimedAnswer[] | null) => void;
}

/** What is committed together, and who waits for it. */
interface Group {
  readonly results: readonly ResultRecord[];
  readonly claims: readonly TimedClaim[];
  readonly waiting: readonly Waiting[];
}

export function createDesk(
  ledger: DeskLedger,
  onFailure: (error: Error) => void,
  { soon, later }: Pick<Timers, 'soon' | 'later'> = TIMERS,
): Desk {
  let results: ResultRecord[] = [];
  let claims: TimedClaim[] = [];
  let waiting: Waiting[] = [];
  /** Claims that were granted and have no outcome yet. */
  let outstanding = 0;
  let scheduled = false;
  let lingering = false;
  let flushing = false;
  /** The commit that is being brought to the disk. */
  let syncing: Promise<void> | null = null;
  let failure: Error | null = null;
  const unwritten: ResultRecord[] = [];

  const commit = (): void => {
    if (syncing !== null || (results.length === 0 && claims.length === 0)) return;
    const group: Group = { results, claims, waiting };
    results = [];
    claims = [];
    waiting = [];
    try {
      if (failure !== null) throw failure;
      const answers = ledger.commit(group.results, group.claims);
      outstanding += countClaimed(answers);
      const durable = ledger.durable?.() ?? null;
      if (durable === null) give(group, answers);
      else syncing = synced(durable, group, answers);
    } catch (error) {
      refuse(group, error);
    }
  };
  const synced = async (durable: Promise<void>, group: Group, answers: readonly TimedAnswer[]): Promise<void> => {
    try {
      await durable;
      syncing = null;
      give(group, answers, ledger.again?.(group.claims, answers));
    } catch (error) {
      syncing = null;
      refuse(group, error);
    }
    look();
  };
  const give = (
    { results, claims, waiting }: Group,
    answers: readonly TimedAnswer[],
    byNow: readonly TimedAnswer[] = answers,
  ): void => {
    ledger.committed?.(results, claims, answers);
    let first = 0;
    for (const { count, resolve } of waiting) {
      resolve(count === byNow.length ? byNow : byNow.slice(first, first + count));
      first += count;
    }
  };
  const refuse = (group: Group, error: unknown): void => {
    const first = failure === null;
    failure ??= error instanceof Error ? error : new Error(String(error));
    // What happened must not be forgotten because a claim beside it could not be written: after a full disk the
    // outcomes alone may still fit (the ledger itself refuses when the handle can no longer be trusted).
    const recorded = error instanceof LedgerError && error.recorded;
    if (!recorded && group.results.length > 0) recordAlone(group.results);
    for (const { resolve } of group.waiting) resolve(null);
    if (first) onFailure(failure);
  };
  /** A last try to keep what happened; where it fails, the row stays claimed and will be in doubt at the next start. */
  const recordAlone = (late: readonly ResultRecord[]): void => {
    if (isBusy(failure) && !flushing) {
      // A4: each try waits for as long as the first one did, so there is one for all, at the end.
      results.push(...late);
      return;
    }
    try {
      if (ledger.record === undefined) ledger.commit(late, []);
      else ledger.record(late);
    } catch {
      // Said already: the failure that ended the desk is what the user is shown.
      unwritten.push(...late);
    }
  };
  /** The end of a turn. Where most of the deliveries wait for their claims, waiting gains nothing more. */
  const look = (): void => {
    scheduled = false;
    if (syncing !== null || (results.length === 0 && claims.length === 0)) return;
    if (claims.length >= (outstanding < MANY ? 1 : 2) * outstanding || failure !== null) {
      commit();
      return;
    }
    if (!lingering) linger(false);
  };
  const linger = (again: boolean): void => {
    lingering = true;
    later(LINGER_MS, () => {
      lingering = false;
      const isFast = outstanding >= MANY && 2 * claims.length >= outstanding;
      if (isFast && !again && failure === null) linger(true);
      else commit();
    });
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    soon(look);
  };
  const write = async (last: boolean): Promise<void> => {
    await new Promise<void>((resolve) => soon(resolve));
    if (syncing !== null) await syncing;
    flushing ||= last;
    commit();
    if (syncing !== null) await syncing;
  };

  return {
    claim: (requests) =>
      new Promise((resolve) => {
        for (const request of requests) claims.push(request);
        waiting.push({ count: requests.length, resolve });
        schedule();
      }),
    record(result) {
      if (result.from === 'claimed') outstanding -= 1;
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
    unwritten,
  };
}

function countClaimed(answers: readonly TimedAnswer[]): number {
  let count = 0;
  for (const answer of answers) if (answer === 'claimed') count += 1;
  return count;
}

function isBusy(failure: Error | null): boolean {
  return failure instanceof LedgerError && failure.kind === 'busy';
}
