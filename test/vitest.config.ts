import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { inMemory } from './temporary.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/postgres-setup.ts'],
    // The whole sets play up to fifty times as much, each test beside the disk tests, which keep a machine busy.
    testTimeout: FULL ? 300_000 : 60_000,
    hookTimeout: FULL ? 300_000 : 60_000,
    env: FULL ? {} : inMemory(process.env),
    // Two cores: more workers only fight for them, and many tests start processes of their own.
    maxWorkers: 2,
    // A process for each file costs 0.5 s of CPU: to start, and to load handbill and its libraries once more. No file
    // leaves anything behind for the next: no mock, no variable of the environment, no server.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Once more where a busy machine took too long; never where something was not as expected, which a second try
    // would only hide.
    retry: { count: 1, condition: /^(?:Test timed out|waited \d+ ms in vain)/ },
  },
});
