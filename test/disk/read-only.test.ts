import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createScene, type Scene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

/* The file system of the ledger is mounted read-only, for the command alone. Where that cannot be done, it is not tested. */

const MOUNT = ['unshare', '-rm', 'sh', '-c', 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'];

function readOnly(scene: Scene): readonly string[] {
  return [...MOUNT, scene.path('.handbill')];
}

const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount --bind /tmp /tmp']).status === 0;

it.skipIf(!canMount)('doctor says what send says of a ledger on a read-only file system', async () => {
  await using api = await startApi(() => ({}));
  using scene = createScene({ rows: 4, baseUrl: api.url, receipts: api.receipts });
  expect((await scene.send(['--limit', '2'])).status).toBe(0);
  const via = readOnly(scene);
  const doctor = await scene.run(['doctor'], { via });
  expect(doctor, doctor.stdout).toMatchObject({ status: 7 });
  expect(doctor.stdout).toMatch(/^PROBLEM +ledger +.*The ledger is on a read-only file system\.$/m);
  expect(doctor.stdout).not.toMatch(/^ok +ledger/m);
  for (const suffix of ['-wal', '-shm']) rmSync(`${scene.ledger}${suffix}`, { force: true });
  for (const args of [['report'], ['runs'], ['preview', 'campaign.yaml', '--env', 'test']]) {
    const read = await scene.run(args, { via });
    expect(read, read.stderr).toMatchObject({ status: 7 });
    expect(read.stderr).toContain('The ledger is on a read-only file system.');
  }
  const sent = await scene.send([], { via });
  expect(sent, sent.stderr).toMatchObject({ status: 7 });
  expect(sent.stderr).toContain('The ledger is on a read-only file system.');
  expect(api.received()).toBe(2);
  expect(await scene.goOn()).toMatchObject({ status: 0 });
});

it.skipIf(!canMount)('also where there is no ledger yet', async () => {
  await using api = await startApi(() => ({}));
  using scene = createScene({ rows: 2, baseUrl: api.url, receipts: api.receipts });
  const via = [...MOUNT, scene.path('.')];
  const doctor = await scene.run(['doctor'], { via });
  expect(doctor.stdout).toContain('The ledger is on a read-only file system.');
  const sent = await scene.send([], { via });
  expect(sent, sent.stderr).toMatchObject({ status: 7 });
  expect(sent.stderr).toContain('The ledger is on a read-only file system.');
  expect(api.received()).toBe(0);
});
