import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { NextChannelStep, RunRecord } from '../../src/ledger/records.ts';
import type { DeliveryReport, Reply, WebhookEvent } from '../../src/model.ts';
import type { PurgeResult } from '../../src/operations/purge.ts';
import { listReplies, reviewReplies } from '../../src/operations/replies.ts';
import { createReferences } from '../../src/plan/expand.ts';
import { keepDeliveries } from '../../src/send/deliveries.ts';
import { startCli, until } from '../helpers/cli.ts';
import { deliveryOf, receive, replyOf } from '../helpers/events.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { startedRun, withLedger } from '../ledger/given.ts';
import { claimOf, keyOf, NOON, resultOf, rows } from '../ledger/values.ts';
import { handbillHere } from './in-process.ts';

const DAY = 86_400_000;
const NOW = NOON + 100 * DAY;
/** National parts of what is to leave: nothing else has these digits. */
const NUMBERS = /4477009|79111239/;
const TEXTS = /secret text|no such line|what is this/;
const MAIL: NextChannelStep = {
  channel: 'voice',
  to: '+447911123999',
  parts: 1,
  encoding: null,
  costMicros: 1,
};

let project: TestProject;
const path = () => project.path('.handbill/ledger.db');
beforeEach(() => {
  project = createProject({ 'handbill.yaml': '' });
});
afterEach(() => project[Symbol.dispose]());

const inLedger = <T>(nowMs: number, use: (ledger: Ledger) => T): T => withLedger(path(), nowMs, use);

function report(
  messageId: string | null,
  state: DeliveryReport['state'],
  changes: Partial<DeliveryReport> = {},
): DeliveryReport {
  // As `sent` gives ids: the first row has its message on another channel.
  const row = /^hello-(\d+)$/.exec(messageId ?? '')?.[1];
  const address = row === undefined ? null : row === '0' ? MAIL.to : keyOf(Number(row));
  return deliveryOf({ messageId, address, state, atMs: NOON, error: 'no such line', ...changes });
}

const reply = (row: number, meaning: Reply['meaning'], changes: Partial<Reply> = {}): Reply =>
  replyOf({ from: keyOf(row), to: '60300', text: `secret text ${row}`, meaning, ...changes });

/** Sends to all recipients at an instant; the first falls back to another channel. */
function sent(campaign: string, count: number, atMs: number, keyAt = 0): RunRecord {
  return inLedger(atMs, (ledger) => {
    const list = rows(count).map((row) => ({ ...row, key: keyOf(row.row + keyAt), to: keyOf(row.row + keyAt) }));
    const run = startedRun(ledger, list, { campaign, nowMs: atMs });
    const ids = list.map(({ row }) => ({ ...claimOf(row), to: keyOf(row + keyAt), key: keyOf(row + keyAt) }));
    ledger.commit(run, [], ids, atMs);
    const results = ids.map(({ row }) =>
      row === 0
        ? resultOf(0, {
            state: 'rejected',
            reason: 'unsupported-channel',
            messageId: null,
            httpStatus: 404,
            next: MAIL,
          })
        : resultOf(row, { messageId: `${campaign}-${row}` }),
    );
    ledger.commit(run, results, [], atMs);
    const own = keyOf(keyAt);
    ledger.commit(run, [], [{ row: 0, step: 1, to: MAIL.to, key: own }], atMs);
    ledger.commit(run, [resultOf(0, { step: 1, messageId: `${campaign}-0` })], [], atMs);
    return ledger.finish(run, { state: 'finished', halt: null, figures: null, nowMs: atMs });
  });
}

function record(atMs: number, ...events: readonly WebhookEvent[]): void {
  receive(path(), events, { nowMs: atMs });
}

async function purge(...args: readonly string[]): Promise<PurgeResult> {
  const { status, out, err } = await handbillHere(project.root, ['purge', '--format', 'json', '--yes', ...args], {
    now: () => NOW,
  });
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return JSON.parse(out) as PurgeResult;
}

/** What `report` says of each row, and of all. */
async function books(run: RunRecord): Promise<unknown> {
  const show = async (format: string) => (await handbillHere(project.root, ['report', run.id, '--format', format])).out;
  const lines = (await show('jsonl')).split('\n').filter(Boolean);
  const said = lines.map((line) => JSON.parse(line) as { delivery: unknown; steps?: { delivery: unknown }[] });
  const { deliveries, totals } = JSON.parse(await show('json')) as Record<string, unknown>;
  return {
    rows: said.map(({ delivery, steps }) => [delivery, steps?.map((step) => step.delivery)]),
    deliveries,
    totals,
  };
}

