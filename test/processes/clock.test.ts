import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import type { CliOptions } from '../helpers/cli.ts';
import { until } from '../helpers/cli.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { createScene, type Scene } from '../oracle/scene.ts';
import { type Api, createGate, pause, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const FULL = process.env['HANDBILL_FULL'] === '1';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function sceneOf(api: Api, rows: number, send: string): Scene {
  return createScene({ rows, baseUrl: api.url, receipts: api.receipts, campaign: `send: { ${send} }` });
}

/** A wall clock that is wrong by what `set` says, also while a command runs. */
function clockOf(scene: Scene): { readonly options: Partial<CliOptions>; set(offsetMs: number): void } {
  const set = (offsetMs: number): void => scene.write('clock', String(offsetMs));
  set(0);
  const preload = join(import.meta.dirname, 'preload', 'clock.ts');
  return { set, options: { env: { NODE_OPTIONS: `--import ${preload}`, CLOCK_OFFSET_FILE: scene.path('clock') } } };
}

/** When the outcomes were recorded, in the order in which they were received. */
async function times(scene: Scene, api: Api): Promise<number[]> {
  const { stdout } = await scene.look(['report', '--format', 'jsonl']);
  const rows = jsonLines<{ reference: string; updatedAt: string }>(stdout);
  const at = new Map(rows.map(({ reference, updatedAt }) => [reference, Date.parse(updatedAt)]));
  return readReceipts(api.receipts).map(({ reference }) => at.get(reference ?? '') ?? Number.NaN);
}

describe('the clock is set while a run goes on (I1)', () => {
  const steps: (readonly [label: string, ms: number])[] = [['an hour back', -HOUR]];
  if (FULL) steps.push(['a day forth', DAY], ['a year forth', 365 * DAY], ['ten years back', -3650 * DAY]);
  it.each(steps)('%s: all recipients are sent to once, and times in the ledger never decrease', async (_label, ms) => {
    const gate = createGate();
    await using api = await startApi((number) => (number === 5 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, 20, 'concurrency: 1, rate: 20/s');
    const clock = clockOf(scene);
    const sender = scene.start([], clock.options);
    await until('five requests', () => api.received() === 5);
    clock.set(ms);
    const began = performance.now();
    gate.open();
    const ended = await sender.done;
    expect(ended, ended.stderr).toMatchObject({ status: 0 });
    // Waits are monotonic: 15 more at 20/s, neither at once nor in an hour.
    expect(performance.now() - began).toBeGreaterThan(600);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(scene.violations()).toEqual([]);
    const recorded = await times(scene, api);
    expect(recorded).toEqual(recorded.toSorted((a, b) => a - b));
    expect(recorded).not.toContain(Number.NaN);
  });

  it.each([
    ['forth', HOUR],
    ['back', -HOUR],
  ])('an hour %s during a Retry-After: the wait is as long as it was said', async (_label, ms) => {
    await using api = await startApi((n) => (n === 4 ? { status: 429, headers: { 'retry-after': '1' } } : {}));
    using scene = sceneOf(api, 8, 'concurrency: 1');
    const clock = clockOf(scene);
    const sender = scene.start([], clock.options);
    await until('the refusal', () => api.received() === 4);
    const began = performance.now();
    clock.set(ms);
    await expect.poll(() => api.received(), { timeout: 20_000 }).toBeGreaterThan(4);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(await sender.done).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
  });
});

describe('the clock is set between two starts (I1)', () => {
  const shifts: (readonly [label: string, first: number, second: number, status: number])[] = [
    ['six minutes back', 0, -6 * MINUTE, 2],
    ['four minutes back', 0, -4 * MINUTE, 0],
    ['two days forth: the run is late', 0, 2 * DAY, 2],
  ];
  if (FULL) {
    shifts.push(
      ['an hour back', 0, -HOUR, 2],
      ['a day forth in the first, right in the second', DAY, 0, 2],
      ['23 hours forth', 0, 23 * HOUR, 0],
    );
  }
  it.each(shifts)('%s', async (_label, first, second, status) => {
    await using api = await startApi();
    using scene = sceneOf(api, 6, 'concurrency: 2');
    const clock = clockOf(scene);
    clock.set(first);
    expect(await scene.send(['--limit', '2'], clock.options)).toMatchObject({ status: 0 });
    clock.set(second);
    const again = await scene.send([], clock.options);
    expect(again, again.stderr).toMatchObject({ status });
    if (status === 2) expect(again.stderr).toMatch(/error\[(?:clock|too-late)\]/);
    expect(api.received()).toBe(status === 0 ? 6 : 2);
    expect(scene.violations()).toEqual([]);
  });
});

describe('time zones of the machine (I1)', () => {
  it('01:30 comes twice when summer time ends: it is one run', async () => {
    await using api = await startApi();
    using scene = sceneOf(api, 6, 'concurrency: 2');
    const clock = clockOf(scene);
    const options = { env: { ...clock.options.env, TZ: 'Europe/London' } };
    const at = (instant: string): void => clock.set(Date.parse(instant) - Date.now());
    at('2026-10-25T00:30:00Z');
    expect(await scene.send(['--limit', '3'], options)).toMatchObject({ status: 0 });
    at('2026-10-25T01:30:00Z');
    expect(await scene.send([], options)).toMatchObject({ status: 0 });
    const again = await scene.send([], options);
    expect(again.stderr).toContain('nothing was posted');
    expect(api.received()).toBe(6);
    const { stdout } = await scene.run(['runs', '--format', 'json'], options);
    expect((JSON.parse(stdout) as { runs: object[] }).runs).toMatchObject([
      { startedAt: expect.stringMatching(/^2026-10-25T00:30:/), totals: { accepted: 6 } },
    ]);
    expect(scene.violations()).toEqual([]);
  });

  it('however TZ is set, the bytes are the same', async () => {
    await using api = await startApi();
    using scene = sceneOf(api, 2, 'concurrency: 2');
    const zones = [
      'UTC',
      'Pacific/Apia',
      'No/Such_Zone',
      ...(FULL ? ['', 'UTC-25', ':/etc/passwd', 'Asia/Kathmandu'] : []),
    ];
    const at = ['--at', '2026-03-29T01:30:00Z', '--format', 'jsonl'];
    const bodies = new Set<string>();
    for (const TZ of zones) {
      const shown = await scene.run(['preview', 'campaign.yaml', '--env', 'test', ...at], { env: { TZ } });
      expect(shown, shown.stderr).toMatchObject({ status: 0 });
      bodies.add(shown.stdout);
    }
    expect(bodies.size).toBe(1);
  });
});

describe('suspended for longer than the time limit of a request (I1)', () => {
  it('answers that came meanwhile are read: no recipient is in doubt', async () => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, 12, 'concurrency: 4, timeout: 2s');
    const sender = scene.start();
    await until('four in flight', () => api.received() === 10);
    sender.kill('SIGSTOP');
    gate.open();
    await pause(3000);
    sender.kill('SIGCONT');
    expect(await sender.done).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
  });

  it.runIf(FULL)('without an answer they are in doubt, and the run goes on', async () => {
    await using api = await startApi((n) => (n > 6 && n <= 10 ? { after: new Promise(() => undefined) } : {}));
    using scene = sceneOf(api, 20, 'concurrency: 4, timeout: 1s');
    const sender = scene.start();
    await until('four in flight', () => api.received() === 10);
    sender.kill('SIGSTOP');
    await pause(1500);
    sender.kill('SIGCONT');
    // As many doubts as the concurrency halt a start; the next one goes on.
    expect(await sender.done).toMatchObject({ status: 5 });
    expect(await scene.send()).toMatchObject({ status: 4 });
    expect(scene.violations()).toEqual([]);
    expect(scene.endings().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(16);
  });
});
