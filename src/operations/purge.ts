import { hostname } from 'node:os';
import { join } from 'node:path';
import { campaignNames } from '../campaign/find.ts';
import { EXIT, type ExitStatus, HandbillError, problem, refuse } from '../errors.ts';
import type { EventCounts, Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import { paced } from '../ledger/paced.ts';
import type { Hasher, RunIdentity, RunRecord } from '../ledger/records.ts';
import type { PurgeRun as PurgedRun, Purge as PurgeResult } from '../model/result-types.ts';
import type { OutcomeState, Project } from '../model.ts';
import { keepDeliveries } from '../send/deliveries.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { nextCommand } from '../util/next-command.ts';
import { didYouMean } from '../util/suggest.ts';
import { iso } from '../util/time.ts';
import {
  type Confirm,
  checkNumbers,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  requireYes,
  withDefaults,
} from './options.ts';
import { joinReplies, projectHere } from './project.ts';
import { nameOfRun } from './report.ts';
import { hasherOf, refuseOtherKey } from './suppress-change.ts';

export const PURGE = {
  olderThanMs: {
    flag: '--older-than <duration>',
    says: 'purge what was last touched longer ago than this',
    inHelp: ': 90d, 12h, P13W',
    more: 'In ms.',
    kind: 'age',
    range: [0, 8.64e15],
    required: true,
  },
  environment: {
    flag: '--env <name>',
    says: 'only runs of this environment; keeps suppressions',
    without: 'every one',
  },
  campaign: {
    flag: '--campaign <name>',
    says: 'only runs of this campaign; keeps suppressions',
    without: 'every one',
  },
  withOpen: { flag: '--with-open', says: 'also purge runs with recipients in doubt, failed, deferred or pending' },
  dryRun: { flag: '--dry-run', says: 'show what the command would do; changes nothing' },
} as const satisfies OptionTable;

/** The age and the scope of the data that is removed. */
export interface PurgeOptions extends ProjectOptions, OptionsOf<typeof PURGE> {
  /** Asked before anything is changed; refused (exit 2, `not-confirmed`) where the answer is no. Default: no. */
  readonly confirm?: Confirm<PurgeResult>;
}

export type { PurgedRun, PurgeResult };
export type LeftRun = PurgeResult['left'][number];

/** One purge at a time, in addition to the lock of each run. No environment has an empty name. */
export const ALL_PURGES: RunIdentity = { environment: '', campaign: '', occurrence: 'purge' };

/**
 * `handbill purge`: takes personal data out of what is older than a limit. Counts stay, and suppressions as keyed hashes.
 *
 * @throws HandbillError exit 2 (refused, nothing was changed), 6 (another purge is under way), 7 (ledger)
 */
export async function purge(given: PurgeOptions): Promise<PurgeResult> {
  const options = withDefaults(given);
  // Without a limit, everything would be old enough or nothing: neither is a default.
  checkNumbers({ olderThanMs: options.olderThanMs ?? Number.NaN }, PURGE);
  const { project, place } = projectHere(options);
  // A key that is named and cannot be read is an error; without one, suppressions stay as they are.
  const hasher = project.suppressionKey === null ? null : await hasherOf(project, options);
  const inProject = options.campaign === undefined ? [] : campaignNames(place, join(place.root, 'campaign.yaml'));
  const limits = {
    beforeMs: options.now() - options.olderThanMs,
    environment: options.environment ?? null,
    campaign: options.campaign ?? null,
    id: inProject.find(({ name }) => name === options.campaign)?.id ?? null,
    withOpen: options.withOpen === true,
  };
  const all = limits.environment === null && limits.campaign === null;
  const found = survey(project.ledger, options, { ...limits, all }, hasher);
  refuseUnknown(limits, found.held, project, inProject);
  const hashed = hasher === null ? 0 : found.old.active;
  const planned: PurgeResult = {
    version: 1,
    dryRun: options.dryRun === true,
    before: iso(limits.beforeMs),
    ledger: shownLedger(project.ledger),
    purged: found.runs.map(({ shown }) => shown),
    left: found.left,
    lists: found.drafts.length,
    suppressions: { hashed, expired: found.old.expired, plain: found.old.active - hashed },
    events: found.events,
    waiting: found.waiting,
    rewritten: null,
  };
  const { reports, replies, unread } = found.events;
  const many = found.runs.length + found.drafts.length + hashed + found.old.expired + reports + replies + unread;
  const nothing = many === 0;
  if (planned.dryRun || (nothing && !found.isUnderWay)) return planned;
  const more = ' --dry-run shows what the purge would do.';
  if (!nothing) await requireYes(options.confirm, planned, 'Nothing was purged', more);
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs: options.now() });
  const lock = ledger.lock(ALL_PURGES);
  try {
    if (lock === null) throw busy();
    ledger.purge.begin();
    // After the purge, the message that a reply answers could not be found any more.
    await joinReplies(ledger, { now: options.now, ...project.webhook.replies });
    return { ...planned, ...(await carryOut(ledger, found, { ...limits, hasher, all }, planned, options.now)) };
  } finally {
    ledger.close();
    lock?.release();
  }
}

