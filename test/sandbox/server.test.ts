import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import type { SandboxOptions } from '../../src/operations/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { messageTo, type Received } from './message.ts';
import { rawPost, sendRaw } from './send-raw.ts';

const HEADERS = { 'x-api-key': 'test-key', 'content-type': 'application/json' };

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

async function post(
  sandbox: Sandbox,
  body: string | Buffer,
  headers: Record<string, string> = HEADERS,
): Promise<Answered> {
  const answer = await request(`${sandbox.url}/v2/messages`, { method: 'POST', headers, body });
  return { status: answer.statusCode, headers: answer.headers, body: (await answer.body.json()) as Answered['body'] };
}

async function listed(sandbox: Sandbox, query = ''): Promise<Received[]> {
  const answer = await request(`${sandbox.url}/sandbox/messages${query}`);
  expect(answer.statusCode).toBe(200);
  return ((await answer.body.json()) as { messages: Received[] }).messages;
}

async function withSandbox(options: Partial<SandboxOptions>, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await startSandbox({ apiKey: 'test-key', ...options });
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

const MESSAGE = JSON.stringify(messageTo('+447700900123'));

let shared: Sandbox;
beforeAll(async () => {
  shared = await startSandbox({ apiKey: 'test-key' });
});
afterAll(() => shared.close());

describe('takes messages', () => {
  it('answers 202 with an id of its own for each', async () => {
    const [first, second] = [await post(shared, MESSAGE), await post(shared, MESSAGE)];
    expect([first.status, first.headers['content-type']]).toEqual([202, 'application/json']);
    expect(first.body).toEqual({ id: expect.stringMatching(/^sbx-[0-9a-f]{10}-\d+$/), status: 'accepted' });
    expect(second.body['id']).not.toBe(first.body['id']);
  });

  it('says of several recipients what became of each', async () => {
    const { body } = await post(shared, JSON.stringify(messageTo('+447700900123', '+447700900124')));
    expect(body['recipients']).toEqual([
      { id: `${String(body['id'])}-1`, msisdn: '+447700900123', status: 'accepted' },
      { id: `${String(body['id'])}-2`, msisdn: '+447700900124', status: 'accepted' },
    ]);
  });

  test.each([
    ['an address book', { channel: 'SMS', body: { text: 'x' }, addressBook: { contacts: [{ id: 'c1' }] } }],
    ['a template', { channel: 'RCS', body: { templateId: 't' }, recipients: [{ msisdn: '447700900123' }] }],
    ['a channel that only the account knows', { ...messageTo('+447700900123'), channel: 'WhatsApp' }],
    ['free metadata', { ...messageTo('+447700900123'), metaData: { a: [1, { b: null }], __proto: 'x' } }],
    ['a validity', { ...messageTo('+447700900123'), validity: '2026-11-21T09:00:00.000+00:00' }],
  ])('with %s', async (_label, message) => {
    expect((await post(shared, JSON.stringify(message))).status).toBe(202);
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json;'])(
    'of type %s',
    async (type) => {
      const expected = type.endsWith(';') ? 415 : 202;
      expect((await post(shared, MESSAGE, { ...HEADERS, 'content-type': type })).status).toBe(expected);
    },
  );

  it('in a body of many pieces', async () => {
    const body = `{"channel":"SMS","body":{"text":"Zoë"},"recipients":[{"msisdn":"+447700900123"}]}`;
    const pieces = [...Buffer.from(body)].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`);
    const head = rawPost(shared, '', { 'Transfer-Encoding': 'chunked' }).replace(/Content-Length: 0\r\n/, '');
    const { text } = await sendRaw(shared, Buffer.from(`${head}${pieces.join('')}0\r\n\r\n`, 'latin1'), 500);
    expect(text).toMatch(/^HTTP\/1\.1 202 /);
    expect((await listed(shared, '?limit=1'))[0]?.text).toBe(body);
  });
});

describe('refuses what the API would refuse', () => {
  test.each<[label: string, status: number, pointer: string, message: unknown]>([
    ['no object', 422, '#', []],
    ['no channel', 422, '#', { body: { text: 'x' }, recipients: [{ msisdn: '+447700900123' }] }],
    ['no recipients', 422, '#', { channel: 'SMS', body: { text: 'x' } }],
    ['no recipient', 422, '#/recipients', { channel: 'SMS', body: { text: 'x' }, recipients: [] }],
    ['an empty body', 422, '#/body', { channel: 'SMS', body: {}, recipients: [{ msisdn: '+447700900123' }] }],
    ['an empty text', 422, '#/body/text', { ...messageTo('+447700900123'), body: { text: '' } }],
    ['a number that is a number', 422, '#/recipients/0/msisdn', { ...messageTo(), recipients: [{ msisdn: 4477 }] }],
    ['a national number', 422, '#/recipients/0/msisdn', messageTo('07700900123')],
    ['a number with spaces', 422, '#/recipients/0/msisdn', messageTo('+44 7700 900123')],
    ['an unknown field', 422, '#', { ...messageTo('+447700900123'), metadata: {} }],
    [
      'an unknown field of a recipient',
      422,
      '#/recipients/0',
      { ...messageTo(), recipients: [{ msisdn: '+447700900123', name: 'x' }] },
    ],
    [
      'variables that are a list',
      422,
      '#/recipients/0/variables',
      { ...messageTo(), recipients: [{ msisdn: '+447700900123', variables: [] }] },
    ],
    [
      'a validity without fractions',
      422,
      '#/validity',
      { ...messageTo('+447700900123'), validity: '2026-11-21T09:00:00+00:00' },
    ],
    ['a validity with Z', 422, '#/validity', { ...messageTo('+447700900123'), validity: '2026-11-21T09:00:00.000Z' }],
  ])('%s', async (_label, status, pointer, message) => {
    const answer = await post(shared, JSON.stringify(message));
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json']);
    expect(answer.body['errors']).toEqual(expect.arrayContaining([{ detail: expect.any(String), pointer }]));
  });

  it('names the field that it does not know', async () => {
    const { body } = await post(shared, JSON.stringify({ ...messageTo('+447700900123'), metadata: {} }));
    expect(JSON.stringify(body['errors'])).toContain('metadata');
  });

  test.each<[label: string, status: number, body: string | Buffer, headers: Record<string, string>]>([
    ['no key', 401, MESSAGE, { 'content-type': 'application/json' }],
    ['another key', 401, MESSAGE, { ...HEADERS, 'x-api-key': 'Test-key' }],
    ['another type', 415, MESSAGE, { ...HEADERS, 'content-type': 'text/plain' }],
    ['no type', 415, MESSAGE, { 'x-api-key': 'test-key' }],
    ['another charset', 415, MESSAGE, { ...HEADERS, 'content-type': 'application/json; charset=latin1' }],
    ['compression', 415, MESSAGE, { ...HEADERS, 'content-encoding': 'gzip' }],
    ['an empty body', 400, '', HEADERS],
    ['half of a body', 400, MESSAGE.slice(0, 20), HEADERS],
    ['bytes that are not UTF-8', 400, Buffer.from(MESSAGE, 'latin1'), HEADERS],
    ['a body over 1 MiB', 413, ' '.repeat(1_048_577), HEADERS],
  ])('%s: %i', async (_label, status, body, headers) => {
    const answer = await post(shared, body, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      type: 'about:blank',
      title: expect.any(String),
      status,
      detail: expect.any(String),
    });
  });

  it('a body over 1 MiB that does not say so beforehand', async () => {
    const head = rawPost(shared, '', { 'Transfer-Encoding': 'chunked' }).replace(/Content-Length: 0\r\n/, '');
    const before = shared.received;
    const { text } = await sendRaw(shared, `${head}110000\r\n${' '.repeat(0x110000)}\r\n0\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(shared.received).toBe(before);
  });

  it('does not count a request that was cut off', async () => {
    const before = shared.received;
    await sendRaw(shared, rawPost(shared, MESSAGE, { 'Content-Length': '5000' }), 200);
    expect(shared.received).toBe(before);
  });

  it('a million brackets, without falling over', async () => {
    const deep = JSON.stringify(messageTo('+447700900123')).replace(
      /\}$/,
      `,"metaData":{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}}`,
    );
    expect((await post(shared, deep)).status).toBe(202);
    const answer = await request(`${shared.url}/sandbox/messages?limit=1`);
    expect(answer.statusCode).toBe(200);
    await answer.body.dump();
    await request(`${shared.url}/sandbox/messages`, { method: 'DELETE' });
  });
});

describe('keeps what it received', () => {
  it('newest first, with what was answered', async () => {
    await withSandbox({ now: () => Date.UTC(2026, 10, 21, 9) }, async (sandbox) => {
      const { body } = await post(sandbox, MESSAGE);
      await post(sandbox, JSON.stringify(messageTo('+447700900400')));
      await post(sandbox, 'nonsense');
      const [third, second, first] = await listed(sandbox);
      expect(first).toEqual({
        number: 1,
        receivedAt: '2026-11-21T09:00:00.000Z',
        status: 202,
        scenario: null,
        id: body['id'],
        to: ['+447700900123'],
        refused: [],
        text: MESSAGE,
        body: JSON.parse(MESSAGE),
      });
      expect(second).toMatchObject({ number: 2, status: 400, scenario: '400', id: null, to: ['+447700900400'] });
      expect(third).toMatchObject({ number: 3, status: 400, scenario: null, to: [], text: 'nonsense', body: null });
    });
  });

  it('only so much of it, while the counts stay exact', async () => {
    await withSandbox({ keep: 2 }, async (sandbox) => {
      for (const n of ['101', '102', '103']) await post(sandbox, JSON.stringify(messageTo(`+447700900${n}`)));
      expect((await listed(sandbox)).map(({ to }) => to[0])).toEqual(['+447700900103', '+447700900102']);
      expect(sandbox.received).toBe(3);
      // A shorter body in a slot that held a longer one, and the other way round.
      await post(sandbox, '{}');
      const long = JSON.stringify({ ...messageTo('+447700900104'), name: 'long'.repeat(500) });
      await post(sandbox, long);
      await post(sandbox, '[1]');
      expect((await listed(sandbox)).map(({ text }) => text)).toEqual(['[1]', long]);
    });
  });

  it('or nothing of it', async () => {
    await withSandbox({ keep: 0 }, async (sandbox) => {
      await post(sandbox, MESSAGE);
      expect([await listed(sandbox), sandbox.received]).toEqual([[], 1]);
    });
  });

  it('by number, with or without the plus', async () => {
    await withSandbox({}, async (sandbox) => {
      for (const n of ['101', '102', '101']) await post(sandbox, JSON.stringify(messageTo(`+447700900${n}`)));
      for (const to of ['%2B447700900101', '+447700900101', '447700900101']) {
        expect((await listed(sandbox, `?to=${to}`)).map(({ number }) => number)).toEqual([3, 1]);
      }
      expect(await listed(sandbox, '?to=447700900101&limit=1')).toHaveLength(1);
      expect(await listed(sandbox, '?to=447700900999')).toEqual([]);
      const wrong = await request(`${sandbox.url}/sandbox/messages?limit=-1`);
      expect(wrong.statusCode).toBe(400);
      await wrong.body.dump();
    });
  });

  it('until it is told to forget', async () => {
    await withSandbox({}, async (sandbox) => {
      await post(sandbox, MESSAGE);
      const answer = await request(`${sandbox.url}/sandbox/messages`, { method: 'DELETE' });
      expect(answer.statusCode).toBe(204);
      expect(await listed(sandbox)).toEqual([]);
      await post(sandbox, MESSAGE);
      expect((await listed(sandbox)).map(({ number }) => number)).toEqual([2]);
    });
  });
});

describe('describes itself', () => {
  it('with what it does and its counts', async () => {
    await withSandbox({}, async (sandbox) => {
      await post(sandbox, MESSAGE);
      await post(sandbox, JSON.stringify(messageTo('+447700900500')));
      await sendRaw(sandbox, rawPost(sandbox, JSON.stringify(messageTo('+447700900901'))));
      const answer = await request(`${sandbox.url}/sandbox`);
      expect(await answer.body.json()).toMatchObject({
        send: [`${sandbox.url}/v2/messages`],
        received: 3,
        accepted: 1,
        answers: { 202: 1, 500: 1, none: 1 },
        kept: 3,
        scripts: 'reserved',
        maxRecipients: 1000,
        endings: expect.objectContaining({
          429: '429 with `Retry-After: 1`; the same request again: 202: accepted at the second attempt',
        }),
        devices: expect.objectContaining({ 844: 'Android 4.4: SMS, MessagingApp, Voice' }),
        devicesFromFile: 0,
      });
    });
  });
});

describe('receipts', () => {
  it('are in the file before the answer goes out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'handbill-sandbox-'));
    const receipts = join(folder, 'receipts.jsonl');
    try {
      await withSandbox({ receipts }, async (sandbox) => {
        for (const n of ['101', '429', '401']) {
          const { status, body } = await post(sandbox, JSON.stringify(messageTo(`+447700900${n}`), null, 2));
          const lines = (await readFile(receipts, 'utf8')).trimEnd().split('\n');
          expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
            number: sandbox.received,
            status,
            id: body['id'] ?? null,
            to: [`+447700900${n}`],
            text: JSON.stringify(messageTo(`+447700900${n}`), null, 2),
          });
        }
        await sendRaw(sandbox, rawPost(sandbox, JSON.stringify(messageTo('+447700900901'))));
      });
      const lines = (await readFile(receipts, 'utf8')).trimEnd().split('\n');
      expect(lines.map((line) => (JSON.parse(line) as Received).status)).toEqual([202, 429, 401, null]);
      expect((await stat(receipts)).mode & 0o777).toBe(0o600);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('that cannot be written refuse the start', async () => {
    await expect(startSandbox({ apiKey: 'k', receipts: '/nowhere/at/all' })).rejects.toBeInstanceOf(HandbillError);
  });
});

describe('only for this machine', () => {
  test.each([
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost.evil.example', 421],
    ['evil.example:80', 421],
    ['[::2]', 421],
    ['localhost', 202],
    ['LOCALHOST:1234', 202],
    ['127.0.0.1', 202],
    ['[::1]:80', 202],
  ])('Host: %s gets %i', async (host, status) => {
    const before = shared.received;
    const { text } = await sendRaw(shared, rawPost(shared, MESSAGE, { Host: host }), 300);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(shared.received).toBe(before + (status === 202 ? 1 : 0));
  });

  it('answers no page of another origin', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' };
    for (const [method, path] of [
      ['OPTIONS', '/v2/messages'],
      ['OPTIONS', '/sandbox/messages'],
      ['GET', '/sandbox/messages'],
      ['GET', '/sandbox'],
    ] as const) {
      const answer = await request(shared.url + path, { method, headers });
      await answer.body.dump();
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('needs a key that can be in a header', async () => {
    for (const apiKey of ['', 'a b', 'a\r\nb', 'schlüssel']) {
      await expect(startSandbox({ apiKey })).rejects.toMatchObject({ exit: 2, code: 'invalid-api-key' });
    }
  });

  it('says that a port is taken', async () => {
    await expect(startSandbox({ apiKey: 'k', port: shared.port })).rejects.toMatchObject({ exit: 2, code: 'usage' });
  });
});

describe('elsewhere', () => {
  test.each([
    ['GET', '/v2/messages', 405, 'POST'],
    ['PUT', '/v2/messages', 405, 'POST'],
    ['POST', '/sandbox', 405, 'GET'],
    ['PATCH', '/sandbox/messages', 405, 'GET, DELETE'],
    ['POST', '/sandbox/openapi.json', 405, 'GET'],
    ['GET', '/', 404, undefined],
    ['POST', '/v1/messages', 404, undefined],
    ['GET', '/%00/../..//sandbox%', 404, undefined],
  ] as const)('%s %s: %i', async (method, path, status, allow) => {
    const target = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`;
    const { text } = await sendRaw(shared, target, 200);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(/^Allow: (.*)\r$/m.exec(text)?.[1]).toBe(allow);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status });
    expect(text).not.toMatch(/\.ts|node_modules| at /);
  });

  test.each([
    ['no Host', 421, 'GET /sandbox HTTP/1.0\r\n\r\n'],
    ['another host in the target', 421, 'GET http://evil.example/sandbox HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
    ['no HTTP', 400, 'hello\r\n\r\n'],
    ['a header of 32 KiB', 431, `GET /sandbox HTTP/1.1\r\nHost: localhost\r\nA: ${'x'.repeat(32_768)}\r\n\r\n`],
  ])('%s: %i', async (_label, status, bytes) => {
    const { text } = await sendRaw(shared, bytes, 500);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).not.toMatch(/\.ts|node_modules/);
  });
});

describe('whatever comes', () => {
  const word = fc.string({ unit: 'binary-ascii', maxLength: 30 });
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .record({
        method: fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE', 'TRACE', 'CONNECT'),
        path: word,
        header: word,
      })
      .map(({ method, path, header }) =>
        Buffer.from(`${method} /${path} HTTP/1.1\r\nHost: localhost\r\nX: ${header}\r\nContent-Length: 0\r\n\r\n`),
      ),
    fc.json().map((json) => Buffer.from(rawPost(shared, json))),
  );

  it('nothing leaks, and the next request is answered', async () => {
    await fc.assert(
      fc.asyncProperty(noise, async (bytes) => {
        const { text } = await sendRaw(shared, bytes, 25);
        expect(text).not.toMatch(/\.ts:|\.mjs:|node_modules|TypeError/);
        expect(text).not.toMatch(/^HTTP\/1\.1 (?:2\d\d (?!OK)|500)/);
      }),
      { numRuns: 60 },
    );
    expect((await post(shared, MESSAGE)).status).toBe(202);
  });

  it('HEAD gets only the headers', async () => {
    const { text } = await sendRaw(shared, 'HEAD /sandbox HTTP/1.1\r\nHost: localhost\r\n\r\n', 100);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: application\/json[\s\S]*\r\n\r\n$/);
  });
});

describe('options', () => {
  it('logs one line per request, without the address and without control characters', async () => {
    const lines: string[] = [];
    await withSandbox({ log: (line) => lines.push(line) }, async (sandbox) => {
      await post(sandbox, JSON.stringify(messageTo('+447700900123')));
      await post(sandbox, JSON.stringify(messageTo('+447700900500')));
      await post(
        sandbox,
        JSON.stringify({ channel: 'SMS', body: { text: 'x' }, addressBook: { contacts: [{ id: '\u001b[2Jab' }] } }),
      );
      await post(sandbox, 'x');
    });
    expect(lines).toEqual([
      expect.stringMatching(/^#1 202 \+44•+0123 sbx-[0-9a-f]+-1$/),
      expect.stringMatching(/^#2 500 \(script 500\) \+44•+0500$/),
      expect.stringMatching(/^#3 202 /),
      '#4 400',
    ]);
    expect(lines.join('')).toMatch(/^[^\p{Cc}]*$/u);
    expect(lines.join('')).not.toContain('700900');
  });

  it('waits as long as it is told', async () => {
    await withSandbox({ latencyMs: 150 }, async (sandbox) => {
      const start = performance.now();
      expect((await post(sandbox, MESSAGE)).status).toBe(202);
      expect(performance.now() - start).toBeGreaterThan(140);
    });
  });

  it('closes at once, also with a request that is never answered', async () => {
    const sandbox = await startSandbox({ apiKey: 'test-key' });
    const waiting = sendRaw(sandbox, rawPost(sandbox, JSON.stringify(messageTo('+447700900902'))), 10_000);
    while (sandbox.received === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const start = performance.now();
    await sandbox.close();
    await sandbox.close();
    expect((await waiting).text).toBe('');
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
