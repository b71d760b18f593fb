import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliResult, startCli, until } from '../helpers/cli.ts';
import { commandRunner, runnerOf } from '../helpers/here.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';
import { accepting, afterMs, answer, type Behaviour, type RawServer, startRawServer } from '../helpers/raw-server.ts';

const KEY = 'SEKRET-4c1f09e2a7';
const CAMPAIGN = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n';
const PEOPLE = 'msisdn,name,city\n+447700900011,Ana,Bath\n+447700900012,Ravi,Bath\n';
const SEND = ['send', 'hello', '--env', 'prod', '--yes'];

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(async () => {
  await server.close();
});

interface Wrong {
  /** Files that differ from the good project; PORT means the port of the server. */
  readonly files?: ProjectFiles;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: string;
  /** Where stderr must say that the fault is. */
  readonly at?: string;
}

const campaign = (lines: string): ProjectFiles => ({ 'hello/campaign.yaml': CAMPAIGN + lines });
const instead = (from: string, to: string): ProjectFiles => ({ 'hello/campaign.yaml': CAMPAIGN.replace(from, to) });
const people = (text: string | Uint8Array): ProjectFiles => ({ 'hello/people.csv': text });
const template = (text: string): ProjectFiles => ({ 'hello/hello.hbs': text });
const baseUrl = (url: string): ProjectFiles => ({ 'handbill.yaml': projectFile(url) });

function projectFile(url = `http://127.0.0.1:PORT`): string {
  return `environments:\n  prod:\n    baseUrl: ${url}\n    apiKey: { env: CANARY_KEY }\n`;
}

/** One of each stage and way of refusing: what else is refused there, and where, is tested with its stage. */
const WRONG: Readonly<Record<string, Wrong>> = {
  // YAML
  'yaml: not well-formed': { files: campaign('send: { rate: 1/s\n'), code: 'yaml-syntax', at: 'campaign.yaml:' },
  // Campaign
  'an unknown key': { files: campaign('chanel: sms\n'), code: 'unknown-key', at: 'campaign.yaml:6:1' },
  'a validity that has passed': { files: campaign('validity: 2020-01-01T00:00:00Z\n'), code: 'validity-past' },
  'a list outside the project': {
    files: instead('people.csv', '../../people.csv'),
    code: 'path-outside-project',
    at: 'campaign.yaml:5:13',
  },
  'a list that is not there': {
    files: instead('people.csv', 'peeple.csv'),
    code: 'file-not-found',
    at: 'campaign.yaml:5',
  },
  'too many recipients': { files: campaign('limits: { maxRecipients: 1 }\n'), code: 'too-many-recipients' },
  'a key column that is not there': {
    files: instead('people.csv', '{ csv: people.csv, key: id }'),
    code: 'unknown-column',
    at: 'people.csv:1',
  },
  // Project
  'a literal key': {
    files: { 'handbill.yaml': projectFile().replace('{ env: CANARY_KEY }', 'hunter2-hunter2') },
    code: 'literal-key',
    at: 'handbill.yaml:4',
  },
  'an unknown environment': { args: ['send', 'hello', '--env', 'prd', '--yes'], code: 'unknown-environment' },
  'http to another machine': {
    files: baseUrl('http://api.example.com'),
    code: 'invalid-base-url',
    at: 'handbill.yaml:3',
  },
  'no key': { env: { CANARY_KEY: '' }, code: 'missing-api-key' },
  'a key with a line break': { env: { CANARY_KEY: `${KEY}\nX-Evil: 1` }, code: 'invalid-api-key' },
  'certificates are not verified': { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, code: 'tls-verification-off' },
  // List
  'a ragged row': { files: people(`${PEOPLE}+447700900013,Zoe\n`), code: 'csv-ragged-row', at: 'people.csv:4' },
  'A3: an empty cell': {
    files: people(`${PEOPLE}+447700900013,,Bath\n`),
    code: 'missing-variable',
    at: 'people.csv:4',
  },
  'an impossible number': { files: people(`${PEOPLE}12,Zoe,Bath\n`), code: 'invalid-address', at: 'people.csv:4' },
  'a column twice': { files: people(PEOPLE.replace('city', 'name')), code: 'csv-duplicate-header', at: 'people.csv:1' },
  'bytes that are not UTF-8': {
    files: people(Buffer.from(PEOPLE.replace('Ana', 'Zo\u00eb'), 'latin1')),
    code: 'invalid-encoding',
    at: 'people.csv:2',
  },
  'a quote that is never closed': { files: people(`${PEOPLE}+447700900013,"Zoe,Bath\n`), code: 'csv-syntax' },
  // Template
  'S18: a name with a typo': { files: template('Hello {{nmae}}'), code: 'unknown-name', at: 'hello.hbs:1:9' },
  'a template that does not close': { files: template('Hi\n{{#if name}}x'), code: 'template-syntax', at: 'hello.hbs:' },
  'a partial that is not there': { files: template('Hi {{> bye}}'), code: 'unknown-partial', at: 'hello.hbs:1:8' },
  // Command line
  'a plan that is not JSON': {
    files: { 'x.plan.json': '{ "version": 1,' },
    args: ['send', '--plan', 'x.plan.json', '--yes'],
    code: 'plan-invalid',
  },
  'a campaign that is not there': { args: ['send', 'helo', '--env', 'prod', '--yes'], code: 'campaign-not-found' },
  'without --yes': { args: ['send', 'hello', '--env', 'prod'], code: 'not-confirmed' },
  'a misspelt command': { args: ['sendd', 'hello', '--env', 'prod', '--yes'], code: 'usage' },
  'a misspelt option': { args: [...SEND, '--limt', '3'], code: 'usage' },
  'a limit of 0': { args: [...SEND, '--limit', '0'], code: 'usage' },
  'a format that does not exist': { args: [...SEND, '--format', 'xml'], code: 'usage' },
  'a campaign and a plan': {
    files: { 'x.plan.json': '{}' },
    args: [...SEND, '--plan', 'x.plan.json'],
    code: 'plan-invalid',
  },
  'neither a campaign nor a plan': { args: ['send', '--env', 'prod', '--yes'], code: 'usage' },
};

