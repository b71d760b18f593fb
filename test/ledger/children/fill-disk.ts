/**
 * Claims and records on a disk that gets full (the argument `fill` names a file that takes nearly all the room that is left)
 * or behind a limit on the size of files. Prints one JSON line for each step.
 */
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { openLedger } from '../../../src/ledger/open.ts';
import { reserveOf } from '../../../src/ledger/place.ts';
import type { ClaimRequest, ResultRecord } from '../../../src/ledger/records.ts';
import { claimOf, HELLO, loadRow, NOON, resultOf } from '../values.ts';

const [path = '', fill = ''] = process.argv.slice(2);
const GROUP = 16;
const ROWS = 20_000;
/** Room for some commits, wherever the log ends just then. */
const LEFT = 300_000;

const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
for (let first = 0; first < ROWS; first += 2000) {
  ledger.load(
    draft,
    Array.from({ length: 2000 }, (_, i) => loadRow(first + i)),
  );
}
const { run } = ledger.start(ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON }), NOON);
if (fill !== '') takeAllRoom(fill);

let inFlight: ResultRecord[] = [];
let recorded = 0;
let next = 0;
for (;;) {
  const claims: ClaimRequest[] = Array.from({ length: GROUP }, (_, i) => claimOf(next + i));
  try {
    ledger.commit(run, inFlight, claims, NOON);
    recorded += inFlight.length;
    inFlight = claims.map(({ row }) => resultOf(row, { state: 'rejected', error: 'x'.repeat(1500) }));
    next += GROUP;
  } catch (error) {
    say({ step: 'halt', ...facts(error), recordedBefore: recorded, inFlight: inFlight.length });
    break;
  }
}
say({ step: 'reserve', exists: existsSync(reserveOf(path)) });
attempt('claims', [], [claimOf(next)]);
attempt('outcomes', [], []);
ledger.close();

function attempt(step: string, results: ResultRecord[], claims: ClaimRequest[]): void {
  try {
    ledger.commit(run, results, claims, NOON);
    say({ step, done: true });
  } catch (error) {
    say({ step, ...facts(error) });
  }
}

function facts(error: unknown): Record<string, unknown> {
  const { code, exit, kind, recorded: onDisk, message } = error as Record<string, unknown>;
  return { code, exit, kind, recorded: onDisk, message };
}

function takeAllRoom(file: string): void {
  const fd = openSync(file, 'w');
  for (let size = 65_536; size >= 1; size = size === 65_536 ? 512 : size === 512 ? 1 : 0) {
    try {
      for (;;) writeSync(fd, Buffer.alloc(size, 1));
    } catch {
      // Full for pieces of this size: try smaller ones.
    }
  }
  ftruncateSync(fd, Math.max(0, fstatSync(fd).size - LEFT));
  closeSync(fd);
}

function say(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
