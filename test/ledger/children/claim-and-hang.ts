/** Takes the lock of the run, starts it, claims the rows given as numbers, says so and waits to be killed. */
import { openLedger } from '../../../src/ledger/open.ts';
import { claimOf, HELLO, NOON } from '../values.ts';

const [path = '', ...claims] = process.argv.slice(2);
const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
const lock = ledger.lock(HELLO);
if (lock === null) {
  process.stdout.write('locked\n');
  process.exit(6);
}
const run = ledger.findRun(HELLO);
if (run !== null && claims.length > 0) {
  ledger.start(run, NOON);
  ledger.commit(
    run,
    [],
    claims.map((row) => claimOf(Number(row))),
    NOON,
  );
}
// Named once more: a lock that nothing refers to is let go when the garbage is collected.
process.on('exit', () => lock.release());
process.stdout.write('holding\n');
setInterval(() => {}, 1000);
