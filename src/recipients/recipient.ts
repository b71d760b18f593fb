import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { ListSpec, Recipient, Row, SkipReason } from '../model.ts';
import { mask } from '../util/mask.ts';
import { resolveColumns } from './columns.ts';
import { createPhoneReader, type PhoneProblem } from './phone.ts';

/** A row that nothing can be sent to, and why. */
export interface InvalidRow {
  readonly row: number;
  readonly line: number;
  readonly key: null;
  readonly to: null;
  readonly reason: Extract<SkipReason, 'bad-row' | 'invalid-address'>;
  readonly problem: Diagnostic;
}

/** Tells the two results of a recipient reader apart. */
export function isInvalidRow(result: Recipient | InvalidRow): result is InvalidRow {
  return 'problem' in result;
}

/**
 * Makes the function that turns a row into a recipient: address in E.164, and the key that identifies the person (the
 * column `recipients.key`, trimmed and NFC, else the address).
 * @param columns names of the list's columns
 * @throws HandbillError (exit 2): unknown-column, invalid-value (`recipients.defaultCountry`)
 */
export function createRecipientReader(
  spec: ListSpec,
  columns: readonly string[],
): (row: Row) => Recipient | InvalidRow {
  const resolved = resolveColumns(spec, columns);
  if (Array.isArray(resolved)) throw refuse(...resolved);
  const { to, key } = resolved;
  const readPhone = createPhoneReader(spec.defaultCountry);

  return function readRecipient(row) {
    const { values } = row;
    if (values === null) return raggedRow(spec, row);
    const cell = values[to] ?? '';
    const phone = readPhone(cell);
    if ('problem' in phone) return invalidAddress(spec, row, cell, phone);
    const id = key === null ? phone.e164 : identify(values[key] ?? '');
    if (id === '') return emptyKey(spec, row);
    return {
      row: row.row,
      line: row.line,
      key: id,
      to: phone.e164,
      country: phone.country,
      assigned: phone.assigned,
      values,
    };
  };
}

function identify(cell: string): string {
  return cell.trim().normalize('NFC');
}

function raggedRow(spec: ListSpec, row: Row): InvalidRow {
  const message = `The row ${row.fault ?? 'has another number of fields than the header'}.`;
  const hint = 'A value that holds the delimiter or a line end must stand in quotes.';
  return invalid(row, 'bad-row', problem('csv-ragged-row', message, { ...at(spec, row), hint }));
}

function invalidAddress(spec: ListSpec, row: Row, cell: string, found: PhoneProblem): InvalidRow {
  const shown = cell.trim() === '' ? '' : ` ${show(cell)}`;
  const message = `The number${shown} (column "${spec.to}") ${found.problem}.`;
  const hint = found.hint === undefined ? {} : { hint: found.hint };
  return invalid(row, 'invalid-address', problem('invalid-address', message, { ...at(spec, row), ...hint }));
}

function emptyKey(spec: ListSpec, row: Row): InvalidRow {
  const message = `The column "${spec.key}", which identifies the recipient (\`recipients.key\`), is empty.`;
  const hint = 'Fill it in, or leave `recipients.key` out: then the number identifies the recipient.';
  return invalid(row, 'bad-row', problem('empty-key', message, { ...at(spec, row), hint }));
}

function invalid(row: Row, reason: InvalidRow['reason'], found: Diagnostic): InvalidRow {
  return { row: row.row, line: row.line, key: null, to: null, reason, problem: found };
}

function at(spec: ListSpec, row: Row): { at: { file: string; line: number } } {
  return { at: { file: spec.file, line: row.line } };
}

/** From this many digits on, a value may be somebody's number and is masked. */
const PERSONAL_DIGITS = 5;

const LONGEST_SHOWN = 40;

/** The value as it may be shown on a terminal: masked where it may be an address, else cut to 40 characters. */
function show(cell: string): string {
  const text = cell.trim();
  const digits = text.replace(/[^\p{Nd}]/gu, '').length;
  const masked = text.includes('@') || digits >= PERSONAL_DIGITS ? mask(text) : text;
  const characters = [...masked];
  return `"${characters.length > LONGEST_SHOWN ? `${characters.slice(0, LONGEST_SHOWN).join('')}…` : masked}"`;
}
