import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, it, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { HandbillError } from '../../src/errors.ts';
import { type CallerOptions, scheduleCallers } from '../../src/operations/schedule.ts';
import { everyMinutes } from '../../src/schedule/callers.ts';
import { handbillHere } from '../cli/in-process.ts';
import { CLI, COMPILED, runCli } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { clock } from './clocks.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');
const PROGRAM = [NODE, CLI];
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-callers-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A name with everything that shells, cron, systemd and YAML read something into. */
const ODD = `50% "off" it's $HOME \`x\` \\ #1; & é`;

/** A project with one campaign that is due each minute, in a folder of that name. */
function projectIn(name: string, project = DEFAULT_PROJECT, cron = '* * * * *'): string {
  const root = join(folder, name);
  mkdirSync(join(root, '.git'), { recursive: true });
  mkdirSync(join(root, 'campaigns', 'hello'), { recursive: true });
  writeFileSync(join(root, 'handbill.yaml'), project);
  writeFileSync(
    join(root, 'campaigns', 'hello', 'campaign.yaml'),
    `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: [{ msisdn: "+447700900001" }]
send: { timeout: 45s }\nschedule: { cron: "${cron}", missed: catch-up }\n`,
  );
  return root;
}

const DEFAULT_PROJECT =
  'environments:\n  production: { baseUrl: "https://api.example.com", apiKey: { env: HANDBILL_API_KEY } }\n';

const APPROVED_PROJECT = `${DEFAULT_PROJECT.replace(' }\n', ', approvers: [')}
    { name: ana, key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMgUk+198d4pSNKnVYX5eVpJzSrWfdrua2g76QDO8jPi" },
    { name: ben, key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBzZXsSTYFRJSbmukSnvqSl3VYg6xoUAhC/HM6CLML6z" }] }
`;

function options(cwd: string, more: Partial<CallerOptions> = {}): CallerOptions {
  return { cwd, now: () => Date.UTC(2026, 10, 21), program: PROGRAM, user: 'campaigns', ...more };
}

async function only(kind: Parameters<typeof scheduleCallers>[0], given: CallerOptions): Promise<string> {
  const [file] = await scheduleCallers(kind, [], given);
  return file?.text ?? '';
}

/** Runs as cron does: in another folder, by /bin/sh, with next to nothing in the environment. */
function asCron(command: string): { status: number | null; stdout: string; stderr: string } {
  const args = ['-i', 'HOME=/', 'PATH=/usr/bin:/bin', `NODE_COMPILE_CACHE=${COMPILED}`, '/bin/sh', '-c', command];
  return spawnSync('/usr/bin/env', args, { cwd: '/', encoding: 'utf8' });
}

