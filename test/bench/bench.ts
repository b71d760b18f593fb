import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, measure, type Usage } from './measure.ts';

/** Which way a figure has to lie. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number };

/** One figure of the table. */
export interface Figure {
  /** Stable, in kebab-case: `send-against-bare`. Pages and the chart look figures up by it. */
  readonly id: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly goal?: Goal;
}

export interface HandbillOptions {
  /** The folder of the measurement by default. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Further options of Node. */
  readonly nodeOptions?: readonly string[];
}

/** What a measurement is given. */
export interface Bench {
  /** Temporary, of this measurement alone, and removed at its end. */
  readonly folder: string;
  readonly sizes: { readonly rows: number; readonly messages: number };
  /** How long a measurement of pace lasts. */
  readonly seconds: number;
  /** Where a measurement that can be profiled leaves its profile; null where none was asked for. */
  readonly profileFolder: string | null;
  /** Collects a figure, and prints it to stderr. */
  add(figure: Figure): void;
  /** Runs the command line in a process of its own. Throws with what it said when it ends with another status than 0. */
  handbill(args: readonly string[], options?: HandbillOptions): Promise<Usage>;
}

/** One file that measures something: a function that adds its figures. */
export type Measurement = (bench: Bench) => Promise<void>;

/** The API key of every environment that is measured. */
export const API_KEY = 'bench';

export interface Settings extends Pick<Bench, 'sizes' | 'seconds' | 'profileFolder'> {
  readonly add: (figure: Figure) => void;
}

/** A bench in a folder that exists. */
export function createBench(folder: string, { sizes, seconds, profileFolder, add }: Settings): Bench {
  return {
    folder,
    sizes,
    seconds,
    profileFolder,
    add,
    handbill(args, { cwd = folder, env, nodeOptions } = {}) {
      return measure(CLI, args, {
        cwd,
        env: { HANDBILL_API_KEY: API_KEY, ...env },
        ...(nodeOptions === undefined ? {} : { nodeOptions }),
      });
    },
  };
}

/** The figures of a command that walks a list: CPU time for each of so many, and memory. */
export interface Walk {
  readonly id: string;
  readonly what: string;
  readonly count: number;
  /** One of what is counted: `row`. */
  readonly unit: string;
  readonly cpuGoal?: Goal;
  readonly peakGoal?: Goal;
}

/** Adds CPU time per row and peak memory. */
export function addWalk(bench: Pick<Bench, 'add'>, walk: Walk, usage: Usage): void {
  const { id, what, count, unit, cpuGoal, peakGoal } = walk;
  bench.add({
    id: `${id}-cpu`,
    what: `${what}, ${count.toLocaleString('en-GB')} ${unit}s`,
    value: usage.cpuUs / count,
    unit: `us CPU per ${unit}`,
    ...(cpuGoal === undefined ? {} : { goal: cpuGoal }),
  });
  bench.add({
    id: `${id}-peak`,
    what: `${what}, peak memory`,
    value: usage.peakBytes / 1e6,
    unit: 'MB',
    ...(peakGoal === undefined ? {} : { goal: peakGoal }),
  });
}

/** The middle of several numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** Takes measurements in turn (A B A B ...), so that whatever else the machine does meets each of them. */
export async function inTurn<Key extends string>(
  times: number,
  calls: Readonly<Record<Key, (n: number) => Promise<Usage>>>,
): Promise<Readonly<Record<Key, readonly Usage[]>>> {
  const all = Object.entries(calls) as [Key, (n: number) => Promise<Usage>][];
  const taken = Object.fromEntries(all.map(([key]) => [key, [] as Usage[]])) as Record<Key, Usage[]>;
  for (let n = 0; n < times; n += 1) {
    for (const [key, call] of all) taken[key].push(await call(n));
  }
  return taken;
}

/** Forgets a run, so that the next one begins anew: the ledger of a project. */
export function forgetRuns(project: string): void {
  rmSync(join(project, '.handbill'), { recursive: true, force: true });
}
