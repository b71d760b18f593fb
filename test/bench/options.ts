import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';

/** What `npm run bench` was asked for. */
export interface Options extends Pick<Bench, 'sizes' | 'seconds'> {
  /** Names of measurements. */
  readonly wanted: readonly string[];
  /** The file that keeps the figures; null: none. */
  readonly json: string | null;
  readonly merge: boolean;
  /** The folder for a profile, as it was written; null: none is taken. */
  readonly profile: string | null;
}

/** What cannot be run as it was written. The message is for people, and says what there is. */
export class UsageError extends Error {}

/**
 * Reads a command line, and for what it leaves out the environment.
 * @throws UsageError
 */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Options {
  const given = parse(args);
  const wanted = given.only?.split(',') ?? names;
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const list = unknown.map((name) => `'${name}'`).join(', ');
    throw new UsageError(`There is no measurement ${list}. There are: ${names.join(', ')}.`);
  }
  return {
    wanted,
    json: given.json ?? null,
    merge: given.merge,
    profile: given['cpu-prof'] ?? null,
    sizes: {
      rows: wholeNumber('--rows', given.rows ?? env['HANDBILL_BENCH_ROWS'] ?? '1000000'),
      messages: wholeNumber('--messages', given.messages ?? env['HANDBILL_BENCH_MESSAGES'] ?? '200000'),
    },
    seconds: wholeNumber('--seconds', given.seconds ?? '60'),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rows: { type: 'string' },
        messages: { type: 'string' },
        seconds: { type: 'string' },
        only: { type: 'string' },
        json: { type: 'string' },
        merge: { type: 'boolean', default: false },
        'cpu-prof': { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new UsageError(`${option}: not a whole number above 0: ${text}`);
  return value;
}
