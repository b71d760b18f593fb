/**
 * One cell of a CSV that handbill writes: always quoted, and with a leading `'` where a spreadsheet would run it as a
 * formula (`=`, `+`, `-`, `@`, also in full width, and the controls that are skipped before one). Phone numbers begin
 * with `+`, so they get it too. `unguardCell` takes it away again. Null is an empty cell.
 */
export function csvCell(value: string | number | null): string {
  if (value === null) return '""';
  return `"${guardCell(String(value)).replaceAll('"', '""')}"`;
}

/** The value with a leading `'` if it needs one; exact: `unguardCell(guardCell(x))` is `x` for every text. */
export function guardCell(value: string): string {
  return NEEDS_GUARD.test(value) ? `'${value}` : value;
}

/** The value without the `'` that `guardCell` put in front. */
export function unguardCell(value: string): string {
  return value.startsWith("'") && NEEDS_GUARD.test(value.slice(1)) ? value.slice(1) : value;
}

// A value that itself begins with `'=` gets a second one: otherwise reading it back would lose the first. The pattern
// is made from a string because it has to name control characters.
const NEEDS_GUARD = /^'*[=+\-@\t\r\n\0＝＋－＠]/;
