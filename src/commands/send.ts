import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadCampaign } from '../campaign/load.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Campaign } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import type { SealedPlan } from '../plan/seal.ts';
import { prepareApi } from '../run/api.ts';
import { holdRun } from '../run/hold.ts';
import { identityOf, interruptedEarly, prepareRun } from '../run/prepare.ts';
import type { Figures } from '../run/progress.ts';
import { type RunEnd, sendRun } from '../run/run.ts';
import { refuseUnlessSealed } from '../run/sealed.ts';
import { summarise } from '../run/summary.ts';
import { ratePerSecond } from '../util/units.ts';
import { type Confirmation, confirm } from './confirm.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger, ledgerOption, wholeNumber } from './options.ts';
import { readPlanFile } from './plan-file.ts';
import { printSend } from './print-send.ts';
import { startProgressLine } from './progress-line.ts';
import { exitOf, type SendResult } from './send-result.ts';
import { watchSignals } from './signals.ts';

export interface SendOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly random?: () => number;
  /** Default: `sandbox`. */
  readonly environment?: string;
  /** Default: `once`. */
  readonly occurrence?: string;
  readonly ledger?: string;
  readonly newLedger?: boolean;
  readonly recipients?: string;
  /** A plan that was sealed: any change of its inputs is refused. */
  readonly sealed?: SealedPlan;
  readonly limit?: number;
  readonly concurrency?: number;
  readonly ratePerSecond?: number;
  readonly skipInvalid?: boolean;
  readonly amend?: boolean;
  readonly late?: boolean;
  readonly retryRejected?: boolean;
  /** Asked before the first request of any environment but the sandbox; false refuses. Default: refuse. */
  readonly confirm?: (question: Confirmation) => Promise<boolean>;
  /** Ends the start in good order. */
  readonly interrupt?: AbortSignal;
  /** Ends it at once: what is in flight is aborted and recorded. */
  readonly abort?: AbortSignal;
  readonly onStart?: (figures: Readonly<Figures>, campaign: Campaign) => void;
  readonly onWarnings?: (warnings: readonly Diagnostic[]) => void;
}

/**
 * Sends a campaign, or continues what an earlier start left: the whole pipeline. Nothing is posted unless everything
 * was checked; nobody is posted to twice.
 *
 * @throws HandbillError exit 2 (refused before any request), 6 (another process holds this run), 7 (ledger),
 *   130 (interrupted before any request)
 */
export async function send(target: string, options: SendOptions): Promise<SendResult> {
  const { cwd, now } = options;
  const { campaign, warnings } = await loadCampaign(target, {
    cwd,
    now: now(),
    ...given(options, 'recipients', 'ledger'),
  });
  const plan = await createPlan(campaign, {
    environment: options.environment ?? 'sandbox',
    occurrence: options.occurrence ?? 'once',
  });
  options.onWarnings?.([...warnings, ...plan.warnings]);
  if (options.sealed !== undefined) await refuseUnlessSealed(plan, options.sealed);
  const concurrency = options.concurrency ?? plan.environment.concurrency ?? campaign.send.concurrency;
  const { timeoutMs } = campaign.send;
  const connection = { env: options.env, root: campaign.project.root, connections: concurrency, timeoutMs };
  const openApi = await prepareApi({ environment: plan.environment, ...connection });
  const prices = await loadPrices(campaign.project);

  using held = holdRun(campaign.project.ledger, identityOf(plan), now(), options.newLedger === true);
  const { ledger } = held;
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const wanted = {
    amend: options.amend === true,
    late: options.late === true,
    retryRejected: options.retryRejected === true,
  };
  const interrupt = options.interrupt ?? new AbortController().signal;
  const prepared = await prepareRun({ ledger, plan, prices, skipInvalid, ...wanted, nowMs: now(), interrupt });
  if (prepared.toDo === 0 && prepared.continues && prepared.estimate === null) {
    return nothingToDo(ledger, plan, now());
  }
  const confirmed = interrupt.aborted || plan.environment.apiKey === null || (await asked(options, plan, prepared));
  if (interrupt.aborted || !confirmed) {
    prepared.discard();
    throw interrupt.aborted ? interruptedEarly() : notConfirmed();
  }
  const run = prepared.seal();
  const api = await openApi();
  const abort = (): void => api.endpoint.abort();
  const { stopWaiting } = api.endpoint;
  interrupt.addEventListener('abort', stopWaiting, { once: true });
  options.abort?.addEventListener('abort', abort, { once: true });
  try {
    const end = await sendRun({
      plan,
      ledger,
      run,
      list: prepared.list,
      endpoint: api.endpoint,
      wire: api.wire,
      concurrency,
      ratePerSecond: lowest(options.ratePerSecond, plan.environment.ratePerSecond, campaign.send.ratePerSecond),
      limit: options.limit ?? null,
      interrupt,
      now,
      random: options.random ?? Math.random,
      onStart: (figures) => options.onStart?.(figures, campaign),
    });
    return resultOf(ledger, end);
  } finally {
    interrupt.removeEventListener('abort', stopWaiting);
    options.abort?.removeEventListener('abort', abort);
    await api.close(timeoutMs);
  }
}

