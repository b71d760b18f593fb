import { expect, it } from 'vitest';
import { until } from '../helpers/cli.ts';
import { createScene, numberOf } from '../oracle/scene.ts';
import { createGate, startApi } from '../processes/api.ts';

it('A2, K3: whoever is suppressed while the run is going is not sent to, whoever was claimed by then is', async () => {
  const gate = createGate();
  await using api = await startApi((number) => (number === 1 ? { after: gate.opened } : {}));
  using scene = createScene({
    rows: 12,
    baseUrl: api.url,
    receipts: api.receipts,
    campaign: 'send: { concurrency: 4 }',
  });
  const sender = scene.start();
  await until('the first request', () => api.received() === 1);
  const opted = [numberOf(0), numberOf(1), numberOf(11)];
  for (const number of opted) {
    const added = await scene.run(['suppress', 'add', number]);
    expect(added, added.stderr).toMatchObject({ status: 0 });
  }
  gate.open();
  const sent = await sender.done;
  expect(sent, sent.stderr).toMatchObject({ status: 0 });
  expect(scene.violations()).toEqual([]);
  const skipped = scene.endings().filter(({ outcome }) => outcome === 'skipped');
  expect(skipped.map(({ key, reason }) => ({ key, reason }))).toEqual(
    opted.slice(1).map((key) => ({ key, reason: 'suppressed' })),
  );
  expect(api.numbers().toSorted()).not.toContain(numberOf(11));
  expect(api.received()).toBe(10);
});
