import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { send } from '../../src/index.ts';
import { type Receipt, readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { type Api, startApi } from '../processes/api.ts';
import { createDisk, type Luck, NO_LUCK, type Remains, restore } from './power.ts';
import { createRandom } from './random.ts';
import { type Deed, readTrace, tracing } from './trace.ts';

/*
 * C11: the real command line is watched with strace. For every moment between two system calls the folder of the ledger
 * is rebuilt as a power cut at that moment could leave it, and the run is started again from there against the same
 * server, whose receipts are those of the requests that had left by then. The oracle judges.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';
const CONCURRENCY = 2;
const ARGS = ['--concurrency', String(CONCURRENCY)];

interface Setting {
  readonly api: Api;
  readonly scene: Scene;
}

/** What is done to the project before the start that loses power. */
const PREPARED: readonly (readonly [label: string, rows: number, prepare: (setting: Setting) => Promise<void>])[] = [
  ['the first start of a project', 6, async () => undefined],
  ['a start that continues', 6, async ({ scene }) => void (await scene.send([...ARGS, '--limit', '3']))],
  ['a start after a kill -9', 6, afterKill],
  [
    'a start with --amend',
    6,
    async ({ scene }) => {
      await scene.send([...ARGS, '--limit', '3']);
      scene.write('campaign.yaml', `${scene.contents().get(scene.path('campaign.yaml'))}# changed\n`);
    },
  ],
  [
    'another run in the same ledger',
    4,
    async ({ api, scene }) => {
      await scene.send(['--occurrence', 'before']);
      replaceReceipts(api.receipts, []);
    },
  ],
];

describe.runIf(FULL)('C11: power loss at every system call', () => {
  it.each(PREPARED)('%s', { timeout: 600_000 }, async (_label, rows, prepare) => {
    await using api = await startApi();
    using scene = createScene({ rows, baseUrl: api.url, receipts: api.receipts });
    await prepare({ api, scene });
    const cuts = await cutEverywhere({ api, scene }, rows, 3);
    expect(cuts.found).toEqual([]);
    // The proof looked at something: each request, and each sync of the ledger.
    expect(cuts.posts).toBeGreaterThan(0);
    expect(cuts.restarts).toBeGreaterThan(20);
  });

  it('a long list, with checkpoints in the middle', { timeout: 600_000 }, async () => {
    await using api = await startApi();
    using scene = createScene({ rows: 600, baseUrl: api.url, receipts: api.receipts });
    const cuts = await cutEverywhere({ api, scene }, 600, 0, 60);
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

/**
 * `lucky`: how often each moment is also tried with luck for a random part of what was not synced. `every`: only each
 * n-th moment on average, for long runs.
 */
async function cutEverywhere({ api, scene }: Setting, rows: number, lucky: number, every = 1): Promise<Cuts> {
  const disk = createDisk(scene.root);
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
    for (const violation of await judge({ api, scene })) found.push(`${moment}: ${violation}`);
  };

  for (const [number, deed] of deeds.entries()) {
    disk.apply(deed);
    if (deed.kind === 'post') posted.add(deed.reference);
    if (every > 1 && random() * every >= 1) continue;
    const moment = `after ${number} ${deed.kind} ${deed.kind === 'post' ? deed.reference : deed.path.slice(scene.root.length)}`;
    await tryFrom(disk.cut(NO_LUCK), moment);
    for (let round = 0; round < lucky || (round === 0 && every > 1); round++) {
      await tryFrom(disk.cut(luckOf(random)), `${moment}, with luck ${round}`);
    }
    if (found.length > 20) break;
  }
  const checkpoints = deeds.filter(({ kind }, at) => kind === 'sync' && pathOf(deeds[at]).endsWith('ledger.db')).length;
  if (found.length === 0) expect(posted.size).toBe(received.length);
  return { found, restarts, posts: posted.size, checkpoints };

  function judge(setting: Setting): Promise<string[]> {
    return judgeRestart(setting, rows);
  }
}

function pathOf(deed: Deed | undefined): string {
  return deed === undefined || deed.kind === 'post' ? '' : deed.path;
}

/** Runs the command line to its end and says what it did. */
async function watched(scene: Scene): Promise<Deed[]> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-trace-'));
  try {
    const file = join(folder, 'trace');
    const amend = scene.contents().get(scene.path('campaign.yaml'))?.includes('# changed') === true ? ['--amend'] : [];
    const result = await scene.send([...ARGS, ...amend], { via: tracing(file) });
    expect([0, 4], result.stderr).toContain(result.status);
    return readTrace(file, scene.root);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts again as a user would after the lights came back on, and asks the oracle. */
async function judgeRestart({ api, scene }: Setting, rows: number): Promise<string[]> {
  const before = readReceipts(api.receipts).length;
  try {
    const { exit } = await send('campaign.yaml', {
      cwd: scene.root,
      env: { HANDBILL_API_KEY: CANARY_KEY },
      now: Date.now,
      environment: 'test',
      concurrency: CONCURRENCY,
      amend: true,
      confirm: () => Promise.resolve(true),
    });
    const said = exit === 0 || exit === 4 ? [] : [`exit status ${exit}`];
    return [...said, ...scene.violations({ starts: [0, before], mostCrashes: CONCURRENCY * 2 })];
  } catch (error) {
    const expected = error instanceof HandbillError ? `exit status ${error.exit}: ` : 'a bug: ';
    return [`${expected}${error instanceof Error ? error.message : String(error)} (${rows} rows)`];
  }
}

/** The state that a kill -9 leaves while the third request is under way. */
async function afterKill({ api, scene }: Setting): Promise<void> {
  const disk = createDisk(scene.root);
  const posted = new Set<string>();
  for (const deed of await watched(scene)) {
    disk.apply(deed);
    if (deed.kind === 'post') posted.add(deed.reference);
    if (posted.size === 3) break;
  }
  restore(scene.root, '.handbill', disk.cut(() => true));
  const kept = readReceipts(api.receipts).filter(({ reference }) => posted.has(reference ?? ''));
  replaceReceipts(api.receipts, kept);
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
