import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { HandbillError } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger, openToWriteLater } from '../ledger/open.ts';
import type { RunRecord, SeenSchedule } from '../ledger/records.ts';
import type { Campaign, Environment, RunState } from '../model.ts';
import { settingsInput } from '../plan/settings.ts';
import { isDecidedEarly } from '../run/canary-reports.ts';
import { holdRun, mustExist } from '../run/hold.ts';
import { inputHalt } from '../run/stop.ts';
import { stateOf } from '../run/summary.ts';
import { unreachedRows } from '../run/unreached.ts';
import type { KnownRun } from '../schedule/choose.ts';
import { instantOf, occurrenceRules } from '../schedule/occurrence.ts';
import { canonicalName, isTest } from '../util/occurrence-name.ts';
import type { Scheduled } from './schedule-campaigns.ts';

/** A run of a campaign that may be due. */
export interface DueRun extends KnownRun {
  /** The occurrence as the ledger has it: an earlier version kept an instant as it was written. */
  readonly name: string;
  /**
   * Recipients who wait for a window, of whom nobody knows when it opens; 0 also for a run that is too old to be due.
   */
  readonly zoneless: number;
}

/** What the ledger knows of a campaign in an environment. */
export interface DueKnown {
  readonly runs: readonly DueRun[];
  /** The schedule that was seen last; null: none ever was. */
  readonly seen: SeenSchedule | null;
}

/**
 * The runs of a campaign in an environment, and its schedule. The ledger is closed again before anything is sent: only
 * one part of a process may have it open.
 *
 * @param sinceMs - recipients of runs of earlier instants are not looked at, which takes a pass over the list
 */
export function knownOf(
  campaign: Campaign,
  environment: Environment,
  { nowMs, sinceMs, dryRun }: { readonly nowMs: number; readonly sinceMs: number; readonly dryRun: boolean },
): DueKnown {
  const ledger = (dryRun ? openExistingLedger : openToWriteLater)(campaign.project.ledger, { nowMs });
  if (ledger === null) return { runs: [], seen: null };
  try {
    const now = [...campaign.inputs.filter(({ role }) => role === 'campaign'), settingsInput(campaign, environment)];
    const isSame = ({ inputs }: RunRecord): boolean =>
      now.every(({ role, sha256 }) => inputs.some((input) => input.role === role && input.sha256 === sha256));
    const rules = occurrenceRules(campaign);
    const named = new Map<string, RunRecord>();
    for (const run of ledger.runsOf({ environment: environment.name, campaign: campaign.name })) {
      if (isTest(run.occurrence)) continue;
      const occurrence = canonicalName(run.occurrence, rules);
      if (run.occurrence === occurrence || !named.has(occurrence)) named.set(occurrence, run);
    }
    const runs = [...named].map(([occurrence, run]) => {
      const instant = instantOf(occurrence);
      // Whoever was left of a purged run is not known any more: nothing of it can be continued.
      const state = run.purgedAtMs === null ? withFallbacks(ledger, run, campaign, { instant, sinceMs }) : 'finished';
      return {
        occurrence,
        name: run.occurrence,
        state,
        halt: run.halt?.rule ?? null,
        createdAtMs: run.createdAtMs,
        ...(state === 'partial' ? waitsOf(ledger, run, campaign, { instant, nowMs, sinceMs }) : NOBODY_WAITS),
        isSame: isSame(run),
      };
    });
    return { runs, seen: ledger.scheduleOf({ environment: environment.name, campaign: campaign.name }) };
  } finally {
    ledger.close();
  }
}

/** When a schedule was first seen, and whether the ledger has yet to be told. */
export interface Seen extends SeenSchedule {
  readonly isNew: boolean;
}

/**
 * When the schedule of a campaign was first seen: as the ledger has it. One that the ledger does not know is seen now, or
 * since the campaign's files have been on this machine as they are, or a run began with the campaign as it is: whichever
 * is earliest. (The time at which a file changed is set by the system: no copy brings an earlier one along.)
 */
export async function scheduleSeen(
  { campaign, path, schedule: { cron, timeZone } }: Pick<Scheduled, 'campaign' | 'path' | 'schedule'>,
  { runs, seen }: DueKnown,
  nowMs: number,
): Promise<Seen> {
  const schedule = JSON.stringify([cron, timeZone]);
  if (seen?.schedule === schedule) return { ...seen, isNew: false };
  const { root, file } = campaign.project;
  const files = [path, ...(file === null ? [] : [resolve(root, file)])];
  const changed = await Promise.all(
    files.map((one) =>
      stat(one).then(
        ({ ctimeMs }) => ctimeMs,
        () => nowMs,
      ),
    ),
  );
  // Of a schedule that came back after another one, earlier runs say nothing.
  const ran = seen === null ? runs.filter(({ isSame }) => isSame).map(({ createdAtMs }) => createdAtMs) : [];
  return { schedule, seenMs: Math.floor(Math.min(nowMs, Math.max(...changed), ...ran)), isNew: true };
}

/**
 * Tells the ledger when a schedule was first seen, and makes the ledger where there is none.
 *
 * @throws HandbillError exit 7 when the ledger cannot be used
 */
export function rememberSchedule(campaign: Campaign, environment: string, seen: SeenSchedule, nowMs: number): void {
  const { project } = campaign;
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs, mustExist: mustExist(project) });
  try {
    ledger.seeSchedule({ environment, campaign: campaign.name }, seen);
  } finally {
    ledger.close();
  }
}

/** A finished run goes on where a report says that a message reached nobody, and the campaign has a fallback. */
function withFallbacks(
  ledger: Ledger,
  run: RunRecord,
  campaign: Campaign,
  { instant, sinceMs }: { readonly instant: number | null; readonly sinceMs: number },
): RunState {
  const state = stateOf(ledger, run);
  if (state !== 'finished' || instant === null || instant < sinceMs) return state;
  return unreachedRows(ledger, run, campaign).next().done === true ? state : 'partial';
}

/** Who waits in a run, as the last start left it. */
function waitsOf(
  ledger: Ledger,
  run: RunRecord,
  { send }: Campaign,
  { instant, nowMs, sinceMs }: { readonly instant: number | null; readonly nowMs: number; readonly sinceMs: number },
): Pick<DueRun, 'waitsUntilMs' | 'zoneless'> {
  if (instant === null || instant < sinceMs) return NOBODY_WAITS;
  const counts = ledger.counts(run);
  // When the first may be sent to of those who wait, where everybody who is left does.
  const untilMs = run.figures?.['opensAtMs'];
  const others = counts.some(({ outcome }) => outcome === 'pending' || outcome === 'failed');
  const waits = typeof untilMs === 'number' && !others && !isDecidedEarly(ledger, run, send.canary, nowMs);
  return {
    waitsUntilMs: waits ? untilMs : null,
    zoneless: counts.reduce((sum, { reason, count }) => sum + (reason === 'zone-unknown' ? count : 0), 0),
  };
}

const NOBODY_WAITS = { waitsUntilMs: null, zoneless: 0 };

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
  using held = holdRun(project, identity, nowMs);
  const run = held.ledger.findRun(identity);
  if (run === null) return;
  held.ledger.finish(run, { state: 'halted', halt: inputHalt(error), figures: run.figures, nowMs });
}
