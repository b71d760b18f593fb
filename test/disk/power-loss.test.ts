import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { type Receipt, readReceipts } from '../oracle/receipts.ts';
import { createScene, type Scene } from '../oracle/scene.ts';
import { type Api, startApi } from '../processes/api.ts';
import { CONCURRENCY, startAgain } from './failed-start.ts';
import { createDisk, type Disk, type Luck, NO_LUCK, type Remains, restore } from './power.ts';
import { createRandom } from './random.ts';
import { type Deed, readTrace, tracing } from './trace.ts';

/*
 * C11: the real command line is watched with strace. For every moment between two system calls the folder of the ledger
 * is rebuilt as a power cut at that moment could leave it, and the run is started again from there against the same
 * server, whose receipts are those of the requests that had left by then. The oracle judges.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';
const ARGS = ['--concurrency', String(CONCURRENCY)];

interface Setting {
  readonly api: Api;
  readonly scene: Scene;
}

/** Gets the project ready for the start that loses power; gives the disk where not everything is synced by then. */
type Prepare = (setting: Setting) => Promise<Disk | undefined>;

const PREPARED: readonly (readonly [label: string, rows: number, prepare: Prepare])[] = [
  ['the first start of a project', 6, async () => undefined],
  ['a start that continues', 6, afterThree],
  ['a start after a kill -9', 6, afterKill],
  ['a start after one that was killed when it had made the folder', 4, afterFolder],
  [
    'a start with --allow input-changed',
    6,
    async ({ scene }) => {
      await scene.send([...ARGS, '--limit', '3']);
      scene.write('campaign.yaml', `${scene.contents().get(scene.path('campaign.yaml'))}# changed\n`);
      return undefined;
    },
  ],
  [
    'another run in the same ledger',
    4,
    async ({ api, scene }) => {
      await scene.send(['--occurrence', 'before']);
      replaceReceipts(api.receipts, []);
      return undefined;
    },
  ],
];

describe.runIf(FULL)('power loss at every system call (C11)', () => {
  it.each(PREPARED)('%s', { timeout: 600_000 }, async (_label, rows, prepare) => {
    await using api = await startApi();
    using scene = createScene({ rows, baseUrl: api.url, receipts: api.receipts });
    const disk = (await prepare({ api, scene })) ?? createDisk(scene.root);
    const cuts = await cutEverywhere({ api, scene }, disk, { lucky: 1, every: 1 });
    expect(cuts.found).toEqual([]);
    // The proof looked at something: each request, and each sync of the ledger.
    expect(cuts.posts).toBeGreaterThan(0);
    expect(cuts.restarts).toBeGreaterThan(20);
  });

  it('a long list, with checkpoints in the middle', { timeout: 600_000 }, async () => {
    await using api = await startApi();
    using scene = createScene({ rows: 400, baseUrl: api.url, receipts: api.receipts });
    const cuts = await cutEverywhere({ api, scene }, createDisk(scene.root), { lucky: 1, every: 300 });
    expect(cuts.found).toEqual([]);
    expect(cuts.checkpoints).toBeGreaterThan(1);
  });
});

interface Cuts {
  readonly found: readonly string[];
  readonly restarts: number;
  readonly posts: number;
  readonly checkpoints: number;
}

interface Moments {
  /** How often each moment is also tried with luck for a random part of what was not synced. */
  readonly lucky: number;
  /** Only each n-th moment on average, for long runs. */
  readonly every: number;
}

