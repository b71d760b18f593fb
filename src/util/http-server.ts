import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import { problem, refuse, thrownText } from '../errors.ts';
import { isLoopback } from './base-url.ts';

/** For servers that other machines may reach. */
export const SERVER_TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  // By default, Node checks timeouts only every 30 seconds.
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
} as const;

/**
 * @param what - `Pages cannot be served`: the beginning of the error
 * @returns the port
 * @throws HandbillError (exit 2) if the address or the port is not available
 */
export async function listenOn(server: Server, port: number, host: string, what: string): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const hint =
      isTaken || isLoopback(host)
        ? 'Choose another port with --port; 0 takes a free one.'
        : 'Take an address of this machine with --host, or leave it out: 127.0.0.1 is for this machine alone.';
    throw refuse(problem('usage', `${what} on ${host}: ${thrownText(error)}.`, { hint }));
  }
  return portOf(server);
}

export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const HOST_HEADER = /^(?<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i;

/** The `Host` header shows DNS rebinding: a web page whose own name resolves to this machine could read these pages. */
export function isKnownHost(header: string | undefined, names: readonly string[]): boolean {
  const host = HOST_HEADER.exec(header ?? '')
    ?.groups?.['host']?.toLowerCase()
    .replace(/^\[|\]$/g, '');
  // Not an address or port: the address of the request could not be read.
  if (host === undefined || !URL.canParse(`http://${header}`)) return false;
  return isLoopback(host) || names.some((name) => name.toLowerCase() === host);
}

/**
 * Whether one of these pages sent a form, by the browser's headers: `Origin: null` without a referrer, `Sec-Fetch-Site` on a
 * trustworthy connection. If both are missing, the cookie, which no other site can have sent, and the form's token decide.
 */
export function isOwnForm(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  if (origin === undefined || origin === `http://${host}`) return true;
  return origin === 'null';
}

/** A picture, script or frame of another site cannot read the answer, but it can time a search or block the server. */
export function isForeignPart(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers;
  return (site === 'cross-site' || site === 'same-site') && destination !== 'document';
}

/** The most bytes on the wire, as a multiple of the body: chunks of a byte take six times as much, extensions more. */
const ON_WIRE = 16;

export function isAnnouncedTooLarge({ headers }: Pick<IncomingMessage, 'headers'>, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}

/** Reads no more than is allowed. Never rejects. */
export function receiveBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | 'too-large' | 'cut-off'> {
  if (isAnnouncedTooLarge(incoming, maxBytes)) return Promise.resolve('too-large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const before = incoming.socket.bytesRead;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= maxBytes && incoming.socket.bytesRead - before <= ON_WIRE * maxBytes) {
        chunks.push(chunk);
        return;
      }
      incoming.off('data', take);
      chunks.length = 0;
      resolve('too-large');
    };
    incoming.on('data', take);
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)));
    incoming.on('error', () => resolve('cut-off'));
    incoming.on('close', () => resolve('cut-off'));
  });
}
