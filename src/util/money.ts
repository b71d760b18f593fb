/**
 * Money is counted in whole micro-units (a millionth of the currency's unit), so that sums are exact: 0.1 + 0.2 is
 * 0.3. Doubles hold whole numbers up to 9,007,199,254 units of the currency this way.
 */
export const MICROS_PER_UNIT = 1_000_000;

/**
 * Micro-units of a decimal as people write it (`0.0425`, `3`, `.5`), or null: a sign, an exponent, a comma or more
 * than six decimals are not understood rather than guessed.
 */
export function parseMicros(decimal: string): number | null {
  const match = /^(\d{0,9})(?:\.(\d{1,6}))?$/.exec(decimal);
  if (match === null || decimal === '') return null;
  return Number(match[1] ?? '') * MICROS_PER_UNIT + Number((match[2] ?? '').padEnd(6, '0'));
}

/** The amount in units of the currency: the nearest double, which prints as the exact decimal. */
export function unitsOf(micros: number): number {
  return micros / MICROS_PER_UNIT;
}

/** The amount for eyes: at least two decimals, as many as it has (`0.0425`, `12.50`). */
export function formatMoney(units: number): string {
  const [whole = '0', decimals = ''] = units.toFixed(6).split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}
