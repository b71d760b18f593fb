import type { Report } from '../model.ts';
import { locked, lockRun } from '../send/run-lock.ts';
import { summarise } from '../send/summary.ts';
import { oneRun } from './doubt.ts';
import { type Confirm, type ProjectOptions, requireYes, withDefaults } from './options.ts';
import { withLedger } from './project.ts';
import { nameInLedger } from './report.ts';

/** The confirmation before a run is closed. */
export interface CloseRunOptions extends ProjectOptions {
  /** Asked with the run as it is, before anything changes. Default: no, and nothing is closed. */
  readonly confirm?: Confirm<Report>;
}

export interface CloseRunResult {
  /** Recipients that were pending or deferred, and are skipped (`closed`) now. */
  readonly skipped: number;
  /** The run as it is now; recipients in doubt stay in doubt. */
  readonly report: Report;
}

/**
 * `handbill runs close`: ends a run for good. Recipients that were not sent to are skipped (`closed`), and no start
 * continues the run. A run that is finished or closed stays as it is.
 *
 * @param run - id of the run, or name of a campaign that has one run only
 * @throws HandbillError exit 2 (`run-not-found`, `run-ambiguous`, `not-confirmed`), 6 (another process holds this run), 7 (ledger)
 */
export async function closeRun(run: string, options: CloseRunOptions = {}): Promise<CloseRunResult> {
  const resolved = withDefaults(options);
  const { found, report, project } = await withLedger(resolved, async (ledger, reading) => {
    const one = oneRun(ledger, (await nameInLedger(run, ledger, reading)) ?? run);
    if (ledger.isHeld(one)) throw locked(ledger, one);
    return { found: one, report: summarise(ledger, one), project: reading.project };
  });
  if (found.state === 'finished' || found.purgedAtMs !== null) return { skipped: 0, report };
  await requireYes(options.confirm, report, `${found.id} was not closed`);
  using held = lockRun(project, found, resolved.now());
  const after = summarise(held.ledger, held.ledger.closeRun(found, resolved.now()));
  const [before = 0, now = 0] = [report, after].map(({ reasons }) => reasons['skipped']?.['closed']);
  return { skipped: now - before, report: after };
}
