import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type RunningCli, runCli, startCli, until } from '../helpers/cli.ts';
import { commandRunner, runnerOf } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'campaigns');
const ENV = { HANDBILL_API_KEY: 'sandbox' };
const runCommand = commandRunner();
const BODY = '"headers":{"content-type":"application/json"},"body":';

interface Example {
  readonly name: string;
  /** Data rows of the list. */
  readonly rows: number;
  readonly exit: number;
  /** Requests of the first step. */
  readonly requests: number;
  /** How many of them are answered 429 and made again. */
  readonly again?: number;
  /** Recipients whose first channel the sandbox cannot reach, so that the fallback goes out. */
  readonly fellBack?: number;
  /** The variant that is named as the winner in a second start. */
  readonly winner?: string;
  /** When it is sent, where that makes a difference. Default: whenever the test runs. */
  readonly at?: string;
  /** Recipients who wait for their window at that time. */
  readonly waiting?: number;
}

const EXAMPLES: readonly Example[] = [
  { name: 'notification', rows: 12, exit: 0, requests: 11, again: 1 },
  { name: 'one-time-password', rows: 7, exit: 0, requests: 7 },
  { name: 'reminder', rows: 8, exit: 0, requests: 8 },
  { name: 'marketing', rows: 24, exit: 0, requests: 21, winner: 'short' },
  { name: 'survey', rows: 7, exit: 0, requests: 2 },
  { name: 'support', rows: 6, exit: 3, requests: 6, again: 1 },
  { name: 'booking', rows: 5, exit: 0, requests: 5 },
  { name: 'delivery', rows: 7, exit: 0, requests: 7, fellBack: 3 },
  { name: 'invitation', rows: 9, exit: 3, requests: 9, fellBack: 5 },
  { name: 'newsletter', rows: 6, exit: 0, requests: 6 },
  { name: 'members', rows: 5, exit: 0, requests: 5 },
  // A Tuesday, 11:00 in London: Australia sleeps.
  { name: 'open-day', rows: 11, exit: 0, requests: 6, at: '2026-11-24T11:00:00Z', waiting: 3 },
  { name: 'appointment', rows: 7, exit: 0, requests: 3, at: '2026-11-24T09:01:00Z' },
  { name: 'visit', rows: 7, exit: 0, requests: 3, at: '2026-11-24T09:01:00Z', waiting: 3 },
  { name: 'welcome', rows: 5, exit: 0, requests: 5 },
  { name: 'rota', rows: 5, exit: 0, requests: 5, at: '2026-11-24T06:31:00Z' },
];

/** They go out after another one. */
const FOLLOW_UPS = ['welcome-2', 'welcome-3'];

test('every example is in the table', () => {
  const folders = readdirSync(SOURCE).filter((name) => existsSync(join(SOURCE, name, 'campaign.yaml')));
  expect(folders.sort()).toEqual([...EXAMPLES.map(({ name }) => name), ...FOLLOW_UPS].sort());
});

