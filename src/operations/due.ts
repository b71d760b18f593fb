import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type Code,
  type Diagnostic,
  EXIT,
  type ExitStatus,
  HandbillError,
  problem,
  refuse,
  warning,
} from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger, openToWriteLater } from '../ledger/open.ts';
import type { RunRecord, SeenSchedule } from '../ledger/records.ts';
import type { Campaign, Environment, RunState } from '../model.ts';
import { environmentOf } from '../plan/plan.ts';
import { settingsInput } from '../plan/settings.ts';
import { sendCommand, zonelessOf } from '../report/next-steps.ts';
import { isDecidedEarly } from '../run/canary.ts';
import { unreachedRows } from '../run/deliveries.ts';
import { holdRun, mustExist } from '../run/hold.ts';
import { inputHalt } from '../run/stop.ts';
import { stateOf } from '../run/summary.ts';
import {
  chooseDue,
  firstInstantMs,
  type KnownRun,
  type Missed,
  type Step,
  type StepReason,
  waitsMs,
} from '../schedule/choose.ts';
import { instantOf, occurrenceAt, occurrenceRules } from '../schedule/occurrence.ts';
import { canonicalName, isTest } from '../util/occurrence-name.ts';
import type { SendWatch } from './observer.ts';
import { readScheduled, type Scheduled } from './schedule.ts';
import { send } from './send.ts';
import type { SendOptions } from './send-options.ts';
import type { SendResult } from './send-result.ts';
import { zonelessWarning } from './warnings.ts';

type Passed = Pick<
  SendOptions,
  'confirm' | 'interrupt' | 'abort' | 'onStart' | 'onLedger' | 'random' | 'ledger' | 'workers'
>;

export interface DueOptions extends Passed {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Default: `sandbox`. */
  readonly environment?: string;
  /** Only says what would be done. */
  readonly dryRun?: boolean;
  /** The time for which it is decided what is due, in ms since 1970; only with `dryRun`. Default: now. */
  readonly at?: number;
  /** A run that another process is sending: skipped silently (default), or exit status 6. */
  readonly ifLocked?: 'skip' | 'fail';
  /** Called with each item as soon as it is known. */
  readonly onItem?: (item: DueItem) => Promise<void> | void;
  /** Called with each campaign that is checked. */
  readonly onCampaign?: (campaign: Campaign) => void;
  /** Follows what is sent; asked for each campaign that is. */
  readonly watchSend?: (target: string) => SendWatch;
}

/** What was done, or would be done, about one occurrence of a campaign, or about a campaign with none that is due. */
export interface DueItem {
  /** Null if the campaign cannot be read. */
  readonly campaign: string | null;
  readonly file: string;
  readonly occurrence: string | null;
  /** `refuse`: it was to be sent and could not; `none`: nothing is due. */
  readonly action: Step['action'] | 'refuse' | 'none';
  readonly why: StepReason | null;
  readonly missed: Missed | null;
  /** The next scheduled instant; null if there is none. */
  readonly next: string | null;
  readonly exit: ExitStatus;
  /** Null if nothing was sent. */
  readonly result: SendResult | null;
  readonly diagnostics: readonly Diagnostic[];
}

export interface DueResult {
  readonly environment: string;
  readonly at: string;
  readonly dryRun: boolean;
  readonly items: readonly DueItem[];
  /** It was stopped, or lost the ledger: campaigns after the last item were not checked. */
  readonly stopped: boolean;
  /** The worst of all items. */
  readonly exit: ExitStatus;
}

/**
 * Sends every campaign with a schedule that is due, one after the other, and each occurrence once. `chooseDue` decides
 * which occurrence; the ledger ensures that it is sent once, as for `send`. An error in one campaign does not keep the
 * others from being sent.
 *
 * @param paths - campaign files, folders or names; every `campaigns/**\/campaign.yaml` below `cwd` when empty
 * @throws HandbillError exit 2 if a path names no campaign
 */
