/* Each function returns null where the text is not such a quantity. They guess nothing and round nothing up. */

/** `30s`, `5m`, `24h`, `7d` or an ISO 8601 duration of weeks, days, hours, minutes, seconds (`PT30S`, `P1DT12H`), in ms. */
export function durationMs(text: string): number | null {
  const short = SHORT_DURATION.exec(text);
  if (short !== null) return whole(Number(short[1]) * (UNIT_MS[short[2] ?? ''] ?? Number.NaN));
  const iso = ISO_DURATION.exec(text);
  if (iso === null) return null;
  // No months and years: how long they last depends on when they begin.
  const [, weeks, days, hours, minutes, seconds] = iso;
  const parts = [weeks, days, hours, minutes, seconds];
  if (parts.every((part) => part === undefined) || text.endsWith('T')) return null;
  const [w = 0, d = 0, h = 0, m = 0, s = 0] = parts.map((part) => Number(part ?? 0));
  return whole(Math.round((((w * 7 + d) * 24 + h) * 60 + m) * 60_000 + s * 1000));
}

/** As people write it: `36h`, `90s`. */
export function durationText(ms: number): string {
  const [unit, unitMs] = WRITTEN.find(([, size]) => ms % size === 0) ?? (['s', 1000] as const);
  return `${Math.floor(ms / unitMs)}${unit}`;
}

const WRITTEN = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `50/s`, `600/min`, `1000/h`, in requests per second; above zero. */
export function ratePerSecond(text: string): number | null {
  const match = RATE.exec(text);
  if (match === null) return null;
  const rate = Number(match[1]) / (UNIT_SECONDS[match[2] ?? ''] ?? Number.NaN);
  return rate > 0 ? rate : null;
}

/** `5%`, `0.5%`, as a share between 0 and 1. */
export function share(text: string): number | null {
  const match = PERCENTAGE.exec(text);
  if (match === null) return null;
  const value = Number(match[1]) / 100;
  return value <= 1 ? value : null;
}

/** The least whole number that is at least a share of a whole: 7% of 100 is 7, although 0.07 * 100 is a little more. */
export function wholePart(share: number, whole: number): number {
  return Math.ceil(Number((share * whole).toPrecision(12)));
}

/** The greatest whole number that is at most a share of a whole: 29% of 100 is 29, although 0.29 * 100 is a little less. */
export function partAtMost(share: number, whole: number): number {
  return Math.floor(Number((share * whole).toPrecision(12)));
}

function whole(ms: number): number | null {
  return Number.isSafeInteger(ms) ? ms : null;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };
const SHORT_DURATION = /^([0-9]{1,9})([smhd])$/;
const ISO_DURATION =
  /^P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)S)?)?$/;
const RATE = /^([0-9]{1,9}(?:\.[0-9]{1,6})?)\/(s|min|h)$/;
const PERCENTAGE = /^([0-9]{1,3}(?:\.[0-9]{1,6})?)%$/;

/** Whole micro-units keep sums exact. Doubles hold whole numbers up to 9,007,199,254 units of the currency this way. */
const MICROS_PER_UNIT = 1_000_000;

/** A decimal in micro-units (`0.0425`, `3`, `.5`). Null for a sign, an exponent, a comma or more than six decimals. */
export function parseMicros(decimal: string): number | null {
  const match = /^(\d{0,9})(?:\.(\d{1,6}))?$/.exec(decimal);
  if (match === null || decimal === '') return null;
  return Number(match[1] ?? '') * MICROS_PER_UNIT + Number((match[2] ?? '').padEnd(6, '0'));
}

/** The amount in units of the currency: the nearest double, which prints as the exact decimal. */
export function unitsOf(micros: number): number {
  return micros / MICROS_PER_UNIT;
}

export function microsOf(units: number): number {
  return Math.round(units * MICROS_PER_UNIT);
}
