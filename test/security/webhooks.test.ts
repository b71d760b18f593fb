import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  exchange,
  type Fixture,
  post,
  receiverOf,
  SECRET,
  STANDARD,
  signed,
  silentConnection,
} from '../webhook/sender.ts';

/* SECURITY S29 and S30: a client that does not know a secret changes nothing, and does not keep others from being heard. */

const receivers: Fixture[] = [];
const sockets: Socket[] = [];

async function start(...args: Parameters<typeof receiverOf>): Promise<Fixture> {
  const receiver = await receiverOf(...args);
  receivers.push(receiver);
  return receiver;
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const one of receivers.splice(0)) await one.close();
});

const BODY = '{"messageId": "m1", "status": "delivered"}';

describe('forgery (S29)', () => {
  const good = signed(BODY, { id: 'msg_1' });
  const signature = good['webhook-signature'];
  test.each<[label: string, headers: Record<string, string>, body: string]>([
    ['no headers', {}, BODY],
    ['a wrong signature', { ...good, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }, BODY],
    ['an empty signature', { ...good, 'webhook-signature': '' }, BODY],
    ['a version without a signature', { ...good, 'webhook-signature': 'v1,' }, BODY],
    ['a short signature', { ...good, 'webhook-signature': signature.slice(0, 12) }, BODY],
    ['a long signature', { ...good, 'webhook-signature': signature + 'A'.repeat(9_000) }, BODY],
    ['a thousand signatures', { ...good, 'webhook-signature': 'v1,AAAA '.repeat(1_000) }, BODY],
    ['another id', { ...good, 'webhook-id': 'msg_2' }, BODY],
    ['another time', { ...good, 'webhook-timestamp': String(Number(good['webhook-timestamp']) + 1) }, BODY],
    ['another secret', signed(BODY, { secret: Buffer.alloc(32, 9).toString('base64') }), BODY],
    ['301 s ago', signed(BODY, { atMs: Date.now() - 301_000 }), BODY],
    ['400 s ahead', signed(BODY, { atMs: Date.now() + 400_000 }), BODY],
    ['a body that was written again', good, JSON.stringify(JSON.parse(BODY))],
    ['another body', good, BODY.replace('m1', 'm2')],
    ['an empty body', good, ''],
    ['another scheme', { authorization: `Bearer ${SECRET}` }, BODY],
  ])('%s is answered 401 and holds nothing', async (_label, headers, body) => {
    const { url, groups } = await start();
    expect(await post(url, body, headers)).toMatchObject({ status: 401, body: '' });
    expect(groups).toEqual([]);
  });

  test.each(['webhook-id', 'webhook-timestamp'])('%s that comes twice', async (name) => {
    const { port, groups } = await start();
    const lines = Object.entries(good).flatMap(([key, value]) =>
      key === name ? [key, value, key, value] : [key, value],
    );
    const head = Array.from({ length: lines.length / 2 }, (_, i) => `${lines[2 * i]}: ${lines[2 * i + 1]}\r\n`).join(
      '',
    );
    const text = `POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n${head}\r\n${BODY}`;
    expect(await rawAnswer(port, text)).toMatch(/^HTTP\/1\.1 401 /);
    expect(groups).toEqual([]);
  });

  test('a copied request changes nothing, sooner or later', async () => {
    let now = Date.now();
    const { url, events } = await start(STANDARD, [SECRET], { now: () => now });
    const headers = signed(BODY, { id: 'msg_1', atMs: now });
    expect((await post(url, BODY, headers)).status).toBe(200);
    // A sender that did not get its answer does the same: it must not be refused. The ledger knows the event.
    expect((await post(url, BODY, headers)).status).toBe(200);
    expect(new Set(events().map((event) => JSON.stringify(event))).size).toBe(1);
    now += 301_000;
    expect((await post(url, BODY, headers)).status).toBe(401);
    expect((await post(url, BODY, signed(BODY, { id: 'msg_1', atMs: now }))).status).toBe(200);
  });

  test('an id that comes again with another body is refused, for as long as its signature could be good', async () => {
    let now = Date.now();
    const { url, events, lines } = await start(STANDARD, [SECRET], { now: () => now });
    expect((await post(url, BODY, signed(BODY, { id: 'msg_1', atMs: now + 299_000 }))).status).toBe(200);
    now += 598_000;
    const other = BODY.replace('m1', 'm2');
    expect((await post(url, other, signed(other, { id: 'msg_1', atMs: now }))).status).toBe(401);
    expect(events()).toHaveLength(1);
    expect(lines.join()).toContain('its id came with another body before');
  });

  test.each<[scheme: 'basic' | 'bearer', challenge: string]>([
    ['basic', 'Basic realm="webhooks", charset="UTF-8"'],
    ['bearer', 'Bearer realm="webhooks"'],
  ])('%s: 401 says what is asked for', async (kind, challenge) => {
    const { url } = await start({ kind }, ['user:password']);
    expect((await post(url, BODY)).headers['www-authenticate']).toBe(challenge);
  });

  test.each([
    ['the secret', '/0123456789abcdef0123456789abcdef', 200],
    ['the secret and a query', '/0123456789abcdef0123456789abcdef?a=b', 200],
    ['nothing', '', 401],
    ['another', '/0123456789abcdef0123456789abcdeg', 401],
    ['a part', '/0123456789abcdef', 401],
    ['more', '/0123456789abcdef0123456789abcdef0', 401],
    ['broken percent signs', '/%E0%A4%A', 401],
    ['one segment more', '/0123456789abcdef0123456789abcdef/x', 404],
  ])('a secret in the path: %s', async (_label, segment, status) => {
    const { url, lines } = await start({ kind: 'path' }, ['f'.repeat(32), '0123456789abcdef0123456789abcdef']);
    expect((await post(url + segment, BODY)).status).toBe(status);
    expect(lines.join()).not.toContain('0123');
  });
});

