import { placelessOptOut } from '../../operations/placeless.ts';
import type { ReconciledFile, ReconcileResult } from '../../operations/reconcile.ts';
import { countOf, number } from '../../report/words.ts';
import { mask } from '../../util/mask.ts';
import { safe } from '../../util/safe.ts';

/** Addresses that are named; the rest is counted. */
const NAMED = 20;

/** What was taken over, what followed from it, and what to do next. */
export function reconcileText(result: ReconcileResult): string {
  const { dryRun, files, doubtsSettled, repliesJoined, suppressed, lifted, fallbacksDue } = result;
  const lines = [
    ...(dryRun ? ['Nothing was changed. Without --dry-run:'] : []),
    ...files.map(fileLine),
    ...(doubtsSettled > 0
      ? [`${countOf(doubtsSettled, 'doubt')} settled: reports say that the messages were received.`]
      : []),
    ...(repliesJoined > 0
      ? [`${countOf(repliesJoined, 'reply', 'replies')} joined to the message that was answered.`]
      : []),
    ...addressLines('suppressed', suppressed),
    ...placelessLines(suppressed),
    ...addressLines('taken off the suppression list again', lifted),
    ...fallbacksDue.map(({ recipients, campaign, command }) => {
      const what = recipients === 1 ? '1 message of' : `${number(recipients)} messages of`;
      return `${what} ${campaign} did not arrive, as reports say. Sending again sends the fallback:\n    ${command}`;
    }),
  ];
  return safe(lines.map((line) => `${line}\n`).join(''));
}

/** `reports.csv: 1,100 delivery reports and 20 replies are new, 84 events were known`. */
function fileLine({ file, events, reports, replies, unread, known }: ReconciledFile): string {
  if (events === 0) return `${file}: no events.`;
  const added = [
    ...counted(reports, 'delivery report', 'delivery reports'),
    ...counted(replies, 'reply', 'replies'),
    ...counted(unread, 'event that is neither', 'events that are neither'),
  ];
  const isOne = reports + replies + unread === 1;
  const fresh = added.length === 0 ? 'nothing is new' : `${listed(added)} ${isOne ? 'is' : 'are'} new`;
  return `${file}: ${fresh}${known === 0 ? '' : `, ${countOf(known, 'event')} known already`}.`;
}

function placelessLines(suppressed: readonly string[]): readonly string[] {
  const trouble = placelessOptOut(suppressed);
  return trouble === null ? [] : [`${trouble.charAt(0).toUpperCase()}${trouble.slice(1)}.`];
}

/** `a, b and c`. */
function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1) ?? ''].filter((part) => part !== '').join(' and ');
}

function counted(count: number, one: string, several: string): readonly string[] {
  return count === 0 ? [] : [countOf(count, one, several)];
}

function addressLines(says: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0) return [];
  const more = addresses.length - NAMED;
  const shown = addresses.slice(0, NAMED).map(mask).join(', ');
  return [
    `${countOf(addresses.length, 'address', 'addresses')} ${says}: ${shown}${more > 0 ? ` and ${number(more)} more` : ''}.`,
  ];
}
