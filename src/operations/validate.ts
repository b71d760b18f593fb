import { realpath } from 'node:fs/promises';
import { approverFaults } from '../approval/approver-faults.ts';
import { findCampaigns, peek } from '../campaign/find.ts';
import { loadCampaign as load, type Projects, projectsFrom, readCampaign } from '../campaign/load.ts';
import { type Diagnostic, HandbillError, problem, refuse, SUMMARY_CODE, warning } from '../errors.ts';
import { quietLedger } from '../ledger/quiet.ts';
import type { Campaign, ListSpec } from '../model.ts';
import { budgetState, checkBudget } from '../plan/budget.ts';
import { formerNameProblem } from '../plan/campaign-id.ts';
import { createCellCheck } from '../plan/cell-check.ts';
import { decisions, duplicatesIn, skipsInvalid } from '../plan/decide.ts';
import { createEstimator, type Estimate, readPriceList, sumOf } from '../plan/estimate.ts';
import { fenceNotes } from '../plan/fence.ts';
import { adviseEstimate, checkLimits } from '../plan/limits.ts';
import { openListGuard } from '../plan/list-guard.ts';
import { createPlan } from '../plan/plan.ts';
import { checkTargets, pastValidity } from '../plan/provider-check.ts';
import { openRules } from '../plan/skip-rules.ts';
import { readSuppressions, type SharedLists } from '../plan/suppression.ts';
import { createComparisonCheck, createWarner } from '../plan/warnings.ts';
import { openList } from '../recipients/read.ts';
import { pauseText } from '../report/pause-words.ts';
import { countOf, number } from '../report/words.ts';
import { clockOf, followUpText } from '../schedule/occurrence.ts';
import { nextWords } from '../schedule/words.ts';
import type { Meter } from '../util/long-work.ts';
import { displayPath } from '../util/paths.ts';
import { maskText } from '../util/redact.ts';
import {
  allowOption,
  checkAllow,
  INSTANT,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  present,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';

export const VALIDATE = {
  recipients: {
    flag: '--recipients <file>',
    says: 'check this list instead of that of the campaign; name one campaign with it',
    inHelp: '; - is standard input',
    more: 'A path is relative to `cwd`.',
    without: 'its own',
  },
  at: {
    flag: '--at <instant>',
    says: 'as if it were then',
    inHelp: ', for example 2026-12-01T09:00:00Z or +1d',
    more: 'In ms since 1970. The age of a list always follows from the clock.',
    without: 'now',
    kind: 'instant',
    range: INSTANT,
  },
  allow: allowOption(['invalid-rows']),
  keep: {
    says: 'how many diagnostics of each code are kept; counts are exact anyway',
    without: '20',
    range: [0, 1e9, 'whole'],
  },
} as const satisfies OptionTable;

/** The campaigns that are checked, and how many diagnostics are kept. */
export interface ValidateOptions extends ProjectOptions, OptionsOf<typeof VALIDATE> {
  /** Called with each diagnostic as it is found, kept or not, and the campaign file that it was found for. */
  readonly onDiagnostic?: (diagnostic: Diagnostic, campaign: string | null) => Promise<void> | void;
}

export interface ValidatedFile {
  readonly file: string;
  /** Null where the file does not say it in a form that can be read. */
  readonly name: string | null;
  readonly errors: number;
  readonly warnings: number;
  /** When it goes out by itself, in words; null: by hand, or it cannot be read. */
  readonly schedule: string | null;
  /** Null where the list was not read to its end. */
  readonly estimate: Estimate | null;
  /** The sample that was read because the list is not there; null: the list was read. */
  readonly sample: string | null;
}

export interface ValidateResult {
  readonly valid: boolean;
  readonly errors: number;
  readonly warnings: number;
  /** In order of discovery, at most `keep` of each code. */
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly ValidatedFile[];
}

/**
 * `handbill validate`: checks campaigns, every template against every row. Opens no connection and writes nothing.
 * Errors are returned as diagnostics; nothing is thrown for them.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 */
export async function validate(paths: readonly string[] = [], options: ValidateOptions = {}): Promise<ValidateResult> {
  const { diagnostics, files, errors, warnings } = await checkCampaigns(paths, options);
  return { valid: errors === 0, errors, warnings, diagnostics, files };
}

export interface Validation extends Omit<ValidateResult, 'valid'> {
  /** Errors and warnings, kept or not. */
  readonly total: number;
  /** By code and severity, as `error missing-variable`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Pauses in force, and fences of environments: no faults, but they keep messages from going out. */
  readonly notes: readonly string[];
}

/** Called with how far the list of the current campaign was read. */
export interface Metered {
  readonly meter?: Meter | undefined;
  /** Copy of standard input, where `recipients` is `-`. */
  readonly pipedList?: string;
}

export async function checkCampaigns(paths: readonly string[], given: ValidateOptions & Metered): Promise<Validation> {
  checkAllow(given, ['invalid-rows']);
  const resolved = withDefaults(given, VALIDATE);
  const cwd = await realpath(resolved.cwd);
  const now = resolved.now();
  const options: Checking = { ...resolved, cwd, now, at: resolved.at ?? now };
  let checked: string | null = null;
  const { onDiagnostic } = options;
  const listener = onDiagnostic && ((diagnostic: Diagnostic) => onDiagnostic(diagnostic, checked));
  const collector = new Collector(options.keep ?? 20, listener);
  const found = findCampaigns(paths, cwd);
  await collector.addOnce(found.diagnostics);
  if (found.files.length === 0 && found.diagnostics.length === 0) {
    const hint = 'Name a campaign file or a folder, or make campaigns/NAME/campaign.yaml.';
    await collector.add(problem('campaign-not-found', 'There is no campaign to check here.', { hint }));
  }
  if (options.recipients !== undefined && found.files.length > 1) {
    const message = `--recipients replaces the list of one campaign, and ${found.files.length} are checked here.`;
    throw refuse(problem('usage', message, { hint: 'Name the campaign that the list belongs to.' }));
  }
  const shared: Shared = {
    projects: projectsFrom(cwd),
    lists: new Map(),
    notes: new Set(),
    sampled: found.files.length > 1 ? [] : null,
  };
  const files: ValidatedFile[] = [];
  for (const file of found.files) {
    checked = displayPath(file, cwd);
    const before = { errors: collector.errors + collector.repeated, warnings: collector.warnings };
    const { estimate, sample, schedule = null } = await checkFile(file, options, collector, shared);
    files.push({
      file: checked,
      name: peek(file)?.name ?? null,
      errors: collector.errors + collector.repeated - before.errors,
      warnings: collector.warnings - before.warnings,
      schedule,
      estimate,
      sample,
    });
  }
  checked = null;
  const [sampled, ...others] = shared.sampled ?? [];
  if (sampled !== undefined) {
    const message = `${number(others.length + 1)} lists are not there: their samples are read in their place.`;
    await collector.add(others.length === 0 ? sampled : { ...sampled, message });
  }
  const { diagnostics, errors, warnings, counts } = collector;
  return { diagnostics, files, errors, warnings, total: errors + warnings, counts, notes: [...shared.notes] };
}

interface Shared {
  /** Warnings about lists that were read from their samples; null for a single campaign. */
  readonly sampled: Diagnostic[] | null;
  readonly projects: Projects;
  readonly lists: SharedLists;
  /** Each once, however many campaigns it is about. */
  readonly notes: Set<string>;
}

/** `at` is the instant that the check assumes. In ms since 1970. */
type Checking = Omit<ValidateOptions, 'now' | 'at'> &
  Metered &
  Pick<ResolvedOptions, 'cwd' | 'env'> & { readonly now: number; readonly at: number };

async function checkFile(file: string, options: Checking, collector: Collector, shared: Shared) {
  const { cwd, recipients, pipedList, ledger } = options;
  const reading = await readCampaign(file, {
    cwd,
    env: options.env,
    withoutList: true,
    withSample: true,
    ...present({ recipients, pipedList }),
    ledger,
    ...(await shared.projects(file)),
  });
  await collector.addOnce(reading.diagnostics);
  if (reading.campaign === null) return { estimate: null, sample: null };
  await collector.addOnce(pastValidity(reading.campaign, options.at));
  await collector.addOnce(await approverFaults(reading.campaign.project));
  const { notes, former } = await ledgerSays(reading.campaign, options.now);
  for (const note of notes) shared.notes.add(note);
  await collector.addAll(former);
  const { recipients: list } = reading.campaign;
  const sample = list.sampled === undefined ? null : list.file;
  const { schedule: written, after, send } = reading.campaign;
  const next = written === null ? null : (await clockOf(written)).next(options.at);
  const coming = next === null || next > (send.notAfterMs ?? next) ? null : next;
  const schedule = written === null ? followUpText(after) : nextWords(written, coming, options.at);
  if (list.sampled === undefined) await collector.addAll(await sampleFaults(list));
  else if (shared.sampled === null) await collector.add(list.sampled);
  else shared.sampled.push(list.sampled);
  try {
    return { estimate: await checkList(reading.campaign, options, collector, shared.lists), sample, schedule };
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    await collector.addAll(error.diagnostics, error.total);
    return { estimate: null, sample, schedule };
  }
}

/** Where list and sample are both there: they must have the same columns. */
async function sampleFaults(list: ListSpec): Promise<readonly Diagnostic[]> {
  const { sample, missing, ...spec } = list;
  if (sample === undefined || missing !== undefined) return [];
  try {
    const [own, committed] = [await headerOf(spec), await headerOf({ ...spec, ...sample })];
    const lacks = own.columns.filter((name) => !committed.columns.includes(name));
    const more = committed.columns.filter((name) => !own.columns.includes(name));
    if (lacks.length + more.length === 0) return [];
    const said = [
      ...(lacks.length === 0 ? [] : [`lacks ${columnsText(lacks)} of the list`]),
      ...(more.length === 0 ? [] : [`has ${columnsText(more)}, which the list has not`]),
    ];
    const at = { file: sample.file, line: committed.line };
    const hint = 'Where the list is not there, templates are checked against the columns of the sample.';
    return [warning('sample-differs', `The sample ${said.join(' and ')}.`, { at, hint })];
  } catch (error) {
    // Reading the list reports its own errors; this reports those of its sample.
    if (!(error instanceof HandbillError)) throw error;
    return error.diagnostics.filter(({ at }) => at?.file === sample.file);
  }
}

async function headerOf(spec: ListSpec): Promise<{ readonly columns: readonly string[]; readonly line: number }> {
  const { columns, headerLine, close } = await openList(spec);
  await close();
  return { columns, line: headerLine };
}

/** Masked: the first row of a list without a header is a recipient. */
function columnsText(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => `"${maskText(name)}"`);
  const more = names.length > shown.length ? ` and ${number(names.length - shown.length)} more` : '';
  return `${names.length === 1 ? 'the column' : 'the columns'} ${shown.join(', ')}${more}`;
}

