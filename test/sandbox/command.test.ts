import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, test } from 'vitest';
import { type Reporting, webhookOptions } from '../../src/cli/sandbox/command.ts';
import { CLI } from '../helpers/cli.ts';
import { startReceiver } from './receiver.ts';
import { messageWith } from './with-webhook.ts';

const FILES = fileURLToPath(new URL('../fixtures/sandbox/devices/', import.meta.url));

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Starts the command, uses it and stops it. */
async function withCommand(
  options: readonly string[],
  use: (url: string, out: string) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--quiet', ...options], {
    cwd: FILES,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let out = '';
    child.stdout.on('data', (text) => {
      out += String(text);
    });
    while (!out.includes('Ctrl-C')) await once(child.stdout, 'data');
    await use(/http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? '', out);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
}

it('takes devices, a limit of recipients and any fields from the command line', async () => {
  const options = ['--devices', 'phones.csv', '--max-recipients', '2', '--fields', 'any'];
  await withCommand(options, async (url) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': 'sandbox' };
    const post = async (...numbers: readonly string[]): Promise<unknown> => {
      const body = JSON.stringify({ channel: 'RCS', words: 'x', recipients: numbers.map((number) => ({ number })) });
      return await (await fetch(`${url}/v2/messages`, { method: 'POST', headers, body })).json();
    };
    expect(await post('+447911123009')).toEqual({ id: expect.any(String), status: 'accepted' });
    expect(await post('+447911123001')).toMatchObject({ code: 'channel-not-supported' });
    expect(await post('+447911123007', '+447911123008', '+447911123009')).toMatchObject({
      code: 'too-many-recipients',
    });
    const shown = await (await fetch(`${url}/sandbox`)).json();
    expect(shown).toMatchObject({ maxRecipients: 2, devicesFromFile: 6 });
  });
});

it('speaks the API of a provider from the command line', async () => {
  await withCommand(['--provider', 'twilio'], async (url, out) => {
    expect(out).toContain(`      provider: twilio\n      baseUrl: ${url}\n`);
    const path = '/2010-04-01/Accounts/AC1/Messages.json';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const post = async (at: string, body: string, headers: Record<string, string>): Promise<unknown> => {
      const answer = await fetch(url + at, { method: 'POST', headers: { ...type, ...headers }, body });
      return [answer.status, await answer.json()];
    };
    const key = { authorization: 'Basic QUMxOng=' };
    const hello = 'To=%2B447911123009&From=Riverside&Body=Hi';
    const taken = { sid: expect.stringMatching(/^sbx-/), to: '+447911123009' };
    expect(await post(path, hello, key)).toEqual([201, expect.objectContaining(taken)]);
    expect(await post(path, hello.replace('7911123009', '7700900451'), key)).toMatchObject([400, { code: 21610 }]);
    expect(await post(path, hello, {})).toMatchObject([401, { detail: 'The header authorization is missing.' }]);
    expect(await post('/v2/messages', hello, key)).toMatchObject([404, { detail: expect.stringContaining('Twilio') }]);
    expect(await post(path, '{}', { ...key, 'content-type': 'application/json' })).toMatchObject([415, {}]);
    expect(await post(path, 'From=Riverside&Body=Hi', key)).toMatchObject([400, {}]);
    const shown = (await (await fetch(`${url}/sandbox`)).json()) as { readonly endings: object };
    expect(shown).toMatchObject({
      send: [`${url}/2010-04-01/Accounts/{var.account}/Messages.json`],
      maxRecipients: 1,
      endings: { 404: '400: refused', 401: '401: stop' },
    });
    expect(Object.keys(shown.endings)).not.toContain('600');
  });
});

it('refuses a file of devices that is wrong, exit 2, each fault with its line', async () => {
  const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--devices', 'wrong.csv'], {
    cwd: FILES,
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [err, [status]] = await Promise.all([collect(child.stderr), once(child, 'close') as Promise<[number | null]>]);
  expect(status).toBe(2);
  for (const line of [3, 4, 5, 7]) expect(err).toContain(`wrong.csv:${line}`);
});

const URL_OF_NOBODY = 'http://127.0.0.1:9/webhooks';

