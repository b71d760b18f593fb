import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { OutcomeState } from '../model.ts';

/** A run that is old enough to be purged: the fields of `--format json` and of the schema. */
export interface PurgedRun {
  readonly run: string;
  readonly campaign: string;
  readonly environment: string;
  readonly occurrence: string;
  /** The newest thing that is recorded of it, ISO 8601 in UTC. */
  readonly lastActivity: string;
  readonly recipients: number;
  /** Recipients without a final outcome: in doubt, pending, failed or deferred. */
  readonly open: number;
}

/** One that stays as it is: `open`, somebody in it has no final outcome; `held`, another process is at it. */
export interface LeftRun extends PurgedRun {
  readonly why: 'open' | 'held';
}

export interface PurgeLimits {
  /** What was last touched before this instant, in ms since 1970. */
  readonly beforeMs: number;
  readonly environment: string | null;
  readonly campaign: string | null;
  /** Runs with somebody who has no final outcome too. */
  readonly withOpen: boolean;
}

/** What there is to be purged. */
export interface Selection {
  readonly runs: readonly { readonly record: RunRecord; readonly shown: PurgedRun }[];
  readonly left: readonly LeftRun[];
  /** Lists that nobody will ever use: left by a process that was killed while it loaded or replaced one. */
  readonly drafts: readonly RunRecord[];
}

export function selectRuns(
  ledger: Pick<Ledger, 'isHeld' | 'runs' | 'counts' | 'purge'>,
  limits: PurgeLimits,
): Selection {
  const isMeant = ({ environment, campaign }: RunRecord) =>
    (limits.environment === null || environment === limits.environment) &&
    (limits.campaign === null || campaign === limits.campaign);
  const runs: { record: RunRecord; shown: PurgedRun }[] = [];
  const left: LeftRun[] = [];
  for (const record of ledger.runs().filter(isMeant)) {
    if (!isDue(ledger, record, limits.beforeMs)) continue;
    const shown = shownAs(ledger, record);
    if (ledger.isHeld(record)) left.push({ ...shown, why: 'held' });
    else if (isRefused(record, shown.open, limits)) left.push({ ...shown, why: 'open' });
    else runs.push({ record, shown });
  }
  const ids = new Set(runs.map(({ record }) => record.id));
  const isForgotten = (draft: RunRecord) =>
    isMeant(draft) && (ids.has(draft.id) || draft.createdAtMs < limits.beforeMs) && !ledger.isHeld(draft);
  return { runs, left, drafts: ledger.purge.drafts().filter(isForgotten) };
}

/** A run that a purge was killed in is finished whatever is asked for: nobody can use it any more. */
export function isDue({ purge }: Pick<Ledger, 'purge'>, run: RunRecord, beforeMs: number): boolean {
  if (run.purgedAtMs !== null) return !purge.isDone(run);
  // Looked at first, because what was recorded last of its recipients takes a pass over the list.
  const known = Math.max(run.createdAtMs, run.lastStartAtMs ?? 0, run.finishedAtMs ?? 0);
  return known < beforeMs && purge.lastActivityMs(run) < beforeMs;
}

/** Nobody could be sent to, or entered as resolved, afterwards: that has to be said. */
export function isRefused(run: RunRecord, open: number, { withOpen }: Pick<PurgeLimits, 'withOpen'>): boolean {
  return open > 0 && !withOpen && run.purgedAtMs === null;
}

export function openOf(ledger: Pick<Ledger, 'counts'>, run: RunRecord): number {
  return ledger.counts(run).reduce((sum, { outcome, count }) => sum + (OPEN.has(outcome) ? count : 0), 0);
}

const OPEN: ReadonlySet<OutcomeState> = new Set(['in-doubt', 'pending', 'failed', 'deferred']);

function shownAs(ledger: Pick<Ledger, 'counts' | 'purge'>, record: RunRecord): PurgedRun {
  const { id, campaign, environment, occurrence, rows } = record;
  const lastActivity = new Date(ledger.purge.lastActivityMs(record)).toISOString();
  return { run: id, campaign, environment, occurrence, lastActivity, recipients: rows, open: openOf(ledger, record) };
}
