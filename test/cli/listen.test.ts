import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { post, SECRET, signed } from '../webhook/sender.ts';

const WEBHOOK =
  'defaultCountry: GB\nenvironments: { sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n';
const ENV = { HANDBILL_WEBHOOK_SECRET: SECRET };
const NUMBER = '447700900123';
const EVENT = `{"messageId":"m1","status":"delivered","to":"${NUMBER}","timestamp":"2026-11-21T09:00:00Z"}`;

let folder = '';
const running: RunningCli[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'handbill-listen-'));
});

afterEach(async () => {
  for (const one of running.splice(0)) {
    one.kill('SIGKILL');
    await one.done;
  }
  await rm(folder, { recursive: true });
});

/** A process that listens, and its URL. */
async function listening(args: readonly string[] = [], webhook = WEBHOOK, env: Record<string, string> = ENV) {
  await writeFile(join(folder, 'handbill.yaml'), webhook);
  const cli = startCli(['listen', '--port', '0', ...args], { cwd: folder, env });
  running.push(cli);
  let ended = false;
  void cli.done.then(() => {
    ended = true;
  });
  await until('the process listens', () => ended || cli.stdout().includes('Ctrl-C'), 20_000);
  return { cli, url: /http:\S+/.exec(cli.stdout())?.[0] ?? '' };
}

const ledgerPath = (): string => join(folder, '.handbill', 'ledger.db');

function held(path = ledgerPath()) {
  const ledger = openLedger(path, { mode: 'read', nowMs: Date.now() });
  try {
    const reports = ledger.events.reportsNaming({ reference: null, messageId: 'm1' });
    return { ...ledger.events.counts(), states: reports.map(({ state, address }) => [state, address]) };
  } finally {
    ledger.close();
  }
}

describe('handbill listen', () => {
  test('kill -9 right after the 200: the event is there', async () => {
    const { cli, url } = await listening();
    expect((await post(url, EVENT, signed(EVENT))).status).toBe(200);
    cli.kill('SIGKILL');
    expect((await cli.done).signal).toBe('SIGKILL');
    expect(held()).toMatchObject({ reports: 1, states: [['delivered', '+447700900123']] });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends it in good order, exit %i; nothing of an event is printed', async (signal, status) => {
    const { cli, url } = await listening();
    expect((await post(url, EVENT, signed(EVENT))).status).toBe(200);
    expect((await post(url, EVENT, signed(EVENT))).status).toBe(200);
    expect((await post(url, EVENT)).status).toBe(401);
    cli.kill(signal);
    const { status: found, stdout, stderr } = await cli.done;
    expect(found).toBe(status);
    expect(held()).toMatchObject({ reports: 1, replies: 0, unread: 0 });
    expect(stdout).toMatch(/^Receiving on http:\/\/127\.0\.0\.1:\d+\/webhooks\nEvents go to \.handbill\/ledger\.db /);
    expect(stderr).toMatch(/^\S+Z refused: 401, the headers of a signature are missing or malformed\n$/);
    expect(stdout + stderr).not.toMatch(/7700900123|MfKQ9r8G/);
  });

  test('a recipient who answers STOP is suppressed at once, whatever the spelling of the number', async () => {
    const { cli, url } = await listening();
    const reply = `{"from":"07700 900123","to":"Riverside","text":"Stop.","timestamp":"2026-11-21T09:00:00Z"}`;
    expect((await post(url, reply, signed(reply))).status).toBe(200);
    cli.kill('SIGKILL');
    await cli.done;
    const { stdout } = await runHere(['suppress', 'list'], { cwd: folder });
    expect(stdout).toMatch(/\+44••••••0123 +without end +reply +replied to opt out/);
    expect(held()).toMatchObject({ replies: 1 });
  });

  test('--quiet says nothing, but what is wrong with the ledger', async () => {
    await writeFile(join(folder, 'handbill.yaml'), WEBHOOK);
    const port = await freePort();
    const cli = startCli(['listen', '--quiet', '--port', String(port)], { cwd: folder, env: ENV });
    running.push(cli);
    const url = `http://127.0.0.1:${port}/webhooks`;
    let status = 0;
    for (let i = 0; i < 400 && status === 0; i++) {
      status = await post(url, EVENT).then(
        (reply) => reply.status,
        () => new Promise<number>((resolve) => setTimeout(resolve, 25, 0)),
      );
    }
    expect(status).toBe(401);
    cli.kill('SIGTERM');
    expect(await cli.done).toMatchObject({ status: 143, stdout: '', stderr: '' });
  });

  test('a ledger that another process holds: 503, and 200 when it is free', async () => {
    const { cli, url } = await listening();
    const other = new DatabaseSync(ledgerPath());
    other.exec('BEGIN IMMEDIATE');
    expect(await post(url, EVENT, signed(EVENT))).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    other.exec('ROLLBACK');
    other.close();
    expect((await post(url, EVENT, signed(EVENT))).status).toBe(200);
    cli.kill('SIGTERM');
    const { stderr } = await cli.done;
    expect(stderr).toMatch(
      /not stored: The ledger cannot be written[^\n]*\n[^\n]*refused: 503[^\n]*\n[^\n]*stored again\n$/,
    );
  });

  test('a ledger whose tables are not those of here: 503, and the end with 7', async () => {
    const { cli, url } = await listening();
    const other = new DatabaseSync(ledgerPath());
    other.exec('DROP TABLE delivery_reports');
    other.close();
    expect((await post(url, EVENT, signed(EVENT))).status).toBe(503);
    const { status, stderr } = await cli.done;
    expect(status).toBe(7);
    expect(stderr).toContain('error[ledger-write]');
  });

  test('--ledger and HANDBILL_LEDGER name another ledger', async () => {
    const { url } = await listening(['--ledger', 'elsewhere/events.db']);
    expect((await post(url, EVENT, signed(EVENT))).status).toBe(200);
    expect(held(join(folder, 'elsewhere', 'events.db'))).toMatchObject({ reports: 1 });
  });

  test('two listeners and one ledger hold an event once', async () => {
    const [a, b] = [await listening(), await listening()];
    const replies = await Promise.all([a.url, b.url, a.url, b.url].map((url) => post(url, EVENT, signed(EVENT))));
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200]);
    expect(held()).toMatchObject({ reports: 1 });
  });
});

