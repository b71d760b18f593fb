import type { Command } from 'commander';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, PORT, present } from '../../operations/options.ts';
import { readPlan } from '../../operations/plan.ts';
import { send } from '../../operations/send.ts';
import { exitOf, SEND, type SendListenOptions, type SendOption } from '../../operations/send-options.ts';
import { changedWarning, zonelessWarning } from '../../operations/warnings.ts';
import { type AnyPlanFile, isStanding } from '../../plan/plan-file.ts';
import { zonelessOf } from '../../report/next-steps.ts';
import { safe } from '../../util/escape.ts';
import { given } from '../../util/given.ts';
import { nextCommand } from '../../util/next-command.ts';
import { complain } from '../shared/complain.ts';
import { confirm } from '../shared/confirm.ts';
import { type Flags, flagsGiven } from '../shared/options.ts';
import { withPipedList } from '../shared/piped-list.ts';
import { printSend } from '../shared/print-send.ts';
import { startProgressLine } from '../shared/progress.ts';
import { askYes } from '../shared/prompt.ts';
import { interruptedBy, watchSignals } from '../shared/signals.ts';

export const FLAGS = {
  plan: { scope: 'list', flag: '--plan <file>', says: 'send exactly what a plan file says' },
  testTo: {
    scope: 'all',
    flag: '--test-to [address...]',
    says: 'send the message of one row to these instead, as a test (without an address: to the `testers` of handbill.yaml)',
  },
  line: {
    scope: 'test',
    flag: '--line <n>',
    says: 'with --test-to: the data of the row that begins at this line',
    range: [1, 1e9, 'whole'],
  },
  key: {
    scope: 'test',
    flag: '--key <key>',
    says: 'with --test-to: the data of this recipient (default: of the first one)',
  },
  variant: {
    scope: 'test',
    flag: '--variant <name>',
    says: 'with --test-to: only this variant, with its own fallbacks (default: each, and each fallback)',
  },
  yes: { scope: 'all', ...OPTIONS.yes },
  dryRun: {
    scope: 'list',
    flag: '--dry-run',
    says: 'show what this start would do, as `handbill preview` does: nothing is posted or recorded',
  },
  ...SEND,
  ifLocked: {
    scope: 'sending',
    flag: '--if-locked <what>',
    says: 'when another process holds this run: exit 6, or leave it to that one and exit 0',
    choices: ['fail', 'skip'],
    preset: 'fail',
  },
  listen: {
    scope: 'run',
    flag: '--listen [port]',
    says: 'receive delivery reports and replies meanwhile (default port: 4011)',
    range: PORT,
  },
  listenFor: {
    scope: 'run',
    flag: '--listen-for <time>',
    says: 'with --listen: stay so long after the last report (default: 2m)',
    kind: 'duration',
  },
  quiet: { scope: 'all', ...OPTIONS.quiet },
  ledger: { scope: 'all', ...OPTIONS.ledger },
  format: { scope: 'all', ...formatOption(['text', 'brief', 'json', 'jsonl']) },
  log: { scope: 'all', ...OPTIONS.log },
  logLevel: { scope: 'all', ...OPTIONS.logLevel },
  metricsFile: { scope: 'all', ...OPTIONS.metricsFile },
} as const satisfies Readonly<Record<string, SendOption>>;

type SendFlags = Flags<typeof FLAGS> & { readonly pipedList?: string };

export async function run(
  context: CommandContext,
  flags: SendFlags,
  target: string | undefined,
  command: Command,
): Promise<void> {
  await withPipedList(flags.recipients, (piped) => sendOne(target, { ...flags, ...piped }, command, context));
}

