import { afterAll, beforeAll, expect, it } from 'vitest';
import { FORM_NAMES } from '../oracle/forms.ts';
import { createCoverage } from './coverage.ts';
import { historiesOf, quickSeeds, simulateSeeds } from './sample.ts';
import { createStage, type Stage } from './scene.ts';
import { watchSqlite } from './sqlite.ts';

/** Enough for every answer of a provider. */
const SEEDS = quickSeeds(5001, 40);

let stage: Stage;
const watching = watchSqlite();
beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => {
  stage[Symbol.dispose]();
  watching[Symbol.dispose]();
});

it.each(FORM_NAMES.filter((form) => form !== 'messages-v2'))(
  `${SEEDS.count} histories of %s, and of others that stand in for it, keep the promise (D1, D1a, F1, F2, F5)`,
  async (form) => {
    const coverage = createCoverage();
    expect((await simulateSeeds(SEEDS, historiesOf(stage, form), coverage)).join('\n')).toBe('');
    // What never happened proves nothing.
    const wanted = ['taken over', 'doubt resolved', ...WORDS[form]];
    expect(wanted.filter((kind) => !coverage.counts.has(kind))).toEqual([]);
  },
  300_000,
);

const WORDS = {
  'messages-v2': [],
  twilio: ['post:says-refused', 'post:says-busy', 'post:says-unclear', 'post:says-opted-out', 'post:unsupported'],
  infobip: ['post:says-refused', 'post:says-busy', 'post:says-unclear', 'post:partial'],
} as const;
