import process from 'node:process';
import type fc from 'fast-check';

const FULL = process.env['HANDBILL_FULL'] === '1';

/**
 * Options of fast-check: a fixed seed and a sample, many more with HANDBILL_FULL=1, another history with
 * HANDBILL_FUZZ_SEED=NUMBER. A failure prints its smallest input with seed and path; HANDBILL_FUZZ_REPLAY=SEED:PATH
 * runs that one input again.
 *
 * @param sample runs in the sample
 * @param full runs in the full set
 * @param shard makes another history, for parts that run at once
 */
export function runs<T>(sample: number, full: number, shard = 0): fc.Parameters<T> {
  const [seed, path] = (process.env['HANDBILL_FUZZ_REPLAY'] ?? '').split(/:(.*)/);
  if (seed !== undefined && seed !== '' && path !== undefined) return { seed: Number(seed), path, endOnFailure: true };
  return {
    seed: Number(process.env['HANDBILL_FUZZ_SEED'] ?? (FULL ? 20_261_122 : 20_261_121)) + shard * 1_000,
    numRuns: FULL ? full : sample,
  };
}

/** Others may load the machine; a single input that is stuck is noticed long before. */
export const TIMEOUT_MS = 1_200_000;
