import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import process from 'node:process';
import { describe, expect, it, test, vi } from 'vitest';
import { until } from '../helpers/cli.ts';
import type { Ending } from '../oracle/oracle.ts';
import { createScene, type Scene, type SceneOptions } from '../oracle/scene.ts';
import { type Api, createGate, pause, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const FULL = process.env['HANDBILL_FULL'] === '1';
const STATUS = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;
type Signal = keyof typeof STATUS;
const SIGNALS = Object.keys(STATUS) as Signal[];
/** One of them where the others take the same way. */
const SAMPLE: readonly Signal[] = FULL ? SIGNALS : ['SIGTERM'];

function sceneOf(api: Api, rows: number, send: string, more: Partial<SceneOptions> = {}): Scene {
  return createScene({ rows, baseUrl: api.url, receipts: api.receipts, campaign: `send: { ${send} }`, ...more });
}

/** How many recipients there are of each outcome, with the reason where it is one of stopping. */
function tally(endings: readonly Ending[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome, reason } of endings) {
    const name = reason === null ? outcome : `${outcome}(${reason})`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function stateOf(scene: Scene): Promise<unknown> {
  const { stdout } = await scene.look(['report', '--format', 'json']);
  return (JSON.parse(stdout) as { state: unknown }).state;
}

it('twenty signals, one each millisecond: the exit status is that of the first (I3)', async () => {
  const gate = createGate();
  await using api = await startApi((number) => (number > 10 ? { after: gate.opened } : {}));
  using scene = sceneOf(api, 40, 'concurrency: 4');
  const sender = scene.start();
  await until('four in flight', () => api.received() === 14);
  for (let n = 0; n < 20; n++) {
    sender.kill('SIGTERM');
    await pause(1);
  }
  const ended = await sender.done;
  expect(ended, ended.stderr).toMatchObject({ status: 143, signal: null });
  expect(ended.stdout).toContain('Interrupted');
  expect(scene.violations()).toEqual([]);
  gate.open();
  expect(await scene.goOn()).toMatchObject({ status: 4 });
  expect(scene.violations()).toEqual([]);
});

describe('one signal (I2)', () => {
  it.each(SIGNALS)('%s: claims stop, what is in flight is finished, and running again continues', async (signal) => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 10 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, 40, 'concurrency: 4');
    const sender = scene.start();
    await until('four in flight', () => api.received() === 14);
    sender.kill(signal);
    await until('the word of it', () => sender.stderr().includes('Finishing what is in flight'));
    gate.open();
    const ended = await sender.done;
    expect(ended, ended.stderr).toMatchObject({ status: STATUS[signal], signal: null });
    expect(api.received()).toBe(14);
    expect(scene.violations()).toEqual([]);
    expect(tally(scene.endings())).toEqual({ accepted: 14, pending: 26 });
    expect(await stateOf(scene)).toBe('interrupted');
    expect(await scene.goOn()).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
    expect(tally(scene.endings())).toEqual({ accepted: 40 });
  });

  it('an answer that does not come is waited for no longer than the time limit', async () => {
    await using api = await startApi((number) => (number > 6 ? { after: new Promise(() => undefined) } : {}));
    using scene = sceneOf(api, 20, 'concurrency: 4, timeout: 1s');
    const sender = scene.start();
    await until('four in flight', () => api.received() === 10);
    sender.kill('SIGTERM');
    expect(await sender.done).toMatchObject({ status: 143 });
    expect(scene.violations()).toEqual([]);
    expect(tally(scene.endings())).toEqual({ accepted: 6, 'in-doubt(timeout)': 4, pending: 10 });
  });
});

describe('at once (I3)', () => {
  const pairs: (readonly [label: string, first: NodeJS.Signals, second: NodeJS.Signals | null, status: number])[] = [
    ['SIGTERM twice', 'SIGTERM', 'SIGTERM', 143],
    ['SIGQUIT', 'SIGQUIT', null, 130],
  ];
  if (FULL) {
    pairs.push(
      ['SIGINT twice', 'SIGINT', 'SIGINT', 130],
      ['SIGHUP, then SIGTERM', 'SIGHUP', 'SIGTERM', 129],
      ['SIGTERM, then SIGQUIT', 'SIGTERM', 'SIGQUIT', 143],
    );
  }
  it.each(pairs)('%s: in flight is in doubt, all others pending', async (_label, first, second, status) => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, 20, 'concurrency: 4, timeout: 20s');
    const sender = scene.start();
    await until('four in flight', () => api.received() === 10);
    sender.kill(first);
    if (second !== null) {
      await until('the word of it', () => sender.stderr().includes('once more to stop at once'));
      sender.kill(second);
    }
    const ended = await sender.done;
    expect(ended, ended.stderr).toMatchObject({ status, signal: null });
    expect(scene.violations()).toEqual([]);
    expect(tally(scene.endings())).toEqual({ accepted: 6, 'in-doubt(stopped)': 4, pending: 10 });
    expect(await stateOf(scene)).toBe('interrupted');
    gate.open();
    expect(await scene.goOn()).toMatchObject({ status: 4 });
    expect(scene.violations()).toEqual([]);
  });
});

