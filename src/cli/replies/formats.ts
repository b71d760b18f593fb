import { REPLY_FIELDS, type ReceivedReply } from '../../operations/replies.ts';
import { createWallTime } from '../../report/locale.ts';
import { countOf, number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { type ListFormat, listText } from '../../util/list-text.ts';
import { nextCommand } from '../../util/next-command.ts';
import { mask, maskText } from '../../util/redact.ts';
import { displayWidth, type ItemColumn, indentedLines, itemTable } from '../../util/table.ts';

export interface RepliesShown {
  readonly width: number;
  /** Whole addresses and texts, and all replies; `text` only. */
  readonly full: boolean;
  readonly timeZone: string;
}

type Batches = Iterable<readonly ReceivedReply[]>;

/** In pieces. Machine formats contain everything; `text` is for people. */
export function formatReplies(format: ListFormat, replies: Batches, shown: RepliesShown): Generator<string> {
  return format === 'text' ? text(replies, shown) : listText(format, 'replies', REPLY_FIELDS, replies);
}

const SHOWN = 50;

function* text(replies: Batches, shown: RepliesShown): Generator<string> {
  const first: ReceivedReply[] = [];
  let count = 0;
  let toReview = 0;
  for (const batch of replies) {
    count += batch.length;
    for (const reply of batch) {
      if (reply.meaning === 'review') toReview++;
      if (shown.full || first.length < SHOWN) first.push(reply);
    }
  }
  if (count === 0) yield 'No replies.\n';
  else yield replyTable(first, shown);
  if (first.length < count)
    yield `... and ${number(count - first.length)} more: --full shows them, --format csv too.\n`;
  if (toReview > 0)
    yield `\n${countOf(toReview, 'reply', 'replies')} waiting for review: ${nextCommand('replies', 'review')}\n`;
}

function replyTable(replies: readonly ReceivedReply[], { full, width, timeZone }: RepliesShown): string {
  const wall = createWallTime(timeZone);
  const timeOf = ({ at, receivedAt }: ReceivedReply) => wall(at ?? receivedAt).slice(0, '2026-11-21 09:00'.length);
  const columns: readonly ItemColumn<ReceivedReply>[] = [
    { title: 'id', align: 'right', cell: ({ id }) => String(id) },
    { title: `written (${timeZone})`, cell: timeOf },
    { title: 'from', cell: ({ from }) => (full ? from : mask(from)) },
    // An opt-out says what it is about, where that is a topic.
    {
      title: 'meaning',
      cell: ({ meaning, optsOutOf }) =>
        `${meaning}${(optsOutOf ?? 'everything') === 'everything' ? '' : ` of ${optsOutOf}`}`,
    },
    { title: 'campaign', shrink: true, cell: ({ campaign }) => campaign ?? '' },
    { title: 'text', shrink: true, cell: (reply) => textOf(reply, full) },
  ];
  const whole = itemTable(replies, columns, { width: Number.POSITIVE_INFINITY });
  // A narrow terminal has no room for a text beside the other columns.
  if (full || whole.split('\n').every((line) => displayWidth(line) <= width)) return whole;
  const below = (row: number): string =>
    indentedLines(textOf(replies[row] ?? { text: '' }, full), Math.max(20, width - 4), 4);
  return itemTable(replies, columns.slice(0, -1), { width, below });
}

/** On one line, without control characters of a terminal. */
export function textOf({ text: written }: Pick<ReceivedReply, 'text'>, full: boolean): string {
  const line = safeLine(written.replace(/\s+/gu, ' ').trim());
  return full ? line : maskText(line);
}
