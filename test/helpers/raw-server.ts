import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';

/** One completely received request. */
export interface RawRequest {
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
}

/** What a server does with a request; it writes what it likes. */
export type Behaviour = (request: RawRequest) => void;

/** A server on raw sockets, so that it can misbehave in every way, and that counts what reached it. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  /** What happens to the next requests. */
  behaviour: Behaviour;
  /** What happens to the next connections, before any byte. */
  onConnection: (socket: Socket) => void;
  readonly connections: number;
  readonly openConnections: number;
  /** Bytes of requests received, of broken ones too. */
  readonly bytes: number;
  readonly requests: readonly RawRequest[];
  /** Takes no more connections and keeps those that are open. */
  stopListening(): void;
  close(): Promise<void>;
}

export interface RawServerOptions {
  readonly behaviour?: Behaviour;
  readonly onConnection?: (socket: Socket) => void;
  readonly tls?: { readonly key: string; readonly cert: string; readonly ALPNProtocols?: string[] };
}

export async function startRawServer(options: RawServerOptions = {}): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: RawRequest[] = [];
  let connections = 0;
  let bytes = 0;
  const listener = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      received = Buffer.concat([received, chunk]);
      for (let length = complete(received); length !== null; length = complete(received)) {
        const text = received.toString('utf8', 0, length);
        received = received.subarray(length);
        const end = text.indexOf('\r\n\r\n');
        const request = { head: text.slice(0, end), body: text.slice(end + 4), socket };
        requests.push(request);
        server.behaviour(request);
      }
    });
    server.onConnection(socket);
  };
  const listening: Server =
    options.tls === undefined ? createServer(listener) : createTlsServer({ ...options.tls }, listener);
  listening.on('tlsClientError', () => {});
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
  const address = listening.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const server: RawServer = {
    port,
    url: `${options.tls === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${port}/v2/messages`,
    behaviour: options.behaviour ?? accepting(),
    onConnection: options.onConnection ?? (() => {}),
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    get bytes() {
      return bytes;
    },
    requests,
    stopListening() {
      listening.close();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((done) => listening.close(() => done()));
    },
  };
  return server;
}

/** Bytes of the first request, if all of it is there. */
function complete(received: Buffer): number | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const length = /^content-length: *([0-9]+)/im.exec(received.toString('latin1', 0, end))?.[1] ?? '0';
  const total = end + 4 + Number(length);
  return received.length >= total ? total : null;
}

/** A port on this machine where nothing listens. */
export async function closedPort(): Promise<number> {
  const server = await startRawServer();
  await server.close();
  return server.port;
}

/** A proper answer with its length. */
export function answer(status: number, body = '', headers: Readonly<Record<string, string>> = {}): Behaviour {
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return raw(`HTTP/1.1 ${status} Something\r\n${head.join('')}\r\n${body}`);
}

/** An API that takes everything, and gives each an id of its own. */
export function accepting(): Behaviour {
  let number = 0;
  return (request) => {
    number += 1;
    answer(202, `{"id":"m-${number}"}`)(request);
  };
}

/** Whatever it does, later. */
export function afterMs(ms: number, behaviour: Behaviour): Behaviour {
  return (request) => {
    setTimeout(() => behaviour(request), ms);
  };
}

/** These bytes, whatever they are. */
export function raw(text: string | Buffer): Behaviour {
  return ({ socket }) => socket.write(text);
}

/** These bytes, then the end of the connection. */
export function rawThenClose(text: string): Behaviour {
  return ({ socket }) => socket.end(text);
}

/** These bytes, then a reset, once the bytes have surely arrived. */
export function rawThenReset(text: string): Behaviour {
  return ({ socket }) => {
    socket.write(text);
    setTimeout(() => socket.resetAndDestroy(), 40);
  };
}

/** Some bytes again and again, for as long as the client listens. */
export function drip(first: string, next: string, everyMs: number): Behaviour {
  return ({ socket }) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(next), everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

/** The whole answer in single bytes. */
export function byteByByte(text: string, everyMs: number): Behaviour {
  return ({ socket }) => {
    let at = 0;
    const timer = setInterval(() => {
      if (at < text.length) socket.write(text.charAt(at++));
    }, everyMs);
    socket.on('close', () => clearInterval(timer));
  };
}

export const silence: Behaviour = () => {};
export const close: Behaviour = ({ socket }) => socket.end();
export const reset: Behaviour = ({ socket }) => socket.resetAndDestroy();

export function gzipped(status: number, body: string): Behaviour {
  const bytes = gzipSync(body);
  const head = `HTTP/1.1 ${status} OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return raw(Buffer.concat([Buffer.from(head), bytes]));
}

/** An HTTP proxy for CONNECT; `allow` false refuses every tunnel with 403. */
export async function startProxy(allow: boolean): Promise<RawServer & { readonly tunnels: readonly string[] }> {
  const tunnels: string[] = [];
  const server = await startRawServer({
    behaviour: ({ head, socket }) => {
      const [, host, port] = /^CONNECT (\S+):([0-9]+) /.exec(head) ?? [];
      if (!allow || host === undefined) {
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      tunnels.push(`${host}:${port}`);
      socket.removeAllListeners('data');
      const onward = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
      socket.on('close', () => onward.destroy());
    },
  });
  return Object.defineProperty(server, 'tunnels', { value: tunnels }) as RawServer & { readonly tunnels: string[] };
}
