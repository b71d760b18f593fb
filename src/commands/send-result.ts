import { EXIT, type ExitStatus } from '../errors.ts';
import type { Report } from '../model.ts';

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

/** The exit status that a report asks for, in the order of the contract: halted, in doubt, not sent. */
export function exitOf(report: Report): ExitStatus {
  if (report.halt !== null && report.state === 'halted') return EXIT.halted;
  if (report.totals.inDoubt > 0) return EXIT.inDoubt;
  return report.totals.rejected + report.totals.failed > 0 ? EXIT.unsent : EXIT.done;
}
