import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { classify } from '../../src/http/classify.ts';
import { connect, type Endpoint, type EndpointOptions } from '../../src/http/connect.ts';
import type { Attempt } from '../../src/model.ts';
import {
  afterMs,
  answer,
  type RawServer,
  type RawServerOptions,
  silence,
  startProxy,
  startRawServer,
} from '../helpers/raw-server.ts';
import { wireWith } from './wire.ts';

const BODY = '{"channel":"SMS","body":{"text":"Grüße ✓"}}';

const open: (RawServer | Endpoint)[] = [];

afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await ('post' in thing ? thing.close(0) : thing.close());
});

async function serve(options: RawServerOptions = {}): Promise<RawServer> {
  const server = await startRawServer(options);
  open.push(server);
  return server;
}

function endpoint(url: string, more: Partial<EndpointOptions> = {}): Endpoint {
  const made = connect({ url, headers: { 'x-api-key': 'SEKRET-1' }, connections: 4, timeoutMs: 2_000, ...more });
  open.push(made);
  return made;
}

function judge(attempt: Attempt, stopping = false) {
  return classify(attempt, { wire: wireWith(), firstAnswer: false, nowMs: Date.now(), stopping });
}

async function pause(ms: number): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !condition(); i++) await pause(5);
  expect(condition()).toBe(true);
}

describe('the request', () => {
  it('is one POST with exactly these headers and bytes', async () => {
    const server = await serve();
    const attempt = await endpoint(server.url, { idempotencyHeader: 'idempotency-key' }).post(BODY, 'ref-1');
    expect(attempt).toMatchObject({
      phase: 'P4',
      status: 202,
      error: null,
      contentType: 'application/json',
      body: '{"id":"m-1"}',
    });
    expect(attempt.latencyMs).toBeGreaterThan(0);
    expect(server.requests[0]?.body).toBe(BODY);
    expect(server.requests[0]?.head.split('\r\n')).toEqual([
      'POST /v2/messages HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'connection: keep-alive',
      'content-type: application/json',
      'accept-encoding: identity',
      'x-api-key: SEKRET-1',
      'idempotency-key: ref-1',
      `content-length: ${Buffer.byteLength(BODY)}`,
    ]);
  });

  test.each(['', 'more than two words', 'line\nbreak', 'line\r\nx-evil: 1', 'NUL\0', 'ümlaut', 'tab\t'])(
    'is refused when the key is %j, without repeating it',
    (key) => {
      const make = () =>
        connect({ url: 'http://127.0.0.1:1/', headers: { 'x-api-key': key }, connections: 1, timeoutMs: 10 });
      expect(make).toThrow(HandbillError);
      expect(make).toThrow(expect.objectContaining({ code: 'invalid-api-key', exit: 2 }));
      expect(make).not.toThrow(
        expect.objectContaining({ message: expect.stringContaining(key === '' ? 'x'.repeat(99) : key) }),
      );
    },
  );
});

