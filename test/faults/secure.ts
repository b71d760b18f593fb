import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import { createSecureContext, createServer, TLSSocket } from 'node:tls';
import type { BadConnection } from './behaviours/behaviour.ts';

/** RFC 9113, section 7: the stream was not processed, so a client may send it again. */
const REFUSED_STREAM = 7;

/** The server's side of TLS, in order or as the behaviour says. */
export function wrap(bare: Socket, bad: BadConnection | null): TLSSocket {
  const version = bad?.tls;
  return new TLSSocket(bare, {
    isServer: true,
    secureContext: createSecureContext({
      ...certificate(bad?.certificate ?? 'localhost'),
      ...(version === undefined ? {} : { minVersion: version, maxVersion: version }),
      // OpenSSL 3 speaks versions this old only where it is told that nothing matters.
      ...(version === 'TLSv1.1' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
    }),
    requestCert: bad?.clientCertificate === true,
    rejectUnauthorized: bad?.clientCertificate === true,
  });
}

/**
 * TLS that offers HTTP/2 beside HTTP/1.1; gives the function that takes a connection. A request over HTTP/2 is read to its
 * end and refused as "not processed" when it comes for the first time: a client that sends it again by itself has sent it
 * twice, and `receive` sees both. `serve` gets the connections that speak HTTP/1.1.
 */
export function offerHttp2(
  serve: (socket: Socket) => void,
  receive: (body: string, status: number | null) => void,
): (bare: Socket) => void {
  const refused = new Set<string>();
  const http2 = createSecureServer();
  http2.on('sessionError', () => {});
  http2.on('stream', (stream) => {
    let body = '';
    stream.on('error', () => {});
    stream.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    stream.on('end', () => {
      const again = refused.has(body);
      refused.add(body);
      receive(body, again ? 202 : null);
      if (!again) return stream.close(REFUSED_STREAM);
      stream.respond({ ':status': 202 });
      stream.end();
    });
  });
  const server = createServer({ ...certificate('localhost'), ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => {});
    if (socket.alpnProtocol === 'h2') http2.emit('secureConnection', socket);
    else serve(socket);
  });
  server.on('tlsClientError', () => {});
  return (bare) => server.emit('connection', bare);
}

function certificate(name: string): { readonly key: string; readonly cert: string } {
  const folder = new URL(`../fixtures/${name === 'untrusted' ? 'faults' : 'http'}/`, import.meta.url);
  const read = (ending: string): string => readFileSync(new URL(`${name}.${ending}`, folder), 'utf8');
  return { key: read('key'), cert: read('crt') };
}