/** The whole list through the same decisions that preview shows and send carries out. */
async function checkList(campaign: Campaign, options: Checking, collector: Collector, lists: SharedLists) {
  const { usual, diagnostics: unsendable } = checkTargets(campaign, options.env['HANDBILL_ENV'], options.at);
  await collector.addOnce(unsendable);
  const own = { environment: 'sandbox', occurrence: 'once', provider: usual?.provider };
  const plan = await createPlan(campaign, { ...own, nowMs: options.at });
  await collector.addOnce(plan.warnings);
  const { prices, diagnostics } = readPriceList(campaign.project);
  await collector.addOnce(diagnostics);
  const estimator = createEstimator(campaign, prices);
  const warn = await createWarner(plan);
  const comparisons = createComparisonCheck(plan);
  const cells = createCellCheck(plan);
  const { suppressions, faults } = await readSuppressions(campaign, options.env, lists);
  // The key is needed to send, but not on the machine that validates.
  const found = faults.diagnostics.map((one): Diagnostic => {
    return one.code === 'missing-suppression-key' ? { ...one, severity: 'warning' } : one;
  });
  await collector.addOnce([...found, ...suppressions.warnings]);
  const view = {
    duplicates: duplicatesIn(plan),
    rules: openRules(plan, { suppressions, now: () => options.at }),
    skipsInvalid: skipsInvalid(campaign, options.allow ?? []),
    meter: options.meter,
  };
  const stream = decisions(plan, view);
  for await (const batch of stream) {
    for (const decision of batch) {
      estimator.add(decision);
      comparisons.add(decision);
      cells.add(decision);
      const wait =
        decision.decision === 'invalid'
          ? collector.add(decision.problem)
          : decision.decision === 'done'
            ? undefined
            : collector.addAll(warn(decision));
      // A row without anything to say must not cost a promise.
      if (wait !== undefined) await wait;
    }
  }
  await collector.addAll([...stream.notes(), ...cells.warnings(), ...comparisons.unmet()]);
  const estimate = estimator.result();
  // Without an environment, there is no earlier run to compare with.
  const identity = { environment: '', campaign: campaign.id, occurrence: plan.occurrence };
  await collector.addAll(openListGuard(campaign, null, identity, { nowMs: options.now }).judge(stream.facts()));
  const worst = estimator.worst();
  await collector.addAll([...checkLimits(campaign, estimate, worst), ...adviseEstimate(campaign, estimate)]);
  const ownMicros = sumOf([...worst.later].filter(([ms]) => ms < options.at));
  // Ignores what a budget has spent, and rows whose time has come: a campaign above the whole of it fits into no period.
  for (const environment of campaign.project.environments.values()) {
    const state = budgetState({ environment, campaign }, prices, options.at);
    await collector.addAll(checkBudget(campaign, estimate, worst, state && { ...state, ownMicros }));
  }
  return estimate;
}

