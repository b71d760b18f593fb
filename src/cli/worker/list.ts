import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { type FlagsOf, formatOption, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { optionsHere, withLedger } from '../../operations/project.ts';
import { duration, number } from '../../report/words.ts';
import { listWorkers, type WorkerShown } from '../../send/list-workers.ts';
import { jsonText } from '../../util/escape.ts';
import { type ItemColumn, itemTable } from '../../util/table.ts';
import { addExamples, addOptions } from '../shared/options.ts';

const FLAGS = {
  format: formatOption(['text', 'json', 'prometheus']),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

export function configureList(worker: Command, context: CommandContext): void {
  const command = worker.command('list').description('Shows who works on what, on a shared ledger.');
  addExamples(addOptions(command, FLAGS, context), [
    ['handbill worker list', 'a table'],
    ['handbill worker list --format json', 'for scripts'],
    ['handbill worker list --format prometheus', 'figures of each worker, for the textfile collector'],
  ]).action(async (given: FlagsOf<typeof FLAGS>) => {
    await withLedger(optionsHere(context, given.ledger), async (ledger) => {
      const workers = listWorkers(ledger);
      if (given.format === 'json') return await context.out(`${jsonText({ version: 1, workers }, 2)}\n`);
      if (given.format === 'prometheus') {
        const { workersText } = await import('../../telemetry/workers-text.ts');
        return await context.out(await workersText(workers.map((one) => ({ ...one, shards: one.shards.length }))));
      }
      await context.out(workersTable(workers, context.now(), context.tableWidth ?? context.width));
    });
  });
}

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