function notConfirmed(): HandbillError {
  const hint = 'Without a terminal, add --yes.';
  return refuse(problem('not-confirmed', 'Nothing was sent: it was not confirmed.', { hint }));
}

async function asked(
  options: SendOptions,
  plan: Plan,
  prepared: { toDo: number; estimate: Estimate | null },
): Promise<boolean> {
  const { environment, campaign, occurrence } = plan;
  const recipients = Math.min(prepared.toDo, options.limit ?? prepared.toDo);
  const question = {
    campaign: campaign.name,
    environment: environment.name,
    url: environment.url,
    occurrence,
    recipients,
  };
  return (await options.confirm?.({ ...question, estimate: prepared.estimate })) ?? false;
}

function nothingToDo(ledger: Ledger, plan: Plan, nowMs: number): SendResult {
  const found = ledger.findRun(identityOf(plan));
  if (found === null) throw new Error('a run without anything to do is in the ledger');
  // Killed after the last outcome, or halted by it: nobody else would ever say that the run is finished.
  const ended = { state: 'finished', halt: null, figures: found.figures, nowMs } as const;
  const run = found.state === 'finished' ? found : ledger.finish(found, ended);
  const report = summarise(ledger, run);
  return { report, exit: exitOf(report), started: false, posted: 0, recovered: 0, ledgerError: null };
}

function resultOf(ledger: Ledger, end: RunEnd): SendResult {
  const report = summarise(ledger, end.run, { state: end.state, halt: end.halt });
  const { posted, recovered, ledgerError } = end;
  const exit = ledgerError === null ? exitOf(report) : EXIT.ledger;
  return { report, exit, started: true, posted, recovered, ledgerError };
}

function lowest(...rates: readonly (number | null | undefined)[]): number | null {
  const set = rates.filter((rate) => rate !== null && rate !== undefined);
  return set.length === 0 ? null : Math.min(...set);
}

/** The named options that were given, so that absent ones stay absent. */
function given<K extends keyof SendOptions>(options: SendOptions, ...names: readonly K[]): Pick<SendOptions, K> {
  return Object.fromEntries(names.flatMap((n) => (options[n] === undefined ? [] : [[n, options[n]]]))) as Pick<
    SendOptions,
    K
  >;
}

interface SendFlags {
  readonly plan?: string;
  readonly env: string;
  readonly yes?: boolean;
  readonly occurrence: string;
  readonly limit?: number;
  readonly concurrency?: number;
  readonly rate?: number;
  readonly ifLocked: 'fail' | 'skip';
  readonly skipInvalid?: boolean;
  readonly amend?: boolean;
  readonly late?: boolean;
  readonly retryRejected?: boolean;
  readonly recipients?: string;
  readonly newLedger?: boolean;
  readonly ledger?: string;
  readonly format: 'text' | 'json';
  readonly quiet?: boolean;
}

/** `handbill send CAMPAIGN` and `handbill send --plan FILE`. */
export function configure(command: Command, context: CommandContext): void {
  command
    .argument('[campaign]', 'campaign file, its folder, or its name')
    .option('--plan <file>', 'send exactly what a sealed plan says')
    .option('--env <name>', 'environment of handbill.yaml', 'sandbox')
    .option('--yes', 'send without asking')
    .option('--occurrence <name>', 'which time this campaign goes out', 'once')
    .option('--limit <n>', 'post to at most N recipients in this start', wholeNumber(1, 1e9))
    .option('--concurrency <n>', 'requests in flight at most', wholeNumber(1, 1024))
    .option('--rate <rate>', 'requests over the whole run: 50/s, 600/min, 1000/h', rate)
    .addOption(
      new Option(
        '--if-locked <what>',
        'when another process holds this run: exit 6, or leave it to that one and exit 0',
      )
        .choices(['fail', 'skip'])
        .default('fail', 'fail'),
    )
    .option('--skip-invalid', 'skip bad rows instead of refusing the run')
    .option('--amend', 'continue a run although its inputs changed')
    .option('--late', 'continue a run that is older than 24 hours')
    .option('--retry-rejected', 'try recipients again that the API refused')
    .option('--recipients <file>', 'take the list from here, inside or outside the project')
    .option('--new-ledger', 'begin a new ledger although this project has sent before')
    .option('--quiet', 'print nothing when all is well');
  addFormat(addLedger(command), ['text', 'json']);
  addExamples(command, [
    ['handbill send campaigns/hello', 'to the sandbox'],
    ['handbill send hello --env production --limit 100', 'the first hundred'],
    ['handbill send --plan hello.plan.json --yes', 'exactly what was sealed'],
  ]).action(async (target: string | undefined, flags: SendFlags) => {
    await run(target, flags, command, context);
  });
}

