import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { expect, it, vi } from 'vitest';
import { until } from '../helpers/cli.ts';
import { createScene, numberOf, type Scene } from '../oracle/scene.ts';
import { createGate, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const ROWS = 40;
const BEFORE = 20;

/** Moves what lies at the ledger's name away, as the hint says, and the saved copy to it. */
function putBack({ ledger }: Scene): void {
  expect(statSync(`${ledger}.rescued`).size).toBeGreaterThan(0);
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${ledger}${suffix}`, { force: true });
  renameSync(`${ledger}.rescued`, ledger);
}

function restore(scene: Scene): void {
  // As a restore or a file sync does it: another file gets the name.
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${scene.ledger}${suffix}`, { force: true });
  copyFileSync(scene.path('backup.db'), `${scene.ledger}.new`);
  renameSync(`${scene.ledger}.new`, scene.ledger);
}

const ways: readonly (readonly [label: string, word: string, act: (scene: Scene) => void])[] = [
  ['its folder is removed (git clean -xdf)', 'removed', ({ ledger }) => rmSync(dirname(ledger), { recursive: true })],
  ['an older copy gets its name (a restore)', 'replaced', restore],
  ['its log is removed', 'removed', ({ ledger }) => rmSync(`${ledger}-wal`)],
  [
    'it is moved away, and a new folder is there',
    'removed',
    ({ ledger, path }) => {
      renameSync(dirname(ledger), path('elsewhere'));
      mkdirSync(dirname(ledger), { mode: 0o700 });
    },
  ],
];

it.each(ways)('under a running send: %s (H4)', async (_label, word, act) => {
  const gate = createGate();
  await using api = await startApi((number) => (number > BEFORE && number <= BEFORE + 4 ? { after: gate.opened } : {}));
  using scene = createScene({
    rows: ROWS,
    baseUrl: api.url,
    receipts: api.receipts,
    campaign: 'send: { concurrency: 4, timeout: 60s }',
  });
  // A ledger that knows nothing of the run.
  await scene.look(['suppress', 'add', '+447400999999']);
  copyFileSync(scene.ledger, scene.path('backup.db'));

  const first = scene.start();
  await until('four in flight', () => api.received() === BEFORE + 4);
  act(scene);
  // The ledger was looked at less than a second ago.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  gate.open();
  const ended = await first.done;
  expect(ended, ended.stderr).toMatchObject({ status: 7 });
  expect(ended.stderr).toContain(`The ledger was ${word} while this command was using it.`);
  expect(ended.stdout).toContain('ledger.db.rescued');
  // Nothing more was posted, and what was in flight is recorded.
  expect(api.received()).toBe(BEFORE + 4);

  for (const args of [[], ['--allow', 'ledger-missing']]) {
    const next = await scene.send(args);
    expect(next, next.stderr).toMatchObject({ status: 7, stdout: '' });
    expect(next.stderr).toContain('error[ledger-replaced]');
  }
  expect(api.received()).toBe(BEFORE + 4);

  putBack(scene);
  expect(scene.endings().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(BEFORE + 4);
  const rest = await scene.goOn();
  expect(rest, rest.stderr).toMatchObject({ status: 0 });
  expect(api.numbers().toSorted()).toEqual(Array.from({ length: ROWS }, (_, row) => numberOf(row)).toSorted());
  expect(scene.violations()).toEqual([]);
  expect(readdirSync(dirname(scene.ledger)).filter((name) => name.includes('rescued'))).toEqual([]);
});

it('is noticed after the last claim, too, and nothing is saved where nothing happened', async () => {
  const gate = createGate();
  await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
  using scene = createScene({
    rows: 8,
    baseUrl: api.url,
    receipts: api.receipts,
    campaign: 'send: { concurrency: 4 }',
  });
  await scene.look(['suppress', 'add', '+447400999999']);
  copyFileSync(scene.ledger, scene.path('backup.db'));
  const first = scene.start();
  await until('the last two in flight', () => api.received() === 8);
  restore(scene);
  gate.open();
  expect(await first.done).toMatchObject({ status: 7 });
  putBack(scene);
  expect(await scene.goOn()).toMatchObject({ status: 0 });
  expect(api.received()).toBe(8);
  expect(scene.violations()).toEqual([]);
  expect(existsSync(`${scene.ledger}.rescued`)).toBe(false);
});

const overwritten: readonly (readonly [label: string, act: (scene: Scene) => void])[] = [
  ['its log is cut to nothing', ({ ledger }) => truncateSync(`${ledger}-wal`)],
  ['its log is cut in the middle', ({ ledger }) => truncateSync(`${ledger}-wal`, 9_000)],
  [
    'its log is overwritten',
    ({ ledger }) => writeFileSync(`${ledger}-wal`, readFileSync(`${ledger}-wal`).fill(0xa5, 4_000)),
  ],
];

it.each(overwritten)('in place, under a running send: %s', async (_label, act) => {
  const gate = createGate();
  await using api = await startApi((number) => (number > 36 ? { after: gate.opened } : {}));
  using scene = createScene({
    rows: ROWS,
    baseUrl: api.url,
    receipts: api.receipts,
    campaign: 'send: { concurrency: 4 }',
  });
  await scene.look(['suppress', 'add', '+447400999999']);
  copyFileSync(scene.ledger, scene.path('backup.db'));
  const first = scene.start();
  await until('the last four in flight', () => api.received() === ROWS);
  act(scene);
  gate.open();
  const { status, stdout, stderr } = await first.done;
  expect({ status, stdout, stderr }).toMatchObject({ status: 7 });
  expect(stdout + stderr).toMatch(/The ledger was overwritten while this command was using it|ledger/);
  const next = await scene.send();
  expect(next, next.stderr).toMatchObject({ status: 7 });
  expect(api.received()).toBe(ROWS);
});
