import type { PriceList } from '../content/price.ts';
import type { ExitStatus } from '../errors.ts';
import { EXIT } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Report } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { CameBack } from '../report/tally.ts';
import { cameBack, countDeliveries } from '../run/deliveries.ts';
import { identityOf } from '../run/prepare.ts';
import type { RunEnd } from '../run/run.ts';
import { summarise } from '../run/summary.ts';
import type { WinnerState } from '../run/winner.ts';
import { noteUndecided } from '../run/winner.ts';

/** What became of one start. */
export interface SendResult {
  readonly report: Report;
  readonly exit: ExitStatus;
  /** False when there was nothing left to do. */
  readonly started: boolean;
  readonly posted: number;
  /** Of the price list; null without one. */
  readonly currency: string | null;
  /** Recipients that an earlier start left without an outcome: now in doubt. */
  readonly recovered: number;
  /** The ledger could not be written any more; the report says what it held before. */
  readonly ledgerError: Error | null;
}

/** The exit status of a report; the first that applies of halted, in doubt, not sent. */
export function exitOf(report: Report): ExitStatus {
  if (report.halt !== null && report.state === 'halted') return EXIT.halted;
  if (report.totals.inDoubt > 0) return EXIT.inDoubt;
  return report.totals.rejected + report.totals.failed > 0 ? EXIT.unsent : EXIT.done;
}

/** What a start says that had nothing to send. */
export function nothingToDo(
  ledger: Ledger,
  plan: Plan,
  prices: PriceList | null,
  nowMs: number,
  winner: WinnerState,
): SendResult {
  const found = ledger.findRun(identityOf(plan));
  if (found === null) throw new Error('a run without anything to do is in the ledger');
  // The process was killed after the last outcome, or that outcome halted the run: it is marked as finished here.
  const ended = { state: 'finished', halt: null, figures: found.figures, nowMs } as const;
  const waits = ledger.counts(found).some(({ outcome }) => outcome === 'deferred');
  const noted = waits ? noteUndecided(ledger, found, winner, nowMs) : found;
  const run = found.state === 'finished' || waits ? noted : ledger.finish(found, ended);
  const report = summarise(ledger, run, null, plan.campaign, whatCameBack(ledger, run, plan));
  const currency = prices?.currency ?? null;
  return { report, exit: exitOf(report), started: false, posted: 0, currency, recovered: 0, ledgerError: null };
}

/** What a start came to. */
export function resultOf(ledger: Ledger, plan: Plan, prices: PriceList | null, end: RunEnd): SendResult {
  const came = whatCameBack(ledger, end.run, plan);
  const report = summarise(ledger, end.run, { state: end.state, halt: end.halt }, plan.campaign, came);
  const { posted, recovered, ledgerError } = end;
  const exit = ledgerError === null ? exitOf(report) : EXIT.ledger;
  return { report, exit, started: true, posted, currency: prices?.currency ?? null, recovered, ledgerError };
}

/** The delivery reports and replies so far, as `report` counts them. Scans the list if there are any. */
function whatCameBack(ledger: Ledger, run: RunRecord, { campaign }: Plan): CameBack | null {
  const deliveries = countDeliveries(ledger, run);
  return deliveries.length === 0 ? null : cameBack(ledger, run, deliveries, campaign);
}
