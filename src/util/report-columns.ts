/**
 * The prefix of the columns that a report adds to those of the list. Such a file can be sent as a list again, and no
 * template needs the results of the last time.
 */
export const REPORT_COLUMN_PREFIX = 'handbill_';

/** Columns that occur together only in a file that handbill wrote: a report of a list, a report, replies. */
const OWN_EXPORTS: readonly (readonly string[])[] = [
  ['handbill_key', 'handbill_reference', 'handbill_outcome'],
  ['key', 'reference', 'outcome', 'httpStatus', 'messageId', 'updatedAt'],
  ['key', 'meaning', 'receivedAt', 'environment', 'occurrence'],
];

/** True for the columns of a CSV that handbill wrote, whose cells have a `'` before what looks like a formula. */
export function isOwnExport(columns: readonly string[]): boolean {
  return OWN_EXPORTS.some((own) => own.every((name) => columns.includes(name)));
}
