/** Begins a transaction as a writer does, says so, and never ends it. */
import process from 'node:process';
import { openLedger } from '../../../src/ledger/open.ts';
import { HELLO, NOON } from '../values.ts';

const [path = ''] = process.argv.slice(2);
const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
const run = ledger.findRun(HELLO);
if (run === null) throw new Error('There is no run.');
// Read while the transaction is open.
const row = {
  step: 0,
  reason: 'expired',
  get row(): number {
    process.stdout.write('writing\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return 1;
  },
};
ledger.skip(run, [row], NOON);