describe('what is not there', () => {
  test.each<[label: string, webhook: string, env: Record<string, string>, code: string]>([
    ['webhook', 'defaultCountry: GB\n', ENV, 'missing-key'],
    ['a secret', WEBHOOK, {}, 'missing-webhook-secret'],
    ['a good secret', WEBHOOK, { HANDBILL_WEBHOOK_SECRET: 'c2hvcnQ=' }, 'invalid-webhook-secret'],
  ])('%s: exit 2, nothing is opened', async (_label, webhook, env, code) => {
    await writeFile(join(folder, 'handbill.yaml'), webhook);
    const { status, stderr } = await runHere(['listen', '--port', '0'], { cwd: folder, env });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(`error[${code}]`) });
    expect(stderr).not.toContain('c2hvcnQ');
  });

  test('a free port: exit 2', async () => {
    const { url } = await listening();
    const { port } = new URL(url);
    const { status, stderr } = await runHere(['listen', '--port', port], { cwd: folder, env: ENV });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/EADDRINUSE[\s\S]*--port/) });
  });

  test('an address of this machine: exit 2, and what is said is not about the port', async () => {
    await writeFile(join(folder, 'handbill.yaml'), WEBHOOK);
    const { status, stderr } = await runHere(['listen', '--host', '192.0.2.1'], { cwd: folder, env: ENV });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/EADDRNOTAVAIL[\s\S]*--host/) });
    expect(stderr).not.toContain('--port');
  });
});

test.each([
  [['--dry-run'], 'Without --from, --dry-run would do nothing.'],
  [['--format', 'json'], 'Without --from, --format json would do nothing.'],
  [['--from', 'reports.csv', '--explain', 'captured.json'], 'Use --from or --explain, not both.'],
])('%j is refused, and nothing listens', async (args, message) => {
  await writeFile(join(folder, 'handbill.yaml'), WEBHOOK);
  const { status, stdout, stderr } = await runHere(['listen', '--port', '0', ...args], { cwd: folder, env: ENV });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`error[usage]: ${message}`);
});

test('what protects webhooks less is said, and the URL is shown without its secret', async () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const webhook =
    'webhook: { path: /in }\nenvironments: { sandbox: { webhook: { scheme: path, secrets: [{ env: S }] } } }\n';
  const { cli, url } = await listening(['--host', '0.0.0.0'], webhook, { S: secret });
  expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+\/in$/);
  expect((await post(`${url}/${secret}`, EVENT)).status).toBe(200);
  cli.kill('SIGTERM');
  const { stdout, stderr } = await cli.done;
  expect(stderr.match(/warning\[weak-webhook\]/g)).toHaveLength(2);
  expect(stdout + stderr).not.toContain(secret);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
