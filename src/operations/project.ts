import { onlyEnvironment } from '../campaign/environments.ts';
import type { ReadOptions } from '../campaign/load.ts';
import { findProject } from '../campaign/place.ts';
import { type ProjectReading, readProject } from '../campaign/project.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Joined, Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import { paced } from '../ledger/paced.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Allowable, Campaign, Channel, EventMapping, StopEnds } from '../model.ts';
import { formerNameProblem } from '../plan/campaign-id.ts';
import { createReferences } from '../plan/expand.ts';
import { sentBefore } from '../plan/follow-up.ts';
import { createPlan, environmentOf } from '../plan/plan.ts';
import { unspelled } from '../providers/reference.ts';
import { createReportedAddressReader } from '../recipients/address.ts';
import { isRelative } from '../recipients/query.ts';
import { occurrenceFor } from '../schedule/occurrence.ts';
import { listedForm } from '../util/address-form.ts';
import { safeLine } from '../util/escape.ts';
import { given } from '../util/given.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { trimEnds } from '../util/trim.ts';
import { createInterpreter, type Interpreter } from '../webhook/interpret.ts';
import { meaningOf } from '../webhook/meaning.ts';
import { type ResolvedOptions, resolveOptions } from './options.ts';

/** @throws HandbillError (exit status 2) with everything that is wrong with its handbill.yaml, and its ledger */
export function projectHere(options: Pick<ResolvedOptions, 'cwd' | 'env' | 'ledger'>) {
  const { cwd, ledger } = resolveOptions(options);
  const reading = readProject(findProject(cwd), { cwd, ledger });
  const { diagnostics, ledgerFault } = reading;
  const errors = [...diagnostics.filter((one) => one.severity === 'error'), ...(ledgerFault ? [ledgerFault] : [])];
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  return reading;
}

/** For commands whose result does not name the ledger that they wrote to. */
export async function sayLedger(
  context: Pick<ResolvedOptions, 'cwd' | 'env'> & { readonly err: (text: string) => void },
  ledger: string | undefined,
) {
  const { project } = projectHere({ ...context, ledger });
  context.err(`Ledger: ${safeLine(placeOfLedger(project.ledger, context.cwd))}\n`);
}

/** Opens it to read. Throws `run-not-found` (exit 2) where nothing was ever sent, and as `openExistingLedger`. */
export function ledgerHere({ project }: ProjectReading, context: Pick<ResolvedOptions, 'cwd' | 'now'>): Ledger {
  const ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  if (ledger !== null) return ledger;
  const place = placeOfLedger(project.ledger, context.cwd);
  const hint =
    'Send a campaign with `handbill send`, go to the folder of its project, or name the ledger with --ledger.';
  const message = `Nothing was sent from this project yet: there is no ledger at ${place}.`;
  throw refuse(problem('run-not-found', message, { hint }));
}

/** Opens the ledger of the project as `ledgerHere`, and closes it afterwards. */
export async function withLedger<T>(
  options: ResolvedOptions,
  use: (ledger: Ledger, reading: ProjectReading) => Promise<T>,
): Promise<T> {
  const reading = projectHere(options);
  using ledger = ledgerHere(reading, options);
  return await use(ledger, reading);
}

/** Options of operations for a command; `ledger` is the value of `--ledger`. */
export function optionsHere({ cwd, env, now }: ResolvedOptions, ledger: string | undefined): ResolvedOptions {
  return resolveOptions({ cwd, env, now, ledger });
}

/**
 * Needs a ledger open for writing, and lets other processes in between two steps. `stopped` ends it between two steps,
 * and the next call continues from there.
 */
export async function joinReplies(
  ledger: { readonly events: Pick<Ledger['events'], 'joinReplies'> },
  facts: {
    readonly now: () => number;
    readonly startLifts: boolean;
    readonly stopEnds: StopEnds;
    readonly stopped?: () => boolean;
  },
): Promise<Joined> {
  const suppressed: string[] = [];
  let joined = 0;
  const steps = ledger.events.joinReplies({ ...facts, referencesOf: createReferences });
  while (facts.stopped?.() !== true) {
    const step = await paced(() => steps.next());
    if (step.done === true) break;
    joined += step.value.joined;
    suppressed.push(...step.value.suppressed);
  }
  return { joined, suppressed };
}

/**
 * Joins replies before a ledger is shown, if any have come in. Returns why it failed: the output is still true, but may
 * not have the campaign of a reply. Throws exit 7 if the ledger cannot be read.
 */
export async function joinRepliesOf(
  { project }: Pick<ProjectReading, 'project'>,
  { now }: Pick<ResolvedOptions, 'now'>,
): Promise<{ readonly problem: string | null }> {
  const read = openExistingLedger(project.ledger, { nowMs: now() });
  const isDue = read?.events.hasUnjoined() === true;
  read?.close();
  if (!isDue) return { problem: null };
  try {
    using ledger = openLedger(project.ledger, { mode: 'write', nowMs: now() });
    await joinReplies(ledger, { now, ...project.webhook.replies });
  } catch (error) {
    if (error instanceof LedgerError && PASSING.has(error.kind)) return { problem: error.message };
    // Reading needs no correct clock; a later call joins the replies.
    const isClock = error instanceof HandbillError && error.diagnostics.some(({ code }) => code === 'clock');
    if (isClock) return { problem: error.message };
    throw error;
  }
  return { problem: null };
}

/** Another process holds the ledger, the disk is full, or the ledger is read-only. */
const PASSING: ReadonlySet<string> = new Set(['busy', 'full', 'readonly']);

