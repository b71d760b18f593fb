import { EXIT } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { formatOption, LOGGING, OPTIONS, type OptionTable } from '../../operations/options.ts';
import { type LeftRun, PURGE, type PurgedRun, type PurgeResult, purge, purgeExit } from '../../operations/purge.ts';
import { countOf, eventWords, instant, number } from '../../report/words.ts';
import { jsonText, safe } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { type ItemColumn, itemTable } from '../../util/table.ts';
import { notRewritten } from '../shared/not-rewritten.ts';
import type { Flags } from '../shared/options.ts';
import { yesOr } from '../shared/prompt.ts';

export const FLAGS = {
  ...PURGE,
  yes: { flag: '--yes', says: 'do it without asking' },
  quiet: OPTIONS.quiet,
  format: formatOption(['text', 'json']),
  ledger: OPTIONS.ledger,
  ...LOGGING,
} as const satisfies OptionTable;

export async function run(context: CommandContext, flags: Flags<typeof FLAGS>): Promise<void> {
  const result = await purge({
    ...flags,
    confirm: yesOr(flags.yes, context, 'Type "yes" to purge', (question) => purgeQuestion(question, context.width)),
  });
  const exit = purgeExit(result);
  const { dryRun, purged, left } = result;
  const message = `Personal data of ${purged.length} runs ${dryRun ? 'would be' : 'was'} taken out.`;
  context.telemetry?.note('info', 'purged', message, { dryRun, runs: purged.length, left: left.length });
  if (exit !== EXIT.done) context.exit(exit);
  if (flags.quiet === true && exit === EXIT.done) return;
  await context.out(
    flags.format === 'json' ? `${jsonText(result, 2)}\n` : purgeText(result, context.tableWidth ?? context.width),
  );
}

function purgeQuestion(question: PurgeResult, width: number): string {
  return [
    `Takes personal data out of the ledger for good: what was last touched before ${instant(question.before)}.\n`,
    runsTable(question.purged, width),
    ...changes(question, WILL_BE),
    waitingLine(question),
    question.purged.length === 0 ? '' : CONSEQUENCES,
  ].join('');
}

function purgeText(result: PurgeResult, width: number): string {
  const { dryRun, purged, left, rewritten } = result;
  const lines = changes(result, dryRun ? WOULD_BE : WERE);
  const recipients = purged.reduce((sum, one) => sum + one.recipients, 0);
  const what = `${countOf(purged.length, 'run')} with ${countOf(recipients, 'recipient')}`;
  const done = dryRun ? `Would purge ${what}` : `Purged ${what}`;
  const leftover = notRewritten(rewritten);
  const nothing = purged.length === 0 && lines.length === 0 && rewritten === null;
  return safe(
    [
      nothing
        ? `Nothing to purge before ${instant(result.before)}.\n`
        : `${done}, last touched before ${instant(result.before)}.\n`,
      runsTable(purged, width),
      ...lines,
      waitingLine(result),
      ...leftLines(left, 'open', width, OPEN_NEXT),
      ...leftLines(left, 'held', width, HELD_NEXT),
      leftover === null ? '' : `\n${leftover}\n`,
      nothing || dryRun ? '' : `\nLedger: ${result.ledger}\n`,
    ].join(''),
  );
}

type Verb = readonly [one: string, several: string];
const WILL_BE: Verb = ['will be', 'will be'];
const WOULD_BE: Verb = ['would be', 'would be'];
const WERE: Verb = ['was', 'were'];

function changes({ lists, suppressions, events }: PurgeResult, verbs: Verb): readonly string[] {
  const { hashed, expired, plain } = suppressions;
  const verb = (count: number) => verbs[count === 1 ? 0 : 1];
  const entries = (count: number) => countOf(count, 'suppression');
  return [
    ...(lists === 0 ? [] : [`${countOf(lists, 'list')} of starts that were killed ${verb(lists)} forgotten.\n`]),
    ...(hashed === 0 ? [] : [`${entries(hashed)} ${verb(hashed)} kept as a keyed hash, without the address.\n`]),
    ...(expired === 0 ? [] : [`${entries(expired)} ${verb(expired)} deleted, having expired.\n`]),
    ...eventLines(events, verbs),
    ...(plain === 0
      ? []
      : [`${entries(plain)} ${plain === 1 ? 'stays' : 'stay'} with the plain address. ${PLAIN_NEXT}`]),
  ];
}

/** Its sender would be sent to again. */
function waitingLine({ waiting }: PurgeResult): string {
  if (waiting === 0) return '';
  const [stays, it] = waiting === 1 ? ['stays', 'it'] : ['stay', 'them'];
  const who = countOf(waiting, 'reply', 'replies');
  return `${who} that may mean to opt out ${stays} until you have read ${it}: ${nextCommand('replies', 'review')}\n`;
}

/** `1,200 reports and 3 replies that came in before were taken out.` */
function eventLines(events: PurgeResult['events'], verbs: Verb): readonly string[] {
  const total = events.reports + events.replies + events.unread;
  if (total === 0) return [];
  const not = 'that handbill did not understand';
  const kinds = eventWords(events, [`event ${not}`, `events ${not}`]);
  return [`${kinds.join(', ')} ${verbs[total === 1 ? 0 : 1]} forgotten, or emptied where they still count.\n`];
}

function leftLines(
  left: readonly LeftRun[],
  why: LeftRun['why'],
  width: number,
  { says, next }: { readonly says: string; readonly next: string },
): readonly string[] {
  const runs = left.filter((one) => one.why === why);
  if (runs.length === 0) return [];
  const first = runs.find((one) => why === 'open' && one.open > 0)?.run;
  const look = first === undefined ? '' : `    ${nextCommand('report', first)}\n`;
  return [`\nLeft as ${runs.length === 1 ? 'it is' : 'they are'}: ${says}\n`, runsTable(runs, width), next, look];
}

const OPEN_NEXT = {
  says: 'a recipient has no final outcome, and could neither be sent to nor be resolved afterwards.',
  next: 'Resolve doubts (handbill doubt list), send the rest, or purge them too with --with-open.\n',
};

const HELD_NEXT = { says: 'another process is at work on it.', next: 'Purge again when it is done.\n' };
const PLAIN_NEXT = 'With `suppressionKey` in handbill.yaml, purge keeps a keyed hash of it instead.\n';

const CONSEQUENCES =
  'These runs can never be continued, and a campaign whose `exclude` or frequency cap asks about them is refused.\n';

function runsTable(runs: readonly PurgedRun[], width: number): string {
  return runs.length === 0 ? '' : itemTable(runs, COLUMNS, { width, indent: 2 });
}

const COLUMNS: readonly ItemColumn<PurgedRun>[] = [
  { title: 'run', cell: ({ run }) => run },
  { title: 'environment', shrink: true, cell: ({ environment }) => environment },
  { title: 'occurrence', shrink: true, cell: ({ occurrence }) => occurrence },
  { title: 'last touched', cell: ({ lastActivity }) => instant(lastActivity).slice(0, '2026-11-21'.length) },
  { title: 'recipients', align: 'right', cell: ({ recipients }) => number(recipients) },
  { title: 'open', align: 'right', cell: ({ open }) => (open === 0 ? '' : number(open)) },
];