function bytes(): string {
  return readdirSync(dirname(path()), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

const counts = () => inLedger(NOW, (ledger) => ledger.events.counts());

test('delivery reports and replies are purged with their run, and the counts of the report stay (S34)', async () => {
  const run = sent('hello', 7, NOON);
  const reference = createReferences(run)(keyOf(2), 'sms');
  record(
    NOON + DAY,
    report(null, 'undeliverable', { reference: createReferences(run)(keyOf(0), 'sms') }),
    report('hello-0', 'delivered'),
    report('hello-1', 'sent', { atMs: NOON + 1 }),
    report('hello-1', 'delivered'),
    report(null, 'failed', { reference }),
    report('hello-4', 'read'),
    report('of no recipient', 'read'),
    reply(3, 'answer'),
    reply(4, 'opt-out'),
    reply(0, 'answer', { from: MAIL.to }),
    reply(99, 'answer'),
    { kind: 'unread', body: `{"what is this": "${keyOf(0)}"}` },
  );
  const planned = await purge('--older-than', '90d', '--dry-run');
  expect(planned).toMatchObject({ events: { reports: 7, replies: 4, unread: 1 }, rewritten: null });
  // Joined by the purge itself: the messages were not looked up before.
  const result = await purge('--older-than', '90d');
  expect(result).toMatchObject({
    purged: [{ run: run.id }],
    // With the run, and of no recipient; the dry run says the same.
    events: { reports: 7, replies: 4, unread: 1 },
    rewritten: 'done',
  });
  expect(await books(run)).toMatchObject({
    rows: [
      ['replied', ['undeliverable', 'replied']],
      ['delivered', undefined],
      ['failed', undefined],
      ['replied', undefined],
      ['opted-out', undefined],
      [null, undefined],
      [null, undefined],
    ],
    deliveries: { delivered: 1, failed: 1, replied: 2, 'opted-out': 1 },
  });
  expect(counts()).toEqual({ reports: 0, replies: 0, unread: 0 });
  // The opt-out itself stays, until there is a key to hash it with.
  const found = bytes();
  expect(found).toContain(keyOf(4));
  expect(found.replaceAll(keyOf(4), '')).not.toMatch(NUMBERS);
  expect(found).not.toMatch(TEXTS);
});

test('a report is the same before and after, but for what a purge says of itself', async () => {
  const run = sent('hello', 4, NOON);
  record(NOON + DAY, report('hello-1', 'delivered'), report('hello-2', 'expired'), reply(3, 'opt-out'));
  await listReplies({ cwd: project.root, env: {}, now: () => NOON + DAY });
  const before = await books(run);
  await purge('--older-than', '90d');
  // Of a recipient who fell back and answered, the last step says so too; here none did.
  expect(await books(run)).toEqual(before);
});

test('of a run that stays, old events lose their recipients, and still count', async () => {
  const run = sent('hello', 5, NOON);
  record(NOON + DAY, report('hello-1', 'delivered'), reply(3, 'opt-out'), reply(2, 'answer'), reply(50, 'answer'));
  await listReplies({ cwd: project.root, env: {}, now: () => NOON + DAY });
  // Touched again lately.
  inLedger(NOW - DAY, (ledger) => {
    const { run: begun } = ledger.start(run, NOW - DAY);
    ledger.finish(begun, { state: 'finished', halt: null, figures: null, nowMs: NOW - DAY });
  });
  record(NOW - DAY, reply(1, 'answer', { text: 'new' }));
  await listReplies({ cwd: project.root, env: {}, now: () => NOW });
  const before = await books(run);
  expect(before).toMatchObject({ deliveries: { replied: 2, 'opted-out': 1 } });
  const dry = await purge('--older-than', '90d', '--dry-run');
  expect(dry).toMatchObject({ purged: [], events: { reports: 1, replies: 3, unread: 0 }, rewritten: null });
  expect(await purge('--older-than', '90d')).toMatchObject({ purged: [], events: { reports: 1, replies: 3 } });
  expect(await books(run)).toEqual(before);
  expect(bytes()).not.toMatch(TEXTS);
  expect(bytes()).not.toContain(keyOf(50));
  const replies = await listReplies({ cwd: project.root, env: {}, now: () => NOW });
  expect(replies.map(({ text }) => text)).toEqual(['new']);
  expect(await purge('--older-than', '90d')).toMatchObject({
    events: { reports: 0, replies: 0, unread: 0 },
    rewritten: null,
  });
});

test('with --campaign, only delivery reports and replies of its runs are purged', async () => {
  const run = sent('hello', 3, NOON);
  const other = sent('other', 3, NOON, 10);
  record(
    NOON + DAY,
    report('hello-1', 'delivered'),
    report('other-1', 'failed'),
    reply(2, 'answer'),
    reply(12, 'answer'),
  );
  const result = await purge('--older-than', '90d', '--campaign', 'hello');
  expect(result).toMatchObject({ purged: [{ run: run.id }], events: { reports: 1, replies: 1, unread: 0 } });
  expect(counts()).toEqual({ reports: 1, replies: 1, unread: 0 });
  expect(await books(run)).toMatchObject({ deliveries: { delivered: 1, replied: 1 } });
  expect(await books(other)).toMatchObject({ deliveries: { failed: 1, replied: 1 } });
});

test('replies that may mean to opt out stay until they are read, and it is said', async () => {
  const run = sent('hello', 6, NOON);
  record(NOON + DAY, reply(2, 'review'), reply(3, 'answer'), reply(77, 'review'));
  await listReplies({ cwd: project.root, env: {}, now: () => NOON + DAY });
  const first = await handbillHere(project.root, ['purge', '--older-than', '90d', '--yes'], { now: () => NOW });
  expect([first.status, first.out]).toEqual([
    2,
    expect.stringContaining(
      '2 replies that may mean to opt out stay until you have read them: handbill replies review',
    ),
  ]);
  const again = await handbillHere(project.root, ['purge', '--older-than', '90d', '--yes', '--format', 'json'], {
    now: () => NOW,
  });
  expect([again.status, JSON.parse(again.out)]).toMatchObject([2, { purged: [], waiting: 2, events: { replies: 0 } }]);
  const waiting = await listReplies({ cwd: project.root, env: {}, now: () => NOW, meanings: ['review'] });
  expect(waiting.map(({ from }) => from).toSorted()).toEqual([keyOf(2), keyOf(77)].toSorted());
  await reviewReplies(
    waiting.map(({ id }) => id),
    { cwd: project.root, env: {}, now: () => NOW, as: 'opt-out', by: 'ann' },
  );
  const last = await handbillHere(project.root, ['purge', '--older-than', '90d', '--yes'], { now: () => NOW });
  expect([last.status, last.out]).toEqual([0, expect.stringContaining('2 replies were forgotten')]);
  expect(inLedger(NOW, (ledger) => [2, 77].map((n) => ledger.isSuppressed(keyOf(n), NOW, run.topic)))).toEqual([
    true,
    true,
  ]);
});

test('said again after a kill, whatever had been done, the same words stay', async () => {
  const run = sent('hello', 6, NOON);
  record(NOON + DAY, report('hello-1', 'delivered'), reply(2, 'opt-out'), reply(3, 'answer'));
  await listReplies({ cwd: project.root, env: {}, now: () => NOON + DAY });
  const before = await books(run);
  inLedger(NOW, (ledger) => {
    ledger.purge.begin();
    const marked = ledger.purge.mark(run, NOW);
    expect([...keepDeliveries(ledger, marked)].length).toBe(1);
    expect([...ledger.purge.forgetReplies(marked)]).toEqual([2]);
    // Killed here: before the first row was cleared. A report comes in that says less than what is kept.
    ledger.events.record([report('hello-2', 'sent')], { nowMs: NOW, source: 'webhook', environment: 'sandbox' });
  });
  await purge('--older-than', '90d');
  expect(await books(run)).toEqual(before);
  expect(counts().reports).toBe(0);
});

test('killed while it is at it, and given again, nothing is left', { timeout: 60_000 }, async () => {
  const atMs = Date.now() - 100 * DAY;
  const run = sent('hello', 3, atMs);
  record(
    atMs + DAY,
    ...Array.from({ length: 12_000 }, (_, i) => report(`x-${i}`, 'delivered')),
    ...Array.from({ length: 3_000 }, (_, i) => reply(i + 100, 'answer')),
  );
  const args = ['purge', '--older-than', '90d', '--yes'];
  const started = startCli(args, { cwd: project.root });
  await until('the first are gone', () => {
    const db = new DatabaseSync(path(), { readOnly: true });
    try {
      return Number(db.prepare('SELECT count(*) AS count FROM delivery_reports').get()?.['count']) < 12_000;
    } finally {
      db.close();
    }
  });
  started.kill('SIGKILL');
  await started.done;
  const again = await handbillHere(project.root, args);
  expect(again).toMatchObject({ status: 0, err: '' });
  expect(counts()).toEqual({ reports: 0, replies: 0, unread: 0 });
  expect(bytes()).not.toMatch(NUMBERS);
  expect(run.rows).toBe(3);
});
