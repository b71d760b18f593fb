import { EXIT, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { ERASE, type ErasedPerson, eraseExit, erasePerson } from '../../operations/erase.ts';
import { formatOption, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { type Person, type PersonMessage, person } from '../../operations/person.ts';
import { projectHere } from '../../operations/project.ts';
import type { ReceivedReply } from '../../operations/replies.ts';
import { failuresText } from '../../plan/unreachable.ts';
import { createFormats, type Formats } from '../../report/locale.ts';
import { countOf, eventWords } from '../../report/words.ts';
import { jsonText, safe, safeLine } from '../../util/escape.ts';
import { mask, maskText } from '../../util/redact.ts';
import { proseWidth, wrap } from '../../util/table.ts';
import { notRewritten } from '../shared/not-rewritten.ts';
import type { Flags } from '../shared/options.ts';
import { yesOr } from '../shared/prompt.ts';

export const FLAGS = {
  erase: { flag: '--erase', says: 'take the person out of the ledger for good, and never send to the address again' },
  ...ERASE,
  yes: { flag: '--yes', says: 'with --erase: do it without asking' },
  format: formatOption(['text', 'json']),
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

type PersonFlags = Flags<typeof FLAGS>;

export async function run(context: CommandContext, flags: PersonFlags, address: string): Promise<void> {
  if (flags.erase === true) {
    await erase(address, flags, context);
    return;
  }
  if (flags.yes === true || flags.keepSuppressed === true) {
    const flag = flags.yes === true ? '--yes' : '--keep-suppressed';
    throw refuse(problem('usage', `${flag} goes with --erase.`, { hint: 'Without --erase, nothing is changed.' }));
  }
  const found = await person(address, flags);
  if (flags.format === 'json') return await context.out(`${jsonText({ version: 1, ...found }, 2)}\n`);
  const { timeZone } = projectHere(flags).project;
  await context.out(asText(found, proseWidth(context.width), createFormats(null, timeZone)));
}

async function erase(address: string, flags: PersonFlags, context: CommandContext): Promise<void> {
  const erased = await erasePerson(address, {
    ...flags,
    confirm: yesOr(flags.yes, context, 'Type "yes" to erase', (planned) => questionText(address, planned)),
  });
  const { runs, rewritten } = erased;
  const fields = { runs: runs.length, recipients: recipientsOf(erased) };
  context.telemetry?.note('info', 'erased', `A person was erased from ${countOf(runs.length, 'run')}.`, fields);
  const exit = eraseExit({ rewritten });
  if (exit !== EXIT.done) context.exit(exit);
  await context.out(flags.format === 'json' ? `${jsonText(erased, 2)}\n` : erasedText(erased));
}

function recipientsOf({ runs }: Pick<ErasedPerson, 'runs'>): number {
  return runs.reduce((sum, { recipients }) => sum + recipients, 0);
}

function questionText(address: string, planned: ErasedPerson): string {
  const rows = `${countOf(recipientsOf(planned), 'row')} of ${countOf(planned.runs.length, 'run')}`;
  return safe(
    [
      safeLine(`Erases ${mask(address)} from the ledger for good: ${rows}, with delivery reports and replies.`),
      ...runLines(planned),
      `${suppressedLine(planned, 'will be')}`,
      '',
    ].join('\n'),
  );
}

function erasedText(erased: ErasedPerson): string {
  const { events, rewritten, ledger } = erased;
  const leftover = notRewritten(rewritten);
  const none = { reports: 0, replies: 0, unread: 0 };
  const rows = `${countOf(recipientsOf(erased), 'row')} of ${countOf(erased.runs.length, 'run')}`;
  const more = eventWords(events ?? none, ['event that was not understood', 'events that were not understood']);
  return safe(
    [
      `Erased ${[rows, ...more].join(', ')}.`,
      ...runLines(erased),
      suppressedLine(erased, 'is'),
      ...(leftover === null ? [] : ['', leftover]),
      '',
      ELSEWHERE,
      safeLine(`Ledger: ${ledger}`),
      '',
    ].join('\n'),
  );
}

function runLines({ runs }: Pick<ErasedPerson, 'runs'>): readonly string[] {
  return runs.map(({ run: id, environment, occurrence }) => safeLine(`  ${id} (${environment}, ${occurrence})`));
}

function suppressedLine({ suppressed }: Pick<ErasedPerson, 'suppressed'>, verb: 'is' | 'will be'): string {
  const { as, addresses } = suppressed;
  const how = as === 'hash' ? ', as a keyed hash' : ', as it is';
  const others = addresses - 1;
  const more = others === 0 ? '' : `, and so ${verb === 'is' ? (others === 1 ? 'is' : 'are') : verb} ${OTHERS(others)}`;
  return `The address ${verb} suppressed in all campaigns${how}${more}.`;
}

const OTHERS = (count: number): string =>
  count === 1 ? 'another address of the same rows' : `${count} other addresses of the same rows`;

const ELSEWHERE = `Not in the ledger, so look there too:
  lists, suppression files, and their history in git
  exported reports and previews, logs and received events that you keep
  backups, and a rescued copy of the ledger (ledger.db.rescued)
  the messaging provider
As long as a list has the person, the next run records them as skipped: take them out of the lists first.`;

/** The user has just typed it, in this or another spelling. */
function isTyped({ given, address }: Person): boolean {
  const typed = given.toLowerCase().replace(/^[+0]+|[\s()./-]/g, '');
  return typed.length >= 6 && address.replace(/[\s()./-]/g, '').endsWith(typed.replace(/^0+/, ''));
}

function asText(found: Person, width: number, formats: Formats): string {
  const { address, suppressed, entries, unreachable = [], messages, replies, unread, reports, mentions } = found;
  const active = entries.filter((entry) => entry.active);
  const lists = active.map(({ list, topic, campaigns }) => {
    // An entry may not count for everything.
    const only = [...(topic === null ? [] : [`the topic ${topic}`]), ...(campaigns ?? [])].join(', ');
    return only === '' ? list : `${list} (only for ${only})`;
  });
  const isPart = suppressed === false && active.length > 0;
  const known = suppressed === true ? 'yes' : isPart ? 'in part' : 'no';
  const verdict = suppressed === null ? 'not known: a list or its key cannot be read' : known;
  return safe(
    [
      safeLine(isTyped(found) ? address : mask(address)),
      safeLine(`Suppressed  ${[verdict, ...lists].join(', ')}`),
      ...unreachable.map(({ environment, failures, lastFailure }) =>
        safeLine(`Unreachable in ${environment}: ${failuresText(failures, lastFailure)}`),
      ),
      `Messages    ${messages.length === 0 ? 'none' : messages.length}`,
      ...messages.map((message) => messageLine(message, formats)),
      `Replies     ${replies.length === 0 ? 'none' : replies.length}`,
      ...replies.flatMap((reply) => replyLines(reply, width, formats)),
      `Reports     ${reports === 0 ? 'none' : reports}`,
      ...(unread.length === 0
        ? []
        : [`Unread      ${countOf(unread.length, 'event')} that handbill did not understand`]),
      ...(mentions === 0
        ? []
        : [`Mentioned   in ${countOf(mentions, 'error or reply', 'errors or replies')} about others`]),
      '',
    ].join('\n'),
  );
}

function messageLine({ campaign, environment, occurrence, outcome }: PersonMessage, { instant }: Formats): string {
  const { channel, outcome: state, reason, delivery, updatedAt, inputs } = outcome;
  const at = typeof updatedAt === 'string' ? instant(updatedAt) : 'not sent';
  const facts = [state, reason, delivery, inputs === null ? null : `inputs ${inputs}`];
  return safeLine(
    `  ${at}  ${campaign} (${environment}, ${occurrence})  ${channel}: ${facts.filter((fact) => fact !== null).join(', ')}`,
  );
}

function replyLines(reply: ReceivedReply, width: number, { instant }: Formats): readonly string[] {
  const { at, receivedAt, campaign, meaning, text } = reply;
  const about = campaign === null ? '' : `  ${campaign}`;
  const said = safeLine(`${instant(at ?? receivedAt)}${about}  ${meaning}: ${maskText(text)}`);
  return wrap(said, width - 4).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
}
