import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RawRequest } from '../helpers/raw-server.ts';
import { type Ending, violations } from '../oracle/oracle.ts';
import type { Receipt } from '../oracle/receipts.ts';
import { type Arena, openArena, projectFile } from './arena.ts';
import { damage, damaged } from './mutate.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { statusOf } from './status-line.ts';
import { startTarget } from './target.ts';
import { words } from './words.ts';

const ROWS = 5;
/** What the server does with one request. */
interface Answer {
  readonly bytes: Buffer;
  /** Cut into pieces of this size, which come one by one. */
  readonly piece: number;
  readonly afterwards: 'wait' | 'end' | 'reset';
}

const GOOD = [
  'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"id":"m-1"}',
  'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nc\r\n{"id":"m-1"}\r\n0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\n{"id":"m-1"}',
  'HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 29\r\n\r\n{"error":{"message":"number"}}',
  'HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}',
];

const answer: fc.Arbitrary<Answer> = fc.record({
  bytes: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.constantFrom(...GOOD), damage(words('http'))).map(([g, d]) => damaged(g, d.edits)),
    },
    { weight: 1, arbitrary: fc.constantFrom(...GOOD).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
  ),
  piece: fc.constantFrom(1, 7, 100_000),
  // An answer that is not whole costs a time limit where the connection stays open.
  afterwards: fc.constantFrom('end', 'end', 'end', 'end', 'end', 'reset', 'reset', 'wait'),
});

/** A server that answers as told, and writes down what it received before it does. */
class Scripted {
  answers: readonly Answer[] = [];
  receipts: Receipt[] = [];

  readonly reply = ({ body, socket }: RawRequest): void => {
    const reference = /"handbill":"([^"]+)"/.exec(body)?.[1] ?? null;
    const number = this.receipts.length + 1;
    const given = this.answers[number % this.answers.length];
    if (given === undefined) throw new Error('there is no answer');
    this.receipts.push({ number, status: statusOf(given.bytes), id: null, text: body, reference });
    const cut = Math.min(given.bytes.length, given.piece * MOST_PIECES);
    for (let at = 0; at < cut; at += given.piece)
      socket.write(given.bytes.subarray(at, Math.min(at + given.piece, cut)));
    socket.write(given.bytes.subarray(cut));
    if (given.afterwards === 'end') socket.end();
    // Once the bytes have surely arrived.
    if (given.afterwards === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
  };
}

const MOST_PIECES = 100;

const input = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
  concurrency: fc.constantFrom('1', '3'),
});

// Two at once, because most of the time is spent waiting for answers that do not come.
it.concurrent.each([1, 2])(
  'whatever the API answers, no recipient is sent to twice, all have an outcome, and it ends as documented (%i)',
  async (shard) => {
    const server = new Scripted();
    await using target = startTarget();
    await using arena = await openArena(target, server.reply);
    await prepare(arena);
    const property = fc.asyncProperty(input, async ({ answers, concurrency }) => {
      server.answers = answers;
      server.receipts = [];
      try {
        const send = ['send', 'notification', '--env', 'test', '--yes', '--format', 'json', '--concurrency'];
        const sent = await arena.run([...send, concurrency]);
        expect([0, 3, 4, 5]).toContain(sent.status);
        const report = await arena.run(['report', '--format', 'jsonl']);
        expect(judge(report.stdout, server.receipts)).toEqual([]);
      } finally {
        arena.remove('.handbill');
      }
    });
    await fc.assert(property, runs(12, 100, shard));
  },
  TIMEOUT_MS,
);

async function prepare(arena: Arena): Promise<void> {
  const list = Array.from({ length: ROWS }, (_, row) => `+44740010000${row},R-${row},1\n`).join('');
  arena.write('campaigns/notification/people.csv', `mobile,order,parcels\n${list}`);
  arena.write('campaigns/notification/parcel.hbs', 'Parcel {{order}}');
  arena.write('handbill.yaml', projectFile(arena.server.port).replace('timeout: 2s', 'timeout: 1s'));
  // What is loaded once must not count as time of the first input.
  await arena.run(['preview', 'notification', '--env', 'test']);
}

/** The one oracle, without message ids: which one a damaged answer gives is for handbill to find out. */
function judge(jsonl: string, receipts: readonly Receipt[]): string[] {
  const texts = jsonl.split('\n').filter((line) => line !== '');
  const endings = texts.map((line) => ({ ...(JSON.parse(line) as Ending), messageId: null }));
  const lines = Array.from({ length: ROWS }, (_, row) => row + 2);
  return violations({ lines, endings, receipts, retryStatuses: [503] });
}
