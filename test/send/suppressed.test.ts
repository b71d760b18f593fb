import { expect, it } from 'vitest';
import { createHasher, writeHash } from '../../src/suppression/hash.ts';
import { until } from '../helpers/cli.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createScene, numberOf } from '../oracle/scene.ts';
import { createGate, startApi } from '../processes/api.ts';

it('a recipient who is suppressed while the run is going is not sent to, one who was claimed by then is (A2, K3)', async () => {
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

const KEY = 'SEKRET-of-the-suppression-list';
const hashOf = (number: string): string => {
  const { keyId, hash } = createHasher(Buffer.from(KEY));
  return writeHash({ keyId, hash: hash(number) });
};
const WITH_KEY = 'suppressionKey: { env: LIST_KEY }';

it('hashes that another process imports while the run is going count from then on; the key is printed nowhere', async () => {
  const gate = createGate();
  await using api = await startApi((number) => (number <= 2 ? { after: gate.opened } : {}));
  using scene = createScene({
    rows: 12,
    baseUrl: api.url,
    receipts: api.receipts,
    campaign: 'send: { concurrency: 2 }',
    environment: WITH_KEY,
    env: { LIST_KEY: KEY },
  });
  const sender = scene.start();
  await until('the first request', () => api.received() === 1);
  scene.write('opted.csv', `hash\n${[0, 5, 11].map((row) => `${hashOf(numberOf(row))}\n`).join('')}`);
  const imported = await scene.run(['suppress', 'import', 'opted.csv']);
  expect(imported, imported.stderr).toMatchObject({ status: 0 });
  const before = api.received();
  gate.open();
  const sent = await sender.done;
  expect(sent, sent.stderr).toMatchObject({ status: 0 });
  expect(scene.violations()).toEqual([]);
  // The first was on its way; no other recipient of the list is among those who came after the import had returned.
  expect(before).toBe(1);
  expect(api.numbers()).not.toContain(numberOf(5));
  expect(api.numbers()).not.toContain(numberOf(11));
  expect(api.received()).toBe(10);
  for (const text of [sent.stdout, sent.stderr, imported.stdout, imported.stderr]) expect(text).not.toContain(KEY);
  for (const [name, bytes] of scene.contents()) expect(bytes.includes(KEY), name).toBe(false);
});

it('a run without the key stops claiming when hashes come, and goes on with it', async () => {
  const gate = createGate();
  await using api = await startApi((number) => (number === 1 ? { after: gate.opened } : {}));
  using scene = createScene({ rows: 5, baseUrl: api.url, receipts: api.receipts, environment: WITH_KEY });
  const key = { env: { LIST_KEY: KEY } };
  const sender = scene.start();
  await until('the first request', () => api.received() === 1);
  expect(await scene.run(['suppress', 'add', hashOf(numberOf(3))], key)).toMatchObject({ status: 0 });
  gate.open();
  const stopped = await sender.done;
  expect(stopped.status).toBe(7);
  expect(stopped.stderr).toContain('does not have their key');
  expect(api.received()).toBe(1);
  const refused = await scene.send();
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('error[missing-suppression-key]');
  const rest = await scene.send([], key);
  expect(rest, rest.stderr).toMatchObject({ status: 0 });
  expect(scene.violations()).toEqual([]);
  expect(api.numbers()).toEqual([0, 1, 2, 4].map(numberOf));
});

it('a file is read again when a run is continued, and counts for fallbacks too', async () => {
  await using api = await startApi((number) => ({ status: number === 1 ? 202 : 404 }));
  using scene = createScene({
    rows: 5,
    baseUrl: api.url,
    receipts: api.receipts,
    message: [
      'channel: rcs',
      'from: Riverside',
      'template: { text: "Hi {{name}}" }',
      'fallback: { channel: sms, from: Riverside, to: mobile, template: { text: "Hi" } }',
    ],
    campaign: 'suppressions: outs.csv\nsend: { concurrency: 1 }',
    environment: '    wire: { answers: [{ status: 404, then: unsupported }] }\ndefaultCountry: GB',
  });
  const spelt = (row: number): string => numberOf(row).replace('+447400', '07400 ');
  scene.write(
    'people.csv',
    `msisdn,name,mobile\n${[0, 1, 2, 3, 4].map((row) => `${numberOf(row)},N,${numberOf(row + 50)}\n`).join('')}`,
  );
  scene.write('outs.csv', `msisdn,until\n${spelt(2)},2026-01-01\n`);
  const first = await scene.goOn(['--limit', '1']);
  expect(first, first.stderr).toMatchObject({ status: 0 });
  // 51 is the fallback of 1; 2 was let go long ago; 3 opted out between the starts.
  scene.write('outs.csv', `msisdn,until\n${spelt(51)},\n${spelt(2)},2026-01-01\n${spelt(3)},2999-01-01\n`);
  const shown = await scene.look(['preview', 'campaign.yaml', '--env', 'test', '--format', 'jsonl']);
  const decisions = jsonLines(shown.stdout);
  expect(decisions.map(({ decision }) => decision)).toEqual(['done', 'send', 'send', 'skip', 'send']);
  expect(decisions[3]).toMatchObject({ reason: 'suppressed', detail: 'on the list outs.csv' });
  await scene.goOn();
  expect(api.numbers()).toEqual([0, 1, 2, 52, 4, 54].map(numberOf));
  const suppressed = scene.endings().filter(({ reason }) => reason === 'suppressed');
  expect(suppressed.map(({ key }) => key)).toEqual([1, 3].map(numberOf));
  scene.write('outs.csv', 'msisdn\nnobody\n');
  const refused = await scene.send();
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain('outs.csv:2');
});
