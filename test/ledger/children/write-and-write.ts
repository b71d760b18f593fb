/** Writes to the ledger without end, so that its log is begun again and again; says so after the first time. */
import { openLedger } from '../../../src/ledger/open.ts';
import { NOON } from '../values.ts';

const [path = ''] = process.argv.slice(2);
const reason = 'x'.repeat(2_000);
for (let round = 0; ; round++) {
  const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
  for (let i = 0; i < 20; i++) {
    const entries = Array.from({ length: 200 }, (_, k) => ({
      address: `+4477009${String(k).padStart(5, '0')}`,
      reason: `${reason}${round}-${i}`,
      untilMs: null,
      source: 'test',
    }));
    ledger.suppressAll(entries, [], NOON);
  }
  if (round % 2 === 1) ledger.close();
  if (round === 0) process.stdout.write('writing\n');
}
