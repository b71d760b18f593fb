import { edit, type Mutant, mutant } from './mutant.ts';

const STORE = 'src/ledger/postgres/workers.ts';
const PROOF = { in: 'ledger/worker-store.test.ts' } as const;

/** Runs that several workers share. */
export const SHARING: readonly Mutant[] = [
  mutant('claims-in-shards-of-others', {
    planted: 'a worker that was taken for dead goes on claiming in its shard',
    ...edit('src/ledger/postgres/schema.ts', 'WHERE s.worker IS DISTINCT FROM worker_id))', 'WHERE false))'),
    proof: PROOF,
  }),
  mutant('claims-row-by-row-in-shards-of-others', {
    planted: 'the same, where a commit goes row by row',
    ...edit('src/ledger/commits.ts', 'workers?.holds(list, shard, held.worker) === true', 'workers !== undefined'),
    proof: PROOF,
  }),
  mutant('the-dead-keep-their-claims', {
    planted: 'a shard of a dead worker is open again, and the rows that it had claimed are lost',
    file: STORE,
    was: 'statement(RECOVER_SHARD)(now, run.list, firstRow, lastRow);\n            return number;',
    is: 'return number + (firstRow - firstRow) * lastRow * now;',
    proof: PROOF,
  }),
  mutant('shards-done-too-soon', {
    planted: 'a shard is done while a recipient in it is pending',
    ...edit(STORE, '(?4 = 0 AND r.state =', '(?4 = 2 AND r.state ='),
    proof: PROOF,
  }),
  mutant('shards-of-the-living', {
    planted: 'a shard is opened although its worker was heard of',
    ...edit(STORE, "= `(state = 'taken'\n    AND NOT EXISTS (", "= `(state = 'taken'\n    AND EXISTS ("),
    proof: PROOF,
  }),
  mutant('claims-that-a-replica-lacks', {
    planted: 'a sender does not tell the server that took over which rows it had claimed',
    ...edit('src/send/memory.ts', 'entry.history !== ledger.history', 'entry.history === -1'),
    proof: { in: 'workers/takeover.test.ts' },
  }),
  mutant('reached-in-one-journey', {
    planted: 'claims that go to a shared ledger together do not ask about the contact history',
    file: 'src/ledger/commits.ts',
    was: 'reachedBy(reach, rules, one, now) === null,',
    is: 'reachedBy(reach, rules, one, now) !== undefined,',
    proof: { in: 'ledger/on-postgres-reach.test.ts' },
  }),
  mutant('hashes-in-one-journey', {
    planted: 'claims that go to a shared ledger together do not ask for hashes',
    ...edit('src/ledger/postgres/schema.ts', 'WHERE s.hash = given.hash AND', 'WHERE s.hash = given.form AND'),
    proof: { in: 'ledger/on-postgres-reach.test.ts' },
  }),
  mutant('a-replica-that-knows-an-earlier-step', {
    planted: 'a claim of a later step is not one where the server knows only the step before',
    ...edit('src/ledger/starts.ts', 'step >= from && rows', 'step === from && rows'),
    proof: { in: 'ledger/restore-claims.test.ts' },
  }),
];
