import { realpath } from 'node:fs/promises';
import { findCampaigns } from '../campaign/find.ts';
import { type Projects, projectsFrom, readCampaign } from '../campaign/load.ts';
import { type Diagnostic, HandbillError, problem } from '../errors.ts';
import type { Campaign } from '../model.ts';
import { decisions, duplicatesIn } from '../plan/decide.ts';
import { createEstimator, type Estimate } from '../plan/estimate.ts';
import { adviseLength, checkLimits } from '../plan/limits.ts';
import { createPlan } from '../plan/plan.ts';
import { readPriceList } from '../plan/prices.ts';
import { openRules } from '../plan/rules.ts';
import type { SharedLists } from '../plan/suppression.ts';
import { readSuppressions } from '../plan/suppression.ts';
import { createWarner } from '../plan/warnings.ts';
import { countOf, number } from '../report/words.ts';
import type { Meter } from '../util/meter.ts';
import { displayPath } from '../util/paths.ts';
import { approverFaults } from './approver-faults.ts';
import { checkNumbers, type ProjectOptions, type Settled, withDefaults } from './options.ts';

/** How campaigns are checked. */
export interface ValidateOptions extends ProjectOptions {
  /** A list to check instead of that of the campaigns, relative to `cwd`. Default: their own. */
  readonly recipients?: string;
  /** Bad rows are skipped and counted instead of being errors. Default: false. */
  readonly skipInvalid?: boolean;
  /** How many diagnostics of each code are kept; counts are exact anyway. Default: 20. */
  readonly keep?: number;
  /** Called with each diagnostic as it is found, kept or not, and the campaign file that it was found for. */
  readonly onDiagnostic?: (diagnostic: Diagnostic, campaign: string | null) => Promise<void> | void;
}

/** What was found in one campaign file. */
export interface ValidatedFile {
  /** Path as the user would name it. */
  readonly file: string;
  readonly errors: number;
  readonly warnings: number;
  /** What its list comes to; null where it was not read to its end. */
  readonly estimate: Estimate | null;
}

