import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCoverage } from './coverage.ts';
import { goodStart } from './plan.ts';
import { createRules } from './rules.ts';
import { BEGINNING, createStage, type Stage } from './scene.ts';
import { createCast } from './several/campaigns.ts';
import { simulateSeveral } from './several/history.ts';
import { watchSqlite } from './sqlite.ts';
import { createLedgerView } from './watch.ts';
import { createWorld } from './world.ts';

let stage: Stage;
const watching = watchSqlite();
beforeAll(async () => {
  stage = await createStage();
});
afterAll(() => {
  stage[Symbol.dispose]();
  watching[Symbol.dispose]();
});

/** A process with three attempts for each recipient: how often it posts to one in each of its starts, and what is wrong. */
function objectionsTo(...postsOfStarts: readonly number[]): readonly string[] {
  const [scene] = stage.scenes('messages-v2', 'plain');
  if (scene === undefined) throw new Error('a kind has a scene');
  const { before: edition } = scene;
  const world = createWorld({ startMs: BEGINNING, recording: false, coverage: createCoverage() });
  const view = createLedgerView(world, edition.plan.referenceOf, 'proof');
  const plan = goodStart(edition, { retryStatuses: [], edited: false, notAfterMs: null, winner: null });
  const rules = createRules({ name: 'a start', plan, edition, world, view });
  const [body, reference] = firstOf(edition.bodies(null));
  for (const posts of postsOfStarts) {
    rules.started();
    for (let post = 0; post < posts; post++) {
      rules.posting(body, { channel: 'sms', text: '', addresses: [], references: [reference] });
    }
  }
  return world.violations.filter((what) => what.includes('th time'));
}

function firstOf(bodies: ReadonlyMap<string, string>): readonly [body: string, reference: string] {
  for (const [reference, body] of bodies) return [body, reference];
  throw new Error('a list has a recipient');
}

it.each([
  { posts: [3], says: [] },
  { posts: [4], says: [/ is posted for the 4th time, of 3$/] },
  { posts: [3, 3], says: [] },
  { posts: [1, 4], says: [/ is posted for the 4th time, of 3$/] },
])('counts the attempts of each start: $posts', ({ posts, says }) => {
  expect(objectionsTo(...posts)).toEqual(says.map((text) => expect.stringMatching(text)));
});

it('gives a recipient new attempts in a start that --wait begins when the API takes requests again (F5)', async () => {
  const coverage = createCoverage();
  // In the history of this seed, the API answers three requests to one recipient with 429, and takes the fourth.
  const { violations } = await simulateSeveral(61_120, stage, await createCast(stage), { coverage });
  expect(violations).toEqual([]);
  expect(coverage.counts.get('another start at an opening')).toBe(1);
});