export async function due(paths: readonly string[], options: DueOptions): Promise<DueResult> {
  const lookedMs = options.at ?? options.now();
  const environment = options.environment ?? 'sandbox';
  const { ledger } = options;
  const found = await readScheduled(paths, {
    cwd: options.cwd,
    now: lookedMs,
    ...(ledger === undefined ? {} : { ledger }),
  });
  const items: DueItem[] = [];
  const add = async (item: DueItem): Promise<void> => {
    items.push(item);
    await options.onItem?.(item);
  };
  for (const { file, diagnostics } of found.refused) await add({ ...NOTHING, file, ...refusal(diagnostics) });
  let stopped = false;
  for (const one of found.campaigns) {
    stopped = options.interrupt?.aborted === true || isLedgerGone(items);
    if (stopped) break;
    for await (const item of stepsOf(one, environment, lookedMs, options)) await add(item);
  }
  const at = new Date(lookedMs).toISOString();
  return { environment, at, dryRun: options.dryRun === true, items, stopped, exit: worst(items) };
}

const NOTHING = { campaign: null, occurrence: null, why: null, missed: null, next: null, result: null } as const;

function refusal(diagnostics: readonly Diagnostic[]) {
  return { action: 'refuse', exit: EXIT.refused, diagnostics } as const;
}

/**
 * The ledger could not be written: nothing more is posted, so it is not opened again for the next campaign
 * (failures.md, H1).
 */
function isLedgerGone(items: readonly DueItem[]): boolean {
  return items.at(-1)?.exit === EXIT.ledger;
}

async function* stepsOf(
  one: Scheduled,
  environment: string,
  lookedMs: number,
  options: DueOptions,
): AsyncGenerator<DueItem> {
  const { campaign, schedule, clock } = one;
  const nowMs = options.at ?? options.now();
  const { notAfterMs } = campaign.send;
  const dryRun = options.dryRun === true;
  options.onCampaign?.(campaign);
  const following = clock.next(nowMs);
  const next = following === null || following > (notAfterMs ?? following) ? null : occurrenceAt(following);
  const about = { ...NOTHING, campaign: campaign.name, file: campaign.file, next };
  let steps: readonly Step[];
  let runs: readonly DueRun[];
  let seen: Seen;
  try {
    if (one.ledgerFault !== null) throw refuse(one.ledgerFault);
    const longestMs = waitsMs(campaign.send, campaign.split.decides);
    const sinceMs = firstInstantMs(nowMs, longestMs);
    const known = knownOf(campaign, environmentOf(campaign, environment), { nowMs, sinceMs, dryRun });
    runs = known.runs;
    seen = await scheduleSeen(one, known, Math.min(options.now(), lookedMs));
    if (seen.isNew && !dryRun) rememberSchedule(campaign, environment, seen, nowMs);
    const { isNew } = seen;
    // A past time in `--at` asks what would have been due with this schedule.
    const isLookBack = isNew && options.at !== undefined && options.at <= options.now();
    const seenMs = isLookBack ? 0 : seen.seenMs;
    steps = chooseDue(clock, {
      schedule,
      notAfterMs,
      waitsMs: longestMs,
      nowMs,
      lookedMs,
      seenMs,
      isRemembered: !isNew,
      runs,
    });
  } catch (error) {
    yield { ...about, ...failure(error) };
    return;
  }
  if (steps.length === 0) yield { ...about, action: 'none', exit: EXIT.done, diagnostics: [] };
  for (const step of steps) {
    const run = runs.find(({ occurrence }) => occurrence === step.occurrence);
    const passedOver = step.why === 'new' && seen.isNew ? [passedOverWarning(one, environment, step, seen)] : [];
    const diagnostics = [...passedOver, ...zonelessWarning(run?.zoneless ?? 0, campaign)];
    const item: DueItem = { ...about, ...step, exit: EXIT.done, diagnostics };
    const isToSend = step.action === 'send' || step.action === 'continue';
    if (!isToSend || dryRun) yield item;
    else if (options.interrupt?.aborted === true) return;
    else {
      const done = {
        ...item,
        ...(await sendStep(one, environment, { ...step, occurrence: run?.name ?? step.occurrence }, options)),
      };
      yield done;
      if (done.exit === EXIT.ledger) return;
    }
  }
}