/** 0; 2: something open was left, or replies that wait for review; 6: something is in use, and running again does the rest; 7: the disk has no room. */
export function purgeExit({ dryRun, left, waiting, rewritten }: PurgeResult): ExitStatus {
  if (dryRun) return EXIT.done;
  if (rewritten === 'no-room') return EXIT.ledger;
  if (waiting > 0 || left.some(({ why }) => why === 'open')) return EXIT.refused;
  return rewritten === 'in-use' || left.length > 0 ? EXIT.locked : EXIT.done;
}

const NO_SUPPRESSIONS = { expired: 0, active: 0 };
const NO_EVENTS: EventCounts = { reports: 0, replies: 0, unread: 0 };
const NOTHING = {
  runs: [],
  left: [],
  drafts: [],
  old: NO_SUPPRESSIONS,
  events: NO_EVENTS,
  waiting: 0,
  isUnderWay: false,
  held: [],
};

/** Reads only; empty if there is no ledger yet. */
function survey(
  path: string,
  { now }: Pick<ResolvedOptions, 'now'>,
  limits: PurgeLimits & { readonly all: boolean },
  hasher: Hasher | null,
) {
  using ledger = openExistingLedger(path, { nowMs: now() });
  if (ledger === null) return NOTHING;
  refuseOtherKey(ledger, hasher?.keyId ?? null);
  const { all, beforeMs } = limits;
  const chosen = selectRuns(ledger, limits);
  const numbers = chosen.runs.map(({ record }) => record.number);
  return {
    ...chosen,
    old: all ? ledger.purge.oldSuppressions(beforeMs) : NO_SUPPRESSIONS,
    events: all ? ledger.purge.oldEvents(beforeMs) : NO_EVENTS,
    waiting: ledger.purge.waitingReplies(all ? beforeMs : null, numbers),
    isUnderWay: ledger.purge.isUnderWay(),
    held: [...ledger.runs(), ...ledger.purge.drafts()],
  };
}

type Work = Pick<PurgeLimits, 'beforeMs' | 'withOpen'> & { readonly hasher: Hasher | null; readonly all: boolean };

async function carryOut(
  ledger: Ledger,
  found: ReturnType<typeof selectRuns>,
  work: Work,
  planned: PurgeResult,
  now: () => number,
) {
  const purged: PurgedRun[] = [];
  const left: LeftRun[] = [...planned.left];
  const events = { ...NO_EVENTS };
  for (const { record, shown } of found.runs) {
    const done = await underLock(ledger, record, now, () => purgeRun(ledger, record, work, now, events));
    if (done === 'purged') purged.push(shown);
    else if (done === 'held' || done === 'open') left.push({ ...shown, why: done });
  }
  let lists = 0;
  for (const draft of found.drafts) {
    const done = await underLock(ledger, draft, now, async () => {
      if (!ledger.purge.drafts().some(({ number }) => number === draft.number)) return 'not-due';
      await carry(ledger.purge.forget(draft));
      return 'forgotten';
    });
    if (done === 'forgotten') lists++;
  }
  const suppressions = { ...planned.suppressions, hashed: 0, expired: 0 };
  if (work.all) {
    await carry(ledger.purge.forgetEvents(work.beforeMs), ({ reports, replies, unread }) => {
      events.reports += reports;
      events.replies += replies;
      events.unread += unread;
    });
    await carry(ledger.purge.hashSuppressions(work.beforeMs, work.hasher), (step) => {
      suppressions.hashed += step.hashed;
      suppressions.expired += step.expired;
    });
  }
  return { purged, left, lists, suppressions, events, rewritten: ledger.purge.rewrite() };
}

type Changed = { -readonly [K in keyof EventCounts]: number };

type Done = 'purged' | 'forgotten' | 'held' | 'open' | 'not-due';

/** The selected run is checked again under its lock: another process may have sent it meanwhile. */
async function purgeRun(ledger: Ledger, selected: RunRecord, work: Work, now: () => number, events: Changed) {
  const run = ledger.findRun(selected);
  if (run === null || !isDue(ledger, run, work.beforeMs)) return 'not-due';
  if (isRefused(run, openOf(ledger, run), work)) return 'open';
  const marked = ledger.purge.mark(run, now());
  await carry(keepDeliveries(ledger, marked), (reports) => {
    events.reports += reports;
  });
  await carry(ledger.purge.forgetReplies(marked), (replies) => {
    events.replies += replies;
  });
  await carry(ledger.purge.clear(marked));
  return 'purged';
}

async function underLock(ledger: Ledger, identity: RunIdentity, now: () => number, work: () => Promise<Done>) {
  const lock = ledger.lock(identity);
  if (lock === null) return 'held';
  try {
    ledger.setLockOwner(identity, { pid: process.pid, host: hostname(), sinceMs: now() });
    const done = await work();
    ledger.setLockOwner(identity, null);
    return done;
  } finally {
    lock.release();
  }
}