async function cutEverywhere({ api, scene }: Setting, disk: Disk, { lucky, every }: Moments): Promise<Cuts> {
  const before = readReceipts(api.receipts);
  const deeds = await watched(scene);
  const received = readReceipts(api.receipts).slice(before.length);
  const random = createRandom(20_261_121);
  const seen = new Set<string>();
  const posted = new Set<string>();
  const found: string[] = [];
  let restarts = 0;

  const tryFrom = async (remains: Remains, moment: string): Promise<void> => {
    const key = fingerprint(remains, posted.size);
    if (seen.has(key)) return;
    seen.add(key);
    restarts += 1;
    restore(scene.root, '.handbill', remains);
    const kept = received.filter(({ reference }) => posted.has(reference ?? ''));
    replaceReceipts(api.receipts, [...before, ...kept]);
    for (const violation of await startAgain(scene, api, { mostCrashes: CONCURRENCY * 2 }))
      found.push(`${moment}: ${violation}`);
  };

  for (const [number, deed] of deeds.entries()) {
    disk.apply(deed);
    if (deed.kind === 'post') posted.add(deed.reference);
    if (every > 1 && random() * every >= 1) continue;
    const moment = `after ${number} ${deed.kind} ${deed.kind === 'post' ? deed.reference : deed.path.slice(scene.root.length)}`;
    const remains = disk.cut(NO_LUCK);
    // Once anything was posted, the marker is on the disk, whole: without it a ledger that is lost later is not noticed.
    const marker = remains.get('.handbill/.ledger.db.marker');
    if (posted.size > 0 && !marker?.toString('utf8').includes('--allow ledger-missing'))
      found.push(`${moment}: no whole marker`);
    await tryFrom(remains, moment);
    for (let round = 0; round < lucky; round++) {
      await tryFrom(disk.cut(luckOf(random)), `${moment}, with luck ${round}`);
    }
    if (found.length > 20) break;
  }
  const checkpoints = deeds.filter(({ kind }, at) => kind === 'sync' && pathOf(deeds[at]).endsWith('ledger.db')).length;
  if (found.length === 0) expect(posted.size).toBe(received.length);
  return { found, restarts, posts: posted.size, checkpoints };
}

function pathOf(deed: Deed | undefined): string {
  return deed === undefined || deed.kind === 'post' ? '' : deed.path;
}

/** Runs the command line to its end and says what it did. */
async function watched(scene: Scene): Promise<Deed[]> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-trace-'));
  try {
    const file = join(folder, 'trace');
    const amend =
      scene.contents().get(scene.path('campaign.yaml'))?.includes('# changed') === true
        ? ['--allow', 'input-changed']
        : [];
    const result = await scene.send([...ARGS, ...amend], { via: tracing(file) });
    expect([0, 4], result.stderr).toContain(result.status);
    return readTrace(file, scene.root);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function afterThree({ scene }: Setting): Promise<undefined> {
  await scene.send([...ARGS, '--limit', '3']);
}

/** What a kill -9 leaves while the third request is under way: everything is in the cache, not all of it on the disk. */
async function afterKill({ api, scene }: Setting): Promise<Disk> {
  const disk = createDisk(scene.root);
  const posted = new Set<string>();
  for (const deed of await watched(scene)) {
    disk.apply(deed);
    if (deed.kind === 'post') posted.add(deed.reference);
    if (posted.size === 3) break;
  }
  restore(
    scene.root,
    '.handbill',
    disk.cut(() => true),
  );
  const kept = readReceipts(api.receipts).filter(({ reference }) => posted.has(reference ?? ''));
  replaceReceipts(api.receipts, kept);
  return disk;
}

async function afterFolder({ scene }: Setting): Promise<Disk> {
  const disk = createDisk(scene.root);
  mkdirSync(scene.path('.handbill'), { mode: 0o700 });
  disk.apply({ kind: 'folder', path: scene.path('.handbill') });
  return disk;
}

/** Luck for a part of the sectors and of the names; which part, is drawn for each cut. */
function luckOf(random: () => number): Luck {
  const share = [0.1, 0.5, 0.9, 1][Math.floor(random() * 4)] ?? 0.5;
  return () => random() < share;
}

/** What a restart could tell apart: everything but the log's index, which SQLite rebuilds, and the room kept free. */
function fingerprint(remains: Remains, posts: number): string {
  const hash = createHash('sha256').update(String(posts));
  for (const [path, content] of [...remains].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!path.startsWith('.handbill') || path.endsWith('-shm')) continue;
    hash.update(`${path}:${content?.length ?? -1}:`);
    if (content !== null && !path.endsWith('.reserve')) hash.update(content);
  }
  return hash.digest('hex');
}

/** The server appends to the file, so that it can be cut from outside. */
function replaceReceipts(file: string, receipts: readonly Receipt[]): void {
  const lines = receipts.map(({ number, status, id, text }) => `${JSON.stringify({ number, status, id, text })}\n`);
  writeFileSync(file, lines.join(''));
}
