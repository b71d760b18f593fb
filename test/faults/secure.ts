import { readFileSync } from 'node:fs';
import { performServerHandshake } from 'node:http2';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { BadConnection } from './behaviours/behaviour.ts';

/** RFC 9113, section 7: the stream was not processed, so a client may send it again. */
const REFUSED_STREAM = 7;

/** The server's side of TLS, in order or as the behaviour says. */
export function wrap(bare: Socket, bad: BadConnection | null, http2: boolean): TLSSocket {
  const name = bad?.certificate ?? 'localhost';
  const folder = new URL(`../fixtures/${name === 'untrusted' ? 'faults' : 'http'}/`, import.meta.url);
  const read = (ending: string): string => readFileSync(new URL(`${name}.${ending}`, folder), 'utf8');
  const version = bad?.tls;
  return new TLSSocket(bare, {
    isServer: true,
    secureContext: createSecureContext({
      key: read('key'),
      cert: read('crt'),
      ...(version === undefined ? {} : { minVersion: version, maxVersion: version }),
      // OpenSSL 3 speaks versions this old only where it is told that nothing matters.
      ...(version === 'TLSv1.1' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
    }),
    requestCert: bad?.clientCertificate === true,
    rejectUnauthorized: bad?.clientCertificate === true,
    ...(http2 ? { ALPNProtocols: ['h2', 'http/1.1'] } : {}),
  });
}

/**
 * HTTP/2 on a connection that asked for it: every request is read to its end and then refused as "not processed" when it
 * comes for the first time. A client that sends it again by itself has sent it twice, and `receive` sees both.
 */
export function refuseStreams(socket: TLSSocket, receive: (body: string, status: number | null) => void): void {
  const refused = new Set<string>();
  const session = performServerHandshake(socket);
  session.on('error', () => {});
  session.on('stream', (stream) => {
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
}
