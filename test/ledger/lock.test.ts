import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  areShared,
  child,
  fates,
  firstLine,
  givenRun,
  isHeld,
  killed,
  lockRun,
  open,
  placeOf,
  scratchPath,
  thrown,
  whole,
} from './scratch.ts';
import { claimOf, HELLO, NOON, resultOf, rows } from './values.ts';

describe('the lock of a run', () => {
  it('is held once, also within a process, and can be released', () => {
    const path = scratchPath();
    const lock = lockRun(path, HELLO);
    expect(lock).not.toBeNull();
    expect(lockRun(path, HELLO)).toBeNull();
    expect(isHeld(path, HELLO)).toBe(true);
    lock?.release();
    lock?.release();
    expect(isHeld(path, HELLO)).toBe(false);
    const again = lockRun(path, HELLO);
    expect(again).not.toBeNull();
    again?.release();
  });

  it('belongs to one environment, campaign and occurrence, and to one ledger', () => {
    const path = scratchPath();
    const locks = [
      lockRun(path, HELLO),
      lockRun(path, { ...HELLO, environment: 'production' }),
      lockRun(path, { ...HELLO, campaign: 'other' }),
      lockRun(path, { ...HELLO, occurrence: 'twice' }),
      lockRun(`${path}.other`, HELLO),
    ];
    expect(locks).not.toContain(null);
    for (const lock of locks) lock?.release();
  });

  if (!areShared()) {
    it('ends with exit status 7 where its folder cannot be made', () => {
      const path = scratchPath();
      open(path);
      writeFileSync(join(dirname(path), 'locks'), '');
      expect(thrown(() => lockRun(path, HELLO))).toMatchObject({ code: 'ledger-write', exit: 7 });
    });
  }

  if (!areShared()) {
    it('asking creates nothing', () => {
      const path = scratchPath();
      open(path);
      expect(isHeld(path, HELLO)).toBe(false);
      expect(readdirSync(dirname(path))).not.toContain('locks');
    });
  }

  it('a second process gets none, at once; kill -9 lets go of it', async () => {
    const path = scratchPath();
    givenRun(open(path), rows(1), { start: false });
    const holder = child('claim-and-hang.ts', [placeOf(path)]);
    expect(await firstLine(holder)).toBe('holding');
    const before = performance.now();
    expect(lockRun(path, HELLO)).toBeNull();
    expect(performance.now() - before).toBeLessThan(10_000);
    expect(await whole(child('claim-and-hang.ts', [placeOf(path)]))).toEqual({ text: 'locked\n', status: 6 });
    await killed(holder, path);
    const lock = lockRun(path, HELLO);
    expect(lock).not.toBeNull();
    lock?.release();
  });

  it('a stopped process keeps it', async () => {
    const path = scratchPath();
    const holder = child('claim-and-hang.ts', [placeOf(path)]);
    await firstLine(holder);
    holder.kill('SIGSTOP');
    expect(lockRun(path, HELLO)).toBeNull();
    await killed(holder, path);
  });

  if (!areShared()) {
    it('a lock that is a link is refused', () => {
      const path = scratchPath();
      lockRun(path, HELLO)?.release();
      const folder = join(dirname(path), 'locks');
      const [name = ''] = readdirSync(folder);
      rmSync(join(folder, name));
      symlinkSync('/nowhere/at/all', join(folder, name));
      expect(thrown(() => lockRun(path, HELLO))).toMatchObject({ code: 'ledger-permissions', exit: 7 });
    });
  }
});

