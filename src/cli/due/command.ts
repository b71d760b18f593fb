import { EXIT, type ExitStatus, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { calledHere, DUE, type DueItem, type DueResult, due, type FetchedReports } from '../../operations/due.ts';
import { formatOption, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { NOTHING_SCHEDULED } from '../../operations/schedule.ts';
import { PLAIN } from '../../report/locale.ts';
import { reviewStep, sendCommand } from '../../report/next-steps.ts';
import { countOf, reasonCounts } from '../../report/words.ts';
import { nextWords } from '../../schedule/words.ts';
import { diagnosticRecord } from '../../util/diagnostic-text.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { placeOfLedger } from '../../util/ledger-address.ts';
import { addressLines, fileLine, note } from '../listen/from.ts';
import { complain } from '../shared/complain.ts';
import { confirm } from '../shared/confirm.ts';
import type { Flags } from '../shared/options.ts';
import { printSend } from '../shared/print-send.ts';
import { startProgressLine } from '../shared/progress.ts';
import { watchSignals } from '../shared/signals.ts';

export const FLAGS = {
  yes: OPTIONS.yes,
  ...DUE,
  quiet: OPTIONS.quiet,
  ledger: OPTIONS.ledger,
  format: formatOption(['text', 'json']),
  ...LOGGING,
  metricsFile: OPTIONS.metricsFile,
} as const satisfies OptionTable;

type DueFlags = Flags<typeof FLAGS>;

export async function run(context: CommandContext, flags: DueFlags, paths: readonly string[]): Promise<void> {
  context.exit(await sendDue(paths, flags, context));
}

async function sendDue(paths: readonly string[], flags: DueFlags, context: CommandContext): Promise<ExitStatus> {
  if (flags.at !== undefined && flags.dryRun !== true) {
    const hint = 'Add --dry-run. What is sent is sent now.';
    throw refuse(problem('usage', '--at is only for --dry-run.', { hint }));
  }
  const { log: _log, ...wanted } = flags;
  const { format, environment, quiet = false, dryRun = false } = flags;
  using signals = watchSignals(context.err);
  const line = startProgressLine(context, quiet);
  const printing = { ...context, format, environment, quiet, dryRun };
  const { telemetry } = context;
  try {
    const result = await due(paths, {
      ...wanted,
      confirm: flags.yes === true || ((question) => confirm(question, context, line, signals.first)),
      signal: signals.first,
      cutSignal: signals.second,
      onEvent(event) {
        telemetry?.follow(event);
        if (event.kind === 'fetched') return sayFetched(event.fetched, printing, context);
        if (event.kind !== 'item') {
          if (event.kind !== 'due' && event.kind !== 'campaign' && event.kind !== 'missed') line.follow(event);
          return undefined;
        }
        line.stop();
        return printItem(event.item, printing);
      },
    });
    if (flags.format === 'json') await printResult(result, printing);
    printLast(result, printing);
    const ledgers = new Set(result.items.flatMap(({ result: sent }) => (sent === null ? [] : [sent.report.ledger])));
    if (!quiet) for (const ledger of ledgers) context.err(`Ledger: ${safeLine(placeOfLedger(ledger, context.cwd))}\n`);
    if (result.exit === EXIT.bug || result.exit === EXIT.ledger) return result.exit;
    return signals.status() ?? result.exit;
  } finally {
    line.stop();
  }
}

type DuePrinting = CommandContext & Required<Pick<DueFlags, 'format' | 'environment' | 'quiet' | 'dryRun'>>;

/** On stderr: what is sent is the answer. */
function sayFetched(fetched: FetchedReports, printing: DuePrinting, context: CommandContext): void {
  const { quiet } = printing;
  note({ ...fetched, dryRun: false }, context);
  const files = fetched.files.filter(({ events }) => events > 0);
  const lines = [...files.map(fileLine), ...addressLines('suppressed', fetched.suppressed)];
  if (!quiet) for (const line of lines) context.err(`${safeLine(line)}\n`);
  if (!quiet || !fetched.isRepeated) complain(printing, fetched.diagnostics);
}

/** A line and the report on stdout, diagnostics on stderr. With `quiet`, only results that need attention. */
async function printItem(item: DueItem, printing: DuePrinting): Promise<void> {
  const { quiet, format, out } = printing;
  if (item.action === 'none' || (quiet && item.isRepeated)) return;
  if (quiet && item.exit === EXIT.done) {
    // An instant that was passed over is never sent automatically, so it is reported even with `--quiet`.
    const lost = item.diagnostics.filter(({ code }) => code === 'schedule-new');
    complain(printing, lost);
    return;
  }
  if (format === 'text') {
    await out(`${safeLine(said(item, printing))}\n`);
    if (item.result !== null) {
      const shown = {
        ...printing,
        format: 'text',
        quiet: false,
        campaign: calledHere(item.campaign, item.file),
      } as const;
      await printSend(item.result, { ...shown, planPath: item.result.standingPlan });
      await out('\n');
    }
  }
  // The line says the same.
  const isSaid = format === 'text' && item.action === 'miss';
  const others = item.diagnostics.filter(({ code }) => !isSaid || code !== 'schedule-new');
  complain(printing, others, { limit: SHOWN });
}

const SHOWN = 20;

function said(item: DueItem, { dryRun, environment }: DuePrinting): string {
  const name = `${item.campaign ?? item.file}${item.occurrence === null ? '' : ` (${item.occurrence})`}`;
  const { count = 0, first, last } = item.missed ?? {};
  const instants = count === 1 ? first : `${count} instants, ${first} to ${last}`;
  const missed = item.missed === null ? '' : ` Missed before it: ${instants}.`;
  const command = sendCommand(
    { environment, occurrence: item.occurrence ?? 'once' },
    calledHere(item.campaign, item.file),
    null,
  );
  const before = item.why === 'earlier' ? ' by an earlier call' : '';
  switch (item.action) {
    case 'send': {
      if (dryRun) return `${name}: would be sent to ${environment}${before}.${missed}`;
      return `${name}: ${sentWords(item.result, environment)}.${missed}`;
    }
    case 'continue':
      return `${name}: its unfinished run ${dryRun ? `would be continued${before}` : 'was continued'}.`;
    case 'miss':
      return item.why === 'new'
        ? `${name}: not sent. Its schedule, or the campaign as it is now, was first seen after this instant. Send it with: ${command}`
        : `${name}: missed, and not sent any more.${missed}`;
    case 'refuse':
      return `${name}: not sent.${missed}`;
    default:
      break;
  }
  if (item.why === 'running') return `${name}: left to another process that is sending it.`;
  if (item.why === 'late') return `${name}: left unfinished, because it is too old by now.`;
  if (item.why === 'waiting') {
    return `${name}: left for now. The remaining recipients wait for a window to open, for the time of a follow-up, for the canary to go on, or for the winner of a test.`;
  }
  if (item.why === 'paused')
    return `${name}: not sent, because it is paused. It is due again once the pause has ended, if it is not too late by then.${missed}`;
  if (item.nextPeriod !== null) {
    const { begins, isInTime } = item.nextPeriod;
    const then = isInTime
      ? `It is due again when the next period begins, on ${begins}`
      : `It is missed unless the budget is raised: the next period begins on ${begins}`;
    return `${name}: not sent, because the budget has no room for it. ${then}.${missed}`;
  }
  if (item.why === 'superseded') return `${name}: left unfinished, because a later instant is due.`;
  return `${name}: left halted. When its cause is gone, continue with: ${command}`;
}

function sentWords(result: DueItem['result'], environment: string): string {
  // A run that did not finish may have sent to no recipient: what became of it is in its report.
  if (result?.report.state !== 'finished') return `begun in ${environment}, not finished`;
  if (result.posted > 0) return `sent to ${environment}`;
  const all = countOf(result.report.totals.recipients, 'recipient');
  const why = reasonCounts(result.report, 'skipped');
  return `nothing was sent to ${environment}: ${why === '' ? 'the list has no rows' : `${all} skipped (${why})`}`;
}

/** The last lines: that nothing was due, and what is next; that some campaigns were not checked, or replies wait. */
function printLast(result: DueResult, printing: DuePrinting): void {
  const { quiet, err } = printing;
  // cron mails each line: with `quiet` this one is only printed where the fetch of this call brought replies.
  const isNew = result.fetched.some(({ files }) => files.some(({ replies }) => replies > 0));
  if (result.review > 0 && (isNew || !quiet)) {
    const { text, command } = reviewStep(result.review, PLAIN);
    err(`${text} ${command}\n`);
  }
  if (result.stopped) err('Stopped before every campaign was checked. The next call checks the rest.\n');
  if (quiet || result.items.some(({ action }) => action !== 'none')) return;
  const next = result.items.flatMap(({ next, campaign, schedule }) =>
    next === null || schedule === null ? [] : [{ next, campaign, schedule }],
  );
  const [first] = next.toSorted((a, b) => (a.next < b.next ? -1 : 1));
  const words = first && ` ${first.campaign}: ${nextWords(first.schedule, first.next, Date.parse(result.at))}.`;
  err(result.items.length === 0 ? `${NOTHING_SCHEDULED}\n` : `Nothing is due.${safeLine(words ?? '')}\n`);
  // A pause of the environment is that of each campaign.
  const paused = result.items.flatMap(({ diagnostics }) => diagnostics);
  complain(printing, [...new Map(paused.map((one) => [one.message, one])).values()]);
}

/** One document, described by schemas/due.schema.json. */
async function printResult(result: DueResult, { quiet, out }: DuePrinting): Promise<void> {
  if (quiet && result.items.every((item) => item.exit === EXIT.done || item.isRepeated)) return;
  const { environment, at, dryRun, stopped, exit, review, items } = result;
  const fetched = result.fetched.map(({ isRepeated: _, ...one }) => {
    return { ...one, diagnostics: one.diagnostics.map(diagnosticRecord) };
  });
  const campaigns = items.map(
    ({ result: sent, diagnostics, isRepeated: _, schedule: _written, nextPeriod: _period, ...item }) => ({
      ...item,
      report: sent?.report ?? null,
      diagnostics: diagnostics.map(diagnosticRecord),
    }),
  );
  await out(`${jsonText({ version: 1, environment, at, dryRun, stopped, exit, review, fetched, campaigns }, 2)}\n`);
}
