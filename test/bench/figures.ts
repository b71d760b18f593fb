import { existsSync, readFileSync } from 'node:fs';
import type { Figure } from './bench.ts';

/** A figure with the measurement that it came from. */
export interface Kept extends Figure {
  readonly measurement: string;
}

/** All figures of one machine: what `--json` writes, and what the pages are made from. */
export interface Figures {
  readonly node: string;
  readonly cores: number;
  readonly figures: readonly Kept[];
}

/** Reads a file that `--json` wrote; null where there is none. */
export function readFigures(path: string): Figures | null {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Figures) : null;
}

/**
 * The figures of a run beside those of measurements that it did not take.
 *
 * @param order names of measurements, as they are in the file
 * @throws Error when the older ones are of another machine or another Node: they cannot be in one table
 */
export function mergeFigures(older: Figures, newer: Figures, order: readonly string[]): Figures {
  if (older.node !== newer.node || older.cores !== newer.cores) {
    throw new Error(
      `These are of Node ${newer.node} on ${newer.cores} cores, the older figures of Node ${older.node} on ${older.cores}: measure all of them.`,
    );
  }
  const taken = new Set(newer.figures.map(({ measurement }) => measurement));
  const kept = older.figures.filter(({ measurement }) => !taken.has(measurement) && order.includes(measurement));
  const rank = ({ measurement }: Kept): number => order.indexOf(measurement);
  return { ...newer, figures: [...kept, ...newer.figures].sort((a, b) => rank(a) - rank(b)) };
}

/** Whether a figure lies as it has to; null where it has no goal. */
export function isReached({ value, goal }: Pick<Figure, 'value' | 'goal'>): boolean | null {
  if (goal === undefined) return null;
  return 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** Text of the file. */
export function jsonOf(figures: Figures): string {
  return `${JSON.stringify(figures, null, 2)}\n`;
}

/** All figures as text, with what misses its goal. */
export function tableOf({ node, cores, figures }: Figures): string {
  const width = Math.max(...figures.map(({ what }) => what.length));
  const lines = figures.map((figure) => {
    const { what, value, unit } = figure;
    return `${what.padEnd(width)}  ${value.toFixed(2).padStart(10)} ${unit}${verdictOf(figure)}`;
  });
  return `\nNode ${node}, ${cores} cores\n\n${lines.join('\n')}\n`;
}

function verdictOf(figure: Figure): string {
  const { goal } = figure;
  if (goal === undefined) return '';
  const words = 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`;
  return `  (${words}: ${isReached(figure) ? 'reached' : 'MISSED'})`;
}
