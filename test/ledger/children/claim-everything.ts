/** Waits for a line on stdin, then claims every row in groups without holding the lock; prints what it got. */
import { openLedger } from '../../../src/ledger/open.ts';
import { claimOf, HELLO, NOON } from '../values.ts';

const [path = '', count = '0'] = process.argv.slice(2);
const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
const run = ledger.findRun(HELLO);
if (run === null) throw new Error('There is no run.');
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  const mine: number[] = [];
  for (let first = 0; first < Number(count); first += 8) {
    const claims = Array.from({ length: Math.min(8, Number(count) - first) }, (_, i) => claimOf(first + i));
    const answers = ledger.commit(run, [], claims, NOON);
    for (const [i, answer] of answers.entries()) if (answer === 'claimed') mine.push(first + i);
  }
  process.stdout.write(`${JSON.stringify(mine)}\n`);
  process.exit(0);
});