async function sendOne(target: string | undefined, flags: SendFlags, command: Command, context: CommandContext) {
  refuseMixed(command, flags);
  if (flags.testTo !== undefined) return await runTest(target, flags, context);
  const planFile = flags.plan === undefined ? undefined : readPlan(flags.plan, context);
  const standing = planFile !== undefined && isStanding(planFile) ? planFile : undefined;
  // A standing plan may be named beside its campaign.
  if (standing === undefined && (target === undefined) === (planFile === undefined)) {
    throw refuse(problem('usage', 'Name either a campaign or --plan FILE.', { hint: 'See `handbill send --help`.' }));
  }
  const isNamed = command.getOptionValueSource('environment') === 'cli';
  if (planFile !== undefined && isNamed && flags.environment !== planFile.environment) {
    throw refuse(problem('usage', `The plan was made for env "${planFile.environment}", not "${flags.environment}".`));
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
  // These have another form in a program.
  const { plan: _plan, listen: _listen, log: _log, environment, ...wanted } = flags;
  const format = formatOfRun(flags);
  using signals = watchSignals(context.err);
  const line = startProgressLine(context, flags.quiet === true);
  const { telemetry } = context;
  const notices: Diagnostic[] = [];
  try {
    const result = await send(standing === undefined || target === undefined ? (planFile ?? target ?? '') : target, {
      ...wanted,
      ...(planFile === undefined ? { environment } : {}),
      ...present({ plan: standing }),
      confirm: flags.yes === true || ((question) => confirm(question, context, line, signals.first)),
      signal: signals.first,
      cutSignal: signals.second,
      ...present({ listen: listenOptions(flags, context) }),
      onEvent(event) {
        line.follow(event);
        telemetry?.follow(event);
        if (event.kind === 'warnings' && flags.quiet !== true) complain(context, event.warnings);
        if (event.kind === 'notice') notices.push(event.notice);
      },
    });
    line.stop();
    const campaign = target ?? planFile?.campaign.file ?? '';
    const { recipients } = flags;
    const shown = {
      ...context,
      format,
      quiet: flags.quiet === true,
      campaign: recipients === undefined ? campaign : { campaign, recipients },
      planPath: planFile?.signatures === undefined ? result.standingPlan : flags.plan,
    };
    await printSend(result, shown).catch((error: unknown) => {
      // The exit status shows the result of the run, even if its report cannot be written (failures.md, I4).
      if (!(error instanceof HandbillError)) throw error;
      context.err(`${error.message} The run is in the ledger: \`${nextCommand('report')}\` shows it.\n`);
    });
    const said = [
      ...notices,
      ...zonelessWarning(zonelessOf(result.report.reasons), { name: result.report.campaign }),
      ...(flags.format === 'text' ? [] : changedWarning(result.report)),
    ];
    telemetry?.said(said, { campaign: result.report.campaign, environment: result.report.environment });
    // With `--quiet`, nothing is printed if the exit status is 0.
    const exit = result.exit === EXIT.ledger ? result.exit : exitOf(result.report);
    if (flags.quiet !== true || exit !== EXIT.done) complain(context, said);
    context.exit(exit === EXIT.ledger ? exit : (signals.status() ?? exit));
  } catch (error) {
    line.stop();
    if (!(error instanceof HandbillError && error.exit === EXIT.locked && flags.ifLocked === 'skip'))
      throw interruptedBy(signals, error);
    if (flags.quiet !== true) context.err('Another process is sending this run: left to it.\n');
  }
}

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
  // The limits of a preview are about what is shown.
  const { limit: _limit, line: _line, key: _key, ...wanted } = flags;
  const previewed = {
    ...wanted,
    environment: planFile?.environment ?? flags.environment,
    format,
    allow: [...(ofOne?.allow ?? []), ...(flags.allow ?? [])],
    ...present({
      occurrence: flags.occurrence ?? ofOne?.occurrence,
      recipients: flags.recipients ?? ofOne?.recipients ?? undefined,
    }),
    start: { ...given(flags, 'retry', 'limit', 'recipients'), ...present({ planFile }) },
  };
  const status = await printPreview(target, previewed, context);
  const unused = flagsGiven(command, ofScope('sending', 'run'));
  if (unused !== '' && !(quiet === true && status === EXIT.done)) context.err(`Not part of a dry run: ${unused}.\n`);
  context.exit(status);
}