/** Pauses, fences, and an earlier id of the campaign. */
async function ledgerSays(campaign: Campaign, nowMs: number) {
  using ledger = campaign.recipients.sampled === undefined ? await quietLedger(campaign.project.ledger, nowMs) : null;
  const pauses = (ledger?.pauses() ?? []).filter(({ id }) => id === null || id === campaign.id);
  const former = formerNameProblem(ledger?.campaigns() ?? [], campaign);
  const notes = [...pauses.map((pause) => pauseText(pause)), ...(await fenceNotes(campaign.project))];
  return { notes, former: former === null ? [] : [former] };
}

/** Counts diagnostics, and keeps the first ones of each code: memory stays flat however long a list is. */
class Collector {
  readonly diagnostics: Diagnostic[] = [];
  readonly counts = new Map<string, number>();
  errors = 0;
  /** Errors that `addOnce` had added before: they count for each campaign. */
  repeated = 0;
  warnings = 0;
  readonly #once = new Set<string>();
  readonly #keep: number;
  readonly #onDiagnostic: ((diagnostic: Diagnostic) => Promise<void> | void) | undefined;

  constructor(keep: number, onDiagnostic: ((diagnostic: Diagnostic) => Promise<void> | void) | undefined) {
    this.#keep = keep;
    this.#onDiagnostic = onDiagnostic;
  }

