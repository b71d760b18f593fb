import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULTS } from '../campaign/defaults.ts';
import { findProject, PROJECT_FILE } from '../campaign/place.ts';
import {
  type Code,
  type Diagnostic,
  EXIT,
  type ExitStatus,
  HandbillError,
  problem,
  refuse,
  thrownText,
  warning,
} from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import { pauseIn } from '../ledger/pauses.ts';
import type { CampaignPlace, KnownCampaign, RunRecord, SeenSchedule } from '../ledger/records.ts';
import type { Due, DueCampaign } from '../model/result-types.ts';
import { type Campaign, DUE_CODES, type Environment, type Pause, type RunState, type Schedule } from '../model.ts';
import { formerNameProblem } from '../plan/campaign-id.ts';
import { lateAt, mostBeforeMs } from '../plan/gate.ts';
import { periodAt } from '../plan/period.ts';
import { environmentOf } from '../plan/plan.ts';
import { settingsInputs } from '../plan/settings.ts';
import { sendCommand, zonelessOf } from '../report/next-steps.ts';
import {
  chooseDue,
  chooseFollowUps,
  type FollowedRun,
  firstFollowedMs,
  firstInstantMs,
  GRACE_MS,
  type KnownRun,
  type Step,
  waitsMs,
} from '../schedule/choose.ts';
import { instantOf, occurrenceAt, whenText } from '../schedule/occurrence.ts';
import { isDecidedEarly } from '../send/canary.ts';
import { unreachedRows } from '../send/deliveries.ts';
import type { RunEvent } from '../send/event.ts';
import { fetchedWith } from '../send/fetched.ts';
import { pausedWarning } from '../send/pause.ts';
import type { RehearsedWorld } from '../send/rehearsal.ts';
import { lockRun, mustExist } from '../send/run-lock.ts';
import { inputHalt } from '../send/stop.ts';
import { stateOf } from '../send/summary.ts';
import { isStillUndecided } from '../send/winner.ts';
import { isTest } from '../util/occurrence-name.ts';
import { startTask, type Task } from '../util/task.ts';
import { iso } from '../util/time.ts';
import { type DueMemory, type MissedOccurrence, openDueMemory } from './due-memory.ts';
import {
  allowOption,
  type Confirm,
  checkAllow,
  checkNumbers,
  INSTANT,
  OPTIONS,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  present,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import type { ReconcileResult } from './reconcile.ts';
import { type Automatic, type Following, readScheduled, type Scheduled } from './schedule.ts';
import { send } from './send.ts';
import { exitOf, type SendQuestion, type SendResult } from './send-options.ts';
import { zonelessWarning } from './warnings.ts';

export const DUE = {
  environment: OPTIONS.environment,
  dryRun: { flag: '--dry-run', says: 'say what would be sent, and send nothing' },
  at: {
    flag: '--at <instant>',
    says: 'with --dry-run: as if it were then',
    inHelp: ', for example 2026-12-01T09:00:00Z or +14d',
    more: 'In ms since 1970.',
    without: 'now',
    kind: 'instant',
    range: INSTANT,
  },
  ifLocked: {
    flag: '--if-locked <what>',
    says: 'when another process holds a run: leave it to that one, or exit 6',
    choices: ['skip', 'fail'],
    preset: 'skip',
  },
  workers: { flag: '--workers', says: 'share the runs with every `handbill worker` of a shared ledger' },
  allow: allowOption(DUE_CODES),
} as const satisfies OptionTable;

/** The environment and the time for which `due` runs, and what it may do. */
export interface DueOptions extends ProjectOptions, OptionsOf<typeof DUE> {
  /** Asked for each campaign, as `send` asks; true is `--yes`. Default: no. */
  readonly confirm?: Confirm<SendQuestion>;
  /** Ends it in good order: the current campaign as for `send`; later campaigns are not checked. Default: no signal. */
  readonly signal?: AbortSignal;
  /** Cuts off what is in flight too: who was being sent to is in doubt. Default: nothing does. */
  readonly cutSignal?: AbortSignal;
  /** Called with a line when a shared ledger is lost in the middle, and when it is back; it holds no address. */
  readonly log?: (line: string) => void;
  /** @internal The next campaign waits until an item has been taken. */
  readonly onEvent?: ((event: RunEvent | DueEvent) => Promise<void> | void) | undefined;
  /** @internal For tests. Default: `Math.random`. */
  readonly random?: () => number;
  /** @internal Nothing is sent: see send/rehearsal.ts. */
  readonly rehearsal?: RehearsedWorld;
}

/** Events of campaigns with a schedule; those that are sent have more. */
export type DueEvent =
  | { readonly kind: 'due'; readonly environment: string }
  | { readonly kind: 'fetched'; readonly fetched: FetchedReports }
  /** `sends`: the occurrences of it that this call goes on to send, in order, and until when calls do. */
  | {
      readonly kind: 'campaign';
      readonly campaign: Campaign;
      readonly environment: string;
      readonly sends: readonly Pick<Step, 'occurrence' | 'action' | 'untilMs'>[];
    }
  | { readonly kind: 'item'; readonly item: DueItem; readonly environment: string }
  /** Occurrences of the last 31 days that were missed. */
  | { readonly kind: 'missed'; readonly missed: readonly MissedOccurrence[]; readonly environment: string };

/** One occurrence of a campaign and what happens with it, or a campaign with none that is due. */
export interface DueItem extends Omit<DueCampaign, 'report' | 'diagnostics'> {
  /** When it goes out; null for a follow-up, and where the campaign cannot be read. */
  readonly schedule: Schedule | null;
  /** First day of the next period where it is above the budget, and whether it is still sent then; else null. */
  readonly nextPeriod: { readonly begins: string; readonly isInTime: boolean } | null;
  /** `due` reported the same refusal of the campaign within the last hour. */
  readonly isRepeated: boolean;
  /** Null where nothing was sent. */
  readonly result: SendResult | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** New reports and replies of an environment, which `due` fetches before it decides what is due. */
export interface FetchedReports
  extends Pick<ReconcileResult, 'environment' | 'files' | 'doubtsResolved' | 'suppressed' | 'lifted' | 'diagnostics'> {
  /** `due` reported the same within the last hour. */
  readonly isRepeated: boolean;
}

export interface DueResult extends Omit<Due, 'version' | 'campaigns' | 'fetched'> {
  readonly items: readonly DueItem[];
  readonly fetched: readonly FetchedReports[];
  /** Occurrences missed in this environment in the last 31 days, the newest first. */
  readonly missed: readonly MissedOccurrence[];
}

/**
 * `handbill due`: sends every campaign with a schedule that is due, one after the other, and each occurrence once. What
 * is wrong with one campaign does not keep the others from being sent. Await it for the result, or loop over its items.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 * @throws HandbillError exit 2 where a path means nothing
 */
export function due(paths: readonly string[] = [], options: DueOptions = {}): Task<DueItem, DueResult> {
  return startTask<DueItem, DueResult>(
    async ({ show, signal }) => {
      checkNumbers(options, DUE);
      checkAllow(options, DUE_CODES);
      return await sendDue(paths, { ...withDefaults(options), signal }, show);
    },
    { signal: options.signal },
  );
}

type Options = DueOptions & ResolvedOptions & { readonly signal: AbortSignal };

/** `chooseDue` decides which occurrence is due; the ledger ensures that it is sent once, as for `send`. */
async function sendDue(paths: readonly string[], options: Options, show: (item: DueItem) => void): Promise<DueResult> {
  const lookedMs = options.at ?? options.now();
  const environment = options.environment ?? 'sandbox';
  const isReal = options.dryRun !== true && options.rehearsal === undefined;
  options.onEvent?.({ kind: 'due', environment });
  const { cwd, env, ledger } = options;
  const side = options.rehearsal?.side;
  const found = await readScheduled(paths, { cwd, env, ledger, side });
  const items: DueItem[] = [];
  const memories = new Map<string, DueMemory>();
  const names = new Set<string>([environment]);
  const memoryOf = async (project: MemoryOf): Promise<DueMemory> => {
    const memory = memories.get(project.ledger) ?? (await openDueMemory(project, options.now()));
    memories.set(project.ledger, memory);
    return memory;
  };
  const add = async (given: DueItem, project: MemoryOf): Promise<void> => {
    const name = project.environments?.get(environment)?.identity ?? environment;
    names.add(name);
    const item = isReal ? remembered(given, name, await memoryOf(project)) : given;
    if (item === null) return;
    items.push(item);
    await options.onEvent?.({ kind: 'item', item, environment });
    show(item);
  };
  const { root } = findProject(cwd);
  const here = { root, ledger: join(root, DEFAULTS.ledger) };
  for (const { file, diagnostics } of found.refused) await add({ ...NOTHING, file, ...refusal(diagnostics) }, here);
  let stopped = false;
  const all = [...found.campaigns, ...found.followUps];
  const fetched: FetchedReports[] = [];
  if (isReal) {
    for await (const one of fetchAll(all, options, environment, memoryOf)) {
      fetched.push(one);
      await options.onEvent?.({ kind: 'fetched', fetched: one });
    }
  }
  using ledgers = openReaders(options);
  for (const [one, seen] of await seeSchedules(all, ledgers, { environment, lookedMs, options })) {
    // The ledger cannot be written: nothing more is posted, and no campaign opens it again (failures.md, H1).
    stopped = options.signal.aborted || items.at(-1)?.exit === EXIT.ledger;
    if (stopped) break;
    const asked = { environment, lookedMs, options, seen };
    for await (const item of stepsOf(one, ledgers, asked)) await add(item, one.campaign.project);
  }
  for (const memory of memories.values()) await memory.save();
  const missed = [...memories.values()].flatMap((memory) => memory.occurrences());
  const at = iso(lookedMs);
  const ofEnvironment = missed.filter((one) => names.has(one.environment));
  options.onEvent?.({ kind: 'missed', missed: ofEnvironment, environment });
  const places = stopped ? [] : new Set(all.map(({ campaign }) => campaign.project.ledger));
  const review = [...places].reduce((sum, place) => sum + waitingIn(place, ledgers), 0);
  const isIncomplete = fetched.some(({ diagnostics }) => diagnostics.some(({ severity }) => severity === 'error'));
  const exits = new Set([...items.map((item) => item.exit), isIncomplete ? EXIT.refused : EXIT.done]);
  const exit = WORST.find((exit) => exits.has(exit)) ?? EXIT.done;
  const dryRun = options.dryRun === true;
  return { environment, at, dryRun, items, stopped, review, fetched, missed: ofEnvironment, exit };
}

/** 0 for a ledger that cannot be read: each of its campaigns was refused for that. */
function waitingIn(place: string, ledgers: Readers): number {
  try {
    return [...(ledgers.of(place)?.ledger.events.replyCounts() ?? [])].reduce((sum, { review }) => sum + review, 0);
  } catch {
    return 0;
  }
}

/** Opt-outs, gates and follow-ups depend on it. */
async function* fetchAll(
  all: readonly (Scheduled | Following)[],
  { env, now, ledger, signal }: Options,
  name: string,
  memoryOf: (project: MemoryOf) => Promise<DueMemory>,
): AsyncGenerator<FetchedReports> {
  const projects = new Map(all.map(({ campaign: { project } }) => [project.root, project] as const));
  for (const project of projects.values()) {
    for (const { name: environment } of fetchedWith(project, project.environments.get(name)?.identity ?? name)) {
      const { API, reconcile } = await import('./reconcile.ts');
      const asked = present({ env, now, ledger, signal, cwd: project.root, environment });
      const result = await reconcile([API], asked).catch((error: unknown) => {
        if (!(error instanceof HandbillError)) throw error;
        return { files: [], doubtsResolved: 0, suppressed: [], lifted: [], diagnostics: error.diagnostics };
      });
      const { files, doubtsResolved, suppressed, lifted, diagnostics } = result;
      const text = diagnostics.map(({ code, message }) => `${code} ${message}`).join('\n');
      const isRepeated = text !== '' && (await memoryOf(project)).refused({ environment, file: API, text });
      yield { environment, files, doubtsResolved, suppressed, lifted, diagnostics, isRepeated };
    }
  }
}

type MemoryOf = Pick<Campaign['project'], 'root' | 'ledger'> & Partial<Pick<Campaign['project'], 'environments'>>;

/** Reports a missed occurrence once, and marks an unchanged refusal as repeated. Null: reported as too old before. */
function remembered(item: DueItem, environment: string, memory: DueMemory): DueItem | null {
  const { action, why, campaign, file, occurrence, missed, exit } = item;
  const isTooOld = leftFor(item) !== null;
  // A gap before an instant that is sent is one event, which its last instant names.
  const lost = isTooOld || (action === 'miss' && why === 'late') ? occurrence : (missed?.last ?? null);
  const isLost = campaign !== null && lost !== null;
  const isNews = isLost && !memory.missed({ environment, campaign, occurrence: lost });
  if (action === 'refuse') {
    const text = [occurrence, ...item.diagnostics.map(({ code, message }) => `${code} ${message}`)].join('\n');
    return { ...item, isRepeated: memory.refused({ environment, file, text }) };
  }
  if (isLost && !isNews && isTooOld) return null;
  return isNews && exit === EXIT.done ? { ...item, exit: EXIT.missed } : item;
}

/** Why this and later calls leave a run unfinished; null: they go on with it, or a person may. */
export function leftFor({ action, why }: Pick<DueItem, 'action' | 'why'>): 'late' | 'superseded' | null {
  return action === 'leave' && (why === 'late' || why === 'superseded') ? why : null;
}

export const NOTHING = {
  campaign: null,
  occurrence: null,
  why: null,
  missed: null,
  next: null,
  schedule: null,
  result: null,
  nextPeriod: null,
  isRepeated: false,
} as const;

function refusal(diagnostics: readonly Diagnostic[]) {
  return { action: 'refuse', exit: EXIT.refused, diagnostics } as const;
}

type Readers = ReturnType<typeof openReaders>;

/** A process opens a ledger only once at a time, so all are closed before anything is written or sent. */
function openReaders(options: Options) {
  const open = new Map<
    string,
    { readonly ledger: Ledger; campaigns: readonly KnownCampaign[]; pauses: readonly Pause[] } | null
  >();
  const isCopy = options.rehearsal !== undefined;
  const close = (): void => {
    for (const one of open.values()) one?.ledger.close();
    open.clear();
  };
  const of = (path: string) => {
    const known = open.get(path);
    if (known !== undefined) return known;
    const ledger = openExistingLedger(path, { nowMs: options.at ?? options.now(), isCopy });
    // Asked once for all campaigns: before anything is sent, the ledger is opened anew.
    const opened = ledger && { ledger, campaigns: ledger.campaigns(), pauses: ledger.pauses() };
    open.set(path, opened);
    return opened;
  };
  return { of, close, [Symbol.dispose]: close };
}

interface Asked {
  readonly environment: string;
  readonly lookedMs: number;
  readonly options: Options;
}

function isToSend({ action }: Step): boolean {
  return action === 'send' || action === 'continue';
}

async function* stepsOf(
  one: Scheduled | Following,
  ledgers: Readers,
  { environment, lookedMs, options, seen }: Asked & { readonly seen: FirstSeen },
): AsyncGenerator<DueItem> {
  const { campaign } = one;
  const nowMs = options.at ?? options.now();
  const { notAfterMs } = campaign.send;
  const dryRun = options.dryRun === true;
  const begin = (sends: readonly Step[]): void => {
    options.onEvent?.({ kind: 'campaign', campaign, environment, sends });
  };
  const following = 'clock' in one ? one.clock.next(nowMs) : null;
  const next = following === null || following > (notAfterMs ?? following) ? null : occurrenceAt(following);
  const { name, file, schedule } = campaign;
  const about = { ...NOTHING, campaign: name, file, next, schedule };
  let choose: (callMs: number) => readonly Step[];
  let runs: readonly DueRun[];
  let pause: Pause | null;
  try {
    if ('fault' in seen) throw seen.fault;
    const longestMs = waitsMs(campaign.send, campaign.split.decides, campaign.recipients.each);
    const known = knownOf(campaign, environmentOf(campaign, environment), ledgers, nowMs);
    runs = known.runs;
    pause = known.pause;
    const { isNew } = seen;
    // With a past `--at`, the user asks what would have been due with this schedule.
    const isLookBack = isNew && options.at !== undefined && options.at <= options.now();
    const seenMs = isLookBack ? 0 : seen.seenMs;
    const isTakenOver = campaign.recipients.each !== null;
    choose = (callMs) => {
      const when = { nowMs: callMs, lookedMs: Math.min(lookedMs, callMs), isRemembered: !isNew };
      const facts = { ...when, notAfterMs, waitsMs: longestMs, seenMs, isTakenOver, runs };
      return 'clock' in one
        ? chooseDue(one.clock, { ...facts, schedule: one.schedule })
        : chooseFollowUps({ ...facts, afterMs: one.after.wait.ms, followed: known.followed });
    };
  } catch (error) {
    begin([]);
    yield { ...about, ...failure(error) };
    return;
  }
  const steps = choose(nowMs);
  begin(steps.filter(isToSend));
  const isAhead = nowMs > options.now();
  if (steps.length === 0) yield { ...about, action: 'none', exit: EXIT.done, diagnostics: pausedWarning(pause) };
  for (const chosen of steps) {
    const run = runs.find(({ occurrence }) => occurrence === chosen.occurrence);
    // Until a later `--at`, other calls come, which do what they can.
    const callMs = isAhead ? Math.max(options.now(), instantOf(chosen.occurrence) ?? 0) : nowMs;
    const earlier =
      isAhead && !isToSend(chosen)
        ? choose(callMs).find((one) => isToSend(one) && one.occurrence === chosen.occurrence)
        : null;
    // A validity of a run that has not begun counts from when it will.
    const lateAtMs = lateAt({ campaign }, run?.startedAtMs ?? Number.POSITIVE_INFINITY);
    const untilMs = Math.min((earlier ?? chosen).untilMs, lateAtMs);
    const step: Step = { ...(earlier ? { ...earlier, why: 'earlier' } : chosen), untilMs };
    const passedOver = step.why === 'new' && seen.isNew ? [passedOverWarning(one, environment, step)] : [];
    const diagnostics = [...passedOver, ...zonelessWarning(run?.zoneless ?? 0, campaign)];
    const { untilMs: _, ...shown } = step;
    const missed = isAhead ? null : step.missed;
    const item: DueItem = { ...about, ...shown, missed, exit: EXIT.done, diagnostics };
    if (!isToSend(step)) yield item;
    else if (pause !== null) yield { ...item, ...PAUSED, diagnostics: pausedWarning(pause) };
    else if (dryRun) {
      ledgers.close();
      const at = earlier ? callMs : options.at;
      const found = await refusalOf(one, environment, step, { ...options, ...present({ at }) });
      yield { ...item, ...found, diagnostics: [...diagnostics, ...(found.diagnostics ?? [])] };
    } else if (options.signal.aborted) return;
    else {
      ledgers.close();
      const done = { ...item, ...(await sendStep(one, environment, step, options)) };
      yield done;
      if (done.exit === EXIT.ledger) return;
    }
  }
}

/** For a dry run: what `send` would refuse before its first request. Reads the list, as `preview` does. */
async function refusalOf(one: Automatic, environment: string, step: Step, options: Options): Promise<Partial<DueItem>> {
  const { cwd, env, now, ledger, signal, allow = [] } = options;
  try {
    const { previewRows } = await import('./preview.ts');
    const asked = { cwd, env, now, environment, occurrence: step.occurrence, allow, start: { isDue: true } };
    const shown = await previewRows(one.path, { ...asked, ...present({ ledger, at: options.at }) });
    try {
      for await (const _ of shown.batches) if (signal.aborted) return {};
    } finally {
      shown.close();
    }
    const { problems, warnings } = shown.result();
    const all = [...problems, ...shown.warnings, ...warnings].map((one) => ({ ...one, severity: severityOf(one) }));
    const found = all.filter(({ code, severity }) => code !== 'run-open' && severity !== 'error');
    const refused = all.filter(({ severity }) => severity === 'error');
    if (refused[0]?.code === 'over-budget')
      return { ...overBudget(one, environment, step, options), diagnostics: [...found, ...refused] };
    return refused.length > 0 ? { why: null, ...refusal(refused) } : { diagnostics: found };
  } catch (error) {
    return { why: null, ...failure(error) };
  }
}

/** A call fetches reports before it decides, and its `--yes` is no answer to a question about second messages. */
function severityOf({ code, severity }: Diagnostic): Diagnostic['severity'] {
  if (code === 'reports-stale') return 'warning';
  return code === 'sent-elsewhere' || code === 'other-provider' ? 'error' : severity;
}

/** Printed once, with --quiet too: this instant is no longer sent automatically. */
function passedOverWarning({ campaign }: Automatic, environment: string, { occurrence }: Step) {
  const message = `${campaign.name} is not sent for ${occurrence}: its schedule was first seen after that.`;
  const hint = `Send it with: ${sendCommand({ environment, occurrence }, calledHere(campaign.name, campaign.file), null)}`;
  return warning('schedule-new', message, { at: { file: campaign.file }, hint });
}

function overBudget({ campaign }: Automatic, environment: string, { untilMs }: Step, { at, now }: Options) {
  const { budget } = environmentOf(campaign, environment);
  const period = budget === null ? null : periodAt(budget.per, at ?? now(), campaign.project.timeZone);
  const nextPeriod = period === null ? null : { begins: period.next, isInTime: period.endsMs < untilMs };
  return { ...PAUSED, why: 'over-budget', nextPeriod } as const;
}

async function sendStep(one: Automatic, environment: string, step: Step, options: Options): Promise<Partial<DueItem>> {
  const { cwd, env, now, confirm, signal, cutSignal, log, random, ledger, workers, rehearsal } = options;
  const warnings: Diagnostic[] = [];
  try {
    const result = await send(one.path, {
      ...present({ confirm, cutSignal, log, random, ledger, workers, rehearsal }),
      ...present({ recipients: rehearsal?.side?.listOf(one.path) }),
      signal,
      cwd,
      env,
      now,
      environment,
      occurrence: step.occurrence,
      allow: options.allow ?? [],
      isDue: true,
      onEvent(event) {
        if (event.kind === 'warnings') warnings.push(...event.warnings);
        if (event.kind === 'notice') warnings.push(event.notice);
        options.onEvent?.(event);
      },
    });
    const { action, why } = step;
    const isLedgerLost = result.exit === EXIT.ledger;
    const exit = action === 'send' || isNews(result) ? exitOf(result.report) : EXIT.done;
    return {
      action,
      why,
      exit: isLedgerLost ? EXIT.ledger : exit,
      // Its warnings are those of the item.
      result: { ...result, diagnostics: result.diagnostics.filter(({ severity }) => severity === 'error') },
      diagnostics: [...warnings, ...zonelessWarning(zonelessOf(result.report.reasons), one.campaign)],
    };
  } catch (error) {
    const isLocked = error instanceof HandbillError && error.exit === EXIT.locked;
    if (isLocked && options.ifLocked !== 'fail') {
      return { action: 'leave', why: 'running', exit: EXIT.done, result: null, diagnostics: [] };
    }
    if (error instanceof HandbillError && error.code === 'paused') return { ...PAUSED, diagnostics: error.diagnostics };
    if (error instanceof HandbillError && error.code === 'over-budget') {
      return { ...overBudget(one, environment, step, options), diagnostics: [...warnings, ...error.diagnostics] };
    }
    if (step.action === 'continue' && error instanceof HandbillError && error.code === 'too-late') {
      return { action: 'leave', why: 'late', exit: EXIT.done, result: null, diagnostics: [] };
    }
    if (step.action === 'continue' && error instanceof HandbillError && CHANGED.has(error.code)) {
      try {
        haltChanged(one.campaign, environment, step.occurrence, error, {
          nowMs: now(),
          isCopy: rehearsal !== undefined,
        });
      } catch (second) {
        return { ...failure(second), why: null, result: null };
      }
    }
    return { ...failure(error), why: null, result: null };
  }
}

/** The occurrence stays due: it is sent once the pause, or the period, has ended, as far as its schedule allows. */
const PAUSED = { action: 'leave', why: 'paused', exit: EXIT.done, result: null } as const;
const CHANGED: ReadonlySet<Code> = new Set(['input-changed', 'identity-changed']);

/** An unexpected error in one campaign must not keep the next one from being sent. */
export function failure(error: unknown): { action: 'refuse'; exit: ExitStatus; diagnostics: readonly Diagnostic[] } {
  if (error instanceof HandbillError) return { action: 'refuse', exit: error.exit, diagnostics: error.diagnostics };
  const message = `Something happened that handbill does not expect: ${thrownText(error)}`;
  return { action: 'refuse', exit: EXIT.bug, diagnostics: [problem('bug', message, { hint: 'Please report it.' })] };
}

/** cron mails all output: prints an outcome when it happens, and not again at each call that posts nothing. */
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
  EXIT.missed,
  EXIT.halted,
  EXIT.inDoubt,
  EXIT.unsent,
  EXIT.locked,
];

interface DueRun extends KnownRun, Pick<RunRecord, 'startedAtMs'> {
  /** Recipients who wait for a window in an unknown time zone; 0 also for a run that is too old to be due. */
  readonly zoneless: number;
}

interface DueKnown {
  readonly runs: readonly DueRun[];
  /** Null: it may be sent. */
  readonly pause: Pause | null;
  readonly followed: readonly FollowedRun[];
}

function knownOf(campaign: Campaign, environment: Environment, ledgers: Readers, nowMs: number): DueKnown {
  // Recipients of runs of earlier instants are not counted, which would take a scan of the list.
  const sinceMs = firstInstantMs(nowMs, waitsMs(campaign.send, campaign.split.decides, campaign.recipients.each));
  const opened = ledgers.of(campaign.project.ledger);
  if (opened === null) return { runs: [], pause: null, followed: [] };
  const { ledger, campaigns, pauses } = opened;
  const former = formerNameProblem(campaigns, campaign);
  if (former !== null) throw refuse(former);
  const identity = placeOf(campaign, environment);
  const all = ledger.runsOf(identity).filter(({ occurrence }) => !isTest(occurrence));
  const now = all.length === 0 ? [] : [...campaign.inputs, ...settingsInputs(campaign, environment)];
  const kept = now.filter(({ role }) => role === 'campaign' || role === 'settings');
  const isSame = ({ inputs }: RunRecord): boolean =>
    kept.every(({ role, sha256 }) => inputs.some((input) => input.role === role && input.sha256 === sha256));
  const runs = all.map((run) => {
    const { occurrence } = run;
    // A run that follows another began when it was due.
    const instant = campaign.after === null ? instantOf(occurrence) : run.createdAtMs;
    // The ledger no longer knows recipients of a purged run, and a closed run sends nothing more.
    const isOver = run.purgedAtMs !== null || run.closedAtMs !== null;
    const state = isOver ? 'finished' : withFallbacks(ledger, run, campaign, { instant, sinceMs, nowMs });
    return {
      occurrence,
      state,
      halt: run.halt?.rule ?? null,
      createdAtMs: run.createdAtMs,
      startedAtMs: run.startedAtMs,
      ...(state === 'partial' ? waitsOf(ledger, run, campaign, { instant, nowMs, sinceMs }) : NONE_WAITING),
      isSame: isSame(run),
    };
  });
  const followed = followedBy(campaign, environment.identity, ledger, nowMs);
  return { runs, pause: pauseIn(pauses, identity), followed };
}

function followedBy({ after, send, split }: Campaign, environment: string, ledger: Ledger, nowMs: number) {
  if (after === null) return [];
  const oldestMs = firstFollowedMs(nowMs, after.wait.ms, waitsMs(send, split.decides));
  return ledger.runsOf({ environment, campaign: after.id }).flatMap((run) => {
    if (run.startedAtMs === null || run.purgedAtMs !== null || isTest(run.occurrence)) return [];
    // The time of its last message takes a scan of its rows.
    if (run.state === 'finished' && run.finishedAtMs !== null && run.finishedAtMs < oldestMs) return [];
    const lastMs = ledger.lastClaimMs(run);
    if (lastMs === null) return [];
    const { createdAtMs, startedAtMs } = run;
    return [{ occurrence: run.occurrence, createdAtMs, firstMs: startedAtMs, lastMs }];
  });
}

export interface Seen extends SeenSchedule {
  readonly isNew: boolean;
}

/**
 * When a call first saw a schedule that the ledger does not know: the earliest of now, the last change of the campaign's
 * files on this machine (a copy does not keep that time), and the first run with the campaign as it is.
 * @param before - the last schedule that a call saw; null: none
 */
async function scheduleSeen(
  { campaign, path }: Pick<Automatic, 'campaign' | 'path'>,
  before: SeenSchedule | null,
  runs: readonly DueRun[],
  nowMs: number,
  { rehearsal }: Options,
): Promise<Seen> {
  const { root, file } = campaign.project;
  const files = [path, ...(file === null ? [] : [join(root, PROJECT_FILE)])];
  const changed = await Promise.all(
    files.map((one) =>
      stat(one).then(
        ({ ctimeMs }) => ctimeMs,
        () => nowMs,
      ),
    ),
  );
  // A change reaches the machine that sends after now.
  const isChange = rehearsal?.side !== undefined;
  // If a schedule replaced another one and was used before that, earlier runs do not count.
  const ran = before === null ? runs.filter(({ isSame }) => isSame).map(({ createdAtMs }) => createdAtMs) : [];
  const seenMs = Math.floor(Math.min(nowMs, ...(isChange ? [] : [Math.max(...changed)]), ...ran));
  // This call passes over earlier instants, and says so: a later one must not send them.
  const earliestMs = campaign.schedule === null ? seenMs : nowMs - GRACE_MS;
  return { schedule: scheduleName(campaign), seenMs: Math.max(seenMs, earliestMs), isNew: true };
}

/** Another schedule has another name: it is new again. */
function scheduleName({ schedule, after }: Campaign): string {
  return JSON.stringify(schedule === null ? ['after', after?.id] : [whenText(schedule), schedule.timeZone]);
}

/** `fault`: why the ledger does not know. */
type FirstSeen = Seen | { readonly fault: unknown };

/** Records new schedules, in one transaction for each ledger; a dry run only reads. */
async function seeSchedules(
  all: readonly (Scheduled | Following)[],
  ledgers: Readers,
  { environment, lookedMs, options }: Asked,
): Promise<ReadonlyMap<Scheduled | Following, FirstSeen>> {
  const found = new Map<Scheduled | Following, FirstSeen>();
  for (const one of all) {
    const { campaign, ledgerFault } = one;
    try {
      if (ledgerFault !== null) throw refuse(ledgerFault);
      const where = environmentOf(campaign, environment);
      const before = ledgers.of(campaign.project.ledger)?.ledger.scheduleOf(placeOf(campaign, where)) ?? null;
      if (before?.schedule === scheduleName(campaign)) {
        found.set(one, { ...before, isNew: false });
        continue;
      }
      const { runs } = knownOf(campaign, where, ledgers, options.at ?? options.now());
      found.set(one, await scheduleSeen(one, before, runs, Math.min(options.now(), lookedMs), options));
    } catch (fault) {
      found.set(one, { fault });
    }
  }
  const isNew = [...found].flatMap(([one, seen]) => ('fault' in seen || !seen.isNew ? [] : [{ one, seen }]));
  if (options.dryRun === true || isNew.length === 0) return found;
  ledgers.close();
  for (const [path, group] of Map.groupBy(isNew, ({ one }) => one.campaign.project.ledger)) {
    try {
      const isMade = group.some(({ one }) => mustExist(one.campaign.project));
      const isCopy = options.rehearsal !== undefined;
      using ledger = openLedger(path, { mode: 'write', nowMs: options.at ?? options.now(), mustExist: isMade, isCopy });
      ledger.seeSchedules(
        group.map(({ one: { campaign }, seen }) => [placeOf(campaign, environmentOf(campaign, environment)), seen]),
      );
    } catch (fault) {
      for (const { one } of group) found.set(one, { fault });
    }
  }
  return found;
}

function placeOf({ id }: Campaign, { identity }: Environment): CampaignPlace {
  return { environment: identity, campaign: id };
}

/** A finished run is continued if a report says that a message was not delivered, and the campaign has a fallback. */
function withFallbacks(
  ledger: Ledger,
  run: RunRecord,
  campaign: Campaign,
  { instant, sinceMs, nowMs }: { readonly instant: number | null; readonly sinceMs: number; readonly nowMs: number },
): RunState {
  const state = stateOf(ledger, run);
  if (state !== 'finished' || instant === null || instant < sinceMs) return state;
  const { recipients, send } = campaign;
  // All times of a run that ended so long ago have come.
  const lastMs =
    recipients.each === null ? nowMs : (run.finishedAtMs ?? nowMs) + mostBeforeMs(recipients.each, send.window);
  if (lastMs < nowMs) return state;
  return unreachedRows(ledger, run, campaign, nowMs).next().done === true ? state : 'partial';
}

function waitsOf(
  ledger: Ledger,
  run: RunRecord,
  campaign: Campaign,
  { instant, nowMs, sinceMs }: { readonly instant: number | null; readonly nowMs: number; readonly sinceMs: number },
): Pick<DueRun, 'waitsUntilMs' | 'zoneless'> {
  if (instant === null || instant < sinceMs) return NONE_WAITING;
  const counts = ledger.counts(run);
  const untilMs = run.figures?.['opensAtMs'];
  const others = counts.some(
    ({ outcome, reason }) => (outcome === 'pending' && reason !== 'rate-limited') || outcome === 'failed',
  );
  const isKept = areKept(counts);
  const waits =
    (isKept || typeof untilMs === 'number') &&
    !others &&
    !isDecidedEarly(ledger, run, campaign.send.canary, nowMs) &&
    !hasNewFallback(ledger, run, campaign, nowMs);
  const isStuck = waits && isKept && (!counts.some(isUndecided) || isStillUndecided(ledger, run, campaign, nowMs));
  const openMs = waits && typeof untilMs === 'number' ? untilMs : null;
  return {
    waitsUntilMs: isStuck ? lateAt({ campaign }, run.startedAtMs ?? nowMs) : openMs,
    zoneless: counts.reduce((sum, { reason, count }) => sum + (reason === 'zone-unknown' ? count : 0), 0),
  };
}

type Counted = ReturnType<Ledger['counts']>[number];

function isUndecided({ outcome, reason }: Counted): boolean {
  return outcome === 'deferred' && reason === 'winner-undecided';
}

/**
 * All who are left wait for something that no call brings about: for new evidence, where no variant has won, or for a
 * person, where their time zone is not known.
 */
function areKept(counts: readonly Counted[]): boolean {
  const open = counts.filter(({ outcome }) => !FINAL.has(outcome));
  return (
    open.length > 0 &&
    open.every((one) => isUndecided(one) || (one.outcome === 'deferred' && one.reason === 'zone-unknown'))
  );
}

const FINAL: ReadonlySet<string> = new Set(['accepted', 'rejected', 'skipped']);

/** A report of a message that did not arrive came in after the last start, which counted the fallbacks that wait. */
function hasNewFallback(ledger: Ledger, run: RunRecord, campaign: Campaign, nowMs: number): boolean {
  for (const { byReport } of unreachedRows(ledger, run, campaign, nowMs)) {
    const message = byReport?.at(-1);
    const reports = message === undefined ? [] : ledger.events.reportsOf(message);
    if (reports.some(({ receivedAtMs }) => receivedAtMs > (run.lastStartAtMs ?? 0))) return true;
  }
  return false;
}

const NONE_WAITING = { waitsUntilMs: null, zoneless: 0 };

/** The user has to decide, and is notified once. Throws exit 6 when another process holds the run, 7 for the ledger. */
function haltChanged(
  campaign: Campaign,
  environment: string,
  occurrence: string,
  error: HandbillError,
  { nowMs, isCopy }: { readonly nowMs: number; readonly isCopy: boolean },
): void {
  const identity = { environment: environmentOf(campaign, environment).identity, campaign: campaign.id, occurrence };
  using held = lockRun(campaign.project, identity, nowMs, { isCopy });
  const run = held.ledger.findRun(identity);
  if (run === null) return;
  held.ledger.finish(run, { state: 'halted', halt: inputHalt(error), figures: run.figures, nowMs });
}

/** The name of a campaign where a command in this folder finds its file by it; else the file. */
export function calledHere(name: string | null, file: string): string {
  return name !== null && file.startsWith('campaigns/') ? name : file;
}
