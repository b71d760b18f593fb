import type { ClaimAnswer, ClaimRequest } from '../ledger/records.ts';

/** A claim that may only be made before its window closes. */
export interface TimedClaim extends ClaimRequest {
  /** Ms since 1970; at that very moment it is too late. */
  readonly untilMs?: number;
}

/**
 * `closed`: the window closed before the claim was made; `held`: the API asked everybody to wait. The row is as it was.
 */
export type TimedAnswer = ClaimAnswer | 'closed' | 'held';

/**
 * A2, F5, I1: makes the claims that are in time by the clock that dates them, in one commit, and answers all of them. A
 * row can have waited long since its decision: for its turn at a low rate, for a connection, or because the machine
 * slept; and a claim waits a moment for others, in which a `Retry-After` can come.
 * @param isHeld - nothing may be posted now: what is claimed is posted at once
 */
export function claimInTime(
  claims: readonly TimedClaim[],
  nowMs: number,
  isHeld: boolean,
  commit: (claims: readonly ClaimRequest[]) => readonly ClaimAnswer[],
): readonly TimedAnswer[] {
  if (isHeld) {
    commit([]);
    return claims.map(() => 'held');
  }
  const isClosed = ({ untilMs }: TimedClaim): boolean => untilMs !== undefined && nowMs >= untilMs;
  if (!claims.some(isClosed)) return commit(claims);
  const answers = commit(claims.filter((claim) => !isClosed(claim)))[Symbol.iterator]();
  return claims.map((claim) => (isClosed(claim) ? 'closed' : (answers.next().value ?? 'taken')));
}
