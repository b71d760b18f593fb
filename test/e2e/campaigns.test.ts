import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { type RunningCli, runCli, startCli, until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'campaigns');
const ENV = { HANDBILL_API_KEY: 'sandbox' };
const BODY = '"headers":{"content-type":"application/json"},"body":';

/** Each example with its data rows, its exit status, and how many requests are answered 429 and made again. */
const EXAMPLES: readonly { name: string; rows: number; exit: number; again: number }[] = [
  { name: 'notification', rows: 12, exit: 0, again: 1 },
  { name: 'one-time-password', rows: 7, exit: 0, again: 0 },
  { name: 'reminder', rows: 7, exit: 0, again: 0 },
  { name: 'marketing', rows: 24, exit: 0, again: 0 },
  { name: 'survey', rows: 7, exit: 0, again: 0 },
  { name: 'support', rows: 6, exit: 3, again: 1 },
];

test('every example is in the table', () => {
  const folders = readdirSync(SOURCE).filter((name) => existsSync(join(SOURCE, name, 'campaign.yaml')));
  expect(folders.sort()).toEqual(EXAMPLES.map(({ name }) => name).sort());
});

describe.concurrent('an example', () => {
  it.each(EXAMPLES)('$name: what preview shows is what arrives, once', async ({ name, rows, exit, again }) => {
    using project = copyOfExamples();
    await using sandbox = await startSandbox(project);
    const run = async (...args: string[]) => await runCli(args, { cwd: project.path('campaigns'), env: ENV });
    const campaign = ['--env', 'local', name];

    expect(await run('validate', name)).toMatchObject({ status: 0 });
    const sent = await run('send', '--yes', '--format', 'json', ...campaign);
    expect(sent).toMatchObject({ status: exit });
    const { startedAt, totals } = JSON.parse(sent.stdout) as SendJson;

    // A preview of the run itself says "done"; without its ledger it says what the run said at its start.
    const fresh = ['--ledger', project.path('none/ledger.db')];
    const previewed = await run('preview', '--format', 'jsonl', '--at', startedAt, ...fresh, ...campaign);
    expect(previewed.status, previewed.stderr).toBe(0);
    const bodies = bodiesOf(previewed.stdout);
    expect(bodies.length).toBe(totals.accepted + totals.rejected);
    expect(previewed.stdout.match(/"decision":"send"/g)?.length).toBe(bodies.length);
    expect(existsSync(project.path('none'))).toBe(false);
    const received = sandbox.received();
    expect([...new Set(received)].sort()).toEqual([...bodies].sort());
    expect(received.length).toBe(bodies.length + again);

    const report = await run('report', '--format', 'jsonl');
    const records = report.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { outcome: string });
    expect(records.length).toBe(rows);
    expect(totals.recipients).toBe(rows);
    expect(records.filter(({ outcome }) => outcome === 'accepted').length).toBe(totals.accepted);
    expect(sum(totals)).toBe(rows);

    const second = await run('send', '--yes', ...campaign);
    expect(second).toMatchObject({ status: exit });
    expect(second.stderr).toContain('nothing was posted');
    expect(sandbox.received().length).toBe(received.length);
  });

  it('in two starts sends to nobody twice', async () => {
    using project = copyOfExamples();
    await using sandbox = await startSandbox(project);
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

interface SendJson {
  readonly startedAt: string;
  readonly totals: Readonly<Record<string, number>> & { readonly accepted: number; readonly rejected: number };
}

function sum(totals: Readonly<Record<string, number>>): number {
  const { recipients: _, ...outcomes } = totals;
  return Object.values(outcomes).reduce((all, count) => all + count, 0);
}

/** The bodies as they stand in the lines, so that bytes are compared and not what they mean. */
function bodiesOf(jsonl: string): string[] {
  return jsonl.split('\n').flatMap((line) => {
    const at = line.indexOf(BODY);
    return at === -1 ? [] : [line.slice(at + BODY.length, -'}}'.length)];
  });
}

function copyOfExamples(): TestProject {
  const project = createProject({});
  cpSync(SOURCE, project.path('campaigns'), { recursive: true, filter: (from) => !from.includes('.handbill') });
  // One call a second is the point of this example, and no point of this test.
  const reminder = project.path('campaigns/reminder/campaign.yaml');
  writeFileSync(reminder, readFileSync(reminder, 'utf8').replace('60/min', '6000/min'));
  return project;
}

interface Sandbox extends AsyncDisposable {
  /** The bodies that arrived so far. */
  received(): string[];
}

/** The sandbox in its own process, and an environment `local` that leads to it. */
async function startSandbox(project: TestProject): Promise<Sandbox> {
  const receipts = project.path('receipts.jsonl');
  const args = ['sandbox', '--port', '0', '--quiet', '--receipts', receipts];
  const server: RunningCli = startCli(args, { cwd: project.root, env: ENV });
  await until('the address of the sandbox', () => /http:\S+:[0-9]+/.test(server.stdout()));
  const url = /http:\S+:[0-9]+/.exec(server.stdout())?.[0] ?? '';
  const file = project.path('campaigns/handbill.yaml');
  const local = `environments:\n  local:\n    baseUrl: ${url}\n    apiKey: { env: HANDBILL_API_KEY }\n`;
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${local}`);
  return {
    received() {
      const lines = readFileSync(receipts, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      return lines.map((line) => (JSON.parse(line) as { text: string }).text);
    },
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM');
      await server.done;
    },
  };
}
