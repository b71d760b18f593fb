import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWalks } from './walkthrough.ts';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const RECIPES = globSync('recipes/*.md', { cwd: DOCS });

/** Each begins in an empty folder, and is followed from the first line to the last. */
describeWalks(RECIPES);

test.each(RECIPES)('docs/%s is short', (page) => {
  expect(statSync(join(DOCS, page)).size).toBeLessThanOrEqual(6144);
});

test('there are recipes', () => {
  expect(RECIPES.length).toBeGreaterThan(4);
});
