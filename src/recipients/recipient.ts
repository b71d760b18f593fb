import { type Code, type Diagnostic, problem, refuse } from '../errors.ts';
import type { EachTime, ListSpec, Recipient, Row, SkipReason } from '../model.ts';
import { keyWithTime, listedForm } from '../util/address-form.ts';
import { compared, type Damage, damageOf, damageText, holdsNothing, trimBlanks } from '../util/cell.ts';
import { createInstantOf, dateHint, readMoment } from '../util/time.ts';
import { type ZoneFault, zoneFault } from '../util/zone-name.ts';
import { ADDRESS_WORDS, addressMessage, createAddressReader } from './address.ts';
import { readCellTime, resolveColumns, showCell, type TypedColumn, typedColumns, typeFault } from './columns.ts';
import { type Address, type AddressProblem, doubtAbout } from './phone.ts';
import { columnTypes } from './query.ts';
import { show } from './show.ts';

export interface InvalidRow {
  readonly row: number;
  readonly line: number;
  readonly key: null;
  readonly to: null;
  readonly reason: Extract<SkipReason, 'bad-row' | 'invalid-address'>;
  readonly problem: Diagnostic;
}

export function isInvalidRow(result: Recipient | InvalidRow): result is InvalidRow {
  return 'problem' in result;
}

/**
 * Turns a row into a recipient: the normalised address, and the key (of the columns `recipients.key`, else the
 * address). Cells must match their type, even if nothing uses them; dates in another format become ISO 8601.
 * @throws HandbillError (exit 2): unknown-column, invalid-value (`recipients.defaultCountry`)
 */
export function createRecipientReader(
  spec: ListSpec,
  columns: readonly string[],
): (row: Row) => Recipient | InvalidRow {
  const resolved = resolveColumns(spec, columns);
  if (Array.isArray(resolved)) throw refuse(...resolved);
  const { to, key, timeZone } = resolved;
  const { kind } = spec;
  const readAddress = createAddressReader(kind, spec.defaultCountry);
  const typed = typedColumns(columnTypes(spec), columns);
  const formatted = typed.filter(({ format }) => format !== null);
  const zoneFaultOf = createZoneCheck();
  // Decides the usual cases, one column or none, once and not for each row. A key that is the column of the
  // address counts as none: a list may spell the address in another way the next time.
  const only = key.length === 0 || (key.length === 1 && key[0] === to) ? null : key.length === 1 ? key[0] : undefined;

  const refused = (address: Address): AddressProblem | null => {
    const doubt = spec.alsoInvalid.length === 0 || kind !== 'msisdn' ? null : doubtAbout(address, false);
    return doubt !== null && spec.alsoInvalid.includes(doubt.kind) ? doubt : null;
  };

  const read = (row: Row): Recipient | InvalidRow => {
    const { values } = row;
    if (values === null) {
      const hint = 'A value that holds the delimiter or a line end must be in quotes.';
      return invalid(spec, row, 'csv-ragged-row', `The row ${row.fault}.`, hint);
    }
    const cell = values[to] ?? '';
    const address = readAddress(cell);
    const wrong = 'problem' in address ? address : refused(address);
    const id =
      only === null
        ? 'problem' in address
          ? null
          : personOf(kind, address.to)
        : only === undefined
          ? identifyAll(key, (column) =>
              column !== to || 'problem' in address ? identify(values[column] ?? '') : personOf(kind, address.to),
            )
          : identify(values[only] ?? '');
    const type = typed.length === 0 ? null : typeFault(typed, values);
    const zone = timeZone === null ? '' : (values[timeZone] ?? '');
    const badZone = zoneFaultOf(zone);
    if ('problem' in address || id === null || wrong !== null || id === '' || type !== null || badZone !== null) {
      // All faults at once, so that a row is not refused again after the first fix.
      return joined([
        ...(wrong === null
          ? []
          : [invalid(spec, row, 'invalid-address', addressMessage(kind, spec.to, cell, wrong), wrong.hint)]),
        ...(id === '' ? [emptyKey(spec, row, key)] : []),
        ...(type === null ? [] : [invalid(spec, row, 'column-type', type.message, type.hint)]),
        ...(badZone === null ? [] : [unknownZone(spec, row, zone, badZone)]),
      ]);
    }
    return {
      row: row.row,
      line: row.line,
      key: id,
      to: address.to,
      kind,
      country: address.country,
      assigned: address.assigned,
      values: formatted.length === 0 ? values : withIsoDates(values, formatted),
    };
  };
  if (spec.each === null) return read;
  const column = columns.indexOf(spec.each.column);
  const timeOf = createTimeReader(spec.each, column, typed);
  return (row) => {
    const recipient = read(row);
    if (row.values === null) return recipient;
    const zone = timeZone === null ? '' : (row.values[timeZone] ?? '');
    const cell = row.values[column] ?? '';
    const atMs = timeOf(cell, zoneFaultOf(zone) === null ? zone : '');
    if (atMs === null) {
      const fault = withoutTime(spec, row, cell);
      return isInvalidRow(recipient) ? joined([recipient, fault]) : fault;
    }
    return isInvalidRow(recipient) ? recipient : { ...recipient, key: keyWithTime(recipient.key, atMs), atMs };
  };
}