describe.concurrent('refused before any request', () => {
  const cases = Object.entries(WRONG).map(([label, wrong], nth) => [label, wrong, runnerOf(nth, 24)] as const);
  it.each(cases)('%s', async (_label, { files = {}, args = SEND, env = {}, code, at = '' }, run) => {
    using project = goodProject(files);
    const { status, stdout, stderr } = await run(args, { cwd: project.root, env: { CANARY_KEY: KEY, ...env } });
    expect(stderr).toContain(`error[${code}]`);
    expect(stderr).toContain(at);
    expect(status).toBe(2);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(server.connections).toBe(0);
    expect(ledgerRows(project)).toBe(0);
    expect(stdout + stderr).not.toContain(KEY);
    expect(filesWithKey(project)).toEqual([]);
  });
});

describe.concurrent('changed input', () => {
  it('--allow input-changed sends the new content to recipients who have none yet (J1)', async () => {
    await using api = await startApi();
    using project = goodProject(people(listOf(4)), api.port);
    const first = await run(project, ...SEND, '--limit', '2');
    expect(first, first.stderr).toMatchObject({ status: 0 });
    expect(api.numbers().length).toBe(2);
    project.write('hello/hello.hbs', 'Dear {{name}} in {{city}}');
    project.write('hello/people.csv', listOf(5));

    const refused = await run(project, ...SEND);
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('error[input-changed]');
    expect(refused.stderr).toContain('hello.hbs');
    expect(refused.stderr).toContain('people.csv');
    expect(api.requests.length).toBe(2);

    expect(await run(project, ...SEND, '--allow', 'input-changed')).toMatchObject({ status: 0 });
    expect(api.numbers().sort()).toEqual(numbersOf(5));
    const texts = api.requests.map(({ body }) => body.includes('Dear Person'));
    expect(texts).toEqual([false, false, true, true, true]);
    expect(filesWithKey(project)).toEqual([]);
  });

  it.each<[label: string, recipients: string]>([
    ['key', 'recipients: { csv: people.csv, key: name }\n'],
    ['to', 'recipients: { csv: people.csv, to: other }\n'],
    ['defaultCountry', 'recipients: { csv: people.csv, defaultCountry: GB }\n'],
  ])('another %s is refused even with --allow input-changed (J1)', async (_label, recipients) => {
    await using api = await startApi();
    const list =
      'msisdn,name,city,other\n+447700900011,Ana,Bath,+447700900021\n+447700900012,Ravi,Bath,+447700900022\n';
    using project = goodProject(people(list), api.port);
    expect(await run(project, ...SEND, '--limit', '1')).toMatchObject({ status: 0 });
    project.write('hello/campaign.yaml', CAMPAIGN.replace('recipients: people.csv\n', recipients));
    const refused = await run(project, ...SEND, '--allow', 'input-changed');
    expect(refused.stderr).toContain('error[identity-changed]');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).not.toMatch(/\n\s+at /);
    expect(api.requests.length).toBe(1);
  });

  it('a plan file is sent once, and not at all after a byte has changed (J1)', async () => {
    await using api = await startApi();
    using project = goodProject({}, api.port);
    const planFile = await run(project, 'plan', 'hello', '--env', 'prod', '-o', 'hello.plan.json');
    expect(planFile, planFile.stderr).toMatchObject({ status: 0 });
    expect(api.connections).toBe(0);
    const apply = ['send', '--plan', 'hello.plan.json', '--yes'];

    project.write('hello/people.csv', PEOPLE.replace('Ravi', 'Rava'));
    const refused = await run(project, ...apply);
    expect(refused.stderr).toContain('error[input-changed]');
    expect(refused.stderr).toContain('people.csv');
    expect(refused).toMatchObject({ status: 2 });
    expect(api.connections).toBe(0);
    expect(ledgerRows(project)).toBe(0);

    project.write('hello/people.csv', PEOPLE);
    expect(await run(project, ...apply)).toMatchObject({ status: 0 });
    expect(api.requests.length).toBe(2);
    const again = await run(project, ...apply);
    expect(again).toMatchObject({ status: 0 });
    expect(again.stderr).toContain('nothing was posted');
    expect(api.requests.length).toBe(2);
  });
});

