import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { userHere } from '../../operations/doubt.ts';
import { formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { projectHere, sayLedger } from '../../operations/project.ts';
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
import { type Flags, wholeNumber } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { askLine } from '../shared/prompt.ts';
import { formatReplies, type RepliesShown, textOf } from './formats.ts';

const FILTERS = {
  meanings: REPLIES.meanings,
  questions: REPLIES.questions,
  since: { flag: '--since <time>', says: 'written since: 7d, a day in UTC (2026-11-21) or an instant' },
  ledger: OPTIONS.ledger,
} as const satisfies OptionTable;

function filtersOf<Given extends Flags<typeof FILTERS>>(given: Given, context: CommandContext) {
  const { since } = given;
  return {
    ...given,
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

async function list(context: CommandContext, given: Flags<typeof LIST_FLAGS>): Promise<void> {
  const shown = await shownOf(given, context);
  const show = async (replies: Iterable<readonly ReceivedReply[]>): Promise<void> => {
    await writeResult(formatReplies(given.format, replies, shown), given, context);
  };
  await readReplies(filtersOf(given, context), show, warnBy(context));
}

async function shownOf(given: Pick<ReviewFlags, 'full' | 'cwd' | 'env' | 'ledger'>, context: CommandContext) {
  const { timeZone } = projectHere(given).project;
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

type ReviewFlags = Flags<typeof REVIEW_FLAGS>;

async function review(context: CommandContext, given: ReviewFlags, numbers: readonly number[] = []): Promise<void> {
  if ((given.as === undefined) !== (numbers.length === 0)) {
    const message =
      given.as === undefined ? 'The meaning of the replies is missing.' : 'The ids of the replies are missing.';
    throw refuse(problem('usage', message, { hint: 'For example: handbill replies review --as opt-out 17 21' }));
  }
  if (given.as !== undefined) {
    const done = await enter(numbers, given.as, given);
    if (given.quiet === true) return;
    await context.out(said(done, given.as));
    return await sayLedger(context, given.ledger);
  }
  const waiting = { ...given, meanings: ['review'] as const };
  if (context.interactive && given.format === 'text') return await askAll(waiting, given, context);
  const shown = await shownOf(given, context);
  await readReplies(
    waiting,
    async (replies) => {
      for (const piece of formatReplies(given.format, replies, shown)) await context.out(piece);
    },
    warnBy(context),
  );
}

const oneId = wholeNumber(1, 1e9);

function ids(text: string, before: readonly number[] | undefined): readonly number[] {
  return [...(before ?? []), oneId(text)];
}

function enter(numbers: readonly number[], as: Verdict, given: ReviewFlags, onlyUnread = false) {
  const by = given.by ?? userHere();
  return reviewReplies(numbers, { ...given, as, by, onlyUnread });
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
    const done = await enter([reply.id], as, given, true);
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

async function exportAll(context: CommandContext, given: Flags<typeof EXPORT_FLAGS>, campaign: string): Promise<void> {
  const found = await exportReplies(campaign, filtersOf(given, context));
  complain(context, found.diagnostics);
  const text = given.format === 'csv' ? exportCsv(found) : exportJsonl(found);
  await writeResult(text, given, context, countOf(found.replies.length, 'reply', 'replies'));
}

export const COMMANDS = {
  list: { FLAGS: LIST_FLAGS, run: list },
  review: { FLAGS: REVIEW_FLAGS, readArgument: ids, run: review },
  export: { FLAGS: EXPORT_FLAGS, run: exportAll },
};
