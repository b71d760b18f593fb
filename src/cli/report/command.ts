import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import type { FlagsOf } from '../../operations/options.ts';
import { joinRepliesOf, ledgerHere, optionsHere, projectHere } from '../../operations/project.ts';
import { checkInputs, findRun, nameInLedger } from '../../operations/report.ts';
import { addExamples, addOptions } from '../shared/options.ts';
import { REPORT_FLAGS } from './flags.ts';

export function configure(command: Command, context: CommandContext): void {
  command.argument('[run]', 'id of a run, or name of a campaign for its newest one (default: the newest run of all)');
  addOptions(command, REPORT_FLAGS, context);
  addExamples(command, [
    ['handbill report', 'the newest run'],
    ['handbill report hello --format json', 'the summary for scripts'],
    ['handbill report hello --format brief', 'two lines for a chat'],
    ['handbill report hello --format html -o report.html', 'a shareable page'],
    ['handbill report hello --format csv -o results.csv', 'one row per recipient'],
    ['handbill report hello --format csv --for excel -o results.csv', 'to open with a double click'],
    ['handbill report hello --format jsonl --outcome in-doubt', 'one line per recipient in doubt'],
    ['handbill report hello --delivery undeliverable,failed --with-columns --format csv -o again.csv', 'a new list'],
    ['handbill report hello --end not-delivered --format csv', 'who did not get it'],
    ['handbill report hello --inputs v1 --format csv', 'who got the text from before a change'],
    ['handbill report --follow', 'watch the newest run, and its delivery reports'],
  ]);
  command.action(async (named: string | undefined, flags: FlagsOf<typeof REPORT_FLAGS>) => {
    const { ledger: _, ...options } = flags;
    // `runs` and `doubt` use this module too, and print no report.
    const { checkOptions, printReport } = await import('./print.ts');
    checkOptions(options);
    const reading = projectHere(optionsHere(context, flags.ledger));
    await joinRepliesOf(reading, context);
    using ledger = ledgerHere(reading, context);
    const run = findRun(ledger, await nameInLedger(named ?? null, ledger, reading));
    checkInputs(run, options.inputs);
    context.telemetry?.reported(ledger, run);
    if (options.follow !== true) return await printReport(ledger, run, options, context, reading.project);
    const { followReport } = await import('./follow.ts');
    await followReport(ledger, run, options, context, reading.project);
  });
}
