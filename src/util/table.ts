import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';
import { safeLine } from './escape.ts';
import { onDemand } from './on-demand.ts';

export interface Column {
  readonly title?: string;
  /** Alignment of the text; left when absent. */
  readonly align?: 'left' | 'right';
  /** The column may be cut, with an ellipsis, when the table is wider than the terminal. */
  readonly shrink?: boolean;
  /**
   * The table does without this column where it is too wide, the highest number first, and where it is empty. Machine
   * formats have it.
   */
  readonly drop?: number;
  /** Colours a cell that is padded already, without changing its width. */
  readonly style?: (cell: string, row: number) => string;
}

/** A column of a table with one row for each item. */
export interface ItemColumn<T> extends Column {
  readonly cell: (item: T) => string;
  /** Absent, or true for some item: the column is shown. */
  readonly wanted?: (item: T) => boolean;
}

interface TableOptions {
  /**
   * Infinity: cut nothing, the output is not for a terminal. Else columns with `drop` go until those with `shrink` have
   * room to read; if all that is not enough, cells of several words take several
   * lines. Where a word has no room, each row is a line that is broken at spaces.
   */
  readonly width: number;
  /** Spaces in front of each line; 0 when absent. */
  readonly indent?: number;
  /** Whole lines below a row. */
  readonly below?: (row: number) => string;
}

const GAP = 2;
const SHORTEST = 4;
/** Columns are dropped until those that shrink have this width. */
const READABLE = 16;

/** Each line ends with a newline. Shows control characters and line breaks. Shows titles if any column has one. */
export function table(rows: readonly (readonly string[])[], all: readonly Column[], options: TableOptions): string {
  const indent = options.indent ?? 0;
  const cells = rows.map((row) => all.map((_, index) => safeLine(row[index] ?? '')));
  const natural = all.map(({ title = '' }, index) => widest([title, ...cells.map((row) => row[index] ?? '')]));
  const isEmpty = (index: number): boolean => cells.length > 0 && cells.every((row) => row[index] === '');
  const kept = keptColumns(natural, all, options.width - indent).filter(
    (index) => all[index]?.drop === undefined || !isEmpty(index),
  );
  const columns = kept.map((index) => all[index] ?? {});
  const titled = columns.some((column) => column.title !== undefined);
  const body = cells.map((row) => kept.map((index) => row[index] ?? ''));
  const lines = titled ? [columns.map((column) => column.title ?? ''), ...body] : body;
  const room = options.width - indent - GAP * (columns.length - 1);
  const widths = fitWidths(lines, columns, room);
  const below = options.below ?? (() => '');
  if (sum(widths) > room) {
    const joined = (row: readonly string[]): string => row.filter((cell) => cell !== '').join(' '.repeat(GAP));
    const text = (row: readonly string[]): string => fill(`${' '.repeat(indent)}${joined(row)}\n`, options.width);
    return body.map((row, number) => text(row) + below(number)).join('');
  }
  return lines
    .map((line, row) => {
      const shown = line.map((cell, index) => {
        const width = widths[index] ?? 0;
        if (displayWidth(cell) <= width) return [cell];
        return columns[index]?.shrink === true ? [cut(cell, width)] : wrap(cell, width);
      });
      const height = Math.max(1, ...shown.map((one) => one.length));
      const isTitle = titled && row === 0;
      const number = titled ? row - 1 : row;
      const text = Array.from({ length: height }, (_, at) => {
        const parts = columns.map(({ align = 'left', style }, index) => {
          const part = shown[index]?.[at] ?? '';
          const blank = ' '.repeat(Math.max(0, (widths[index] ?? 0) - displayWidth(part)));
          const cell = align === 'left' ? part + blank : blank + part;
          return style === undefined || isTitle ? cell : style(cell, number);
        });
        return `${' '.repeat(indent)}${parts.join(' '.repeat(GAP)).trimEnd()}\n`;
      });
      return text.join('') + (isTitle ? '' : below(number));
    })
    .join('');
}

/** As `table`, with one row for each item. */
export function itemTable<T>(items: readonly T[], columns: readonly ItemColumn<T>[], options: TableOptions): string {
  const shown = columns.filter(({ wanted }) => wanted === undefined || items.some(wanted));
  const rows = items.map((item) => shown.map(({ cell }) => cell(item)));
  return table(rows, shown, options);
}

