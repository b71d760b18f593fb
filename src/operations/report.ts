import { join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { ReportRecord, ReportStepRecord } from '../model/result-types.ts';
import {
  type Campaign,
  DELIVERIES,
  type Delivery,
  type EarlierMessage,
  OUTCOMES,
  type Outcome,
  type Project,
  type Report,
  type StepOutcome,
} from '../model.ts';
import { readPriceList } from '../plan/estimate.ts';
import { createReferences } from '../plan/expand.ts';
import { spelled } from '../providers/reference.ts';
import { countFeedback, type Feedback } from '../report/deliveries.ts';
import { END_TABLE, endOf } from '../report/ends.ts';
import { foldDelivery } from '../report/fold-delivery.ts';
import { createFormats } from '../report/locale.ts';
import type { SentAs } from '../report/next-steps.ts';
import { inputsOf, type ReferenceOf, type ReportOptions, stepRecordOf, versionName } from '../report/record.ts';
import { leftOf, paceOf } from '../report/verdict.ts';
import { cameBack, feedbackOf, messageOf, openDeliveries } from '../send/deliveries.ts';
import { summarise } from '../send/summary.ts';
import { given } from '../util/given.ts';
import { nextCommand } from '../util/next-command.ts';
import { isTest } from '../util/occurrence-name.ts';
import { displayPath } from '../util/paths.ts';
import { maskText } from '../util/redact.ts';
import { didYouMean } from '../util/suggest.ts';
import { iso } from '../util/time.ts';
import {
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  present,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import { joinRepliesOf, ledgerHere, projectHere } from './project.ts';

export const OUTCOME_FILTERS = {
  outcomes: {
    flag: '--outcome <name...>',
    says: 'only recipients with these outcomes',
    inHelp: ', in jsonl, csv and html',
    choices: OUTCOMES,
    without: 'all',
  },
  deliveries: {
    flag: '--delivery <words...>',
    says: 'only recipients with this delivery state (none: no report)',
    kind: 'words',
    choices: [...DELIVERIES, 'none'],
    without: 'all',
  },
  ends: {
    flag: '--end <words...>',
    says: 'only recipients with this end, which their outcome and delivery reports give together',
    kind: 'words',
    choices: Object.values(END_TABLE).map(({ option }) => option),
    without: 'all',
  },
  inputs: {
    flag: '--inputs <versions...>',
    says: 'only recipients whose message was made from these versions of the inputs: v1',
    without: 'all',
  },
} as const satisfies OptionTable;

/** Filters of recipients, all of which must match. */
export interface OutcomesOptions extends ProjectOptions, OptionsOf<typeof OUTCOME_FILTERS> {}

export interface StepResult extends Omit<ReportStepRecord, 'delivery'> {
  /** The API's reason for a refusal; text from outside, never trusted. */
  readonly error: string | null;
  /** Null: no report. */
  readonly delivery: Delivery | null;
}

/** The outcome of one row of the list: of its last channel step, where it has several. */
export interface RecipientOutcome
  extends StepResult,
    Pick<ReportRecord, 'line' | 'key' | 'variant' | 'listTo' | 'earlier'> {
  /** Every channel step in order, the last included; absent where there is one only. */
  readonly steps?: readonly StepResult[];
}

/**
 * `handbill report`: the summary of a run, with the delivery reports until now.
 *
 * @param run - id of a run, or name of a campaign for its newest one
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong), 7 (ledger)
 */
export async function report(run: string, options: ProjectOptions = {}): Promise<Report> {
  const resolved = withDefaults(options);
  const reading = await projectWithReplies(resolved);
  using ledger = ledgerHere(reading, resolved);
  const found = findRun(ledger, await nameInLedger(run, ledger, reading));
  const { campaign } = await sentCampaign(found, reading.project, resolved);
  using _ = ledger.hold();
  const came = cameBack(ledger, found, feedbackOf(ledger, found), campaign, resolved.now());
  return summarise(ledger, found, null, campaign, came);
}

/**
 * `handbill report --format jsonl`: what became of every row of a run, in list order. Read from the ledger a thousand
 * at a time, so that memory stays flat; the ledger is closed when the loop ends or is left.
 *
 * @param run - id of a run, or name of a campaign for its newest one
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong, an unknown version), 7 (ledger; also where the list of the
 *   run was replaced meanwhile)
 */
export async function* outcomes(
  run: string,
  options: OutcomesOptions = {},
): AsyncGenerator<RecipientOutcome, void, undefined> {
  const resolved = withDefaults(options);
  const reading = await projectWithReplies(resolved);
  using ledger = ledgerHere(reading, resolved);
  const found = findRun(ledger, await nameInLedger(run, ledger, reading));
  checkInputs(found, options.inputs);
  const referenceOf = referencesOf(found, reading.project);
  for (const batch of rowsOf(ledger, found, present(options), { referenceOf })) {
    for (const outcome of batch) yield toOutcome(outcome, referenceOf);
    // Reading is synchronous: other work of this process runs between two batches.
    await turn();
  }
}

/** Replies are joined to messages before a run is shown. */
async function projectWithReplies(options: ResolvedOptions) {
  const reading = projectHere(options);
  await joinRepliesOf(reading, options);
  return reading;
}

function toOutcome(outcome: Outcome, referenceOf: ReferenceOf): RecipientOutcome {
  const { line, key, variant, steps } = outcome;
  const toStep = (step: StepOutcome) => ({ ...stepRecordOf(step, key, referenceOf), error: step.error });
  const last = { line, key, variant, ...toStep(outcome), ...given(outcome, 'listTo', 'earlier') };
  return steps === undefined ? last : { ...last, steps: steps.map(toStep) };
}

export interface Summary {
  /** As it was sent; null: unknown. */
  readonly campaign: Campaign | null;
  /** As its file is now; null where it cannot be read. */
  readonly now: Campaign | null;
  readonly reportOf: (feedback: Feedback) => Report;
  /** Without causes, delivery reports and replies. */
  readonly plain: () => Report;
  readonly options: ReportOptions;
}

export async function openSummary(
  ledger: Ledger,
  run: RunRecord,
  context: Pick<ResolvedOptions, 'cwd' | 'now'> & {
    readonly colour: { readonly out: boolean };
    readonly width: number;
    readonly tableWidth?: number;
  },
  project: Project,
): Promise<Summary> {
  const { named, campaign, now } = await sentCampaign(run, project, context);
  return {
    campaign,
    now,
    plain() {
      using _ = ledger.hold();
      return summarise(ledger, run, null, campaign);
    },
    reportOf(feedback) {
      using _ = ledger.hold();
      // The run may have changed since the command began.
      const found = ledger.findRun(run) ?? run;
      return summarise(ledger, found, null, campaign, cameBack(ledger, found, feedback, campaign, context.now()));
    },
    options: {
      colour: context.colour.out,
      width: context.tableWidth ?? context.width,
      referenceOf: referencesOf(run, project),
      currency: readPriceList(project).prices?.currency ?? null,
      formats: createFormats(project.locale, project.timeZone),
      campaignFile: await named(),
      ...(takesPlans(run, project) ? { planPath: PLAN_FILE } : {}),
    },
  };
}

/** References to show: people look for them in the log of the provider. Events and the ledger have them unspelled. */
export function referencesOf(run: RunRecord, { environments }: Pick<Project, 'environments'>): ReferenceOf {
  const referenceOf = createReferences(run);
  return ({ key, channel, resend, postedFrom = run.environment }) => {
    if (key === null) return null;
    const reference = referenceOf(key, channel, resend);
    return environments.get(postedFrom)?.provider.alphanumericReference === true ? spelled(reference) : reference;
  };
}

export type RowFilter = OptionsOf<typeof OUTCOME_FILTERS>;

/** As the command line has it; undefined: all recipients are wanted. */
export function filterFlag(filter: RowFilter): string | undefined {
  const found = Object.entries(OUTCOME_FILTERS).find(([name]) => filter[name as keyof RowFilter] !== undefined);
  return found?.[1].flag.split(' ')[0];
}

interface RowUses {
  /** Called at the end with reports that match no recipient, by reason. */
  readonly unmatched?: ReturnType<typeof countFeedback>['addUnmatched'];
  /** For earlier messages. Default: none is shown. */
  readonly referenceOf?: ReferenceOf;
}

/** In list order. */
export function* rowsOf(
  ledger: Ledger,
  run: RunRecord,
  filter: RowFilter,
  { unmatched, referenceOf = () => null }: RowUses = {},
): Generator<readonly Outcome[]> {
  const deliveries = openDeliveries(ledger, run);
  const { outcomes } = filter;
  const isAll = filterFlag(filter) === undefined;
  const withEarlier = earlierJoiner(ledger, run, referenceOf);
  for (const batch of ledger.outcomes(run, outcomes === undefined ? {} : { outcomes })) {
    const rows = withEarlier(deliveries?.join(batch) ?? batch);
    yield isAll ? rows : rows.filter((row) => isChosen(row, filter));
  }
  if (deliveries !== null) unmatched?.(deliveries.unmatched());
}

/** Adds earlier messages, of the few recipients that have any. */
export function earlierJoiner(ledger: Ledger, run: RunRecord, referenceOf: ReferenceOf) {
  let known: ReturnType<Ledger['earlier']> | null = null;
  const stored = createReferences(run);
  const earlierOf = ({ key, resend = 0 }: Outcome): readonly EarlierMessage[] => {
    if (key === null) return [];
    known ??= ledger.earlier(run);
    return (known.get(key) ?? []).slice(0, resend).map((one) => {
      const { channel, to, messageId, httpStatus, sentAtMs, version } = one;
      const claimed = sentAtMs === null ? {} : { claimedAtMs: sentAtMs };
      const message = messageOf(run, stored, key, { ...one, ...claimed });
      const reference = referenceOf({ ...one, key });
      const delivery = foldDelivery(ledger.events.reportsOf(message))?.state ?? null;
      const sentAt = iso(sentAtMs);
      const inputs = version === null ? null : versionName(version);
      return { channel, to, reference, messageId, httpStatus, inputs, delivery, sentAt };
    });
  };
  const before = ledger.versionsBefore(run);
  return (batch: readonly Outcome[]) => {
    if (before.size === 0 && !batch.some(({ resend }) => resend !== undefined)) return batch;
    return batch.map((one) => {
      const versionsBefore = before.get(one.key ?? '');
      return {
        ...one,
        ...(one.resend === undefined ? {} : { earlier: earlierOf(one) }),
        ...(versionsBefore === undefined ? {} : { versionsBefore }),
      };
    });
  };
}

/** All recipients with their delivery reports and replies, counted as they are read. */
export function countedRows(
  ledger: Ledger,
  run: RunRecord,
  referenceOf: ReferenceOf,
): { readonly rows: Iterable<readonly Outcome[]>; readonly counts: () => Feedback } {
  const counts = countFeedback();
  function* rows(): Generator<readonly Outcome[]> {
    for (const batch of rowsOf(ledger, run, {}, { unmatched: counts.addUnmatched, referenceOf })) {
      for (const outcome of batch) counts.add(outcome);
      yield batch;
    }
  }
  return { rows: rows(), counts: counts.all };
}

export function isChosen(row: Outcome, { outcomes, deliveries, ends, inputs }: RowFilter): boolean {
  return (
    outcomes?.includes(row.outcome) !== false &&
    deliveries?.includes(row.delivery ?? 'none') !== false &&
    ends?.includes(END_TABLE[endOf(row)].option) !== false &&
    (inputs === undefined || inputsOf(row).some((version) => inputs.includes(version)))
  );
}

/** An empty list would look as if this version reached no recipient: throws exit 2. */
export function checkInputs({ id, versions }: RunRecord, wanted: readonly string[] = []): void {
  const known = versions.map((_, i) => versionName(i + 1));
  const unknown = wanted.find((version) => !known.includes(version));
  if (unknown === undefined) return;
  const message = `The run ${id} has no version "${maskText(unknown)}" of its inputs.`;
  throw refuse(problem('usage', message, { hint: `It has ${known.join(', ')}.` }));
}

/** By id, or the newest of a campaign or of all; only an id names a test. Throws exit 2 (`run-not-found`). */
export function findRun(ledger: Ledger, named: string | null): RunRecord {
  const found = meantBy(named, named === null ? ledger.runs() : ledger.runById(named))[0];
  if (found !== undefined) return found;
  if (named === null) {
    const hint = ledger.runs().length > 0 ? ONLY_TESTS : undefined;
    throw refuse(problem('run-not-found', 'The ledger holds no run yet.', { hint }));
  }
  if (ledger.runById(named).length > 0) {
    throw refuse(problem('run-not-found', `The ledger holds no run of ${named} but tests.`, { hint: ONLY_TESTS }));
  }
  const known = newestFirst(ledger.runs()).flatMap((run) => [run.name, run.id]);
  const hint = didYouMean(named, known).hint ?? `${nextCommand('runs')} lists them.`;
  const message = `The ledger holds no run "${maskText(named)}", nor one of a campaign of that name.`;
  throw refuse(problem('run-not-found', message, { hint }));
}

/**
 * The name under which the ledger has the runs of a campaign: an earlier one, until it is sent under the new one.
 *
 * @param named - id of a run or name of a campaign; null: none was named
 */
export async function nameInLedger(
  named: string | null,
  ledger: Ledger,
  // As in campaign/place.ts, whose declarations need the types of Node, which users of this package may not have.
  { place }: { readonly place: { readonly root: string; readonly file: string | null; readonly isMarked: boolean } },
): Promise<string | null> {
  if (named === null) return null;
  const { campaignNames } = await import('../campaign/find.ts');
  const all = campaignNames(place, join(place.root, 'campaign.yaml'));
  const own = all.find(({ name }) => name === named);
  return ledger.campaigns().find(({ id }) => id === own?.id)?.name ?? named;
}

/** As JSON has it. */
export function nameOfRun({ id, name, environment, occurrence }: RunRecord) {
  return { run: id, campaign: name, environment, occurrence };
}

const ONLY_TESTS = 'A test is shown by its id, which `handbill runs` lists.';

export function meantBy(named: string | null, runs: readonly RunRecord[]): readonly RunRecord[] {
  const byId = runs.filter(({ id }) => id === named);
  return newestFirst(byId.length > 0 ? byId : withoutTests(runs));
}

export function withoutTests(runs: readonly RunRecord[]): readonly RunRecord[] {
  return runs.filter(({ occurrence }) => !isTest(occurrence));
}

export function newestFirst(runs: readonly RunRecord[]): readonly RunRecord[] {
  const at = (run: RunRecord) => run.lastStartAtMs ?? run.createdAtMs;
  return runs.toSorted((a, b) => at(b) - at(a) || b.number - a.number);
}

/** The commit whose runs are listed. */
export interface ListRunsOptions extends ProjectOptions {
  /** Only runs with a start from this commit: 4 or more digits of its hash. Default: all runs. */
  readonly commit?: string;
}

/**
 * `handbill runs`: the summaries of all runs in the ledger, the one started last first; none where nothing was ever sent.
 *
 * @throws HandbillError exit 2 (a project file that is wrong), 7 (ledger)
 */
export async function listRuns(options: ListRunsOptions = {}): Promise<readonly Report[]> {
  const resolved = withDefaults(options);
  const { project } = projectHere(resolved);
  using ledger = openExistingLedger(project.ledger, { nowMs: resolved.now() });
  return ledger === null ? [] : summaries(ledger, options.commit);
}

/** `commit`: only runs with a start from a commit whose hash begins so. Throws exit 2 if no hash can begin so. */
export function summaries(ledger: Ledger, commit?: string): readonly Report[] {
  const prefix = commit?.toLowerCase() ?? '';
  if (commit !== undefined && !/^[0-9a-f]{4,64}$/.test(prefix)) {
    const hint = 'Write 4 or more digits of the hash, as `git log --oneline` shows them.';
    throw refuse(problem('usage', `"${commit}" is not the hash of a commit.`, { hint }));
  }
  const isMeant = ({ commits }: RunRecord): boolean =>
    commit === undefined || commits.some((one) => one.commit.startsWith(prefix));
  using _ = ledger.hold();
  return newestFirst(ledger.runs())
    .filter(isMeant)
    .map((run) => summarise(ledger, run));
}

/** When runs in progress will be done at the pace of their last minute, by id, in ms since 1970. */
export function expectedEnds(ledger: Ledger, reports: readonly Report[], nowMs: number): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const report of reports.filter(({ state }) => state === 'running')) {
    const [run] = ledger.runById(report.run);
    if (run === undefined) continue;
    const pace = paceOf(ledger.triedSince(run, nowMs - 60_000), run.lastStartAtMs, nowMs);
    const leftMs = leftOf(report, pace);
    if (leftMs !== null) ends.set(report.run, nowMs + leftMs);
  }
  return ends;
}

