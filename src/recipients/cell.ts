import type { ColumnType } from '../model.ts';
import type { DateFormat } from '../util/date-format.ts';
import { instantMs } from '../util/units.ts';

/** A plain decimal: no thousands separators, no exponent, a point for the fraction. */
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** Up to 15 digits are exact in a double, so that two different numbers are never taken for one. */
const MAX_DIGITS = 15;

/**
 * The value of a cell that holds a number or a date (`2026-11-21`, which is midnight in UTC, or an instant with `Z` or
 * an offset), dates in ms since 1970; undefined when it is empty, null when it holds something else.
 * @param format how the dates are written; null: as ISO 8601. Its times of day are those of a clock in UTC.
 */
export function readCell(
  type: Exclude<ColumnType, 'string'>,
  cell: string,
  format: DateFormat | null = null,
): number | null | undefined {
  const text = cell.trim();
  if (text === '') return undefined;
  if (type === 'number') return readNumber(text);
  if (format === null) return readDate(text);
  const iso = format.toIso(text);
  return iso === null ? null : readDate(iso.includes('T') ? `${iso}Z` : iso);
}

function readNumber(text: string): number | null {
  if (!NUMBER.test(text)) return null;
  if (text.length > MAX_DIGITS && text.replace(/[-.]/g, '').length > MAX_DIGITS) return null;
  // Minus zero would be another value than zero to some comparisons.
  return Number(text) + 0;
}

const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

function readDate(text: string): number | null {
  if (!DAY.test(text)) return instantMs(text.replace(' ', 'T'));
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  // Date.UTC carries over (31 April is 1 May), and reads years below 100 as 19xx.
  const ms = Date.UTC(year, month - 1, day);
  const date = new Date(ms);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 100 ? ms : null;
}

/** The text of a cell as it is compared: trimmed, and in Unicode's composed form. */
export function readText(cell: string): string {
  return cell.trim().normalize('NFC');
}
