import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { problem, refuse } from '../errors.ts';
import { isForeignPart, isKnownHost, isLoopback } from '../operations/serve-guard.ts';
import { limitConnections } from '../webhook/server-connections.ts';
import { type AppNeeds, createPagesApp, SAFE_HEADERS } from './serve-app.ts';

export interface RunningPages {
  readonly port: number;
  /** Ends open streams, and resolves when nothing is open any more. */
  close(): Promise<void>;
}

export interface PagesOptions {
  readonly host: string;
  readonly port: number;
  /** Names under which other machines may ask. */
  readonly names: readonly string[];
  /** Made once the port is known. */
  readonly needs: (port: () => number) => AppNeeds;
}

/** An address that is longer than this nobody means. */
const LONGEST_ADDRESS = 4_096;

/** A reader who takes nothing of an answer for so long is gone. Streams of events say something more often. */
const SILENT_MS = 60_000;

const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  // Node looks at timeouts only every 30 seconds otherwise.
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};

/**
 * Serves the pages.
 *
 * @throws HandbillError (exit status 2) when the port cannot be had
 */
export async function startPages({ host, port, names, needs: make }: PagesOptions): Promise<RunningPages> {
  const needs = make(() => portOf(server));
  const app = createPagesApp(needs);
  const fetch = (request: Request, env: unknown): Response | Promise<Response> =>
    app.fetch(request, env as HttpBindings);
  // Without patching the globals, which no library may do to the process that it runs in.
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer(TIMEOUTS, (incoming, outgoing) => {
    const { socket } = incoming;
    // A form is not whole with its headers.
    connections.began(socket);
    if (incoming.method === 'POST') incoming.once('end', () => connections.answering(socket));
    else connections.answering(socket);
    outgoing.once('finish', () => connections.answered(socket));
    const status = refusalOf(incoming, names, needs.allowActions);
    if (status === null) void listener(incoming, outgoing);
    else refuseAtOnce(outgoing, status);
  });
  const connections = limitConnections(server);
  server.setTimeout(SILENT_MS);
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hint = isLoopback(host)
      ? 'Choose another port with --port; 0 takes a free one.'
      : 'Take an address of this machine with --host, and a port that is free with --port.';
    throw refuse(problem('usage', `Pages cannot be served on ${host}: ${why}.`, { hint }));
  }
  return {
    port: portOf(server),
    async close() {
      const closed = once(server, 'close');
      server.close();
      needs.live.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What is refused before anybody reads it; null for what is not. */
function refusalOf(
  { method = '', url = '', headers }: IncomingMessage,
  names: readonly string[],
  allowActions: boolean,
): number | null {
  if (!isKnownHost(headers.host, names)) return 421;
  if (method !== 'GET' && method !== 'HEAD' && !(allowActions && method === 'POST')) return 405;
  if (isForeignPart(headers)) return 403;
  if (url.length > LONGEST_ADDRESS) return 414;
  return url.startsWith('/') ? null : 400;
}

function refuseAtOnce(outgoing: ServerResponse, status: number): void {
  outgoing.shouldKeepAlive = false;
  const allow = status === 405 ? { Allow: 'GET, HEAD' } : {};
  outgoing.writeHead(status, { ...SAFE_HEADERS, ...allow, 'Content-Length': 0, Connection: 'close' }).end();
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
