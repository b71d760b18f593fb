import process from 'node:process';
import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { ResolvedOptions } from '../../operations/options.ts';
import { sayLedger } from '../../operations/project.ts';
import { type ReconciledFile, type ReconcileResult, type TakenFiles, takeFiles } from '../../operations/reconcile.ts';
import { countOf, eventWords, number } from '../../report/words.ts';
import { diagnosticRecord } from '../../util/diagnostic-text.ts';
import { jsonText, safe } from '../../util/escape.ts';
import { mask } from '../../util/redact.ts';
import { listWithAnd } from '../../util/words.ts';
import { complain } from '../shared/complain.ts';
import { withProgress } from '../shared/progress.ts';

interface FromFlags extends ResolvedOptions {
  readonly environment?: string;
  readonly dryRun?: boolean;
  readonly quiet?: boolean;
  readonly format: 'text' | 'json';
}

/** `listen --from`: imports the events of files, and receives nothing. */
export async function importFiles(files: readonly string[], given: FromFlags, context: CommandContext): Promise<void> {
  const options = { ...given, ...(files.includes('-') ? { input: process.stdin } : {}) };
  const result = await withProgress(context, { label: 'Reading', quiet: given.quiet }, (meter) =>
    takeFiles(files, { ...options, meter }),
  );
  note(result, context);
  const isWrong = result.diagnostics.some(({ severity }) => severity === 'error');
  if (isWrong) context.exit(EXIT.refused);
  const isQuiet = given.quiet === true && !isWrong;
  if (given.format === 'text' && !isQuiet) complain(context, result.diagnostics);
  if (isQuiet) return;
  const document = { version: 1, ...result, diagnostics: result.diagnostics.map(diagnosticRecord) };
  await context.out(given.format === 'json' ? `${jsonText(document, 2)}\n` : reconcileText(result));
  if (given.dryRun !== true) await sayLedger(context, given.ledger);
}

/** In the log. */
export function note(
  result: Pick<ReconcileResult, 'dryRun' | 'doubtsResolved' | 'suppressed' | 'lifted' | 'files' | 'diagnostics'>,
  { telemetry }: Pick<CommandContext, 'telemetry'>,
): void {
  const { dryRun, doubtsResolved, suppressed, lifted, files, diagnostics } = result;
  if (telemetry === undefined) return;
  const sum = (name: 'reports' | 'replies' | 'unread' | 'known') =>
    files.reduce((total, file) => total + file[name], 0);
  const counts = { reports: sum('reports'), replies: sum('replies'), unread: sum('unread'), known: sum('known') };
  const fields = { ...counts, suppressed: suppressed.length, lifted: lifted.length, dryRun, doubtsResolved };
  telemetry.note('info', 'reconciled', `${files.length} files were read.`, fields);
  telemetry.said(diagnostics);
}

const NAMED = 20;

function reconcileText(result: TakenFiles): string {
  const { dryRun, environment, files, unmatched, doubtsResolved, repliesJoined, suppressed, lifted, fallbacksDue } =
    result;
  const lines = [
    ...(dryRun ? ['Nothing was changed. Without --dry-run:'] : []),
    ...files.map(fileLine),
    ...(unmatched > 0
      ? [
          `${countOf(unmatched, 'delivery report')} ${unmatched === 1 ? 'matches' : 'match'} no message of ${environment} in this ledger.`,
        ]
      : []),
    ...(doubtsResolved > 0
      ? [`${countOf(doubtsResolved, 'doubt')} resolved: reports say that the messages were received.`]
      : []),
    ...(repliesJoined > 0
      ? [`${countOf(repliesJoined, 'reply', 'replies')} joined to the message that was answered.`]
      : []),
    ...addressLines('suppressed', suppressed),
    ...addressLines('taken off the suppression list again', lifted),
    ...fallbacksDue.map(({ recipients, campaign, command }) => {
      const what = recipients === 1 ? '1 message of' : `${number(recipients)} messages of`;
      return `${what} ${campaign} did not arrive, as reports say. Sending again sends the fallback:\n    ${command}`;
    }),
  ];
  return safe(lines.map((line) => `${line}\n`).join(''));
}

/** `reports.csv: 1,100 delivery reports and 20 replies are new, 84 events were known`. */
export function fileLine({ file, events, reports, replies, unread, known }: ReconciledFile): string {
  if (events === 0) return `${file}: no events.`;
  const added = eventWords({ reports, replies, unread }, ['event that is neither', 'events that are neither']);
  const isOne = reports + replies + unread === 1;
  const fresh = added.length === 0 ? 'nothing is new' : `${listWithAnd(added)} ${isOne ? 'is' : 'are'} new`;
  return `${file}: ${fresh}${known === 0 ? '' : `, ${countOf(known, 'event')} known already`}.`;
}

export function addressLines(says: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) return [];
  const more = addresses.length - NAMED;
  const shown = addresses.slice(0, NAMED).map(mask).join(', ');
  return [
    `${countOf(addresses.length, 'address', 'addresses')} ${says}: ${shown}${more > 0 ? ` and ${number(more)} more` : ''}.`,
  ];
}
