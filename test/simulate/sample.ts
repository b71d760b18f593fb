import { type Coverage, createCoverage } from './coverage.ts';
import type { Stage } from './scene.ts';
import { simulate } from './simulate.ts';
import type { Sabotage } from './start.ts';

/** How much of a failing history is shown; `--replay` shows all of it. */
const TAIL_LINES = 30;

/** Runs the histories of some seeds; one text for each that speaks against the promise. */
export async function simulateSeeds(
  { from, count }: { readonly from: number; readonly count: number },
  stage: Stage,
  coverage: Coverage,
): Promise<string[]> {
  const failing: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { violations } = await simulate(seed, stage, { coverage });
    if (violations.length > 0) failing.push(await describeFailure(seed, violations, stage));
  }
  return failing;
}

/** What went wrong, the end of its history, and how to see all of it. */
export async function describeFailure(seed: number, violations: readonly string[], stage: Stage): Promise<string> {
  const { log } = await simulate(seed, stage, { coverage: createCoverage(), recording: true });
  return [
    `seed ${seed}:`,
    ...violations.map((what) => `  ${what}`),
    ...log.slice(-TAIL_LINES).map((line) => `    ${line}`),
    `  replay: npm run hunt:simulate -- --replay ${seed}`,
    '',
  ].join('\n');
}

/** What the first of these histories that objects to a broken part says; empty when none does. */
export async function firstObjection(sabotage: Sabotage, stage: Stage, most: number): Promise<readonly string[]> {
  for (let seed = 1; seed <= most; seed++) {
    const { violations } = await simulate(seed, stage, { coverage: createCoverage(), sabotage });
    if (violations.length > 0) return violations;
  }
  return [];
}
