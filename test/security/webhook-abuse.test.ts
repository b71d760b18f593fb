import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { type Listening, type ListenOptions, listen } from '../../src/operations/listen.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { handbillHere } from '../cli/in-process.ts';
import { post, SECRET, signed } from '../webhook/sender.ts';
import { formsOf } from './canary.ts';
import { CHOSEN, PRINTABLE } from './payloads.ts';

/* SECURITY S29 and S31 to S33, and S7, S20 to S22 for what strangers write: from the request to the ledger, and on. */

const NUMBER = '+447700900123';

let folder = '';
const open: Listening[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'handbill-abuse-'));
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await rm(folder, { recursive: true });
});

async function listening(webhook = '', more: Partial<ListenOptions> = {}): Promise<Listening> {
  await writeFile(
    join(folder, 'handbill.yaml'),
    `defaultCountry: GB\nenvironments: { sandbox: { webhook: { secrets: [{ env: S }] } } }\nwebhook: {${webhook}}\n`,
  );
  const one = await listen({ cwd: folder, env: { S: SECRET }, port: 0, ...more });
  open.push(one);
  return one;
}

async function say(url: string, event: unknown): Promise<number> {
  const body = JSON.stringify(event);
  return (await post(url, body, signed(body))).status;
}

function inLedger<T>({ ledger: path }: Listening, ask: (ledger: ReturnType<typeof openLedger>) => T): T {
  const ledger = openLedger(path, { mode: 'read', nowMs: Date.now() });
  try {
    return ask(ledger);
  } finally {
    ledger.close();
  }
}

const isSuppressed = (one: Listening, address = NUMBER): boolean =>
  inLedger(one, (ledger) => ledger.isSuppressed(address, Date.now()));

