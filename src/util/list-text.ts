import { csvCell } from './csv.ts';
import { jsonText } from './escape.ts';

export const LIST_FORMATS = ['text', 'json', 'jsonl', 'csv'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

/**
 * Plain records for machines, in pieces.
 * @param name - of the list in the JSON document
 * @param fields - the columns of `csv`
 */
export function* listText<T extends Readonly<Record<string, unknown>> | object>(
  format: Exclude<ListFormat, 'text'>,
  name: string,
  fields: readonly (keyof T & string)[],
  batches: Iterable<readonly T[]>,
): Generator<string> {
  if (format === 'json') {
    yield `{ "version": 1, "${name}": [`;
    yield* jsonItems(batches);
    yield '] }\n';
    return;
  }
  if (format === 'csv') yield `${fields.map(csvCell).join(',')}\n`;
  const lineOf = (one: T): string =>
    format === 'csv'
      ? fields.map((field) => csvCell(one[field] as Parameters<typeof csvCell>[0])).join(',')
      : jsonText(one);
  for (const batch of batches) yield batch.map((one) => `${lineOf(one)}\n`).join('');
}

/** Each on a line, within the brackets of a list. */
export function* jsonItems(batches: Iterable<readonly object[]>): Generator<string> {
  let between = '\n  ';
  for (const batch of batches) {
    let piece = '';
    for (const one of batch) {
      piece += `${between}${jsonText(one)}`;
      between = ',\n  ';
    }
    yield piece;
  }
  if (between !== '\n  ') yield '\n';
}
