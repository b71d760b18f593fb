import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { classify, type Reason } from '../../src/http/classify.ts';
import { connect, type Endpoint, type EndpointOptions } from '../../src/http/connect.ts';
import type { Attempt, HaltRule, Phase } from '../../src/model.ts';
import {
  answer,
  type Behaviour,
  byteByByte,
  close,
  closedPort,
  drip,
  gzipped,
  type RawServer,
  raw,
  rawThenClose,
  rawThenReset,
  reset,
  silence,
  startRawServer,
} from '../helpers/raw-server.ts';
import { wireWith } from './wire.ts';

const BODY = JSON.stringify({ channel: 'SMS', body: { text: 'Hello' }, recipients: [{ msisdn: '+447700900123' }] });
/** No machine is so busy that an answer takes as long. */
const TIMEOUT_MS = 60_000;
/** Of the cases whose time runs out; they wait side by side. */
const SHORT_MS = 3_000;
const ACCEPTED = 'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\n';

const open: (RawServer | Endpoint)[] = [];

afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await ('post' in thing ? thing.close(0) : thing.close());
});

async function serve(behaviour: Behaviour): Promise<RawServer> {
  const server = await startRawServer({ behaviour });
  open.push(server);
  return server;
}

function endpoint(url: string, more: Partial<EndpointOptions> = {}): Endpoint {
  const made = connect({ url, headers: { 'x-api-key': 'k' }, connections: 2, timeoutMs: TIMEOUT_MS, ...more });
  open.push(made);
  return made;
}

function judge(attempt: Attempt, firstAnswer = false) {
  return classify(attempt, {
    wire: wireWith(),
    firstAnswer,
    neverAccepted: firstAnswer,
    nowMs: Date.now(),
    stopping: false,
  });
}

interface Expected {
  readonly phase: Phase | readonly Phase[];
  readonly status: number | null;
  readonly outcome: string;
  readonly reason: Reason | null;
  readonly halt?: HaltRule;
}

const doubt = (reason: Reason): Expected => ({ phase: 'P2', status: null, outcome: 'in-doubt', reason });
const unrecognised = (phase: Phase, status = 202): Expected => ({
  phase,
  status,
  outcome: 'in-doubt',
  reason: 'unrecognised',
});
const ACCEPT: Expected = { phase: 'P4', status: 202, outcome: 'accepted', reason: null };