describe('kill -9', () => {
  it('leaves what was claimed in doubt, all of it and nothing else, and it is shown before the next start', async () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(5), { start: false });
    const sender = child('claim-and-hang.ts', [placeOf(path), '1', '3']);
    await firstLine(sender);
    expect(fates(ledger, run)).toEqual(['pending', 'pending', 'pending', 'pending', 'pending']);
    expect(ledger.counts(run)).toMatchObject([{ outcome: 'pending' }, { outcome: 'pending' }]);

    await killed(sender, path);
    const doubts = ['pending', 'in-doubt(crash)', 'pending', 'in-doubt(crash)', 'pending'];
    expect(fates(ledger, run)).toEqual(doubts);
    const shown = [...ledger.outcomes(run, { outcomes: ['in-doubt'] })].flat();
    expect(shown).toMatchObject([
      { row: 1, attempts: 1, updatedAt: new Date(NOON).toISOString() },
      { row: 3, attempts: 1 },
    ]);
    const inDoubt = { outcome: 'in-doubt', reason: 'crash', step: 0, to: claimOf(1).to };
    expect(ledger.stateOf(run)(1, claimOf(1).key)).toEqual(inDoubt);

    const lock = lockRun(path, HELLO);
    expect(ledger.start(run, NOON).recovered).toBe(2);
    expect(fates(ledger, run)).toEqual(doubts);
    expect(ledger.commit(run, [], [0, 1, 2, 3, 4].map(claimOf), NOON)).toEqual([
      'claimed',
      'taken',
      'claimed',
      'taken',
      'claimed',
    ]);
    lock?.release();
  });

  it('after many kills in the middle of commits no row is lost and the file is whole', async () => {
    const path = scratchPath();
    const ledger = open(path);
    const count = 4000;
    const run = givenRun(ledger, rows(count));
    const next = () => ledger.pending(run, -1, 1)[0]?.row;
    for (let round = 0; round < 3; round++) {
      const sender = child('claim-everything.ts', [placeOf(path), String(count)]);
      await firstLine(sender);
      const before = next();
      sender.stdin?.write('go\n');
      while (next() === before) await new Promise((resolve) => setTimeout(resolve, 1));
      await killed(sender, path);
      ledger.start(run, NOON);
    }
    const counts = ledger.counts(run);
    expect(counts.reduce((sum, c) => sum + c.count, 0)).toBe(count);
    const claimed = counts.find((c) => c.outcome === 'in-doubt')?.count ?? 0;
    expect(claimed).toBeGreaterThan(0);
    expect(claimed % 8).toBe(0);
    ledger.close();
    expect(open(path).findRun(HELLO)?.rows).toBe(count);
  });
});

describe('a lock that was lost', () => {
  it('the claims still decide: two processes get every row once', async () => {
    const path = scratchPath();
    const ledger = open(path);
    const count = 800;
    const run = givenRun(ledger, rows(count));
    const senders = [1, 2].map(() => child('claim-everything.ts', [placeOf(path), String(count)]));
    await Promise.all(senders.map(firstLine));
    const ends = senders.map(whole);
    for (const sender of senders) sender.stdin?.write('go\n');
    const won = (await Promise.all(ends)).map(
      ({ text }) => JSON.parse(text.trim().split('\n').at(-1) ?? '') as number[],
    );
    expect(won.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(ledger.start(run, NOON).recovered).toBe(count);
  });

  if (!areShared()) {
    it('deleting the file lets a second one start, which claims no recipient twice', () => {
      const path = scratchPath();
      const ledger = open(path);
      const first = lockRun(path, HELLO);
      const run = givenRun(ledger, rows(3));
      expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
      rmSync(join(dirname(path), 'locks'), { recursive: true });

      const second = lockRun(path, HELLO);
      expect(second).not.toBeNull();
      const other = open(path);
      expect(other.start(run, NOON).recovered).toBe(1);
      expect(other.commit(run, [], [claimOf(0), claimOf(1)], NOON)).toEqual(['taken', 'claimed']);
      expect(ledger.commit(run, [resultOf(0)], [claimOf(1), claimOf(2)], NOON)).toEqual(['taken', 'claimed']);
      expect(fates(other, run)[0]).toBe('accepted');
      first?.release();
      second?.release();
    });
  }
});
