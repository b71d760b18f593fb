import type { Command } from 'commander';
import { duration, number } from '../report/words.ts';
import { listWorkers, type WorkerShown } from '../run/list-workers.ts';
import { type Column, table } from '../util/table.ts';
import type { CommandContext } from './context.ts';
import { addExamples, addFormat, addLedger } from './options.ts';
import { projectHere, withLedger } from './project-ledger.ts';

/** `handbill workers` */
export function configure(command: Command, context: CommandContext): void {
  addLedger(addFormat(command, ['text', 'json']));
  addExamples(command, [
    ['handbill workers', 'a table'],
    ['handbill workers --format json', 'for scripts'],
  ]);
  command.action(async (given: { readonly format: 'text' | 'json'; readonly ledger?: string }) => {
    const reading = await projectHere(context, given.ledger);
    await withLedger(reading, context, async (ledger) => {
      const workers = listWorkers(ledger);
      await context.out(
        given.format === 'json'
          ? `${JSON.stringify({ version: 1, workers }, null, 2)}\n`
          : workersTable(workers, context.now(), context.tableWidth ?? context.width),
      );
    });
  });
}

function workersTable(workers: readonly WorkerShown[], nowMs: number, width: number): string {
  if (workers.length === 0) return 'No worker is there. `handbill worker` makes this machine one.\n';
  const rows = workers.map(({ host, pid, joinedAt, alive, run, shards, rows: count, posted }) => [
    `${host} ${pid}`,
    duration(Math.max(0, nowMs - Date.parse(joinedAt))),
    alive ? (run === null ? 'waits' : 'sends') : 'not heard of',
    run === null ? '' : run.run,
    shards.length === 0 ? '' : `${shards.join(' ')} (${number(count)} rows)`,
    posted === 0 ? '' : number(posted),
  ]);
  return table(rows, COLUMNS, { width });
}

const COLUMNS: readonly Column[] = [
  { title: 'worker' },
  { title: 'since' },
  { title: 'state' },
  { title: 'run', shrink: true },
  { title: 'shards', shrink: true },
  { title: 'requests', align: 'right' },
];
