import { join } from 'node:path';
import { type Served, startServer } from './measure.ts';

/** Starts an API that answers after so long and notes when requests came. */
export function startArrivals(cwd: string, delayMs: number): Promise<Served> {
  return startServer([join(import.meta.dirname, 'arrivals-server.ts'), String(delayMs)], { cwd });
}

/** When requests came, in milliseconds of the server's clock, ascending. */
export async function arrivalsAt(url: string): Promise<readonly number[]> {
  const answer = await fetch(`${url}/arrivals`);
  return (await answer.json()) as number[];
}

/** The largest number of arrivals within any stretch of so long, wherever it begins. */
export function mostWithin(arrivals: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  for (const [to, at] of arrivals.entries()) {
    while (at - (arrivals[from] ?? at) >= windowMs) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** Arrivals per second between two of them, named by their place in the row. */
export function rateBetween(arrivals: readonly number[], from: number, to: number): number {
  const tookMs = (arrivals[to] ?? Number.NaN) - (arrivals[from] ?? Number.NaN);
  return ((to - from) / tookMs) * 1000;
}
