/** What `npm run bench:guard` compares with: ratios that were good. */
export interface Recorded {
  /** How far above its record a ratio may lie: 1.3 is 30 %. */
  readonly margin: number;
  readonly ratios: Readonly<Record<string, number>>;
}

export interface Verdict {
  readonly name: string;
  readonly ok: boolean;
  /** One line for people. */
  readonly line: string;
}

/**
 * Judges ratios against their records. A ratio without a record fails as well as a record without a ratio: a guard that
 * looks at nothing would be green for ever.
 */
export function compareRatios(measured: Readonly<Record<string, number>>, recorded: Recorded): readonly Verdict[] {
  const names = new Set([...Object.keys(measured), ...Object.keys(recorded.ratios)]);
  return [...names].map((name) => judge(name, measured[name], recorded.ratios[name], recorded.margin));
}

function judge(name: string, ratio: number | undefined, before: number | undefined, margin: number): Verdict {
  const say = (ok: boolean, words: string): Verdict => ({
    name,
    ok,
    line: `${ok ? 'ok  ' : 'FAIL'}  ${name}: ${words}`,
  });
  if (ratio === undefined) return say(false, 'has a record, but is not measured any more');
  const words = `${ratio.toFixed(2)} times`;
  if (before === undefined) return say(false, `${words}, without a record to compare with: run with --record`);
  const most = before * margin;
  // What is no number is above nothing.
  return say(ratio <= most, `${words}, recorded ${before.toFixed(2)}, at most ${most.toFixed(2)}`);
}
