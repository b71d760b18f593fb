import type { HandbillError } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign, Environment } from '../model.ts';
import { settingsInput } from '../plan/settings.ts';
import { holdRun } from '../run/hold.ts';
import { inputHalt } from '../run/stop.ts';
import { stateOf } from '../run/summary.ts';
import type { KnownRun } from '../schedule/choose.ts';

/**
 * The runs of a campaign in an environment. The ledger is closed again before anything is sent: only one part of a
 * process may have it open.
 */
export function knownRuns(campaign: Campaign, environment: Environment, nowMs: number): readonly KnownRun[] {
  const ledger = openExistingLedger(campaign.project.ledger, { nowMs });
  if (ledger === null) return [];
  try {
    const now = [...campaign.inputs.filter(({ role }) => role === 'campaign'), settingsInput(campaign, environment)];
    const isSame = ({ inputs }: RunRecord): boolean =>
      now.every(({ role, sha256 }) => inputs.some((input) => input.role === role && input.sha256 === sha256));
    return ledger
      .runs()
      .filter((run) => run.campaign === campaign.name && run.environment === environment.name)
      .map((run) => ({
        occurrence: run.occurrence,
        // Whoever was left of a purged run is not known any more: nothing of it can be continued.
        state: run.purgedAtMs === null ? stateOf(ledger.path, run) : 'finished',
        halt: run.halt?.rule ?? null,
        createdAtMs: run.createdAtMs,
        waitsUntilMs: waitsUntil(ledger, run),
        isSame: isSame(run),
      }));
  } finally {
    ledger.close();
  }
}

/** As the last start left it: when the first may be sent to of those who wait, where everybody who is left does. */
function waitsUntil(ledger: Pick<Ledger, 'counts'>, run: RunRecord): number | null {
  const untilMs = run.figures?.['opensAtMs'];
  if (run.state !== 'partial' || typeof untilMs !== 'number') return null;
  const others = ledger.counts(run).some(({ outcome }) => outcome === 'pending' || outcome === 'failed');
  return others ? null : untilMs;
}

/**
 * Halts a run that cannot go on because its inputs changed, a list that is exported each night say: somebody has to say
 * what is meant, and is told so once.
 *
 * @throws HandbillError exit 6 when another process holds the run, 7 when the ledger cannot be used
 */
export function haltChanged(
  { name, project }: Campaign,
  environment: string,
  occurrence: string,
  error: HandbillError,
  nowMs: number,
): void {
  const identity = { environment, campaign: name, occurrence };
  using held = holdRun(project.ledger, identity, nowMs, false);
  const run = held.ledger.findRun(identity);
  if (run === null) return;
  held.ledger.finish(run, { state: 'halted', halt: inputHalt(error), figures: run.figures, nowMs });
}
