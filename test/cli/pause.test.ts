import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import type { Report } from '../../src/model.ts';
import { startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { accepting, afterMs, answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const PAUSE = ['pause', '--env', 'test', '--reason', 'wrong prices', '--by', 'ann@ops-1'];
const RESUME = ['resume', '--env', 'test', '--by', 'bo@ops-2'];
const ROWS = 400;

let server: RawServer;
let seen: number[] = [];
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(async () => await server.close());
beforeEach(() => {
  seen = [];
  answers(afterMs(20, accepting()));
});

function answers(behaviour: RawServer['behaviour']): void {
  server.behaviour = (request) => {
    seen.push(Date.now());
    behaviour(request);
  };
}

function project(more = 'send: { concurrency: 4 }\n', rows = ROWS): TestProject {
  const list = Array.from({ length: rows }, (_, i) => `+4477009${String(i).padStart(5, '0')}\n`).join('');
  return createProject({
    'handbill.yaml': `environments:\n  test: { baseUrl: "${server.url.replace('/v2/messages', '')}", apiKey: { env: HANDBILL_TEST_KEY } }\n`,
    'campaigns/sale/campaign.yaml': `name: sale\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hello }\nrecipients: people.csv\n${more}`,
    'campaigns/sale/people.csv': `msisdn\n${list}`,
  });
}

const cli = (at: TestProject, ...args: string[]) => runHere(args, { cwd: at.root, env: KEY });
const SEND = ['send', 'sale', '--env', 'test', '--yes', '--format', 'json'];
const sendHere = (at: TestProject) => cli(at, ...SEND);
/** In a separate process: to be paused while it sends. */
const begin = (at: TestProject, ...args: string[]) => startCli([...SEND, ...args], { cwd: at.root, env: KEY });
const reportOf = async (at: TestProject): Promise<Report> =>
  JSON.parse((await cli(at, 'report', 'sale', '--format', 'json')).stdout) as Report;

describe('a send that is going on (A6)', () => {
  it('halts within a second, and is continued after the pause: each recipient once', async () => {
    using at = project();
    // No more answers until it is paused, however long that takes on a busy machine.
    const gate = Promise.withResolvers<void>();
    const accept = afterMs(20, accepting());
    answers((request) => void (seen.length > 20 ? gate.promise : Promise.resolve()).then(() => accept(request)));
    const sending = begin(at);
    await until('it sends', () => seen.length > 20);
    const paused = await cli(at, ...PAUSE);
    gate.resolve();
    expect(paused.stdout).toContain('test is paused. Running sends halt within a second');
    const { status, stdout } = await sending.done;
    expect(status).toBe(5);
    // One a turn of 20 ms from each of its connections, until it looks whether it is paused.
    expect(seen.length).toBeLessThan(ROWS);
    const report = JSON.parse(stdout) as Report;
    expect(report.halt?.rule).toBe('paused');
    expect(report.halt?.message).toMatch(/^test has been paused since .* UTC by ann@ops-1: wrong prices\.$/);
    expect(report.halt?.next).toContain('handbill resume --env test');
    expect(report.totals.pending).toBe(ROWS - seen.length);
    expect(report.totals.accepted).toBe(seen.length);
    const shown = await reportOf(at);
    expect(shown.paused).toMatchObject({ environment: 'test', campaign: null, reason: 'wrong prices' });
    expect((await cli(at, 'report', 'sale')).stdout).toContain('test has been paused since');
    expect((await cli(at, 'runs')).stdout).toContain('by ann@ops-1: wrong prices');
    const before = seen.length;
    const again = await sendHere(at);
    expect([again.status, seen.length]).toEqual([5, before]);
    expect(again.stderr).toContain('error[paused]');
    expect((await reportOf(at)).state).toBe('halted');
    expect((await cli(at, ...RESUME)).stdout).toContain('test is resumed.');
    expect((await sendHere(at)).status).toBe(0);
    expect(seen.length).toBe(ROWS);
    expect((await reportOf(at)).paused).toBeUndefined();
  });

  test.each([
    ['for Retry-After', 'send: { concurrency: 1 }\n', answer(429, '{}', { 'retry-after': '600' }), []],
    ['for its turn', 'send: { rate: 1/min, concurrency: 1 }\n', accepting(), []],
    ['at a gate of the canary', 'send: { canary: { steps: [1], pause: 30m } }\n', accepting(), ['--wait']],
  ])('halts within a second also while it waits %s', async (_, more, behaviour, args) => {
    using at = project(more, 3);
    answers(behaviour);
    const sending = begin(at, ...args);
    await until('it waits', () => seen.length === 1);
    await sleep(700);
    await cli(at, ...PAUSE);
    // What it waits for takes a minute, or longer than this test may.
    const ended = await Promise.race([sending.done, sleep(45_000, null)]);
    sending.kill('SIGKILL');
    expect(ended?.status).toBe(5);
    expect([(JSON.parse(ended?.stdout ?? '') as Report).halt?.rule, seen.length]).toEqual(['paused', 1]);
  });

  it('halts while it waits for a window', async () => {
    const opens = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(11, 16);
    const closes = new Date(Date.now() + 4 * 3_600_000).toISOString().slice(11, 16);
    using at = project(`send: { window: { from: "${opens}", to: "${closes}", timeZone: UTC } }\n`, 2);
    const sending = begin(at, '--wait');
    await until('it waits', () => sending.stderr().includes('ait'));
    await cli(at, ...PAUSE);
    const { status, stdout } = await sending.done;
    expect([status, (JSON.parse(stdout) as Report).halt?.rule, seen.length]).toEqual([5, 'paused', 0]);
  });
});

it('a first start while it is paused leaves no trace, and neither does a test', async () => {
  using at = project(undefined, 2);
  await cli(at, ...PAUSE);
  expect((await sendHere(at)).status).toBe(5);
  const tested = await cli(at, 'send', 'sale', '--env', 'test', '--yes', '--test-to', '+447700900001');
  expect([tested.status, seen.length]).toEqual([5, 0]);
  expect(tested.stderr).toContain('error[paused]: test has been paused since');
  expect((await cli(at, 'runs')).stdout).toContain('No run yet.');
});

it('preview, plan and doctor say that nothing would be sent', async () => {
  using at = project(undefined, 2);
  await cli(at, ...PAUSE, '--campaign', 'sale');
  for (const command of ['preview', 'plan']) {
    const { status, stderr } = await cli(at, command, 'sale', '--env', 'test');
    expect([command, status]).toEqual([command, 0]);
    expect(stderr).toContain('warning[paused]: Nothing is sent at the moment. sale in test has been paused since');
  }
  expect((await cli(at, 'preview', 'sale')).stderr).not.toContain('paused');
  expect((await cli(at, 'doctor')).stdout).toMatch(/pause .*sale in test has been paused since/);
});

describe('the commands', () => {
  it('say what was so before, and change nothing', async () => {
    using at = project(undefined, 1);
    expect((await cli(at, ...RESUME)).stdout).toContain('Nothing changed: test was not paused.');
    await cli(at, ...PAUSE);
    const again = await cli(at, 'pause', '--env', 'test', '--reason', 'other', '--by', 'bo');
    expect([again.status, again.stdout.split('\n')[0]]).toEqual([
      0,
      expect.stringMatching(/^Nothing changed: test has been paused since .* by ann@ops-1: wrong prices\.$/),
    ]);
    const one = await cli(at, ...RESUME, '--campaign', 'sale');
    expect(one.stdout).toContain('Nothing changed: sale in test was not paused.');
    expect(one.stdout).toMatch(/Still paused: test has been paused since .* by ann@ops-1/);
  });

  it.each([
    [['--env', 'tes'], 'There is no environment "tes".', 'Did you mean "test"?'],
    [['--env', 'test', '--campaign', 'sal'], '"sal"', 'Did you mean "sale"?'],
    [['--env', 'test', '--reason', ' '], 'The reason is empty', ''],
  ])('%j is refused', async (args, message, hint) => {
    using at = project(undefined, 1);
    const { status, stderr } = await cli(at, 'pause', '--reason', 'x', ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toContain(hint);
  });

  it('a campaign that is wrong elsewhere can be paused', async () => {
    using at = project('no such key: 1\n', 1);
    expect((await cli(at, ...PAUSE, '--campaign', 'sale')).stdout).toContain('sale in test is paused.');
  });
});

it('due leaves it alone and uses nothing up: it is sent after the pause', async () => {
  using at = project('schedule: { cron: "* * * * *", timeZone: UTC, missed: catch-up }\n', 2);
  await cli(at, ...PAUSE);
  const due = () => cli(at, 'due', '--env', 'test', '--yes', '--format', 'json');
  const paused = await due();
  const [item] = (JSON.parse(paused.stdout) as { campaigns: { action: string; why: string }[] }).campaigns;
  expect([paused.status, item?.action, item?.why, seen.length]).toEqual([0, 'leave', 'paused', 0]);
  expect((await cli(at, 'due', '--env', 'test', '--yes')).stdout).toMatch(/not sent, because it is paused/);
  expect((await cli(at, 'due', '--env', 'test', '--yes', '--quiet')).stdout).toBe('');
  await cli(at, ...RESUME);
  expect((await due()).status).toBe(0);
  expect(seen.length).toBe(2);
});

it('due continues a run that a pause halted', async () => {
  using at = project(
    'send: { concurrency: 1, rate: 10/s }\nschedule: { cron: "* * * * *", timeZone: UTC, missed: catch-up }\n',
    30,
  );
  const args = ['due', '--env', 'test', '--yes', '--format', 'json'];
  const sending = startCli(args, { cwd: at.root, env: KEY });
  await until('it sends', () => seen.length > 3);
  await cli(at, ...PAUSE);
  expect((await sending.done).status).toBe(5);
  await cli(at, ...RESUME);
  const file = at.path('campaigns/sale/campaign.yaml');
  writeFileSync(file, readFileSync(file, 'utf8'));
  const { status } = await cli(at, ...args);
  expect([status, seen.length >= 30]).toEqual([0, true]);
});
