import { lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli, startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject } from '../helpers/project.ts';
import { accepting, answer, startRawServer } from '../helpers/raw-server.ts';
import { filesWith, KEY, NUMBERS, TEXT } from './campaign-files.ts';
import { eventsIn, recordsIn } from './log-schema.ts';

const ENV = { HANDBILL_API_KEY: KEY, HANDBILL_LOG: 'run.log' };
const PRODUCTION = ['--env', 'production', '--yes'];

describe('send', () => {
  it('writes a line for each happening, in order, and no attempt unless it is asked for', async () => {
    using project = createProject(filesWith());
    const sent = await runHere(['send', 'hello'], { cwd: project.root, env: ENV });
    const log = readFileSync(project.path('run.log'), 'utf8');
    expect(sent.status).toBe(0);
    expect(eventsIn(log)).toEqual(['command-started', 'run-started', 'run-ended', 'command-ended']);
    const [started, run, ended, last] = recordsIn(log);
    expect(started).toMatchObject({ command: 'send', campaign: null, level: 'info' });
    expect(run).toMatchObject({ campaign: 'hello', environment: 'sandbox', occurrence: 'once', toDo: 2 });
    expect(ended).toMatchObject({
      run: run?.['run'],
      state: 'finished',
      posted: 2,
      totals: { accepted: 2, skipped: 1 },
    });
    expect(last).toMatchObject({ exitStatus: 0 });
    expect(statSync(project.path('run.log')).mode & 0o777).toBe(0o600);
  });

  it('appends, and says so when there was nothing to do', async () => {
    using project = createProject(filesWith());
    for (let i = 0; i < 2; i++) await runHere(['send', 'hello'], { cwd: project.root, env: ENV });
    const events = eventsIn(readFileSync(project.path('run.log'), 'utf8'));
    expect(events.slice(4)).toEqual(['command-started', 'run-ended', 'command-ended']);
  });

  it('tells every attempt with --log-level debug, with addresses masked, without key and text', async () => {
    const api = await startRawServer({ behaviour: accepting() });
    try {
      using project = createProject(filesWith(api.url));
      const args = ['send', 'hello', ...PRODUCTION, '--log', 'debug.log', '--log-level', 'debug'];
      await runHere(args, { cwd: project.root, env: ENV });
      const log = readFileSync(project.path('debug.log'), 'utf8');
      const attempts = recordsIn(log).filter(({ event }) => event === 'attempt');
      expect(attempts.map(({ row, to, outcome, httpStatus }) => [row, to, outcome, httpStatus])).toEqual([
        [0, '+44••••••0001', 'accepted', 202],
        [1, '+44••••••0002', 'accepted', 202],
      ]);
      expect(log).not.toMatch(NUMBERS);
      expect(log).not.toContain(KEY);
      expect(log).not.toContain(TEXT);
    } finally {
      await api.close();
    }
  });

  it('says what halted it, and never what the API said of the key', async () => {
    const api = await startRawServer({ behaviour: answer(401, `{"message":"no such key: ${KEY}"}`) });
    try {
      using project = createProject(filesWith(api.url));
      const sent = await runHere(['send', 'hello', ...PRODUCTION], { cwd: project.root, env: ENV });
      const log = readFileSync(project.path('run.log'), 'utf8');
      expect(sent.status).toBe(5);
      const [, , halted, ended, last] = recordsIn(log);
      expect(halted).toMatchObject({ event: 'run-halted', level: 'error', rule: 'not-authorised' });
      expect(ended).toMatchObject({ event: 'run-ended', exitStatus: 5, state: 'halted' });
      expect(last).toMatchObject({ event: 'command-ended', exitStatus: 5 });
      expect(log).not.toContain(KEY);
    } finally {
      await api.close();
    }
  });

  it('has the diagnostics that were printed, without the number that is wrong', async () => {
    using project = createProject(filesWith());
    const sent = await runHere(['send', 'bad'], { cwd: project.root, env: ENV });
    const log = readFileSync(project.path('run.log'), 'utf8');
    const [, found, sum, last] = recordsIn(log);
    expect(sent.status).toBe(2);
    expect(sum).toMatchObject({ event: 'diagnostic', code: 'invalid-rows' });
    expect(found).toMatchObject({ event: 'diagnostic', level: 'error', code: 'invalid-address', line: 2 });
    expect(last).toMatchObject({ event: 'command-ended', exitStatus: 2 });
    expect(log).not.toMatch(NUMBERS);
  });

  it('goes to stderr with -, and leaves stdout to the results', async () => {
    using project = createProject(filesWith());
    const args = ['send', 'hello', '--log', '-', '--format', 'json'];
    const { stdout, stderr } = await runHere(args, { cwd: project.root });
    expect(eventsIn(stderr)).toContain('run-ended');
    expect(JSON.parse(stdout)).toMatchObject({ totals: { accepted: 2 } });
  });
});