/** The positions of the columns that are shown. */
function keptColumns(natural: readonly number[], columns: readonly Column[], width: number): readonly number[] {
  const least = (index: number): number => {
    const whole = natural[index] ?? 0;
    return columns[index]?.shrink === true ? Math.min(whole, READABLE) : whole;
  };
  let kept = [...columns.keys()];
  while (sum(kept.map(least)) + GAP * (kept.length - 1) > width) {
    const worst = Math.max(...kept.map((index) => columns[index]?.drop ?? 0));
    if (worst === 0) break;
    kept = kept.filter((index) => columns[index]?.drop !== worst);
  }
  return kept;
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}

/** Takes from the widest column that may shrink, then from the widest of several words, until the room suffices. */
function fitWidths(lines: readonly (readonly string[])[], columns: readonly Column[], room: number): readonly number[] {
  const cellsOf = (index: number): readonly string[] => lines.map((cells) => cells[index] ?? '');
  const widths = columns.map((_, index) => widest(cellsOf(index)));
  const cuts = columns.map(({ shrink }) => (shrink === true ? SHORTEST : Number.POSITIVE_INFINITY));
  takeFrom(widths, cuts, room);
  if (sum(widths) <= room) return widths;
  const words = columns.map(({ shrink }, index) =>
    shrink === true ? Number.POSITIVE_INFINITY : widest(cellsOf(index).flatMap((cell) => cell.split(' '))),
  );
  takeFrom(widths, words, room);
  return widths;
}

function takeFrom(widths: number[], shortest: readonly number[], room: number): void {
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const from = widths.reduce(
      (best, width, index) => (width > (shortest[index] ?? 0) && width > (widths[best] ?? 0) ? index : best),
      -1,
    );
    if (from === -1) return;
    widths[from] = (widths[from] ?? 0) - 1;
  }
}

/** Columns of a terminal that the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  const plain = text.includes('\u001b') ? stripVTControlCharacters(text) : text;
  return SIMPLE.test(plain) ? plain.length : stringWidth()(plain);
}

/** The text if it fits into so many columns, else its beginning and an ellipsis. No character is cut in two. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  for (const { segment } of graphemes().segment(text)) {
    // Not a sum: some characters take those that follow into their own column.
    if (displayWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** As `wrap`, each line ended and with so many spaces before it. */
export function indentedLines(text: string, width: number, indent: number): string {
  return wrap(text, width)
    .map((line) => `${' '.repeat(indent)}${line}\n`)
    .join('');
}

/** Lines of at most so many columns, broken at spaces; a longer word gets a line alone. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/**
 * The text with each line broken at spaces to so many columns. A second column goes on below its beginning, the text of
 * a message behind its bar, any other line indented. A command stays whole, so that it can be copied.
 */
export function fill(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text.replaceAll(/[^\n]+/g, (line) => (displayWidth(line) <= width ? line : fillLine(line, width)));
}

function fillLine(line: string, width: number): string {
  if (WHOLE.test(line)) return line;
  const [, first = '', bar = '', left = '', gap = ''] = LEAD.exec(line) ?? [];
  const at = displayWidth(first + left + gap);
  if (bar === '' && gap !== '' && at > width / 2)
    return `${first}${left}\n${fillLine(`${first}    ${line.slice((first + left + gap).length)}`, width)}`;
  const hang = bar === '' ? ' '.repeat(gap === '' ? displayWidth(first) + GAP : at) : first;
  const [head = '', ...more] = wrap(line.slice(first.length), width - displayWidth(first));
  const below = more.length === 0 ? [] : wrap(more.join(' '), width - displayWidth(hang));
  return [first + head, ...below.map((one) => hang + one.trimStart())].map((one) => one.trimEnd()).join('\n');
}

/** A command without words about it, and a record of a log. */
const WHOLE = /^\s*(?:(?:npx )?handbill [a-z](?:(?! {2}).)*$|\{)/;
/** The blanks, the bar of a message, the first column, and what is between it and the next. */
const LEAD = /^(\s*(\| )?)(?:(\S+(?: \S+)*)( {2,}))?/;

/** Columns for sentences: those of the terminal, 80 where no terminal shows them (Infinity). */
export function proseWidth(width: number): number {
  return Number.isFinite(width) ? width : 80;
}

/** Latin letters and the punctuation of prose: one column each. */
const SIMPLE = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027]*$/;

export const graphemes = onDemand(() => new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** Its tables take 40 ms, and the first answer 20 more. */
const stringWidth = onDemand(
  () => (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default,
);
