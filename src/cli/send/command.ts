import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../../errors.ts';
import { type Allowable, RETRIES, type Retry } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { readPlan } from '../../operations/plan.ts';
import { optionsHere } from '../../operations/project.ts';
import { sendWatched } from '../../operations/send.ts';
import { exitOf, type SendListenOptions } from '../../operations/send-options.ts';
import { changedWarning, ledgerPrinter, zonelessWarning } from '../../operations/warnings.ts';
import { type AnyPlanFile, isStanding } from '../../plan/plan-file.ts';
import { zonelessOf } from '../../report/next-steps.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { safe } from '../../util/escape.ts';
import { given } from '../../util/given.ts';
import { ratePerSecond } from '../../util/units.ts';
import { confirm } from '../shared/confirm.ts';
import {
  addAllow,
  addExamples,
  addFormat,
  addLedger,
  addLog,
  addMetricsFile,
  environmentOption,
  time,
  wholeNumber,
} from '../shared/options.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { printSend } from '../shared/print-send.ts';
import { startProgressLine } from '../shared/progress.ts';
import { askYes } from '../shared/prompt.ts';
import { watchSignals } from '../shared/signals.ts';

interface SendFlags {
  readonly plan?: string;
  readonly testTo?: readonly string[] | true;
  readonly line?: number;
  readonly key?: string;
  readonly variant?: string;
  readonly env: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly occurrence?: string;
  readonly limit?: number;
  readonly concurrency?: number;
  readonly rate?: number;
  readonly ifLocked: 'fail' | 'skip';
  readonly allow?: readonly Allowable[];
  readonly wait?: boolean;
  readonly workers?: boolean;
  readonly listen?: number | true;
  readonly listenFor?: number;
  readonly retry?: Retry;
  readonly winner?: string;
  readonly recipients?: string;
  readonly pipedList?: string;
  readonly ledger?: string;
  readonly format: 'text' | 'brief' | 'json' | 'jsonl';
  readonly quiet?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('[campaign]', 'campaign file, its folder, or its name')
    .option('--plan <file>', 'send exactly what a plan file says')
    .option(
      '--test-to [address...]',
      'send the message of one row to these instead, as a test (without an address: to the `testers` of handbill.yaml)',
    )
    .option('--line <n>', 'with --test-to: the data of the row that begins at this line', wholeNumber(1, 1e9))
    .option('--key <key>', 'with --test-to: the data of this recipient (default: of the first one)')
    .option('--variant <name>', 'with --test-to: the message of this variant (default: of each, and each fallback)')
    .addOption(environmentOption(context))
    .option('--yes', 'send without asking')
    .option('--dry-run', 'show what this start would do, as `handbill preview` does: nothing is posted or recorded')
    .option('--occurrence <name>', 'which time this campaign goes out (default: the instant that is due, else once)')
    .option('--limit <n>', 'post to at most N recipients in this start', wholeNumber(1, 1e9))
    .option('--concurrency <n>', 'requests in flight at most', wholeNumber(1, 1024))
    .option(
      '--rate <rate>',
      'requests over the whole run, where campaign and environment allow as many: 50/s, 600/min, 1000/h',
      rate,
    )
    .addOption(
      new Option(
        '--if-locked <what>',
        'when another process holds this run: exit 6, or leave it to that one and exit 0',
      )
        .choices(['fail', 'skip'])
        .default('fail', 'fail'),
    )
    .option('--wait', 'stay until windows have opened and pauses of a canary are over')
    .option('--workers', 'share the run with every `handbill worker` of a shared ledger')
    .option(
      '--listen [port]',
      'receive delivery reports and replies meanwhile (default port: 4011)',
      wholeNumber(0, 65_535),
    )
    .option('--listen-for <time>', 'with --listen: stay so long after the last report (default: 2m)', time)
    .addOption(
      new Option(
        '--retry <which>',
        'send again: to recipients that the API refused (with --limit, the others stay rejected); to those who were skipped for what was repaired since; or a second message to addresses that were corrected since, which shows who, and asks',
      ).choices(RETRIES),
    )
    .option('--winner <variant>', 'the variant for all recipients outside the test')
    .option('--recipients <file>', 'take the list from here, inside or outside the project; - is standard input')
    .option('--quiet', 'print nothing when all is well');
  addFormat(addLedger(addAllow(command)), ['text', 'brief', 'json', 'jsonl']);
  addMetricsFile(addLog(command));
  addExamples(command, [
    ['handbill send hello --env production --test-to +447700900123', 'to yourself, first'],
    ['handbill send campaigns/hello', 'to the sandbox'],
    ['handbill send hello --env production --limit 100', 'the first hundred'],
    ['handbill send hello --env production --allow input-changed --dry-run', 'what the corrected list would change'],
    ['handbill send --plan hello.plan.json --yes', 'exactly what was planned'],
  ]).action(async (target: string | undefined, flags: SendFlags) => {
    await withPipedList(flags.recipients, (piped) => run(target, { ...flags, ...piped }, command, context));
  });
}

