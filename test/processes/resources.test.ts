import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import type { CliOptions } from '../helpers/cli.ts';
import { until } from '../helpers/cli.ts';
import { createScene, type Scene } from '../oracle/scene.ts';
import { type Api, createGate, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const FULL = process.env['HANDBILL_FULL'] === '1';

function sceneOf(api: Api, rows: number, send: string): Scene {
  return createScene({ rows, baseUrl: api.url, receipts: api.receipts, campaign: `send: { ${send} }` });
}

/** Comes to an unexpected end on SIGUSR2. */
function dying(how: string, nodeOptions = ''): Partial<CliOptions> {
  const preload = join(import.meta.dirname, 'preload', 'die.ts');
  return { env: { NODE_OPTIONS: `--import ${preload} ${nodeOptions}`.trim(), HOW: how } };
}

async function stateOf(scene: Scene): Promise<unknown> {
  const { stdout } = await scene.look(['report', '--format', 'json']);
  return (JSON.parse(stdout) as { state: unknown }).state;
}

describe('handbill itself fails (I5)', () => {
  const ways: (readonly [label: string, how: string, options: string, status: number | null])[] = [
    ['an error that is not caught', 'throw', '', 1],
    ['no memory left', 'memory', '--max-old-space-size=64', null],
  ];
  if (FULL) ways.push(['a promise that is not awaited', 'reject', '', 1]);
  it.each(ways)('%s: as after kill -9', async (_label, how, options, status) => {
    await using api = await startApi((n) => (n > 6 && n <= 10 ? { after: new Promise(() => undefined) } : {}));
    using scene = sceneOf(api, 20, 'concurrency: 4, timeout: 60s');
    const sender = scene.start([], dying(how, options));
    await until('four in flight', () => api.received() === 10);
    sender.kill('SIGUSR2');
    const ended = await sender.done;
    expect(ended.status).toBe(status);
    if (status === 1) {
      expect(ended.stderr).toContain('handbill: a bug: planted');
      expect(ended.stderr).not.toMatch(/\n\s+at /);
    }
    expect(await stateOf(scene)).toBe('interrupted');
    expect(scene.violations({ mostCrashes: 4 })).toEqual([]);
    const next = await scene.goOn();
    expect(next, next.stderr).toMatchObject({ status: 4 });
    expect(next.stderr).toContain('4 recipients were in flight');
    expect(scene.violations({ mostCrashes: 4 })).toEqual([]);
    expect(scene.endings().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(16);
  });

  it('a bug that the run notices: what is in flight is finished, all of it is recorded, and the start has ended', async () => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, 40, 'concurrency: 4');
    const sender = scene.start([], dying('bug'));
    await until('four in flight', () => api.received() === 10);
    sender.kill('SIGUSR2');
    // The signal is looked at before the answers come.
    await new Promise((resolve) => setTimeout(resolve, 200));
    gate.open();
    const ended = await sender.done;
    expect(ended, ended.stderr).toMatchObject({ status: 1 });
    expect(ended.stderr).toContain('handbill: a bug: planted');
    expect(await stateOf(scene)).toBe('partial');
    expect(scene.violations({ mostCrashes: 0 })).toEqual([]);
    expect(await scene.goOn()).toMatchObject({ status: 0 });
    expect(scene.violations({ mostCrashes: 0 })).toEqual([]);
  });
});

/** What may come of a start that lacks something: a documented end, or Node.js could not even begin. */
const DOCUMENTED = [0, 2, 3, 4, 5, 7];

async function startUnder(limit: string): Promise<string> {
  await using api = await startApi();
  using scene = sceneOf(api, 40, 'concurrency: 16');
  const lacking = await scene.send([], { via: ['bash', '-c', `ulimit ${limit}; exec "$@"`, 'limits'] });
  if (!DOCUMENTED.includes(lacking.status ?? -1)) {
    // Node.js gave up before handbill could say anything.
    expect(lacking.stderr).not.toContain('handbill: a bug');
    expect(api.received()).toBe(0);
    expect(scene.endings()).toEqual([]);
  } else {
    expect(lacking.stderr).not.toMatch(/\n\s+at /);
    if (scene.endings().length > 0) expect(scene.violations()).toEqual([]);
    else expect(api.received()).toBe(0);
  }
  const enough = await scene.goOn();
  expect(enough, enough.stderr).toMatchObject({ status: 0 });
  expect(scene.violations()).toEqual([]);
  expect(scene.endings().every(({ outcome }) => outcome === 'accepted')).toBe(true);
  return `${lacking.status ?? lacking.signal} ${lacking.stderr}`;
}

describe('few file descriptors (B3)', () => {
  const limits = FULL ? Array.from({ length: 29 }, (_, at) => at + 8) : [22, 28];
  it.each(limits)('%i: a documented end, no recipient twice, and running again sends to all', async (limit) => {
    await startUnder(`-n ${limit}`);
  });
});

it.each([32, 40])(
  '%i file descriptors, concurrency 100: all recipients are sent to and reported, with a warning (B3)',
  async (limit) => {
    await using api = await startApi();
    using scene = sceneOf(api, 200, 'concurrency: 100');
    const sent = await scene.send([], { via: ['bash', '-c', `ulimit -n ${limit}; exec "$@"`, 'limits'] });
    expect(sent, sent.stderr).toMatchObject({ status: 0 });
    expect(sent.stdout).toContain('200');
    expect(sent.stderr.match(/warning\[connection-limit\]: This process may open only/g)).toHaveLength(1);
    expect(scene.violations()).toEqual([]);
  },
);

describe.runIf(FULL)('little memory (I5)', () => {
  it.each([500, 1000, 2000, 20_000, 40_000])('%i MB of address space', async (megabytes) => {
    await startUnder(`-v ${megabytes * 1024}`);
  });

  it.each([10, 16, 18, 20, 22, 24, 32])('%i MB for JavaScript, 4,000 recipients', async (megabytes) => {
    await using api = await startApi();
    using scene = sceneOf(api, 4000, 'concurrency: 16');
    const lacking = await scene.send([], { env: { NODE_OPTIONS: `--max-old-space-size=${megabytes}` } });
    expect([0, null]).toContain(lacking.status);
    if (scene.endings().length > 0) expect(scene.violations({ mostCrashes: 16 })).toEqual([]);
    else expect(api.received()).toBe(0);
    expect(await scene.send()).toMatchObject({ status: expect.toBeOneOf([0, 4]) });
    expect(scene.violations({ mostCrashes: 16 })).toEqual([]);
  });
});
