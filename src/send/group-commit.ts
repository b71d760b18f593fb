import { asError } from '../errors.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { ClaimAnswer, ClaimRequest, ResultRecord } from '../ledger/records.ts';
import { TIMERS, type Timers } from './timers.ts';

/** One transaction for outcomes and claims, on the disk when it returns. */
export interface GroupCommitLedger {
  commit(results: readonly ResultRecord[], claims: readonly TimedClaim[]): readonly TimedAnswer[];
  /** The last try after a failed commit, with nothing to claim. Default: `commit`. */
  record?(results: readonly ResultRecord[]): void;
  committed?(results: readonly ResultRecord[], claims: readonly TimedClaim[], answers: readonly TimedAnswer[]): void;
}

/**
 * Writes outcomes and claims to the ledger in groups. Everything that deliveries pass together goes into one
 * transaction: outcomes first, then claims. All who wait for a commit share it, and claimed rows without a recorded
 * outcome never exceed the concurrency (failures.md, rule 1).
 *
 * A group is what comes in during one turn of the event loop; and while most deliveries wait for the API, also what
 * follows within 2 ms, or twice that where half as many claims wait by then as requests are out. On a slow disk it
 * gathers for as long as the commit before took. A commit costs 300 us of CPU for any number of rows.
 */
export type GroupCommit = ReturnType<typeof createGroupCommit>;

/** The usual wait for others: a hundredth of the time of an API that answers within 200 ms. */
const LINGER_MS = 2;

/** The longest, on a slow disk. */
const MOST_LINGER_MS = 20;

/** With fewer requests out, half as many claims are worth a commit; with more, two thirds are waited for. */
const MANY = 16;

export function createGroupCommit(
  ledger: GroupCommitLedger,
  onFailure: (error: Error) => void,
  { soon, later, monotonicMs }: Pick<Timers, 'soon' | 'later' | 'monotonicMs'> = TIMERS,
) {
  let results: ResultRecord[] = [];
  let claims: TimedClaim[] = [];
  let waiting: { readonly count: number; readonly resolve: (answers: readonly TimedAnswer[] | null) => void }[] = [];
  /** Claims that were granted and have no outcome yet. */
  let outstanding = 0;
  let scheduled = false;
  let lingering = false;
  let flushing = false;
  let lingerMs = LINGER_MS;
  let failure: Error | null = null;
  const unwritten: ResultRecord[] = [];

  const commit = (): void => {
    if (results.length === 0 && claims.length === 0) return;
    const group = { results, claims, waiting };
    results = [];
    claims = [];
    waiting = [];
    try {
      if (failure !== null) throw failure;
      const since = monotonicMs();
      const answers = ledger.commit(group.results, group.claims);
      lingerMs = Math.min(MOST_LINGER_MS, Math.max(LINGER_MS, monotonicMs() - since));
      for (const answer of answers) if (answer === 'claimed') outstanding += 1;
      if (answers.includes('withdrawn')) withdraw(group.claims, answers);
      ledger.committed?.(group.results, group.claims, answers);
      let first = 0;
      for (const { count, resolve } of group.waiting) {
        resolve(count === answers.length ? answers : answers.slice(first, first + count));
        first += count;
      }
    } catch (error) {
      fail(error, group.results);
      for (const { resolve } of group.waiting) resolve(null);
    }
  };
  /** A claim that came too late is pending again with the next commit. */
  const withdraw = (claims: readonly TimedClaim[], answers: readonly TimedAnswer[]): void => {
    for (const [i, claim] of claims.entries()) if (answers[i] === 'withdrawn') results.push(withdrawal(claim));
    schedule();
  };
  const fail = (error: unknown, results: readonly ResultRecord[]): void => {
    const isFirst = failure === null;
    failure ??= asError(error);
    // After a full disk the outcomes may still fit, without claims. The ledger refuses if its file cannot be trusted.
    const recorded = error instanceof LedgerError && error.recorded;
    if (!recorded && results.length > 0) recordAlone(results);
    if (isFirst) onFailure(failure);
  };
  /** The last try to keep outcomes. If it fails, the row stays claimed and is in doubt at the next start. */
  const recordAlone = (late: readonly ResultRecord[]): void => {
    if (failure instanceof LedgerError && failure.kind === 'busy' && !flushing) {
      // Each try waits as long as the first one did, so there is one for all outcomes, at the end.
      results.push(...late);
      return;
    }
    try {
      if (ledger.record === undefined) ledger.commit(late, []);
      else ledger.record(late);
    } catch {
      // The user is shown the failure that came first.
      unwritten.push(...late);
    }
  };
  /** The end of a turn. Where most deliveries wait for their claims, a longer wait gains nothing. */
  const endTurn = (): void => {
    scheduled = false;
    if (results.length === 0 && claims.length === 0) return;
    // A delivery whose outcome is here claims again a turn later, when its connection can be used again.
    const coming = outstanding + Math.max(0, results.length - claims.length);
    if (claims.length >= (coming < MANY ? 1 : 2) * coming || failure !== null) commit();
    else if (!lingering) linger(false);
  };
  const linger = (again: boolean): void => {
    lingering = true;
    later(lingerMs, () => {
      lingering = false;
      const isFast = outstanding >= MANY && 2 * claims.length >= outstanding;
      if (isFast && !again && failure === null) linger(true);
      else commit();
    });
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    soon(endTurn);
  };
  const written = async (): Promise<void> => {
    await new Promise<void>((resolve) => soon(resolve));
    commit();
  };

  return {
    /** Resolves once all claims of one request are on disk; null if they cannot be: then nothing may be posted. */
    claim: (requests: readonly TimedClaim[]) =>
      new Promise<readonly TimedAnswer[] | null>((resolve) => {
        for (const request of requests) claims.push(request);
        waiting.push({ count: requests.length, resolve });
        schedule();
      }),
    /** Written with the next claims, at the latest 40 ms after this turn. */
    record(result: ResultRecord): void {
      if (result.from === 'claimed') outstanding -= 1;
      if (failure !== null) recordAlone([result]);
      else {
        results.push(result);
        schedule();
      }
    },
    /** Resolves when everything passed so far is on disk. */
    written,
    /** `written`, as the last call of a start. */
    flush(): Promise<void> {
      flushing = true;
      return written();
    },
    /** The error after which nothing more is written, if any. */
    get failure(): Error | null {
      return failure;
    },
    /** Possible once the ledger can be reached again. */
    unwritten: unwritten as readonly ResultRecord[],
  };
}