describe('connections', () => {
  it('exist before they are promised, and carry nothing until then', async () => {
    const server = await serve();
    const api = endpoint(server.url);
    expect(await api.ready()).toBeNull();
    expect([server.connections, server.bytes, api.idle, api.inFlight]).toEqual([1, 0, 1, 0]);
    expect((await api.post(BODY, 'r')).status).toBe(202);
    expect(server.connections).toBe(1);
  });

  it('are never more than allowed, however many deliver at a time', async () => {
    const server = await serve({ behaviour: afterMs(2, answer(202, '{}')) });
    const api = endpoint(server.url, { connections: 4 });
    let posts = 0;
    const deliver = async (): Promise<void> => {
      while (posts < 400) {
        posts += 1;
        expect(await api.ready()).toBeNull();
        expect((await api.post(BODY, 'r')).status).toBe(202);
      }
    };
    await Promise.all(Array.from({ length: 12 }, deliver));
    expect([server.requests.length, server.connections]).toEqual([posts, 4]);
  });

  it('are kept for one post each: as many promises as connections, the rest waits', async () => {
    const server = await serve();
    const api = endpoint(server.url, { connections: 2 });
    expect(await Promise.all([api.ready(), api.ready()])).toEqual([null, null]);
    await until(() => server.connections === 2);
    let kept = false;
    const third = Promise.resolve(api.ready()).then(() => {
      kept = true;
    });
    await pause(50);
    expect([kept, api.idle, server.connections]).toEqual([false, 2, 2]);
    api.release();
    await third;
    expect([kept, server.connections]).toEqual([true, 2]);
  });

  it('that are given back are handed on at once', async () => {
    const server = await serve();
    const api = endpoint(server.url, { connections: 1 });
    expect(await api.ready()).toBeNull();
    let kept = false;
    void Promise.resolve(api.ready()).then(() => {
      kept = true;
    });
    api.release();
    // Within this turn of the event loop: the clock that looks after what was forgotten has no chance to.
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    expect(kept).toBe(true);
  });

  it('ramp up gently: the second only when the first is open', async () => {
    // It takes connections and never says a word, so that TLS waits.
    const server = await serve();
    const api = endpoint(`https://127.0.0.1:${server.port}/`, { connections: 16, timeoutMs: 5_000 });
    const asked = Array.from({ length: 16 }, () => api.ready());
    await until(() => server.connections > 0);
    await pause(50);
    expect(server.connections).toBe(1);
    api.abort();
    await Promise.all(asked);
    // Aborting lets go of a handshake in progress as well.
    await until(() => server.openConnections === 0);
  });

  it('ramp up to as many as are asked for', async () => {
    const server = await serve();
    const api = endpoint(server.url, { connections: 16 });
    expect(await Promise.all(Array.from({ length: 16 }, () => api.ready()))).toEqual(Array(16).fill(null));
    await until(() => server.connections === 16);
  });

  it('that die while they wait are replaced', async () => {
    const server = await serve();
    const api = endpoint(server.url, { connections: 1 });
    let socket: { destroy(): void } | null = null;
    server.onConnection = (made) => (socket = made);
    expect(await api.ready()).toBeNull();
    api.release();
    (socket as { destroy(): void } | null)?.destroy();
    await until(() => api.idle === 0);
    expect(await api.ready()).toBeNull();
    expect((await api.post(BODY, 'r')).status).toBe(202);
    expect(server.connections).toBe(2);
  });

  it('that the server closes after each answer are opened again, and nothing is lost', async () => {
    const server = await serve({
      behaviour: ({ socket }) =>
        socket.end('HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}'),
    });
    const api = endpoint(server.url, { connections: 2 });
    for (let i = 0; i < 20; i++) {
      expect(await api.ready()).toBeNull();
      expect(judge(await api.post(BODY, 'r')).outcome).toBe('accepted');
    }
    expect([server.requests.length, server.connections]).toEqual([20, 20]);
  });

  it('that were answered before the whole request was written carry nothing more', async () => {
    const server = await serve({
      onConnection: (socket) =>
        socket.once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}');
        }),
    });
    const api = endpoint(server.url, { connections: 1 });
    // More than the system takes for a connection without a reader.
    for (const body of ['x'.repeat(32 * 1024 * 1024), BODY]) {
      expect(await api.ready()).toBeNull();
      expect((await api.post(body, 'r')).status).toBe(202);
    }
    expect(server.connections).toBe(2);
  });

  it('that the server closes between requests without a word never lose one unseen', async () => {
    const server = await serve({
      behaviour: ({ socket }) => {
        socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}');
        setTimeout(() => socket.destroy(), Math.random() * 4);
      },
    });
    const api = endpoint(server.url, { connections: 2 });
    const tally: Record<string, number> = {};
    for (let i = 0; i < 150; i++) {
      const attempt = (await api.ready()) ?? (await api.post(BODY, 'r'));
      const { outcome } = judge(attempt);
      tally[outcome] = (tally[outcome] ?? 0) + 1;
      await pause(Math.random() * 4);
    }
    // Each received request is accepted or in doubt; none was sent twice.
    const { accepted = 0, 'in-doubt': doubt = 0, failed = 0 } = tally;
    expect(accepted + doubt + failed).toBe(150);
    expect(server.requests.length).toBeGreaterThanOrEqual(accepted);
    expect(server.requests.length).toBeLessThanOrEqual(accepted + doubt);
  });

  it('that are refused next to open ones are not a failure', async () => {
    const server = await serve({
      behaviour: ({ socket }) =>
        setTimeout(() => socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}'), 60),
    });
    const api = endpoint(server.url, { connections: 4 });
    expect(await api.ready()).toBeNull();
    const first = api.post(BODY, 'r-1');
    // No more connections are taken: the listener is gone, the open connection stays.
    server.stopListening();
    expect(await api.ready()).toBeNull();
    expect((await api.post(BODY, 'r-2')).status).toBe(202);
    expect((await first).status).toBe(202);
    expect(server.connections).toBe(1);
  });

  it('serve posts that did not ask ready, in turn', async () => {
    const server = await serve();
    const api = endpoint(server.url, { connections: 2 });
    const posts = Array.from({ length: 20 }, (_, i) => api.post(BODY, `r-${i}`));
    expect(api.inFlight).toBe(20);
    for (const post of posts) expect((await post).status).toBe(202);
    expect([api.inFlight, server.connections]).toEqual([0, 2]);
  });
});

