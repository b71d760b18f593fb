import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { markerOf } from '../../src/util/ledger-address.ts';
import type { CliResult } from '../helpers/cli.ts';
import type { Scene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';
import { CONCURRENCY, sceneOf, startAgain } from './failed-start.ts';
import { inPairs } from './in-pairs.ts';
import { needStrace } from './trace.ts';

/*
 * The kernel itself refuses, once for each system call that a start makes on its files: strace puts the error in the
 * place of the call. What SQLite and Node do then is the real thing, down to what happens while the process ends.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';
const WATCHED = 'pwrite64,write,fsync,fdatasync,ftruncate,openat,mkdir,writev';

interface Refusal {
  readonly call: string;
  readonly error: string;
  /** Only calls on the ledger and what lies beside it are counted; other calls of this name are many. */
  readonly onlyLedger?: true;
  /** Tries every n-th call. */
  readonly every: number;
}

const REFUSALS: readonly Refusal[] = [
  { call: 'fsync', error: 'EIO', every: 1 },
  { call: 'fdatasync', error: 'EIO', every: 1 },
  { call: 'pwrite64', error: 'ENOSPC', every: 2 },
  { call: 'pwrite64', error: 'EIO', every: 5 },
  { call: 'write', error: 'ENOSPC', onlyLedger: true, every: 1 },
  { call: 'openat', error: 'EROFS', onlyLedger: true, every: 1 },
  { call: 'ftruncate', error: 'ENOSPC', every: 1 },
  { call: 'mkdir', error: 'EROFS', onlyLedger: true, every: 1 },
];

describe.runIf(FULL)('the k-th system call on the ledger is refused (A5, H1)', () => {
  it.each(REFUSALS)('$call: $error', { timeout: 600_000 }, async (refusal) => {
    needStrace();
    const count = await countOf(refusal);
    const ks = Array.from({ length: count }, (_, at) => at + 1).filter((k) => k % refusal.every === 0);
    const found: string[] = [];
    let halted = 0;
    await inPairs(ks, async (k) => {
      await using api = await startApi();
      using scene = sceneOf(api);
      const refused = await sendRefused(scene, refusal, k);
      if (refused.status === 7) halted += 1;
      const unfinished = refused.status === 7 ? [] : scene.violations();
      const wrong = [...judge(refused), ...unfinished, ...(await startAgain(scene, api))];
      found.push(...wrong.map((what) => `call ${k} of ${count} (${refused.refused}): ${what}`));
    });
    expect(found).toEqual([]);
    expect(halted).toBeGreaterThan(0);
  });
});

interface Refused extends CliResult {
  /** The call that was refused, as strace shows it. */
  readonly refused: string;
  /** The calls that followed. */
  readonly after: readonly string[];
}

/** How many such calls a start makes when nothing is refused. */
async function countOf(refusal: Refusal): Promise<number> {
  await using api = await startApi();
  using scene = sceneOf(api);
  const { status, stderr, after } = await sendRefused(scene, refusal, 0);
  expect(status, stderr).toBe(0);
  const count = after.filter((line) => line.startsWith(`${refusal.call}(`)).length;
  expect(count).toBeGreaterThan(0);
  return count;
}

/** `k` 0: nothing is refused, and all calls are in `after`. */
async function sendRefused(scene: Scene, { call, error, onlyLedger }: Refusal, k: number): Promise<Refused> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-refused-'));
  try {
    const file = join(folder, 'trace');
    const inject = k === 0 ? [] : ['-e', `inject=${call}:error=${error}:when=${k}`];
    const paths = onlyLedger === true ? pathsOf(scene).flatMap((path) => ['-P', path]) : [];
    const trace = ['-e', `trace=${onlyLedger === true ? call : WATCHED.replace('openat,', '')}`];
    const via = ['strace', '-f', '--seccomp-bpf', '-y', '-s', '200', '-o', file, ...trace, ...paths, ...inject];
    const result = await scene.send(['--concurrency', String(CONCURRENCY)], { via });
    const lines = readFileSync(file, 'latin1')
      .split('\n')
      .map((line) => line.replace(/^\d+ +/, ''));
    const at = lines.findIndex((line) => line.includes('(INJECTED)'));
    return { ...result, refused: lines[at] ?? 'not reached', after: lines.slice(at + 1) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function pathsOf(scene: Scene): string[] {
  const suffixes = ['', '-wal', '-shm', '-journal', '.reserve'];
  const named = [scene.path('.handbill'), scene.path('.handbill/locks'), markerOf(scene.ledger)];
  return [...named, ...suffixes.map((suffix) => scene.ledger + suffix)];
}

function* judge({ status, stderr, refused, after }: Refused): Generator<string> {
  if (/\n\s+at |a bug/.test(stderr)) yield `a stack trace, or a bug: ${stderr}`;
  if (status !== 7 && status !== 0) yield `exit status ${status}: ${stderr}`;
  if (status === 7 && stderr.trim() === '') yield 'nothing was said';
  const posts = after.filter((line) => line.includes('POST /v2/messages'));
  if (status === 7 && posts.length > 0) yield `${posts.length} requests after it`;
  // A sync that failed has lost what it was to keep; one that follows reports success all the same.
  const file = /^(?:fsync|fdatasync)\(\d+<([^>]*ledger\.db(?:-wal)?)>/.exec(refused)?.[1];
  if (file === undefined || status !== 7) return;
  const again = after.filter((line) => /^(pwrite64|fsync|fdatasync|ftruncate)\(\d+<[^>]*ledger\.db(-wal)?>/.test(line));
  for (const line of again) yield `done all the same: ${line.slice(0, 120)}`;
}