describe.concurrent('a run that is stopped', () => {
  const SLOW_MS = 100;
  const COUNT = 40;
  const CONCURRENCY = 4;
  const slowSend = [...SEND, '--concurrency', String(CONCURRENCY)];

  it('is held by one process at a time (H2, J3)', async () => {
    const accept = accepting();
    let answerAll = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    await using api = await startApi((request) => void answered.then(() => accept(request)));
    using project = goodProject(people(listOf(3)), api.port);
    const first = startCli(slowSend, { cwd: project.root, env: { CANARY_KEY: KEY } });
    await until('the first request', () => api.requests.length > 0);
    const [second, third] = await Promise.all([
      run(project, ...slowSend),
      run(project, ...slowSend, '--if-locked', 'skip'),
    ]);
    expect(second).toMatchObject({ status: 6 });
    expect(second.stderr).toContain('error[locked]');
    expect(third).toMatchObject({ status: 0 });
    expect(api.requests.length).toBe(1);
    answerAll();
    expect(await first.done).toMatchObject({ status: 0 });
    expect(api.numbers().sort()).toEqual(numbersOf(3));
  });

  it('SIGTERM: finishes what is in flight; running again continues (I2)', async () => {
    await using api = await startApi(afterMs(SLOW_MS, accepting()));
    using project = goodProject(people(listOf(COUNT)), api.port);
    const first = startCli(slowSend, { cwd: project.root, env: { CANARY_KEY: KEY } });
    await until('ten requests', () => api.requests.length >= 10);
    first.kill('SIGTERM');
    expect(await first.done).toMatchObject({ status: 143, signal: null });
    const before = api.requests.length;
    expect(before).toBeLessThan(COUNT);
    const interrupted = await outcomes(project);
    expect(interrupted).toEqual({ accepted: before, pending: COUNT - before });
    expect(await run(project, ...slowSend)).toMatchObject({ status: 0 });
    expect(api.numbers().sort()).toEqual(numbersOf(COUNT));
    expect(filesWithKey(project)).toEqual([]);
  });

  it('SIGKILL: the few in flight are in doubt, no recipient is sent to twice (C10)', async () => {
    await using api = await startApi(afterMs(SLOW_MS, accepting()));
    using project = goodProject(people(listOf(COUNT)), api.port);
    const first = startCli(slowSend, { cwd: project.root, env: { CANARY_KEY: KEY } });
    await until('ten requests', () => api.requests.length >= 10);
    first.kill('SIGKILL');
    expect(await first.done).toMatchObject({ signal: 'SIGKILL' });
    const second = await run(project, ...slowSend);
    expect(second.stderr).toContain('in doubt');
    expect(second).toMatchObject({ status: 4 });
    const { 'in-doubt': inDoubt = 0, accepted = 0, ...others } = await outcomes(project);
    expect(others).toEqual({});
    expect(inDoubt).toBeGreaterThan(0);
    expect(inDoubt).toBeLessThanOrEqual(CONCURRENCY);
    expect(accepted).toBe(COUNT - inDoubt);
    const received = api.numbers();
    expect(new Set(received).size).toBe(received.length);
    expect(received.length).toBeGreaterThanOrEqual(accepted);
    expect(filesWithKey(project)).toEqual([]);
  });

  it('401 stops it at the first request, and all recipients stay pending (F2)', async () => {
    // Late enough for others to be on their way, if they were let.
    await using api = await startApi(afterMs(SLOW_MS, answer(401, '{"title":"Unauthorized"}')));
    using project = goodProject(people(listOf(COUNT)), api.port);
    const sent = await run(project, ...slowSend);
    expect(sent).toMatchObject({ status: 5 });
    expect(api.requests.length).toBe(1);
    expect(await outcomes(project)).toEqual({ pending: COUNT });
    expect(sent.stdout + sent.stderr).not.toContain(KEY);
    expect(filesWithKey(project)).toEqual([]);
  });
});

