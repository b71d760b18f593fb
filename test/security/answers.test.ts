import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, startTarget, type Target } from '../fuzz/target.ts';
import { answer, type Behaviour, startRawServer } from '../helpers/raw-server.ts';
import { createScene } from '../oracle/scene.ts';

let target: Target;
beforeAll(() => {
  target = startTarget();
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
});

interface Sent {
  readonly sent: Ran;
  readonly rows: readonly {
    readonly outcome: string;
    readonly reason: string | null;
    readonly messageId: string | null;
  }[];
  readonly connections: number;
}

/** Sends to a server that behaves so, one at a time; the rows as `report` shows them. */
async function sendTo(behaviour: Behaviour, rows: number, rate = '1000/s'): Promise<Sent> {
  const server = await startRawServer({ behaviour });
  using scene = createScene({ rows, baseUrl: `http://127.0.0.1:${server.port}`, receipts: '/nowhere' });
  const run = async (args: readonly string[]): Promise<Ran> =>
    await target.run({ cwd: scene.root, args, env: { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' } });
  try {
    // What is loaded once must not count as memory of the answer.
    await run(['preview', 'campaign.yaml', '--env', 'test']);
    const sent = await run(['send', 'campaign.yaml', '--env', 'test', '--yes', '--concurrency', '1', '--rate', rate]);
    const { stdout } = await run(['report', '--format', 'jsonl']);
    const found = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Sent['rows'][number]);
    return { sent, rows: found, connections: server.connections };
  } finally {
    await server.close();
  }
}

const plain = (id: string): string => `HTTP/1.1 202 OK\r\ncontent-length: ${id.length + 9}\r\n\r\n{"id":"${id}"}`;

describe('the answer of one request never goes to another (S37)', () => {
  it.each([
    ['in one packet', 0],
    // Before the next request: once that is on its way, HTTP/1.1 has nothing by which the two could be told apart.
    ['a moment later', 5],
  ])('two answers to the first request, the second %s: no recipient gets the planted id (S37)', async (_, delayMs) => {
    let asked = 0;
    const { sent, rows, connections } = await sendTo(
      ({ socket }) => {
        asked += 1;
        if (asked > 1) socket.write(plain(`m-${asked}`));
        else if (delayMs === 0) socket.write(plain('m-1') + plain('EVIL'));
        else {
          socket.write(plain('m-1'));
          setTimeout(() => socket.write(plain('EVIL')), delayMs);
        }
      },
      3,
      delayMs === 0 ? '1000/s' : '5/s',
    );
    expect(rows.map(({ messageId }) => messageId)).toEqual(['m-1', 'm-2', 'm-3']);
    expect({ status: sent.status, connections }).toEqual({ status: 0, connections: 2 });
  });
});

describe('a compressed answer is not read (S38)', () => {
  /** A gigabyte of zeros in a megabyte: gzip files behind each other are one. */
  const bomb = (): Buffer => Buffer.concat(Array<Buffer>(100).fill(gzipSync(Buffer.alloc(10 * 1024 * 1024))));

  it.each([
    ['gzip', 202],
    ['x-gzip', 202],
    ['br', 200],
    ['deflate', 202],
    ['zstd', 202],
    ['gzip, gzip', 202],
  ])('a small one with %s and %i: in doubt (S38)', async (encoding, status) => {
    const { sent, rows } = await sendTo(compressed(gzipSync('{"id":"m-1"}'), status, encoding), 1);
    expect(rows).toMatchObject([{ outcome: 'in-doubt', reason: 'unrecognised', messageId: null }]);
    expect([4, 5]).toContain(sent.status);
  });

  it.each([202, 400, 500])('a bomb of a gigabyte with %i: memory stays bounded (S38)', async (status) => {
    const { sent, rows } = await sendTo(compressed(bomb(), status, 'gzip'), 1);
    expect(rows[0]?.outcome).toBe(status === 400 ? 'rejected' : 'in-doubt');
    expect(sent.status).toBe(status === 400 ? 3 : sent.status);
    expect(sent.peakMb).toBeLessThan(256);
    expect(sent.cpuMs).toBeLessThan(2_000);
  });

  it('handbill asks for none (S38)', async () => {
    let head = '';
    await sendTo((request) => {
      head = request.head;
      answer(202, '{}')(request);
    }, 1);
    expect(/^accept-encoding: (.*)$/im.exec(head)?.[1]).toBe('identity');
  });
});

function compressed(bytes: Buffer, status: number, encoding: string): Behaviour {
  const head = `HTTP/1.1 ${status} OK\r\ncontent-type: application/json\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return ({ socket }) => socket.write(Buffer.concat([Buffer.from(head), bytes]));
}

describe('SQL is never put together from values (S28)', () => {
  const SOURCES = join(import.meta.dirname, '..', '..', 'src');
  const STATEMENT = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|PRAGMA|CREATE|DROP|ALTER|ATTACH|VACUUM|BEGIN)\b/;

  it('in all sources: no placeholder but a constant text in a statement, nothing joined to one (S28)', () => {
    const statements: string[] = [];
    const wrong: string[] = [];
    const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const sources = names.map((name) => {
      const source = readFileSync(join(SOURCES, name), 'utf8').replace(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, '');
      return [name, source] as const;
    });
    const values = sources.flatMap(([, source]) => [...source.matchAll(/\bconst ([A-Z][A-Z_]*)\b[^=]*= *([^;]*);/g)]);
    // Every constant of the name is one literal, which itself holds nothing but such constants.
    const isText = (name: string): boolean => {
      const own = values.filter(([, one]) => one === name).map(([, , value = '']) => value);
      return own.length > 0 && own.every((value) => /^(?:'[^'\n]*'|`[^`]*`)$/.test(value) && isConstant(value));
    };
    const isConstant = (literal: string): boolean =>
      [...literal.matchAll(/\$\{([^}]*)\}?/g)].every(([, held = '']) => isText(held));
    expect(['process', 'NO_SUCH_TEXT', 'STATEMENT'].filter(isText)).toEqual([]);
    for (const [name, source] of sources) {
      for (const found of source.matchAll(/(`[^`]*`|'[^'\n]*')(\s*\+|\.concat|\.replace)?/g)) {
        const [, literal = '', joined] = found;
        if (!STATEMENT.test(literal)) continue;
        statements.push(literal);
        if (!isConstant(literal) || joined !== undefined) wrong.push(`${name}: ${literal}`);
      }
      if (!name.startsWith('ledger')) continue;
      // Else the statement is held in a variable: of those that SQLite is given, each is a constant of its own.
      // The thread hands on what the stores ask: it has no statement of its own.
      if (name === join('ledger', 'postgres', 'thread.ts')) continue;
      for (const [, given = ''] of source.matchAll(/\.(?:prepare|query|statement)\(\s*([^\n]*)/g)) {
        // `counting` puts the one condition about suppressions into a constant, `sql` the name of one of its two tables.
        if (!/^(?:[`'](?!.*\$\{)|\w+[,)]|counting\($|sql\([A-Z_]+\)\);$)/.test(given) && given !== '')
          wrong.push(`${name}: ${given}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(statements.length).toBeGreaterThan(40);
  });
});