  /** Returns a promise only if the listener wants the caller to wait. */
  add(diagnostic: Diagnostic): Promise<void> | undefined {
    if (this.#count(diagnostic, diagnostic.code === SUMMARY_CODE ? 0 : 1) <= this.#keep)
      this.diagnostics.push(diagnostic);
    return this.#onDiagnostic?.(diagnostic) ?? undefined;
  }

  /** `total` counts those, too, that were cut off before they came here; they are errors of the last one's code. */
  addAll(diagnostics: readonly Diagnostic[], total = diagnostics.length): Promise<void> | undefined {
    let wait: Promise<void> | undefined;
    // Output keeps its order; only the last promise says when to go on.
    for (const diagnostic of diagnostics) wait = this.add(diagnostic) ?? wait;
    const named = diagnostics.filter(({ code }) => code !== SUMMARY_CODE);
    const last = named.findLast((one) => one.severity === 'error');
    if (last !== undefined && total > named.length) this.#count(last, total - named.length);
    return wait;
  }

  /** As `addAll`, without those that were added this way before: a project is read once per campaign. */
  addOnce(diagnostics: readonly Diagnostic[]): Promise<void> | undefined {
    const fresh = diagnostics.filter((diagnostic) => {
      const key = JSON.stringify([diagnostic.code, diagnostic.message, diagnostic.at]);
      if (!this.#once.has(key)) return this.#once.add(key);
      if (diagnostic.severity === 'error') this.repeated += 1;
      return false;
    });
    return this.addAll(fresh);
  }

  #count(diagnostic: Diagnostic, more: number): number {
    const key = countKey(diagnostic);
    const now = (this.counts.get(key) ?? 0) + more;
    this.counts.set(key, now);
    this[diagnostic.severity === 'error' ? 'errors' : 'warnings'] += more;
    return now;
  }
}

export function countKey(diagnostic: Diagnostic): string {
  return `${diagnostic.severity} ${diagnostic.code}`;
}

/** `1,200 recipients, 1,100 to send, 100 skipped (duplicate)`, with parts of SMS. */
export function figuresOf({ rows, send, skipped, deferred, invalid, parts, encodings }: Estimate): string {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${number(count)} ${reason}`);
  const deferredRows = Object.values(deferred).reduce((sum, count) => sum + count, 0);
  const skippedRows = Object.values(skipped).reduce((sum, count) => sum + count, 0);
  const texts = [countOf(rows, 'recipient'), `${number(send)} to send`];
  if (deferredRows > 0) texts.push(`${number(deferredRows)} deferred`);
  if (skippedRows > 0) texts.push(`${number(skippedRows)} skipped (${reasons.join(', ')})`);
  if (invalid > 0) texts.push(`${number(invalid)} invalid`);
  // Only an SMS has parts.
  if (Object.keys(encodings).length > 0) texts.push(countOf(parts, 'part'));
  return texts.join(', ');
}

/** The list that is read with a campaign. */
export interface LoadOptions extends ProjectOptions {
  /** A list to take instead of the campaign's, relative to `cwd`; it may lie outside of the project. Default: its own. */
  readonly recipients?: string;
}

/**
 * Reads a campaign with its project, templates and content, and checks everything but the rows of its list.
 *
 * @param target - a campaign file, its folder, or its name
 * @throws HandbillError exit 2 with everything that is wrong, each with file, line and column
 */
export async function loadCampaign(target: string, options: LoadOptions = {}): Promise<Campaign> {
  const { cwd, env, ledger, recipients } = withDefaults(options);
  const { campaign } = await load(target, { cwd, env, ...present({ recipients, ledger }) });
  if (campaign.recipients.missing !== undefined) throw refuse(campaign.recipients.missing);
  return campaign;
}
