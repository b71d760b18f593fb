import process from 'node:process';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../src/model.ts';
import { send } from '../../src/operations/send.ts';
import type { SendResult } from '../../src/operations/send-options.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, numberOf, type Scene } from '../oracle/scene.ts';
import type { Behaviour, Ending } from './behaviours/behaviour.ts';
import { BODY_KINDS, type BodyKind, EVERY_STATUS, NAMED_STATUSES, statusBehaviour } from './behaviours/every-status.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';
import { expectNoKey, temporaryFolder } from './run-scenario.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const room = pLimit(4);
const ROWS = 3;

let server: FaultServer;
beforeAll(async () => {
  server = await startFaultServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Case {
  readonly title: string;
  readonly status: number;
  readonly kinds: readonly BodyKind[];
}

/** All 402 with all three bodies, or the named ones with one body each, in turn; the 2xx with all. */
function cases(): readonly Case[] {
  const statuses = FULL ? EVERY_STATUS : NAMED_STATUSES;
  return statuses.map((status, at) => {
    const kinds = FULL || status === 202 ? BODY_KINDS : BODY_KINDS.slice(at % 3, (at % 3) + 1);
    const rows = new Set(kinds.flatMap((kind) => statusBehaviour(status, kind).rows));
    return { title: `${[...rows].join(', ')}: ${status}, body: ${kinds.join(', ')}`, status, kinds };
  });
}

describe.concurrent('every status', () => {
  it.each(cases())('$title', { timeout: 300_000 }, async ({ status, kinds }) => {
    for (const kind of kinds) {
      const behaviour = statusBehaviour(status, kind);
      await room(async () => await sendTo(behaviour, 1, behaviour.expected));
      // As the first answer of a start it may say that this is not the API.
      const asFirst = behaviour.asFirstAnswer ?? (FULL && NAMED_STATUSES.includes(status) ? behaviour.expected : null);
      if (asFirst !== null) await room(async () => await sendTo(behaviour, 0, asFirst));
    }
  });

  it('is 1,206 with three bodies each', () => {
    expect(EVERY_STATUS.length * BODY_KINDS.length).toBe(1_206);
    expect(EVERY_STATUS).toEqual(expect.arrayContaining([...NAMED_STATUSES]));
  });
});

/** Sends a list of three of which one is answered so, and then again to a server in good order. */
async function sendTo(behaviour: Behaviour, row: number, expected: readonly Ending[]): Promise<void> {
  using folder = temporaryFolder();
  const receipts = folder.path('receipts.jsonl');
  await using played = await server.listen({
    behaviour: behaviour.name,
    target: numberOf(row),
    // The second of the list comes on the connection of the first.
    connection: row === 0 ? 'fresh' : 'reused',
    after: 0,
    receipts,
  });
  using scene = createScene({ rows: ROWS, baseUrl: `http://127.0.0.1:${played.port}`, receipts });

  const first = await start(scene);
  const label = `${behaviour.name}, row ${row}`;
  expect(scene.violations(), label).toEqual([]);
  const before = scene.endings();
  const { outcome, reason, httpStatus } = before[row] ?? { outcome: null, reason: null, httpStatus: null };
  const halt = first.report.halt?.rule ?? null;
  // With one request at a time, one doubt halts so short a list.
  const possible = expected.map((one) => ({ ...one, halt: one.halt ?? (one.outcome === 'in-doubt' ? 'doubt' : null) }));
  expect(possible, label).toContainEqual({ outcome, reason, httpStatus, halt });
  expect(first.exit, label).toBe(exitFor(outcome, halt));
  const others = before.map(({ outcome: other }) => other).toSpliced(row, 1);
  const halted = row === 0 ? ['pending', 'pending'] : ['accepted', 'pending'];
  expect(others, label).toEqual(halt === null ? ['accepted', 'accepted'] : halted);

  await played.calm();
  const received = readReceipts(receipts).length;
  // Those that the API was too busy for wait a quarter of an hour.
  const second = await start(scene, () => Date.now() + 20 * 60_000);
  expect(scene.violations({ starts: [0, received] }), label).toEqual([]);
  const after = scene.endings().map((ending) => ending.outcome);
  expect(after, label).toEqual(before.map((ending) => (ending.outcome === 'pending' ? 'accepted' : ending.outcome)));
  expect(second.exit, label).toBe(exitFor(after[row] ?? null, null));
  expectNoKey(scene, { status: 0, signal: null, stdout: said(first.report), stderr: said(second.report) });
  expect((await played.counts()).elsewhere).toBe(0);
}

/** By the library, which is what the command line calls. */
async function start(scene: Scene, now: () => number = Date.now): Promise<SendResult> {
  return await send('campaign.yaml', {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY },
    now,
    random: () => 0,
    environment: 'test',
    concurrency: 1,
    confirm: async () => true,
  });
}

function exitFor(outcome: string | null, halt: string | null): number {
  if (halt !== null) return 5;
  if (outcome === 'in-doubt') return 4;
  return outcome === 'rejected' || outcome === 'pending' ? 3 : 0;
}

function said(report: Report): string {
  return JSON.stringify(report);
}
