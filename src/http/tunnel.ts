import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { Fault } from './fault.ts';

/** Longest answer of a proxy to CONNECT, in bytes. */
const MAX_REPLY_BYTES = 16 * 1024;

/**
 * A connector that goes through an HTTP proxy with CONNECT, so that TLS is spoken with the API itself and the proxy never
 * sees the key. Whatever goes wrong up to the open tunnel is a fault `HANDBILL_PROXY` before anything was sent.
 *
 * undici's ProxyAgent is not used: it sends CONNECT through a client of its own, so that its errors arrive in another
 * shape and its connections cannot be opened before they are needed.
 *
 * @param proxy `http://host:port` or `https://host:port`, with `user:password@` if it asks for them
 * @param open makes TCP connections, and TLS on top of a socket that exists
 * @param timeoutMs for the answer of the proxy to CONNECT
 */
export function tunnel(proxy: URL, open: buildConnector.connector, timeoutMs: number): buildConnector.connector {
  const { protocol, hostname, host } = proxy;
  const port = proxy.port === '' ? (protocol === 'https:' ? '443' : '80') : proxy.port;
  const authorization = basic(proxy);
  return (options, callback) => {
    return open({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port }, (error, socket) => {
      if (error !== null) return callback(new Fault('HANDBILL_PROXY', `proxy ${host}: ${error.message}`), null);
      const targetPort = options.port === '' ? (options.protocol === 'https:' ? '443' : '80') : options.port;
      const name = options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname;
      askForTunnel(socket, `${name}:${targetPort}`, authorization, timeoutMs, (problem) => {
        if (problem !== null) {
          socket.destroy();
          callback(new Fault('HANDBILL_PROXY', `proxy ${host}: ${problem}`), null);
        } else if (options.protocol === 'https:') open({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    });
  };
}

/** Sends CONNECT and reads the answer; `done` is called once, with what is wrong or null. */
function askForTunnel(
  socket: Socket,
  target: string,
  authorization: string,
  timeoutMs: number,
  done: (problem: string | null) => void,
): void {
  let reply = '';
  const finish = (problem: string | null): void => {
    clearTimeout(timer);
    socket.off('readable', read).off('error', failed).off('close', closed);
    // A late error of a socket that nobody listens to would end the process.
    if (problem !== null) socket.on('error', () => {});
    done(problem);
  };
  const read = (): void => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
      reply += chunk.toString('latin1');
    }
    const end = reply.indexOf('\r\n\r\n');
    if (end === -1) {
      if (reply.length > MAX_REPLY_BYTES) finish('its answer to CONNECT does not end');
      return;
    }
    const status = /^HTTP\/1\.[01] ([0-9]{3})/.exec(reply)?.[1];
    if (status === undefined) finish('its answer to CONNECT is not HTTP');
    else if (!status.startsWith('2')) finish(`it refused the connection with status ${status}`);
    else if (reply.length > end + 4) finish('it spoke before the API was asked');
    else finish(null);
  };
  const failed = (error: Error): void => finish(error.message);
  const closed = (): void => finish('it closed the connection');
  const timer = setTimeout(() => finish('no answer to CONNECT in time'), timeoutMs);
  socket.on('readable', read).on('error', failed).on('close', closed);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization}\r\n`);
}

function basic(proxy: URL): string {
  if (proxy.username === '' && proxy.password === '') return '';
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return `proxy-authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`;
}