it.concurrent('a suppressed recipient is skipped', async () => {
  await using api = await startApi();
  using project = goodProject(people(listOf(3)), api.port);
  expect(await run(project, 'suppress', 'add', '+44 7700 900002')).toMatchObject({ status: 0 });
  expect(await run(project, ...SEND)).toMatchObject({ status: 0 });
  expect(api.numbers().sort()).toEqual(['+447700900001', '+447700900003']);
  expect(await outcomes(project)).toEqual({ accepted: 2, 'skipped(suppressed)': 1 });
});

interface Api extends RawServer, AsyncDisposable {
  /** Who was sent to, in the order of arrival. */
  numbers(): string[];
}

async function startApi(behaviour: Behaviour = accepting()): Promise<Api> {
  const api = await startRawServer({ behaviour });
  return Object.assign(api, {
    numbers: () => api.requests.map(({ body }) => /"msisdn":"([^"]+)"/.exec(body)?.[1] ?? body),
    [Symbol.asyncDispose]: async () => await api.close(),
  });
}

async function run(project: TestProject, ...args: string[]): Promise<CliResult> {
  return await commandRunner()(args, { cwd: project.root, env: { CANARY_KEY: KEY } });
}

/** How many recipients the report has for each outcome, with the reason of skipped ones. */
async function outcomes(project: TestProject): Promise<Record<string, number>> {
  const { stdout } = await run(project, 'report', '--format', 'jsonl');
  const counts: Record<string, number> = {};
  for (const line of stdout.trimEnd().split('\n')) {
    const { outcome, reason } = JSON.parse(line) as { outcome: string; reason: string | null };
    const name = outcome === 'skipped' ? `skipped(${reason})` : outcome;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function numbersOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `+447700900${String(i + 1).padStart(3, '0')}`);
}

function listOf(count: number): string {
  return `msisdn,name,city\n${numbersOf(count)
    .map((number, i) => `${number},Person ${i + 1},Bath\n`)
    .join('')}`;
}

/** A project that would be sent as it is, but for the files that are given. */
function goodProject(files: ProjectFiles, port = server.port): TestProject {
  const project = createProject({
    'handbill.yaml': projectFile().replace('PORT', String(port)),
    'hello/campaign.yaml': CAMPAIGN,
    'hello/hello.hbs': 'Hello {{name}} in {{city}}',
    'hello/people.csv': PEOPLE,
  });
  for (const [name, content] of Object.entries(files)) {
    project.write(name, typeof content === 'string' ? content.replace('PORT', String(port)) : content);
  }
  return project;
}

function filesWithKey(project: TestProject): string[] {
  return [...project.contents()].filter(([, bytes]) => bytes.includes(KEY)).map(([file]) => file);
}

/** Runs and recipients in the ledger of the project; 0 where there is none. */
function ledgerRows(project: TestProject): number {
  const path = project.path('.handbill/ledger.db');
  if (!existsSync(path)) return 0;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const row = database.prepare('SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM recipients) AS n').get();
    return Number(row?.['n']);
  } finally {
    database.close();
  }
}