describe('the time limit', () => {
  it('holds for a connection that is never made, and then nothing is sent', async () => {
    // It takes connections and never says a word, so that TLS waits.
    const server = await serve();
    const api = endpoint(`https://127.0.0.1:${server.port}/`, { timeoutMs: 200, connectTimeoutMs: 150 });
    const failed = await api.ready();
    expect(judge(failed as Attempt)).toMatchObject({ outcome: 'failed', reason: 'connect-timeout', again: true });
    const posted = await api.post(BODY, 'r');
    expect(posted.phase).toBe('P1');
    expect(judge(posted)).toMatchObject({ outcome: 'failed', reason: 'connect-timeout', again: true });
    expect(server.requests).toHaveLength(0);
  });

  // The second request's time is up a moment after the first's. Where a sweep falls between the two, the second one
  // rightly still gets the connection; tried again then, as that moment is a thousandth of the time between sweeps.
  it('holds for a request that waits for a connection, and then nothing is sent', { retry: 3 }, async () => {
    const server = await serve({ behaviour: silence });
    const api = endpoint(server.url, { connections: 1, timeoutMs: 500 });
    const [first, second] = await Promise.all([api.post(BODY, 'r-1'), api.post(BODY, 'r-2')]);
    expect([first?.phase, second?.phase]).toEqual(['P2', 'P1']);
    expect(server.requests).toHaveLength(1);
    await pause(50);
    expect(server.requests).toHaveLength(1);
  });

  it('is never met early', async () => {
    const server = await serve({ behaviour: silence });
    const attempt = await endpoint(server.url, { timeoutMs: 240 }).post(BODY, 'r');
    expect(attempt.latencyMs).toBeGreaterThanOrEqual(240);
    expect(attempt.latencyMs).toBeLessThan(5_000);
  });
});

