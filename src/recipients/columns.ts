import { type Diagnostic, problem } from '../errors.ts';
import type { ColumnType, ColumnTypes, ListSpec } from '../model.ts';
import {
  compared,
  damageOf,
  damageText,
  decimalHint,
  holdsNothing,
  isBlank,
  plainDecimal,
  trimBlanks,
} from '../util/cell.ts';
import { allOf, didYouMean } from '../util/suggest.ts';
import { type CellFormat, DAY_MS, dateHint, type Moment, readDateFormat, readMoment } from '../util/time.ts';
import { ADDRESS_WORDS } from './address.ts';
import { laterHeaderHint } from './refusals.ts';
import { shorten, show } from './show.ts';

type Named = Pick<ListSpec, 'file' | 'kind' | 'to' | 'key' | 'timeZone' | 'columns'> & Partial<Pick<ListSpec, 'each'>>;

/**
 * Finds the columns that `recipients` names; those of `recipients.columns` must exist. No `key`: the address identifies the
 * recipient. `timeZone` null: only the number tells it.
 * @param laterHeader line below that looks like the header; null: none
 */
export function resolveColumns(
  spec: Named,
  columns: readonly string[],
  headerLine = 1,
  laterHeader: number | null = null,
) {
  const to = find(columns, spec.to);
  const key = spec.key.map((name) => find(columns, name));
  const timeZone = spec.timeZone === null ? null : find(columns, spec.timeZone);
  const problems: Diagnostic[] = [];
  const missing = (setting: string, name: string, extra?: string): void => {
    const key = setting.includes('.') ? setting : `recipients.${setting}`;
    const message = `The list has no column "${name}" (\`${key}\`).`;
    const later = laterHeader === null ? undefined : laterHeaderHint(laterHeader);
    const hint = [later, didYouMean(name, columns).hint, extra, listed(columns)]
      .filter((part) => part !== undefined)
      .join(' ');
    problems.push(problem('unknown-column', message, { at: { file: spec.file, line: headerLine }, hint }));
  };
  const words = ADDRESS_WORDS[spec.kind];
  const unset = `Set \`recipients.${words.setting}\` to the column with the ${words.many}.`;
  for (const [setting, name] of namedColumns(spec)) {
    const isUsual = setting === words.setting && name === words.column;
    if (find(columns, name) === -1) missing(setting, name, isUsual ? unset : undefined);
  }
  return problems.length > 0 ? problems : { to, key, timeZone };
}

function namedColumns({
  kind,
  to,
  key,
  timeZone,
  columns,
  each = null,
}: Omit<Named, 'file'>): readonly (readonly [string, string])[] {
  return [
    [ADDRESS_WORDS[kind].setting, to],
    ...key.map((name) => ['key', name] as const),
    ...(timeZone === null ? [] : [['timeZone', timeZone] as const]),
    ...(each === null ? [] : [['send.each.column', each.column] as const]),
    ...Object.keys(columns).map((name) => ['columns', name] as const),
  ];
}

export function wantedColumns(spec: Omit<Named, 'file'>): ReadonlySet<string> {
  return new Set(namedColumns(spec).map(([, name]) => name));
}

function find(columns: readonly string[], name: string): number {
  return columns.indexOf(compared(name));
}

export function listed(columns: readonly string[]): string {
  return allOf('Its columns', columns);
}

export interface TypedColumn {
  readonly index: number;
  readonly name: string;
  readonly type: ColumnType;
  /** Null: dates in ISO 8601, numbers such as 1234.50. */
  readonly format: CellFormat | null;
  /** No cell may be empty; absent: any may. */
  readonly required?: boolean;
  /** The allowed values, as texts are compared; absent: any text. */
  readonly values?: ReadonlySet<string>;
}

