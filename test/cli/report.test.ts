import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createReference } from '../../src/plan/expand.ts';
import { createLatency } from '../../src/report/latency.ts';
import { until } from '../helpers/cli.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { startedRun, withLedger } from '../ledger/given.ts';
import { claimOf, keyOf, loadRow, HELLO as RUN, resultOf } from '../ledger/values.ts';
import { createScene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';
import { HELLO, handbill, projectWith } from './run-handbill.ts';

const T0 = Date.parse('2026-11-20T09:00:00Z');
let root = '';
let runId = '';
let remove = async (): Promise<void> => undefined;

beforeAll(async () => {
  ({ root, remove } = await projectWith(HELLO));
});
afterAll(() => remove());

/** A run of three: one accepted, one in doubt, one duplicate. */
function record(): string {
  const skipped = { key: keyOf(0), state: 'skipped', reason: 'duplicate', parts: null, encoding: null } as const;
  const inputs = [{ role: 'campaign', file: 'campaigns/hello/campaign.yaml', sha256: '00' }] as const;
  return withLedger(join(root, '.handbill/ledger.db'), T0, (ledger) => {
    const run = startedRun(ledger, [loadRow(0), loadRow(1), loadRow(2, skipped)], { inputs, nowMs: T0 + 1000 });
    ledger.commit(run, [], [claimOf(0), claimOf(1)], T0 + 1000);
    const doubt = { state: 'in-doubt', reason: 'timeout', httpStatus: null, messageId: null } as const;
    ledger.commit(run, [resultOf(0), resultOf(1, doubt)], [], T0 + 2000);
    const latency = createLatency();
    latency.add(40);
    const figures = { posted: 2, retried: 0, activeMs: 4000, latency: latency.save() };
    ledger.finish(run, { state: 'finished', halt: null, figures, nowMs: T0 + 5000 });
    return run.id;
  });
}

test('where nothing was sent, report and runs say so and where they looked', async () => {
  for (const command of ['report', 'runs']) {
    const { status, err } = await handbill(root, [command]);
    expect(status).toBe(2);
    expect(err).toContain('error[run-not-found]');
    expect(err).toContain('.handbill/ledger.db');
  }
  runId = record();
});

test('the summary as json, by id, by name, and of the newest run', async () => {
  const texts = await Promise.all(
    [[runId], ['hello'], []].map(async (named) => (await handbill(root, ['report', ...named, '--format', 'json'])).out),
  );
  expect(new Set(texts).size).toBe(1);
  expect(JSON.parse(texts[0] ?? '')).toMatchObject({
    version: 1,
    run: runId,
    state: 'finished',
    startedAt: '2026-11-20T09:00:01.000Z',
    finishedAt: '2026-11-20T09:00:05.000Z',
    totals: { recipients: 3, accepted: 1, inDoubt: 1, skipped: 1 },
    reasons: { inDoubt: { timeout: 1 }, skipped: { duplicate: 1 } },
    requests: { posted: 2, retried: 0, perSecond: 0.5, latencyMs: { p50: 40 } },
  });
});

test('text is for people, without colours outside a terminal', async () => {
  const { status, out, err } = await handbill(root, ['report']);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain(`Run ${runId}`);
  expect(out).not.toContain('\u001b');
});

test('one record per row; the reference is that of the run; outcomes can be chosen', async () => {
  const all = jsonLines((await handbill(root, ['report', '--format', 'jsonl'])).out);
  expect(all.map(({ line, outcome }) => [line, outcome])).toEqual([
    [2, 'accepted'],
    [3, 'in-doubt'],
    [4, 'skipped'],
  ]);
  expect(all[0].reference).toBe(createReference(RUN, 'sms')(keyOf(0)));
  const some = await handbill(root, ['report', '--format', 'jsonl', '--outcome', 'in-doubt']);
  expect(some.out.trim().split('\n')).toHaveLength(1);
});

test('-o writes the file, and says so unless --quiet', async () => {
  const args = ['report', 'hello', '--format', 'csv', '-o', 'results.csv'];
  const result = await handbill(root, args);
  const text = await readFile(join(root, 'results.csv'), 'utf8');
  const size = Buffer.byteLength(text).toLocaleString('en');
  expect(result).toEqual({ status: 0, out: '', err: `Written: results.csv (${size} bytes)\n` });
  expect(text.trim().split('\n')).toHaveLength(4);
  expect(await handbill(root, [...args, '--quiet'])).toEqual({ status: 0, out: '', err: '' });
  const missing = await handbill(root, ['report', '-o', 'nowhere/results.csv']);
  expect(missing.status).toBe(2);
});

test('a run that is not there gets the nearest name', async () => {
  const { status, err } = await handbill(root, ['report', 'hallo']);
  expect(status).toBe(2);
  expect(err).toContain('Did you mean "hello"?');
});

test('says that the requests of a start that was killed are not counted', { timeout: 60_000 }, async () => {
  let answered = false;
  await using api = await startApi(() => (answered ? {} : { after: new Promise(() => undefined) }));
  using scene = createScene({ rows: 3, baseUrl: api.url, receipts: api.receipts });
  const sender = scene.start();
  await until('the first request', () => api.received() === 1);
  sender.kill('SIGKILL');
  await sender.done;
  answered = true;
  const requests = async (format: string) => (await scene.look(['report', 'proof', '--format', format])).stdout;
  const without = 'without those of 1 start that broke off';
  expect(JSON.parse(await requests('json'))).toMatchObject({
    state: 'interrupted',
    requests: { posted: 0, uncountedStarts: 1 },
  });
  for (const format of ['text', 'html']) {
    expect(await requests(format)).toContain('not known: 1 start broke off');
    expect(await requests(format)).not.toMatch(/0 (requests|retries)/);
  }
  const sent = await scene.send();
  expect(sent.status).toBe(4);
  expect(JSON.parse(await requests('json'))).toMatchObject({ requests: { posted: 2, uncountedStarts: 1 } });
  expect(await requests('text')).toMatch(/2 requests, .*, without those of 1 start that broke\s+off\n/);
  expect(await requests('html')).toContain(without);
});

test('counts every start that ended', async () => {
  await using project = await projectWith(HELLO);
  for (const limit of ['1', '2']) await handbill(project.root, ['send', 'hello', '--limit', limit, '--quiet']);
  const { out } = await handbill(project.root, ['report', 'hello', '--format', 'json']);
  expect(JSON.parse(out).requests).not.toHaveProperty('uncountedStarts');
});
