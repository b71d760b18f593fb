import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openExistingLedger, openLedger } from '../../src/ledger/open.ts';
import { child, fates, firstLine, givenRun, killed, open, scratchPath, thrown } from './scratch.ts';
import { HELLO, NOON, rows } from './values.ts';

/** A copy of a ledger whose last claims are only in its log, as a kill leaves it. */
async function givenKilledRun(): Promise<string> {
  killedFolder ??= dirname(await killedRun());
  const path = scratchPath();
  cpSync(killedFolder, dirname(path), { recursive: true });
  return path;
}

let killedFolder: string | null = null;
afterAll(() => killedFolder !== null && rmSync(dirname(killedFolder), { recursive: true }));

async function killedRun(): Promise<string> {
  const path = join(mkdtempSync(join(tmpdir(), 'handbill-killed-')), '.handbill', 'ledger.db');
  const ledger = openLedger(path, { mode: 'write', nowMs: NOON });
  givenRun(ledger, rows(6), { start: false });
  ledger.close();
  const sender = child('claim-and-hang.ts', [path, '0', '1', '2']);
  await firstLine(sender);
  await killed(sender);
  return path;
}

/** Where the committed frames of the log end. */
function committedBytes(path: string): number {
  const index = readFileSync(`${path}-shm`);
  return 32 + index.readUInt32LE(16) * (24 + 4096);
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

const DAMAGE: readonly (readonly [string, (path: string) => void])[] = [
  ['one wrong bit in the header', (path) => flip(`${path}-wal`, 5)],
  ['one in the salts', (path) => flip(`${path}-wal`, 17)],
  ['one in the first frame', (path) => flip(`${path}-wal`, 32 + 100)],
  ['one in the header of a frame', (path) => flip(`${path}-wal`, 32 + 4)],
  ['one in the middle', (path) => flip(`${path}-wal`, committedBytes(path) / 2)],
  ['one in the last committed page', (path) => flip(`${path}-wal`, committedBytes(path) - 1)],
  ['the last byte cut off', (path) => truncateSync(`${path}-wal`, committedBytes(path) - 1)],
  ['half of it', (path) => truncateSync(`${path}-wal`, committedBytes(path) / 2)],
  ['empty', (path) => truncateSync(`${path}-wal`, 0)],
  ['zeros', (path) => writeFileSync(`${path}-wal`, Buffer.alloc(committedBytes(path)))],
  ['gone', (path) => rmSync(`${path}-wal`)],
];

describe('a log that has lost what was committed', () => {
  it.each(DAMAGE)('is refused, and nothing is changed: %s (H3)', async (_, damage) => {
    const path = await givenKilledRun();
    damage(path);
    const before = ['', '-shm'].map((suffix) => readFileSync(path + suffix));
    for (const work of [
      () => openExistingLedger(path, { nowMs: NOON }),
      () => openLedger(path, { mode: 'write', nowMs: NOON }),
      () => openLedger(path, { mode: 'write', nowMs: NOON, allow: ['ledger-missing'] }),
    ]) {
      const { message, ...rest } = thrown(work);
      expect(rest).toEqual({ code: 'ledger-unusable', exit: 7 });
      expect(message).toMatch(/^The log of the ledger is /);
    }
    expect(['', '-shm'].map((suffix) => readFileSync(path + suffix))).toEqual(before);
  });
});

describe('a log that is whole is used', () => {
  const FINE: readonly (readonly [string, (path: string) => void])[] = [
    ['as a kill left it', () => undefined],
    ['with half a frame behind, as a kill in the middle of a commit leaves it', (path) => append(path, 2_000)],
    ['with whole frames behind that were never committed', (path) => append(path, 3 * 4_120)],
    ['without its index, as after a power failure', (path) => rmSync(`${path}-shm`)],
    ['with an index that is cut', (path) => truncateSync(`${path}-shm`, 100)],
    ['with an index of zeros', (path) => writeFileSync(`${path}-shm`, Buffer.alloc(32_768))],
    ['with an index that was being written', (path) => flip(`${path}-shm`, 50)],
  ];

  function append(path: string, bytes: number): void {
    const log = readFileSync(`${path}-wal`).subarray(0, committedBytes(path));
    writeFileSync(`${path}-wal`, Buffer.concat([log, Buffer.alloc(bytes, 0x5a)]));
  }

  it.each(FINE)('%s', async (_, change) => {
    const path = await givenKilledRun();
    change(path);
    const ledger = open(path);
    const run = ledger.findRun(HELLO);
    if (run === null) throw new Error('the run is gone');
    ledger.start(run, NOON);
    expect(fates(ledger, run).filter((fate) => fate === 'in-doubt(crash)')).toHaveLength(3);
  });

  it('also while another process writes to it, through many logs', async () => {
    const path = scratchPath();
    open(path).close();
    const writer = child('write-and-write.ts', [path]);
    await firstLine(writer);
    for (let times = 0; times < 50; times++) openExistingLedger(path, { nowMs: NOON })?.close();
    expect(writer.exitCode).toBeNull();
    await killed(writer);
    openExistingLedger(path, { nowMs: NOON })?.close();
  });
});
