import { type Command, Option } from 'commander';
import { problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import { OUTCOMES, type OutcomeState } from '../model.ts';
import { maskText } from '../util/mask.ts';
import { isTest } from '../util/occurrence-name.ts';
import { didYouMean } from '../util/suggest.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger, addOutput } from './options.ts';
import { projectHere, withLedger } from './project-ledger.ts';
import { PRINT_FORMATS } from './report-formats.ts';
import type { PrintOptions } from './report-print.ts';
import { type DeliveryChoice, deliveryChoices } from './report-rows.ts';
import { addMetricsFile } from './telemetry-options.ts';

/**
 * The run that is meant: by its id, or the newest of a campaign, or the newest of all. A test is meant by its id alone.
 *
 * @throws HandbillError (exit status 2, `run-not-found`)
 */
export function findRun(ledger: Pick<Ledger, 'runs' | 'runById'>, named: string | null): RunRecord {
  const found = meantBy(named, named === null ? ledger.runs() : ledger.runById(named))[0];
  if (found !== undefined) return found;
  if (named === null) {
    const tests = ledger.runs().length > 0 ? { hint: ONLY_TESTS } : {};
    throw refuse(problem('run-not-found', 'The ledger holds no run yet.', tests));
  }
  if (ledger.runById(named).length > 0) {
    throw refuse(problem('run-not-found', `The ledger holds no run of ${named} but tests.`, { hint: ONLY_TESTS }));
  }
  const known = newestFirst(ledger.runs()).flatMap((run) => [run.campaign, run.id]);
  const hint = didYouMean(named, known).hint ?? 'handbill runs lists them.';
  throw refuse(
    problem('run-not-found', `The ledger holds no run "${maskText(named)}", nor one of a campaign of that name.`, {
      hint,
    }),
  );
}

const ONLY_TESTS = 'A test is shown by its id, which `handbill runs` lists.';

/** The newest first; of a campaign, or of all, without the tests. */
export function meantBy(named: string | null, runs: readonly RunRecord[]): readonly RunRecord[] {
  const byId = runs.filter(({ id }) => id === named);
  return newestFirst(byId.length > 0 ? byId : withoutTests(runs));
}

/** The runs that went to the list of their campaign. */
export function withoutTests(runs: readonly RunRecord[]): readonly RunRecord[] {
  return runs.filter(({ occurrence }) => !isTest(occurrence));
}

/** By their last start. */
export function newestFirst(runs: readonly RunRecord[]): readonly RunRecord[] {
  const at = (run: RunRecord) => run.lastStartAtMs ?? run.createdAtMs;
  return runs.toSorted((a, b) => at(b) - at(a) || b.number - a.number);
}

export function configure(command: Command, context: CommandContext): void {
  command.argument('[run]', 'id of a run, or name of a campaign for its newest one (default: the newest run of all)');
  addOutput(command)
    .addOption(
      new Option('--outcome <name...>', 'only recipients with these outcomes, in jsonl, csv and html').choices(
        OUTCOMES,
      ),
    )
    .option('--delivery <words...>', 'only recipients about whom this came back (none: nothing did)', deliveryChoices)
    .option('--with-columns', 'put the columns of the list beside each row, in csv and jsonl: to send to them again')
    .option('--recipients <file>', 'with --with-columns: where the list of the run is now')
    .option('--full', 'whole addresses in html, which else has them masked')
    .option('--follow', 'show what changes until nothing more is to come, in text and jsonl');
  addMetricsFile(addLedger(addFormat(command, PRINT_FORMATS)));
  addExamples(command, [
    ['handbill report', 'the newest run'],
    ['handbill report hello --format json', 'the summary for scripts'],
    ['handbill report hello --format brief', 'two lines for a chat'],
    ['handbill report hello --format html -o report.html', 'a page to pass on'],
    ['handbill report hello --format csv -o results.csv', 'one row per recipient'],
    ['handbill report hello --format jsonl --outcome in-doubt', 'one line per recipient in doubt'],
    ['handbill report hello --delivery undeliverable,failed --with-columns --format csv -o again.csv', 'a new list'],
    ['handbill report --follow', 'watch the newest run, and what comes back'],
    ['handbill report hello --format junit -o report.xml', 'for CI systems that read tests'],
  ]);
  command.action(async (named: string | undefined, given: Given) => {
    const { outcome, delivery, ledger: _, ...rest } = given;
    const options: PrintOptions = {
      ...rest,
      ...(outcome === undefined ? {} : { outcomes: outcome }),
      ...(delivery === undefined ? {} : { deliveries: delivery }),
    };
    // `runs` and `doubt` use this module too, and print no report.
    const { checkOptions, printReport } = await import('./report-print.ts');
    checkOptions(options);
    const reading = await projectHere(context, given.ledger);
    const { joinRepliesOf } = await import('./join-replies.ts');
    await joinRepliesOf(reading, context);
    await withLedger(reading, context, async (ledger) => {
      const run = findRun(ledger, named ?? null);
      context.telemetry?.metrics?.run(ledger, run);
      if (options.follow !== true) return await printReport(ledger, run, options, context, reading.project);
      const { followReport } = await import('./report-follow.ts');
      await followReport(ledger, run, options, context, reading.project);
    });
  });
}

interface Given extends Omit<PrintOptions, 'outcomes' | 'deliveries'> {
  readonly outcome?: readonly OutcomeState[];
  readonly delivery?: readonly DeliveryChoice[];
  readonly ledger?: string;
}
