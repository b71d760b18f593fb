/**
 * The API that handbill and its peers send to: it looks at the key, parses the body, keeps a receipt in memory and
 * answers 202 with an id. Leaner than `handbill sandbox`, which would be the limit itself: it judges every message.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';

/** One message as it came: the number as it was written, and the text. */
export type Receipt = readonly [to: string, text: string];

/** What came since the receiver was last emptied. */
export interface Received {
  readonly receipts: readonly Receipt[];
  /** From the first request to the last answer, by the receiver's clock; 0 where nothing came. */
  readonly tookMs: number;
  /** User and system time of the receiver's process. */
  readonly cpuUs: number;
  /** Requests that were no message, or had another key. */
  readonly refused: number;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
}

/** Starts to receive on a free port of this machine. `GET /receipts` gives what came, `DELETE /receipts` forgets it. */
export async function startReceiver(key: string): Promise<Receiver> {
  let book = createBook();
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (incoming, outgoing) => {
    const { method, url } = incoming;
    if (method === 'POST' && url === '/v2/messages') receive(book, key, incoming, outgoing);
    else if (method === 'GET' && url === '/receipts') answer(outgoing, 200, JSON.stringify(book.received()));
    else if (method === 'DELETE' && url === '/receipts') {
      book = createBook();
      answer(outgoing, 200, '{}');
    } else answer(outgoing, 404, '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}

interface Book {
  begin(): void;
  keep(receipt: Receipt): void;
  refuse(): void;
  received(): Received;
}

function createBook(): Book {
  const receipts: Receipt[] = [];
  const before = process.cpuUsage();
  let [firstMs, lastMs, refused] = [0, 0, 0];
  return {
    begin() {
      if (firstMs === 0) firstMs = performance.now();
    },
    keep(receipt) {
      receipts.push(receipt);
      lastMs = performance.now();
    },
    refuse() {
      refused += 1;
    },
    received() {
      const { user, system } = process.cpuUsage(before);
      return { receipts, tookMs: receipts.length === 0 ? 0 : lastMs - firstMs, cpuUs: user + system, refused };
    },
  };
}

function receive(book: Book, key: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  book.begin();
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const receipt = readMessage(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    if (receipt === null || incoming.headers['x-api-key'] !== key) {
      book.refuse();
      answer(outgoing, receipt === null ? 400 : 401, '{}');
      return;
    }
    book.keep(receipt);
    answer(outgoing, 202, `{"id":"${randomUUID()}"}`);
  });
}

/** Number and text of a body, or null where it is no message. */
export function readMessage(bytes: Buffer): Receipt | null {
  try {
    const { body, recipients } = JSON.parse(bytes.toString('utf8')) as {
      body?: { text?: unknown };
      recipients?: readonly { msisdn?: unknown }[];
    };
    const [text, to] = [body?.text, recipients?.[0]?.msisdn];
    return typeof text === 'string' && typeof to === 'string' && recipients?.length === 1 ? [to, text] : null;
  } catch {
    return null;
  }
}

function answer(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  outgoing.end(body);
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

// As a program of its own: the key comes in the environment, the address goes to stdout, and it ends with its input.
if (process.argv[1] === import.meta.filename) {
  const receiver = await startReceiver(process.env['HANDBILL_API_KEY'] ?? '');
  process.stdout.write(`${receiver.url}\n`);
  process.stdin.resume();
  await once(process.stdin, 'end');
  await receiver[Symbol.asyncDispose]();
}
