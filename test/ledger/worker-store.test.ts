import { afterEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { HeldShards, RunRecord, Share, WorkerFacts, WorkerStore } from '../../src/ledger/records.ts';
import { NOTHING } from '../../src/send/sharing.ts';
import { ask, freshDatabase } from '../helpers/postgres.ts';
import { startedRun } from './given.ts';
import { claimOf, keyOf, resultOf, rows } from './values.ts';

/*
 * Which worker may claim where: on a real PostgreSQL, whose clock is the one that counts.
 */

const NOW = 1_795_000_000_000;
const IDENTITY = { environment: 'test', campaign: 'proof', occurrence: 'once' };

const FACTS = { recipients: null };

const open: Ledger[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

interface Stage {
  readonly address: string;
  readonly ledger: Ledger;
  readonly workers: WorkerStore;
  readonly run: RunRecord;
}

async function stage(count: number): Promise<Stage> {
  const address = await freshDatabase();
  const ledger = openLedger(address, { mode: 'write', nowMs: NOW });
  open.push(ledger);
  const run = startedRun(ledger, rows(count), { ...IDENTITY, nowMs: NOW });
  const { workers } = ledger;
  if (workers === null) throw new Error('a shared ledger has workers');
  return { address, ledger, workers, run };
}

function worker(id: string, leaseMs = 60_000): WorkerFacts {
  return { id, host: 'here', pid: 1, leaseMs };
}

const held = (id: string, shard: number): HeldShards => ({ worker: id, of: () => shard });
/** Seconds go by for the database without a sign of any worker. */
async function silence(address: string, ms: number): Promise<void> {
  await ask(address, `UPDATE handbill.workers SET heard_at = heard_at - ${ms}`);
}

function stateOf({ ledger, run }: Stage, row: number) {
  return ledger.stateOf(run)(row, keyOf(row));
}

describe('shards', () => {
  it('are of those who are pending, and cover each of them once', async () => {
    const { ledger, workers, run } = await stage(25);
    ledger.skip(
      run,
      [3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((row) => ({ row, step: 0, reason: 'expired' })),
      NOW,
    );
    expect(workers.cut(run, 4, null, FACTS)).toEqual([
      { number: 0, firstRow: 0, lastRow: 13 },
      { number: 1, firstRow: 14, lastRow: 17 },
      { number: 2, firstRow: 18, lastRow: 21 },
      { number: 3, firstRow: 22, lastRow: 24 },
    ]);
    // So many recipients, and no more.
    workers.forget(run);
    expect(workers.cut(run, 4, 6, FACTS)).toEqual([
      { number: 0, firstRow: 0, lastRow: 13 },
      { number: 1, firstRow: 14, lastRow: 15 },
    ]);
    expect(workers.left(run)).toBe(2);
    expect(workers.facts(run)).toEqual(FACTS);
  });

  it('belong to one worker at a time, and only it claims in them', async () => {
    const at = await stage(10);
    const { ledger, workers, run } = at;
    for (const id of ['a', 'b']) workers.join(worker(id));
    workers.cut(run, 5, null, FACTS);
    expect(workers.take(run, 0, worker('a'), NOW)).toEqual({ number: 0, firstRow: 0, lastRow: 4 });
    expect(workers.take(run, 0, worker('b'), NOW)).toBeNull();
    expect(ledger.commit(run, [], [claimOf(0)], NOW, { held: held('b', 0) })).toEqual(['stopped']);
    // Nor in one without a worker, nor outside of all.
    expect(ledger.commit(run, [], [claimOf(7)], NOW, { held: held('b', 1) })).toEqual(['stopped']);
    expect(ledger.commit(run, [], [claimOf(7)], NOW, { held: held('b', -1) })).toEqual(['stopped']);
    expect(ledger.commit(run, [], [claimOf(0), claimOf(1)], NOW, { held: held('a', 0) })).toEqual([
      'claimed',
      'claimed',
    ]);
    expect(workers.finish(run, 0, 'a')).toBe(false);
    ledger.commit(run, [resultOf(0), resultOf(1)], [], NOW, { held: held('a', 0) });
    ledger.skip(
      run,
      [2, 3].map((row) => ({ row, step: 0, reason: 'expired' })),
      NOW,
    );
    // One is pending still: only who has gone past the end of the list may say that it is on it no more.
    expect(workers.finish(run, 0, 'a')).toBe(false);
    expect(workers.finish(run, 0, 'b', true)).toBe(false);
    expect(workers.finish(run, 0, 'a', true)).toBe(true);
    expect(workers.left(run)).toBe(1);
  });

  it('of a worker that is not heard of are open again, and what it had claimed is in doubt (J5)', async () => {
    const at = await stage(10);
    const { ledger, workers, run, address } = at;
    for (const id of ['a', 'b']) workers.join(worker(id, 5000));
    workers.cut(run, 5, null, FACTS);
    workers.take(run, 0, worker('a'), NOW);
    workers.take(run, 1, worker('b'), NOW);
    ledger.commit(run, [], [claimOf(0)], NOW, { held: held('a', 0) });
    ledger.commit(run, [], [claimOf(5)], NOW, { held: held('b', 1) });
    expect(workers.reopen(run, false, NOW)).toEqual([]);
    expect(workers.isWorkedOn(run, 'b')).toBe(true);
    await silence(address, 6000);
    workers.pulse(worker('b', 5000), run, NOTHING);
    expect(workers.isWorkedOn(run, 'b')).toBe(false);
    expect(workers.reopen(run, false, NOW)).toEqual([0]);
    // The other one lives, and its claim holds.
    expect([stateOf(at, 0), stateOf(at, 5)]).toMatchObject([
      { outcome: 'in-doubt', reason: 'crash' },
      { outcome: 'pending' },
    ]);
    expect(workers.take(run, 0, worker('b', 5000), NOW)).not.toBeNull();
    // It wakes up: it claims nothing more, and what it knows resolves the doubt.
    expect(ledger.commit(run, [resultOf(0)], [claimOf(1)], NOW, { held: held('a', 0) })).toEqual(['stopped']);
    expect(stateOf(at, 0)).toMatchObject({ outcome: 'accepted' });
    expect(stateOf(at, 1)).toMatchObject({ outcome: 'pending' });
  });

  it('that a worker was about to take when it died are offered again where the queue is empty', async () => {
    const { workers, run, address } = await stage(4);
    workers.cut(run, 2, null, FACTS);
    expect(workers.reopen(run, true, NOW)).toEqual([]);
    await ask(address, 'UPDATE handbill.shards SET offered_at = offered_at - 6000');
    expect(workers.reopen(run, false, NOW)).toEqual([]);
    expect(workers.reopen(run, true, NOW).sort()).toEqual([0, 1]);
    expect(workers.reopen(run, true, NOW)).toEqual([]);
  });

  it('go back when their worker leaves, and what it had not recorded is in doubt', async () => {
    const at = await stage(6);
    const { ledger, workers, run } = at;
    workers.join(worker('a'));
    workers.cut(run, 3, null, FACTS);
    workers.take(run, 0, worker('a'), NOW);
    expect(workers.giveBack(run, 'a', NOW)).toEqual([0]);
    workers.take(run, 0, worker('a'), NOW);
    ledger.commit(run, [], [claimOf(2)], NOW, { held: held('a', 0) });
    workers.leave('a');
    expect(workers.workers()).toEqual([]);
    expect(stateOf(at, 2)).toMatchObject({ outcome: 'in-doubt', reason: 'crash' });
    workers.join(worker('b'));
    expect(workers.take(run, 0, worker('b'), NOW)).not.toBeNull();
  });

  it('of a server that crashed and forgot its workers are taken from no worker that is not heard of (H4)', async () => {
    const { workers, run, address } = await stage(4);
    workers.join(worker('a'));
    workers.cut(run, 2, null, FACTS);
    workers.take(run, 0, worker('a'), NOW);
    await ask(address, 'TRUNCATE handbill.workers, handbill.shares');
    // It says that it is there before a scan, with the shard that it has.
    workers.pulse(worker('a'), run, NOTHING);
    expect(workers.reopen(run, false, NOW)).toEqual([]);
    await ask(address, 'TRUNCATE handbill.workers');
    expect(workers.reopen(run, false, NOW)).toEqual([0]);
  });
});

describe('a run', () => {
  const did = (share: Partial<Share>): Share => ({ ...NOTHING, ...share });

  it('is heard of by all who share it: what the others did, and what ended it', async () => {
    const { ledger, workers, run } = await stage(4);
    const first = did({ posted: 3, accepted: 2, inDoubt: 1, limitedUntilMs: NOW + 9 });
    expect(workers.pulse(worker('a'), run, first).others).toEqual(NOTHING);
    workers.pulse(worker('b'), run, did({ posted: 5, rejected: 4, opensAtMs: NOW + 7, limitedUntilMs: NOW + 8 }));
    expect(workers.pulse(worker('c'), run, NOTHING)).toEqual({
      state: 'running',
      halt: null,
      heldMs: 0,
      others: did({ posted: 8, accepted: 2, inDoubt: 1, rejected: 4, opensAtMs: NOW + 7, limitedUntilMs: NOW + 9 }),
    });
    ledger.turns(`run ${run.number}`, 1)?.hold(5000);
    expect(workers.pulse(worker('a'), run, NOTHING).heldMs).toBeGreaterThan(3000);
    const halt = { rule: 'refusals', message: 'm', next: 'n' } as const;
    workers.end(run, 'halted', halt);
    // What ended it first stays.
    workers.end(run, 'interrupted', null);
    expect(workers.pulse(worker('a'), run, NOTHING)).toMatchObject({ state: 'halted', halt });
    expect(ledger.commit(run, [], [claimOf(0)], NOW, { held: held('a', 0) })).toEqual(['stopped']);
    expect(workers.take(run, 0, worker('a'), NOW)).toBeNull();
    expect(workers.shared()).toEqual([]);
  });

  it('is held while a worker is on it, and its lock is for the process that calls them back', async () => {
    const { ledger, workers, run, address } = await stage(4);
    workers.join(worker('a', 3000));
    workers.cut(run, 2, null, FACTS);
    workers.take(run, 0, worker('a', 3000), NOW);
    expect({ held: ledger.isHeld(run), lock: ledger.lock(run) }).toEqual({ held: true, lock: null });
    const lock = ledger.lock(run, true);
    expect(lock).not.toBeNull();
    lock?.release();
    await silence(address, 4000);
    expect(ledger.isHeld(run)).toBe(false);
    ledger.lock(run)?.release();
  });

  it('cannot be ended while a shard is left, and can be where none is', async () => {
    const { workers, run } = await stage(2);
    workers.join(worker('a'));
    expect({ shared: workers.shared(), finished: workers.finished() }).toEqual({ shared: [], finished: [] });
    workers.cut(run, 2, null, FACTS);
    expect(workers.shared().map(({ number }) => number)).toEqual([run.number]);
    workers.take(run, 0, worker('a'), NOW);
    workers.finish(run, 0, 'a', true);
    expect(workers.shared()).toEqual([]);
    expect(workers.finished().map(({ number }) => number)).toEqual([run.number]);
    workers.callBack(run);
    expect(workers.finished()).toEqual([]);
  });
});
