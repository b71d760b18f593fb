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
import { CHECKS, type CheckName, checkRuntime, type DoctorCheck } from '../../src/operations/doctor-environments.ts';
import { offsetHere } from '../../src/util/time.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';
import { HELLO, handbill } from './run-handbill.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SCHEMA = JSON.parse(readFileSync(join(ROOT, 'schemas/doctor.schema.json'), 'utf8')) as {
  properties: { checks: { items: { properties: { check: { enum: readonly string[] } } } } };
};
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

test('the checks of the schema are those that there are', () => {
  expect(SCHEMA.properties.checks.items.properties.check.enum).toEqual(CHECKS);
});

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

interface Broken {
  readonly label: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly breaks?: (project: TestProject) => void;
  readonly args?: readonly string[];
  readonly env?: Env;
  readonly now?: () => number;
  readonly check: CheckName;
  readonly status: DoctorCheck['status'];
  readonly code?: Code;
  readonly says: RegExp;
  readonly exit: 0 | 2 | 7;
}

const production = (rest = ''): Readonly<Record<string, string>> => ({ 'handbill.yaml': `${PRODUCTION}${rest}` });
const withKey = { HANDBILL_API_KEY: KEY };

const BROKEN: readonly Broken[] = [
  {
    label: 'verification switched off',
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    check: 'certificates',
    status: 'problem',
    code: 'tls-verification-off',
    says: /verification of certificates off/,
    exit: 2,
  },
  {
    label: 'a clock of 1970',
    now: () => 0,
    check: 'clock',
    status: 'problem',
    code: 'clock',
    says: /1970-01-01T00:00:00.000Z, which cannot be/,
    exit: 2,
  },
  {
    label: 'a clock behind the ledger',
    now: () => Date.now() - 3_600_000,
    check: 'clock',
    status: 'problem',
    code: 'clock',
    says: /is before the newest entry/,
    exit: 2,
  },
  {
    label: 'a project file that is not YAML',
    breaks: (project) => project.write('handbill.yaml', 'a: [\n'),
    check: 'project',
    status: 'problem',
    code: 'yaml-syntax',
    says: /^handbill\.yaml:\d+/,
    exit: 2,
  },
  {
    label: 'a campaign without its template',
    breaks: (project) => rmSync(project.path('campaigns/hello/hello.hbs')),
    args: ['hello'],
    check: 'campaign',
    status: 'problem',
    code: 'file-not-found',
    says: /hello\.hbs/,
    exit: 2,
  },
  {
    label: 'schemas of another handbill',
    breaks: (project) => project.write('schemas/campaign.schema.json', '{}'),
    check: 'schemas',
    status: 'warning',
    says: /another handbill/,
    exit: 0,
  },
  {
    label: 'no git',
    env: { PATH: '/nowhere' },
    check: 'git',
    status: 'warning',
    code: 'git-unavailable',
    says: /git was not found/,
    exit: 0,
  },
  {
    label: 'no repository',
    breaks: (project) => rmSync(project.path('.git'), { recursive: true }),
    check: 'git',
    status: 'warning',
    code: 'git-unavailable',
    says: /no git repository/,
    exit: 0,
  },
  {
    label: 'a ledger that is gone',
    breaks: (project) => rmSync(project.path(LEDGER)),
    check: 'ledger',
    status: 'problem',
    code: 'ledger-missing',
    says: /its ledger is gone/,
    exit: 7,
  },
  {
    label: 'a ledger that is text',
    breaks: (project) => writeFileSync(project.path(LEDGER), 'x'.repeat(5000)),
    check: 'ledger',
    status: 'problem',
    code: 'ledger-unusable',
    says: /not a database/,
    exit: 7,
  },
  {
    label: 'a ledger with a page of noise',
    breaks: (project) => {
      const bytes = readFileSync(project.path(LEDGER));
      writeFileSync(project.path(LEDGER), bytes.fill(0xa5, 4096 * 4, 4096 * 9));
    },
    check: 'ledger',
    status: 'problem',
    code: 'ledger-unusable',
    says: /damaged|malformed/,
    exit: 7,
  },
  {
    label: 'a run whose text is not JSON',
    breaks: (project) => inLedger(project, "UPDATE runs SET inputs = '{'"),
    check: 'ledger',
    status: 'problem',
    code: 'ledger-unusable',
    says: /cannot be read/,
    exit: 7,
  },
  {
    label: 'a ledger that others can write to',
    breaks: (project) => chmodSync(project.path(LEDGER), 0o666),
    check: 'ledger',
    status: 'problem',
    code: 'ledger-permissions',
    says: /Others can write/,
    exit: 7,
  },
  {
    label: 'a ledger that others can read',
    breaks: (project) => chmodSync(project.path(LEDGER), 0o644),
    check: 'ledger',
    status: 'warning',
    code: 'ledger-permissions',
    says: /Other users can read/,
    exit: 0,
  },
  {
    label: 'a ledger below a file',
    args: ['--ledger', 'handbill.yaml/ledger.db'],
    check: 'ledger',
    status: 'problem',
    says: /./,
    exit: 7,
  },
  {
    label: 'a ledger on /proc, which has no room',
    args: ['--ledger', '/proc/1/ledger.db'],
    check: 'disk',
    status: 'problem',
    code: 'ledger-write',
    says: /full: 0 MiB free/,
    exit: 7,
  },
  {
    label: 'a later copy that a command saved beside the ledger',
    breaks: (project) => project.write(`${LEDGER}.rescued`, 'x'),
    check: 'ledger',
    status: 'problem',
    code: 'ledger-replaced',
    says: /a later copy of it is beside it/,
    exit: 7,
  },
  {
    label: 'a purge that was not finished',
    breaks: (project) => project.write(`${LEDGER}.purge`, ''),
    check: 'purge',
    status: 'warning',
    says: /not finished/,
    exit: 0,
  },
  {
    label: 'a key that is not set',
    files: production(),
    check: 'key',
    status: 'problem',
    code: 'missing-api-key',
    says: /HANDBILL_API_KEY/,
    exit: 2,
  },
  {
    label: 'a key with a line break in it',
    files: production(),
    env: { HANDBILL_API_KEY: `${KEY}\r\nx: y` },
    check: 'key',
    status: 'problem',
    code: 'invalid-api-key',
    says: /HANDBILL_API_KEY/,
    exit: 2,
  },
  {
    label: 'a key file that others can read',
    files: { 'handbill.yaml': PRODUCTION.replace('env: HANDBILL_API_KEY', 'file: key') },
    breaks: (project) => {
      project.write('key', KEY);
      chmodSync(project.path('key'), 0o644);
    },
    check: 'key',
    status: 'problem',
    code: 'key-file-permissions',
    says: /Other users can read/,
    exit: 2,
  },
  {
    label: 'a literal key',
    breaks: (project) => project.write('handbill.yaml', PRODUCTION.replace('{ env: HANDBILL_API_KEY }', KEY)),
    check: 'project',
    status: 'problem',
    code: 'literal-key',
    says: /handbill\.yaml:4/,
    exit: 2,
  },
  {
    label: 'plain http',
    files: { 'handbill.yaml': PRODUCTION.replace('https://api.example.com', 'http://127.0.0.1:4010') },
    env: withKey,
    check: 'environment',
    status: 'warning',
    says: /plain http/,
    exit: 0,
  },
  {
    label: 'plain http to another machine',
    breaks: (project) => project.write('handbill.yaml', PRODUCTION.replace('https:', 'http:')),
    check: 'project',
    status: 'problem',
    code: 'invalid-base-url',
    says: /plain http/,
    exit: 2,
  },
  {
    label: 'no server at the address',
    files: { 'handbill.yaml': PRODUCTION.replace('https://api.example.com', 'http://127.0.0.1:9') },
    env: withKey,
    args: ['--online'],
    check: 'connection',
    status: 'problem',
    says: /Cannot connect to 127\.0\.0\.1:9: connection refused \(ECONNREFUSED\)/,
    exit: 2,
  },
  {
    label: 'approvers whose file is not there',
    files: production('    approvers: { file: approvers }\n'),
    env: withKey,
    check: 'approval',
    status: 'problem',
    code: 'file-not-found',
    says: /Who may sign plans for production is not known/,
    exit: 2,
  },
  {
    label: 'approvers, and no ssh-keygen',
    files: production('    approvers: { file: approvers }\n'),
    env: { ...withKey, PATH: '/nowhere' },
    check: 'approval',
    status: 'problem',
    code: 'signing-failed',
    says: /no ssh-keygen/,
    exit: 2,
  },
  {
    label: 'hashes in a list, without their key',
    files: {
      'handbill.yaml': 'suppressions: out.csv\n',
      'out.csv': 'msisdn\n+447700900123\n',
    },
    breaks: (project) => project.write('out.csv', `hash\nhb1:0123abcd:${'0'.repeat(64)}\n`),
    check: 'suppressions',
    status: 'problem',
    code: 'missing-suppression-key',
    says: /out\.csv holds hashes/,
    exit: 2,
  },
  {
    label: 'hashes in the ledger, without their key',
    breaks: (project) => {
      using ledger = disposable(openLedger(project.path(LEDGER), { mode: 'write', nowMs: Date.now() }));
      const entry = { hash: '0'.repeat(64), keyId: '0123abcd', reason: null, untilMs: null, source: 'test' };
      ledger.it.suppressAll([], [entry], Date.now());
    },
    check: 'suppressions',
    status: 'problem',
    code: 'missing-suppression-key',
    says: /The ledger holds hashes of people/,
    exit: 2,
  },
  {
    label: 'hashes in the ledger, made with another key',
    files: { 'handbill.yaml': 'suppressionKey: { env: SUPPRESSION_KEY }\n' },
    env: { SUPPRESSION_KEY: KEY },
    breaks: (project) => {
      using ledger = disposable(openLedger(project.path(LEDGER), { mode: 'write', nowMs: Date.now() }));
      const entry = { hash: '0'.repeat(64), keyId: '0123abcd', reason: null, untilMs: null, source: 'test' };
      ledger.it.suppressAll([], [entry], Date.now());
    },
    check: 'suppressions',
    status: 'problem',
    code: 'other-suppression-key',
    says: /another key \(0123abcd/,
    exit: 2,
  },
  {
    label: 'a list of opt-outs that is gone',
    files: { 'handbill.yaml': 'suppressions: out.csv\n', 'out.csv': 'msisdn\n+447700900123\n' },
    breaks: (project) => rmSync(project.path('out.csv')),
    check: 'suppressions',
    status: 'problem',
    code: 'file-not-found',
    says: /out\.csv/,
    exit: 2,
  },
  {
    label: 'a secret of webhooks that is not set',
    files: {
      'handbill.yaml': 'environments: { sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n',
    },
    check: 'webhooks',
    status: 'problem',
    code: 'missing-webhook-secret',
    says: /HANDBILL_WEBHOOK_SECRET/,
    exit: 2,
  },
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
  it.each(BROKEN)('$label', async ({ files = {}, breaks, args = [], env = {}, now = Date.now, ...expected }) => {
    using project = sentProject(files);
    breaks?.(project);
    const { status, checkup, said } = await doctorIn(project.root, args, env, now);
    const finding = checkup.checks.find(
      (one) => one.check === expected.check && one.status === expected.status && expected.says.test(one.message),
    );
    expect(finding, said).toBeDefined();
    if (expected.code !== undefined) expect(finding?.code).toBe(expected.code);
    if (finding?.check !== 'ledger') expect(finding?.hint ?? '', said).not.toBe('');
    expect(status, said).toBe(expected.exit);
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
