import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import type { RunIdentity, RunRecord } from '../../src/ledger/records.ts';
import type { PurgeResult } from '../../src/operations/purge.ts';
import { createHasher } from '../../src/suppression/hash.ts';
import { type CliResult, startCli, until } from '../helpers/cli.ts';
import { formatAjv } from '../helpers/format-schemas.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { startedRun, withLedger } from '../ledger/given.ts';
import { claimOf, keyOf, loadRow, resultOf } from '../ledger/values.ts';
import { createScene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';
import { handbillHere } from './in-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DAY = 86_400_000;
const AGO = Date.now() - 100 * DAY;
const HELLO: RunIdentity = { environment: 'sandbox', campaign: 'hello', occurrence: 'once' };

const FILES = {
  'handbill.yaml': '',
  'campaign.yaml': 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n',
  'people.csv': `msisdn\n${keyOf(0)}\n${keyOf(1)}\n`,
};

function ledgerOf(project: TestProject): string {
  return project.path('.handbill/ledger.db');
}

interface Given extends Partial<RunIdentity> {
  readonly rows?: number;
  /** Rows that were accepted; the rest is pending. */
  readonly accepted?: number;
  readonly atMs?: number;
}

function givenRun(path: string, { rows = 4, accepted = rows, atMs = AGO, ...of }: Given = {}): RunRecord {
  return withLedger(path, atMs, (ledger) => {
    const draft = ledger.beginLoad({ ...HELLO, ...of }, { channel: 'sms', nowMs: atMs });
    const isDone = (row: number) => row >= 16 && row < accepted;
    const list = Array.from({ length: rows }, (_, row) =>
      loadRow(row, isDone(row) ? { state: 'skipped', reason: 'suppressed' } : {}),
    );
    for (let at = 0; at < rows; at += 4000) ledger.load(draft, list.slice(at, at + 4000));
    const run = ledger.start(ledger.finishLoad(draft, { inputs: [], identityHash: 'identity', nowMs: atMs }), atMs).run;
    const sent = Array.from({ length: Math.min(16, accepted) }, (_, row) => row);
    ledger.commit(run, [], sent.map(claimOf), atMs);
    ledger.commit(
      run,
      sent.map((row) => resultOf(row)),
      [],
      atMs + 5,
    );
    const state = accepted < rows ? 'partial' : 'finished';
    return ledger.finish(run, { state, halt: null, figures: null, nowMs: atMs + 10 });
  });
}

/** A command line, in this process. */
async function cli(
  project: TestProject,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Pick<CliResult, 'status' | 'stdout' | 'stderr'>> {
  const { status, out: stdout, err: stderr } = await handbillHere(project.root, args, { env, width: 100 });
  return { status, stdout, stderr };
}

async function purgeJson(
  project: TestProject,
  ...args: readonly string[]
): Promise<PurgeResult & { status: number | null }> {
  const { status, stdout, stderr } = await cli(project, ['purge', '--format', 'json', '--yes', ...args]);
  expect(stderr).toBe('');
  const result = JSON.parse(stdout) as PurgeResult;
  expect(isResult(result), JSON.stringify(isResult.errors)).toBe(true);
  return { ...result, status };
}

const isResult = formatAjv({ strict: false }).compile(
  JSON.parse(readFileSync(join(ROOT, 'schemas', 'purge.schema.json'), 'utf8')) as object,
);
const isReport = formatAjv({ strict: false }).compile(
  JSON.parse(readFileSync(join(ROOT, 'schemas', 'report.schema.json'), 'utf8')) as object,
);

/** Every file beside the ledger, as one string of bytes. */
function bytesOf(path: string): string {
  return readdirSync(dirname(path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

async function reportOf(project: TestProject, run: string): Promise<Record<string, unknown>> {
  const { stdout } = await cli(project, ['report', run, '--format', 'json']);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  expect(isReport(report), JSON.stringify(isReport.errors)).toBe(true);
  return report;
}

describe('a run that is old enough', () => {
  const project = createProject(FILES);
  const path = ledgerOf(project);
  let run: RunRecord;
  beforeAll(() => {
    run = givenRun(path, { rows: 2 });
    givenRun(path, { rows: 2, environment: 'production' });
    givenRun(path, { rows: 2, campaign: 'newer', atMs: Date.now() - 5 * DAY });
  });
  afterAll(() => project[Symbol.dispose]());

  test('is shown first, and nothing is changed without a yes', async () => {
    const before = readFileSync(path);
    const dry = await purgeJson(project, '--older-than', '90d', '--dry-run', '--env', 'sandbox');
    expect(dry).toMatchObject({ status: 0, dryRun: true, rewritten: null, left: [], lists: 0 });
    expect(dry.purged).toMatchObject([
      { run: run.id, recipients: 2, open: 0, lastActivity: new Date(AGO + 10).toISOString() },
    ]);
    const refused = await cli(project, ['purge', '--older-than', '90d']);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toMatch(/can never be continued[\s\S]*not-confirmed[\s\S]*--yes/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('loses its personal data, and its report stays', async () => {
    const before = await reportOf(project, run.id);
    const done = await purgeJson(project, '--older-than', '90d', '--env', 'sandbox', '--campaign', 'hello');
    expect(done).toMatchObject({ status: 0, dryRun: false, rewritten: 'done', purged: [{ run: run.id }] });
    const { purgedAt, ...after } = await reportOf(project, run.id);
    expect(after).toEqual(before);
    expect(Date.now() - Date.parse(String(purgedAt))).toBeLessThan(60_000);

    const text = await cli(project, ['report', run.id]);
    expect(text.stdout).toMatch(/Personal data purged on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\./);
    const { stdout } = await cli(project, ['report', run.id, '--format', 'jsonl']);
    const rows = jsonLines<Record<string, unknown>>(stdout);
    expect(rows).toMatchObject(
      [2, 3].map((line) => ({
        line,
        key: null,
        to: null,
        reference: null,
        messageId: null,
        updatedAt: null,
        outcome: 'accepted',
      })),
    );
    // The other two hold the same addresses.
    expect(bytesOf(path)).toContain(keyOf(0));
  });

  test('can never be continued, nor shown as if it were new', async () => {
    for (const args of [
      ['send', 'campaign.yaml'],
      ['send', 'campaign.yaml', '--allow', 'input-changed'],
      ['preview', 'campaign.yaml'],
    ]) {
      const { status, stderr } = await cli(project, args);
      expect({ args, status }).toEqual({ args, status: 2 });
      expect(stderr).toMatch(/run-purged.*purged on \d{4}-\d\d-\d\d[\s\S]*--occurrence/);
    }
    const { status, stderr } = await cli(project, ['doubt', 'resolve', run.id, '--all', '--as', 'accepted', '--yes']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/run-purged/);
  });

  test('quiet says nothing where all is well, and the rest follows without limits', async () => {
    const { status, stdout, stderr } = await cli(project, ['purge', '--older-than', '1s', '--yes', '--quiet']);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    const left = bytesOf(path);
    expect([0, 1].filter((row) => left.includes(keyOf(row).slice(1)))).toEqual([]);
    expect(await purgeJson(project, '--older-than', '1s')).toMatchObject({ status: 0, purged: [], rewritten: null });
  });
});

describe('what is not finished', () => {
  test('is left and named, until it is said that it is over', async () => {
    using project = createProject(FILES);
    const path = ledgerOf(project);
    const run = givenRun(path, { rows: 5, accepted: 3 });
    givenRun(path, { rows: 2, campaign: 'done' });
    const first = await purgeJson(project, '--older-than', '90d');
    expect(first).toMatchObject({
      status: 2,
      purged: [{ campaign: 'done' }],
      left: [{ run: run.id, open: 2, why: 'open' }],
    });
    expect(bytesOf(path)).toContain(keyOf(4));
    const text = await cli(project, ['purge', '--older-than', '90d', '--yes', '--quiet']);
    expect(text.status).toBe(2);
    expect(text.stdout).toMatch(/Left as it is[\s\S]*--with-open/);

    const before = await reportOf(project, run.id);
    const second = await purgeJson(project, '--older-than', '90d', '--with-open');
    expect(second).toMatchObject({ status: 0, purged: [{ run: run.id, open: 2 }], left: [] });
    const { purgedAt, ...after } = await reportOf(project, run.id);
    expect(after).toEqual(before);
    const shown = await cli(project, ['report', run.id]);
    expect(shown.stdout).toMatch(/not tried yet +2/);
    expect(shown.stdout).not.toMatch(/handbill send/);
    expect(bytesOf(path)).not.toContain(keyOf(0).slice(1));
  });

  test('recipients in doubt: what was claimed when a process died counts', async () => {
    using project = createProject(FILES);
    const path = ledgerOf(project);
    const run = withLedger(path, AGO, (ledger) => {
      const begun = startedRun(ledger, [loadRow(0)], { nowMs: AGO });
      ledger.commit(begun, [], [claimOf(0)], AGO);
      return begun;
    });
    expect(await purgeJson(project, '--older-than', '90d')).toMatchObject({ status: 2, left: [{ open: 1 }] });
    const before = await reportOf(project, run.id);
    expect(before).toMatchObject({ totals: { inDoubt: 1 } });
    expect(await purgeJson(project, '--older-than', '90d', '--with-open')).toMatchObject({ status: 0 });
    const { purgedAt, ...after } = await reportOf(project, run.id);
    // What the API said is forgotten with the rest.
    const { causes, verdict, ...counts } = before;
    expect(causes).toHaveLength(1);
    expect(after).toEqual({ ...counts, verdict: String(verdict).replace(/ Cause .*/, '') });
    const doubts = await cli(project, ['doubt', 'list', '--format', 'json']);
    expect(JSON.parse(doubts.stdout)).toMatchObject({ doubts: [] });
  });
});

test('a run that is being sent is not purged', async () => {
  using project = createProject(FILES);
  const path = ledgerOf(project);
  const run = givenRun(path);
  const lock = acquireRunLock(path, HELLO);
  try {
    const result = await purgeJson(project, '--older-than', '90d');
    expect(result).toMatchObject({ status: 6, purged: [], left: [{ run: run.id, why: 'held' }] });
    const text = await cli(project, ['purge', '--older-than', '90d', '--yes']);
    expect(text.stdout).toMatch(/another process is at work/);
  } finally {
    lock?.release();
  }
  expect(await purgeJson(project, '--older-than', '90d')).toMatchObject({ status: 0, purged: [{ run: run.id }] });
});

test('two purges do not mix', async () => {
  using project = createProject(FILES);
  givenRun(ledgerOf(project));
  const lock = acquireRunLock(ledgerOf(project), { environment: '', campaign: '', occurrence: 'purge' });
  const { status, stderr } = await cli(project, ['purge', '--older-than', '90d', '--yes']);
  lock?.release();
  expect({ status, stderr }).toMatchObject({ status: 6, stderr: expect.stringMatching(/locked.*purging this ledger/) });
});

describe('what it cannot do', () => {
  const project = createProject(FILES);
  afterAll(() => project[Symbol.dispose]());
  test.each([
    { label: 'without an age', args: ['purge'], says: /--older-than/ },
    { label: 'an age that is none', args: ['purge', '--older-than', '90'], says: /90d, 12h or P13W/ },
    { label: 'an age of nothing', args: ['purge', '--older-than', '0d'], says: /90d, 12h or P13W/ },
  ])('$label', async ({ args, says }) => {
    const { status, stderr } = await cli(project, args);
    expect(status).toBe(2);
    expect(stderr).toMatch(says);
  });
  test.each([
    ['a campaign', ['--campaign', 'helo'], /campaign-not-found.*no campaign "helo".*Did you mean "hello"/s],
    ['a campaign like nothing', ['--campaign', 'nope'], /campaign-not-found.*no campaign "nope".*handbill runs/s],
    ['an environment', ['--env', 'sandbx'], /unknown-environment.*no environment "sandbx".*Did you mean "sandbox"/s],
    ['an environment like nothing', ['--env', 'zz'], /unknown-environment.*"zz".*Known here: sandbox, old/s],
  ])('an unknown %s is refused', async (_, filter, says) => {
    using known = createProject(FILES);
    const path = ledgerOf(known);
    givenRun(path, { rows: 2, environment: 'old', campaign: 'gone' });
    const { status, stdout, stderr } = await cli(known, ['purge', '--older-than', '90d', '--yes', ...filter]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
    // What the ledger alone knows, and what the project alone knows, is known.
    for (const name of ['gone', 'hello']) {
      const args = ['purge', '--older-than', '90d', '--dry-run', '--campaign', name, '--env', 'old'];
      expect([name, (await cli(known, args)).status]).toEqual([name, 0]);
    }
  });

  test('without a ledger there is nothing to purge, and none is made', async () => {
    expect(await purgeJson(project, '--older-than', '90d')).toMatchObject({ status: 0, purged: [] });
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });
});

describe('suppressions', () => {
  const KEY = 'a suppression key of thirty-two b';
  const hasher = createHasher(Buffer.from(KEY));
  const suppressed = (path: string): void =>
    withLedger(path, AGO, (ledger) => {
      ledger.suppress('+447911000001', { reason: 'asked', untilMs: null, source: 'user', nowMs: AGO });
    });

  test('without a key they stay, and it is said', async () => {
    using project = createProject(FILES);
    suppressed(ledgerOf(project));
    const { stdout } = await cli(project, ['purge', '--older-than', '90d', '--yes']);
    expect(stdout).toMatch(/1 suppression stays with the plain address[\s\S]*suppressionKey/);
    expect(bytesOf(ledgerOf(project))).toContain('447911000001');
  });

  test('with a key they become hashes; with --campaign they stay as they are', async () => {
    using project = createProject({ ...FILES, 'handbill.yaml': 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n' });
    const path = ledgerOf(project);
    suppressed(path);
    const env = { HANDBILL_SUPPRESSION_KEY: KEY };
    await cli(project, ['purge', '--older-than', '90d', '--yes', '--campaign', 'hello'], env);
    expect(bytesOf(path)).toContain('447911000001');
    const { status, stdout } = await cli(project, ['purge', '--older-than', '90d', '--yes'], env);
    expect(status).toBe(0);
    expect(stdout).toMatch(/1 suppression was kept as a keyed hash/);
    expect(bytesOf(path)).not.toContain('447911000001');
    withLedger(path, Date.now(), (ledger) => {
      expect(ledger.isHashSuppressed(hasher.hash('+447911000001'), Date.now())).toBe(true);
    });
  });

  test('a key that is named and missing, or another one than before, refuses', async () => {
    using project = createProject({ ...FILES, 'handbill.yaml': 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n' });
    suppressed(ledgerOf(project));
    const missing = await cli(project, ['purge', '--older-than', '90d', '--yes']);
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringMatching(/missing-suppression-key/) });
    withLedger(ledgerOf(project), AGO, (ledger) => {
      const entry = {
        hash: hasher.hash('+447911000002'),
        keyId: hasher.keyId,
        reason: null,
        untilMs: null,
        source: 'import',
      };
      ledger.suppressAll([], [entry], AGO);
    });
    const other = await cli(project, ['purge', '--older-than', '90d', '--yes'], {
      HANDBILL_SUPPRESSION_KEY: 'another key of thirty-two bytes..',
    });
    expect(other).toMatchObject({ status: 2, stderr: expect.stringMatching(/other-suppression-key/) });
    expect(bytesOf(ledgerOf(project))).toContain('447911000001');
  });
});

describe('with kill -9', () => {
  const ROWS = 30_000;
  /** Reads the ledger without a word of handbill's. */
  function isCleared(path: string, row: number): boolean {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return db.prepare('SELECT key IS NULL AS cleared FROM recipients WHERE row = ?').get(row)?.['cleared'] === 1;
    } finally {
      db.close();
    }
  }

  test.each([
    { when: 'before the first row', holds: (path: string) => existsSync(`${path}.purge`) },
    { when: 'after the first rows', holds: (path: string) => isCleared(path, 0) },
    { when: 'in the middle', holds: (path: string) => isCleared(path, ROWS / 2) },
    // Once more where a busy machine saw the moment too late, when the purge had ended.
  ])('$when: given again, it does the rest', { timeout: 60_000, retry: 2 }, async ({ when, holds }) => {
    using project = createProject(FILES);
    const path = ledgerOf(project);
    const run = givenRun(path, { rows: ROWS });
    const before = await reportOf(project, run.id);
    const started = startCli(['purge', '--older-than', '90d', '--yes'], { cwd: project.root });
    await until(when, () => holds(path));
    started.kill('SIGKILL');
    expect((await started.done).signal).toBe('SIGKILL');
    expect(isCleared(path, ROWS - 1)).toBe(false);

    const { purgedAt: first, ...half } = await reportOf(project, run.id);
    expect(half).toEqual(before);
    if (when !== 'before the first row') expect(first).toEqual(expect.any(String));
    if (first !== undefined) expect((await cli(project, ['send', 'campaign.yaml'])).stderr).toMatch(/run-purged/);
    // Whatever the limit: a run that was begun is finished.
    const again = await cli(project, ['purge', '--older-than', first === undefined ? '90d' : '1000d', '--yes']);
    expect(again).toMatchObject({ status: 0, stderr: '' });
    const { purgedAt, ...after } = await reportOf(project, run.id);
    expect(after).toEqual(before);
    expect(purgedAt).toBe(first ?? purgedAt);
    expect(existsSync(`${path}.purge`)).toBe(false);
    expect(bytesOf(path)).not.toContain('4477009');
  });
});

test('another campaign is sent meanwhile, and reports are read', { timeout: 60_000 }, async () => {
  await using api = await startApi();
  using scene = createScene({ rows: 800, baseUrl: api.url, receipts: api.receipts });
  givenRun(scene.ledger, { rows: 50_000 });
  const sending = scene.start(['--concurrency', '8']);
  await until('the first messages are out', () => api.received() > 50);
  const purging = scene.run(['purge', '--older-than', '90d', '--yes', '--format', 'json']);
  await until('the purge begins', () => existsSync(`${scene.ledger}.purge`));
  const reading = await scene.run(['runs', '--format', 'json']);
  expect(reading).toMatchObject({ status: 0, stderr: '' });
  const purged = await purging;
  const sentMeanwhile = api.received();
  const sent = await sending.done;
  expect(sent.status, sent.stderr).toBe(0);
  expect(scene.violations()).toEqual([]);
  expect({ status: purged.status, sentMeanwhile: sentMeanwhile > 100 }).toEqual({ status: 0, sentMeanwhile: true });
  expect(JSON.parse(purged.stdout)).toMatchObject({ purged: [{ campaign: 'hello' }], rewritten: 'done' });
  expect(bytesOf(scene.ledger)).not.toContain('4477009');
});
