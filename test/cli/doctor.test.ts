import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Code } from '../../src/errors.ts';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { DoctorResult } from '../../src/operations/doctor.ts';
import { type CheckName, checkRuntime, type DoctorCheck } from '../../src/operations/doctor-environments.ts';
import { offsetHere } from '../../src/util/time.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';
import { HELLO, handbill } from './run-handbill.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SCHEMA = JSON.parse(readFileSync(join(ROOT, 'schemas/doctor.schema.json'), 'utf8')) as object;
const matches = new Ajv({ strict: true, strictTypes: false }).compile(SCHEMA);
const KEY = 'SEKRET-0123456789abcdef';
const LEDGER = '.handbill/ledger.db';
const PRODUCTION =
  'environments:\n  production:\n    baseUrl: https://api.example.com\n    apiKey: { env: HANDBILL_API_KEY }\n';

type Env = Readonly<Record<string, string>>;

async function doctorIn(
  root: string,
  args: readonly string[] = [],
  env: Env = {},
  now = Date.now,
): Promise<{ readonly status: number | null; readonly checkup: DoctorResult; readonly said: string }> {
  const whole = { PATH: process.env['PATH'] ?? '', HOME: root, ...env };
  const { status, out, err } = await handbillHere(root, ['doctor', '--format', 'json', ...args], { env: whole, now });
  if (out === '') throw new Error(err);
  const checkup = JSON.parse(out) as DoctorResult;
  expect(matches(checkup), JSON.stringify(matches.errors)).toBe(true);
  return { status, checkup, said: out + err };
}

let sent: TestProject;

beforeAll(async () => {
  sent = createProject({ ...HELLO, 'handbill.yaml': '', '.gitignore': '.handbill/\n' });
  spawnSync('git', ['init', '-q'], { cwd: sent.root });
  const { status, err } = await handbillHere(sent.root, ['send', 'hello', '--quiet']);
  expect(status, err).toBe(0);
});
afterAll(() => sent[Symbol.dispose]());

/** A copy of a project that has sent, as a git repository that ignores its ledger. */
function sentProject(files: Readonly<Record<string, string>> = {}): TestProject {
  const project = createProject({});
  cpSync(sent.root, project.root, { recursive: true, preserveTimestamps: true });
  for (const [name, text] of Object.entries(files)) project.write(name, text);
  return project;
}

describe('a project in order', () => {
  it('has no problem, with or without a ledger, and nothing is made or changed', async () => {
    using project = sentProject();
    for (const path of ['sent', 'fresh']) {
      if (path === 'fresh') rmSync(project.path('.handbill'), { recursive: true });
      const before = project.contents();
      const { status, checkup } = await doctorIn(project.root, ['hello']);
      expect(checkup.checks.filter((one) => one.status === 'problem' || one.status === 'warning')).toEqual([]);
      expect(status).toBe(0);
      expect([...project.contents().keys()].toSorted()).toEqual([...before.keys()].toSorted());
      for (const [name, bytes] of project.contents())
        expect(bytes.equals(before.get(name) ?? Buffer.of()), name).toBe(true);
    }
  });

  it('is shown as text, each line with what to do below it; --quiet prints nothing', async () => {
    using project = sentProject({ '.gitignore': '' });
    const { status, out } = await handbillHere(project.root, ['doctor'], { env: { PATH: process.env['PATH'] } });
    expect(status).toBe(0);
    expect(out).toMatch(/^ok +ledger +\.handbill\/ledger\.db: whole, \d+ KiB, 1 run$/m);
    expect(out).toMatch(/^warning +git +git does not ignore the ledger.*\n {4}Add to \.gitignore: \.handbill\/$/m);
    expect(out).toMatch(/\n\n0 problems, 1 warning\.\n$/);
    const quiet = await handbillHere(project.root, ['doctor', '--quiet'], { env: { PATH: process.env['PATH'] } });
    expect(quiet).toEqual({ status: 0, out: '', err: '' });
  });

  it('knows who is at a run, and who has left one', async () => {
    using project = sentProject();
    const path = project.path(LEDGER);
    const ledger = openLedger(path, { mode: 'write', nowMs: Date.now() });
    const [run] = ledger.runs();
    if (run === undefined) throw new Error('no run');
    ledger.setLockOwner(run, { pid: 4711, host: 'mill', sinceMs: Date.UTC(2026, 10, 21) });
    const started = ledger.start(run, Date.now()).run;
    const lock = acquireRunLock(path, started);
    try {
      expect(locksOf((await doctorIn(project.root)).checkup)).toMatch(
        /^ok: hello-\w+ \(sandbox, once\) is being sent by process 4711 on mill/,
      );
    } finally {
      lock?.release();
      ledger.close();
    }
    expect(locksOf((await doctorIn(project.root)).checkup)).toMatch(/^warning: .* ended in the middle/);
  });
});

