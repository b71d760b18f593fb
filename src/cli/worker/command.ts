import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { optionsHere } from '../../operations/project.ts';
import { runWorker, type WorkerEvent, workerText } from '../../operations/worker.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { isoSeconds } from '../../util/time.ts';
import { addExamples, addLedger, addLog, environmentOption, time, wholeNumber } from '../shared/options.ts';
import { watchSignals } from '../shared/signals.ts';
import { configureList } from './list.ts';

interface WorkerFlags {
  readonly env: string;
  readonly concurrency?: number;
  readonly idle?: number;
  readonly ledger?: string;
  readonly quiet?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  command
    // `list` has a separate --ledger.
    .enablePositionalOptions()
    .addOption(environmentOption(context, 'environment of handbill.yaml whose runs it works on'))
    .option('--concurrency <n>', 'requests in flight at most (default: as the campaign says)', wholeNumber(1, 1024))
    .option('--idle <time>', 'end when there was nothing to do for so long (default: it stays)', time)
    .option('--quiet', 'say nothing but what is wrong');
  addLog(addLedger(command));
  addExamples(command, [
    ['handbill worker --env production --ledger postgres://db.example/handbill', 'until it is stopped'],
    ['handbill worker --idle 10m', 'until there is nothing to do'],
  ]).action((flags: WorkerFlags) => run(flags, context));
  configureList(command, context);
}

async function run(flags: WorkerFlags, context: CommandContext): Promise<void> {
  const signals = watchSignals(context.err);
  const { concurrency, idle } = flags;
  try {
    await runWorker({
      ...optionsHere(context, flags.ledger),
      environment: flags.env,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(idle === undefined ? {} : { idleMs: idle }),
      signal: signals.first,
      cutSignal: signals.second,
      onEvent: (event) => tell(event, flags.quiet === true, context),
    });
    const status = signals.status();
    if (status !== null) context.exit(status);
  } finally {
    signals.stop();
  }
}

/** Errors are always printed; the rest is for the log of the machine. */
function tell(event: WorkerEvent, quiet: boolean, { now, err, colour, telemetry }: CommandContext): void {
  telemetry?.follow(event);
  if (event.kind === 'leaves-alone' || event.kind === 'ledger-lost') {
    err(formatDiagnostics(event.error.diagnostics, { colour: colour.err }));
  }
  const text = workerText(event);
  if (!quiet && text !== null) err(`${isoSeconds(now())} ${text}\n`);
}
