import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** At which call of the CLI the tripwire acts, and how. */
export interface Trip {
  /** The n-th call, from 1; 0 for none. */
  readonly count: number;
  readonly when: 'before' | 'after';
  /** `memory`: until the process is out of it. */
  readonly action: 'kill' | 'throw' | 'reject' | 'memory';
  /** Counts only calls whose name holds this, such as `socket send` or `SET state = 'claimed'`. */
  readonly only?: string;
  /** A file that gets the names of the calls. */
  readonly list?: string;
}

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'tripwire.ts')).href;

/** The environment that makes the CLI trip. */
export function tripEnv(trip: Partial<Trip> & { readonly count: number }, options = ''): Record<string, string> {
  const whole: Trip = { when: 'before', action: 'kill', ...trip };
  return { NODE_OPTIONS: `--import ${PRELOAD} ${options}`.trim(), HANDBILL_TRIP: JSON.stringify(whole) };
}

export function readTrip(text: string | undefined): Trip | null {
  return text === undefined ? null : (JSON.parse(text) as Trip);
}
