import fc from 'fast-check';
import { Client } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { type AnswerHead, AnswerParser } from '../../src/http/answer-parser.ts';
import { connect } from '../../src/http/connect.ts';
import type { Fault } from '../../src/http/fault.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';

/** What a parser said, in order, and the fault that it ended with. */
interface Heard {
  readonly said: readonly unknown[];
  readonly fault: string | null;
}

/** What a body may be as well. */
const INNER = 'HTTP/1.1 202 Accepted\r\nDate: 1\r\nContent-Length: 10\r\n\r\n{"id":"1"}';

/** Gives the parser these pieces, and the end of the connection. */
function parse(pieces: readonly Buffer[], answers = 1): Heard {
  const said: unknown[] = [];
  let body = '';
  let left = answers;
  const parser = new AnswerParser({
    answerBegan() {
      if (left === 0) return { code: 'HANDBILL_BAD_ANSWER', message: 'unasked' } as Fault;
      return null;
    },
    answerHead(head: AnswerHead) {
      said.push(head);
    },
    answerBody(chunk, start, end) {
      body += chunk.toString('latin1', start, end);
      return null;
    },
    answerEnd(keptMs) {
      left -= 1;
      said.push(body, keptMs);
      body = '';
    },
  });
  try {
    for (const piece of pieces) {
      const fault = parser.execute(piece, piece.length);
      if (fault !== null) return { said, fault: fault.message };
    }
    const fault = parser.endsWithConnection ? parser.finish() : null;
    return { said, fault: fault === null ? null : fault.message };
  } finally {
    parser.free();
  }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return cuts.map((at, i) => bytes.subarray(at, cuts[i + 1] ?? at));
}

const word = fc.constantFrom(
  'a',
  'application/json',
  'text/html; charset=utf-8',
  '',
  '0',
  '12',
  'gzip',
  'timeout=5',
  'x y',
);
const name = fc.constantFrom(
  'Content-Type',
  'content-type',
  'CONTENT-ENCODING',
  'Retry-After',
  'Keep-Alive',
  'X-Retry-After',
  'Date',
  'Content-Typf',
  'Set-Cookie',
);
const text = fc.constantFrom('', '{"id":"m-1"}', 'é and more', 'x'.repeat(3_000));
const framing = fc.constantFrom(
  'length',
  'chunked',
  'none',
  'short',
  'two lengths',
  'both',
  'bad chunk',
  'no final chunk',
);
const statusLine = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(200, 202, 204, 304, 400, 429, 503, 599, 999).map((n) => `HTTP/1.1 ${n} Some thing`),
  },
  fc.constantFrom(
    'HTTP/1.0 200 OK',
    'HTTP/1.1 202',
    'HTTP/1.1 099 No',
    'HTTP/1.1 101 Switching',
    'HTTP/2 200 OK',
    'ICY 200',
  ),
);

/** Bytes that a server may send, right and wrong ones. */
const answers = fc
  .record({
    interim: fc.constantFrom('', '', '', 'HTTP/1.1 103 Early\r\nlink: x\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'),
    line: statusLine,
    headers: fc.array(fc.tuple(name, word), { maxLength: 6 }),
    connection: fc.constantFrom(null, null, 'close', 'keep-alive', 'upgrade'),
    framing,
    text,
    after: fc.constantFrom('', '', '', 'HTTP/1.1 200 OK\r\n\r\n', 'x', '\r\n'),
    end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
  })
  .map(({ interim, line, headers, connection, framing, text, after, end }) => {
    const all = headers.map(([key, value]) => `${key}: ${value}`);
    if (connection !== null) all.push(`Connection: ${connection}`);
    const bytes = Buffer.byteLength(text);
    if (framing === 'length' || framing === 'two lengths' || framing === 'both') all.push(`Content-Length: ${bytes}`);
    if (framing === 'two lengths') all.push(`Content-Length: ${bytes + 1}`);
    if (framing === 'short') all.push(`content-length:   ${bytes + 3}`);
    const isChunked =
      framing === 'chunked' || framing === 'both' || framing === 'bad chunk' || framing === 'no final chunk';
    if (isChunked) all.push('Transfer-Encoding: chunked');
    const size = framing === 'bad chunk' ? 'zz' : bytes.toString(16);
    const chunk = bytes === 0 ? '' : `${size}\r\n${text}\r\n`;
    const body = isChunked ? chunk + (framing === 'no final chunk' ? '' : '0\r\nContent-Type: trailer\r\n\r\n') : text;
    return Buffer.from(`${interim}${[line, ...all].join(end)}${end}${end}${body}${after}`);
  });

