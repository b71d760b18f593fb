import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One completely received post. */
export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
  /** Port that it came from: the same for posts over one connection. */
  readonly fromPort: number | undefined;
}

/** What a receiver does with its n-th post, counted from 1. */
export type Manner = (outgoing: ServerResponse, n: number) => void;

/** Ways to receive, by name. */
export const MANNERS = {
  well: (outgoing) => answer(outgoing, 200),
  '500 first': (outgoing, n) => answer(outgoing, n === 1 ? 500 : 200),
  'accepts with 202 first': (outgoing, n) => answer(outgoing, n === 1 ? 202 : 200),
  'says 204 first': (outgoing, n) => answer(outgoing, n === 1 ? 204 : 200),
  'redirects first': (outgoing, n) => answer(outgoing, n === 1 ? 307 : 200, { location: '/elsewhere' }),
  'resets first': (outgoing, n) => (n === 1 ? outgoing.socket?.resetAndDestroy() : answer(outgoing, 200)),
  'is silent first': (outgoing, n) => (n === 1 ? undefined : answer(outgoing, 200)),
  'drips its first answer': (outgoing, n) => (n === 1 ? drip(outgoing) : answer(outgoing, 200)),
  'speaks no HTTP first': (outgoing, n) => (n === 1 ? outgoing.socket?.end('220 ready\r\n') : answer(outgoing, 200)),
  'closes each connection': (outgoing) => answer(outgoing, 200, { connection: 'close' }),
  'says a lot': (outgoing) => outgoing.writeHead(200).end('x'.repeat(1_000_000)),
  'fails always': (outgoing) => answer(outgoing, 503),
  slow: (outgoing) => void setTimeout(() => answer(outgoing, 200), 150),
} as const satisfies Record<string, Manner>;

export interface Receiver {
  readonly url: string;
  readonly posts: readonly Posted[];
  /** Most posts that were unanswered at the same time. */
  readonly mostAtOnce: number;
  manner: Manner;
  close(): Promise<void>;
}

/** Receives over real HTTP on a free port. */
export async function startReceiver(manner: Manner = MANNERS.well): Promise<Receiver> {
  const posts: Posted[] = [];
  const load = { now: 0, most: 0 };
  const server = createServer((incoming, outgoing) => {
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    outgoing.once('close', () => {
      load.now -= 1;
    });
    void read(incoming).then((post) => {
      posts.push(post);
      receiver.manner(outgoing, posts.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    posts,
    get mostAtOnce() {
      return load.most;
    },
    manner,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Every event of some posts, whatever their batches. */
export function eventsOf(posts: readonly Posted[]): Record<string, unknown>[] {
  return posts.flatMap(({ json }) => {
    const { events } = json as { events?: Record<string, unknown>[] };
    return events ?? [json as Record<string, unknown>];
  });
}

async function read(incoming: IncomingMessage): Promise<Posted> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += String(chunk);
  const { url = '', headers, socket } = incoming;
  return { path: url, headers, text, json: JSON.parse(text), fromPort: socket.remotePort };
}

function answer(outgoing: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  outgoing.writeHead(status, headers).end();
}

function drip(outgoing: ServerResponse): void {
  outgoing.writeHead(500, { 'content-length': 1_000_000 });
  const timer = setInterval(() => outgoing.write(' '), 20);
  outgoing.once('close', () => clearInterval(timer));
}
