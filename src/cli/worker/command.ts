import type { CommandContext } from '../../operations/context.ts';
import { formatOption, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { withLedger } from '../../operations/project.ts';
import { runWorker, WORKER, type WorkerEvent, workerText } from '../../operations/worker.ts';
import { duration, number } from '../../report/words.ts';
import { listWorkers, type WorkerShown } from '../../send/list-workers.ts';
import { jsonText } from '../../util/escape.ts';
import { type ItemColumn, itemTable } from '../../util/table.ts';
import { isoSeconds } from '../../util/time.ts';
import { complain } from '../shared/complain.ts';
import type { Flags } from '../shared/options.ts';
import { watchSignals } from '../shared/signals.ts';

export const FLAGS = {
  ...WORKER,
  quiet: { flag: '-q, --quiet', says: 'print only what is wrong' },
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

export async function run(context: CommandContext, flags: Flags<typeof FLAGS>): Promise<void> {
  using signals = watchSignals(context.err);
  const { log: _log, ...wanted } = flags;
  await runWorker({
    ...wanted,
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

const LIST_FLAGS = {
  format: formatOption(['text', 'json', 'prometheus']),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

async function list(context: CommandContext, given: Flags<typeof LIST_FLAGS>): Promise<void> {
  await withLedger(given, async (ledger) => {
    const workers = listWorkers(ledger);
    if (given.format === 'json') return await context.out(`${jsonText({ version: 1, workers }, 2)}\n`);
    if (given.format === 'prometheus') {
      const { workersText } = await import('../../telemetry/workers-text.ts');
      return await context.out(await workersText(workers.map((one) => ({ ...one, shards: one.shards.length }))));
    }
    await context.out(workersTable(workers, context.now(), context.tableWidth ?? context.width));
  });
}

export const COMMANDS = { list: { FLAGS: LIST_FLAGS, run: list } };

function workersTable(workers: readonly WorkerShown[], nowMs: number, width: number): string {
  if (workers.length === 0) return 'No worker is there. `handbill worker` makes this machine one.\n';
  const stateOf = ({ alive, run }: WorkerShown) => (alive ? (run === null ? 'waits' : 'sends') : 'not heard of');
  const shardsOf = ({ shards, rows }: WorkerShown) => `${shards.join(' ')} (${number(rows)} rows)`;
  const columns: readonly ItemColumn<WorkerShown>[] = [
    { title: 'worker', cell: ({ host, pid }) => `${host} ${pid}` },
    { title: 'since', cell: ({ joinedAt }) => duration(Math.max(0, nowMs - Date.parse(joinedAt))) },
    { title: 'state', cell: stateOf },
    { title: 'run', shrink: true, cell: ({ run }) => run?.run ?? '' },
    { title: 'shards', shrink: true, cell: (one) => (one.shards.length === 0 ? '' : shardsOf(one)) },
    { title: 'requests', align: 'right', cell: ({ posted }) => (posted === 0 ? '' : number(posted)) },
  ];
  return itemTable(workers, columns, { width });
}