async function run(
  target: string | undefined,
  flags: SendFlags,
  command: Command,
  context: CommandContext,
): Promise<void> {
  refuseMixed(command, flags);
  if (flags.testTo !== undefined) return await runTest(target, flags, context);
  const planFile = flags.plan === undefined ? undefined : await readPlan(flags.plan, context);
  const standing = planFile !== undefined && isStanding(planFile) ? planFile : undefined;
  // A standing plan may be named beside its campaign.
  if (standing === undefined && (target === undefined) === (planFile === undefined)) {
    throw refuse(problem('usage', 'Name either a campaign or --plan FILE.', { hint: 'See `handbill send --help`.' }));
  }
  const isNamed = command.getOptionValueSource('env') === 'cli';
  if (planFile !== undefined && isNamed && flags.env !== planFile.environment) {
    throw refuse(problem('usage', `The plan was made for env "${planFile.environment}", not "${flags.env}".`));
  }
  if (flags.listenFor !== undefined && flags.listen === undefined) {
    throw refuse(problem('usage', '--listen-for says how long --listen stays.', { hint: 'Add --listen.' }));
  }
  if (flags.pipedList !== undefined && flags.workers === true) {
    const hint = 'Save the list to a file that every worker can read, and name it with --recipients FILE.';
    throw refuse(problem('usage', 'Workers cannot read what --recipients - reads from standard input.', { hint }));
  }
  if (flags.dryRun === true)
    return await dryRun(target ?? planFile?.campaign.file ?? '', flags, planFile, command, context);
  const format = formatOfRun(flags);
  const signals = watchSignals(context.err);
  const line = startProgressLine(context, flags.quiet === true);
  const { telemetry } = context;
  const watch = telemetry?.sending(target ?? planFile?.campaign.file ?? '', planFile?.environment ?? flags.env);
  const notices: Diagnostic[] = [];
  try {
    const result = await sendWatched(
      standing === undefined || target === undefined ? (planFile ?? target ?? '') : target,
      {
        ...optionsHere(context, flags.ledger),
        ...(planFile === undefined ? { environment: flags.env } : {}),
        ...optional('plan', standing),
        ...given(flags, 'occurrence', 'recipients', 'pipedList', 'limit', 'concurrency', 'allow', 'retry', 'winner'),
        ...optional('ratePerSecond', flags.rate),
        wait: flags.wait === true,
        workers: flags.workers === true,
        confirm: async (question) => {
          if (flags.yes === true) return question.allows.length === 0;
          line.stop();
          return await confirm(question, context, signals.first);
        },
        meter: line.meter,
        signal: signals.first,
        cutSignal: signals.second,
        ...optional('listen', listenOptions(flags, context)),
        onStart: line.start,
        onWarnings: (found) => {
          if (found.length > 0 && flags.quiet !== true) {
            context.err(formatDiagnostics(found, { colour: context.colour.err }));
          }
        },
        onLedger: ledgerPrinter(context, line, flags.quiet === true),
        onNotice: (notice) => notices.push(notice),
        onWait: (untilMs, why) => {
          line.wait(untilMs, why);
          watch?.waits(untilMs, why);
        },
        ...optional('watch', watch),
      },
    );
    watch?.ended(result);
    line.stop();
    const campaign = target ?? planFile?.campaign.file ?? '';
    const shown = {
      ...context,
      format,
      quiet: flags.quiet === true,
      campaign,
      ...optional('planPath', planFile?.signatures === undefined ? result.standingPlan : flags.plan),
    };
    await printSend(result, shown).catch((error: unknown) => {
      // The exit status shows the result of the run, even if its report cannot be written (failures.md, I4).
      if (!(error instanceof HandbillError)) throw error;
      context.err(`${error.message} The run is in the ledger: \`handbill report\` shows it.\n`);
    });
    const said = [
      ...notices,
      ...zonelessWarning(zonelessOf(result.report.reasons), { name: result.report.campaign }),
      ...(flags.format === 'text' ? [] : changedWarning(result.report)),
    ];
    telemetry?.said(said, { campaign: result.report.campaign, environment: result.report.environment });
    // With `--quiet`, nothing is printed if the exit status is 0.
    const exit = result.exit === EXIT.ledger ? result.exit : exitOf(result.report);
    if (said.length > 0 && !(flags.quiet === true && exit === EXIT.done)) {
      context.err(formatDiagnostics(said, { colour: context.colour.err }));
    }
    context.exit(exit === EXIT.ledger ? exit : (signals.status() ?? exit));
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

/** Options about how a start sends, not about the recipients: a dry run ignores them. */
const HOW_IT_SENDS: readonly string[] = ['concurrency', 'rate', 'ifLocked', 'wait', 'workers', 'listen', 'listenFor'];

/** Shows the start as `preview` shows a campaign, with the options of this start. */
async function dryRun(
  target: string,
  flags: SendFlags,
  planFile: AnyPlanFile | undefined,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const { format, quiet } = flags;
  if (format === 'brief') {
    const hint = 'Use --format text, json or jsonl.';
    throw refuse(problem('usage', '--format brief prints what a run came to; a dry run sends nothing.', { hint }));
  }
  const { printPreview } = await import('../preview/command.ts');
  const ofOne = planFile === undefined || isStanding(planFile) ? undefined : planFile;
  const previewed = {
    env: planFile?.environment ?? flags.env,
    format,
    allow: [...(ofOne?.allow ?? []), ...(flags.allow ?? [])],
    ...optional('occurrence', flags.occurrence ?? ofOne?.occurrence),
    ...optional('recipients', flags.recipients ?? ofOne?.recipients ?? undefined),
    ...given(flags, 'pipedList', 'winner', 'ledger', 'quiet'),
    start: { ...given(flags, 'retry', 'limit', 'recipients'), ...optional('planFile', planFile) },
  };
  const status = await printPreview(target, previewed, context);
  const unused = givenAmong(command, HOW_IT_SENDS);
  if (unused !== '' && !(quiet === true && status === EXIT.done)) context.err(`Not part of a dry run: ${unused}.\n`);
  context.exit(status);
}

/** A dry run prints decisions as lines; a run has no such format. */
function formatOfRun({ format }: SendFlags): 'text' | 'brief' | 'json' {
  if (format !== 'jsonl') return format;
  const hint = 'A run is printed as text, brief or json; `handbill report --format jsonl` prints each recipient.';
  throw refuse(problem('usage', '--format jsonl prints the decisions of a dry run.', { hint }));
}

/** What a test has of its own, and what is about the list, which it leaves as it is. */
const TEST_FLAGS: readonly string[] = ['line', 'key', 'variant'];
const LIST_FLAGS: readonly string[] = [
  ...['plan', 'occurrence', 'limit', 'wait', 'workers', 'listen', 'listenFor'],
  ...['retry', 'winner', 'dryRun'],
];

function refuseMixed(command: Command, { testTo }: SendFlags): void {
  const names = givenAmong(command, testTo === undefined ? TEST_FLAGS : LIST_FLAGS);
  if (names === '') return;
  const why =
    testTo === undefined ? 'is about a test: add --test-to.' : 'is not for a test, which leaves the list as it is.';
  throw refuse(problem('usage', `${names} ${why}`, { hint: 'See `handbill send --help`.' }));
}

/** Which of these options the command line has, as it has them; empty where it has none. */
function givenAmong(command: Command, names: readonly string[]): string {
  const found = command.options.filter(
    (option) =>
      names.includes(option.attributeName()) && command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  return found.map(({ long }) => long).join(', ');
}

/** `send --test-to`: one question for all messages, and a report of each. */
async function runTest(target: string | undefined, flags: SendFlags, context: CommandContext): Promise<void> {
  if (target === undefined) {
    const hint = 'Write it before the option: handbill send CAMPAIGN --test-to +447700900123';
    throw refuse(problem('usage', 'Name the campaign to test.', { hint }));
  }
  const format = formatOfRun(flags);
  const { sendTest, stateAnswer, stateTest } = await import('../../operations/send-test.ts');
  const answers: string[] = [];
  const quiet = flags.quiet === true;
  const signals = watchSignals(context.err);
  try {
    const { question, results, exit } = await sendTest(target, {
      ...optionsHere(context, flags.ledger),
      testers: flags.testTo === true || flags.testTo === undefined ? [] : flags.testTo,
      line: flags.line,
      key: flags.key,
      environment: flags.env,
      ...given(flags, 'variant', 'recipients', 'pipedList', 'concurrency', 'allow'),
      ...optional('ratePerSecond', flags.rate),
      signal: signals.first,
      cutSignal: signals.second,
      confirm: async (asked) => {
        if (flags.yes === true) return true;
        context.err(`${stateTest(asked)}\n`);
        return await askYes('Type "yes" to send', context, signals.first);
      },
      onNotice: (notice) => context.err(formatDiagnostics([notice], { colour: context.colour.err })),
      onAnswer: (reading) => answers.push(`${stateAnswer(reading)}\n`),
      onWarnings: (found) => {
        if (found.length > 0 && !quiet) context.err(formatDiagnostics(found, { colour: context.colour.err }));
      },
    });
    if (!quiet) context.err(`${stateTest(question)} Nothing of it counts for the campaign.\n${answers.join('')}`);
    const reports = results.map(({ report }) => report);
    context.exit(signals.status() ?? exit);
    if (quiet && exit === EXIT.done) return;
    if (format === 'json') await context.out(`${JSON.stringify({ version: 1, runs: reports }, null, 2)}\n`);
    else {
      for (const [at, result] of results.entries()) {
        if (at > 0 && format === 'text') await context.out('\n');
        await printSend(result, { ...context, format, quiet, campaign: target });
      }
    }
  } catch (error) {
    if (error instanceof HandbillError && error.exit === EXIT.interrupted) {
      throw new HandbillError(signals.status() ?? error.exit, error.diagnostics);
    }
    throw error;
  } finally {
    signals.stop();
  }
}

/** What is received is in the report; what is wrong with it is said at once, above the line of the progress. */
function listenOptions(flags: SendFlags, { err, colour, telemetry }: CommandContext): SendListenOptions | undefined {
  if (flags.listen === undefined) return undefined;
  const quiet = flags.quiet === true;
  return {
    ...(flags.listen === true ? {} : { port: flags.listen }),
    ...optional('forMs', flags.listenFor),
    onListening(url, warnings) {
      if (warnings.length > 0) err(formatDiagnostics(warnings, { colour: colour.err }));
      telemetry?.said(warnings);
      if (!quiet) err(`Receiving on ${url}\n`);
    },
    log: (line) => {
      telemetry?.receiving.line(line);
      if (!quiet) err(`${safe(line)}\n`);
    },
    ...(telemetry === undefined ? {} : { onRecorded: telemetry.receiving.recorded }),
  };
}

function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
}

function rate(text: string): number {
  const perSecond = ratePerSecond(text);
  if (perSecond === null) throw new InvalidArgumentError('Write it as 50/s, 600/min or 1000/h.');
  return perSecond;
}
