import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { type FlagsOf, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { optionsHere } from '../../operations/project.ts';
import { runWorker, WORKER, type WorkerEvent, workerText } from '../../operations/worker.ts';
import { isoSeconds } from '../../util/time.ts';
import { complain } from '../shared/complain.ts';
import { addExamples, addOptions } from '../shared/options.ts';
import { watchSignals } from '../shared/signals.ts';
import { configureList } from './list.ts';

const FLAGS = {
  ...WORKER,
  quiet: { flag: '-q, --quiet', says: 'print only what is wrong' },
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

export function configure(command: Command, context: CommandContext): void {
  // `list` has a separate --ledger.
  addExamples(addOptions(command.enablePositionalOptions(), FLAGS, context), [
    ['handbill worker --env production --ledger postgres://db.example/handbill', 'until it is stopped'],
    ['handbill worker --idle 10m', 'until there is nothing to do'],
  ]).action((flags: FlagsOf<typeof FLAGS>) => run(flags, context));
  configureList(command, context);
}

async function run(flags: FlagsOf<typeof FLAGS>, context: CommandContext): Promise<void> {
  using signals = watchSignals(context.err);
  const { log: _log, ...wanted } = flags;
  await runWorker({
    ...wanted,
    ...optionsHere(context, flags.ledger),
    signal: signals.first,
    cutSignal: signals.second,
    onEvent: (event) => tell(event, flags.quiet === true, context),
  });
  const status = signals.status();
  if (status !== null) context.exit(status);
}

/** Errors are always printed; the rest is for the log of the machine. */
function tell(event: WorkerEvent, quiet: boolean, { now, err, colour, telemetry }: CommandContext): void {
  telemetry?.follow(event);
  if (event.kind === 'leaves-alone' || event.kind === 'ledger-lost') {
    complain({ err, colour }, event.error.diagnostics);
  }
  const text = workerText(event);
  if (!quiet && text !== null) err(`${isoSeconds(now())} ${text}\n`);
}
