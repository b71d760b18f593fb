import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { child, fates, open, scratchFolder, whole } from './scratch.ts';
import { HELLO, NOON } from './values.ts';

type Step = Record<string, unknown>;

const canMount =
  spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs /mnt && df /mnt']).status === 0;

async function steps(args: readonly string[], prefix: readonly string[]): Promise<Step[]> {
  const { text } = await whole(child('fill-disk.ts', args, prefix));
  return jsonLines<Step>(text);
}

test.skipIf(!canMount)('a full disk: what is in flight is recorded from the reserve, nothing is claimed', async () => {
  const disk = join(scratchFolder(), 'disk');
  mkdirSync(disk, { mode: 0o700 });
  const path = join(disk, '.handbill', 'ledger.db');
  // The mount belongs to a namespace of its own, which goes with the processes in it. The ledger is copied out last.
  const script = `mount -t tmpfs -o size=24m,mode=0700 tmpfs "$0" && "$@"; cp -r "$0/.handbill" "$0/../copy"`;
  const [halt, reserve, claims, outcomes] = await steps(
    [path, join(disk, 'filler')],
    ['unshare', '-rm', 'sh', '-c', script, disk],
  );
  expect(halt).toMatchObject({ code: 'ledger-write', exit: 7, kind: 'full', recorded: true, inFlight: 16 });
  expect(reserve).toMatchObject({ exists: false });
  expect(claims).toMatchObject({ code: 'ledger-write', exit: 7, kind: 'full' });
  expect(outcomes).toMatchObject({ done: true });

  const ledger = open(join(disk, '..', 'copy', 'ledger.db'));
  const run = ledger.findRun(HELLO);
  if (run === null) throw new Error('The run is gone.');
  const { recovered } = ledger.start(run, NOON);
  const rejected = fates(ledger, run).filter((fate) => fate === 'rejected').length;
  expect({ recovered, rejected }).toEqual({ recovered: 0, rejected: Number(halt?.['recordedBefore']) + 16 });
});

test('an I/O error: nothing more is written through the handle, the next start finds the doubts', async () => {
  const folder = join(scratchFolder(), '.handbill');
  const path = join(folder, 'ledger.db');
  // A limit of 12 MB for each file; without the signal a write fails with EFBIG, which SQLite takes for an I/O error.
  const limit = `trap '' XFSZ; ulimit -f 24576; exec "$@"`;
  const [halt, reserve, claims, outcomes] = await steps([path], ['sh', '-c', limit, 'sh']);
  expect(halt).toMatchObject({ code: 'ledger-write', exit: 7, kind: 'io', inFlight: 16 });
  expect(reserve).toMatchObject({ exists: true });
  expect(claims).toMatchObject({ exit: 7, kind: 'io' });
  expect(outcomes).toMatchObject({ exit: 7, kind: 'io' });

  const ledger = open(path);
  const run = ledger.findRun(HELLO);
  if (run === null) throw new Error('The run is gone.');
  expect(acquireRunLock(path, HELLO)).not.toBeNull();
  const { recovered } = ledger.start(run, NOON);
  const all = fates(ledger, run);
  expect(recovered).toBeLessThanOrEqual(32);
  expect(all.filter((fate) => fate === 'rejected').length).toBeGreaterThanOrEqual(Number(halt?.['recordedBefore']));
  expect(all.filter((fate) => fate === 'in-doubt(crash)')).toHaveLength(recovered);
});
