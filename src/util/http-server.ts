import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import { isLoopback } from './base-url.ts';

/** The TCP port of a server that listens. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const HOST_HEADER = /^(?<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i;

/**
 * Whether a request is for these pages. A page on the web can have its own name resolved to this machine (DNS
 * rebinding), and then read what is served here. The `Host` header shows it.
 *
 * @param names under which other machines may ask
 */
export function isKnownHost(header: string | undefined, names: readonly string[]): boolean {
  const host = HOST_HEADER.exec(header ?? '')
    ?.groups?.['host']?.toLowerCase()
    .replace(/^\[|\]$/g, '');
  // Not an address or port: the address of the request could not be read.
  if (host === undefined || !URL.canParse(`http://${header}`)) return false;
  return isLoopback(host) || names.some((name) => name.toLowerCase() === host);
}

/**
 * Whether a form was sent by one of these pages, according to the browser. Browsers send `Origin: null` for forms of a
 * page without a referrer, such as these; `Sec-Fetch-Site` is missing if the connection is not trustworthy. If both are
 * missing, the cookie decides, which no other site can have sent, and the token in the form.
 */
export function isOwnForm(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  if (origin === undefined || origin === `http://${host}`) return true;
  return origin === 'null';
}

/**
 * Whether a page of another site (also one on another port of this machine) sends this request in the background: as a
 * picture, a script or a frame. Such a page cannot read the answer, but it can measure how long a search takes, and
 * keep the server busy. Following a link is allowed.
 */
export function isForeignPart(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers;
  return (site === 'cross-site' || site === 'same-site') && destination !== 'document';
}

/** A completely received body, or why it is missing: too large, or the sender closed the connection before its end. */
type ReceivedBody = Buffer | 'too-large' | 'cut-off';

/**
 * The most bytes that a body takes on the wire, as a multiple of its size: in chunks of a byte it is six times as much, and extensions have
 * no end.
 */
const ON_WIRE = 16;

/** Whether the headers say already that the body is too large, so that none of it need be read. */
export function isAnnouncedTooLarge({ headers }: Pick<IncomingMessage, 'headers'>, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}

/** Reads a body to its end, and never more of it than is allowed. Never rejects. */
export function receiveBody(incoming: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
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
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks)));
    incoming.on('error', () => resolve('cut-off'));
    incoming.on('close', () => resolve('cut-off'));
  });
}

const EMPTY = Buffer.alloc(0);
