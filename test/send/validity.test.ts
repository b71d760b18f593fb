import { expect, it } from 'vitest';
import { readReceipts } from '../oracle/receipts.ts';
import { createScene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

it('counts a validity from the first start of a run, also when it is continued', async () => {
  await using api = await startApi();
  using scene = createScene({ rows: 2, baseUrl: api.url, receipts: api.receipts, campaign: 'validity: PT1H' });
  for (const _ of [1, 2]) expect(await scene.send(['--limit', '1'])).toMatchObject({ status: 0 });
  const ends = readReceipts(api.receipts).map(({ text }) => /"validity":"([^"]+)"/.exec(text)?.[1]);
  expect(ends).toEqual([ends[0], ends[0]]);
  expect(ends[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
});