describe('crontab', () => {
  it.each([
    ['a plain folder', 'plain', []],
    ['an odd folder', ODD, []],
    ['a named campaign', 'named', ['campaigns/hello']],
  ])('runs as it is printed: %s', async (_label, name, paths) => {
    const root = projectIn(name);
    const [file] = await scheduleCallers('crontab', paths, options(root, { ledger: join(root, 'l%1.db') }));
    const line = file?.text.trimEnd().split('\n').at(-1) ?? '';
    const [, fields, command = ''] = /^((?:\S+ ){5})(.*)$/.exec(line) ?? [];
    expect(fields).toBe('* * * * * ');
    expect(command).toMatch(/ due .*--env production --yes --quiet --ledger /);
    expect(command).not.toMatch(/(?<!\\)%/);
    const ended = asCron(command.replaceAll('\\%', '%').replace(' --quiet', ' --dry-run'));
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toMatch(/^hello \(\S+Z\): would be sent to production\.\n$/);
    expect(asCron(command.replaceAll('\\%', '%').replace(' --yes', ' --dry-run'))).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('gets its key from a file that is named', async () => {
    const root = projectIn('env file');
    const envFile = join(root, 'the key.env');
    writeFileSync(envFile, 'HANDBILL_API_KEY=key-for-tests-only\n');
    expect(await only('crontab', options(root))).toContain('# cron does not know HANDBILL_API_KEY');
    const text = await only('crontab', options(root, { envFile: 'the key.env' }));
    expect(text).not.toContain('does not know');
    const command =
      text
        .trimEnd()
        .split('\n')
        .at(-1)
        ?.replace(/^(\S+ ){5}/, '') ?? '';
    expect(command).toContain(`'--env-file=${envFile}'`);
    expect(asCron(command.replace(' --quiet', ' --dry-run'))).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(['crontab', 'systemd'] as const)('%s: names no file for a key that .env of the project has', async (kind) => {
    const root = projectIn(`with ${kind}`);
    expect(await only(kind, options(root))).toContain('HANDBILL_API_KEY: write it into .env of the project, or name');
    writeFileSync(join(root, '.env'), 'HANDBILL_API_KEY=key-for-tests-only\n', { mode: 0o600 });
    expect(await only(kind, options(root))).not.toContain('HANDBILL_API_KEY');
    expect(await only('kubernetes', options(root, { image: 'campaigns:1' }))).toContain('HANDBILL_API_KEY');
  });

  it('names a file that is not on this machine: where it is called, it may be', async () => {
    const root = projectIn('env file elsewhere');
    const args = ['schedule', '--format', 'crontab', '--environment-file', '/nowhere/handbill.env'];
    expect(await runHere(args, { cwd: root })).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining("'--env-file=/nowhere/handbill.env'"),
    });
  });

  it('is refused for a folder that no line can hold', async () => {
    const root = projectIn('two\nlines');
    const error = await scheduleCallers('crontab', [], options(root)).catch((one: unknown) => one);
    expect(error instanceof HandbillError && error.message).toContain('cannot hold the path');
  });
});

describe('an option that a format has no use for is refused: a user would rely on it', () => {
  it.each([
    [['--image', 'x:1'], '--image is not for --format crontab', '--format kubernetes'],
    [['--runner', 'mine', '--folder', '/app'], '--folder is not for', '--runner is not for'],
    [['--at', '2026-11-21T09:00:00Z'], '--at is not for', '--format text'],
  ])('crontab %j', async (args, ...said) => {
    const root = projectIn('idle');
    const { status, out, err } = await handbillHere(root, ['schedule', '--format', 'crontab', ...args]);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    for (const words of said) expect(err).toContain(words);
  });

  it('and so is a file for the ledger of a CronJob, which lies on its volume', async () => {
    const root = projectIn('idle');
    const args = ['schedule', '--format', 'kubernetes', '--image', 'x:1', '--ledger'];
    const { status, err } = await handbillHere(root, [...args, '/data/ledger.db']);
    expect({ status, err }).toEqual({
      status: 2,
      err: expect.stringContaining('--ledger is not for --format kubernetes'),
    });
    expect(await handbillHere(root, [...args, 'postgres://db.example.com/x'])).toMatchObject({ status: 0 });
    const inEnvironment = { env: { HANDBILL_LEDGER: '/data/ledger.db' } };
    expect(await handbillHere(root, args.slice(0, -1), inEnvironment)).toMatchObject({ status: 0 });
  });
});

describe('systemd', () => {
  const analyse = existsSync('/usr/bin/systemd-analyze');

  it.each([
    ['a plain folder', 'plain unit'],
    ['an odd folder', `${ODD} unit`],
  ])('is a service and a timer that systemd takes: %s', async (_label, name) => {
    const root = projectIn(name);
    const given = options(root, { ledger: `${root}/l.db`, user: 'root', envFile: join(root, 'key.env') });
    const files = await scheduleCallers('systemd', [], given);
    expect(files.map((file) => file.name)).toEqual([
      'handbill-due-production.service',
      'handbill-due-production.timer',
    ]);
    const [service = '', timer = ''] = files.map(({ text }) => text);
    expect(service).toContain('Type=oneshot\n');
    expect(service).toContain('SuccessExitStatus=143\n');
    // Above `send.timeout`, so that a stop ends in good order.
    expect(service).toContain('TimeoutStopSec=55s\n');
    expect(timer).toContain('Persistent=true\n');
    expect(wordsOf(/^ExecStart=(.*)$/m.exec(service)?.[1] ?? '')).toEqual([
      ...PROGRAM,
      'due',
      '--env',
      'production',
      '--yes',
      '--quiet',
      '--ledger',
      `${root}/l.db`,
    ]);
    expect(/^WorkingDirectory=(.*)$/m.exec(service)?.[1]?.replaceAll('%%', '%')).toBe(root);
    if (!analyse) return;
    const units = mkdtempSync(join(folder, 'units-'));
    for (const file of files) writeFileSync(join(units, file.name), file.text);
    const checked = spawnSync('systemd-analyze', ['verify', ...files.map((file) => join(units, file.name))], {
      encoding: 'utf8',
    });
    // Other units of this machine are looked at too, and are none of ours.
    expect(checked.stderr.split('\n').filter((line) => line.includes('handbill-due'))).toEqual([]);
  });

  it.each([
    ['every minute', '* * * * *', '*-*-* *:*:00 UTC'],
    ['every five', '*/10 * * * *', '*-*-* *:00/5:00 UTC'],
  ])('the calendar is one: %s', async (label, cron, expected) => {
    const files = await scheduleCallers('systemd', [], options(projectIn(`calendar ${label}`, DEFAULT_PROJECT, cron)));
    const calendar = /^OnCalendar=(.*)$/m.exec(files[1]?.text ?? '')?.[1] ?? '';
    expect(calendar).toBe(expected);
    if (analyse) expect(execFileSync('systemd-analyze', ['calendar', calendar], { encoding: 'utf8' })).toContain('UTC');
  });

  it.each(['ends with space ', 'ends with \\'])('a folder that no unit can hold is refused: %j', async (name) => {
    const root = projectIn(name);
    const error = await scheduleCallers('systemd', [], options(root)).catch((one: unknown) => one);
    expect(error instanceof HandbillError && error.exit).toBe(2);
  });
});

describe('Kubernetes', () => {
  it('is a CronJob that never overlaps or repeats itself, and keeps its ledger on a volume', async () => {
    const text = await only('kubernetes', options(projectIn('pods'), { image: 'example/campaigns:1' }));
    const [claim, job] = parseAllDocuments(text).map((document) => document.toJS());
    expect(claim).toMatchObject({
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'handbill-due-production-ledger' },
    });
    expect(job.spec).toMatchObject({
      schedule: '* * * * *',
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 50,
      jobTemplate: { spec: { backoffLimit: 0 } },
    });
    const pod = job.spec.jobTemplate.spec.template.spec;
    expect(pod).toMatchObject({ restartPolicy: 'Never', terminationGracePeriodSeconds: 55 });
    const [container] = pod.containers;
    const [mount] = container.volumeMounts;
    expect(container.args.join(' ')).toBe(
      'due --env production --yes --quiet --ledger /var/lib/handbill/ledger/ledger.db',
    );
    expect(container.args.at(-1).startsWith(`${mount.mountPath}/`)).toBe(true);
    expect(pod.volumes).toEqual([
      { name: mount.name, persistentVolumeClaim: { claimName: 'handbill-due-production-ledger' } },
    ]);
    expect(container.env).toEqual([
      { name: 'HANDBILL_API_KEY', valueFrom: { secretKeyRef: { name: 'handbill', key: 'HANDBILL_API_KEY' } } },
    ]);
  });

  it('needs no volume for a ledger on a server, whose address stays a secret', async () => {
    const given = options(projectIn('server'), { image: 'x', ledger: 'postgres://u:hunter2@db/h' });
    const text = await only('kubernetes', given);
    expect(text).not.toContain('hunter2');
    const documents = parseAllDocuments(text).map((document) => document.toJS());
    expect(documents).toHaveLength(1);
    const pod = documents[0].spec.jobTemplate.spec.template.spec;
    expect(pod.volumes).toBeUndefined();
    expect(pod.containers[0].env.map(({ name }: { name: string }) => name)).toEqual([
      'HANDBILL_API_KEY',
      'HANDBILL_LEDGER',
    ]);
  });
});

describe('GitHub Actions', () => {
  it.each<[label: string, more: Partial<CallerOptions>, said: RegExp]>([
    ['a runner that forgets', {}, /loses its disk/],
    ['a runner that forgets, with a file', { ledger: '/var/lib/handbill/ledger.db' }, /loses its disk/],
    ['a ledger in the checkout', { runner: 'ours' }, /checkout cleans/],
    ['a path that would be evaluated', { runner: 'ours', ledger: `/var/\${{ secrets.X }}` }, /cannot hold the path/],
  ])('%s is refused', async (_label, more, said) => {
    const error = await only('github-actions', options(projectIn('hub'), more)).catch((one: unknown) => one);
    expect(error instanceof HandbillError ? error.exit : null).toBe(2);
    expect(String(error)).toMatch(said);
  });

  it.each<[label: string, more: Partial<CallerOptions>, runsOn: string, run: string, secrets: string[]]>([
    [
      'a runner of one’s own',
      { runner: 'ours', ledger: "/var/o'ne.db" },
      'ours',
      "npx handbill due --env production --yes --quiet --ledger '/var/o'\\''ne.db'",
      ['HANDBILL_API_KEY'],
    ],
    [
      'a ledger on a server',
      { ledger: 'postgresql://u:hunter2@db/h' },
      'ubuntu-latest',
      'npx handbill due --env production --yes --quiet',
      ['HANDBILL_API_KEY', 'HANDBILL_LEDGER'],
    ],
  ])('%s', async (_label, more, runsOn, run, secrets) => {
    const text = await only('github-actions', options(projectIn('hub'), more));
    expect(text).not.toContain('hunter2');
    const workflow = parse(text);
    expect(workflow.on.schedule).toEqual([{ cron: '*/5 * * * *' }]);
    expect(workflow.permissions).toEqual({ contents: 'read' });
    expect(workflow.concurrency['cancel-in-progress']).toBe(false);
    expect(workflow.jobs.due['runs-on']).toBe(runsOn);
    const step = workflow.jobs.due.steps.at(-1);
    expect(step.run).toBe(run);
    expect(step.env).toEqual(Object.fromEntries(secrets.map((name) => [name, `\${{ secrets.${name} }}`])));
  });

  it('works in the folder of a project that is not the root of its repository', async () => {
    const root = projectIn('other-hub/below');
    rmSync(join(root, '.git'), { recursive: true });
    mkdirSync(join(folder, 'other-hub', '.git'), { recursive: true });
    const text = await only('github-actions', options(root, { runner: 'ours', ledger: '/l.db' }));
    expect(parse(text).jobs.due.defaults).toEqual({ run: { 'working-directory': 'below' } });
  });
});

test.each<[label: string, crons: readonly string[], zone: string, expected: number, spans?: readonly number[]]>([
  ['every instant on five minutes', ['*/10 * * * *', '0 9 * * 1-5'], 'UTC', 5],
  ['one that is not', ['0 9 * * *', '3 9 * * *'], 'UTC', 1],
  ['half an hour ahead', ['0 9 * * *'], 'Asia/Kolkata', 5],
  ['every minute', ['* * * * *'], 'UTC', 1],
  ['rows with less time than five minutes', ['0 9 * * *'], 'UTC', 1, [299_999]],
  ['rows with as much', ['0 9 * * *'], 'UTC', 5, [300_000]],
])('how often `due` is called: %s', (_label, crons, zone, expected, spans = []) => {
  const clocks = crons.map((cron) => clock(cron, zone));
  expect(everyMinutes(clocks, Date.UTC(2026, 10, 21), spans)).toBe(expected);
});

describe('what is asked for first', () => {
  it.each<[label: string, kind: 'crontab' | 'kubernetes', project: string, cron: string | null, said: RegExp]>([
    ['no campaign with a schedule', 'crontab', DEFAULT_PROJECT, null, /No campaign here has a schedule/],
    ['a schedule that is wrong', 'crontab', DEFAULT_PROJECT, '0 9 * *', /4 of the 5 fields/],
    ['no image', 'kubernetes', DEFAULT_PROJECT, '* * * * *', /needs a container image/],
    [
      'which environment',
      'crontab',
      `${DEFAULT_PROJECT}  staging: { baseUrl: "https://s.example.com", apiKey: { env: K } }\n`,
      '* * * * *',
      /several environments/,
    ],
    [
      'an environment that accepts approved plans only',
      'crontab',
      APPROVED_PROJECT,
      '* * * * *',
      /approved plans alone/,
    ],
  ])('%s', async (label, kind, project, cron, said) => {
    const root = projectIn(`asked ${label}`, project, cron ?? '* * * * *');
    if (cron === null) rmSync(join(root, 'campaigns'), { recursive: true });
    await expect(only(kind, options(root))).rejects.toThrow(said);
  });
});

describe('handbill schedule', () => {
  it('says when campaigns go out, on the wall and in UTC', async () => {
    const root = projectIn('times', 'timeZone: Europe/London\n', '30 1 * * *');
    const ended = await runHere(['schedule', '--at', '2026-10-23T12:00:00Z', '--next', '3'], { cwd: root });
    expect(ended).toMatchObject({ status: 0, stderr: '' });
    expect(ended.stdout).toBe(
      'hello  every day 01:30  Europe/London, catch-up\n' +
        '  Sat, 24 Oct 2026, 01:30 BST  2026-10-24T00:30:00Z  in 13 h\n' +
        '  Sun, 25 Oct 2026, 01:30 BST  2026-10-25T00:30:00Z\n' +
        '  Mon, 26 Oct 2026, 01:30 GMT  2026-10-26T01:30:00Z\n',
    );
  });

  it('writes its files into a folder', async () => {
    const root = projectIn('files');
    const ended = await runHere(['schedule', '--format', 'systemd', '-o', '.'], { cwd: root });
    expect(ended).toMatchObject({ status: 0, stdout: '' });
    expect(ended.stderr).toMatch(/^Written: handbill-due-production\.timer \([0-9]+ bytes\)$/m);
    expect(existsSync(join(root, 'handbill-due-production.service'))).toBe(true);
  });

  it('names the node and the script that run', async () => {
    const ended = await runCli(['schedule', '--format', 'crontab'], { cwd: projectIn('words') });
    expect(ended.stdout).toContain(` exec ${NODE} ${PROGRAM[1]} due --env production --yes --quiet\n`);
    expect(process.version).toBe(execFileSync(NODE, ['--version'], { encoding: 'utf8' }).trim());
  });
});

/** Words of a command line of systemd: quoted or not, without specifiers and variables. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, inside, bare]) =>
    (inside?.replace(/\\(.)/g, '$1') ?? bare ?? '').replaceAll('%%', '%').replaceAll('$$', () => '$'),
  );
}
