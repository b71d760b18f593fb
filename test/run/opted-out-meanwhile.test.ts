import { join } from 'node:path';
import { expect, it } from 'vitest';
import { send } from '../../src/commands/send.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { slowDisk } from '../helpers/slow-disk.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

/** As another process does it. */
function suppress({ root }: Scene, row: number): string {
  const ledger = openLedger(join(root, '.handbill', 'ledger.db'), { mode: 'write', nowMs: Date.now() });
  const [run] = ledger.runs();
  const address = run === undefined ? null : ([...ledger.outcomes(run)].flat()[row]?.to ?? null);
  if (address === null) throw new Error('the row has an address');
  ledger.suppress(address, { reason: 'STOP', untilMs: null, source: 'test', nowMs: Date.now() });
  ledger.close();
  return address;
}

it.each([
  // The second commit is that of the second recipient.
  ['alone', 1, 2],
  ['with others in one commit', 3, 1],
])('K3: whoever opts out while the disk works on their claim is not sent to: %s', async (_, concurrency, sync) => {
  await using api = await startApi();
  using scene = createScene({ rows: 6, baseUrl: api.url, receipts: api.receipts });
  let syncs = 0;
  let optedOut = '';
  using _disk = slowDisk(30, () => {
    syncs += 1;
    if (syncs === sync) optedOut = suppress(scene, sync - 1);
  });
  const { report } = await send('campaign.yaml', {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY },
    now: Date.now,
    random: () => 0,
    environment: 'test',
    concurrency,
    confirm: async () => true,
  });
  expect(report).toMatchObject({
    state: 'finished',
    totals: { accepted: 5, skipped: 1, inDoubt: 0 },
    reasons: { skipped: { suppressed: 1 } },
  });
  expect(optedOut).toMatch(/^\+\d+$/);
  expect(readReceipts(api.receipts)).toHaveLength(5);
  expect(JSON.stringify(readReceipts(api.receipts))).not.toContain(optedOut);
  expect(scene.violations()).toEqual([]);
});
