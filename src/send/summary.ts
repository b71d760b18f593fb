import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Halt, InputFile, JsonObject, Report, RequestFigures, RunState, WinnerDecision } from '../model.ts';
import { createLatency, readLatency } from '../report/latency.ts';
import { reportedPause } from '../report/pause-words.ts';
import { buildReport, type CameBack, type CampaignShape } from '../report/tally.ts';
import { iso } from '../util/time.ts';

/**
 * The summary of a run, from the ledger.
 * @param end - how this start ends, to show instead of what is recorded
 * @param campaign - as it was sent, if available: for the order of variants and channel steps, and for unused ones
 * @param cameBack - delivery reports and replies, if wanted: they cost a scan of the list
 */
export function summarise(
  ledger: Pick<Ledger, 'changed' | 'secondMessages' | 'isHeld' | 'pauseOf' | 'steps' | 'path'>,
  run: RunRecord,
  end: { readonly state: RunState; readonly halt: Halt | null } | null = null,
  campaign: CampaignShape | null = null,
  cameBack: CameBack | null = null,
): Report {
  const state = end?.state ?? stateOf(ledger, run);
  const pause = state === 'finished' || run.purgedAtMs !== null ? null : ledger.pauseOf(run);
  const acceptedList = run.inputs.flatMap(({ accepted = [] }) => accepted);
  const changed = ledger.changed(run);
  const secondMessages = ledger.secondMessages(run);
  const { activeMs, ...requests } = figuresOf(run, state);
  const facts = {
    run: run.id,
    campaign: run.name,
    environment: run.environment,
    occurrence: run.occurrence,
    state,
    halt: end === null ? run.halt : end.halt,
    ledger: ledger.path,
    startedAt: iso(run.startedAtMs ?? run.createdAtMs),
    finishedAt: iso(run.finishedAtMs),
    ...(run.starts > 1 && run.finishedAtMs !== null && activeMs > 0 && requests.uncountedStarts === undefined
      ? { activeMs }
      : {}),
    ...(run.postedFrom === null ? {} : { postedFrom: run.postedFrom }),
    ...(run.commits.length === 0 ? {} : { commits: run.commits }),
    inputs: run.inputs.map(shownInput),
    versions: run.versions.map(({ inputs, commits, sinceMs }) => {
      return { since: iso(sinceMs), commits, inputs: inputs.map(shownInput) };
    }),
    ...(run.purgedAtMs === null ? {} : { purgedAt: iso(run.purgedAtMs) }),
    ...(run.closedAtMs === null ? {} : { closedAt: iso(run.closedAtMs) }),
    ...(acceptedList.length === 0 ? {} : { acceptedList }),
    // From the figures of the last start: the first time for recipients who wait for a window or a pause.
    ...timeIn(run.figures, 'opensAtMs', (opensAt) => ({ opensAt })),
    ...(pause === null ? {} : { paused: reportedPause(pause) }),
    ...winnerOf(run),
    ...(changed.length === 0 ? {} : { changed }),
    ...(secondMessages === null ? {} : { secondMessages }),
  };
  return buildReport(facts, ledger.steps(run), requests, { campaign, cameBack });
}

function shownInput({ role, file, sha256 }: InputFile): NonNullable<Report['inputs']>[number] {
  return { role, file, sha256 };
}

function timeIn<T>(figures: JsonObject | null, name: string, shown: (time: string) => T): T | object {
  const atMs = figures?.[name];
  return typeof atMs === 'number' && Math.abs(atMs) < 8.64e15 ? shown(iso(atMs)) : {};
}

/** The winner of the test, found or named; and when it is found, from the last start. */
function winnerOf({ winner, figures }: RunRecord): Pick<Report, 'winner' | 'winnerAt'> {
  const found = figures?.['winner'] as unknown as WinnerDecision | undefined;
  // The user may have named another winner since.
  if (found !== undefined && found.variant === winner) return { winner: found };
  if (winner !== null) return { winner: { variant: winner, by: null, why: null, minimum: 0, shares: [] } };
  return timeIn(figures, 'winnerAtMs', (winnerAt) => ({ winnerAt }));
}

/** A run that is recorded as running and that no process holds was killed: only the next start records that. */
export function stateOf(ledger: Pick<Ledger, 'isHeld'>, run: RunRecord): RunState {
  if (run.state !== 'running' && run.state !== 'loading') return run.state;
  return ledger.isHeld(run) ? 'running' : 'interrupted';
}

/** The figures of all starts; zeros where another version wrote something else, or nothing was sent yet. */
function figuresOf({ figures, starts }: RunRecord, state: RunState): RequestFigures & { readonly activeMs: number } {
  const of = (name: string): number => {
    const value = figures?.[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : 0;
  };
  const posted = of('posted');
  const activeMs = of('activeMs');
  const uncountedStarts = starts - of('starts') - (state === 'running' ? 1 : 0);
  return {
    activeMs,
    posted,
    retried: of('retried'),
    ...(uncountedStarts > 0 ? { uncountedStarts } : {}),
    perSecond: activeMs > 0 ? Math.round((posted / (activeMs / 1000)) * 10) / 10 : 0,
    latencyMs: createLatency(readLatency(figures?.['latency'])).figures(),
  };
}
