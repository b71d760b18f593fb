import { problem, refuse } from '../errors.ts';

/** How far a clock may be set back between two commands, as time servers do. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** Refuses to write when the clock was set back: the history would have wrong times (failures.md, I1). */
export function checkClock(
  { path, newestMs }: { readonly path: string; readonly newestMs: number },
  nowMs: number,
): void {
  if (nowMs >= newestMs - CLOCK_TOLERANCE_MS) return;
  const iso = (ms: number) => new Date(ms).toISOString();
  const message = `The clock says ${iso(nowMs)}, but the ledger holds an entry of ${iso(newestMs)}.`;
  throw refuse(problem('clock', message, { at: { file: path }, hint: 'Set the clock, then run it again.' }));
}
