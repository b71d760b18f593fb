import process from 'node:process';
import type { FormName } from '../oracle/forms.ts';
import { type Coverage, createCoverage } from './coverage.ts';
import type { Days } from './each/campaigns.ts';
import { simulateEach } from './each/history.ts';
import type { Sabotage } from './process.ts';
import type { Stage } from './scene.ts';
import type { Cast } from './several/campaigns.ts';
import { simulateSeveral } from './several/history.ts';
import { type SimulateOptions, type Simulation, simulate } from './simulate.ts';

/** How much of a failing history is shown; its replay shows all of it. */
const TAIL_LINES = 30;

/** The histories of one kind, each by its seed. */
export interface Histories {
  readonly simulate: (seed: number, options: SimulateOptions) => Promise<Simulation>;
  /** What shows all of one. */
  readonly replay: string;
}

/** @param form - of all of them; default: each seed decides */
export function historiesOf(stage: Stage, form?: FormName): Histories {
  const more = form === undefined ? {} : { form };
  const replay = form === undefined ? '--replay' : `--provider ${form} --replay`;
  return { simulate: (seed, options) => simulate(seed, stage, { ...options, ...more }), replay };
}

/** Of several campaigns under rules. */
export function historiesOfSeveral(stage: Stage, cast: Cast): Histories {
  return { simulate: (seed, options) => simulateSeveral(seed, stage, cast, options), replay: '--replay-several' };
}

/** Of a campaign whose rows have times, with a list each morning. */
export function historiesOfTimes(stage: Stage, days: Days): Histories {
  return { simulate: (seed, options) => simulateEach(seed, stage, days, options), replay: '--replay-each' };
}

/** Seeds of a quick run; a planted bug, which one of them must notice, has half as many again. */
export function quickSeeds(from: number, count: number): { readonly from: number; readonly count: number } {
  return { from, count: process.env['HANDBILL_MUTANT'] === '1' ? Math.ceil(count * 1.5) : count };
}

/** Runs the histories of some seeds; one text for each that speaks against the promise. */
export async function simulateSeeds(
  { from, count }: { readonly from: number; readonly count: number },
  histories: Histories,
  coverage: Coverage,
): Promise<string[]> {
  const failing: string[] = [];
  for (let seed = from; seed < from + count; seed++) {
    const { violations } = await histories.simulate(seed, { coverage });
    if (violations.length > 0) failing.push(await describeFailure(seed, violations, histories));
  }
  return failing;
}

/** What went wrong, the end of its history, and how to see all of it. */
export async function describeFailure(
  seed: number,
  violations: readonly string[],
  { simulate: again, replay }: Histories,
): Promise<string> {
  const { log } = await again(seed, { coverage: createCoverage(), recording: true });
  return [
    `seed ${seed}:`,
    ...violations.map((what) => `  ${what}`),
    ...log.slice(-TAIL_LINES).map((line) => `    ${line}`),
    `  replay: npm run hunt:simulate -- ${replay} ${seed}`,
    '',
  ].join('\n');
}

/** What the first of these histories that objects to a broken part says; empty when none does. */
export async function firstObjection(
  sabotage: Sabotage,
  stage: Stage,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<readonly string[]> {
  for (let seed = from; seed < from + count; seed++) {
    const { violations } = await simulate(seed, stage, { coverage: createCoverage(), sabotage, form: 'messages-v2' });
    if (violations.length > 0) return violations;
  }
  return [];
}
