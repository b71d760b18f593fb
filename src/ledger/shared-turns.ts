/**
 * Turns of requests that all who send to an environment take from one row of a shared ledger: so the environment's rate
 * holds for all of them together, on whatever machine they are. Times are in ms from now, by the database's clock, which
 * every machine sees in the same way.
 */
export interface SharedTurns {
  /** The turns that nobody has yet: when the first of them is, the others follow at the interval. */
  take(count: number): Taken;
  /** Nobody takes a turn before `ms` from now; those who have one are told when they take the next. */
  hold(ms: number): void;
}

export interface Taken {
  /** Below 0 by at most what a late turn may catch up. */
  readonly inMs: number;
  /** For how long everybody is held back; 0 or less: nobody is. */
  readonly heldMs: number;
}
