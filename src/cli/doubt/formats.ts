import { styleText } from 'node:util';
import { DOUBT_FIELDS, type Doubt } from '../../operations/doubt.ts';
import { createWallTime } from '../../report/locale.ts';
import { countOf, number } from '../../report/words.ts';
import { safeLine } from '../../util/escape.ts';
import { type ListFormat, listText } from '../../util/list-text.ts';
import { nextCommand } from '../../util/next-command.ts';
import { mask, maskText } from '../../util/redact.ts';
import { cut, type ItemColumn, indentedLines, itemTable, proseWidth } from '../../util/table.ts';

interface DoubtShown {
  readonly colour: boolean;
  readonly width: number;
  /** Whole addresses and texts, and all recipients; `text` only. */
  readonly full: boolean;
  readonly resolved: boolean;
  readonly timeZone: string;
}

/** The doubts of each run, newest run first; runs without any yield nothing. */
type DoubtsByRun = Iterable<Iterable<readonly Doubt[]>>;

/** In pieces. Machine formats contain everything; `text` is for people. */
export function formatDoubts(format: ListFormat, runs: DoubtsByRun, shown: DoubtShown): Generator<string> {
  return format === 'text' ? text(runs, shown) : listText(format, 'doubts', DOUBT_FIELDS, batches(runs));
}

function* batches(runs: DoubtsByRun): Generator<readonly Doubt[]> {
  for (const run of runs) yield* run;
}

const SHOWN = 20;

function* text(runs: DoubtsByRun, shown: DoubtShown): Generator<string> {
  let first: Doubt | null = null;
  for (const run of runs) {
    let count = 0;
    const rows: Doubt[] = [];
    for (const batch of run) {
      count += batch.length;
      for (const doubt of batch) if (shown.full || rows.length < SHOWN) rows.push(doubt);
    }
    const [head] = rows;
    if (head === undefined) continue;
    const names = [head.campaign, head.environment, head.occurrence].map(safeLine).join(' · ');
    const said = shown.resolved ? `${countOf(count, 'doubt')} resolved` : `${countOf(count, 'recipient')} in doubt`;
    const heading = `${bold(names, shown)}\nRun ${safeLine(head.run)}: ${said}.\n`;
    yield `${first === null ? '' : '\n'}${heading}${explainedTable(rows, shown)}`;
    if (rows.length < count)
      yield `  ... and ${number(count - rows.length)} more: --full shows them, --format csv too.\n`;
    first ??= head;
  }
  if (first === null) yield shown.resolved ? 'No doubt was resolved yet.\n' : 'No recipients are in doubt.\n';
  else if (!shown.resolved) yield `\n${guidance(first, shown)}`;
}

/** Recipients in doubt, or their resolutions, as aligned lines; references and lines are never cut. */
export function doubtTable(
  rows: readonly Doubt[],
  shown: Omit<DoubtShown, 'colour'>,
  below: (row: number) => string = () => '',
): string {
  const width = shown.full ? Number.POSITIVE_INFINITY : shown.width;
  return itemTable(rows, columnsOf(shown), { width, indent: 2, below });
}

/** As `doubtTable`, with a line below each row that has more: the answer of the API, or who resolved it and why. */
function explainedTable(rows: readonly Doubt[], shown: DoubtShown): string {
  const room = shown.full ? Number.POSITIVE_INFINITY : Math.max(20, shown.width - BELOW.length);
  return doubtTable(rows, shown, (index) => {
    const doubt = rows[index];
    if (doubt === undefined) return '';
    const { resolvedBy, note } = doubt;
    const why = note === null ? '' : `: ${shown.full ? note : maskText(note)}`;
    const more = shown.resolved ? `by ${resolvedBy}${why}` : answer(doubt, shown.full);
    return more === null ? '' : `${BELOW}${cut(safeLine(more), room)}\n`;
  });
}

/** The answer of the API; it may repeat the address, in any spelling. */
function answer({ error, to }: Doubt, full: boolean): string | null {
  if (error === null || full) return error;
  if (to === null || to.length < 6) return maskText(error);
  const digits = to.replace(/^\+/, '');
  return maskText(error.replaceAll(to, mask(to)).replaceAll(digits, mask(digits)));
}

const BELOW = ' '.repeat(8);

function columnsOf({ resolved, full, timeZone }: Omit<DoubtShown, 'colour'>): readonly ItemColumn<Doubt>[] {
  const wall = createWallTime(timeZone);
  const time = (at: string | null): string => (at === null ? '' : wall(at));
  const whole = ({ reason, httpStatus }: Doubt) => [reason, httpStatus].filter((x) => x !== null).join(' ');
  const first: readonly ItemColumn<Doubt>[] = [
    { title: 'line', align: 'right', cell: ({ line }) => String(line) },
    { title: 'address', cell: ({ to }) => (full ? (to ?? '') : mask(to ?? '')) },
    { title: 'key', cell: ({ key }) => key ?? '', wanted: ({ key, to }) => full && key !== to },
    // Shown if a message of a fallback is in doubt; a short title, because the 80 columns are full.
    { title: 'via', shrink: true, cell: ({ channel }) => channel, wanted: ({ step }) => step > 0 },
  ];
  return resolved
    ? [
        ...first,
        { title: 'reason', cell: ({ reason }) => reason ?? '' },
        { title: 'resolved', cell: ({ verdict }) => verdict ?? '' },
        { title: `on (${timeZone})`, cell: ({ resolvedAt }) => time(resolvedAt) },
      ]
    : [
        ...first,
        { title: 'reference', cell: ({ reference }) => reference ?? '' },
        { title: `sent (${timeZone})`, cell: ({ since }) => time(since) },
        { title: 'reason', shrink: true, cell: whole },
      ];
}

/** How to find out their outcome, and the command for each answer. */
function guidance({ run, line }: Doubt, shown: DoubtShown): string {
  const width = Math.max(20, proseWidth(shown.width) - 2);
  const paragraph = (words: string): string => indentedLines(words, width, 2);
  const command = (...words: readonly string[]): string => {
    const whole = nextCommand('doubt', 'resolve', run, '--line', String(line), ...words);
    return `    ${shown.colour ? styleText('cyan', whole, { validateStream: false }) : whole}\n`;
  };
  return [
    `${bold('How to find out', shown)}\n`,
    paragraph(FIND_OUT),
    `${bold('What to do next', shown)}\n`,
    paragraph('The API has the message:'),
    command('--as', 'accepted'),
    paragraph('It refused the message:'),
    command('--as', 'rejected'),
    paragraph('It never got it, or a second message does less harm than none; the next send posts it once more:'),
    command('--resend', '--accept-duplicates'),
    paragraph(
      '--line takes several lines; --from FILE reads references, keys or addresses, one a line; --all is all of them.',
    ),
  ].join('');
}

const FIND_OUT =
  'Ask the provider, or look in its log of messages. Each request carries its reference where the provider has a place ' +
  'for it: its page shows where (handbill help providers NAME). If the log shows no references, look for the address at ' +
  'that time; --full shows it whole.';

function bold(words: string, { colour }: Pick<DoubtShown, 'colour'>): string {
  return colour ? styleText('bold', words, { validateStream: false }) : words;
}
