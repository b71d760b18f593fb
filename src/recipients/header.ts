import { type Diagnostic, type Position, problem } from '../errors.ts';
import { maskInPlace, maskText } from '../util/mask.ts';
import { columnName } from './column-types.ts';
import { scanFields, splitFields } from './fields.ts';

const LINE_END = /\r\n?|\n/;

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** The header row as it stands in its file. */
export interface HeaderText {
  readonly file: string;
  readonly text: string;
  readonly line: number;
  readonly delimiter: string;
}

/**
 * Names of the columns: trimmed, and in Unicode's composed form (NFC), so that a name typed in a template is the same
 * name. Columns at the end without a name are left out: a spreadsheet writes them where a cell was once used. The
 * header must be well-formed CSV.
 * @param read what a cell of the header says
 * @returns the names and how many fields the header has, or everything that is wrong with the names
 */
export function readHeader(
  header: HeaderText,
  read: (cell: string) => string = (cell) => cell,
): { columns: readonly string[]; width: number; problems: readonly Diagnostic[] } {
  const cells = splitFields([header.text], header.delimiter)?.[0] ?? [];
  const names = cells.map((cell) => columnName(read(cell)));
  // In a header of nothing but blanks none of them is behind the others.
  const columns = names.slice(0, names.findLastIndex((name) => name !== '') + 1 || names.length);
  const starts = scanFields(header.text, header.delimiter).starts;
  // A list without a header begins with somebody's address.
  const source = maskInPlace(header.text.split(LINE_END)[0] ?? '');
  const width = names.length;
  return { columns, width, problems: checkNames(columns, (i) => ({ at: positionAt(header, starts[i] ?? 0), source })) };
}

/**
 * Everything that is wrong with the names of columns.
 * @param columns names as `readHeader` makes them
 * @param placeOf where the column at a position is named
 */
export function checkNames(
  columns: readonly string[],
  placeOf: (index: number) => Pick<Diagnostic, 'at' | 'source'>,
): readonly Diagnostic[] {
  const problems: Diagnostic[] = [];
  const first = new Map<string, number>();
  for (const [i, name] of columns.entries()) {
    const earlier = first.get(name);
    if (name === '')
      problems.push(problem('csv-blank-header', `Column ${i + 1} has no name.`, { ...placeOf(i), ...BLANK }));
    else if (FORBIDDEN.has(name)) {
      problems.push(
        problem('csv-forbidden-header', `A column must not be named "${name}".`, { ...placeOf(i), ...RENAME }),
      );
    } else if (earlier === undefined) first.set(name, i);
    else {
      const message = `Columns ${earlier + 1} and ${i + 1} are both named "${maskText(name)}".`;
      problems.push(problem('csv-duplicate-header', message, { ...placeOf(i), ...RENAME }));
    }
  }
  return problems;
}

const BLANK = { hint: 'Name the column in the first row, or remove it from every row.' };
const RENAME = { hint: 'Rename the column in the first row of the list.' };

/** The place of an offset in a record that may have several lines. */
export function positionAt(record: Omit<HeaderText, 'delimiter'>, offset: number): Position {
  const before = record.text.slice(0, offset);
  const lines = before.split(LINE_END);
  return {
    file: record.file,
    line: record.line + lines.length - 1,
    column: (lines.at(-1) ?? '').length + 1,
  };
}