/** One sandbox for all of them: a body says whose it is. */
let sandbox: Sandbox;
const place = createProject({});
beforeAll(async () => {
  sandbox = await startSandbox(place);
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

it.concurrent('every example is valid', async () => {
  using project = copyOfExamples(sandbox.url);
  const { status, stdout, stderr } = await runCommand(['validate', 'campaigns'], { cwd: project.root });
  expect(status, stderr).toBe(0);
  expect(stdout.match(/^(?!\d+ campaigns ).* ok(?: .*)?$/gm)?.length, stdout).toBe(EXAMPLES.length + FOLLOW_UPS.length);
});

describe.concurrent('an example', () => {
  it.each(EXAMPLES)('$name: what preview shows is what arrives, once', { timeout: 120_000 }, async (example) => {
    const { name, rows, exit, requests, again = 0, fellBack = 0, winner, waiting = 0 } = example;
    using project = copyOfExamples(sandbox.url);
    const arrived = (): string[] => sandbox.received().filter((body) => body.includes(`"name":"${name}",`));
    // The first example has processes of its own, the others have the process of this test.
    const runner = runnerOf(EXAMPLES.indexOf(example), EXAMPLES.length);
    const options = { cwd: project.path('campaigns'), ...clockAt(project, example.at) };
    const run = async (...args: string[]) => await runner(args, options);
    const campaign = ['--env', 'local', name];
    const won = winner === undefined ? [] : ['--winner', winner];

    const sent = await run('send', '--yes', '--format', 'json', ...campaign);
    expect(sent, sent.stderr).toMatchObject({ status: exit });
    const { startedAt, state, totals } = JSON.parse(sent.stdout) as SendJson;
    expect(totals.recipients).toBe(rows);
    expect(sum(totals)).toBe(rows);
    expect(state).toBe(winner === undefined && waiting === 0 ? 'finished' : 'partial');
    if (waiting > 0) expect(totals.deferred).toBe(waiting);
    if (winner !== undefined) {
      expect(totals.deferred).toBeGreaterThan(0);
      const rest = await run('send', '--yes', ...won, ...campaign);
      expect(rest, rest.stderr).toMatchObject({ status: exit });
    }

    // A preview of the run itself says "done"; without its ledger it says what the run said at its start.
    const fresh = ['--ledger', project.path('none/ledger.db'), '--allow', 'second-ledger'];
    const previewed = await run('preview', '--format', 'jsonl', '--at', startedAt, ...fresh, ...won, ...campaign);
    expect(previewed.status, previewed.stderr).toBe(0);
    expect(existsSync(project.path('none'))).toBe(false);
    const report = await run('report', '--format', 'jsonl');
    const records = linesOf(report.stdout).map((line) => JSON.parse(line) as ReportRecord);
    expect(records.map(({ line }) => line)).toEqual(linesOf(previewed.stdout).map((line) => shownIn(line).line));
    expect(records.filter(({ steps }) => steps !== undefined).length).toBe(fellBack);

    const expected = linesOf(previewed.stdout).flatMap((line, i) => {
      const shown = shownIn(line);
      expect(shown.decision === 'send').toBe(records[i]?.outcome === 'accepted' || records[i]?.outcome === 'rejected');
      // The first body is the row's own; then those of the fallbacks, of which the first ones went out.
      const own = shown.isShared ? 0 : 1;
      return shown.bodies.slice(0, own + (records[i]?.steps?.length ?? 1) - 1);
    });
    expect(expected.length).toBe(requests + fellBack);
    const received = arrived();
    expect([...new Set(received)].sort()).toEqual([...new Set(expected)].sort());
    expect(received.length).toBe(expected.length + again);

    const second = await run('send', '--yes', ...campaign);
    expect(second, second.stderr).toMatchObject({ status: exit });
    if (waiting === 0) expect(second.stderr).toContain('nothing was posted');
    expect(arrived().length).toBe(received.length);
  });

  it('in two starts sends to no recipient twice', async () => {
    using own = createProject({});
    await using sandbox = await startSandbox(own);
    using project = copyOfExamples(sandbox.url);
    const send = ['send', 'one-time-password', '--env', 'local', '--yes'];
    const first = await runCli([...send, '--limit', '3', '--format', 'json'], { cwd: project.root, env: ENV });
    expect(first).toMatchObject({ status: 0 });
    expect(JSON.parse(first.stdout)).toMatchObject({ state: 'partial', totals: { accepted: 3, pending: 4 } });
    expect(sandbox.received().length).toBe(3);
    const second = await runCli([...send, '--format', 'json'], { cwd: project.root, env: ENV });
    expect(second).toMatchObject({ status: 0 });
    expect(JSON.parse(second.stdout)).toMatchObject({ state: 'finished', totals: { accepted: 7, pending: 0 } });
    const references = sandbox.received().map((body) => /"handbill":"[^"]+"/.exec(body)?.[0]);
    expect(references).not.toContain(undefined);
    expect(new Set(references).size).toBe(7);
    expect(references.length).toBe(7);
  });
});

it('rota goes out by itself, each morning once', { timeout: 120_000 }, async () => {
  using own = createProject({});
  await using sandbox = await startSandbox(own);
  using project = copyOfExamples(sandbox.url);
  for (const [at, sent, said] of [
    ['2026-11-24T06:29:00Z', 0, 'rota (2026-11-23T06:30:00Z): not sent.'],
    ['2026-11-24T06:31:00Z', 5, ''],
    ['2026-11-24T06:32:00Z', 5, 'Nothing is due.'],
    ['2026-11-25T06:31:00Z', 10, ''],
  ] as const) {
    const options = { cwd: project.root, ...clockAt(project, at) };
    const due = await runCommand(['due', 'campaigns/rota', '--env', 'local', '--yes'], options);
    expect(due, due.stderr).toMatchObject({ status: 0 });
    expect(due.stdout + due.stderr, at).toContain(said);
    expect(existsSync(own.path('receipts.jsonl')) ? sandbox.received().length : 0, at).toBe(sent);
  }
});

it('the chain of welcome goes out step by step, but not to one who answered', { timeout: 120_000 }, async () => {
  using own = createProject({});
  await using sandbox = await startSandbox(own);
  using project = copyOfExamples(sandbox.url);
  const run = (at: string, ...args: string[]) =>
    runCommand(args, { cwd: project.path('campaigns'), ...clockAt(project, at) });
  const due = (at: string) => run(at, 'due', ...FOLLOW_UPS, '--env', 'local', '--yes');
  const arrived = (): number => sandbox.received().length;
  await due('2026-11-23T08:00:00Z');
  const sent = await run('2026-11-23T09:00:00Z', 'send', 'welcome', '--env', 'local', '--yes', '--quiet');
  expect(sent, sent.stderr).toMatchObject({ status: 0 });
  const answer = { id: 'r-1', from: '+447700900241', text: 'Do you sell ponds?', receivedAt: '2026-11-24T10:00:00Z' };
  project.write('campaigns/replies.jsonl', `${JSON.stringify(answer)}\n`);
  const found = await run('2026-11-24T11:00:00Z', 'listen', '--from', 'replies.jsonl', '--env', 'local');
  expect(found, found.stderr).toMatchObject({ status: 0 });
  for (const [at, count] of [
    ['2026-11-26T08:55:00Z', 5],
    ['2026-11-26T09:01:00Z', 9],
    ['2026-11-30T08:55:00Z', 9],
    ['2026-11-30T09:05:00Z', 13],
    ['2026-12-10T09:00:00Z', 13],
  ] as const) {
    const called = await due(at);
    expect(called, called.stderr).toMatchObject({ status: 0 });
    expect(arrived(), at).toBe(count);
  }
});

/** For a process and for this one: what makes the clock show this time when a command begins. */
function clockAt(project: TestProject, at: string | undefined) {
  if (at === undefined) return { env: ENV };
  const offsetMs = Date.parse(at) - Date.now();
  writeFileSync(project.path('clock'), String(offsetMs));
  const preload = join(import.meta.dirname, '..', 'processes', 'preload', 'clock.ts');
  const env = { ...ENV, NODE_OPTIONS: `--import ${preload}`, CLOCK_OFFSET_FILE: project.path('clock') };
  return { env, now: () => Date.now() + offsetMs };
}

interface SendJson {
  readonly startedAt: string;
  readonly state: string;
  readonly totals: Readonly<Record<string, number>> & { readonly recipients: number; readonly deferred: number };
}

interface ReportRecord {
  readonly line: number;
  readonly outcome: string;
  /** Only where there is more than one. */
  readonly steps?: readonly unknown[];
}

interface Shown {
  readonly line: number;
  readonly decision: string;
  /** The body is in the line of another recipient. */
  readonly isShared: boolean;
  /** As they are in the line, so that bytes are compared and not what they mean. */
  readonly bodies: readonly string[];
}

function sum(totals: Readonly<Record<string, number>>): number {
  const { recipients: _, ...outcomes } = totals;
  return Object.values(outcomes).reduce((all, count) => all + count, 0);
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function shownIn(text: string): Shown {
  const { line, decision, request } = JSON.parse(text) as Shown & { request: { sharedWithLine?: number } | null };
  // The mark cannot be in a text of the message: its quotes would be escaped.
  const bodies = text
    .split(BODY)
    .slice(1)
    .map((after) => after.slice(0, endOfObject(after)));
  return { line, decision, isShared: request?.sharedWithLine !== undefined, bodies };
}

/** Where the JSON object ends that begins the text. */
function endOfObject(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return text.length;
}

/** The examples, with an environment `local` that leads to a sandbox. */
function copyOfExamples(url: string): TestProject {
  const project = createProject({});
  cpSync(SOURCE, project.path('campaigns'), { recursive: true, filter: (from) => !from.includes('.handbill') });
  // One call a second is the point of this example, and no point of this test.
  const reminder = project.path('campaigns/reminder/campaign.yaml');
  writeFileSync(reminder, readFileSync(reminder, 'utf8').replace('60/min', '6000/min'));
  const file = project.path('campaigns/handbill.yaml');
  const local = `environments:\n  local:\n    baseUrl: ${url}\n    apiKey: { env: HANDBILL_API_KEY }\n`;
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${local}`);
  return project;
}

interface Sandbox extends AsyncDisposable {
  readonly url: string;
  /** The bodies that arrived so far. */
  received(): string[];
}

/** The sandbox in a process of its own. */
async function startSandbox(project: TestProject): Promise<Sandbox> {
  const receipts = project.path('receipts.jsonl');
  const args = ['sandbox', '--port', '0', '--quiet', '--receipts', receipts];
  const server: RunningCli = startCli(args, { cwd: project.root, env: ENV });
  await until('the address of the sandbox', () => /http:\S+:[0-9]+/.test(server.stdout()));
  const url = /http:\S+:[0-9]+/.exec(server.stdout())?.[0] ?? '';
  return {
    url,
    received() {
      return linesOf(readFileSync(receipts, 'utf8')).map((line) => (JSON.parse(line) as { text: string }).text);
    },
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM');
      await server.done;
    },
  };
}
