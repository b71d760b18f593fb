import type { Command } from 'commander';
import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { type FlagsOf, formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { optionsHere, projectHere, sayLedger } from '../../operations/project.ts';
import {
  EXPORT_REPLIES,
  earlierText,
  exportCsv,
  exportJsonl,
  exportReplies,
  listReplies,
  REPLIES,
  type ReceivedReply,
  type RepliesOptions,
  type ReviewRepliesResult,
  readReplies,
  readSince,
  reviewReplies,
} from '../../operations/replies.ts';
import { unassignedSentences } from '../../operations/warnings.ts';
import { createFormats } from '../../report/locale.ts';
import { countOf } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { LIST_FORMATS } from '../../util/list-text.ts';
import { mask } from '../../util/redact.ts';
import { complain } from '../shared/complain.ts';
import { addExamples, addOptions, wholeNumber } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { askLine } from '../shared/prompt.ts';
import { formatReplies, type RepliesShown, textOf } from './formats.ts';

export function configure(command: Command, context: CommandContext): void {
  addExamples(command, [
    ['handbill replies', 'what people wrote back, newest first'],
    ['handbill replies review', 'replies that wait for review'],
    ['handbill replies review --as opt-out 17 21', ''],
    ['handbill replies export survey -o answers.csv', 'with the columns of the list'],
  ]);
  configureList(command, context);
  configureReview(command, context);
  configureExport(command, context);
}

const FILTERS = {
  meanings: REPLIES.meanings,
  questions: REPLIES.questions,
  since: { flag: '--since <time>', says: 'written since: 7d, a day in UTC (2026-11-21) or an instant' },
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

function filtersOf<Given extends FlagsOf<typeof FILTERS>>(given: Given, context: CommandContext) {
  const { since } = given;
  return {
    ...given,
    ...optionsHere(context, given.ledger),
    ...(since === undefined ? {} : { sinceMs: readSince(since, context.now()) }),
  };
}

function warnBy(context: CommandContext): (why: string) => void {
  return (why) => context.err(`Not every reply may show its campaign: ${safeLine(why)}\n`);
}

const LIST_FLAGS = {
  campaign: REPLIES.campaign,
  full: { flag: '--full', says: 'show whole addresses, whole texts and all replies in text too' },
  ...WRITING,
  ...FILTERS,
  format: formatOption(LIST_FORMATS),
} as const satisfies OptionTable;

function configureList(command: Command, context: CommandContext): void {
  const list = command
    .command('list', { isDefault: true })
    .description('Shows replies, newest first: addresses are masked in text only.');
  addExamples(addOptions(list, LIST_FLAGS, context), [
    ['handbill replies --campaign survey --since 7d', ''],
    ['handbill replies --meaning opt-out --format csv -o out.csv', ''],
  ]);
  list.action(async (given: FlagsOf<typeof LIST_FLAGS>) => {
    const shown = await shownOf(given, context);
    const show = async (replies: Iterable<readonly ReceivedReply[]>): Promise<void> => {
      await writeResult(formatReplies(given.format, replies, shown), given, context);
    };
    await readReplies(filtersOf(given, context), show, warnBy(context));
  });
}

async function shownOf(given: Pick<ReviewFlags, 'full' | 'ledger'>, context: CommandContext) {
  const { timeZone } = projectHere(optionsHere(context, given.ledger)).project;
  return { full: given.full === true, width: context.tableWidth ?? context.width, timeZone };
}

const VERDICTS = ['opt-out', 'opt-in', 'answer'] as const;
type Verdict = (typeof VERDICTS)[number];

const REVIEW_FLAGS = {
  as: {
    flag: '--as <meaning>',
    says: 'what they mean; handbill suppresses the sender of an opt-out at once',
    choices: VERDICTS,
  },
  by: OPTIONS.by,
  full: { flag: '--full', says: 'show whole addresses and texts' },
  quiet: OPTIONS.quiet,
  format: formatOption(LIST_FORMATS),
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

type ReviewFlags = FlagsOf<typeof REVIEW_FLAGS>;

function configureReview(command: Command, context: CommandContext): void {
  const review = command
    .command('review')
    .description('Replies that wait for review: asks about each on a terminal, lists them elsewhere, or enters --as.')
    .argument('[id...]', 'ids of replies, of any meaning, for --as', ids);
  addExamples(addOptions(review, REVIEW_FLAGS, context), [
    ['handbill replies review', ''],
    ['handbill replies review --as opt-out 17 21', ''],
    ['handbill replies review --as answer 18 --by jane', ''],
  ]).action(async (named: readonly number[] | undefined, given: ReviewFlags) => {
    const numbers = named ?? [];
    if ((given.as === undefined) !== (numbers.length === 0)) {
      const message =
        given.as === undefined ? 'The meaning of the replies is missing.' : 'The ids of the replies are missing.';
      throw refuse(problem('usage', message, { hint: 'For example: handbill replies review --as opt-out 17 21' }));
    }
    if (given.as !== undefined) {
      const done = await enter(numbers, given.as, given, context);
      if (given.quiet === true) return;
      await context.out(said(done, given.as));
      return await sayLedger(context, given.ledger);
    }
    const waiting = { ...optionsHere(context, given.ledger), meanings: ['review'] as const };
    if (context.interactive && given.format === 'text') return await askAll(waiting, given, context);
    const shown = await shownOf(given, context);
    await readReplies(
      waiting,
      async (replies) => {
        for (const piece of formatReplies(given.format, replies, shown)) await context.out(piece);
      },
      warnBy(context),
    );
  });
}

const oneId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

function ids(text: string, before: readonly number[] | undefined): readonly number[] {
  return [...(before ?? []), oneId(text)];
}

function enter(
  numbers: readonly number[],
  as: Verdict,
  given: ReviewFlags,
  context: CommandContext,
  onlyUnread = false,
) {
  const by = given.by ?? userHere();
  return reviewReplies(numbers, { ...optionsHere(context, given.ledger), as, by, onlyUnread });
}

const ANSWERS: Readonly<Record<string, Verdict>> = { o: 'opt-out', i: 'opt-in', a: 'answer' };

/** One by one, oldest first: each answer is on the disk before the next question. */
async function askAll(waiting: RepliesOptions, given: ReviewFlags, context: CommandContext): Promise<void> {
  const replies = (await listReplies(waiting)).toReversed();
  const shown = await shownOf(given, context);
  if (replies.length === 0) return await context.out('No replies wait for review.\n');
  let count = 0;
  for (const [i, reply] of replies.entries()) {
    context.err(`\n${questionOf(reply, `${i + 1} of ${replies.length}`, shown)}`);
    const answer = await askLine('[o]pt-out, [a]nswer, opt-[i]n, [s]kip, [q]uit', context);
    if (answer === '' || answer.startsWith('q')) break;
    const as = ANSWERS[answer.slice(0, 1)];
    if (as === undefined) continue;
    // Another person may have answered since the list was read.
    const done = await enter([reply.id], as, given, context, true);
    context.err(said(done, as));
    count += done.reviewed;
  }
  await context.out(`${countOf(count, 'reply', 'replies')} reviewed.\n`);
  if (count > 0) await sayLedger(context, given.ledger);
}

function questionOf(reply: ReceivedReply, which: string, { full, timeZone }: RepliesShown): string {
  const from = safeLine(full ? reply.from : mask(reply.from));
  const at = createFormats(null, timeZone).instant(reply.at ?? reply.receivedAt);
  const to = reply.campaign === null ? '' : `, to ${safeLine(reply.campaign)}`;
  return `${which} · ${from}, ${at}${to}\n  ${textOf(reply, true)}\n`;
}

function said(done: ReviewRepliesResult, as: Verdict): string {
  const { reviewed, suppressed, lifted, unassigned, earlier } = done;
  if (reviewed === 0) return `${safeLine(earlierText(done))}\n`;
  const effects = [
    ...(earlier.length === 0 ? [] : [safeLine(earlierText(done))]),
    ...(suppressed.length === 0 ? [] : [`${countOf(suppressed.length, 'address', 'addresses')} suppressed since.`]),
    ...(lifted.length === 0 ? [] : [`${countOf(lifted.length, 'opt-out')} taken back.`]),
    ...unassignedSentences(unassigned),
    ...(as === 'opt-out' && suppressed.length + unassigned.length === 0 ? ['Suppressed already.'] : []),
    ...(as === 'answer' ? ['This neither suppresses an address nor removes one from the list.'] : []),
  ];
  return `${[`${countOf(reviewed, 'reply', 'replies')} entered as ${as}.`, ...effects].join(' ')}\n`;
}

const EXPORT_FLAGS = {
  ...EXPORT_REPLIES,
  ...WRITING,
  ...FILTERS,
  format: formatOption(['csv', 'jsonl']),
} as const satisfies OptionTable;

function configureExport(command: Command, context: CommandContext): void {
  const exports = command
    .command('export')
    .description('Writes the replies to a campaign, oldest first, each with the row of its recipient in the list.')
    .argument('<campaign>', 'name of a campaign for all its runs, or id of one');
  addExamples(addOptions(exports, EXPORT_FLAGS, context), [
    ['handbill replies export survey -o answers.csv', ''],
    ['handbill replies export survey --meaning answer --format jsonl', ''],
  ]).action(async (campaign: string, given: FlagsOf<typeof EXPORT_FLAGS>) => {
    const found = await exportReplies(campaign, filtersOf(given, context));
    complain(context, found.diagnostics);
    const text = given.format === 'csv' ? exportCsv(found) : exportJsonl(found);
    await writeResult(text, given, context, countOf(found.replies.length, 'reply', 'replies'));
  });
}
