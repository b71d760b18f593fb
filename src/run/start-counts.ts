import type { Ledger } from '../ledger/ledger.ts';
import type { LegCount, RunRecord } from '../ledger/records.ts';
import type { Halt, OutcomeState, RunState } from '../model.ts';
import type { StopContext } from './stop.ts';

/** What earlier starts were answered; one look at the list says all of it. */
export function answersIn(legs: readonly LegCount[]): StopContext['before'] {
  const first = legs.filter(({ leg }) => leg === 0);
  return {
    accepted: sumOf(legs, 'accepted'),
    rejected: sumOf(legs, 'rejected'),
    firstLegs: sumOf(first, 'accepted'),
    fellBack: first.reduce((sum, { fellBack, count }) => (fellBack ? sum + count : sum), 0),
  };
}

/** Recipients with an outcome: a leg that fell back is none. */
export function sumOf(legs: readonly LegCount[], outcome: OutcomeState): number {
  return legs.reduce((sum, leg) => (leg.outcome === outcome && !leg.fellBack ? sum + leg.count : sum), 0);
}

/** The state that a run has after a start. */
export function stateAfter(
  ledger: Pick<Ledger, 'countOpen'>,
  run: RunRecord,
  halt: Halt | null,
  interrupted: boolean,
): Exclude<RunState, 'running'> {
  if (halt !== null) return 'halted';
  if (ledger.countOpen(run, { rejected: false }).rows === 0) return 'finished';
  return interrupted ? 'interrupted' : 'partial';
}