describe('more than one can take (S30)', () => {
  test('200 connections that say little do not cost a sender one event', async () => {
    const { port, url, events } = await start();
    const head = 'POST /webhooks HTTP/1.1\r\nHost: x\r\n';
    for (let i = 0; i < 200; i++) {
      const kinds = [
        '',
        head,
        `${head}Content-Length: 50000\r\n\r\n{`,
        `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
      ];
      sockets.push(await silentConnection(port, kinds[i % kinds.length] ?? ''));
    }
    let open = true;
    // They go on with a byte now and then, and come again when they are cut.
    const drip = (async () => {
      while (open) {
        for (const [i, socket] of sockets.entries()) {
          if (socket.destroyed) sockets[i] = await silentConnection(port, head);
          else socket.write('X-A: b\r\n');
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const statuses: number[] = [];
    for (let round = 0; round < 20; round++) {
      const bodies = Array.from({ length: 10 }, (_, i) => `{"n":${round * 10 + i}}`);
      const replies = await Promise.all(bodies.map((body) => post(url, body, signed(body))));
      statuses.push(...replies.map((reply) => reply.status));
    }
    open = false;
    await drip;
    expect(statuses).toEqual(Array.from({ length: 200 }, () => 200));
    expect(events()).toHaveLength(200);
  }, 20_000);

  test('a body that says it has 1 GB is not waited for', async () => {
    const { url, groups } = await start();
    const headers = { ...signed(BODY), 'content-length': '1000000000' };
    const began = performance.now();
    const reply = await exchange(url, { method: 'POST', headers }, (outgoing) => outgoing.write('x'.repeat(1_000)));
    expect(reply).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(groups).toEqual([]);
  });

  test('nor is one announced with Expect', async () => {
    const { url } = await start();
    const headers = { expect: '100-continue', 'content-length': '1000000000' };
    let went = false;
    const reply = await exchange(url, { method: 'POST', headers }, (outgoing) => {
      outgoing.on('continue', () => (went = true));
      outgoing.flushHeaders();
    });
    expect({ status: reply.status, went }).toEqual({ status: 413, went: false });
  });

  const LARGE = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  test.each([
    ['in large chunks', 'x', LARGE, 413],
    ['in chunks of a byte', 'x', '1\r\nx\r\n'.repeat(10_000), 413],
    ['with extensions of chunks', 'x', `1;${'e'.repeat(1_000)}\r\nx\r\n`.repeat(100), 413],
    ['with a Host that is none', 'a@b:99999', LARGE, 400],
  ])(
    'a body without end is cut off: %s',
    async (_label, host, chunk, status) => {
      const { port, groups } = await start();
      const before = process.memoryUsage().rss;
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      let answer = '';
      socket.on('data', (data) => (answer += data.toString('latin1')));
      socket.on('error', () => undefined);
      socket.write(`POST /webhooks HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      let written = 0;
      while (!socket.destroyed && written < 300_000_000) {
        written += chunk.length;
        if (!socket.write(chunk)) await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
      }
      await closed;
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(written).toBeLessThan(50_000_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
      expect(groups).toEqual([]);
    },
    20_000,
  );

  test.each([
    ['64 KiB are taken', 64 * 1024, 200],
    ['a byte more is not', 64 * 1024 + 1, 413],
  ])('%s', async (_label, bytes, status) => {
    const body = JSON.stringify('x'.repeat(bytes - 2));
    const { url } = await start();
    expect((await post(url, body, signed(body))).status).toBe(status);
  });

  test('keys that would change every object are harmless (S12)', async () => {
    const { url } = await start();
    const body = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    expect((await post(url, body, signed(body))).status).toBe(200);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test.each([
    ['no Host', 'POST /webhooks HTTP/1.1\r\n\r\n'],
    ['a Host of nonsense', 'POST /webhooks HTTP/1.1\r\nHost: a b/\\\r\nContent-Length: 2\r\n\r\n{}'],
    ['HTTP/1.0', 'POST /webhooks HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}'],
    ['another site', 'POST http://evil.example/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
    ['a path of nonsense', 'POST //\\\\%zz%00 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
    ['two lengths', 'POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    [
      'a length and chunks',
      'POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n{}'],
    ['headers without end', `POST /webhooks HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(5_000)}\r\n`],
    ['no HTTP', '\u0016\u0003\u0001\u0002\u0000'],
    [
      'a wish for another protocol',
      'POST /webhooks HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}',
    ],
    [
      'an expectation of nonsense',
      'POST /webhooks HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 2\r\n\r\n{}',
    ],
    ['a GET with a body', 'GET /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'],
  ])('a request that is broken is answered 4xx or cut: %s', async (_label, text) => {
    const { port, url, groups } = await start();
    expect(await rawAnswer(port, text)).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/);
    expect(groups).toEqual([]);
    expect((await post(url, BODY, signed(BODY))).status).toBe(200);
  });
});

/** What is answered to these bytes, until the connection is closed or nothing comes for a moment. */
function rawAnswer(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let answer = '';
    socket.setTimeout(500, () => resolve(answer));
    socket.on('data', (data) => {
      answer += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.write(text, 'latin1');
  });
}