/** Printed once, with --quiet too: this instant is no longer sent automatically. */
function passedOverWarning(
  { campaign }: Scheduled,
  environment: string,
  { occurrence }: Step,
  { seenMs }: Seen,
): Diagnostic {
  const since = new Date(seenMs).toISOString();
  return warning(
    'schedule-new',
    `${campaign.name} is not sent for ${occurrence}: its schedule was first seen after that, at ${since}.`,
    {
      at: { file: campaign.file },
      hint: `Send it with: ${sendCommand({ environment, occurrence }, campaign.file, null)}`,
    },
  );
}

type Done = Pick<DueItem, 'action' | 'why' | 'exit' | 'result' | 'diagnostics'>;

async function sendStep(one: Scheduled, environment: string, step: Step, options: DueOptions): Promise<Done> {
  const { cwd, env, now, confirm, interrupt, abort, onStart, onLedger, random, ledger, workers } = options;
  const warnings: Diagnostic[] = [];
  const watch = options.watchSend?.(one.path);
  const passed = { confirm, interrupt, abort, onStart, onLedger, random, ledger, workers, watch };
  try {
    const result = await send(one.path, {
      ...(Object.fromEntries(Object.entries(passed).filter(([, value]) => value !== undefined)) as Passed),
      cwd,
      env,
      now,
      environment,
      occurrence: step.occurrence,
      onWarnings: (found) => warnings.push(...found),
      onNotice: (notice) => warnings.push(notice),
    });
    watch?.ended(result);
    const { action, why } = step;
    const exit = action === 'send' || isNews(result) ? result.exit : EXIT.done;
    return {
      action,
      why,
      exit: result.ledgerError === null ? exit : EXIT.ledger,
      result,
      diagnostics: [...warnings, ...zonelessWarning(zonelessOf(result.report.reasons), one.campaign)],
    };
  } catch (error) {
    const isLocked = error instanceof HandbillError && error.exit === EXIT.locked;
    if (isLocked && options.ifLocked !== 'fail') {
      return { action: 'leave', why: 'running', exit: EXIT.done, result: null, diagnostics: [] };
    }
    // The time to continue is over: the ledger accounts for the recipients that are left.
    if (step.action === 'continue' && error instanceof HandbillError && error.code === 'too-late') {
      return { action: 'leave', why: 'late', exit: EXIT.done, result: null, diagnostics: [] };
    }
    if (step.action === 'continue' && error instanceof HandbillError && CHANGED.has(error.code)) {
      try {
        haltChanged(one.campaign, environment, step.occurrence, error, now());
      } catch (second) {
        return { ...failure(second), why: null, result: null };
      }
    }
    return { ...failure(error), why: null, result: null };
  }
}

const CHANGED: ReadonlySet<Code> = new Set(['input-changed', 'identity-changed']);

/** An unexpected error in one campaign must not keep the next one from being sent. */
function failure(error: unknown): { action: 'refuse'; exit: ExitStatus; diagnostics: readonly Diagnostic[] } {
  if (error instanceof HandbillError) return { action: 'refuse', exit: error.exit, diagnostics: error.diagnostics };
  const message = `Something happened that handbill does not expect: ${error instanceof Error ? error.message : error}`;
  return { action: 'refuse', exit: EXIT.bug, diagnostics: [problem('bug', message, { hint: 'Please report it.' })] };
}

/**
 * cron mails what is printed, so an outcome is printed when it happens and not at every later call. A continued run
 * that posts nothing does not repeat which recipients were refused or in doubt after an earlier start.
 */
function isNews({ posted, recovered, report }: SendResult): boolean {
  return posted > 0 || recovered > 0 || report.totals.failed > 0 || report.state === 'halted';
}

/** The worst status first: a ledger that cannot be used stops every campaign (docs/commands.md, exit statuses). */
const WORST: readonly ExitStatus[] = [
  EXIT.bug,
  EXIT.ledger,
  EXIT.terminated,
  EXIT.interrupted,
  EXIT.hangup,
  EXIT.refused,
  EXIT.halted,
  EXIT.inDoubt,
  EXIT.unsent,
  EXIT.locked,
];