describe('a signal while the run waits (I2)', () => {
  it.each(SAMPLE)('for a Retry-After: %s', async (signal) => {
    await using api = await startApi((n) => (n === 4 ? { status: 429, headers: { 'retry-after': '600' } } : {}));
    using scene = sceneOf(api, 20, 'concurrency: 2');
    const sender = scene.start();
    await until('the refusal', () => api.received() >= 4);
    await pause(100);
    sender.kill(signal);
    expect(await sender.done).toMatchObject({ status: STATUS[signal], signal: null });
    expect(scene.violations()).toEqual([]);
    expect(tally(scene.endings())['in-doubt']).toBeUndefined();
    expect(await stateOf(scene)).toBe('interrupted');
    const before = api.received();
    expect(await scene.goOn()).toMatchObject({ status: 0 });
    expect(api.received()).toBeGreaterThan(before);
    expect(scene.violations()).toEqual([]);
    expect(tally(scene.endings())).toEqual({ accepted: 20 });
  });

  it.each(SAMPLE)('for the rate: %s', async (signal) => {
    await using api = await startApi();
    using scene = sceneOf(api, 20, 'concurrency: 8, rate: 2/min');
    const sender = scene.start();
    await until('the first request', () => api.received() === 1);
    await pause(100);
    sender.kill(signal);
    expect(await sender.done).toMatchObject({ status: STATUS[signal], signal: null });
    expect(tally(scene.endings())).toEqual({ accepted: 1, pending: 19 });
    expect(scene.violations()).toEqual([]);
  });

  it.each(SAMPLE)('for a connection that does not come: %s (B9)', async (signal) => {
    await using api = await startApi();
    // Takes the connection and says nothing, so that TLS never comes up.
    let connections = 0;
    const silent = createServer(() => ++connections);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    using scene = sceneOf(api, 5, 'timeout: 60s', { baseUrl: `https://127.0.0.1:${port}` });
    const sender = scene.start();
    await until('a connection', () => connections > 0);
    sender.kill(signal);
    const began = performance.now();
    expect(await sender.done).toMatchObject({ status: STATUS[signal], signal: null });
    expect(performance.now() - began).toBeLessThan(20_000);
    silent.close();
    expect(tally(scene.endings())).toEqual({ pending: 5 });
    expect(scene.violations()).toEqual([]);
  });
});

describe('a signal while the list is being loaded (I2)', () => {
  const rows = FULL ? 400_000 : 60_000;
  it.each(SAMPLE)('%s: nothing is posted, nothing is left', async (signal) => {
    await using api = await startApi();
    using scene = sceneOf(api, rows, 'concurrency: 2');
    const sender = scene.start();
    await until('the ledger', () => existsSync(`${scene.ledger}-wal`));
    await pause(100);
    sender.kill(signal);
    const ended = await sender.done;
    expect(ended).toMatchObject({ status: STATUS[signal], signal: null, stdout: '' });
    expect(api.received()).toBe(0);
    expect(scene.endings()).toEqual([]);
    expect(await scene.goOn(['--limit', '3'])).toMatchObject({ status: 0 });
    expect(scene.violations({ lines: scene.endings().map(({ line }) => line) })).toEqual([]);
  });
});

test('a signal before anything began ends it like any other program (I2)', async () => {
  await using api = await startApi();
  using scene = sceneOf(api, 5, 'concurrency: 2');
  for (const afterMs of FULL ? [0, 10, 20, 40, 80, 120, 160, 200, 240, 280, 320, 360] : [0, 40, 120, 200]) {
    const sender = scene.start(['--occurrence', `after-${afterMs}`]);
    await pause(afterMs);
    sender.kill('SIGTERM');
    const { status, signal, stderr } = await sender.done;
    expect(signal === 'SIGTERM' || status === 143 || status === 0, `${status} ${stderr}`).toBe(true);
  }
  expect(await scene.goOn()).toMatchObject({ status: 0 });
});