describe('what is received only adds, and is never more than data (S31)', () => {
  it('a STOP without a signature, or with another one, has no effect (S29)', async () => {
    const one = await listening();
    const body = JSON.stringify({ from: NUMBER, text: 'STOP' });
    const forged = signed(body, { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` });
    expect((await post(one.url, body)).status).toBe(401);
    expect((await post(one.url, body, forged)).status).toBe(401);
    expect(isSuppressed(one)).toBe(false);
    expect(inLedger(one, (ledger) => ledger.events.counts())).toEqual({ reports: 0, replies: 0, unread: 0 });
  });

  it.each([
    ['a forged START takes nothing back', 'replies: { startLifts: true }', false, true],
    ['nor does an honest one by itself', '', true, true],
    ['but where the project says so', 'replies: { startLifts: true }', true, false],
  ])('%s', async (_label, webhook, isSigned, expected) => {
    const one = await listening(webhook);
    const at = (minute: number): string => new Date(Date.now() - 60_000 * (10 - minute)).toISOString();
    expect(await say(one.url, { from: NUMBER, text: 'STOP', timestamp: at(0) })).toBe(200);
    const start = JSON.stringify({ from: NUMBER, text: 'START', timestamp: at(1) });
    expect((await post(one.url, start, isSigned ? signed(start) : {})).status).toBe(isSigned ? 200 : 401);
    expect(isSuppressed(one)).toBe(expected);
  });

  it('a text that looks like a template or a command stays the text that it is', async () => {
    const one = await listening();
    const texts = ['{{S}} {{#with "s"}}{{constructor}}{{/with}}', '$(touch owned) `touch owned` ; touch owned'];
    for (const text of texts) expect(await say(one.url, { from: NUMBER, text })).toBe(200);
    const { out } = await handbillHere(folder, ['replies', '--format', 'json']);
    for (const text of texts) expect(out).toContain(JSON.stringify(text));
    expect((await readdir(folder)).toSorted()).toEqual(['.handbill', 'handbill.yaml']);
  });
});

it('a text that is one of the words suppresses its sender, however it is written (S32)', async () => {
  const expected: readonly (readonly [text: string, suppresses: boolean])[] = [
    ['STOP', true],
    [' stop. ', true],
    ['Ｓｔｏｐ', true],
    ['STOP\u200b', true],
    ['s t o p', true],
    ['"Unsubscribe!"', true],
    ['STOPALL', true],
    ['cancel', true],
    ['END', true],
    ['Quit', true],
    ['opt-out', true],
    ['REVOKE', true],
    // Documented in replies.md: politeness changes nothing.
    ['stop please', true],
    ["don't stop", false],
    ['When does it end?', false],
    ['nonstop', false],
    ['', false],
  ];
  const one = await listening();
  const numberOf = (row: number): string => `+4477009000${String(row).padStart(2, '0')}`;
  for (const [row, [text]] of expected.entries()) {
    // As providers write numbers, without the plus.
    expect(await say(one.url, { from: numberOf(row).slice(1), text })).toBe(200);
  }
  const found = expected.map(([text], row) => [text, isSuppressed(one, numberOf(row))]);
  expect(found).toEqual(expected);
});

describe('the sandbox is only for this machine (S33)', () => {
  it('another Host is answered 421, nothing carries CORS, and what is bound is shown (S33)', async () => {
    const webhook = { url: 'http://127.0.0.1:9/x' };
    const sandbox = await startSandbox({ port: 0, apiKey: 'k', webhook });
    onTestFinished(() => sandbox.close());
    expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const path of ['/sandbox/reports', '/sandbox/messages', '/']) {
      const answer = await ask(`${sandbox.url}${path}`, { Host: 'evil.example', Origin: 'http://evil.example' });
      expect(answer.status).toBe(421);
      const own = await ask(`${sandbox.url}${path}`, { Origin: 'http://evil.example' });
      for (const { names } of [answer, own]) expect(names.filter((name) => /^access-control/.test(name))).toEqual([]);
    }
  });

  it.each(['http://203.0.113.5/x', 'http://evil.example/x', 'https://127.0.0.1/x', 'http://a:b@127.0.0.1/x'])(
    'it posts events only to this machine, not to %s (S33)',
    async (url) => {
      const starting = startSandbox({ port: 0, apiKey: 'k', webhook: { url } });
      await expect(starting).rejects.toMatchObject({ exit: 2 });
    },
  );
});

function ask(url: string, headers: Readonly<Record<string, string>>) {
  return new Promise<{ readonly status: number; readonly names: readonly string[] }>((resolve, reject) => {
    const outgoing = request(url, { headers }, (incoming) => {
      incoming.resume();
      resolve({ status: incoming.statusCode ?? 0, names: Object.keys(incoming.headers) });
    });
    outgoing.on('error', reject).end();
  });
}

describe('what strangers write, as it is shown', () => {
  const events = (payload: string): readonly object[] => [
    { from: NUMBER, to: payload, text: payload, id: payload },
    { from: `${payload}x`.replace(/\p{Cc}/gu, ''), text: 'STOP' },
    { messageId: 'm', to: NUMBER, status: payload, error: { code: payload, message: payload } },
    { [payload]: payload },
  ];

  it.each(CHOSEN)('no text for eyes obeys it or gets a line of it: %s (S21, S22)', async (_label, payload) => {
    const lines: string[] = [];
    const one = await listening('', { log: (line) => lines.push(line) });
    for (const event of events(payload)) expect(await say(one.url, event)).toBe(200);
    await writeFile(join(folder, 'captured.json'), JSON.stringify(events(payload)));
    for (const args of [
      ['replies'],
      ['replies', '--full'],
      ['suppress', 'list'],
      ['listen', '--explain', 'captured.json'],
    ]) {
      const { out, err } = await handbillHere(folder, args);
      expect(out + err, args.join(' ')).toMatch(PRINTABLE);
      expect(err).toBe('');
    }
    // At most that the STOP reaches no address, in one line.
    expect(lines.filter((line) => !/^an opt-out came from a sender [^\n]*$/.test(line))).toEqual([]);
    for (const line of lines) expect(line).toMatch(PRINTABLE);
    const { out } = await handbillHere(folder, ['replies', '--format', 'jsonl']);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
  });

  it('no cell of a list of replies begins like a formula (S20)', async () => {
    const one = await listening();
    const texts = ['=1+1', '+1', '-1', '@x', '\t=1', '\r=1', '\n=1', '\0=1', '＝1', '＋1', '－1', '＠x'];
    for (const text of texts) expect(await say(one.url, { from: NUMBER, to: text, text, id: text })).toBe(200);
    const { out } = await handbillHere(folder, ['replies', '--format', 'csv']);
    const cells: string[][] = parse(out);
    expect(cells).toHaveLength(texts.length + 1);
    for (const cell of cells.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r\n\0＝＋－＠]/);
  });
});

it('a secret is written nowhere, whatever goes wrong (S29, S7)', async () => {
  const lines: string[] = [];
  const one = await listening('', { log: (line) => lines.push(line) });
  const body = JSON.stringify({ from: NUMBER, text: 'Hi' });
  expect((await post(one.url, body, signed(body))).status).toBe(200);
  expect((await post(one.url, body, { authorization: `Bearer ${SECRET}` })).status).toBe(401);
  expect((await post(`${one.url}/${SECRET}`, body)).status).toBe(404);
  expect((await post(one.url, '<', { ...signed('<') })).status).toBe(400);
  const shown = [lines.join('\n'), JSON.stringify(one)];
  await writeFile(join(folder, 'captured.json'), body);
  for (const env of [{ S: SECRET }, { S: `${SECRET}!` }, { S: ` ${SECRET}` }]) {
    for (const args of [
      ['listen', '--explain', 'captured.json'],
      ['listen', '--port', String(one.port)],
      ['replies'],
    ]) {
      const { out, err } = await handbillHere(folder, args, { env });
      shown.push(out, err);
    }
  }
  for (const name of await readdir(join(folder, '.handbill'))) {
    shown.push(await readFile(join(folder, '.handbill', name), 'latin1'));
  }
  const all = shown.join('\n');
  const secret = SECRET.replace('whsec_', '');
  const forms = [...formsOf(secret), ...formsOf(Buffer.from(secret, 'base64').toString('latin1'))];
  for (const [form, text] of forms) expect(all.includes(text), form).toBe(false);
  expect(lines).toHaveLength(3);
});
