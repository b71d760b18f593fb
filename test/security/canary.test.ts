import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTarget, type Target } from '../fuzz/target.ts';
import { type CliResult, runCli } from '../helpers/cli.ts';
import { type Behaviour, raw, startRawServer } from '../helpers/raw-server.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { CanarySearch, canaryIn, formsOf } from './canary.ts';

let target: Target;
beforeAll(() => {
  target = startTarget();
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
});

const KEY_IN_ALL_FORMS = [...formsOf(CANARY_KEY).values()].join(' ');
const head = (status: number, body: string, type = 'application/json', more = ''): string =>
  `HTTP/1.1 ${status} Said ${CANARY_KEY}\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;
const json = (value: object): string => JSON.stringify(value);

/** An API that repeats what it was sent, in every place of an answer that handbill reads. */
const TELLTALES: readonly Behaviour[] = [
  raw(head(202, json({ id: CANARY_KEY }))),
  raw(head(400, json({ error: { message: `your key ${KEY_IN_ALL_FORMS} is odd` } }))),
  raw(head(422, json({ detail: [{ headers: { 'x-api-key': CANARY_KEY }, more: KEY_IN_ALL_FORMS }] }))),
  raw(head(400, `{"unknown": "${netJson(CANARY_KEY)}"}`)),
  raw(head(409, `plain text: ${KEY_IN_ALL_FORMS}`, 'text/plain')),
  raw(head(500, `<html>${KEY_IN_ALL_FORMS}</html>`, 'text/html')),
  raw(head(429, json({ message: CANARY_KEY }), 'application/json', 'retry-after: 0\r\n')),
  raw(
    head(202, json({ messages: [{ id: `id-${CANARY_KEY}-1` }] }), 'application/json', `set-cookie: ${CANARY_KEY}\r\n`),
  ),
  raw(`HTTP/1.1 202 OK\r\n${CANARY_KEY}\r\nx: y\r\n\r\n`),
  raw(`${CANARY_KEY}\r\n\r\n`),
  ({ socket }) => socket.end(`HTTP/1.1 202 OK\r\ncontent-length: 900\r\n\r\n{"id":"${CANARY_KEY}"`),
  ({ socket }) => socket.resetAndDestroy(),
  raw(head(400, json({ message: `${'x'.repeat(2_040)}${CANARY_KEY}` }))),
  raw(head(400, json({ message: `${'x'.repeat(70_000)}${CANARY_KEY}` }))),
  raw(head(307, '', 'text/plain', `location: http://127.0.0.1:1/${encodeURIComponent(CANARY_KEY)}\r\n`)),
];