describe('an answer', () => {
  it('is read alike however it was cut into pieces', () => {
    fc.assert(
      fc.property(answers, fc.array(fc.nat(), { maxLength: 12 }), (bytes, places) => {
        expect(parse(cut(bytes, places))).toEqual(parse([bytes]));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is read alike byte by byte', () => {
    fc.assert(
      fc.property(answers, (bytes) => {
        expect(parse([...bytes].map((byte) => Buffer.from([byte])))).toEqual(parse([bytes]));
      }),
      { numRuns: 200 },
    );
  });

  it('is read alike however often its like came before', () => {
    const head = fc.constantFrom(
      'HTTP/1.1 202 Accepted\r\nDate: 1\r\n',
      'HTTP/1.1 202 Accepted\r\nDate: 2\r\n',
      'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9\r\nRetry-After: 1\r\n',
      'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 202 Accepted\r\nDate: 1\r\n',
      'HTTP/1.1 204 No Content\r\n',
    );
    const one = fc
      .record({ head, body: fc.constantFrom('{"id":"1"}', '{"id":"2"}', '', INNER), isChunked: fc.boolean() })
      .map(({ head, body, isChunked }) =>
        head.includes(' 204 ')
          ? `${head}\r\n`
          : isChunked && body !== ''
            ? `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
            : `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    // Some come in one piece with what follows, or with an empty line, or are cut in two.
    const piece = fc.record({ text: one, glue: fc.constantFrom('alone', 'alone', 'joined', 'cut', 'apart', 'line') });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), (few) => {
        const all = [...few, ...few, ...few];
        const pieces: string[] = [''];
        for (const { text, glue } of all) {
          pieces[pieces.length - 1] += glue === 'line' ? `\r\n${text}` : text;
          if (glue === 'cut') pieces.push(pieces.pop()?.slice(0, -3) ?? '', text.slice(-3));
          if (glue === 'apart') {
            const last = pieces.pop() ?? '';
            const at = last.indexOf('\r\n\r\n') + 4;
            pieces.push(last.slice(0, at), last.slice(at));
          }
          if (glue !== 'joined') pieces.push('');
        }
        const chunks = pieces.filter((text) => text !== '').map((text) => Buffer.from(text));
        const whole = Buffer.concat(chunks);
        const slowly = parse(
          [...whole].map((byte) => Buffer.from([byte])),
          all.length,
        );
        expect(parse(chunks, all.length)).toEqual(slowly);
        expect(slowly.fault).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it('longer than what the parser takes at once is read whole', () => {
    const text = 'x'.repeat(200_000);
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    expect(parse([bytes])).toEqual({
      said: [{ status: 200, contentType: 'a/b', contentEncoding: null, retryAfter: null }, text, 4_000],
      fault: null,
    });
  });

  it.each([
    ['Connection: close', 'ends the connection', 0],
    ['Keep-Alive: timeout=5', 'keeps it for less than the server does', 3_000],
    ['keep-alive: max=100, timeout=2', 'is not kept when the server gives it up that soon', 0],
    ['Keep-Alive: timeout=99999', 'is kept for a minute at most', 60_000],
    ['Keep-Alive: soon', 'says nothing that can be read', 4_000],
  ])('with %s %s', (header, _, keptMs) => {
    const { said } = parse([Buffer.from(`HTTP/1.1 202 OK\r\n${header}\r\nContent-Length: 0\r\n\r\n`)]);
    expect(said.at(-1)).toBe(keptMs);
  });

  it('without a body that announces one ends the connection', () => {
    const kept = (more: string) => parse([Buffer.from(`HTTP/1.1 204 No Content\r\n${more}\r\n`)]).said.at(-1);
    expect([kept(''), kept('Content-Length: 0\r\n'), kept('Content-Length: 3\r\n')]).toEqual([4_000, 4_000, 0]);
    expect(kept('Transfer-Encoding: chunked\r\n')).toBe(0);
  });

  it('with headers of 16 KiB is given up, also if they come bit by bit (C5)', () => {
    const long = (n: number) => Buffer.from(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(n)}\r\nContent-Length: 0\r\n\r\n`);
    // Names and values: x, its value, Content-Length, 0.
    const most = 16 * 1024 - 1 - 1 - 14 - 1;
    expect(parse([long(most)]).fault).toBeNull();
    expect(parse([long(most + 1)]).fault).toMatch(/longer than 16384 bytes/);
    expect(parse(cut(long(most + 1), [5_000, 9_000, 9_001])).fault).toMatch(/longer than 16384 bytes/);
  });
});

/** What became of a request, in so far as it decides anything. */
interface Outcome {
  readonly status: number | null;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  readonly whole: boolean;
  readonly body: string | null;
}

describe('an answer over a connection', () => {
  const servers: RawServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  it("is to handbill what it is to undici's own client", { timeout: 60_000 }, async () => {
    let bytes = Buffer.alloc(0);
    const server = await startRawServer({ behaviour: ({ socket }) => void socket.end(bytes) });
    servers.push(server);
    await fc.assert(
      fc.asyncProperty(answers, async (some) => {
        bytes = Buffer.from(some);
        expect(await byHandbill(server.url)).toEqual(await byUndici(server.url));
      }),
      { numRuns: 600 },
    );
  });
});

async function byHandbill(url: string): Promise<Outcome> {
  const api = connect({ url, headers: {}, connections: 1, timeoutMs: 5_000 });
  const { status, contentType, retryAfter, phase, error, body } = await api.post('{}', 'r');
  api.abort();
  const whole = phase === 'P4' && (error === null || error.code === 'HANDBILL_ENCODED_BODY');
  return { status, contentType, retryAfter, whole, body: whole && error === null ? body : null };
}

async function byUndici(url: string): Promise<Outcome> {
  const { origin, pathname } = new URL(url);
  const client = new Client(origin, { allowH2: false, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const seen = {
    status: null as number | null,
    headers: {} as Record<string, string | string[] | undefined>,
    body: '',
  };
  const whole = await new Promise<boolean>((resolve) => {
    client.dispatch(
      { path: pathname, method: 'POST', body: '{}' },
      {
        onRequestStart() {},
        onResponseStart(_, status, headers) {
          if (status < 200) return;
          seen.status = status;
          seen.headers = headers;
        },
        onResponseData(_, chunk) {
          seen.body += chunk.toString('latin1');
        },
        onResponseEnd: () => resolve(true),
        onResponseError: () => resolve(false),
      },
    );
  });
  await client.destroy();
  const of = (header: string): string | null => {
    const value = seen.headers[header];
    return (typeof value === 'string' ? value : value?.[0]) ?? null;
  };
  const encoding = of('content-encoding') ?? '';
  const isRead = whole && (encoding === '' || encoding === 'identity');
  return {
    status: seen.status,
    contentType: of('content-type'),
    retryAfter: of('retry-after'),
    whole,
    body: isRead ? Buffer.from(seen.body, 'latin1').toString('utf8') : null,
  };
}
