import type { Command } from 'commander';
import type { Report } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { projectHere, withLedger } from '../../operations/project-ledger.ts';
import { summaries } from '../../operations/runs.ts';
import { instant, number } from '../../report/words.ts';
import { jsonText } from '../../util/safe.ts';
import { type Column, table } from '../../util/table.ts';
import { addExamples, addFormat, addLedger } from '../shared/options.ts';

export function configure(command: Command, context: CommandContext): void {
  addLedger(addFormat(command, ['text', 'json']));
  addExamples(command, [
    ['handbill runs', 'a table, newest first'],
    ['handbill runs --format json', 'the summary of every run, for scripts'],
  ]);
  command.action(async (given: { readonly format: 'text' | 'json'; readonly ledger?: string }) => {
    const reading = await projectHere(context, given.ledger);
    await withLedger(reading, context, async (ledger) => {
      const runs = summaries(ledger);
      await context.out(
        given.format === 'json'
          ? `${jsonText({ version: 1, runs }, 2)}\n`
          : runsTable(runs, context.tableWidth ?? context.width),
      );
    });
  });
}

function runsTable(runs: readonly Report[], width: number): string {
  if (runs.length === 0) return 'No run yet.\n';
  const rows = runs.map(({ run, environment, occurrence, state, startedAt, totals }) => [
    run,
    environment,
    occurrence,
    instant(startedAt).slice(0, MINUTES),
    state,
    `${number(totals.accepted)}/${number(totals.recipients)}`,
    totals.inDoubt === 0 ? '' : number(totals.inDoubt),
  ]);
  const doubts = runs.some(({ totals }) => totals.inDoubt > 0);
  return `${table(rows, COLUMNS, { width })}${doubts ? IN_DOUBT : ''}`;
}

const IN_DOUBT = '\nWho is in doubt, and what to do about it: handbill doubt list\n';

/** As far as the minutes: `2026-11-21 09:00`. */
const MINUTES = 16;

/** Narrow enough for 80 columns; `report` has the rest. */
const COLUMNS: readonly Column[] = [
  { title: 'run' },
  { title: 'environment', shrink: true },
  { title: 'occurrence', shrink: true },
  { title: 'started (UTC)' },
  { title: 'state' },
  { title: 'accepted', align: 'right' },
  { title: 'in doubt', align: 'right' },
];
