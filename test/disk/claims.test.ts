import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { readReceipts } from '../oracle/receipts.ts';
import { pause, startApi } from '../processes/api.ts';
import { type LogLine, ROWS, sceneOf, sendWatched, startAgain } from './failed-start.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

it('every claim is on the disk before its request begins (C11)', async () => {
  await using api = await startApi();
  using scene = sceneOf(api);
  const { status, stderr, log } = await sendWatched(scene);
  expect(status, stderr).toBe(0);
  expect(unclaimedPosts(log)).toEqual([]);
  expect(log.filter(({ post }) => post !== undefined)).toHaveLength(ROWS);
  const ledger = log.filter(({ committed, file }) => committed !== undefined && file === 'ledger.db');
  expect(new Set(ledger.map(({ synchronous }) => synchronous))).toEqual(new Set([2]));
});

/** The requests whose claim was not on the disk by then. */
function unclaimedPosts(log: readonly LogLine[]): string[] {
  const durable = new Set<unknown>();
  let claimed: unknown[] = [];
  return log.flatMap(({ sql = '', values = [], committed, synchronous, post }) => {
    // Key and address are the same in this list.
    if (sql.includes("SET state = 'claimed'")) claimed.push(...(values.join(' ').match(/\+\d+/g) ?? []));
    if (sql === 'BEGIN IMMEDIATE' || sql === 'ROLLBACK') claimed = [];
    if (committed !== undefined && synchronous === 2) for (const address of claimed) durable.add(address);
    return post !== undefined && !durable.has(post) ? [post] : [];
  });
}

const WAITS: readonly (readonly [label: string, waitMs: number | null])[] = [
  ['a second, in the place of 30', 1000],
  ...(FULL ? [['30 seconds', null] as const] : []),
];

it.each(WAITS)(
  'another process writes for longer than the claim waits: %s (A4)',
  { timeout: 240_000 },
  async (_, waitMs) => {
    let locked: DatabaseSync | null = null;
    let lockedAt = 0;
    await using api = await startApi((number) => {
      if (number !== 4) return {};
      locked = new DatabaseSync(scene.ledger, { timeout: 5000 });
      locked.exec('BEGIN IMMEDIATE');
      lockedAt = performance.now();
      // The other requests in flight end one by one: each outcome would wait by itself without the group commit.
      return { after: pause(50) };
    });
    using scene = sceneOf(api, 20);
    const sending = sendWatched(scene, waitMs === null ? {} : { waitMs }, ['--concurrency', '4']);
    // The short one never gets the ledger back; in the long one, the other is done while the outcomes wait.
    if (waitMs === null)
      await until(() => lockedAt > 0)
        .then(() => pause(45_000))
        .then(() => locked?.close());
    const { status, stderr, log } = await sending;
    const tookMs = performance.now() - lockedAt;
    if (waitMs !== null) (locked as DatabaseSync | null)?.close();

    expect(status, stderr).toBe(7);
    expect(stderr).toContain('database is locked');
    expect(tookMs).toBeGreaterThan(waitMs ?? 30_000);
    const before = readReceipts(api.receipts).length;
    expect(before).toBeLessThanOrEqual(4 + 4);
    const tries = log
      .slice(log.findLastIndex(({ post }) => post !== undefined))
      .filter(({ sql }) => sql === 'BEGIN IMMEDIATE');
    // The claim, the outcomes of what was in flight once more, and that no process holds the run now.
    expect(tries.length).toBeLessThanOrEqual(waitMs === null ? 4 : 3);
    expect(await startAgain(scene, api, { mostCrashes: waitMs === null ? 0 : 4 })).toEqual([]);
    expect(readReceipts(api.receipts)).toHaveLength(20);
  },
);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(20);
}

it('the first claim cannot be written: no request leaves, all recipients are as they were (A5)', async () => {
  await using api = await startApi();
  using scene = sceneOf(api);
  const only = "SET state = 'claimed'";
  const { status, stderr, log } = await sendWatched(scene, { at: 1, only, fault: 'I/O error on write' });
  expect(log.find(({ fails }) => fails === true)?.sql).toContain(only);
  expect(status, stderr).toBe(7);
  expect(readReceipts(api.receipts)).toHaveLength(0);
  expect(new Set(scene.endings().map(({ outcome }) => outcome))).toEqual(new Set(['pending']));
});