const CASES: readonly [label: string, row: string, behaviour: Behaviour, expected: Expected][] = [
  ['a proper answer', 'D1', answer(202, '{"id":"m-1"}'), ACCEPT],
  ['an empty answer', 'D1', answer(202, ''), ACCEPT],
  ['no content', 'D1', raw('HTTP/1.1 204 No Content\r\n\r\n'), { ...ACCEPT, status: 204 }],
  [
    'an answer in chunks',
    'D1',
    raw(`${ACCEPTED}transfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\n7\r\n:"m-1"}\r\n0\r\n\r\n`),
    ACCEPT,
  ],
  [
    'an answer that ends with its connection',
    'D1',
    rawThenClose(`${ACCEPTED}connection: close\r\n\r\n{"id":"m-1"}`),
    ACCEPT,
  ],
  [
    'an interim 103, then the answer',
    'C7',
    raw(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${ACCEPTED}content-length: 12\r\n\r\n{"id":"m-1"}`),
    ACCEPT,
  ],
  [
    'an interim 102, then the answer',
    'C7',
    raw(`HTTP/1.1 102 Processing\r\n\r\n${ACCEPTED}content-length: 12\r\n\r\n{"id":"m-1"}`),
    ACCEPT,
  ],

  ['reset after the request', 'C3', reset, doubt('no-response')],
  ['close after the request', 'C3', close, doubt('no-response')],
  ['silence', 'C2', silence, doubt('timeout')],
  ['reset in the status line', 'C5', rawThenReset('HTTP/1.1 20'), doubt('bad-response')],
  ['close in the status line', 'C5', rawThenClose('HTTP/1.1 20'), doubt('bad-response')],
  ['reset in the headers', 'C5', rawThenReset('HTTP/1.1 202 Accepted\r\ncontent-type: appl'), doubt('bad-response')],
  ['not HTTP', 'C5', raw('SSH-2.0-OpenSSH_9.6\r\n'), doubt('bad-response')],
  ['another protocol with HTTP in it', 'C5', raw('HTTP/9.9 banana\r\n\r\n'), doubt('bad-response')],
  [
    '101 unasked',
    'C5',
    raw('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    doubt('bad-response'),
  ],
  ['headers of 40 KiB', 'C5', raw(`${ACCEPTED}x-long: ${'a'.repeat(40_000)}\r\n\r\n`), doubt('bad-response')],
  ['status 099', 'C5', raw('HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'), doubt('bad-response')],
  ['two lengths', 'C6', raw(`${ACCEPTED}content-length: 2\r\ncontent-length: 5\r\n\r\n{}   `), doubt('bad-response')],
  [
    'length and chunked',
    'C6',
    raw(`${ACCEPTED}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    doubt('bad-response'),
  ],
  [
    '100 unasked, then the answer',
    'C7',
    raw(`HTTP/1.1 100 Continue\r\n\r\n${ACCEPTED}content-length: 2\r\n\r\n{}`),
    doubt('bad-response'),
  ],
  ['103 without end', 'C8', drip('', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', 20), doubt('timeout')],
  ['headers one byte at a time', 'C8', byteByByte(`${ACCEPTED}content-length: 2\r\n\r\n{}`, 60), doubt('timeout')],

  [
    '2xx, then reset in the body',
    'D2',
    rawThenReset(`${ACCEPTED}content-length: 100\r\n\r\n{"id":`),
    unrecognised('P3'),
  ],
  [
    '2xx, then close in the body',
    'D2',
    rawThenClose(`${ACCEPTED}content-length: 100\r\n\r\n{"id":`),
    unrecognised('P3'),
  ],
  ['2xx, then nothing', 'D2', raw(`${ACCEPTED}content-length: 100\r\n\r\n`), unrecognised('P3')],
  ['2xx, body one byte at a time', 'D2', drip(`${ACCEPTED}content-length: 100\r\n\r\n`, ' ', 60), unrecognised('P3')],
  [
    '2xx, a bad chunk',
    'D2',
    raw(`${ACCEPTED}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`),
    unrecognised('P3'),
  ],
  [
    '2xx, too large, with its length',
    'D2',
    answer(202, JSON.stringify({ id: 'm-1', more: 'x'.repeat(70_000) })),
    unrecognised('P3'),
  ],
  ['2xx, without end', 'D2', drip(`${ACCEPTED}\r\n`, ' '.repeat(8_000), 1), unrecognised('P3')],
  [
    '2xx without a length, empty, then reset',
    'D2',
    rawThenReset(`${ACCEPTED}connection: close\r\n\r\n`),
    unrecognised('P3'),
  ],
  [
    '2xx without a length, whole, then reset',
    'D2',
    rawThenReset(`${ACCEPTED}connection: close\r\n\r\n{"id":"m-1"}`),
    unrecognised('P3'),
  ],
  [
    '2xx without a length, cut JSON, then close',
    'D2',
    rawThenClose(`${ACCEPTED}connection: close\r\n\r\n{"id":"m-`),
    unrecognised('P4'),
  ],
  ['2xx, compressed', 'D2', gzipped(202, '{"id":"m-1"}'), unrecognised('P4')],
  [
    '2xx, HTML',
    'D2',
    answer(200, '<!DOCTYPE html><title>Log in</title>', { 'content-type': 'text/html' }),
    { ...unrecognised('P4', 200), halt: 'not-the-api' },
  ],
  ['2xx, plain text', 'D2', answer(200, 'OK', { 'content-type': 'text/plain' }), unrecognised('P4', 200)],

  ['400', 'F1', answer(400, '{"message":"no"}'), { phase: 'P4', status: 400, outcome: 'rejected', reason: 'status' }],
  [
    '400, then reset in the body',
    'F1',
    rawThenReset('HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\n{"mess'),
    { phase: 'P3', status: 400, outcome: 'rejected', reason: 'status' },
  ],
  ['429', 'F6', answer(429, ''), { phase: 'P4', status: 429, outcome: 'pending', reason: 'rate-limited' }],
  ['500', 'G1', answer(500, ''), { phase: 'P4', status: 500, outcome: 'in-doubt', reason: 'status' }],
  ['status 600', 'G5', answer(600, '{}'), { phase: 'P4', status: 600, outcome: 'in-doubt', reason: 'status' }],
  ['status 999', 'G5', answer(999, '{}'), { phase: 'P4', status: 999, outcome: 'in-doubt', reason: 'status' }],
];

const RUNS_OUT =
  /^(?:silence|103 without end|headers one byte at a time|2xx, then nothing|2xx, body one byte at a time)$/;

/** The row of the failure model comes first, so that its tests are found by it. */
const TITLED = CASES.map(([label, row, behaviour, expected]) => {
  return [`${row}: ${label}`, behaviour, expected, RUNS_OUT.test(label) ? SHORT_MS : TIMEOUT_MS] as const;
});

function check(attempt: Attempt, expected: Expected): void {
  const verdict = judge(attempt);
  expect({ ...verdict, phase: attempt.phase, status: attempt.status, error: attempt.error }).toMatchObject({
    phase: expected.phase,
    status: expected.status,
    outcome: expected.outcome,
    reason: expected.reason,
    halt: expected.halt ?? null,
    again: attempt.status === 429,
  });
}

describe.concurrent('on a fresh connection', () => {
  test.each(TITLED)('%s', async (_title, behaviour, expected, timeoutMs) => {
    const server = await startRawServer({ behaviour });
    const api = connect({ url: server.url, headers: { 'x-api-key': 'k' }, connections: 2, timeoutMs });
    try {
      expect(await api.ready()).toBeNull();
      check(await api.post(BODY, 'r'), expected);
      expect(server.requests).toHaveLength(1);
    } finally {
      await api.close(0);
      await server.close();
    }
  });
});

describe.concurrent('on a connection that was used before', () => {
  test.each(TITLED)('%s', async (_title, behaviour, expected, timeoutMs) => {
    const server = await startRawServer({ behaviour: answer(202, '{"id":"m-0"}') });
    const api = connect({ url: server.url, headers: { 'x-api-key': 'k' }, connections: 1, timeoutMs });
    try {
      check(await api.post(BODY, 'r-0'), ACCEPT);
      server.behaviour = behaviour;
      expect(await api.ready()).toBeNull();
      check(await api.post(BODY, 'r-1'), expected);
      expect({ requests: server.requests.length, connections: server.connections }).toEqual({
        requests: 2,
        connections: 1,
      });
    } finally {
      await api.close(0);
      await server.close();
    }
  });
});

describe('a compressed answer', () => {
  it('is not read (S38)', async () => {
    const server = await serve(gzipped(400, '{"message":"words"}'));
    const attempt = await endpoint(server.url).post(BODY, 'r');
    expect(attempt).toMatchObject({ phase: 'P4', status: 400, body: '', error: { code: 'HANDBILL_ENCODED_BODY' } });
    expect(judge(attempt)).toMatchObject({ outcome: 'rejected', error: expect.stringContaining('compressed') });
  });
});

describe('redirects', () => {
  test.each([
    [301, 'in-doubt', 'redirect'],
    [302, 'in-doubt', 'redirect'],
    [303, 'in-doubt', 'redirect'],
    [307, 'pending', 'wrong-address'],
    [308, 'pending', 'wrong-address'],
  ])('%i is never followed (E1, E2, S1)', async (status, outcome, reason) => {
    const elsewhere = await serve(answer(202, '{}'));
    const server = await serve(answer(status, '', { location: elsewhere.url }));
    const verdict = judge(await endpoint(server.url).post(BODY, 'r'));
    expect(verdict).toMatchObject({ outcome, reason, halt: 'wrong-address', again: false });
    expect(elsewhere.connections).toBe(0);
  });
});

describe('before anything is sent (P1)', () => {
  it('says that the connection was refused (B3)', async () => {
    const api = endpoint(`http://127.0.0.1:${await closedPort()}/v2/messages`);
    const failed = await api.ready();
    expect(failed?.phase).toBe('P1');
    expect(judge(failed as Attempt)).toMatchObject({ outcome: 'failed', reason: 'connect', again: true });
    expect(judge(await api.post(BODY, 'r'))).toMatchObject({ outcome: 'failed', reason: 'connect', again: true });
    // A post that failed leaves nothing behind that looks like a connection.
    expect((await api.ready())?.phase).toBe('P1');
    expect(api.idle).toBe(0);
  });

  it('says that the name is unknown (B2)', async () => {
    const failed = await endpoint('http://nonexistent.invalid/v2/messages', { timeoutMs: 20_000 }).post(BODY, 'r');
    expect(failed.phase).toBe('P1');
    expect(judge(failed)).toMatchObject({ outcome: 'failed', reason: 'dns', again: true });
  });

  it('sends nothing when the argument is bad (B8)', async () => {
    const server = await serve(answer(202, '{}'));
    const api = endpoint(server.url, { idempotencyHeader: 'idempotency-key' });
    const verdict = judge(await api.post(BODY, 'line\r\nx-evil: 1'));
    expect(verdict).toMatchObject({ outcome: 'failed', reason: 'internal', halt: 'invalid-request', again: false });
    expect(server.bytes).toBe(0);
    // The endpoint is still in order.
    expect(judge(await api.post(BODY, 'good'))).toMatchObject({ outcome: 'accepted' });
  });

  it('has either sent nothing or is in doubt, when connections are reset in accept (B5)', async () => {
    const server = await startRawServer({ onConnection: (socket) => socket.resetAndDestroy() });
    open.push(server);
    const api = endpoint(server.url);
    for (let i = 0; i < 20; i++) {
      const attempt = (await api.ready()) ?? (await api.post(BODY, `r-${i}`));
      expect(attempt.status).toBeNull();
      expect(judge(attempt).outcome).toBe(attempt.phase === 'P1' ? 'failed' : 'in-doubt');
    }
    expect(server.requests).toHaveLength(0);
  });
});

describe('the answer of one request never goes to another', () => {
  const planted = `${ACCEPTED}content-length: 13\r\n\r\n{"id":"EVIL"}`;

  it('drops a connection on which two answers came (S37)', async () => {
    const one = `${ACCEPTED}content-length: 12\r\n\r\n{"id":"m-1"}`;
    const server = await serve(raw(one + planted));
    const api = endpoint(server.url, { connections: 1 });
    const first = await api.post(BODY, 'r-1');
    server.behaviour = answer(202, '{"id":"m-2"}');
    const second = await api.post(BODY, 'r-2');
    expect([first.body, second.body]).toEqual(['{"id":"m-1"}', '{"id":"m-2"}']);
    expect(server.connections).toBe(2);
  });

  it.each([
    ['an answer came unasked', planted],
    ['half of an answer came unasked', planted.slice(0, -9)],
    ['a few bytes came unasked', planted.slice(0, 3)],
    ['an empty line came unasked', '\r\n'],
  ])('drops a connection on which %s (S37)', async (what, unasked) => {
    let speak = (): void => {};
    const server = await serve(({ socket }) => {
      socket.write(`${ACCEPTED}content-length: 12\r\n\r\n{"id":"m-1"}`);
      speak = () => void socket.write(unasked);
    });
    const api = endpoint(server.url, { connections: 1 });
    await api.post(BODY, 'r-1');
    expect(await api.ready()).toBeNull();
    api.release();
    speak();
    if (what.startsWith('an empty line')) await new Promise((done) => setTimeout(done, 60));
    else await vi.waitFor(() => expect(api.idle).toBe(0), 10_000);
    server.behaviour = answer(202, '{"id":"m-2"}');
    expect((await api.post(BODY, 'r-2')).body).toBe('{"id":"m-2"}');
    // An empty line before an answer is none: the standard allows it, and nothing can come of it.
    expect(server.connections).toBe(what.startsWith('an empty line') ? 1 : 2);
  });

  it('drops a connection on which the API speaks first (S37)', async () => {
    const server = await serve(answer(202, '{"id":"m-1"}'));
    server.onConnection = (socket) => void (server.connections === 1 && socket.write(planted));
    const api = endpoint(server.url, { connections: 1 });
    expect(await api.ready()).toBeNull();
    await new Promise((done) => setTimeout(done, 40));
    expect((await api.post(BODY, 'r-1')).body).toBe('{"id":"m-1"}');
    expect(server.connections).toBe(2);
  });
});
