import { hash } from 'node:crypto';
import { problem, refuse } from '../errors.ts';
import type { InlineList, Row } from '../model.ts';
import { BLOCK_BYTES, type ListDigest } from './blocks.ts';
import { columnName } from './column-types.ts';
import { checkNames } from './header.ts';
import type { List } from './list.ts';
import { raggedFault } from './refusals.ts';

/** Rows of one batch: about what a piece of a file holds. */
const BATCH_ROWS = 256;

/**
 * Opens a list that stands in the campaign file. Its cells are exact: what keeps a spreadsheet from running a cell of
 * a CSV as a formula (a leading `'`) is part of the value here.
 * @param file the campaign file, as the user would name it
 * @param expected the digest that it must still have
 * @throws HandbillError (exit 2): csv-blank-header, csv-forbidden-header, csv-duplicate-header, input-changed
 */
export function openInline(inline: InlineList, file: string, expected: ListDigest | null): List {
  const headerLine = inline.rows[0]?.line ?? 1;
  const columns = inline.columns.map(columnName);
  const problems = checkNames(columns, () => ({ at: { file, line: headerLine } }));
  if (problems.length > 0) throw refuse(...problems);
  const digest = hashInline(inline);
  if (expected !== null && expected.sha256 !== digest.sha256) throw changed(file);
  let count = 0;
  let started = false;

  async function* rows(): AsyncGenerator<readonly Row[]> {
    if (started) throw new Error('The rows of a list can be read once.');
    started = true;
    while (count < inline.rows.length) {
      const from = count;
      const batch = inline.rows.slice(from, from + BATCH_ROWS);
      count += batch.length;
      yield batch.map(({ line, values }, i) => toRow(from + i, line, values, columns.length));
    }
  }

  return {
    columns,
    headerLine,
    rows,
    count: () => count,
    digest: () => digest,
    notes: () => [],
    close: async () => {},
  };
}

function toRow(row: number, line: number, values: readonly string[], wanted: number): Row {
  if (values.length === wanted) return { row, line, values, fault: null };
  return { row, line, values: null, fault: raggedFault(values.length, wanted) };
}

/**
 * The digest of a list that stands in the campaign file, over one form of it: the columns and then each row as a line
 * of JSON. Lines of the file are left out, so that a comment above the list does not make it another list.
 */
export function hashInline(inline: InlineList): ListDigest {
  const records = [inline.columns.map(columnName), ...inline.rows.map((row) => row.values)];
  const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const blocks: string[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    blocks.push(hash('sha256', bytes.subarray(at, at + BLOCK_BYTES), 'hex'));
  }
  return { sha256: hash('sha256', bytes, 'hex'), size: bytes.length, blocks };
}

function changed(file: string): Error {
  return refuse(
    problem('input-changed', `The recipients that ${file} lists changed after they had been checked.`, {
      at: { file },
      hint: 'Run the command again.',
    }),
  );
}
