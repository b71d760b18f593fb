import { safeLine } from './safe.ts';

/** One column of a table for a terminal. */
export interface Column {
  readonly title?: string;
  /** Side on which the text stands; left when absent. */
  readonly align?: 'left' | 'right';
  /** The column may be cut, with an ellipsis, when the table is wider than the terminal. */
  readonly shrink?: boolean;
  /** Colours a cell that is padded already; what it adds must take no room. */
  readonly style?: (cell: string, row: number) => string;
}

export interface TableOptions {
  /** Columns of the terminal; no line is wider, as long as the columns that shrink have something to give. */
  readonly width: number;
  /** Spaces in front of each line; 0 when absent. */
  readonly indent?: number;
}

const GAP = 2;
const SHORTEST = 4;

/**
 * Rows as aligned lines, each with a newline at its end. Cells may come from outside: control characters and line
 * breaks are shown, not obeyed. Titles are shown if any column has one.
 */
export function table(rows: readonly (readonly string[])[], columns: readonly Column[], options: TableOptions): string {
  const titled = columns.some((column) => column.title !== undefined);
  const body = rows.map((row) => columns.map((_, index) => safeLine(row[index] ?? '')));
  const lines = titled ? [columns.map((column) => column.title ?? ''), ...body] : body;
  const indent = options.indent ?? 0;
  const widths = fitWidths(
    columns.map((_, index) => widest(lines, index)),
    columns,
    options.width - indent - GAP * (columns.length - 1),
  );
  return lines
    .map((cells, row) => {
      const shown = columns.map((column, index) => {
        const cell = pad(cut(cells[index] ?? '', widths[index] ?? 0), widths[index] ?? 0, column.align ?? 'left');
        return column.style === undefined || (titled && row === 0) ? cell : column.style(cell, titled ? row - 1 : row);
      });
      return `${' '.repeat(indent)}${shown.join(' '.repeat(GAP)).trimEnd()}\n`;
    })
    .join('');
}

/** Columns of a terminal that the text takes: wide characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The text if it fits into so many columns, else its beginning and an ellipsis. No character is cut in two. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let room = width - 1;
  for (const { segment } of GRAPHEMES.segment(text)) {
    room -= graphemeWidth(segment);
    if (room < 0) break;
    kept += segment;
  }
  return width < 1 ? '' : `${kept}…`;
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const blank = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + blank : blank + text;
}

function widest(lines: readonly (readonly string[])[], index: number): number {
  return lines.reduce((most, cells) => Math.max(most, displayWidth(cells[index] ?? '')), 0);
}

/** Takes from the widest column that may shrink, one by one, until the room suffices or nothing is left to take. */
function fitWidths(natural: readonly number[], columns: readonly Column[], room: number): readonly number[] {
  const widths = [...natural];
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess--) {
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

function graphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2;
  return INVISIBLE.test(grapheme) ? 0 : 1;
}

const ASCII = /^[\x20-\x7e]*$/;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Begins with a character that Unicode's East_Asian_Width has as W or F (its large blocks), or is shown as emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;

/** Nothing but marks and format characters. */
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
