import { createRequire } from 'node:module';
import { safeLine } from './escape.ts';

export interface Column {
  readonly title?: string;
  /** Alignment of the text; left when absent. */
  readonly align?: 'left' | 'right';
  /** The column may be cut, with an ellipsis, when the table is wider than the terminal. */
  readonly shrink?: boolean;
  /** Colours a cell that is padded already, without changing its width. */
  readonly style?: (cell: string, row: number) => string;
}

interface TableOptions {
  /**
   * Infinity: cut nothing, the output is not for a terminal. Columns with `shrink` get narrower first; if that is not
   * enough, each row takes several lines, and only words longer than a line are broken, by the terminal.
   */
  readonly width: number;
  /** Spaces in front of each line; 0 when absent. */
  readonly indent?: number;
  /** Whole lines below a row. */
  readonly below?: (row: number) => string;
}

const GAP = 2;
const SHORTEST = 4;

/** Each line ends with a newline. Shows control characters and line breaks. Shows titles if any column has one. */
export function table(rows: readonly (readonly string[])[], columns: readonly Column[], options: TableOptions): string {
  const titled = columns.some((column) => column.title !== undefined);
  const body = rows.map((row) => columns.map((_, index) => safeLine(row[index] ?? '')));
  const lines = titled ? [columns.map((column) => column.title ?? ''), ...body] : body;
  const indent = options.indent ?? 0;
  const room = options.width - indent - GAP * (columns.length - 1);
  const natural = columns.map((_, index) => widest(lines, index));
  const widths = fitWidths(natural, columns, room);
  const below = options.below ?? (() => '');
  if (sum(widths) > room) return stacked(body, columns, { ...options, indent, below });
  return lines
    .map((cells, row) => {
      const shown = columns.map((column, index) => {
        const cell = pad(cut(cells[index] ?? '', widths[index] ?? 0), widths[index] ?? 0, column.align ?? 'left');
        return column.style === undefined || (titled && row === 0) ? cell : column.style(cell, titled ? row - 1 : row);
      });
      const line = `${' '.repeat(indent)}${shown.join(' '.repeat(GAP)).trimEnd()}\n`;
      return titled && row === 0 ? line : line + below(titled ? row - 1 : row);
    })
    .join('');
}

/** For terminals that are too narrow for columns: cells one after another, those with a title below it. */
function stacked(
  rows: readonly (readonly string[])[],
  columns: readonly Column[],
  { width, indent, below }: Required<TableOptions>,
): string {
  const inner = ' '.repeat(indent + GAP);
  const linesOf = (row: readonly string[], number: number): readonly string[] => {
    const groups: string[][] = [[]];
    for (const [index, { title, style }] of columns.entries()) {
      const cell = row[index] ?? '';
      if (cell.trim() === '') continue;
      // A colour must not reach over the end of a line.
      const text = style === undefined || cell.includes(' ') ? cell : style(cell, number);
      if (index > 0 && title !== undefined) groups.push([`${title}: ${text}`], []);
      else groups.at(-1)?.push(text);
    }
    const filled = groups.filter((group) => group.length > 0);
    const lines = filled.flatMap((group) => wrap(group.join(' '.repeat(GAP)), Math.max(1, width - inner.length)));
    return lines.map((line, i) => `${i === 0 ? ' '.repeat(indent) : inner}${line.trim()}\n`);
  };
  return rows.flatMap((row, number) => [...linesOf(row, number), below(number)]).join('');
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const blank = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + blank : blank + text;
}

function widest(lines: readonly (readonly string[])[], index: number): number {
  return lines.reduce((most, cells) => Math.max(most, displayWidth(cells[index] ?? '')), 0);
}

/** Takes from the widest column that may shrink, until the room suffices or nothing is left to take. */
function fitWidths(natural: readonly number[], columns: readonly Column[], room: number): readonly number[] {
  const widths = [...natural];
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    let widestIndex = -1;
    let most = SHORTEST;
    for (const [index, width] of widths.entries()) {
      if (columns[index]?.shrink === true && width > most) {
        widestIndex = index;
        most = width;
      }
    }
    if (widestIndex === -1) break;
    widths[widestIndex] = most - 1;
  }
  return widths;
}

/** Columns of a terminal that the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  return SIMPLE.test(text) ? text.length : stringWidth()(text);
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

/** Columns for sentences: those of the terminal, 80 where no terminal shows them (Infinity). */
export function proseWidth(width: number): number {
  return Number.isFinite(width) ? width : 80;
}

/** Latin letters and the punctuation of prose: one column each. */
const SIMPLE = /^[\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027]*$/;

let segmenter: Intl.Segmenter | null = null;
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}

/** Loaded when a text needs it: its tables take 40 ms, and the first answer 20 more. */
let loaded: ((text: string) => number) | null = null;
function stringWidth(): (text: string) => number {
  loaded ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return loaded;
}
