import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { MAX_WORKERS, settings } from './settings.ts';

const full = process.env['HANDBILL_FULL'] === '1';

/** Any test or proof by its path: a sample of a proof, or all of it with `HANDBILL_FULL=1`, which is on the disk. */
export default defineConfig({
  test: {
    ...settings({ full, onDisk: full }),
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/postgres-setup.ts'],
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: LongestFirst },
  },
});
