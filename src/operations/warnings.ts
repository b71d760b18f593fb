import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Campaign, ChangedRecipient, Report } from '../model.ts';
import { createAddressReader } from '../recipients/address.ts';
import { isChatId } from '../recipients/phone.ts';
import { show } from '../recipients/show.ts';
import { changedText, countOf, duration } from '../report/words.ts';
import type { RunEvent } from '../send/event.ts';
import type { Recalled } from '../send/memory.ts';
import { safeLine } from '../util/escape.ts';
import { nextCommand } from '../util/next-command.ts';
import { mask } from '../util/redact.ts';

/**
 * For senders that are neither a number nor an email address; their message may be found a moment later. It is empty
 * where an event names none.
 */
export function unassignedOptOuts(all: readonly string[]): string | null {
  const senders = all.filter((sender) => sender !== '');
  const said = [...(senders.length < all.length ? [UNNAMED_OPT_OUT] : []), ...unreadable(senders)];
  return said.length === 0 ? null : said.join('; ');
}

const UNNAMED_OPT_OUT =
  'an event that seems to be an opt-out names no sender that handbill can read: no recipient is suppressed; find out who wrote, and use handbill suppress add. webhook.fields and webhook.optOut of the environment tell handbill how to read such events';

function unreadable(senders: readonly string[]): readonly string[] {
  if (senders.length === 0) return [];
  const who = senders.length === 1 ? 'an opt-out came from a sender' : `${senders.length} opt-outs came from senders`;
  return [
    `${who} that cannot be read as an address, such as ${safeLine(mask(senders[0] ?? ''))}: unless the message that was answered is found, no recipient is suppressed. handbill replies shows ${senders.length === 1 ? 'it' : 'them'}; set defaultCountry in handbill.yaml for numbers without a country code, and use handbill suppress add`,
  ];
}

/** After a review: opt-outs for which nothing could be suppressed. */
export function unassignedSentences(senders: readonly string[]): readonly string[] {
  if (senders.length === 0) return [];
  const from = senders.length === 1 ? 'a sender' : `${senders.length} senders`;
  return [`No recipient is suppressed for ${from} that cannot be read as an address: use \`handbill suppress add\`.`];
}

/** The warning about an opt-out in a file that belongs to no known address. */
export function unassignedOptOut(
  sender: string,
  country: string | null,
  at: { readonly file: string; readonly line?: number },
): Diagnostic {
  if (sender === '') {
    const message = 'An event that seems to be an opt-out names no sender that handbill can read.';
    const hint =
      'No recipient is suppressed for it: find out who wrote, and add the address with `handbill suppress add`. `webhook.fields` and `webhook.optOut` of the environment in handbill.yaml say how such events are read.';
    return problem('unassigned-opt-out', message, { at, hint });
  }
  const isEmail = sender.includes('@') && !isChatId(sender);
  const found = createAddressReader(isEmail ? 'email' : 'msisdn', country)(sender);
  const why = 'problem' in found ? found : { problem: 'is no address' };
  const own = (why.hint ?? '').replace('`recipients.defaultCountry`', '`defaultCountry` in handbill.yaml');
  const hint = `${own}${own === '' ? '' : ' '}No recipient is suppressed for it: find out who wrote, and add the address with \`handbill suppress add\`.`;
  const message = `The sender ${show(sender)} of an opt-out ${why.problem}, and it names no message that is known.`;
  return problem('unassigned-opt-out', message, { at, hint });
}

/** They wait for a window that no start finds open. `file` is that of the campaign, if known. */
export function zonelessWarning(count: number, { name, file }: { readonly name: string; readonly file?: string }) {
  if (count === 0) return [];
  const message = `${countOf(count, 'recipient')} ${count === 1 ? 'is' : 'are'} not sent to: the time zone is not known.`;
  const hint =
    'Name a column with it (`recipients.timeZone`), or a zone for all of them (`send.window.unknown`), and send again ' +
    `with --allow input-changed. Who waits: ${nextCommand('report', name, '--format', 'csv', '--outcome', 'deferred')}`;
  return [warning('zone-unknown', message, { at: file === undefined ? undefined : { file }, hint })];
}

/** Recipients that one warning names; a report has all of them. */
const NAMED = 10;

/** Where messages went, and which addresses the list has since: a line for each recipient, masked for a terminal. */
export function changedLines(changed: readonly ChangedRecipient[], most: number): readonly string[] {
  const lines = changed.slice(0, most).map(({ line, to, listTo, sentBefore }) => {
    const known = sentBefore ? ', which was sent to before' : '';
    return `line ${line}: ${changedText(mask(to), mask(listTo))}${known}`;
  });
  return changed.length > most ? [...lines, `and ${countOf(changed.length - most, 'more recipient')}`] : lines;
}

/** Recipients whose address was corrected after the message get no second one automatically. */
export function changedWarning({ changed = [] }: Pick<Report, 'changed'>, file?: string): readonly Diagnostic[] {
  if (changed.length === 0) return [];
  const who = `${countOf(changed.length, 'recipient')} ${changed.length === 1 ? 'has' : 'have'} another address in the list`;
  const message = `${who} than the message went to: ${changedLines(changed, NAMED).join('; ')}.`;
  const isDoubtful = changed.some(({ outcome }) => outcome === 'in-doubt');
  const hint = changed.some(({ outcome, sentBefore }) => outcome === 'accepted' && !sentBefore)
    ? '`send --retry corrected` sends the message to the new address; it shows who, and asks.'
    : isDoubtful
      ? 'Find out first whether the message arrived: `handbill doubt list`.'
      : 'Both addresses were sent to: nothing is left to send.';
  return [warning('address-changed', message, { at: file === undefined ? undefined : { file }, hint })];
}

/** One warning for all of them: each row says where its message went. */
export function changedInPreview(count: number, { recipients }: Pick<Campaign, 'recipients'>): readonly Diagnostic[] {
  if (count === 0) return [];
  const who = `${countOf(count, 'recipient')} ${count === 1 ? 'has' : 'have'} another address in the list`;
  const hint =
    '`send --allow input-changed --retry corrected` sends the message to the new address where the first one was accepted; it shows who, and asks.';
  return [
    warning('address-changed', `${who} than the message went to; nothing more will be sent.`, {
      at: { file: recipients.file },
      hint,
    }),
  ];
}

/** Lines for people about the loss and recovery of a shared ledger; null: the event is another one. */
export function ledgerText(event: RunEvent): string | null {
  switch (event.kind) {
    case 'ledger-lost': {
      const wait = `Nothing more is sent until it is back; it is waited for ${duration(event.waitMs ?? 0)}.`;
      return `${event.error.diagnostics.map(({ message }) => message).join(' ')}\n${wait}\n`;
    }
    case 'recalled':
      return `${event.run.id}: ${recalledText(event)}\n`;
    case 'ledger-back':
      return 'The ledger is back: the run goes on.\n';
    default:
      return null;
  }
}

/** The loss of a recovered server; recipients whose claim it lacked are in doubt (failures.md, J6). */
export function recalledText({ restored }: Pick<Recalled, 'restored'>): string {
  if (restored === null) return 'the server that took over does not know this run; only the API knows who was sent to.';
  return `the server that took over lacked ${countOf(restored, 'claim')} of this process, now in doubt.`;
}