function netJson(text: string): string {
  return text.replace(/[+/=]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

const FORMATS = ['text', 'json', 'jsonl', 'csv', 'html'] as const;

/** Every command that looks, and every way to go wrong that names something the user gave. */
function commands(): readonly (readonly string[])[] {
  const of = (...args: string[]): readonly string[] => [...args, 'campaign.yaml', '--env', 'test'];
  return [
    [],
    ['--help'],
    ['--version'],
    ...['validate', 'preview', 'plan', 'send', 'report', 'runs', 'suppress', 'doubt', 'sandbox', 'completion'].map(
      (name) => [name, '--help'],
    ),
    ['completion', 'bash'],
    ['validate', 'campaign.yaml'],
    ['validate', 'campaign.yaml', '--format', 'json'],
    ...['text', 'json', 'jsonl'].map((format) => [...of('preview'), '--format', format]),
    [...of('preview'), '--format', 'jsonl', '-o', 'preview.jsonl'],
    [...of('plan'), '-o', 'plan.json'],
    of('plan'),
    ['report'],
    ...FORMATS.map((format) => ['report', '--format', format]),
    ...FORMATS.map((format) => ['report', '--format', format, '-o', `report.${format}`]),
    ['runs'],
    ['runs', '--format', 'json'],
    ['doubt', 'list'],
    ['suppress', 'list'],
    ['suppress', 'list', '--format', 'csv'],
    // The key where it does not belong.
    [CANARY_KEY],
    ['send', CANARY_KEY],
    ['send', CANARY_KEY, '--env', 'test', '--yes'],
    ['send', `campaign/${CANARY_KEY}.yaml`],
    ['send', 'campaign.yaml', '--env', CANARY_KEY],
    ['send', 'campaign.yaml', '--env', 'test', '--recipients', CANARY_KEY],
    ['send', 'campaign.yaml', '--env', 'test', '--api-key', CANARY_KEY],
    ['send', 'campaign.yaml', '--env', 'test', `--api-key=${CANARY_KEY}`],
    ['send', 'campaign.yaml', '--rate', CANARY_KEY],
    ['send', '--plan', CANARY_KEY],
    ['preview', 'campaign.yaml', '--key', CANARY_KEY],
    ['preview', 'campaign.yaml', '--at', CANARY_KEY],
    ['preview', 'campaign.yaml', '--occurrence', CANARY_KEY],
    ['preview', 'campaign.yaml', '-o', `missing/${CANARY_KEY}`],
    ['report', CANARY_KEY],
    ['report', '--ledger', CANARY_KEY],
    ['report', '--format', CANARY_KEY],
    ['suppress', 'add', CANARY_KEY],
    ['suppress', 'add', '+447400100999', '--until', CANARY_KEY],
    ['validate', encodeURIComponent(CANARY_KEY)],
    ['validate', Buffer.from(`user:${CANARY_KEY}`).toString('base64')],
  ];
}

/** The key in files where it does not belong, each refused. */
const MISPLACED: readonly (readonly [file: string, replace: RegExp, by: string])[] = [
  ['handbill.yaml', /\{ env: HANDBILL_API_KEY \}/, CANARY_KEY],
  ['handbill.yaml', /\{ env: HANDBILL_API_KEY \}/, `{ env: ${CANARY_KEY} }`],
  ['handbill.yaml', /\{ env: HANDBILL_API_KEY \}/, `{ file: ${CANARY_KEY} }`],
  ['handbill.yaml', /baseUrl: .*/, `baseUrl: https://user:${encodeURIComponent(CANARY_KEY)}@api.example.com`],
  ['handbill.yaml', /baseUrl: .*/, `baseUrl: https://api.example.com/?key=${CANARY_KEY}`],
  ['handbill.yaml', /(baseUrl: .*)/, `$1\n    proxy: http://user:${CANARY_KEY}@127.0.0.1:1`],
  ['handbill.yaml', /(baseUrl: .*)/, `$1\n    proxy: http://${encodeURIComponent(CANARY_KEY)}@127.0.0.1:1`],
  ['handbill.yaml', /(baseUrl: .*)/, `$1\n    X-Api-Key: ${CANARY_KEY}`],
  ['handbill.yaml', /environments:/, `environments: "${CANARY_KEY}`],
  ['campaign.yaml', /name: .*/, `name: ${CANARY_KEY}`],
  ['campaign.yaml', /channel: .*/, `channel: "${CANARY_KEY}"`],
  ['campaign.yaml', /(from: .*)/, `$1\napiKey: ${CANARY_KEY}`],
  ['campaign.yaml', /recipients: .*/, `recipients: ${CANARY_KEY}.csv`],
  ['people.csv', /\+447400100000/, CANARY_KEY],
];

it('the key is nowhere: not in what any command prints, not in any file, whatever the API repeats (S7)', async () => {
  const search = new CanarySearch();
  let answered = 0;
  const server = await startRawServer({
    behaviour: (request) => TELLTALES[answered++ % TELLTALES.length]?.(request),
  });
  using scene = createScene({
    rows: TELLTALES.length * 2,
    baseUrl: `http://127.0.0.1:${server.port}`,
    receipts: '/nowhere',
    campaign: 'send: { timeout: 1s, concurrency: 1 }\nlimits: { stopAfter: { inDoubt: 50, rejected: 100% } }',
  });
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number | null> => {
    const ran = await target.run({
      cwd: scene.root,
      args,
      env: { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_DEBUG: '1', ...env },
    });
    search.printed(`handbill ${args.join(' ')}`, ran);
    return ran.status;
  };
  for (const format of ['text', 'json', 'text', 'json', 'text', 'json']) {
    expect(await run(['send', 'campaign.yaml', '--env', 'test', '--yes', '--format', format])).not.toBe(1);
  }
  expect(new Set(server.requests.map(({ head }) => head.includes(CANARY_KEY)))).toEqual(new Set([true]));
  expect(answered).toBeGreaterThan(TELLTALES.length);
  for (const args of commands()) expect([args, await run(args)]).not.toEqual([args, 1]);
  search.folder(scene.root);

  for (const [file, pattern, by] of MISPLACED) {
    const good = readFileSync(scene.path(file), 'utf8');
    scene.write(file, good.replace(pattern, by));
    for (const args of [
      ['validate', 'campaign.yaml'],
      ['validate', 'campaign.yaml', '--format', 'json'],
    ]) {
      expect([by, await run(args)]).not.toEqual([by, 1]);
    }
    expect([by, await run(['send', 'campaign.yaml', '--env', 'test', '--yes'])]).toEqual([by, 2]);
    scene.write(file, good);
  }
  search.folder(scene.root);
  await server.close();
  expect(search.found).toEqual([]);
  expect(search.bytes).toBeGreaterThan(1_000_000);
});

it.each(['exception', 'timer', 'rejection'])(
  'not in a crash (%s), exit 1, with debug output and without (S7)',
  async (how) => {
    const search = new CanarySearch();
    using scene = oneRow();
    for (const debug of ['1', '']) {
      const env = {
        CRASH: how,
        HANDBILL_DEBUG: debug,
        NODE_OPTIONS: `--import ${join(import.meta.dirname, 'crash.mjs')}`,
      };
      const ran = await sendReally(scene, env);
      expect(ran.status).toBe(1);
      expect(ran.stderr).toContain('handbill: a bug: broken: [key]');
      expect(/^ +at /m.test(ran.stderr)).toBe(debug === '1');
      search.printed(`crash ${how}`, ran);
    }
    search.folder(scene.root);
    expect(search.found).toEqual([]);
  },
);

it('not in what Node itself adds when it is asked to debug (S7)', async () => {
  const search = new CanarySearch();
  const server = await startRawServer();
  const reports = mkdtempSync(join(tmpdir(), 'handbill-reports-'));
  using scene = createScene({ rows: 2, baseUrl: `http://127.0.0.1:${server.port}`, receipts: '/nowhere' });
  const ran = await sendReally(scene, {
    NODE_DEBUG: 'http,http2,https,net,tls,stream,undici,fetch,timer,sqlite,fs',
    DEBUG: '*',
    NODE_OPTIONS: `--trace-warnings --title=handbill`,
    TMPDIR: reports,
  });
  expect(ran).toMatchObject({ status: 0 });
  expect(ran.stderr).toMatch(/^NET \d+:/m);
  search.printed('debug', ran);
  search.folder(scene.root);
  search.folder(reports);
  rmSync(reports, { recursive: true });
  await server.close();
  expect(search.found).toEqual([]);
});

it('the search finds the key in every form (S7)', () => {
  for (const [name, form] of formsOf(CANARY_KEY)) expect(canaryIn(`x${form}y`), name).not.toEqual([]);
  for (const before of ['', 'u', 'us', 'user:']) {
    const encoded = Buffer.from(`${before}${CANARY_KEY}:x`).toString('base64');
    expect(canaryIn(encoded)).not.toEqual([]);
    expect(canaryIn(encoded.replaceAll('+', '-').replaceAll('/', '_'))).not.toEqual([]);
  }
  expect(canaryIn(Buffer.from(CANARY_KEY, 'utf16le'))).toEqual(['UTF-16']);
  expect(canaryIn('SEKRET and nothing else')).toEqual([]);
  using scene = oneRow();
  scene.write('some/where', Buffer.from(`\0\0${CANARY_KEY}`));
  const search = new CanarySearch();
  search.folder(scene.root);
  expect(search.found.some((place) => place.includes('some/where: raw'))).toBe(true);
});

function oneRow(): Scene {
  return createScene({ rows: 1, baseUrl: 'http://127.0.0.1:1', receipts: '/nowhere' });
}

/** The real command line, in a process of its own. */
async function sendReally(scene: Scene, env: Readonly<Record<string, string>>): Promise<CliResult> {
  const args = ['send', 'campaign.yaml', '--env', 'test', '--yes'];
  return await runCli(args, { cwd: scene.root, env: { HANDBILL_API_KEY: CANARY_KEY, ...env } });
}