describe('a log that cannot be had', () => {
  it('is said once, and the campaign is sent; a link keeps its target as it was', async () => {
    using project = createProject(filesWith());
    writeFileSync(project.path('precious'), 'kept');
    symlinkSync(project.path('precious'), project.path('run.log'));
    const { status, stderr } = await runHere(['send', 'hello'], { cwd: project.root, env: ENV });
    expect(status).toBe(0);
    expect(stderr).toBe('warning: The log run.log cannot be opened: it is a link. There is none.\n');
    expect(readFileSync(project.path('precious'), 'utf8')).toBe('kept');
    expect(lstatSync(project.path('run.log')).isSymbolicLink()).toBe(true);
  });

  it('is not said with --quiet where all went well', async () => {
    using project = createProject(filesWith());
    const args = ['send', 'hello', '--quiet', '--log', 'none/run.log'];
    expect(await runHere(args, { cwd: project.root })).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const bad = await runHere(['send', 'bad', '--quiet', '--log', 'none/run.log'], { cwd: project.root });
    expect(bad.stderr).toContain('its folder does not exist');
  });

  it('on stderr without a reader, harms nothing', async () => {
    using project = createProject(filesWith());
    const args = ['send', 'hello', '--log', '-', '--format', 'json'];
    const via = ['bash', '-c', '"$@" 2> >(exit 0); exit $?', 'closed'];
    const { status, stdout } = await runCli(args, { cwd: project.root, via });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ totals: { accepted: 2 } });
  });
});

describe('other commands', () => {
  it('due says what it did about each campaign', async () => {
    using project = createProject(filesWith());
    project.write(
      'campaigns/hello/campaign.yaml',
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi" }\nrecipients: people.csv\nschedule: { cron: "* * * * *", timeZone: UTC, missed: catch-up }\n',
    );
    const { status } = await runHere(['due', 'hello'], { cwd: project.root, env: ENV });
    const records = recordsIn(readFileSync(project.path('run.log'), 'utf8'));
    expect(status).toBe(0);
    expect(records.map(({ event }) => event)).toEqual([
      'command-started',
      ...['run-started', 'run-ended', 'campaign-due'],
      'command-ended',
    ]);
    expect(records[3]).toMatchObject({ campaign: 'hello', action: 'send', exitStatus: 0 });
  });

  it('reconcile and purge say how much', async () => {
    using project = createProject(filesWith());
    await runHere(['send', 'hello'], { cwd: project.root });
    project.write('reports.jsonl', '{"messageId":"x-1","status":"delivered","timestamp":"2026-11-21T09:00:00Z"}\n');
    await runHere(['listen', '--from', 'reports.jsonl'], { cwd: project.root, env: ENV });
    await runHere(['purge', '--older-than', '1d', '--dry-run'], { cwd: project.root, env: ENV });
    const records = recordsIn(readFileSync(project.path('run.log'), 'utf8'));
    expect(records.filter(({ event }) => event === 'reconciled')).toMatchObject([{ reports: 1, dryRun: false }]);
    expect(records.filter(({ event }) => event === 'purged')).toMatchObject([{ runs: 0, dryRun: true }]);
  });

  it('listen tells what was accepted and what was refused, and never from which person', async () => {
    using project = createProject(filesWith());
    project.write(
      'handbill.yaml',
      'environments: { sandbox: { webhook: { scheme: bearer, secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n',
    );
    const secret = 'a-secret-that-is-long-enough-0123456789';
    const env = { ...ENV, HANDBILL_WEBHOOK_SECRET: secret };
    const listening = startCli(['listen', '--port', '0'], { cwd: project.root, env });
    try {
      await until('it listens', () => listening.stdout().includes('Receiving on'));
      const url = /http:\S+/.exec(listening.stdout())?.[0] ?? '';
      const post = (token: string) =>
        fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ from: '+447700900001', to: '80800', text: 'STOP', timestamp: '2026-11-21T09:00:00Z' }),
        });
      expect((await post('forged')).status).toBe(401);
      expect((await post(secret)).status).toBe(200);
    } finally {
      listening.kill('SIGTERM');
    }
    expect((await listening.done).status).toBe(143);
    const log = readFileSync(project.path('run.log'), 'utf8');
    const records = recordsIn(log);
    const of = (name: string) => records.filter(({ event }) => event === name);
    expect(of('webhook-listening')).toHaveLength(1);
    expect(of('webhook-refused')).toMatchObject([{ level: 'warn', httpStatus: 401, count: 1 }]);
    expect(of('webhook-accepted')).toMatchObject([{ replies: 1, suppressed: 1 }]);
    expect(records.at(-1)).toMatchObject({ event: 'command-ended', exitStatus: 143 });
    expect(log).not.toMatch(NUMBERS);
    expect(log).not.toContain('STOP');
    expect(log).not.toContain(secret);
  });
});