describe('lists of people in git', () => {
  const REAL = 'msisdn,first\n+447911123456,Ann\n';
  const warned = ({ checks }: DoctorResult): readonly string[] =>
    checks.filter(({ check, status }) => check === 'git' && status === 'warning').map(({ message }) => message);
  const LIST_WARNING = ['git has or would commit lists of people: campaigns/hello/people.csv.'];

  test.each<[label: string, list: string, ignored: string, isTracked: boolean, warnings: readonly string[]]>([
    ['that git would take along', REAL, '', false, LIST_WARNING],
    ['that git has', REAL, '', true, LIST_WARNING],
    ['that git has, although they are to be left out', REAL, 'campaigns/**/*.csv\n', true, LIST_WARNING],
    ['that are left out', REAL, 'campaigns/**/*.csv\n', false, []],
    ['that are committed on purpose', REAL, '!campaigns/**/*.csv\n', true, []],
    ['with numbers that are reserved for documentation', HELLO['campaigns/hello/people.csv'], '', true, []],
  ])('%s', async (_label, list, ignored, isTracked, warnings) => {
    using project = sentProject({ '.gitignore': `.handbill/\n${ignored}`, 'campaigns/hello/people.csv': list });
    if (isTracked) spawnSync('git', ['add', '-f', 'campaigns/hello/people.csv'], { cwd: project.root });
    const { status, checkup } = await doctorIn(project.root);
    expect({ status, warnings: warned(checkup) }).toEqual({ status: 0, warnings });
  });

  test.each(['GB', 'US', 'CA', 'FR', 'AU', 'SE', 'DE'])(
    'the people that init invents in %s are none',
    async (country) => {
      for (const channel of ['sms', 'email']) {
        using project = createProject({});
        spawnSync('git', ['init', '-q'], { cwd: project.root });
        await handbillHere(project.root, ['init', '--yes', '--country', country, '--channel', channel]);
        expect(warned((await doctorIn(project.root)).checkup)).toEqual([]);
      }
    },
  );
});

function locksOf({ checks }: DoctorResult): string {
  const locks = checks.filter(({ check }) => check === 'locks');
  return locks.map(({ status, message }) => `${status}: ${message}`).join('\n');
}

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly breaks?: (project: TestProject) => void;
  readonly args?: readonly string[];
  readonly env?: Env;
  readonly now?: () => number;
}

const production = (rest = ''): Readonly<Record<string, string>> => ({ 'handbill.yaml': `${PRODUCTION}${rest}` });
const withKey = { HANDBILL_API_KEY: KEY };