function worst(items: readonly DueItem[]): ExitStatus {
  return WORST.find((exit) => items.some((item) => item.exit === exit)) ?? EXIT.done;
}

/** A run of a campaign that may be due. */
export interface DueRun extends KnownRun {
  /** The occurrence as the ledger has it: an earlier version kept an instant as it was written. */
  readonly name: string;
  /** Recipients who wait for a window in an unknown time zone; 0 also for a run that is too old to be due. */
  readonly zoneless: number;
}

/** What the ledger knows of a campaign in an environment. */
export interface DueKnown {
  readonly runs: readonly DueRun[];
  /** The schedule that was seen last; null: none ever was. */
  readonly seen: SeenSchedule | null;
}

/**
 * The runs of a campaign in an environment, and its schedule. The ledger is closed again before anything is sent: a
 * process may open it only once at a time.
 *
 * @param sinceMs - for runs of earlier instants the recipients are not counted, which would take a scan of the list
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
      // The recipients that were left in a purged run are no longer known: it cannot be continued.
      const state = run.purgedAtMs === null ? withFallbacks(ledger, run, campaign, { instant, sinceMs }) : 'finished';
      return {
        occurrence,
        name: run.occurrence,
        state,
        halt: run.halt?.rule ?? null,
        createdAtMs: run.createdAtMs,
        ...(state === 'partial' ? waitsOf(ledger, run, campaign, { instant, nowMs, sinceMs }) : NONE_WAITING),
        isSame: isSame(run),
      };
    });
    return { runs, seen: ledger.scheduleOf({ environment: environment.name, campaign: campaign.name }) };
  } finally {
    ledger.close();
  }
}

/** When a schedule was first seen, and whether that is still to be recorded in the ledger. */
export interface Seen extends SeenSchedule {
  readonly isNew: boolean;
}

/**
 * When the schedule of a campaign was first seen, from the ledger. For a schedule that the ledger does not know, the
 * earliest of: now; since when the campaign's files are unchanged on this machine; the first run that began with the
 * campaign as it is. (The time at which a file changed is set by the system: no copy brings an earlier one along.)
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
  // If a schedule replaced another one and was used before that, earlier runs do not count.
  const ran = seen === null ? runs.filter(({ isSame }) => isSame).map(({ createdAtMs }) => createdAtMs) : [];
  return { schedule, seenMs: Math.floor(Math.min(nowMs, Math.max(...changed), ...ran)), isNew: true };
}

/**
 * Records in the ledger when a schedule was first seen, and creates the ledger if there is none.
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

/** A finished run is continued if a report says that a message was not delivered, and the campaign has a fallback. */
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

/** Recipients of a run who wait, as the last start left it. */
function waitsOf(
  ledger: Ledger,
  run: RunRecord,
  { send }: Campaign,
  { instant, nowMs, sinceMs }: { readonly instant: number | null; readonly nowMs: number; readonly sinceMs: number },
): Pick<DueRun, 'waitsUntilMs' | 'zoneless'> {
  if (instant === null || instant < sinceMs) return NONE_WAITING;
  const counts = ledger.counts(run);
  // When the first waiting recipient may be sent to, if all recipients that are left wait.
  const untilMs = run.figures?.['opensAtMs'];
  const others = counts.some(({ outcome }) => outcome === 'pending' || outcome === 'failed');
  const waits = typeof untilMs === 'number' && !others && !isDecidedEarly(ledger, run, send.canary, nowMs);
  return {
    waitsUntilMs: waits ? untilMs : null,
    zoneless: counts.reduce((sum, { reason, count }) => sum + (reason === 'zone-unknown' ? count : 0), 0),
  };
}

const NONE_WAITING = { waitsUntilMs: null, zoneless: 0 };

/**
 * Halts a run that cannot continue because its inputs changed, for example a list that is exported each night. The user
 * has to decide, and is notified once.
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
