import { duration, number } from '../../report/words.ts';
import { cut, displayWidth } from '../../util/display-width.ts';
import type { TerminalChars } from '../../util/terminal-chars.ts';

/** How far work has come, as it is shown. */
export interface Shown {
  /** What is being done: `Checking`. */
  readonly label?: string;
  readonly done: number;
  /** 0 where that is not known. */
  readonly total: number;
  /** Bytes are shown in MB; null: what is counted goes without saying. */
  readonly unit: 'bytes' | 'rows' | null;
  /** Stands in the place of the time left. */
  readonly instead?: string;
  /** What became of them so far: `accepted 1,190`. */
  readonly more?: readonly string[];
}

/** One part of the line; the lowest rank is the last to go where the terminal is narrow. */
interface Part {
  readonly text: string;
  readonly rank: number;
}

const GAP = 2;
const BAR_LEAST = 8;
const BAR_MOST = 24;

/**
 * `Checking  ━━━━━━────────  1,200 of 5,000 (24 %)  350/s  11 s left  accepted 1,190`, of which a narrow terminal shows
 * what matters most: the share, the time left, the count, the rate.
 *
 * @param perSecond null where it is not known yet
 * @param width columns of the line
 */
export function progressText(
  shown: Shown,
  perSecond: number | null,
  { width, chars }: { readonly width: number; readonly chars: TerminalChars },
): string {
  const parts = fitting(partsOf(shown, perSecond), width);
  const room = width - lengthOf(parts) - GAP;
  const [first, ...rest] = parts;
  if (first === undefined) return '';
  if (shown.total === 0 || room < BAR_LEAST) return cut(join(parts), width).replace('…', chars.cut);
  const bar: Part = { text: barOf(shown, Math.min(room, BAR_MOST), chars), rank: 0 };
  return join(shown.label === undefined ? [bar, ...parts] : [first, bar, ...rest]);
}

function partsOf(shown: Shown, perSecond: number | null): readonly Part[] {
  const { label, done, total, unit, instead, more = [] } = shown;
  if (total === 0 && done === 0 && label !== undefined) return [{ text: label, rank: 1 }];
  const share = total === 0 ? null : `${Math.min(100, Math.floor((100 * done) / total))} %`;
  const amount = total === 0 ? amountText(done, unit) : ofText(done, total, unit);
  const left = instead ?? leftText(shown, perSecond);
  const parts: (Part | null)[] = [
    label === undefined ? null : { text: label, rank: 5 },
    { text: amount, rank: total === 0 ? 1 : 3 },
    share === null ? null : { text: `(${share})`, rank: 1 },
    perSecond === null ? null : { text: `${amountText(perSecond, unit)}/s`, rank: 4 },
    left === null ? null : { text: left, rank: 2 },
    ...more.map((text, i): Part => ({ text, rank: 6 + i })),
  ];
  return parts.filter((part) => part !== null);
}

function leftText({ done, total }: Shown, perSecond: number | null): string | null {
  if (total === 0) return null;
  if (perSecond === null || perSecond <= 0) return 'starting';
  return `${duration((Math.max(0, total - done) * 1000) / perSecond)} left`;
}

/** The parts that fit, in their order: what has the highest rank goes first, the most important one stays. */
function fitting(parts: readonly Part[], width: number): readonly Part[] {
  let kept = parts;
  while (kept.length > 1 && lengthOf(kept) > width) {
    const worst = Math.max(...kept.map(({ rank }) => rank));
    kept = kept.filter(({ rank }) => rank !== worst);
  }
  return kept;
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { text }) => sum + displayWidth(text), GAP * (parts.length - 1));
}

function join(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(' '.repeat(GAP));
}

function barOf({ done, total }: Shown, width: number, chars: TerminalChars): string {
  const filled = Math.min(width, Math.floor((width * done) / total));
  return chars.done.repeat(filled) + chars.left.repeat(width - filled);
}

function amountText(amount: number, unit: Shown['unit']): string {
  if (unit === 'bytes') return `${megabytes(amount)} MB`;
  return unit === null ? number(Math.round(amount)) : `${number(Math.round(amount))} ${unit}`;
}

function ofText(done: number, total: number, unit: Shown['unit']): string {
  if (unit === 'bytes') return `${megabytes(done)} of ${megabytes(total)} MB`;
  return `${number(done)} of ${number(total)}`;
}

function megabytes(bytes: number): string {
  return bytes < 9_950_000 ? (bytes / 1e6).toFixed(1) : number(Math.round(bytes / 1e6));
}
