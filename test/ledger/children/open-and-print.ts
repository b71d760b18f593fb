/** Opens a ledger (umask given in octal), starts the run of one row, and prints the mode of every file around it. */
import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { acquireRunLock } from '../../../src/ledger/lock.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { claimOf, HELLO, loadRow, NOON } from '../values.ts';

const [path = '', umask = '22'] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
// Kept to the end: an unreferenced one is released whenever V8 collects it, and its journal goes with it.
const lock = acquireRunLock(path, HELLO);
const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
ledger.load(draft, [loadRow(0)]);
const run = ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON });
ledger.start(run, NOON);
ledger.commit(run, [], [claimOf(0)], NOON);

const folder = dirname(path);
const modes: Record<string, string> = { '.': modeOf(folder) };
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) modes[name] = modeOf(join(folder, name));
process.stdout.write(`${JSON.stringify(modes)}\n`);
lock?.release();

function modeOf(file: string): string {
  return (lstatSync(file).mode & 0o7777).toString(8);
}
