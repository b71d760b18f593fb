import type { CommandContext } from '../../operations/context.ts';
import { joinRepliesOf, ledgerHere, projectHere } from '../../operations/project.ts';
import { checkInputs, findRun, nameInLedger } from '../../operations/report.ts';
import type { Flags } from '../shared/options.ts';
import { REPORT_FLAGS } from './flags.ts';

export { REPORT_FLAGS as FLAGS };

export async function run(
  context: CommandContext,
  flags: Flags<typeof REPORT_FLAGS>,
  named: string | undefined,
): Promise<void> {
  const { ledger: _, ...options } = flags;
  // `runs` and `doubt` use this module too, and print no report.
  const { checkOptions, printReport } = await import('./print.ts');
  checkOptions(options);
  const reading = projectHere(flags);
  await joinRepliesOf(reading, context);
  using ledger = ledgerHere(reading, context);
  const run = findRun(ledger, await nameInLedger(named ?? null, ledger, reading));
  checkInputs(run, options.inputs);
  context.telemetry?.reported(ledger, run);
  if (options.follow !== true) return await printReport(ledger, run, options, context, reading.project);
  const { followReport } = await import('./follow.ts');
  await followReport(ledger, run, options, context, reading.project);
}