/** A claim that must be made, and posted, before its window closes. */
export interface TimedClaim extends ClaimRequest {
  /** Ms since 1970; that very moment is too late. Default: never too late. */
  readonly untilMs?: number;
}

/**
 * `held`: the API asked to wait; `closed`: the window closed, or it was too late, before the claim was made. The row
 * is unchanged. `withdrawn`: the row was claimed, but by the time that this was on the disk nothing might be posted any
 * more. The row is pending again, and the claim counts as an attempt.
 */
export type TimedAnswer = ClaimAnswer | 'closed' | 'held' | 'withdrawn';

/**
 * Makes, in one commit, the claims whose window is open by the clock that dates them, unless a `Retry-After` holds the
 * run back (failures.md, A2, F5, I1). Answers all of them. A row can have waited long since its decision: for its token
 * at a low rate, for a connection, or because the machine slept. A claim also waits a moment for others, and a
 * `Retry-After` can arrive meanwhile. The commit itself can take long: a claim that came too late by then is withdrawn,
 * and so is each claim of a start that was stopped meanwhile (failures.md, B9).
 * @param clock - `now`: ms since 1970, by which windows are judged. `isHeld`: a `Retry-After` holds all requests back.
 * `isStopped`: the start ends, and no new request may be made.
 */
export function claimInTime(
  claims: readonly TimedClaim[],
  clock: { now(): number; isHeld(): boolean; isStopped(): boolean },
  commit: (claims: readonly ClaimRequest[], nowMs: number) => readonly ClaimAnswer[],
): readonly TimedAnswer[] {
  const nowMs = clock.now();
  if (claims.length > 0 && clock.isHeld()) {
    commit([], nowMs);
    return claims.map(() => 'held');
  }
  const inTime = claims.some((claim) => isOver(claim, nowMs))
    ? claims.filter((claim) => !isOver(claim, nowMs))
    : claims;
  const answers = commit(inTime, nowMs);
  if (claims.length === 0) return answers;
  const afterMs = clock.now();
  const isStopped = clock.isStopped();
  if (inTime === claims && !isStopped && !claims.some((claim) => isOver(claim, afterMs))) return answers;
  const given = answers[Symbol.iterator]();
  return claims.map((claim) => {
    if (isOver(claim, nowMs)) return 'closed';
    const answer = given.next().value ?? 'taken';
    return answer === 'claimed' && (isStopped || isOver(claim, afterMs)) ? 'withdrawn' : answer;
  });
}

function isOver({ untilMs }: TimedClaim, nowMs: number): boolean {
  return untilMs !== undefined && nowMs >= untilMs;
}

/** A claim that no request followed counts as an attempt: by the count the ledger knows whose claim it is. */
export function withdrawal({ row, step, attempts = 0 }: ClaimRequest): ResultRecord {
  const nothing = { httpStatus: null, messageId: null, error: null };
  return { row, step, from: 'claimed', state: 'pending', reason: 'stopped', attempts: attempts + 1, ...nothing };
}
