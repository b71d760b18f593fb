import type { Mutant } from './mutant.ts';

const STORE = 'src/ledger/postgres/workers.ts';
const PROOF = { in: 'ledger/worker-store.test.ts' } as const;

/** Runs that several workers share. */
export const SHARING: readonly Mutant[] = [
  {
    name: 'claims-in-shards-of-others',
    planted: 'a worker that was taken for dead goes on claiming in its shard',
    file: 'src/ledger/postgres/schema.ts',
    was: 'WHERE s.worker IS DISTINCT FROM worker_id))',
    is: 'WHERE false))',
    proof: PROOF,
  },
  {
    name: 'claims-row-by-row-in-shards-of-others',
    planted: 'the same, where a commit goes row by row',
    file: 'src/ledger/commits.ts',
    was: 'workers?.holds(list, shard, held.worker) === true',
    is: 'workers !== undefined',
    proof: PROOF,
  },
  {
    name: 'the-dead-keep-their-claims',
    planted: 'a shard of a dead worker is open again, and the rows that it had claimed are lost',
    file: STORE,
    was: 'statement(RECOVER_SHARD)(now, run.list, firstRow, lastRow);\n            return number;',
    is: 'return number + (firstRow - firstRow) * lastRow * now;',
    proof: PROOF,
  },
  {
    name: 'shards-done-too-soon',
    planted: 'a shard is done while a recipient in it is pending',
    file: STORE,
    was: '(?4 = 0 AND r.state =',
    is: '(?4 = 2 AND r.state =',
    proof: PROOF,
  },
  {
    name: 'shards-of-the-living',
    planted: 'a shard is opened although its worker was heard of',
    edits: [
      {
        file: STORE,
        was: `const LOST = \`SELECT 1 FROM shards AS s WHERE list = ?1 AND (
    (state = 'taken' AND NOT EXISTS (`,
        is: `const LOST = \`SELECT 1 FROM shards AS s WHERE list = ?1 AND (
    (state = 'taken' AND EXISTS (`,
      },
      {
        file: STORE,
        was: `offered_at = now_ms() WHERE list = ?1 AND (
    (state = 'taken' AND NOT EXISTS (`,
        is: `offered_at = now_ms() WHERE list = ?1 AND (
    (state = 'taken' AND EXISTS (`,
      },
    ],
    proof: PROOF,
  },
  {
    name: 'claims-that-a-replica-lacks',
    planted: 'a sender does not tell the server that took over which rows it had claimed',
    file: 'src/send/memory.ts',
    was: 'entry.history !== ledger.history',
    is: 'entry.history === -1',
    proof: { in: 'workers/takeover.test.ts' },
  },
  {
    name: 'reached-in-one-journey',
    planted: 'claims that go to a shared ledger together do not ask about the contact history',
    file: 'src/ledger/commits.ts',
    was: 'reachedBy(reach, rules, one, now) === null,',
    is: 'reachedBy(reach, rules, one, now) !== undefined,',
    proof: { in: 'ledger/on-postgres-reach.test.ts' },
  },
  {
    name: 'hashes-in-one-journey',
    planted: 'claims that go to a shared ledger together do not ask for hashes',
    file: 'src/ledger/postgres/schema.ts',
    was: 'WHERE s.hash = given.hash AND',
    is: 'WHERE s.hash = given.form AND',
    proof: { in: 'ledger/on-postgres-reach.test.ts' },
  },
  {
    name: 'a-replica-that-knows-an-earlier-step',
    planted: 'a claim of a later step is not one where the server knows only the step before',
    file: 'src/ledger/starts.ts',
    was: 'step >= from && rows',
    is: 'step === from && rows',
    proof: { in: 'ledger/restore-claims.test.ts' },
  },
];