/** The time of a row. The number tells no zone here: it says where a phone is from, not where its owner is expected. */
function createTimeReader(
  { timeZone }: EachTime,
  index: number,
  typed: readonly TypedColumn[],
): (cell: string, zone: string) => number | null {
  const format = typed.find((one) => one.index === index)?.format ?? null;
  const zones = new Map<string, (wallMs: number) => number>();
  const instantsIn = (name: string): ((wallMs: number) => number) => {
    const found = zones.get(name) ?? createInstantOf(name);
    if (zones.size < MOST_ZONES) zones.set(name, found);
    return found;
  };
  return (cell, zone) =>
    readCellTime(cell, format, (wallMs) => instantsIn(holdsNothing(zone) ? timeZone : trimBlanks(zone))(wallMs));
}

/** Where the address identifies a person, it does so in one spelling: a list may write it otherwise the next time. */
function personOf(kind: ListSpec['kind'], to: string): string {
  return kind === 'contact' ? to : listedForm(to);
}

function joined(faults: readonly InvalidRow[]): InvalidRow {
  const [first] = faults;
  if (first === undefined) throw new Error('a row without a fault is not invalid');
  if (faults.length === 1) return first;
  const message = faults.map(({ problem }) => problem.message).join(' ');
  const hint = faults.flatMap(({ problem }) => problem.hint ?? []).join(' ');
  return { ...first, problem: { ...first.problem, message, ...(hint === '' ? {} : { hint }) } };
}

/** Templates and variables get ISO 8601 dates, whatever the list's format. */
function withIsoDates(values: readonly string[], formatted: readonly TypedColumn[]): readonly string[] {
  const read = [...values];
  for (const { index, format } of formatted) read[index] = format?.plain(values[index] ?? '') ?? '';
  return read;
}

/** Empty where a program wrote a placeholder instead of an id, which many recipients would share. */
function identify(cell: string): string {
  return damageOf(cell) === null ? compared(cell) : '';
}

/**
 * The cells of several key columns, in order, joined by `|`. Escapes `|` and `\` with `\`, so that different cells
 * never make the same key. Empty when any cell is.
 */
function identifyAll(columns: readonly number[], cellOf: (column: number) => string): string {
  const cells = columns.map(cellOf);
  return cells.includes('') ? '' : cells.map((cell) => cell.replace(/[\\|]/g, '\\$&')).join('|');
}

function emptyKey(spec: ListSpec, row: Row, columns: readonly number[]): InvalidRow {
  const cells = columns.map((column) => row.values?.[column] ?? '');
  const empty = cells.findIndex((cell) => identify(cell) === '');
  const damage = damageOf(cells[empty] ?? '');
  const holds = damage === null ? 'is empty' : `holds ${damageText(cells[empty] ?? '', damage)}`;
  const message = `The column "${spec.key[empty]}", which identifies the recipient (\`recipients.key\`), ${holds}.`;
  const one = ADDRESS_WORDS[spec.kind].one;
  const remedy = damage === null ? 'Fill it in' : AS_TEXT[damage];
  const hint = `${remedy}, or leave \`recipients.key\` out: then the ${one} identifies the recipient.`;
  return invalid(spec, row, 'empty-key', message, hint);
}

const AS_TEXT: Readonly<Record<Damage, string>> = {
  'error-value': 'Correct it in the spreadsheet',
  'no-value': 'Fill it in',
  scientific: 'Give the column the format "Text" in the spreadsheet, enter the ids again and save',
};

function createZoneCheck(): (cell: string) => ZoneFault | null {
  const known = new Set<string>(['']);
  return (cell) => {
    if (known.has(cell)) return null;
    const name = holdsNothing(cell) ? '' : trimBlanks(cell);
    const fault = known.has(name) ? null : zoneFault(name);
    if (fault === null && known.size < MOST_ZONES) known.add(name);
    return fault;
  };
}

/** There are some 600 names; letter case does not count, so a list could have many more. */
const MOST_ZONES = 2000;

function unknownZone(spec: ListSpec, row: Row, cell: string, fault: ZoneFault): InvalidRow {
  const message = `The column "${spec.timeZone}" holds ${show(cell)}, which ${fault.problem}.`;
  const hint = `${fault.hint} A cell may be empty.`;
  return invalid(spec, row, 'invalid-time-zone', message, hint);
}

function withoutTime(spec: ListSpec, row: Row, cell: string): InvalidRow {
  const column = spec.each?.column ?? '';
  const holds = holdsNothing(cell) ? 'is empty' : `holds ${showCell(cell)}`;
  const message = `The column "${column}" (\`send.each\`) ${holds}: it needs a date with a time of day.`;
  const format = readMoment(trimBlanks(cell)) === null ? dateHint(column, cell) : null;
  const hint = `Write a day of the calendar and a time up to 23:59: 2026-12-01 09:30, or with its offset 2026-12-01T09:30:00+01:00.${format === null ? '' : ` ${format}`}`;
  return invalid(spec, row, 'column-type', message, hint);
}

function invalid({ file }: ListSpec, { row, line }: Row, code: Code, message: string, hint?: string): InvalidRow {
  const reason = code === 'invalid-address' ? code : 'bad-row';
  return { row, line, key: null, to: null, reason, problem: problem(code, message, { at: { file, line }, hint }) };
}
