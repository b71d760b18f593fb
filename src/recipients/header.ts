import { type Diagnostic, problem } from '../errors.ts';
import { compared } from '../util/cell.ts';
import { isOwnExport } from '../util/csv.ts';
import { FORBIDDEN_NAMES } from '../util/json.ts';
import { maskInPlace, maskText } from '../util/redact.ts';
import { positionAt, type RecordText, scanFields } from './refusals.ts';

/** The line before the header in which some programs name the delimiter. */
export const SEPARATOR = /^"?sep=([^"])"?$/i;
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The declared delimiter, else that of a `sep=` line, else the header's. Exports of handbill have their program's. */
export function delimiterOf(declared: string | null, separator: string | null, header: string): string {
  const found = separator ?? findDelimiter(header);
  return declared === null || isOwnExport(scanFields(header, found).fields.map(compared)) ? found : declared;
}

/** The most frequent delimiter outside quotes; a comma if there is none. */
export function findDelimiter(header: string): string {
  const bare = header.replace(/"[^"]*"?/g, '');
  let best: string = ',';
  let most = 0;
  for (const delimiter of DELIMITERS) {
    const count = bare.split(delimiter).length - 1;
    if (count > most) {
      best = delimiter;
      most = count;
    }
  }
  return best;
}

/**
 * Names of the columns as they are compared: without invisible characters, blanks and line ends as spaces. Drops
 * trailing columns without a name: a spreadsheet writes them if a cell was once used.
 * @returns the names and the number of fields, or every fault of the names
 */
export function readHeader(header: RecordText, cells: readonly string[]) {
  const names = cells.map(compared);
  // A header of blanks only has no trailing empty columns.
  const columns = names.slice(0, names.findLastIndex((name) => name !== '') + 1 || names.length);
  const { starts } = scanFields(header.text, header.delimiter);
  // The first row of a list without a header holds an address.
  const source = maskInPlace(header.text.split(/[\r\n]/)[0] ?? '');
  const problems = checkNames(columns, (i) => ({ at: positionAt(header, starts[i] ?? 0), source }));
  return { columns, width: names.length, problems };
}

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
    else if (FORBIDDEN_NAMES.has(name)) {
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