/** What was found in all of them. */
export interface ValidateResult {
  /** No errors. */
  readonly valid: boolean;
  readonly errors: number;
  readonly warnings: number;
  /** In the order in which they were found, at most `keep` of each code. */
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

/** What was found, and how much of it was not kept. */
export interface Validation extends Omit<ValidateResult, 'valid'> {
  /** Errors and warnings, kept or not. */
  readonly total: number;
  /** How many of each code and severity there were, as `error missing-variable`. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Called with how far the list of the current campaign was read. */
export interface Metered {
  readonly meter?: Meter;
}

/** As `validate`. */
export async function checkCampaigns(paths: readonly string[], given: ValidateOptions & Metered): Promise<Validation> {
  checkNumbers(given, { keep: [0, 1e9, 'whole'] });
  const settled = withDefaults(given);
  const cwd = await realpath(settled.cwd);
  const options: Checking = { ...settled, cwd, now: settled.now() };
  let checked: string | null = null;
  const { onDiagnostic } = options;
  const listener = onDiagnostic && ((diagnostic: Diagnostic) => onDiagnostic(diagnostic, checked));
  const collector = createCollector(options.keep ?? 20, listener);
  const found = await findCampaigns(paths, cwd);
  await collector.addOnce(found.diagnostics);
  if (found.files.length === 0 && found.diagnostics.length === 0) {
    const hint = 'Name a campaign file or a folder, or make campaigns/NAME/campaign.yaml.';
    await collector.add(problem('campaign-not-found', 'There is no campaign to check here.', { hint }));
  }
  const shared: Shared = { projects: await projectsFrom(cwd), lists: new Map() };
  const files: ValidatedFile[] = [];
  for (const file of found.files) {
    checked = displayPath(file, cwd);
    const before = { errors: collector.errors + collector.repeated, warnings: collector.warnings };
    const estimate = await checkFile(file, options, collector, shared);
    files.push({
      file: checked,
      errors: collector.errors + collector.repeated - before.errors,
      warnings: collector.warnings - before.warnings,
      estimate,
    });
  }
  const { diagnostics, errors, warnings, counts } = collector;
  return { diagnostics, files, errors, warnings, total: errors + warnings, counts };
}

/** What the campaigns of a project have in common, and is read once. */
interface Shared {
  readonly projects: Projects;
  readonly lists: SharedLists;
}

/** At one instant, in ms since 1970. */
type Checking = Omit<ValidateOptions, 'now'> & Metered & Pick<Settled, 'cwd' | 'env'> & { readonly now: number };

async function checkFile(
  file: string,
  options: Checking,
  collector: Collector,
  shared: Shared,
): Promise<Estimate | null> {
  const { cwd, now, recipients, ledger } = options;
  const known = await shared.projects(file);
  const reading = await readCampaign(file, {
    cwd,
    now,
    ...(recipients === undefined ? {} : { recipients }),
    ...(ledger === undefined ? {} : { ledger }),
    ...known,
  });
  await collector.addOnce(reading.diagnostics);
  if (reading.campaign === null) return null;
  await collector.addOnce(await approverFaults(reading.campaign.project));
  try {
    return await checkList(reading.campaign, options, collector, shared.lists);
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    await collector.addAll(error.diagnostics, error.total);
    return null;
  }
}

/** The whole list through the same decisions that preview shows and send carries out. */
async function checkList(
  campaign: Campaign,
  options: Checking,
  collector: Collector,
  lists: SharedLists,
): Promise<Estimate> {
  const plan = await createPlan(campaign, { environment: 'sandbox', occurrence: 'once' });
  await collector.addOnce(plan.warnings);
  const { prices, diagnostics } = await readPriceList(campaign.project);
  await collector.addOnce(diagnostics);
  const estimator = createEstimator(campaign, prices);
  const warn = createWarner(plan);
  const { suppressions, faults } = await readSuppressions(campaign, options.env, lists);
  await collector.addOnce(faults.diagnostics.map(withoutKey));
  const view = {
    duplicates: duplicatesIn(plan),
    rules: openRules(plan, { suppressions, now: () => options.now }),
    skipInvalid: options.skipInvalid === true || campaign.recipients.onInvalid === 'skip',
    ...(options.meter === undefined ? {} : { meter: options.meter }),
  };
  const stream = decisions(plan, view);
  for await (const batch of stream) {
    for (const decision of batch) {
      estimator.add(decision);
      const wait =
        decision.decision === 'invalid'
          ? collector.add(decision.problem)
          : decision.decision === 'send' || decision.decision === 'skip'
            ? collector.addAll(warn(decision))
            : undefined;
      // A row without anything to say must not cost a promise.
      if (wait !== undefined) await wait;
    }
  }
  await collector.addAll(stream.notes());
  const estimate = estimator.result();
  await collector.addAll([...checkLimits(campaign, estimate, estimator.worst()), ...adviseLength(campaign, estimate)]);
  return estimate;
}

/** The key is needed to send, but not on the machine that validates. */
function withoutKey(found: Diagnostic): Diagnostic {
  return found.code === 'missing-suppression-key' ? { ...found, severity: 'warning' } : found;
}

/** Counts diagnostics, and keeps the first ones of each code: memory stays flat however long a list is. */
interface Collector {
  /** Returns a promise only if the listener wants the caller to wait. */
  add(diagnostic: Diagnostic): Promise<void> | undefined;
  /** `total` counts those, too, that were cut off before they came here; they are errors of the last one's code. */
  addAll(diagnostics: readonly Diagnostic[], total?: number): Promise<void> | undefined;
  /** As `addAll`, without those that were added this way before: a project is read once per campaign. */
  addOnce(diagnostics: readonly Diagnostic[]): Promise<void> | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly errors: number;
  /** Errors that were not added because they had been: whatever they were found in is wrong all the same. */
  readonly repeated: number;
  readonly warnings: number;
  readonly counts: ReadonlyMap<string, number>;
}

function createCollector(
  keep: number,
  onDiagnostic: ((diagnostic: Diagnostic) => Promise<void> | void) | undefined,
): Collector {
  const kept: Diagnostic[] = [];
  const counts = new Map<string, number>();
  const once = new Set<string>();
  let errors = 0;
  let repeated = 0;
  let warnings = 0;

  const count = (diagnostic: Diagnostic, more: number): number => {
    const key = countKey(diagnostic);
    const now = (counts.get(key) ?? 0) + more;
    counts.set(key, now);
    if (diagnostic.severity === 'error') errors += more;
    else warnings += more;
    return now;
  };
  const add = (diagnostic: Diagnostic): Promise<void> | undefined => {
    if (count(diagnostic, 1) <= keep) kept.push(diagnostic);
    return onDiagnostic?.(diagnostic) ?? undefined;
  };
  const addAll = (diagnostics: readonly Diagnostic[], total = diagnostics.length): Promise<void> | undefined => {
    let wait: Promise<void> | undefined;
    for (const diagnostic of diagnostics) {
      // Output keeps its order; only the last promise says when to go on.
      wait = add(diagnostic) ?? wait;
    }
    const last = diagnostics.findLast((one) => one.severity === 'error');
    if (last !== undefined && total > diagnostics.length) count(last, total - diagnostics.length);
    return wait;
  };
  return {
    add,
    addAll,
    addOnce: (diagnostics) => {
      const fresh = diagnostics.filter((diagnostic) => {
        const key = JSON.stringify([diagnostic.code, diagnostic.message, diagnostic.at]);
        if (!once.has(key)) return once.add(key);
        if (diagnostic.severity === 'error') repeated += 1;
        return false;
      });
      return addAll(fresh);
    },
    diagnostics: kept,
    get errors() {
      return errors;
    },
    get repeated() {
      return repeated;
    },
    get warnings() {
      return warnings;
    },
    counts,
  };
}

/** Under which diagnostics are counted together. */
export function countKey(diagnostic: Diagnostic): string {
  return `${diagnostic.severity} ${diagnostic.code}`;
}

/** What a list comes to, in one line: recipients, who is sent to and who is not, parts. */
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