/** Commits each step as one transaction. */
async function carry<T>(steps: Iterable<T>, each: (step: T) => void = () => undefined): Promise<void> {
  const iterator = steps[Symbol.iterator]();
  for (let step = await paced(() => iterator.next()); step.done !== true; step = await paced(() => iterator.next())) {
    each(step.value);
  }
}

export function busy(): HandbillError {
  const hint = 'Wait for it to end.';
  return new HandbillError(EXIT.locked, [problem('locked', 'Another process is purging this ledger.', { hint })]);
}

interface PurgeLimits {
  /** In ms since 1970. */
  readonly beforeMs: number;
  readonly environment: string | null;
  readonly campaign: string | null;
  /** Id of the campaign of that name in the project; null: there is none, and the name is that of its last start. */
  readonly id: string | null;
  /** Also runs with recipients that have no final outcome. */
  readonly withOpen: boolean;
}

/** Drafts are lists that will never be used: left by a process that was killed while it loaded or replaced one. */
function selectRuns(ledger: Ledger, limits: PurgeLimits) {
  const isMeant = ({ environment, campaign, name }: RunRecord) =>
    (limits.environment === null || environment === limits.environment) &&
    (limits.campaign === null || (limits.id === null ? name === limits.campaign : campaign === limits.id));
  const runs: { record: RunRecord; shown: PurgedRun }[] = [];
  const left: LeftRun[] = [];
  for (const record of ledger.runs().filter(isMeant)) {
    if (!isDue(ledger, record, limits.beforeMs)) continue;
    const lastActivity = iso(ledger.purge.lastActivityMs(record));
    const shown = { ...nameOfRun(record), lastActivity, recipients: record.rows, open: openOf(ledger, record) };
    if (ledger.isHeld(record)) left.push({ ...shown, why: 'held' });
    else if (isRefused(record, shown.open, limits)) left.push({ ...shown, why: 'open' });
    else runs.push({ record, shown });
  }
  const ids = new Set(runs.map(({ record }) => record.id));
  const isForgotten = (draft: RunRecord) =>
    isMeant(draft) && (ids.has(draft.id) || draft.createdAtMs < limits.beforeMs) && !ledger.isHeld(draft);
  return { runs, left, drafts: ledger.purge.drafts().filter(isForgotten) };
}

/** A run in which a purge was killed is purged whatever the filter: it cannot be used any more. */
function isDue({ purge }: Ledger, run: RunRecord, beforeMs: number): boolean {
  if (run.purgedAtMs !== null) return !purge.isDone(run);
  // Checked first, because the time of the last outcome takes a scan of the list.
  const known = Math.max(run.createdAtMs, run.lastStartAtMs ?? 0, run.finishedAtMs ?? 0);
  return known < beforeMs && purge.lastActivityMs(run) < beforeMs;
}

/** After the purge, its recipients could not be sent to or resolved: the user has to agree to that. */
function isRefused(run: RunRecord, open: number, { withOpen }: Pick<PurgeLimits, 'withOpen'>): boolean {
  return open > 0 && !withOpen && run.purgedAtMs === null;
}

function openOf(ledger: Ledger, run: RunRecord): number {
  return ledger.counts(run).reduce((sum, { outcome, count }) => sum + (OPEN.has(outcome) ? count : 0), 0);
}

const OPEN: ReadonlySet<OutcomeState> = new Set(['in-doubt', 'pending', 'failed', 'deferred']);

/**
 * A mistyped campaign name must not look as if everything was purged: throws exit 2 (`campaign-not-found`,
 * `unknown-environment`) for a name that neither the ledger nor the project has.
 */
function refuseUnknown(
  { campaign, id, environment }: Pick<PurgeLimits, 'campaign' | 'id' | 'environment'>,
  held: readonly Pick<RunRecord, 'name' | 'environment'>[],
  project: Pick<Project, 'environments' | 'file'>,
  inProject: readonly { readonly name: string }[],
): void {
  const environments = new Set([...project.environments.keys(), ...held.map((run) => run.environment)]);
  if (environment !== null && !environments.has(environment)) {
    const hint = didYouMean(environment, environments).hint ?? `Known here: ${[...environments].join(', ')}.`;
    const message = `There is no environment "${environment}", neither in the ledger nor in the project.`;
    const at = project.file === null ? undefined : { file: project.file };
    throw refuse(problem('unknown-environment', message, { at, hint }));
  }
  if (campaign === null || id !== null || held.some((run) => run.name === campaign)) return;
  const known = new Set([...held.map((run) => run.name), ...inProject.map(({ name }) => name)]);
  const hint = didYouMean(campaign, known).hint ?? `${nextCommand('runs')} lists those that were sent.`;
  const message = `There is no campaign "${campaign}", neither in the ledger nor in the project.`;
  throw refuse(problem('campaign-not-found', message, { hint }));
}
