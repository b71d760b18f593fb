import { styleText } from 'node:util';
import type { Report } from '../../model.ts';
import { closeRun } from '../../operations/close-run.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { sayLedger, withLedger } from '../../operations/project.ts';
import { expectedEnds, summaries } from '../../operations/report.ts';
import { budgetRecord, budgetsNow, budgetText } from '../../plan/budget.ts';
import { pauseText, reportedPause } from '../../report/pause-words.ts';
import { countOf, number } from '../../report/words.ts';
import { soonText } from '../../schedule/words.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { type ItemColumn, itemTable } from '../../util/table.ts';
import type { Flags } from '../shared/options.ts';
import { yesOr } from '../shared/prompt.ts';

const LIST_FLAGS = {
  commit: {
    flag: '--commit [hash]',
    says: 'show the commits; with a hash or its beginning only the runs from that commit',
  },
  format: formatOption(['text', 'json']),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

const CLOSE_FLAGS = {
  yes: { flag: '--yes', says: 'close it without asking' },
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

export const COMMANDS = {
  list: { FLAGS: LIST_FLAGS, run: list },
  close: { FLAGS: CLOSE_FLAGS, run: close },
};

async function list(context: CommandContext, given: Flags<typeof LIST_FLAGS>): Promise<void> {
  await withLedger(given, async (ledger, { project }) => {
    const runs = summaries(ledger, typeof given.commit === 'string' ? given.commit : undefined);
    const ends = expectedEnds(ledger, runs, context.now());
    const pauses = ledger.pauses();
    const paused = pauses.map((pause) => `${safeLine(pauseText(pause))}\n`).join('');
    const budgets = budgetsNow(project, ledger, context.now());
    const spent = budgets.map((budget) => `${safeLine(budgetText(budget))}\n`).join('');
    await context.out(
      given.format === 'json'
        ? `${jsonText({ version: 1, runs, pauses: pauses.map(reportedPause), budgets: budgets.map(budgetRecord) }, 2)}\n`
        : `${paused}${spent}${runsTable(runs, ends, project.timeZone, given.commit !== undefined, context)}`,
    );
  });
}

async function close(context: CommandContext, given: Flags<typeof CLOSE_FLAGS>, run: string): Promise<void> {
  const { skipped, report } = await closeRun(run, {
    ...given,
    confirm: yesOr(given.yes, context, 'Type "yes" to close it', (asked) => {
      const left = countOf(asked.totals.pending + asked.totals.deferred, 'recipient');
      return `${closeText(asked, `is ${asked.state}`)} ${left} will be skipped.\n`;
    }),
  });
  const { totals } = report;
  const isClosed = report.closedAt !== undefined;
  if (given.quiet === true) return;
  const doubts =
    totals.inDoubt === 0
      ? ''
      : ` ${countOf(totals.inDoubt, 'recipient')} still in doubt: ${nextCommand('doubt', 'list', report.run)}`;
  const what = isClosed
    ? `is closed: ${countOf(skipped, 'recipient')} skipped just now`
    : 'is finished: nothing is left to close';
  await context.out(`${closeText(report, what)}${doubts}\n`);
  await sayLedger(context, given.ledger);
}

function closeText({ run, environment, occurrence }: Report, what: string): string {
  return safeLine(`The run ${run} (${environment}, ${occurrence}) ${what}.`);
}

/**
 * A terminal gets a line for each run: by its campaign's name where that names one run, without what all have in common.
 * @param endsMs when runs in progress will be done, by id, in ms since 1970
 */
function runsTable(
  runs: readonly Report[],
  endsMs: ReadonlyMap<string, number>,
  timeZone: string,
  withCommits: boolean,
  context: CommandContext,
): string {
  const width = context.tableWidth ?? context.width;
  if (runs.length === 0) return withCommits ? 'No run from this commit.\n' : 'No run yet.\n';
  // A program may read it, so that each run has its id and all its facts.
  const isWhole = !Number.isFinite(width);
  const counts = Map.groupBy(runs, ({ campaign }) => campaign);
  const clock = (ms: number): string => soonText(ms, context.now(), timeZone);
  const untilOf = ({ run }: Report): string => {
    const ms = endsMs.get(run);
    return ms === undefined ? '' : `until ${clock(ms)}`;
  };
  const doubts = runs.some(({ totals }) => totals.inDoubt > 0);
  const differ = (name: 'environment' | 'occurrence') => () =>
    isWhole || new Set(runs.map((run) => run[name])).size > 1;
  const right = { align: 'right' as const };
  const done = ({ totals }: Report): string => `${number(totals.accepted)}/${number(totals.recipients)}`;
  const inDoubt = ({ totals }: Report): string => (totals.inDoubt === 0 ? '' : number(totals.inDoubt));
  const nameOf = ({ run, campaign }: Report): string =>
    isWhole || counts.get(campaign)?.length !== 1 ? run : campaign;
  const style = (cell: string, row: number): string =>
    context.colour.out ? styleText(STYLES[runs[row]?.state ?? 'running'], cell, { validateStream: false }) : cell;
  // `--occurrence` takes an instant without its seconds too.
  const occurrenceOf = ({ occurrence }: Report) => (isWhole ? occurrence : occurrence.replace(/:00Z$/, 'Z'));
  const columns: readonly ItemColumn<Report>[] = [
    { title: 'state', style, cell: ({ state }) => state },
    { title: 'run', cell: nameOf },
    {
      title: 'environment',
      shrink: true,
      drop: 2,
      cell: ({ environment }) => environment,
      wanted: differ('environment'),
    },
    { title: 'occurrence', drop: 1, cell: occurrenceOf, wanted: differ('occurrence') },
    { title: 'started', cell: ({ startedAt }) => clock(Date.parse(startedAt)) },
    { title: 'done', ...right, cell: doneShare },
    { title: 'ends', cell: untilOf, wanted: () => endsMs.size > 0 },
    { title: 'accepted', ...right, drop: 3, cell: done },
    withCommits
      ? { title: 'commit', cell: shortCommits }
      : { title: 'in doubt', ...right, cell: inDoubt, wanted: () => isWhole || doubts },
  ];
  return `${itemTable(runs, columns, { width })}${doubts ? whoIsInDoubt() : ''}`;
}

/** The share of those who are to be sent to: recipients that a rule leaves out are no progress. */
function doneShare({ totals: { recipients, skipped, deferred, pending } }: Report): string {
  const all = recipients - skipped;
  return all === 0 ? '' : `${Math.floor((100 * (all - deferred - pending)) / all)}%`;
}

const STYLES = {
  running: 'cyan',
  finished: 'green',
  partial: 'yellow',
  halted: 'red',
  interrupted: 'yellow',
} as const satisfies Record<Report['state'], string>;

/** `1a2b3c4d* +1`: that of the last start, `*` for files that were not as committed, and how many there were before. */
function shortCommits({ commits = [] }: Report): string {
  const last = commits.at(-1);
  if (last === undefined) return '';
  const others = commits.length === 1 ? '' : ` +${commits.length - 1}`;
  return `${last.commit.slice(0, 8)}${last.clean ? '' : '*'}${others}`;
}

const whoIsInDoubt = (): string => `\nWho is in doubt, and what to do about it: ${nextCommand('doubt', 'list')}\n`;
