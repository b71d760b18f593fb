import type { Command } from 'commander';
import type { Commit, Report } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { projectHere, withLedger } from '../../operations/project.ts';
import { summaries } from '../../operations/report.ts';
import { budgetRecord, budgetsNow, budgetText } from '../../plan/budget.ts';
import { pauseText, reportedPause } from '../../report/pause-words.ts';
import { instant, number } from '../../report/words.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { type Column, table } from '../../util/table.ts';
import { addExamples, addFormat, addLedger } from '../shared/options.ts';

export function configure(command: Command, context: CommandContext): void {
  command.option('--commit [hash]', 'show the commits; with a hash or its beginning only the runs from that commit');
  addLedger(addFormat(command, ['text', 'json']));
  addExamples(command, [
    ['handbill runs', 'a table, last active first'],
    ['handbill runs --commit 1a2b3c4', 'what was sent from this commit'],
    ['handbill runs --format json', 'the summary of every run, for scripts'],
  ]);
  command.action(async (given: RunsFlags) => {
    const reading = await projectHere(context, given.ledger);
    await withLedger(reading, context, async (ledger) => {
      const runs = summaries(ledger, typeof given.commit === 'string' ? given.commit : undefined);
      const pauses = ledger.pauses();
      const paused = pauses.map((pause) => `${safeLine(pauseText(pause))}\n`).join('');
      const budgets = budgetsNow(reading.project, ledger, context.now());
      const spent = budgets.map((budget) => `${safeLine(budgetText(budget))}\n`).join('');
      await context.out(
        given.format === 'json'
          ? `${jsonText({ version: 1, runs, pauses: pauses.map(reportedPause), budgets: budgets.map(budgetRecord) }, 2)}\n`
          : `${paused}${spent}${runsTable(runs, context.tableWidth ?? context.width, given.commit !== undefined)}`,
      );
    });
  });
}

interface RunsFlags {
  readonly format: 'text' | 'json';
  readonly ledger?: string;
  /** True: without a hash. */
  readonly commit?: string | true;
}

function runsTable(runs: readonly Report[], width: number, withCommits: boolean): string {
  if (runs.length === 0) return withCommits ? 'No run from this commit.\n' : 'No run yet.\n';
  const rows = runs.map(({ run, environment, occurrence, state, startedAt, totals, commits = [] }) => [
    run,
    environment,
    occurrence,
    instant(startedAt).slice(0, MINUTES),
    state,
    `${number(totals.accepted)}/${number(totals.recipients)}`,
    withCommits ? shortCommits(commits) : totals.inDoubt === 0 ? '' : number(totals.inDoubt),
  ]);
  const doubts = runs.some(({ totals }) => totals.inDoubt > 0);
  const columns = withCommits ? [...COLUMNS.slice(0, -1), { title: 'commit' }] : COLUMNS;
  return `${table(rows, columns, { width })}${doubts ? IN_DOUBT : ''}`;
}

/** `1a2b3c4d* +1`: that of the last start, `*` for files that were not as committed, and how many there were before. */
function shortCommits(commits: readonly Commit[]): string {
  const last = commits.at(-1);
  if (last === undefined) return '';
  const others = commits.length === 1 ? '' : ` +${commits.length - 1}`;
  return `${last.commit.slice(0, 8)}${last.clean ? '' : '*'}${others}`;
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
