import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { DueItem, DueResult } from '../../operations/due.ts';
import { NOTHING_SCHEDULED } from '../../operations/schedule-campaigns.ts';
import { sendCommand } from '../../report/next-steps.ts';
import { diagnosticRecord } from '../../util/diagnostic-record.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { jsonText, safeLine } from '../../util/safe.ts';
import { printSend } from '../shared/print-send.ts';

export interface DuePrinting extends CommandContext {
  readonly quiet: boolean;
  readonly format: 'text' | 'json';
  readonly environment: string;
  readonly dryRun: boolean;
}

/**
 * Says what became of one occurrence as soon as it is known: a line and the report on stdout, what is wrong on stderr.
 * With `quiet`, only of what did not go well.
 */
export async function printItem(item: DueItem, printing: DuePrinting): Promise<void> {
  const { quiet, format, err, out, colour } = printing;
  if (item.action === 'none') return;
  if (quiet && item.exit === EXIT.done) {
    // What is passed over once is never sent by itself: that is no wish of those who want quiet.
    const lost = item.diagnostics.filter(({ code }) => code === 'schedule-new');
    if (lost.length > 0) err(formatDiagnostics(lost, { colour: colour.err }));
    return;
  }
  if (format === 'text') {
    await out(`${safeLine(said(item, printing))}\n`);
    if (item.result !== null) {
      await printSend(item.result, { ...printing, format: 'text', quiet: false, campaign: item.file });
      await out('\n');
    }
  }
  if (item.diagnostics.length > 0) err(formatDiagnostics(item.diagnostics, { colour: colour.err, limit: SHOWN }));
}

const SHOWN = 20;

/** One line: which campaign, which occurrence, what of it. */
function said(item: DueItem, { dryRun, environment }: DuePrinting): string {
  const name = `${item.campaign ?? item.file}${item.occurrence === null ? '' : ` (${item.occurrence})`}`;
  const missed = item.missed === null ? '' : ` ${missedWords(item)}`;
  const command = sendCommand({ environment, occurrence: item.occurrence ?? 'once' }, item.file, null);
  switch (item.action) {
    case 'send':
      return `${name}: ${dryRun ? `would be sent to ${environment}` : `sent to ${environment}`}.${missed}`;
    case 'continue':
      return `${name}: ${dryRun ? 'its unfinished run would be continued' : 'its unfinished run was continued'}.`;
    case 'miss':
      return item.why === 'new'
        ? `${name}: not sent. The schedule, or the campaign as it is now, is newer than this instant. Send it with: ${command}`
        : `${name}: missed, and not sent any more.`;
    case 'refuse':
      return `${name}: not sent.`;
    default:
      break;
  }
  if (item.why === 'running') return `${name}: left to another process that is sending it.`;
  if (item.why === 'late') return `${name}: left unfinished, because it is too old by now.`;
  if (item.why === 'waiting') {
    return `${name}: left for now. Whoever is left waits for a window to open, for the canary to go on, or for the winner of a test.`;
  }
  if (item.why === 'superseded') return `${name}: left unfinished, because a later instant is due.`;
  return `${name}: left halted. When its cause is gone, continue with: ${command}`;
}

function missedWords({ missed }: DueItem): string {
  if (missed === null) return '';
  const { count, first, last } = missed;
  return count === 1 ? `Missed before it: ${first}.` : `Missed before it: ${count} instants, ${first} to ${last}.`;
}

/** The last words: that nothing was due, and what comes next; or that not everything was looked at. */
export function printLast(result: DueResult, { quiet, err }: DuePrinting): void {
  if (result.stopped) err('Stopped: not every campaign was looked at. The next call does the rest.\n');
  if (quiet || result.items.some(({ action }) => action !== 'none')) return;
  const next = result.items.flatMap((item) => (item.next === null ? [] : [{ name: item.campaign, at: item.next }]));
  const [first] = next.toSorted((a, b) => (a.at < b.at ? -1 : 1));
  if (result.items.length === 0) err(`${NOTHING_SCHEDULED}\n`);
  else err(first === undefined ? 'Nothing is due.\n' : `Nothing is due. Next: ${first.name} at ${first.at}.\n`);
}

/** One document, described by schemas/due.schema.json. */
export async function printResult(result: DueResult, { quiet, out }: DuePrinting): Promise<void> {
  if (quiet && result.exit === EXIT.done) return;
  const { environment, at, dryRun, stopped, exit, items } = result;
  const campaigns = items.map(({ result: sent, diagnostics, ...item }) => ({
    ...item,
    report: sent?.report ?? null,
    diagnostics: diagnostics.map(diagnosticRecord),
  }));
  await out(`${jsonText({ version: 1, environment, at, dryRun, stopped, exit, campaigns }, 2)}\n`);
}
