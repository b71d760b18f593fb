import { expect, it } from 'vitest';
import { createScene, numberOf } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

it('sends once to a person who is in the list three times, written differently', async () => {
  await using api = await startApi();
  using scene = createScene({ rows: 4, baseUrl: api.url, receipts: api.receipts });
  const first = numberOf(0);
  const spaced = `${first.slice(0, 3)} ${first.slice(3, 7)} ${first.slice(7)}`;
  scene.write('people.csv', `msisdn,name\n${first},Ada\n${numberOf(1)},Ben\n${spaced},Ada\n00${first.slice(1)},Ada\n`);
  expect(await scene.send()).toMatchObject({ status: 0 });
  expect(api.numbers().toSorted()).toEqual([first, numberOf(1)]);
  const ends = scene.endings().map(({ outcome, reason }) => reason ?? outcome);
  expect(ends).toEqual(['accepted', 'accepted', 'duplicate', 'duplicate']);
  expect(scene.violations()).toEqual([]);
});
