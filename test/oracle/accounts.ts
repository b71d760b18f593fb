import type { Outcome, StepCount } from '../../src/model.ts';

/** What the ledger says of one run, added up and one by one. */
export interface Books {
  readonly outcomes: readonly Outcome[];
  readonly steps: readonly StepCount[];
  readonly counts: readonly Omit<StepCount, 'fellBack'>[];
  /** Rows of the list. */
  readonly rows: number;
}

/**
 * Whether the sums are those of the recipients: how many, parts and cost, for each step and channel. All steps of a
 * recipient have one variant.
 */
export function misbooked({ outcomes, steps, counts, rows }: Books): string[] {
  const found: string[] = [];
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  if (total !== rows) found.push(`${total} outcomes are counted for ${rows} rows`);
  const own = new Map<string, Sum>();
  for (const outcome of outcomes) {
    const variants = new Set((outcome.steps ?? [outcome]).map(({ variant }) => variant));
    if (variants.size > 1) found.push(`row ${outcome.row} has the variants ${[...variants].join(' and ')}`);
    for (const [step, one] of (outcome.steps ?? [outcome]).entries()) {
      const { channel, outcome: state, reason, byReport, parts, cost } = one;
      add(own, [step, channel, state, reason, byReport], {
        count: 1,
        parts: parts ?? 0,
        micros: Math.round((cost ?? 0) * 1e6),
      });
    }
  }
  const theirs = new Map<string, Sum>();
  for (const { step, channel, outcome, reason, byReport, count, parts, costMicros } of steps) {
    add(theirs, [step, channel, outcome, reason, byReport], { count, parts, micros: costMicros ?? 0 });
  }
  for (const name of new Set([...own.keys(), ...theirs.keys()])) {
    const [one, other] = [own.get(name), theirs.get(name)].map((sum) => JSON.stringify(sum ?? null));
    if (one !== other) found.push(`${name}: ${one} one by one, but ${other} added up`);
  }
  return found;
}

interface Sum {
  readonly count: number;
  readonly parts: number;
  readonly micros: number;
}

function add(sums: Map<string, Sum>, name: readonly unknown[], { count, parts, micros }: Sum): void {
  const sum = sums.get(name.join(' ')) ?? { count: 0, parts: 0, micros: 0 };
  sums.set(name.join(' '), {
    count: sum.count + count,
    parts: sum.parts + parts,
    micros: sum.micros + micros,
  });
}
