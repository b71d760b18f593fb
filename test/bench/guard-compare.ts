/** A figure of `npm run bench:guard` that was good. */
export interface RecordedFigure {
  readonly value: number;
  /** How far the largest and the smallest of the runs in which it was recorded lay apart: 0.15 is 15% of the value. */
  readonly spread: number;
}

/** What is compared with. */
export interface Recorded {
  /** How far above its record a figure may lie: 0.3 is 30%. */
  readonly margin: number;
  readonly figures: Readonly<Record<string, RecordedFigure>>;
}

/** Figures by what they are, with their unit. */
export type Figures = Readonly<Record<string, number>>;

export interface Verdict {
  readonly name: string;
  readonly ok: boolean;
  /** One line for people. */
  readonly line: string;
}

/**
 * Judges figures by their records. A figure without a record fails as well as a record without a figure: a guard that
 * looks at nothing would always be green.
 */
export function compareFigures(measured: Figures, { margin, figures }: Recorded): readonly Verdict[] {
  const names = new Set([...Object.keys(measured), ...Object.keys(figures)]);
  return [...names].map((name) => judge(name, measured[name], figures[name]?.value, margin));
}

function judge(name: string, now: number | undefined, before: number | undefined, margin: number): Verdict {
  const say = (ok: boolean, words: string): Verdict => ({
    name,
    ok,
    line: `${ok ? 'ok  ' : 'FAIL'}  ${name}: ${words}`,
  });
  if (now === undefined) return say(false, 'has a record, but is not measured any more');
  if (before === undefined) return say(false, `${now.toFixed(2)}, without a record to compare with`);
  const most = before * (1 + margin);
  const change = `${now < before ? '-' : '+'}${(Math.abs(now / before - 1) * 100).toFixed(1)}%`;
  const words = `${now.toFixed(2)}, recorded ${before.toFixed(2)}, at most ${most.toFixed(2)}`;
  // What is no number is above nothing.
  return say(now <= most, `${words} (${change}, margin ${Math.round(margin * 100)}%)`);
}

/** The record of some figures alone. */
export function recordOf({ margin, figures }: Recorded, names: readonly string[]): Recorded {
  return { margin, figures: Object.fromEntries(Object.entries(figures).filter(([name]) => names.includes(name))) };
}

/** What becomes the record, from several runs: of each figure the middle one, and how far apart they lay. */
export function middleOf(runs: readonly Figures[]): Readonly<Record<string, RecordedFigure>> {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, middle(runs.map((run) => run[name] ?? Number.NaN))]));
}

function middle(values: readonly number[]): RecordedFigure {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const spread = ((sorted.at(-1) ?? Number.NaN) - (sorted[0] ?? Number.NaN)) / value;
  return { value: Number(value.toFixed(2)), spread: Number(spread.toFixed(4)) };
}
