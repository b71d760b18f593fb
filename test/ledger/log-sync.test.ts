import { fstatSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Disk, LOCAL_DISK, openLog } from '../../src/ledger/log-sync.ts';
import { fates, givenRun, open, scratchPath, thrown } from './scratch.ts';
import { claimOf, NOON, resultOf, rows } from './values.ts';

/** A disk that is done when it is told so, and on which a commit that waits for it takes so long. */
function diskThatTakes(ms: number) {
  const begun: { readonly inode: number; done(error: Error | null): void }[] = [];
  let now = 0;
  const disk: Disk = {
    sync: (fd, done) => void begun.push({ inode: fstatSync(fd).ino, done }),
    clockMs: () => (now += ms),
  };
  return { begun, disk };
}

it('what is committed soon is durable once the log that SQLite writes is synced', async () => {
  const path = scratchPath();
  const { begun, disk } = diskThatTakes(10);
  const ledger = open(path, { disk });
  const run = givenRun(ledger, rows(3));
  expect(ledger.durable()).toBeNull();
  expect(ledger.commitSoon(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
  let isDurable = false;
  const durable = ledger.durable()?.then(() => {
    isDurable = true;
  });
  await Promise.resolve();
  expect([isDurable, begun.map(({ inode }) => inode)]).toEqual([false, [statSync(`${path}-wal`).ino]]);
  begun[0]?.done(null);
  await durable;
  expect([isDurable, ledger.durable()]).toEqual([true, null]);
  // Each is brought to the disk by a sync of its own, also while another one is under way.
  ledger.commitSoon(run, [resultOf(0)], [claimOf(1)], NOON);
  const second = ledger.durable();
  ledger.commitSoon(run, [], [claimOf(2)], NOON);
  const third = ledger.durable();
  expect(begun).toHaveLength(3);
  for (const { done } of begun.slice(1)) done(null);
  await Promise.all([second, third]);
  expect(fates(ledger, run)[0]).toBe('accepted');
});

it('nothing is written any more after a sync that failed, and the handle is not closed', async () => {
  const path = scratchPath();
  const { begun, disk } = diskThatTakes(10);
  const ledger = open(path, { disk });
  const run = givenRun(ledger, rows(2));
  ledger.commitSoon(run, [], [claimOf(0)], NOON);
  const durable = ledger.durable();
  begun[0]?.done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' }));
  await expect(durable).rejects.toMatchObject({ exit: 7, kind: 'io', recorded: false });
  for (const commit of [ledger.commit, ledger.commitSoon]) {
    expect(thrown(() => commit(run, [resultOf(0)], [], NOON))).toMatchObject({ exit: 7, code: 'ledger-write' });
  }
  ledger.close();
  // Closed, its log would have been written into the file, and synced once more.
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
});

it('a ledger that is closed while its disk works lets go of the log when that is done', async () => {
  const path = scratchPath();
  const { begun, disk } = diskThatTakes(10);
  const ledger = open(path, { disk });
  ledger.commitSoon(givenRun(ledger, rows(1)), [], [claimOf(0)], NOON);
  const durable = ledger.durable();
  ledger.close();
  begun[0]?.done(null);
  await durable;
});

it('without a log there is nothing to sync', () => {
  expect(openLog(scratchPath(), LOCAL_DISK.sync)).toBeNull();
});

it.each([
  ['quick', 0.2, 8],
  // Tried after 8, 8, 16 and 32 commits.
  ['slow', 0.8, 64],
])(
  'a %s disk is waited for on the spot: one of %d ms leaves %d of 67 commits to the sync beside',
  async (_, ms, beside) => {
    const path = scratchPath();
    const { begun, disk } = diskThatTakes(ms);
    const ledger = open(path, { disk });
    const run = givenRun(ledger, rows(67));
    const waited: boolean[] = [];
    for (let row = 0; row < 67; row++) {
      expect(ledger.commitSoon(run, row === 0 ? [] : [resultOf(row - 1)], [claimOf(row)], NOON)).toEqual(['claimed']);
      const durable = ledger.durable();
      waited.push(durable === null);
      begun.at(-1)?.done(null);
      await durable;
    }
    expect([begun.length, waited.filter((is) => !is).length]).toEqual([beside, beside]);
    expect(fates(ledger, run).slice(0, 66)).toEqual(new Array(66).fill('accepted'));
  },
);
