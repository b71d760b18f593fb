import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { MAX_WORKERS, SAMPLES, settings, WHOLE } from './settings.ts';

/** `npm run test:proofs`: what `npm test` leaves out, the whole sets first. */
export default defineConfig({
  test: {
    root: settings({ full: true }).root,
    globalSetup: ['test/postgres-setup.ts'],
    maxWorkers: MAX_WORKERS,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...settings({ full: true }), name: 'whole', include: [...WHOLE] } },
      { test: { ...settings({ full: false }), name: 'sample', include: [...SAMPLES], exclude: [...WHOLE] } },
    ],
  },
});