describe('stopping', () => {
  it('waits for what is in flight', async () => {
    const server = await serve({
      behaviour: ({ socket }) =>
        setTimeout(() => socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}'), 80),
    });
    const api = endpoint(server.url);
    const posted = api.post(BODY, 'r');
    await until(() => server.requests.length === 1);
    await api.close(2_000);
    expect(judge(await posted, true).outcome).toBe('accepted');
    await until(() => server.openConnections === 0);
  });

  it('aborts what takes longer: nothing sent is pending, the rest is in doubt', async () => {
    const server = await serve({ behaviour: silence });
    const api = endpoint(server.url, { connections: 1, timeoutMs: 10_000 });
    const posts = [api.post(BODY, 'r-1'), api.post(BODY, 'r-2')];
    await until(() => server.requests.length === 1);
    const started = performance.now();
    await api.close(60);
    expect(performance.now() - started).toBeLessThan(5_000);
    const [first, second] = (await Promise.all(posts)).map((attempt) => judge(attempt, true));
    expect(first).toMatchObject({ outcome: 'in-doubt', reason: 'stopped' });
    expect(second).toMatchObject({ outcome: 'pending', reason: 'stopped' });
    expect(api.inFlight).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  it('at once, in the middle of connecting, sends nothing', async () => {
    const server = await serve();
    const api = endpoint(server.url);
    const waiting = api.ready();
    const posted = api.post(BODY, 'r');
    api.abort();
    expect(judge((await waiting) as Attempt, true)).toMatchObject({ outcome: 'pending', reason: 'stopped' });
    expect(judge(await posted, true)).toMatchObject({ outcome: 'pending', reason: 'stopped' });
    await pause(50);
    expect(server.bytes).toBe(0);
  });

  it('keeps the status of an answer that is not complete', async () => {
    const server = await serve({
      behaviour: ({ socket }) => socket.write('HTTP/1.1 400 Bad Request\r\ncontent-length: 99\r\n\r\n{"mess'),
    });
    const api = endpoint(server.url);
    const posted = api.post(BODY, 'r');
    await until(() => server.requests.length === 1);
    await pause(30);
    api.abort();
    expect(judge(await posted, true)).toMatchObject({ outcome: 'rejected', reason: 'status' });
  });

  it('takes nothing afterwards', async () => {
    const server = await serve();
    const api = endpoint(server.url);
    await api.close(0);
    expect(judge(await api.post(BODY, 'r'))).toMatchObject({ outcome: 'pending', reason: 'stopped' });
    expect(judge((await api.ready()) as Attempt)).toMatchObject({ outcome: 'pending', reason: 'stopped' });
    expect(server.connections).toBe(0);
  });
});

describe('TLS', () => {
  it('goes to a server that is trusted, with HTTP/1.1', async () => {
    const { key, cert } = certificate('localhost');
    const server = await serve({ tls: { key, cert } });
    const api = endpoint(server.url, { tls: { ca: cert } });
    expect(await api.ready()).toBeNull();
    expect(server.bytes).toBe(0);
    expect(judge(await api.post(BODY, 'r'))).toMatchObject({ outcome: 'accepted', messageId: 'm-1' });
    expect(server.connections).toBe(1);
  });

  test.each([
    ['self-signed', 'localhost', false],
    ['another name', 'elsewhere', true],
    ['expired', 'expired', true],
  ] as const)('halts before anything is sent: %s (B6)', async (_label, name, trusted) => {
    const { key, cert } = certificate(name);
    const server = await serve({ tls: { key, cert } });
    const api = endpoint(server.url, trusted ? { tls: { ca: cert } } : {});
    for (const attempt of [await api.ready(), await api.post(BODY, 'r')]) {
      expect(attempt?.phase).toBe('P1');
      expect(judge(attempt as Attempt)).toMatchObject({ outcome: 'failed', reason: 'tls', halt: 'tls', again: false });
    }
    expect(server.bytes).toBe(0);
  });

  it('keeps its connections, however fast the answers come', async () => {
    const { key, cert } = certificate('localhost');
    const server = await serve({ tls: { key, cert } });
    const api = endpoint(server.url, { tls: { ca: cert }, connections: 8 });
    const deliver = async (): Promise<void> => {
      for (let post = 0; post < 50; post++) {
        await api.ready();
        // Where deliveries really are: behind a commit, in the phase of the event loop before the next answers are read.
        await new Promise((done) => setImmediate(done));
        await api.post(BODY, 'r');
      }
    };
    await Promise.all(Array.from({ length: 8 }, deliver));
    expect([server.requests.length, server.connections]).toEqual([400, 8]);
  });

  it('halts when the server speaks plain HTTP (B6)', async () => {
    const server = await serve({ onConnection: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
    const attempt = await endpoint(`https://localhost:${server.port}/`).post(BODY, 'r');
    expect(judge(attempt)).toMatchObject({ outcome: 'failed', reason: 'tls', halt: 'tls' });
  });

  it('never speaks HTTP/2, even where the server offers it (B10)', async () => {
    const { key, cert } = certificate('localhost');
    const server = await serve({ tls: { key, cert, ALPNProtocols: ['h2', 'http/1.1'] } });
    expect(judge(await endpoint(server.url, { tls: { ca: cert } }).post(BODY, 'r')).outcome).toBe('accepted');
    expect(server.requests[0]?.head).toMatch(/^POST \/v2\/messages HTTP\/1\.1\r\n/);
  });

  it('verifies even where the environment says not to (S3)', async () => {
    const { key, cert } = certificate('localhost');
    const server = await serve({ tls: { key, cert } });
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(judge(await endpoint(server.url).post(BODY, 'r')).reason).toBe('tls');
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });
});

describe('connections that are used again', () => {
  const { key, cert } = certificate('localhost');

  test.each([
    ['plain', false, false],
    ['TLS', true, false],
    ['plain, through a proxy', false, true],
    ['TLS, through a proxy', true, true],
  ])('carry one request after the other, each with its own answer: %s', async (_, isTls, isProxied) => {
    // Some requests and answers are longer than what is written or read in one piece.
    const long = (n: number) => (n % 10 === 3 ? 'é'.repeat(150_000) : '');
    const server = await serve({
      ...(isTls ? { tls: { key, cert } } : {}),
      behaviour(request) {
        const { n } = JSON.parse(request.body) as { n: number };
        answer(202, JSON.stringify({ id: `m-${n}`, long: n % 7 === 5 ? 'ü'.repeat(20_000) : '' }))(request);
      },
    });
    const proxy = isProxied ? await startProxy(true) : null;
    if (proxy !== null) open.push(proxy);
    const api = endpoint(server.url, {
      connections: 4,
      timeoutMs: 10_000,
      proxy: proxy === null ? null : `http://127.0.0.1:${proxy.port}`,
      ...(isTls ? { tls: { ca: cert } } : {}),
    });
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let n = next++; n < 200; n = next++) {
        expect(await api.ready()).toBeNull();
        const { body } = await api.post(JSON.stringify({ n, long: long(n) }), `r-${n}`);
        const said = JSON.parse(body) as { id: string; long: string };
        expect([said.id, said.long.length]).toEqual([`m-${n}`, n % 7 === 5 ? 20_000 : 0]);
      }
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
    expect(server.requests.length).toBe(200);
    expect(server.connections).toBeLessThanOrEqual(4);
  });

  it('are closed in time where the server says how long it keeps them', async () => {
    const [short, long] = await Promise.all(
      [3, 600].map(async (seconds) => {
        const server = await serve({ behaviour: answer(202, '{"id":"m-1"}', { 'keep-alive': `timeout=${seconds}` }) });
        const api = endpoint(server.url, { connections: 1 });
        await api.post(BODY, 'r');
        return { server, api };
      }),
    );
    // This server keeps its connections: the client closes the one of 3 s, and no other.
    await until(() => short?.server.openConnections === 0);
    expect([short?.api.idle, long?.server.openConnections]).toEqual([0, 1]);
  });
});

describe('a proxy', () => {
  it('carries TLS through a tunnel and never sees the key', async () => {
    const { key, cert } = certificate('localhost');
    const server = await serve({ tls: { key, cert } });
    const proxy = await startProxy(true);
    open.push(proxy);
    const api = endpoint(server.url, { tls: { ca: cert }, proxy: `http://me:pass@127.0.0.1:${proxy.port}` });
    expect(await api.ready()).toBeNull();
    expect(judge(await api.post(BODY, 'r'))).toMatchObject({ outcome: 'accepted' });
    expect(proxy.tunnels).toEqual([`localhost:${server.port}`]);
    expect(proxy.requests[0]?.head).toContain(`proxy-authorization: Basic ${btoa('me:pass')}`);
    expect(proxy.requests.map(({ head }) => head).join()).not.toContain('SEKRET');
  });

  it('carries plain HTTP to this machine', async () => {
    const server = await serve();
    const proxy = await startProxy(true);
    open.push(proxy);
    const api = endpoint(server.url, { proxy: `http://127.0.0.1:${proxy.port}` });
    expect(judge(await api.post(BODY, 'r')).outcome).toBe('accepted');
    expect(proxy.tunnels).toEqual([`127.0.0.1:${server.port}`]);
  });

  test.each([
    ['refuses', (socket: { end(text: string): void }) => socket.end('HTTP/1.1 407 No\r\n\r\n')],
    ['closes', (socket: { end(text: string): void }) => socket.end('')],
    ['talks nonsense', (socket: { end(text: string): void }) => socket.end('SSH-2.0\r\n\r\n')],
    ['says nothing', () => {}],
  ] as const)('one that %s fails before anything is sent (B7)', async (_label, misbehave) => {
    const server = await serve();
    const proxy = await serve({ behaviour: ({ socket }) => misbehave(socket) });
    const api = endpoint(server.url, { proxy: `http://127.0.0.1:${proxy.port}`, connectTimeoutMs: 400 });
    for (const attempt of [await api.ready(), await api.post(BODY, 'r')]) {
      expect(judge(attempt as Attempt)).toMatchObject({ outcome: 'failed', reason: 'proxy', again: true });
    }
    expect(server.connections).toBe(0);
  });

  it('on another machine is refused for plain HTTP, which would show it the key', () => {
    const make = () =>
      connect({
        url: 'http://127.0.0.1:1/',
        headers: {},
        connections: 1,
        timeoutMs: 10,
        proxy: 'http://proxy.example.com:3128',
      });
    expect(make).toThrow(expect.objectContaining({ code: 'invalid-base-url' }));
  });
});

function certificate(name: string): { readonly key: string; readonly cert: string } {
  const read = (ending: string) => readFileSync(new URL(`../fixtures/http/${name}.${ending}`, import.meta.url), 'utf8');
  return { key: read('key'), cert: read('crt') };
}