/** A dry run prints decisions as lines; a run has no such format. */
function formatOfRun({ format }: SendFlags): 'text' | 'brief' | 'json' {
  if (format !== 'jsonl') return format;
  const hint = 'A run is printed as text, brief or json; `handbill report --format jsonl` prints each recipient.';
  throw refuse(problem('usage', '--format jsonl prints the decisions of a dry run.', { hint }));
}

function refuseMixed(command: Command, { testTo }: SendFlags): void {
  const names = flagsGiven(command, testTo === undefined ? ofScope('test') : ofScope('list', 'run'));
  if (names === '') return;
  const why =
    testTo === undefined ? 'is about a test: add --test-to.' : 'is not for a test, which leaves the list as it is.';
  throw refuse(problem('usage', `${names} ${why}`, { hint: 'See `handbill send --help`.' }));
}

function ofScope(...scopes: readonly string[]): readonly string[] {
  return Object.entries(FLAGS).flatMap(([name, { scope }]) => (scopes.includes(scope) ? [name] : []));
}

/** `send --test-to`: one question for all messages, and a report of each. */
async function runTest(target: string | undefined, flags: SendFlags, context: CommandContext): Promise<void> {
  if (target === undefined) {
    const hint = 'Write it before the option: handbill send CAMPAIGN --test-to +447700900123';
    throw refuse(problem('usage', 'Name the campaign to test.', { hint }));
  }
  const format = formatOfRun(flags);
  const { sendTest, stateAnswer, stateTest } = await import('../../operations/send-test.ts');
  const { exchangeText } = await import('./exchange.ts');
  const { plan: _plan, listen: _listen, log: _log, ...wanted } = flags;
  const quiet = flags.quiet === true;
  using signals = watchSignals(context.err);
  try {
    const { question, results, exchanges, exit } = await sendTest(target, {
      ...wanted,
      testers: flags.testTo === true || flags.testTo === undefined ? [] : flags.testTo,
      signal: signals.first,
      cutSignal: signals.second,
      confirm: async (asked) => {
        if (flags.yes === true) return true;
        context.err(`${stateTest(asked)}\n`);
        return await askYes('Type "yes" to send', context, signals.first);
      },
      onEvent(event) {
        if (event.kind === 'warnings' && flags.quiet !== true) complain(context, event.warnings);
        if (event.kind === 'notice') complain(context, [event.notice]);
      },
    });
    if (!quiet) {
      const readings = format === 'text' ? [] : exchanges.flatMap((one) => one.readings);
      const said = readings.map((reading) => `${stateAnswer(reading)}\n`).join('');
      context.err(`${stateTest(question)} Nothing of it counts for the campaign.\n${said}`);
    }
    const reports = results.map(({ report }) => report);
    context.exit(signals.status() ?? exit);
    if (quiet && exit === EXIT.done) return;
    if (format === 'json') await context.out(`${JSON.stringify({ version: 1, runs: reports, exchanges }, null, 2)}\n`);
    else {
      for (const [at, result] of results.entries()) {
        if (at > 0 && format === 'text') await context.out('\n');
        const own = exchanges.filter(({ run }) => format === 'text' && run === result.report.run);
        if (own.length > 0) await context.out(own.map(exchangeText).join(''));
        await printSend(result, { ...context, format, quiet, campaign: target });
      }
    }
  } catch (error) {
    throw interruptedBy(signals, error);
  }
}

/** The report has the received events; problems with them are printed at once, above the progress line. */
function listenOptions(flags: SendFlags, { err, colour, telemetry }: CommandContext): SendListenOptions | undefined {
  if (flags.listen === undefined) return undefined;
  const quiet = flags.quiet === true;
  return {
    ...(flags.listen === true ? {} : { port: flags.listen }),
    ...present({ forMs: flags.listenFor }),
    onListening(url, warnings) {
      complain({ err, colour }, warnings);
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