export function typedColumns(types: ColumnTypes, columns: readonly string[]): TypedColumn[] {
  return Object.entries(types).flatMap(([written, column]) => {
    const name = compared(written);
    const index = columns.indexOf(name);
    const { required = false, values } = typeof column === 'string' ? {} : column;
    const { type, format } = readType(column);
    if (index === -1 || (type === 'string' && !required && values === undefined)) return [];
    const allowed = values === undefined ? {} : { values: new Set(values.map(compared)) };
    return [{ index, name, type, format, ...(required ? { required } : {}), ...allowed }];
  });
}

/** The campaign reader has checked the format. */
export function readType(column: ColumnTypes[string]) {
  if (typeof column === 'string') return { type: column, format: null };
  const { decimal } = column;
  if (decimal !== undefined) {
    const example = decimal === ',' ? '1.234,50' : '1,234.50';
    const plain = (cell: string) => plainDecimal(compared(cell), decimal);
    return { type: column.type, format: { pattern: example, example, plain } };
  }
  if (column.format === undefined) return { type: column.type, format: null };
  const format = readDateFormat(column.format);
  if ('problem' in format) throw new Error(`The format ${column.format} ${format.problem}.`);
  return { type: column.type, format };
}

export function typeFault(
  typed: readonly TypedColumn[],
  values: readonly string[],
): { readonly message: string; readonly hint: string } | null {
  const cellOf = ({ index }: TypedColumn) => values[index] ?? '';
  if (!typed.some((column) => isWrong(column, cellOf(column)))) return null;
  const wrong = typed.filter((column) => isWrong(column, cellOf(column)));
  const parts = wrong.map((column) => faultOf(column, cellOf(column)));
  const hints = new Set(wrong.map((column) => hintFor(column, trimBlanks(cellOf(column)))));
  return { message: `The column ${parts.join('; ')}.`, hint: [...hints].join(' ') };
}

function isWrong({ type, format, required, values }: TypedColumn, cell: string): boolean {
  if (type !== 'string') {
    const value = readCell(type, cell, format);
    return value === null || (value === undefined && required === true);
  }
  // A word such as None is a value where `values` of the column lists it.
  if (values?.has(compared(cell)) === true) return false;
  return holdsNothing(cell) ? required === true || (values !== undefined && !isBlank(cell)) : values !== undefined;
}

function faultOf({ name, type, format, values }: TypedColumn, cell: string): string {
  if (isBlank(cell)) return `"${name}" is empty`;
  const damage = damageOf(cell);
  if (damage !== null && (damage !== 'scientific' || type !== 'string')) {
    return `"${name}" holds ${damageText(cell, damage)}`;
  }
  if (type !== 'string' && readCell(type, cell, format) === null) {
    return `"${name}" holds ${showCell(cell)}, not ${A[type]}${format === null ? '' : ` as ${format.pattern}`}`;
  }
  const all = [...(values ?? [])];
  const more = all.length > MOST_VALUES ? ` or ${all.length - MOST_VALUES} more` : '';
  return `"${name}" holds ${show(cell)}, not one of ${all.slice(0, MOST_VALUES).join(', ')}${more}`;
}

const MOST_VALUES = 5;
const A = { number: 'a number', date: 'a date' } as const;

/** Masks a long run of digits, which may be a phone number, but shows a date. */
export function showCell(cell: string): string {
  return /^(?!.*\d{9})[\d\s.,:/TZ+-]{1,12}$/.test(cell.trim()) ? `"${shorten(cell.trim())}"` : show(cell);
}

function hintFor(column: TypedColumn, text: string): string {
  const { required, values } = column;
  if (required === true && holdsNothing(text)) return '`recipients.columns` requires a value in every row.';
  if (values !== undefined) {
    const near = didYouMean(text, [...values]).hint;
    return near ?? 'Write one of them as `recipients.columns` does: upper and lower case count.';
  }
  const hint = hintForType(column, text);
  return required === true ? hint.replace(' A cell may be empty.', '') : hint;
}