interface PlanTarget extends ResolvedOptions, Pick<ReadOptions, 'recipients' | 'pipedList' | 'allow'> {
  readonly environment?: string;
  readonly occurrence?: string;
}

interface PlanReading extends Pick<ReadOptions, 'sends' | 'withSample'> {
  readonly nowMs: number;
  /** For commands that send nothing: the ledger is only read, and see `occurrenceFor`. */
  readonly toShow?: boolean;
  /** With `toShow`, still the occurrence that `send` would choose. */
  readonly asSend?: boolean;
}

/** From the name of a campaign to its plan. Throws exit 2 with everything that is wrong in its files, 7 for the ledger. */
export async function planOf(target: string, options: PlanTarget, how: PlanReading) {
  const { cwd, env, environment = 'sandbox', allow = [] } = options;
  const { nowMs } = how;
  const { loadCampaign } = await import('../campaign/load.ts');
  const { campaign, warnings } = await loadCampaign(target, {
    cwd,
    env,
    allow,
    ...given(options, 'recipients', 'pipedList', 'ledger'),
    ...given(how, 'sends', 'withSample'),
  });
  const named = options.occurrence;
  const meant = await meantOccurrence(campaign, { ...how, environment, named, allow });
  const plan = await createPlan(campaign, { environment, nowMs, ...meant });
  return { plan, nameWarnings: meant.warnings, warnings: [...warnings, ...meant.warnings, ...plan.warnings] };
}

/**
 * The occurrence that a command is about, with warnings about its name. Opens the ledger to find earlier names, and
 * closes it again: a process may open it only once at a time. `once` needs no ledger, unless its list depends on the
 * day on which the run began. Throws exit 2 for a name that cannot be read and for another id in the ledger, 7 for the
 * ledger.
 */
async function meantOccurrence(
  campaign: Campaign,
  {
    environment,
    named,
    nowMs,
    allow,
    toShow = false,
    asSend = false,
  }: PlanReading & {
    readonly environment: string;
    readonly named: string | undefined;
    readonly allow: readonly Allowable[];
  },
): Promise<{
  readonly occurrence: string;
  readonly warnings: readonly Diagnostic[];
  /** Null: none, or the ledger was not read. */
  readonly run: RunRecord | null;
}> {
  const { schedule, after, recipients } = campaign;
  const asks = toShow || named !== undefined || schedule !== null || after !== null || isRelative(recipients.where);
  const { runs, before } = asks ? runsHere() : { runs: [], before: [] };
  const used = runs.map(({ occurrence }) => occurrence);
  // A follow-up goes with the newest run of the campaign before.
  const meantBy = named ?? before.at(-1);
  const meant = await occurrenceFor(campaign, { named: meantBy, nowMs, used, toShow: toShow && !asSend });
  return { ...meant, run: runs.find(({ occurrence }) => occurrence === meant.occurrence) ?? null };

  function runsHere(): { readonly runs: readonly RunRecord[]; readonly before: readonly string[] } {
    using ledger = openExistingLedger(campaign.project.ledger, { nowMs, allow });
    if (ledger === null) return { runs: [], before: [] };
    const former = formerNameProblem(ledger.campaigns(), campaign);
    if (former !== null) throw refuse(former);
    const { identity } = environmentOf(campaign, environment);
    const runs = ledger.runsOf({ environment: identity, campaign: campaign.id });
    return { runs, before: sentBefore(campaign, identity, ledger) };
  }
}

/** The country of numbers on a command line: what the project says, else what it says for its lists. */
export function countryOf({ project, written }: Pick<ProjectReading, 'project' | 'written'>): string | null {
  return project.defaultCountry ?? written.defaults?.recipients?.defaultCountry ?? null;
}

/** Whether text is a number or an email address, as the project's events have them. */
export function addressTest(reading: Pick<ProjectReading, 'project' | 'written'>): (written: string) => boolean {
  const read = createReportedAddressReader(countryOf(reading));
  return (written) => read(written) !== null;
}

/** Throws exit 2: there is no such environment, or one has to be named. */
export function environmentFor({ project }: Pick<ProjectReading, 'project'>, given: string | undefined): string {
  const name = given ?? onlyEnvironment(project);
  if (name !== null) return environmentOf({ project }, name).name;
  const known = [...project.environments.keys()].join(', ');
  const message = 'There are several environments, and ids of messages are unique within one of them at best.';
  const hint = `Say with --env whose reports these are; known here: ${known}.`;
  throw refuse(problem('unclear-environment', message, { at: { file: project.file ?? 'handbill.yaml' }, hint }));
}

/** Reads events by the mapping of the environment, the words of the project and the number format of its lists. */
export function interpreterOf(
  reading: Pick<ProjectReading, 'project' | 'written'>,
  environment: string,
  { mapping, ...options }: Parameters<typeof createInterpreter>[2] & { readonly mapping?: EventMapping } = {},
): Interpreter {
  const providers = [...reading.project.environments.values()].map(({ provider }) => provider);
  const { provider, webhook, wire } = environmentOf(reading, environment);
  const read = createReportedAddressReader(countryOf(reading));
  const meanings = {
    address: (written: string): string | null => {
      const address = read(written);
      return address === null ? null : listedForm(address);
    },
    meaningOf: (text: string) => meaningOf(text, reading.project.webhook.replies),
    referenceOf: provider.alphanumericReference ? unspelled : (text: string) => text,
    messageIdOf: (text: string) => trimEnds(text, wire.response.trimId),
    channels: providers.flatMap(({ channels }) =>
      Object.entries(channels).map(([channel, value]) => [value, channel as Channel] as const),
    ),
  };
  return createInterpreter(mapping ?? webhook.mapping, meanings, options);
}
