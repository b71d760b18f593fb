import { type Diagnostic, problem } from '../errors.ts';
import type { AddressKind, Row } from '../model.ts';
import type { SuppressionColumns } from './columns.ts';
import { listedForm } from './form.ts';
import { readHash, type WrittenHash } from './hash.ts';
import type { UntilReader } from './until.ts';

/** Reads a cell with an address; `explain` makes the sentence for one that is none, with the cell masked. */
export interface AddressCell {
  read(cell: string): { readonly to: string } | { readonly problem: string; readonly hint?: string };
  explain(cell: string, found: { readonly problem: string }): string;
}

/** Takes what a list holds. */
export interface EntrySink {
  address(form: string, untilMs: number | null, reason: string | null, line: number): void;
  hash(written: WrittenHash, untilMs: number | null, reason: string | null, line: number): void;
}

export interface EntryOptions {
  /** The list, as the user would name it. */
  readonly file: string;
  readonly columns: SuppressionColumns;
  readonly cells: Readonly<Record<AddressKind, AddressCell>>;
  readonly untilOf: UntilReader;
}

/**
 * Makes the reader of a row: hands every address and hash in it on, or says what is wrong with it. A row that is not
 * understood is never skipped: the person behind it does not want messages.
 */
export function createEntryReader(options: EntryOptions, sink: EntrySink): (row: Row) => Diagnostic | null {
  const { file, columns, cells, untilOf } = options;
  return ({ values, line, fault }) => {
    const wrong = (message: string, hint?: string): Diagnostic =>
      problem('invalid-suppression', message, { at: { file, line }, ...(hint === undefined ? {} : { hint }) });
    if (values === null) return wrong(`The row ${fault ?? 'has another number of fields than the header'}.`);
    const untilText = cellAt(values, columns.until);
    const untilMs = untilText === '' ? null : untilOf(untilText);
    if (untilText !== '' && untilMs === null) return wrong('The value in "until" is no date.', UNTIL_HINT);
    const reason = columns.reason === -1 ? '' : (values[columns.reason] ?? '');
    const why = reason === '' ? null : reason;
    let named = false;
    for (const { kind, at } of columns.addresses) {
      const cell = cellAt(values, at);
      if (cell === '') continue;
      const found = cells[kind].read(cell);
      if ('problem' in found) {
        const { hint = undefined } = found;
        const message = cells[kind].explain(cell, found);
        return problem('invalid-address', message, { at: { file, line }, ...(hint === undefined ? {} : { hint }) });
      }
      sink.address(listedForm(found.to), untilMs, why, line);
      named = true;
    }
    const hashed = cellAt(values, columns.hash);
    if (hashed !== '') {
      const written = readHash(hashed);
      if (written === null) return wrong('The value in "hash" is no hash that handbill can compare.', HASH_HINT);
      sink.hash(written, untilMs, why, line);
      named = true;
    }
    return named ? null : wrong('The row has no address.', 'Fill it in, or remove it.');
  };
}

function cellAt(values: readonly string[], at: number): string {
  return at === -1 ? '' : (values[at] ?? '').trim();
}

const UNTIL_HINT =
  'Write a day such as 2027-01-31, or an instant such as 2027-01-31T09:00:00Z; empty means without end.';
const HASH_HINT =
  'Write hb1: and the id of the key, a colon and 64 hex digits; docs/suppression.md says how they are made.';
