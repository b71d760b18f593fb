import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import FILE from '../../src/telemetry/metrics.json' with { type: 'json' };
import { type CampaignFacts, metricsText } from '../../src/telemetry/metrics.ts';
import { startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject } from '../helpers/project.ts';
import { answer, startRawServer } from '../helpers/raw-server.ts';
import { filesWith, KEY } from './campaign-files.ts';
import { figureOf, readMetrics } from './prometheus-text.ts';

const ENV = { HANDBILL_API_KEY: KEY, HANDBILL_METRICS_FILE: 'out/hello.prom' };
const PRODUCTION = ['--env', 'production', '--yes'];

function project(url?: string) {
  return createProject({ ...filesWith(url), 'out/.keep': '' });
}

function metricsIn(folder: ReturnType<typeof project>) {
  const text = readFileSync(folder.path('out/hello.prom'), 'utf8');
  return { text, all: readMetrics(text) };
}

describe('the text', () => {
  const NOTHING: CampaignFacts = {
    campaign: 'hello',
    environment: 'sandbox',
    startedMs: null,
    endedMs: null,
    exitStatus: 2,
    report: null,
  };

  it.each([['a quote "'], ['a backslash \\'], ['a newline \n'], ['all of them \\"\n\\n'], ['héllo – ☎']])(
    'escapes a label with %j',
    async (campaign) => {
      const [series] = readMetrics(await metricsText([{ ...NOTHING, campaign }], null));
      expect(series?.labels).toEqual({ campaign, environment: 'sandbox' });
    },
  );

  it('has each series once and each metric in one piece, for several campaigns', async () => {
    const facts = ['a', 'b', 'c'].map((campaign) => ({ ...NOTHING, campaign, startedMs: 1_500, endedMs: 4_000 }));
    const all = readMetrics(await metricsText(facts, null));
    expect(all.filter(({ name }) => name === 'handbill_last_duration_seconds').map(({ value }) => value)).toEqual([
      2.5, 2.5, 2.5,
    ]);
  });

  test('the reader is strict', () => {
    const head = '# HELP m x\n# TYPE m gauge\n';
    expect(readMetrics(`${head}m{a="b"} 1\n`)).toHaveLength(1);
    for (const bad of ['m{a="b"} 1', 'm 1\nm 2\n', 'm{a="\\x"} 1\n', 'm{a="b} 1\n', 'n 1\n', 'm{a="b"} one\n']) {
      expect(() => readMetrics(head + bad), bad).toThrow();
    }
  });
});

