import { type Command, InvalidArgumentError, Option } from 'commander';
import { DELIVERIES, OUTCOMES, type OutcomeState } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { projectHere, withLedger } from '../../operations/project.ts';
import { checkInputs, findRun, nameInLedger, type OutcomesOptions } from '../../operations/report.ts';
import { addExamples, addFormat, addLedger, addMetricsFile, addOutput } from '../shared/options.ts';
import { PRINT_FORMATS } from './formats.ts';
import type { PrintOptions } from './print.ts';

export function configure(command: Command, context: CommandContext): void {
  command.argument('[run]', 'id of a run, or name of a campaign for its newest one (default: the newest run of all)');
  addOutput(command)
    .addOption(
      new Option('--outcome <name...>', 'only recipients with these outcomes, in jsonl, csv and html').choices(
        OUTCOMES,
      ),
    )
    .option('--delivery <words...>', 'only recipients with this delivery state (none: no report)', deliveryChoices)
    .option('--inputs <versions...>', 'only recipients whose message was made from these versions of the inputs: v1')
    .option('--with-columns', 'put the columns of the list beside each row, in csv and jsonl: to send to them again')
    .addOption(new Option('--for <program>', 'for this spreadsheet program, in csv').choices(['excel']))
    .option('--recipients <file>', 'with --with-columns: where the list of the run is now')
    .option('--full', 'whole addresses in html, which else has them masked')
    .option('--follow', 'show what changes until nothing more is to come, in text and jsonl');
  addMetricsFile(addLedger(addFormat(command, PRINT_FORMATS)));
  addExamples(command, [
    ['handbill report', 'the newest run'],
    ['handbill report hello --format json', 'the summary for scripts'],
    ['handbill report hello --format brief', 'two lines for a chat'],
    ['handbill report hello --format html -o report.html', 'a shareable page'],
    ['handbill report hello --format csv -o results.csv', 'one row per recipient'],
    ['handbill report hello --format csv --for excel -o results.csv', 'to open with a double click'],
    ['handbill report hello --format jsonl --outcome in-doubt', 'one line per recipient in doubt'],
    ['handbill report hello --delivery undeliverable,failed --with-columns --format csv -o again.csv', 'a new list'],
    ['handbill report hello --inputs v1 --format csv', 'who got the text from before a change'],
    ['handbill report --follow', 'watch the newest run, and its delivery reports'],
  ]);
  command.action(async (named: string | undefined, given: Given) => {
    const { outcome, delivery, ledger: _, ...rest } = given;
    const options: PrintOptions = {
      ...rest,
      ...(outcome === undefined ? {} : { outcomes: outcome }),
      ...(delivery === undefined ? {} : { deliveries: delivery }),
    };
    // `runs` and `doubt` use this module too, and print no report.
    const { checkOptions, printReport } = await import('./print.ts');
    checkOptions(options);
    const reading = await projectHere(context, given.ledger);
    const { joinRepliesOf } = await import('../../operations/project.ts');
    await joinRepliesOf(reading, context);
    await withLedger(reading, context, async (ledger) => {
      const run = findRun(ledger, await nameInLedger(named ?? null, ledger, reading));
      checkInputs(run, options.inputs);
      context.telemetry?.metrics?.run(ledger, run);
      if (options.follow !== true) return await printReport(ledger, run, options, context, reading.project);
      const { followReport } = await import('./follow.ts');
      await followReport(ledger, run, options, context, reading.project);
    });
  });
}

interface Given extends Omit<PrintOptions, 'outcomes' | 'deliveries'> {
  readonly outcome?: readonly OutcomeState[];
  readonly delivery?: readonly DeliveryChoice[];
  readonly ledger?: string;
}

type DeliveryChoice = NonNullable<OutcomesOptions['deliveries']>[number];

/** Parses one argument of `--delivery`: words, with commas between them. */
function deliveryChoices(text: string, before: readonly DeliveryChoice[] = []): readonly DeliveryChoice[] {
  const words = text.split(',').map((word) => word.trim());
  const choices: readonly string[] = [...DELIVERIES, 'none'];
  const wrong = words.find((word) => !choices.includes(word));
  if (wrong !== undefined) throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  return [...before, ...(words as DeliveryChoice[])];
}