function hintForType({ name, type, format }: TypedColumn, text: string): string {
  const asWritten = type === 'date' ? ` ${dateHint(name, text) ?? ''}`.trimEnd() : '';
  if (format !== null && type === 'number') {
    return `Numbers are written such as ${format.example}. A cell may be empty.`;
  }
  if (format !== null) {
    const isOther = format.plain(text) === null && readCell('date', text) !== null;
    const iso = isOther ? ' For ISO dates write `date`, without a format.' : asWritten;
    return `Dates are written ${format.pattern}, such as ${format.example}, and must exist. A cell may be empty.${iso}`;
  }
  if (type === 'date') {
    return `Dates are written 2026-11-21, 2026-11-21 09:00 or 2026-11-21T09:00:00Z, and must exist. A cell may be empty.${asWritten}`;
  }
  if (/^-?[\d.,' ]+$/.test(text) && text.replace(/\D/g, '').length > 15) {
    return 'Numbers of more than 15 digits cannot be compared exactly. Is it an id? Then leave its type out.';
  }
  const plain = 'Numbers are written 1234.5: no thousands separators, a point for the fraction. A cell may be empty.';
  const declared = decimalHint(name, text);
  return declared === null ? plain : `${plain} ${declared}`;
}

/** No thousands separators, no exponent, a point for the fraction. */
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;
/** Exact in a double, so two different numbers are never equal. */
const MAX_DIGITS = 15;

/**
 * The value of a cell with a number or a date (`2026-11-21`, which is midnight in UTC, or a time of that day, with or
 * without `Z` or an offset), dates in ms since 1970. Undefined: empty, or a word for no value; null: something else.
 * @param format null: dates in ISO 8601, numbers with a point
 * @param instantOf converts a local time without a zone; default: as UTC
 */
export function readCell(
  type: Exclude<ColumnType, 'string'>,
  cell: string,
  format: CellFormat | null = null,
  instantOf: (wallMs: number) => number = (wallMs) => wallMs,
): number | null | undefined {
  const text = plainCell(cell, format);
  if (text === null || text === undefined) return text;
  if (type === 'number') {
    const isExact = text.length <= MAX_DIGITS || text.replace(/[-.]/g, '').length <= MAX_DIGITS;
    // Some comparisons distinguish minus zero from zero.
    return NUMBER.test(text) && isExact ? Number(text) + 0 : null;
  }
  const moment = readDate(text);
  return moment === null ? null : moment.kind === 'local' ? instantOf(moment.ms) : moment.ms;
}

/**
 * The moment of a cell with a date and a time of day, in ms since 1970, to the second. Null: it has none.
 * @param instantOf converts a local time without a zone
 */
export function readCellTime(
  cell: string,
  format: CellFormat | null,
  instantOf: (wallMs: number) => number,
): number | null {
  const moment = readDate(plainCell(cell, format) ?? '');
  if (moment === null || moment.kind === 'date') return null;
  const ms = moment.kind === 'local' ? instantOf(moment.ms) : moment.ms;
  return Math.floor(ms / 1000) * 1000;
}

/** The cell in the form that is read; undefined: no value, null: not in its format. */
function plainCell(cell: string, format: CellFormat | null): string | null | undefined {
  const text = trimBlanks(cell);
  if (text === '' || damageOf(text) === 'no-value') return undefined;
  return format === null ? text : format.plain(text);
}

/**
 * The calendar day of a cell: as written, or of an instant in the zone. Undefined: empty; null: something else.
 * @param dayOf the day of an instant in the zone
 */
export function readCellDay(
  cell: string,
  format: CellFormat | null,
  dayOf: (ms: number) => number,
): number | null | undefined {
  const text = plainCell(cell, format);
  if (text === null || text === undefined) return text;
  const moment = readDate(text);
  if (moment === null) return null;
  return moment.kind === 'instant' ? dayOf(moment.ms) : Math.floor(moment.ms / DAY_MS) * DAY_MS;
}

/** Reads it as the helper `date` does; no list means the first century. */
function readDate(text: string): Moment | null {
  return text.startsWith('00') ? null : readMoment(text);
}