describe('send writes the file', () => {
  it('whole, for others to read, with the outcomes of all recipients', async () => {
    using folder = project();
    const sinceMs = Date.now();
    expect((await runHere(['send', 'hello'], { cwd: folder.root, env: ENV })).status).toBe(0);
    const { all, text } = metricsIn(folder);
    expect(figureOf(all, 'handbill_recipients', { outcome: 'accepted' })).toBe(2);
    expect(figureOf(all, 'handbill_recipients', { outcome: 'in-doubt' })).toBe(0);
    expect(figureOf(all, 'handbill_recipients_by_reason', { outcome: 'skipped', reason: 'duplicate' })).toBe(1);
    expect(figureOf(all, 'handbill_last_exit_status', { campaign: 'hello', environment: 'sandbox' })).toBe(0);
    expect(figureOf(all, 'handbill_run_state', { state: 'finished' })).toBe(1);
    const finished = figureOf(all, 'handbill_last_finish_timestamp_seconds') ?? 0;
    expect(finished * 1_000).toBeGreaterThanOrEqual(sinceMs);
    expect(finished * 1_000).toBeLessThanOrEqual(Date.now());
    expect(text).not.toContain('occurrence');
    expect(statSync(folder.path('out/hello.prom')).mode & 0o444).toBe(0o444);
    expect(readdirSync(folder.path('out')).sort()).toEqual(['.keep', 'hello.prom']);
  });

  it('also when a stop rule halts it', async () => {
    const api = await startRawServer({ behaviour: answer(401, '{}') });
    try {
      using folder = project(api.url);
      await runHere(['send', 'hello', ...PRODUCTION], { cwd: folder.root, env: ENV });
      const { all, text } = metricsIn(folder);
      expect(figureOf(all, 'handbill_last_exit_status', { environment: 'production' })).toBe(5);
      expect(figureOf(all, 'handbill_run_state', { state: 'halted' })).toBe(1);
      expect(figureOf(all, 'handbill_recipients', { outcome: 'pending' })).toBe(2);
      expect(text).not.toContain(KEY);
    } finally {
      await api.close();
    }
  });

  it.each([
    ['the key is missing', ['hello', '--env', 'production', '--yes'], { HANDBILL_API_KEY: '' }, 'hello'],
    ['the list is bad', ['campaigns/bad/campaign.yaml'], {}, 'bad'],
    ['there is no such campaign', ['campaigns/gone/'], {}, 'gone'],
  ])('also when it is refused: %s', async (_label, args, env, campaign) => {
    using folder = project();
    const { status } = await runHere(['send', ...args], { cwd: folder.root, env: { ...ENV, ...env } });
    const { all } = metricsIn(folder);
    expect(status).toBe(2);
    expect(figureOf(all, 'handbill_last_exit_status', { campaign })).toBe(2);
    expect(figureOf(all, 'handbill_last_finish_timestamp_seconds', { campaign })).toBeGreaterThan(0);
    expect(figureOf(all, 'handbill_recipients', { outcome: 'accepted' })).toBeUndefined();
  });

  it('refused, with what the run had come to before', async () => {
    using folder = project();
    await runHere(['send', 'hello', '--limit', '1'], { cwd: folder.root, env: ENV });
    folder.write('campaigns/hello/people.csv', 'msisdn,first\n+447700900001,Ann\n+447700900003,Cy\n');
    const { status } = await runHere(['send', 'hello'], { cwd: folder.root, env: ENV });
    const { all } = metricsIn(folder);
    expect([status, figureOf(all, 'handbill_last_exit_status')]).toEqual([2, 2]);
    expect(figureOf(all, 'handbill_recipients', { outcome: 'accepted' })).toBe(1);
  });

  it('also when it is interrupted', async () => {
    const api = await startRawServer({ behaviour: () => undefined });
    try {
      using folder = project(api.url);
      const sending = startCli(['send', 'hello', ...PRODUCTION], { cwd: folder.root, env: ENV });
      await until('a request is under way', () => api.requests.length > 0);
      sending.kill('SIGTERM');
      await until('it has heard it', () => sending.stderr().includes('once more'));
      sending.kill('SIGTERM');
      expect((await sending.done).status).toBe(143);
      const { all } = metricsIn(folder);
      expect(figureOf(all, 'handbill_last_exit_status')).toBe(143);
      expect(figureOf(all, 'handbill_recipients', { outcome: 'in-doubt' })).toBe(1);
    } finally {
      await api.close();
    }
  });

  it('or says why not, and the campaign is sent all the same', async () => {
    using folder = project();
    writeFileSync(folder.path('precious'), 'kept');
    symlinkSync(folder.path('precious'), folder.path('out/hello.prom'));
    const { status, stderr, stdout } = await runHere(['send', 'hello'], { cwd: folder.root, env: ENV });
    expect(status).toBe(0);
    expect(stdout).toContain('2 of 3 sent');
    expect(stderr).toMatch(/^warning: The metrics file is not written: .*hello\.prom is a link/);
    expect(readFileSync(folder.path('precious'), 'utf8')).toBe('kept');
  });
});

describe('due', () => {
  const scheduled = (name: string): string =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi" }\nrecipients: people.csv\nschedule: { cron: "0 0 * * *", timeZone: UTC, missed: catch-up }\n`;

  it('has every campaign that it looks at, as it was last, and itself', async () => {
    using folder = project();
    folder.write('campaigns/hello/campaign.yaml', scheduled('hello'));
    folder.write('campaigns/bad/campaign.yaml', scheduled('bad'));
    const midnight = '2026-11-21T00:00:00Z';
    await runHere(['send', 'hello', '--occurrence', midnight, '--allow', 'too-late'], { cwd: folder.root });
    const { status } = await runHere(['due', '--dry-run', '--at', '2026-11-21T00:10:00Z'], {
      cwd: folder.root,
      env: ENV,
    });
    const { all } = metricsIn(folder);
    // A dry run refuses the row of `bad` as a call does.
    expect(status).toBe(2);
    expect(figureOf(all, 'handbill_recipients', { campaign: 'hello', outcome: 'accepted' })).toBe(2);
    expect(figureOf(all, 'handbill_command_exit_status', { command: 'due', environment: 'sandbox' })).toBe(2);
  });
});

test('report writes it again, with delivery reports and replies since', async () => {
  using folder = project();
  await runHere(['send', 'hello'], { cwd: folder.root });
  const rows = await runHere(['report', '--format', 'jsonl'], { cwd: folder.root });
  const { messageId } = JSON.parse(rows.stdout.split('\n')[0] ?? '') as { readonly messageId: string };
  folder.write('reports.jsonl', `${JSON.stringify({ messageId, status: 'delivered', timestamp: new Date() })}\n`);
  await runHere(['listen', '--from', 'reports.jsonl', '--env', 'sandbox'], { cwd: folder.root });
  await runHere(['report'], { cwd: folder.root, env: ENV });
  const { all } = metricsIn(folder);
  expect(figureOf(all, 'handbill_deliveries', { state: 'delivered' })).toBe(1);
  expect(figureOf(all, 'handbill_last_exit_status', { campaign: 'hello' })).toBe(0);
});

test('no metric has a name that counts occurrences', () => {
  for (const name of Object.keys(FILE.runs)) expect(name).toMatch(/^handbill_[a-z_]+$/);
});