/** The campaign of a run, read from its file as that is now; null: the run names none. */
export async function readSent(
  run: RunRecord,
  root: string,
  options: {
    readonly cwd: string;
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly recipients?: string;
    readonly withoutList?: boolean;
  },
) {
  const input = run.inputs.find(({ role }) => role === 'campaign');
  if (input === undefined) return null;
  const path = join(root, input.file);
  // Most callers of this module need no campaign.
  const { readCampaign } = await import('../campaign/load.ts');
  const { campaign, diagnostics } = await readCampaign(path, options);
  return { campaign, diagnostics, input, path };
}

/**
 * `named`: as a command takes it, by its name where that means this file, else by its path. `now`: as the file is now;
 * null where it cannot be read. `campaign`: null where it has changed, too.
 * @param cwd the current folder, which messages are relative to
 */
export async function sentCampaign(
  run: RunRecord,
  { root }: Pick<Project, 'root'>,
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>> },
) {
  const read = await readSent(run, root, { cwd, env });
  if (read === null) return { named: async () => run.name, campaign: null, now: null };
  const { campaign: now, input, path } = read;
  const isSame = now?.inputs.some(({ role, sha256 }) => role === 'campaign' && sha256 === input.sha256) === true;
  // A test has neither the variants nor the fallbacks of its campaign.
  const named = async (): Promise<SentAs> => {
    const { findCampaign } = await import('../campaign/find.ts');
    const found = findCampaign(run.name, cwd);
    const campaign = 'path' in found && found.named === path ? run.name : displayPath(path, cwd);
    const { given } = run.inputs.find(({ role }) => role === 'recipients') ?? {};
    if (given === undefined) return campaign;
    return { campaign, recipients: given === '-' ? given : displayPath(resolve(root, given), cwd) };
  };
  return { named, campaign: isSame && !isTest(run.occurrence) ? now : null, now };
}

/** For a run that is sent by a plan, only the user knows the name of the plan file. */
export const PLAN_FILE = 'FILE';

export function takesPlans({ environment }: Pick<RunRecord, 'environment'>, project: Project): boolean {
  return (project.environments.get(environment)?.approval ?? null) !== null;
}