async function run(
  target: string | undefined,
  flags: SendFlags,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const sealed = flags.plan === undefined ? undefined : await readPlanFile(flags.plan, context.cwd);
  if ((target === undefined) === (sealed === undefined)) {
    throw refuse(problem('usage', 'Name either a campaign or --plan FILE.', { hint: 'See `handbill send --help`.' }));
  }
  if (sealed !== undefined) refuseConflicts(command, sealed, flags);
  const signals = watchSignals(context.err);
  const line = startProgressLine(context, flags.quiet === true);
  try {
    const result = await send(target ?? sealed?.campaign.file ?? '', {
      cwd: context.cwd,
      env: context.env,
      now: context.now,
      environment: sealed?.environment ?? flags.env,
      occurrence: sealed?.occurrence ?? flags.occurrence,
      ...ledgerOption(flags.ledger, context),
      ...optional('recipients', flags.recipients ?? sealed?.recipients ?? undefined),
      ...optional('sealed', sealed),
      ...optional('limit', flags.limit),
      ...optional('concurrency', flags.concurrency),
      ...optional('ratePerSecond', flags.rate),
      newLedger: flags.newLedger === true,
      skipInvalid: flags.skipInvalid ?? sealed?.skipInvalid ?? false,
      amend: flags.amend === true,
      late: flags.late === true,
      retryRejected: flags.retryRejected === true,
      confirm: async (question) => flags.yes === true || confirm(question, context, signals.first),
      interrupt: signals.first,
      abort: signals.second,
      onStart: line.start,
    });
    line.stop();
    const campaign = target ?? sealed?.campaign.file ?? '';
    await printSend(result, { ...context, format: flags.format, quiet: flags.quiet === true, campaign }).catch(
      (error: unknown) => notPrinted(error, context),
    );
    context.exit(result.ledgerError !== null ? EXIT.ledger : (signals.status() ?? result.exit));
  } catch (error) {
    line.stop();
    if (error instanceof HandbillError && error.exit === EXIT.interrupted) {
      throw new HandbillError(signals.status() ?? error.exit, error.diagnostics);
    }
    if (!(error instanceof HandbillError && error.exit === EXIT.locked && flags.ifLocked === 'skip')) throw error;
    if (flags.quiet !== true) context.err('Another process is sending this run: left to it.\n');
  } finally {
    signals.stop();
  }
}

/** I4: the exit status says what became of the run, also where its report cannot be written. */
function notPrinted(error: unknown, context: CommandContext): void {
  if (!(error instanceof HandbillError)) throw error;
  context.err(`${error.message} The run is in the ledger: \`handbill report\` shows it.\n`);
}

/** A plan says for which environment and occurrence it was sealed; nothing else may be said beside it. */
function refuseConflicts(command: Command, sealed: SealedPlan, flags: SendFlags): void {
  const differs = (name: 'env' | 'occurrence', said: string, planned: string) =>
    command.getOptionValueSource(name) === 'cli' && said !== planned
      ? [problem('usage', `The plan was sealed for ${name} "${planned}", not "${said}".`)]
      : [];
  const found = [
    ...differs('env', flags.env, sealed.environment),
    ...differs('occurrence', flags.occurrence, sealed.occurrence),
  ];
  if (flags.amend === true)
    found.push(problem('usage', 'A sealed plan cannot be amended.', { hint: 'Make a new plan.' }));
  if (found.length > 0) throw refuse(...found);
}

function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
}

function rate(text: string): number {
  const perSecond = ratePerSecond(text);
  if (perSecond === null) throw new InvalidArgumentError('Write it as 50/s, 600/min or 1000/h.');
  return perSecond;
}