/** What is found: how bad it is, the check, and its code, if any. */
const BROKEN: readonly [label: string, found: string, says: RegExp, given: Given][] = [
  [
    'verification switched off',
    'problem certificates tls-verification-off',
    /verification of certificates off/,
    { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
  ],
  ['a clock of 1970', 'problem clock clock', /1970-01-01T00:00:00.000Z, which cannot be/, { now: () => 0 }],
  [
    'a clock behind the ledger',
    'problem clock clock',
    /is before the newest entry/,
    { now: () => Date.now() - 3_600_000 },
  ],
  [
    'a project file that is not YAML',
    'problem project yaml-syntax',
    /^handbill\.yaml:\d+/,
    { breaks: (project) => project.write('handbill.yaml', 'a: [\n') },
  ],
  [
    'a campaign without its template',
    'problem campaign file-not-found',
    /hello\.hbs/,
    { breaks: (project) => rmSync(project.path('campaigns/hello/hello.hbs')), args: ['hello'] },
  ],
  [
    'schemas of another handbill',
    'warning schemas',
    /another handbill/,
    { breaks: (project) => project.write('schemas/campaign.schema.json', '{}') },
  ],
  ['no git', 'warning git git-unavailable', /git was not found/, { env: { PATH: '/nowhere' } }],
  [
    'no repository',
    'warning git git-unavailable',
    /no git repository/,
    { breaks: (project) => rmSync(project.path('.git'), { recursive: true }) },
  ],
  [
    'a ledger that is gone',
    'problem ledger ledger-missing',
    /its ledger is gone/,
    { breaks: (project) => rmSync(project.path(LEDGER)) },
  ],
  [
    'a ledger that is text',
    'problem ledger ledger-unusable',
    /not a database/,
    { breaks: (project) => writeFileSync(project.path(LEDGER), 'x'.repeat(5000)) },
  ],
  [
    'a ledger with a page of noise',
    'problem ledger ledger-unusable',
    /damaged|malformed/,
    {
      breaks: (project) => {
        const bytes = readFileSync(project.path(LEDGER));
        writeFileSync(project.path(LEDGER), bytes.fill(0xa5, 4096 * 4, 4096 * 9));
      },
    },
  ],
  [
    'a run whose text is not JSON',
    'problem ledger ledger-unusable',
    /cannot be read/,
    { breaks: (project) => inLedger(project, "UPDATE runs SET inputs = '{'") },
  ],
  [
    'a ledger that others can write to',
    'problem ledger ledger-permissions',
    /Others can write/,
    { breaks: (project) => chmodSync(project.path(LEDGER), 0o666) },
  ],
  [
    'a ledger that others can read',
    'warning ledger ledger-permissions',
    /Other users can read/,
    { breaks: (project) => chmodSync(project.path(LEDGER), 0o644) },
  ],
  ['a ledger below a file', 'problem ledger', /./, { args: ['--ledger', 'handbill.yaml/ledger.db'] }],
  [
    'a ledger on /proc, which has no room',
    'problem disk ledger-write',
    /full: 0 MiB free/,
    { args: ['--ledger', '/proc/1/ledger.db'] },
  ],
  [
    'a later copy that a command saved beside the ledger',
    'problem ledger ledger-replaced',
    /a later copy of it is beside it/,
    { breaks: (project) => project.write(`${LEDGER}.rescued`, 'x') },
  ],
  [
    'a purge that was not finished',
    'warning purge',
    /not finished/,
    { breaks: (project) => project.write(`${LEDGER}.purge`, '') },
  ],
  ['a key that is not set', 'problem key missing-api-key', /HANDBILL_API_KEY/, { files: production() }],
  [
    'a key with a line break in it',
    'problem key invalid-api-key',
    /HANDBILL_API_KEY/,
    { files: production(), env: { HANDBILL_API_KEY: `${KEY}\r\nx: y` } },
  ],
  [
    'a key file that others can read',
    'problem key key-file-permissions',
    /Other users can read/,
    {
      files: { 'handbill.yaml': PRODUCTION.replace('env: HANDBILL_API_KEY', 'file: key') },
      breaks: (project) => {
        project.write('key', KEY);
        chmodSync(project.path('key'), 0o644);
      },
    },
  ],
  [
    'a literal key',
    'problem project literal-key',
    /handbill\.yaml:4/,
    { breaks: (project) => project.write('handbill.yaml', PRODUCTION.replace('{ env: HANDBILL_API_KEY }', KEY)) },
  ],
  [
    'plain http',
    'warning environment',
    /plain http/,
    {
      files: { 'handbill.yaml': PRODUCTION.replace('https://api.example.com', 'http://127.0.0.1:4010') },
      env: withKey,
    },
  ],
  [
    'plain http to another machine',
    'problem project invalid-base-url',
    /plain http/,
    { breaks: (project) => project.write('handbill.yaml', PRODUCTION.replace('https:', 'http:')) },
  ],
  [
    'no server at the address',
    'problem connection',
    /Cannot connect to 127\.0\.0\.1:9: connection refused \(ECONNREFUSED\)/,
    {
      files: { 'handbill.yaml': PRODUCTION.replace('https://api.example.com', 'http://127.0.0.1:9') },
      env: withKey,
      args: ['--online'],
    },
  ],
  [
    'approvers whose file is not there',
    'problem approval file-not-found',
    /Who may sign plans for production is not known/,
    { files: production('    approvers: { file: approvers }\n'), env: withKey },
  ],
  [
    'approvers, and no ssh-keygen',
    'problem approval signing-failed',
    /no ssh-keygen/,
    { files: production('    approvers: { file: approvers }\n'), env: { ...withKey, PATH: '/nowhere' } },
  ],
  [
    'hashes in a list, without their key',
    'problem suppressions missing-suppression-key',
    /out\.csv holds hashes/,
    {
      files: {
        'handbill.yaml': 'suppressions: out.csv\n',
        'out.csv': 'msisdn\n+447700900123\n',
      },
      breaks: (project) => project.write('out.csv', `hash\nhb1:0123abcd:${'0'.repeat(64)}\n`),
    },
  ],
  [
    'hashes in the ledger, without their key',
    'problem suppressions missing-suppression-key',
    /The ledger holds hashes of people/,
    {
      breaks: (project) => {
        using ledger = disposable(openLedger(project.path(LEDGER), { mode: 'write', nowMs: Date.now() }));
        const entry = { hash: '0'.repeat(64), keyId: '0123abcd', reason: null, untilMs: null, source: 'test' };
        ledger.it.suppressAll([], [entry], Date.now());
      },
    },
  ],
  [
    'hashes in the ledger, made with another key',
    'problem suppressions other-suppression-key',
    /another key \(0123abcd/,
    {
      files: { 'handbill.yaml': 'suppressionKey: { env: SUPPRESSION_KEY }\n' },
      env: { SUPPRESSION_KEY: KEY },
      breaks: (project) => {
        using ledger = disposable(openLedger(project.path(LEDGER), { mode: 'write', nowMs: Date.now() }));
        const entry = { hash: '0'.repeat(64), keyId: '0123abcd', reason: null, untilMs: null, source: 'test' };
        ledger.it.suppressAll([], [entry], Date.now());
      },
    },
  ],
  [
    'a list of opt-outs that is gone',
    'problem suppressions file-not-found',
    /out\.csv/,
    {
      files: { 'handbill.yaml': 'suppressions: out.csv\n', 'out.csv': 'msisdn\n+447700900123\n' },
      breaks: (project) => rmSync(project.path('out.csv')),
    },
  ],
  [
    'a secret of webhooks that is not set',
    'problem webhooks missing-webhook-secret',
    /HANDBILL_WEBHOOK_SECRET/,
    {
      files: {
        'handbill.yaml': 'environments: { sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n',
      },
    },
  ],
];

function inLedger(project: TestProject, sql: string): void {
  const db = new DatabaseSync(project.path(LEDGER));
  db.exec(sql);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

function disposable<T extends { close(): void }>(it: T): { readonly it: T } & Disposable {
  return { it, [Symbol.dispose]: () => it.close() };
}

describe('what is broken is found', () => {
  it.each(BROKEN)('%s', async (_label, found, says, { files = {}, breaks, args = [], env = {}, now = Date.now }) => {
    using project = sentProject(files);
    breaks?.(project);
    const { status, checkup, said } = await doctorIn(project.root, args, env, now);
    const [badness, check, code] = found.split(' ');
    const finding = checkup.checks.find(
      (one) => one.check === check && one.status === badness && says.test(one.message),
    );
    expect(finding, said).toBeDefined();
    if (code !== undefined) expect(finding?.code).toBe(code);
    if (check !== 'ledger') expect(finding?.hint ?? '', said).not.toBe('');
    expect(status, said).toBe(badness === 'warning' ? 0 : check === 'ledger' || check === 'disk' ? 7 : 2);
    expect(said).not.toContain('SEKRET');
    expect(said).not.toMatch(/\n +at /);
  });
});

describe('what cannot be broken here', () => {
  const context = { env: {}, now: () => Date.UTC(2026, 10, 21) };
  const sound = { node: '24.21.0', sqlite: '3.53.4', handbill: '0.1.0', offsetAt: offsetHere };

  it.each<[label: string, runtime: Partial<typeof sound>, check: CheckName, code: Code]>([
    ['an older Node.js', { node: '22.19.0' }, 'node', 'runtime-too-old'],
    ['an older SQLite', { sqlite: '3.51.2' }, 'node', 'ledger-unusable'],
    ['no time zones', { offsetAt: () => 'GMT' }, 'time-zones', 'invalid-time-zone'],
    ['no such zone', { offsetAt: () => null }, 'time-zones', 'invalid-time-zone'],
  ])('%s', (_label, runtime, check, code) => {
    const problems = checkRuntime({ ...sound, ...runtime }, context).filter(({ status }) => status === 'problem');
    expect(problems.map((one) => [one.check, one.code])).toEqual([[check, code]]);
  });

  it('and this one is sound', () => {
    expect(checkRuntime(sound, context).filter(({ status }) => status === 'problem')).toEqual([]);
  });
});

describe('--online', () => {
  const seen: { readonly method: string; readonly headers: NodeJS.Dict<unknown> }[] = [];
  let connections = 0;
  let away = 0;
  let server: Server;
  let yaml = '';

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push({ method: request.method ?? '', headers: request.headers });
      response.sendDate = false;
      response.writeHead(404, { date: new Date(Date.now() + away).toUTCString() }).end();
    });
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    yaml = PRODUCTION.replace('https://api.example.com', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(() => void server.close());

  const clockOf = ({ checks }: DoctorResult): DoctorCheck | undefined =>
    checks.find(({ check, of }) => check === 'clock' && of !== null);

  it('is needed for any connection', async () => {
    using project = createProject({ 'handbill.yaml': yaml });
    const { checkup } = await doctorIn(project.root, [], withKey);
    expect(checkup.checks.find(({ check }) => check === 'connection')?.status).toBe('skipped');
    expect(connections).toBe(0);
  });

  it('connects, asks for the time, and does not show the key', async () => {
    using project = createProject({ 'handbill.yaml': yaml });
    const { status, checkup } = await doctorIn(project.root, ['--online'], withKey);
    expect(status).toBe(0);
    expect(checkup.checks.find(({ check }) => check === 'connection')?.status).toBe('ok');
    expect(clockOf(checkup)?.status).toBe('ok');
    expect(seen.map(({ method }) => method)).toEqual(['HEAD']);
    expect(JSON.stringify(seen)).not.toContain('SEKRET');
  });

  it.each([-600_000, 600_000])('says when the clocks are %i ms apart', async (ms) => {
    using project = createProject({ 'handbill.yaml': yaml });
    away = ms;
    const { checkup } = await doctorIn(project.root, ['--online'], withKey);
    expect(clockOf(checkup)).toMatchObject({ status: 'warning', code: 'clock' });
    expect(clockOf(checkup)?.message).toMatch(/ (?:599|600|601) s apart/);
  });
});

test('--env looks at one environment, and an unknown one is refused', async () => {
  using project = createProject({ 'handbill.yaml': PRODUCTION });
  const { status, checkup } = await doctorIn(project.root, ['--env', 'sandbox']);
  expect(status).toBe(0);
  expect(checkup.checks.filter(({ of }) => of !== null).map(({ of }) => of)).toEqual(['sandbox']);
  expect((await handbillHere(project.root, ['doctor', '--env', 'nowhere'])).err).toContain('unknown-environment');
});

test('as a process of its own, with a damaged ledger: status 7 and no trace', async () => {
  using project = sentProject();
  writeFileSync(project.path(LEDGER), 'x'.repeat(5000));
  utimesSync(project.path(LEDGER), 0, 0);
  const { status, out, err } = await handbill(project.root, ['doctor'], { HANDBILL_DEBUG: '1' });
  expect({ status, err }).toEqual({ status: 7, err: '' });
  expect(out).toMatch(/^PROBLEM +ledger /m);
  expect(statSync(project.path(LEDGER)).mtimeMs).toBe(0);
});

it('a pipe, a device or something endless in the place of a schema is not read', async () => {
  using project = createProject({ 'handbill.yaml': '', 'schemas/README.md': '' });
  spawnSync('mkfifo', [project.path('schemas/campaign.schema.json')]);
  symlinkSync('/dev/zero', project.path('schemas/project.schema.json'));
  const { status, out, err } = await handbill(project.root, ['doctor', '--format', 'json']);
  expect(status, err).toBe(0);
  const { checks } = JSON.parse(out) as DoctorResult;
  expect(checks.find(({ check }) => check === 'schemas')).toMatchObject({ status: 'skipped' });
});

test('a campaign whose list is not there is a problem, and not one that is valid', async () => {
  using project = createProject({ ...HELLO });
  rmSync(project.path('campaigns/hello/people.csv'));
  const { status, checkup } = await doctorIn(project.root, ['hello']);
  expect(status).toBe(2);
  const said = checkup.checks.filter(({ check }) => check === 'campaign');
  expect(said.map(({ status: found, message }) => [found, message])).toEqual([
    ['problem', expect.stringContaining('The file "people.csv" does not exist.')],
  ]);
});

test('says of the environment that was asked about that it does not need approval', async () => {
  const api = 'baseUrl: https://api.example.com, apiKey: { env: HANDBILL_API_KEY }';
  using project = createProject({
    'handbill.yaml': `environments:\n  rehearsal: { ${api} }\n  production: { ${api}, approvers: { file: approvers } }\n`,
  });
  const ofApproval = async (...args: string[]) =>
    (await doctorIn(project.root, args)).checkup.checks.find(({ check }) => check === 'approval')?.message;
  expect(await ofApproval('--env', 'rehearsal')).toBe('rehearsal does not ask for it.');
  expect(await ofApproval('--env', 'production')).toContain('Who may sign plans for production');
  project.write('handbill.yaml', `environments:\n  rehearsal: { ${api} }\n`);
  expect(await ofApproval()).toBe('No environment asks for it.');
});