it('refuses a share of more than all and a secret that is not there, exit 2', async () => {
  const cases = [
    [['--stop', '101%'], 'Give a share from 0% to 100%'],
    [
      ['--webhook-secret-env', 'NONE'],
      'The environment variable NONE, which should hold the secret of webhooks, is not',
    ],
  ] as const;
  const runs = cases.map(async ([options]) => {
    const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--webhook', URL_OF_NOBODY, ...options], {
      env: { PATH: process.env['PATH'], NO_COLOR: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [err, [status]] = await Promise.all([
      collect(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return [status, err.replaceAll(/\s+/g, ' ')];
  });
  const expected = cases.map(([, says]) => [2, expect.stringContaining(says)]);
  expect(await Promise.all(runs)).toEqual(expected);
});

test.each<[label: string, given: Reporting, says: RegExp]>([
  [
    'options that nothing would come of',
    { stop: 0.01, sentAfter: 5, atOnce: 1 },
    /--stop, --sent-after, --at-once would/,
  ],
  ['a share of nothing to come', { late: 0 }, /Without --webhook, --late would do nothing/],
  ['a secret named twice', { webhook: URL_OF_NOBODY, secretEnv: 'A', secretFile: 'b' }, /named twice/],
  ['a file that is not there', { webhook: URL_OF_NOBODY, secretFile: 'none' }, /none.*does not exist/],
])('refuses %s', async (_label, given, says) => {
  await expect(webhookOptions(given, { env: {}, cwd: FILES })).rejects.toThrow(says);
});

it('hands on what the command line says under the names of the library, and nothing else', async () => {
  const given = { webhook: URL_OF_NOBODY, delivered: 0.9, expired: 0.1, lateBy: 7, retriesMs: [] };
  expect(await webhookOptions(given, { env: {}, cwd: FILES })).toEqual({
    url: URL_OF_NOBODY,
    shares: { delivered: 0.9, expired: 0.1 },
    delaysMs: { late: 7 },
    retriesMs: [],
  });
  expect(await webhookOptions({}, { env: {}, cwd: FILES })).toBeUndefined();
});

it('posts reports and replies as the command line says, and never shows the secret', async () => {
  const receiver = await startReceiver();
  const secret = Buffer.alloc(32, 9).toString('base64');
  const child = spawn(
    process.execPath,
    [
      ...[CLI, 'sandbox', '--port', '0', '--webhook', receiver.url, '--webhook-secret-env', 'SECRET'],
      ...'--sent 0% --read 100% --stop 100% --start 100% --respell 100% --doubled 0%'.split(' '),
      ...['--delivered-after', '1', '--read-after', '1', '--reply-after', '1', '--seed', '3'],
      ...['--batch', '1', '--at-once', '1', '--retries', '10,20'],
    ],
    { env: { PATH: process.env['PATH'], SECRET: secret }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const err = collect(child.stderr);
  try {
    let out = '';
    child.stdout.on('data', (text) => {
      out += String(text);
    });
    while (!out.includes('Ctrl-C')) await once(child.stdout, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0] ?? '';
    const headers = { 'content-type': 'application/json', 'x-api-key': 'sandbox' };
    const body = JSON.stringify(messageWith('SMS', '+447911123123'));
    const { id } = (await (await fetch(`${url}/v2/messages`, { method: 'POST', headers, body })).json()) as {
      id: string;
    };
    while (receiver.posts.length < 4) await new Promise((resolve) => setTimeout(resolve, 10));
    const [delivered, read, stop, start] = receiver.posts.map(({ json }) => json as Record<string, string>);
    expect([delivered, read]).toMatchObject([
      { messageId: id, status: 'delivered', metaData: { handbill: 'ref-123' } },
      { messageId: id, status: 'read', metaData: { handbill: 'ref-123' } },
    ]);
    for (const reply of [stop, start]) expect(reply?.['from']).not.toBe('+447911123123');
    expect(start?.['text']).toMatch(/start|unstop/i);
    const { 'webhook-signature': signature } = receiver.posts[0]?.headers ?? {};
    expect(signature).toMatch(/^v1,/);
    expect(out).not.toContain(secret);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
    await receiver.close();
  }
  expect(await err).not.toContain(secret);
});
