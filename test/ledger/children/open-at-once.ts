/** Waits for a line on stdin, then opens a ledger that several processes open at the same moment. */
import { openLedger } from '../../../src/ledger/open.ts';
import { NOON } from '../values.ts';

const [path = ''] = process.argv.slice(2);
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
  ledger.suppress(`+4477009${process.pid}`, { reason: null, untilMs: null, source: 'test', nowMs: NOON });
  process.stdout.write('opened\n');
  process.exit(0);
});
