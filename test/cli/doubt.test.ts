import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import type { ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import { DOUBT_FIELDS, type Doubt, listDoubts, resolveDoubts } from '../../src/operations/doubt.ts';
import { send } from '../../src/operations/send.ts';
import { createReference } from '../../src/plan/expand.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { type CliResult, until } from '../helpers/cli.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { endedRun, withLedger } from '../ledger/given.ts';
import { keyOf, loadRow } from '../ledger/values.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const IDENTITY = { environment: 'test', campaign: 'proof', occurrence: 'once' };
const referenceOf = createReference(IDENTITY, 'sms');

async function listed(scene: Scene, ...args: readonly string[]): Promise<readonly Doubt[]> {
  const { status, stdout, stderr } = await scene.look(['doubt', 'list', ...args, '--format', 'json']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return (JSON.parse(stdout) as { doubts: readonly Doubt[] }).doubts;
}

describe('from silence to the end', () => {
  /** Scripted numbers of the sandbox, by line: silent ones between those that are answered. */
  const NUMBERS = ['001', '901', '002', '907', '003', '500', '004', '504', '400', '502'].map(
    (end) => `+447700900${end}`,
  );
  const files = createProject({});
  const receipts = files.path('receipts.jsonl');
  let sandbox: Sandbox | undefined;
  let scene: Scene | undefined;

  /** The same origin, with numbers that play scripts or with none. */
  async function serve(scripts: 'reserved' | 'none'): Promise<string> {
    const port = sandbox?.port ?? 0;
    await sandbox?.close();
    sandbox = await startSandbox({ apiKey: CANARY_KEY, receipts, scripts, port, keep: 0 });
    return sandbox.url;
  }
  afterAll(async () => {
    await sandbox?.close();
    scene?.[Symbol.dispose]();
    files[Symbol.dispose]();
  });

  test('every recipient is accounted for, and only those named are sent to again', {
    timeout: 120_000,
  }, async () => {
    const baseUrl = await serve('reserved');
    scene = createScene({
      rows: NUMBERS.length,
      baseUrl,
      receipts,
      campaign: 'limits: { stopAfter: { inDoubt: 50 } }',
    });
    scene.write('people.csv', `msisdn,name\n${NUMBERS.map((to, i) => `${to},Name ${i}\n`).join('')}`);
    const first = await scene.send();
    expect(first.status, first.stderr).toBe(4);
    expect(first.stdout).toMatch(/5 recipients in doubt/);
    expect(first.stdout).toMatch(/handbill doubt list proof-[0-9a-f]{8}/);
    expect(scene.violations()).toEqual([]);

    const doubts = await listed(scene);
    expect(doubts.map(({ line }) => line)).toEqual([3, 5, 7, 9, 11]);
    for (const { key, to, reference, attempts, verdict, since } of doubts) {
      expect(reference).toBe(key && referenceOf(key));
      expect({
        attempts,
        verdict,
        same: key === to,
        recent: Math.abs(Date.now() - Date.parse(since ?? '')) < 60_000,
      }).toEqual({
        attempts: 1,
        verdict: null,
        same: true,
        recent: true,
      });
    }
    const run = doubts[0]?.run ?? '';

    const resolve = async (...args: string[]) => {
      const done = await scene?.look(['doubt', 'resolve', run, ...args, '--yes']);
      expect({ status: done?.status, stderr: done?.stderr }, args.join(' ')).toMatchObject({ status: 0 });
      return done?.stdout ?? '';
    };
    expect(await resolve('--line', '3', '--as', 'accepted', '--note', 'ticket 4711', '--by', 'alice')).toMatch(
      /^1 recipient recorded as accepted\. 4 recipients still in doubt\.\nWho is left: +handbill doubt list proof-/,
    );
    await resolve('--key', '07700 900907', '--as', 'rejected').catch(() => undefined);
    // Without a default country a national number says nothing; nothing was changed.
    expect((await listed(scene)).length).toBe(4);
    await resolve('--key', '+44 7700 900907', '--as', 'rejected');
    // What a user cuts out of our own CSV, and a plain list of references.
    scene.write('never-seen.txt', `"'+447700900500"\r\n\r\n${referenceOf('+447700900504')}\n`);
    const resent = await resolve('--from', 'never-seen.txt', '--resend', '--accept-duplicates');
    expect(resent).toMatch(/2 recipients will be sent to once more. 1 recipient still in doubt/);
    expect(resent).toMatch(/To send on: +handbill send campaign.yaml --env test\n/);

    const askedAgain = new Map([referenceOf('+447700900500'), referenceOf('+447700900504')].map((one) => [one, 1]));
    const fates = () =>
      scene?.endings().map(({ outcome, reason }) => (reason === null ? outcome : `${outcome}(${reason})`));
    const settled = ['accepted', 'accepted(resolved)', 'accepted', 'rejected(resolved)', 'accepted'];
    expect(fates()).toEqual([
      ...settled,
      'pending(resend)',
      'accepted',
      'pending(resend)',
      'rejected(status)',
      'in-doubt(status)',
    ]);
    expect(scene.violations({ askedAgain })).toEqual([]);

    await serve('none');
    const second = await scene.goOn();
    expect(second.status, second.stderr).toBe(4);
    expect(fates()).toEqual([...settled, 'accepted', 'accepted', 'accepted', 'rejected(status)', 'in-doubt(status)']);
    expect(scene.violations({ askedAgain })).toEqual([]);
    const records = (await scene.look(['report', '--format', 'jsonl'])).stdout.trim().split('\n');
    expect(records.map((record) => JSON.parse(record).attempts)).toEqual([1, 1, 1, 1, 1, 2, 1, 2, 1, 1]);

    // Sent once more, and in doubt once more: two doubts, two resolutions, and a third message is not sent.
    await serve('reserved');
    await resolve('--all', '--resend', '--accept-duplicates', '--note', 'first');
    askedAgain.set(referenceOf('+447700900502'), 1);
    expect((await scene.goOn()).status).toBe(4);
    expect(await listed(scene)).toMatchObject([{ line: 11, attempts: 2, httpStatus: 502 }]);
    await resolve('--line', '11', '--as', 'rejected', '--note', 'second');
    const last = await scene.goOn();
    expect({ status: last.status, stderr: last.stderr }).toMatchObject({ status: 3 });
    expect(scene.violations({ askedAgain })).toEqual([]);

    const history = await listed(scene, 'proof', '--resolved');
    expect(history.map(({ line, attempts, verdict, note }) => [line, attempts, verdict, note])).toEqual([
      [3, 1, 'accepted', 'ticket 4711'],
      [5, 1, 'rejected', null],
      [7, 1, 'resend', null],
      [9, 1, 'resend', null],
      [11, 1, 'resend', 'first'],
      [11, 2, 'rejected', 'second'],
    ]);
    expect(history[0]?.resolvedBy).toBe('alice');
    expect(history[1]?.resolvedBy).toMatch(/^[^@]+@.+$/);
    const report = JSON.parse((await scene.look(['report', '--format', 'json'])).stdout);
    expect(report).toMatchObject({
      state: 'finished',
      totals: { recipients: 10, accepted: 7, rejected: 3, inDoubt: 0, pending: 0 },
      reasons: { accepted: { resolved: 1 }, rejected: { resolved: 2, status: 1 } },
      requests: { posted: 13 },
    });
  });
});

test('what a kill left can be resolved before anything is sent again (C10)', { timeout: 60_000 }, async () => {
  let answered = false;
  await using api = await startApi(() => (answered ? {} : { after: new Promise(() => undefined) }));
  using scene = createScene({ rows: 3, baseUrl: api.url, receipts: api.receipts });
  const sender = scene.start();
  await until('the first request', () => api.received() === 1);
  const early = await scene.run(['doubt', 'resolve', 'proof', '--all', '--as', 'accepted', '--yes']);
  expect(early.status).toBe(6);
  expect(early.stderr).toContain('Another process is sending this run (process ');
  sender.kill('SIGKILL');
  await sender.done;

  expect(await listed(scene)).toMatchObject([{ line: 2, reason: 'crash', attempts: 1 }]);
  const args = ['doubt', 'resolve', 'proof', '--line', '2', '--as', 'accepted', '--message-id', 'm-1', '--yes', '-q'];
  expect(await scene.run(args)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect((await scene.run(['runs'])).stdout).toContain('interrupted');
  answered = true;
  expect((await scene.goOn()).status).toBe(0);
  expect(scene.violations({ mostCrashes: 0 })).toEqual([]);
  expect(api.received()).toBe(3);
});

test('a run that began more than 24 hours ago is sent on only with --allow too-late', { timeout: 60_000 }, async () => {
  const files = createProject({});
  const receipts = files.path('receipts.jsonl');
  const silent = await startSandbox({ apiKey: CANARY_KEY, receipts });
  using scene = createScene({ rows: 1, baseUrl: silent.url, receipts });
  scene.write('people.csv', 'msisdn,name\n+447700900901,Ann\n');
  const yesterday = Date.now() - 25 * 3_600_000;
  const first = await send('campaign.yaml', {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY },
    now: () => yesterday,
    environment: 'test',
    confirm: async () => true,
  });
  expect(first.report.totals.inDoubt).toBe(1);
  await silent.close();
  const well = await startSandbox({ apiKey: CANARY_KEY, receipts, scripts: 'none', port: silent.port });
  try {
    const done = await scene.run(['doubt', 'resolve', 'proof', '--all', '--resend', '--accept-duplicates', '--yes']);
    expect(done.stdout).toMatch(/handbill send campaign\.yaml --env test --allow too-late\n/);
    const refused = await scene.goOn();
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('error[too-late]');
    expect((await scene.send(['--allow', 'too-late'])).status).toBe(0);
    expect(scene.violations({ askedAgain: new Map([[referenceOf('+447700900901'), 1]]) })).toEqual([]);
  } finally {
    await well.close();
    files[Symbol.dispose]();
  }
});

const NOW = Date.parse('2025-11-21T12:00:00Z');
const SILENT = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;

/** A run in the ledger of a project: each row with the result that is given. */
function given(
  project: TestProject,
  results: readonly Partial<ResultRecord>[],
  run: { readonly environment?: string; readonly campaign?: string; readonly keys?: readonly string[] } = {},
): RunRecord {
  const { keys = [], ...identity } = run;
  const list = results.map((_, row) => loadRow(row, { key: keys[row] ?? keyOf(row), to: keyOf(row) }));
  return withLedger(project.path('.handbill/ledger.db'), NOW, (ledger) =>
    endedRun(ledger, list, results, { ...identity, nowMs: NOW }),
  );
}

/** The command line in this process: as `main` runs it, without the time that a process takes to start. */
async function run(args: readonly string[], { cwd }: { readonly cwd: string }): Promise<CliResult> {
  const { status, out: stdout, err: stderr } = await handbillHere(cwd, args);
  return { status, stdout, stderr, signal: null };
}

describe('what is refused is refused whole, exit 2', () => {
  let project: TestProject;
  let before: unknown;
  const state = () =>
    withLedger(project.path('.handbill/ledger.db'), NOW, (ledger) =>
      ledger.runs().map((one) => [...ledger.outcomes(one), ...ledger.resolutions(one)].flat()),
    );

  beforeAll(() => {
    project = createProject({
      'handbill.yaml': '{}\n',
      'empty.txt': '\n \n',
      'asked.txt': `${keyOf(0)}\nnobody\n\n${keyOf(2)}\n`,
    });
    given(project, [SILENT, SILENT, {}, { state: 'rejected', reason: 'status', httpStatus: 400 }]);
    given(project, [SILENT], { environment: 'production' });
    given(project, [SILENT, SILENT], { campaign: 'keyed', keys: ['customer-1', 'customer-2'] });
    before = state();
  });
  afterAll(() => project[Symbol.dispose]());

  const HELLO_ID = 'hello-b804d89c';
  test.each<[label: string, args: readonly string[], says: readonly string[]]>([
    ['no recipient is chosen', [HELLO_ID, '--as', 'accepted'], ['No recipient is named', '--all']],
    ['all recipients and one line', [HELLO_ID, '--all', '--line', '2', '--as', 'accepted'], ['--all is all of them']],
    ['neither --as nor --resend', [HELLO_ID, '--all'], ['Say either --as or --resend']],
    ['both', [HELLO_ID, '--all', '--as', 'accepted', '--resend'], ['Say either --as or --resend']],
    ['no line', [HELLO_ID, '--line', '0', '--as', 'accepted'], ['from 1 to 1000000000.']],
    ['another outcome', [HELLO_ID, '--all', '--as', 'skipped'], ['accepted, rejected']],
    ['a second message without consent', [HELLO_ID, '--all', '--resend'], ['--accept-duplicates']],
    [
      'duplicates without a resend',
      [HELLO_ID, '--all', '--as', 'accepted', '--accept-duplicates'],
      ['belongs to --resend'],
    ],
    [
      'a message id for two',
      [HELLO_ID, '--all', '--as', 'accepted', '--message-id', 'x'],
      ['belongs to one recipient'],
    ],
    ['an id of a refusal', [HELLO_ID, '--line', '2', '--as', 'rejected', '--message-id', 'x'], ['--as accepted']],
    ['an empty note', [HELLO_ID, '--line', '2', '--as', 'accepted', '--note', ' '], ['--note is empty']],
    ['a line that is none', [HELLO_ID, '--line', '0', '--as', 'accepted'], ['whole number']],
    ['a file that is not there', [HELLO_ID, '--from', 'gone.txt', '--as', 'accepted'], ['error[file-not-found]']],
    ['a file without names', [HELLO_ID, '--from', 'empty.txt', '--as', 'accepted'], ['has no names', 'empty.txt']],
    ['no run', ['--all', '--as', 'accepted'], ["Missing required argument 'run'"]],
    [
      'a run that is not there',
      ['hallo', '--all', '--as', 'accepted'],
      ['error[run-not-found]', 'Did you mean "hello"?'],
    ],
    [
      'a campaign with two runs',
      ['hello', '--all', '--as', 'accepted'],
      ['error[run-ambiguous]', 'hello-b804d89c (sandbox, once)', '(production, once)'],
    ],
    [
      'some who are not in doubt, all of them shown',
      [HELLO_ID, '--line', '2', '4', '99', '--key', keyOf(3), 'nobody', '--as', 'accepted'],
      [
        'Line 4 is accepted, not in doubt',
        'Nothing was recorded for any of those who were chosen.',
        'Line 99 is not in this run',
        '"+44••••••0003" (line 5) is rejected (status), not in doubt',
        '"nobody" is not in this run',
        '4 errors',
      ],
    ],
    [
      'the same in a file, with its lines',
      [HELLO_ID, '--from', 'asked.txt', '--as', 'accepted'],
      ['asked.txt:2', 'asked.txt:4', '2 errors'],
    ],
    [
      'not confirmed',
      [HELLO_ID, '--all', '--as', 'accepted'],
      ['error[not-confirmed]', 'add --yes', '2 recipients of run'],
    ],
  ])('%s', { timeout: 30_000 }, async (label, args, says) => {
    const yes = label === 'not confirmed' ? [] : ['--yes'];
    const { status, stdout, stderr } = await run(['doubt', 'resolve', ...args, ...yes], { cwd: project.root });
    expect({ status, stdout }, stderr).toEqual({ status: 2, stdout: '' });
    for (const words of says) expect(stderr).toContain(words);
    expect(stderr).not.toContain(keyOf(3));
    expect(stderr).not.toMatch(/^ +at /m);
    expect(state()).toEqual(before);
  });

  test('while another process holds the run: exit 6; listing is free', async () => {
    const lock = acquireRunLock(project.path('.handbill/ledger.db'), {
      environment: 'sandbox',
      campaign: 'hello',
      occurrence: 'once',
    });
    const args = ['doubt', 'resolve', HELLO_ID, '--all', '--as', 'accepted', '--yes'];
    const held = await run(args, { cwd: project.root });
    const list = await run(['doubt', 'list', HELLO_ID], { cwd: project.root });
    lock?.release();
    expect({ status: held.status, stdout: held.stdout }).toEqual({ status: 6, stdout: '' });
    expect(held.stderr).toContain('error[locked]');
    expect(list.status).toBe(0);
    expect(state()).toEqual(before);
  });

  test('as a library: asked first, refused by default', async () => {
    const options = {
      cwd: project.root,
      env: {},
      now: () => NOW,
      by: 'test',
      verdict: 'accepted',
    } as const;
    const names = ['customer-1'];
    await expect(resolveDoubts('keyed', { ...options, names })).rejects.toMatchObject({
      code: 'not-confirmed',
      exit: 2,
    });
    const asked: unknown[] = [];
    const confirm = async (question: unknown) => {
      asked.push(question);
      return false;
    };
    await expect(resolveDoubts('keyed', { ...options, names, confirm })).rejects.toMatchObject({
      code: 'not-confirmed',
    });
    expect(asked).toMatchObject([{ verdict: 'accepted', doubts: [{ key: 'customer-1', line: 2 }] }]);
    // Another process resolves them while the question waits.
    const racing = async () => {
      await resolveDoubts('keyed', { ...options, names, note: 'quicker', confirm: async () => true });
      return true;
    };
    await expect(resolveDoubts('keyed', { ...options, all: true, confirm: racing })).rejects.toMatchObject({
      code: 'not-in-doubt',
    });
    const keyed = { cwd: project.root, env: {}, now: () => NOW, run: 'keyed' };
    expect(await listDoubts(keyed)).toMatchObject([{ key: 'customer-2' }]);
    expect(await listDoubts({ ...keyed, resolved: true })).toMatchObject([{ key: 'customer-1', note: 'quicker' }]);
    const done = await resolveDoubts('keyed', { ...options, all: true, confirm: async () => true });
    expect(done.report.totals).toMatchObject({ accepted: 2, inDoubt: 0 });
    // No recipient is left: all are none, and there is nothing to ask.
    expect((await resolveDoubts('keyed', { ...options, all: true })).resolved).toEqual([]);
  });
});

describe('the list', () => {
  const EVIL = '=1+1\u001b]52;c;eA==\u0007\r\u202e\u0085{{x}}';
  let project: TestProject;
  let sent: RunRecord;

  beforeAll(() => {
    project = createProject({ 'handbill.yaml': '{}\n' });
    const status = { state: 'in-doubt', reason: 'status', httpStatus: 500, messageId: null, error: EVIL } as const;
    const told = { ...status, error: `no route to ${keyOf(1)} (${keyOf(1).slice(1)})` } as const;
    sent = given(
      project,
      Array.from({ length: 23 }, (_, row) => [status, told][row] ?? SILENT),
      { keys: [EVIL] },
    );
    given(project, [{}], { campaign: 'well' });
  });
  afterAll(() => project[Symbol.dispose]());

  const doubtList = (...args: string[]) => run(['doubt', 'list', ...args], { cwd: project.root });

  it('text obeys nothing, masks addresses, and shows 20 and how many more (S21)', async () => {
    const { status, stdout, stderr } = await doubtList();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^[\n\x20-\x7e\u00a0-\u200d\u2010-\u2027\u2030-\u205f]*$/);
    expect(stdout).toContain('\\u{1b}]52;c;eA==\\u{7}');
    expect(stdout).toContain(`Run ${sent.id}: 23 recipients in doubt.`);
    expect(stdout).toContain('... and 3 more');
    expect(stdout).not.toContain(keyOf(1).slice(1));
    expect(stdout).toContain('no route to +44••••••0001');
    expect(stdout).toContain(`handbill doubt resolve ${sent.id} --line 2 --as accepted`);
    expect(stdout).toContain(`handbill doubt resolve ${sent.id} --line 2 --resend --accept-duplicates`);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    const full = (await doubtList('--full')).stdout;
    for (let row = 0; row < 23; row++) expect(full).toContain(keyOf(row));
    expect(full).not.toContain('... and');
    expect(full).toMatch(/ no-response$/m);
  });

  it('csv is safe in a spreadsheet, and goes to a file (S20)', async () => {
    const { status, stdout, stderr } = await doubtList('hello', '--format', 'csv', '-o', 'ask.csv');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toMatch(/^Written: ask\.csv \([0-9,]+ bytes\)$/m);
    const [head = '', first = ''] = readFileSync(project.path('ask.csv'), 'utf8').split('\n');
    expect(head).toBe(DOUBT_FIELDS.map((field) => `"${field}"`).join(','));
    expect(first).toContain(`"'=1+1`);
    expect(first).toContain(`"'${keyOf(0)}"`);
  });

  it('json is exact, and what its schema says; jsonl has the same, one a line', async () => {
    const { stdout } = await doubtList('hello', '--format', 'json');
    const document = JSON.parse(stdout) as { doubts: readonly Doubt[] };
    const schema = JSON.parse(readFileSync(join(ROOT, 'schemas/doubts.schema.json'), 'utf8'));
    const check = formatAjv({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(schema);
    expect(check(document), JSON.stringify(check.errors)).toBe(true);
    expect(document.doubts).toHaveLength(23);
    expect(document.doubts[0]).toMatchObject({ key: EVIL, error: EVIL, to: keyOf(0), verdict: null });
    expect(Object.keys(document.doubts[0] ?? {})).toEqual([...DOUBT_FIELDS]);
    const lines = (await doubtList('hello', '--format', 'jsonl')).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(document.doubts);
    expect(Object.keys(schema.definitions.doubt.properties)).toEqual([...DOUBT_FIELDS]);
  });

  it('says so where no recipient is in doubt', async () => {
    expect(await doubtList('well')).toMatchObject({ status: 0, stdout: 'No recipients are in doubt.\n' });
    expect((await doubtList('--resolved')).stdout).toBe('No doubt was resolved yet.\n');
    expect(JSON.parse((await doubtList('well', '--format', 'json')).stdout)).toEqual({ version: 1, doubts: [] });
    expect((await doubtList('nothing')).status).toBe(2);
    using empty = createProject({ 'handbill.yaml': '{}\n' });
    const none = await run(['doubt', 'list'], { cwd: empty.root });
    expect(none.status).toBe(2);
    expect(none.stderr).toContain('error[run-not-found]');
  });

  it('notes and names in the history obey nothing either (S21)', async () => {
    const by = ['--by', EVIL, '--note', `${EVIL}\nsecond line`];
    const args = ['doubt', 'resolve', 'hello', '--key', EVIL, '--as', 'accepted', ...by, '--yes'];
    const done = await run(args, { cwd: project.root });
    expect(done.status, done.stderr).toBe(0);
    const { stdout } = await doubtList('--resolved');
    for (const text of [stdout, done.stdout, done.stderr]) {
      expect(text).toMatch(/^[\n\x20-\x7e\u00a0-\u200d\u2010-\u2027\u2030-\u205f]*$/);
    }
    const [entry] = JSON.parse((await doubtList('--resolved', '--format', 'json')).stdout).doubts;
    expect(entry).toMatchObject({ resolvedBy: EVIL, note: `${EVIL}\nsecond line`, verdict: 'accepted', attempts: 1 });
  });

  it('runs says where to look', async () => {
    expect((await run(['runs'], { cwd: project.root })).stdout).toContain('handbill doubt list');
  });
});

test('the guide has every reason that a doubt can have', () => {
  const guide = readFileSync(join(ROOT, 'docs/doubt.md'), 'utf8');
  const classify = readFileSync(join(ROOT, 'src/http/classify.ts'), 'utf8');
  const reasons = [...classify.matchAll(/verdict\('in-doubt', '([a-z-]+)'/g)].map(([, reason]) => reason);
  expect(new Set(reasons).size).toBeGreaterThan(6);
  for (const reason of [...reasons, 'crash']) expect(guide).toContain(`| \`${reason}\` |`);
});
