import { connect } from 'node:net';
import type { Sandbox } from '../../src/sandbox/options.ts';

/** The answer on a connection of its own, byte for byte. */
export interface RawAnswer {
  readonly text: string;
  /** How it ended: the server closed, the server reset, or nothing more came in the time given. */
  readonly end: 'closed' | 'reset' | 'waiting';
}

/** Writes bytes to the sandbox and reads what comes until the connection ends or `waitMs` are over. */
export async function sendRaw(sandbox: Sandbox, bytes: string | Buffer, waitMs = 2_000): Promise<RawAnswer> {
  const socket = connect(sandbox.port, '127.0.0.1');
  let text = '';
  let end: RawAnswer['end'] = 'waiting';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('end', () => {
    end = 'closed';
  });
  socket.on('error', () => {
    end = 'reset';
  });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(bytes);
  const timer = setTimeout(() => socket.destroy(), waitMs);
  await closed;
  clearTimeout(timer);
  return { text, end };
}

/** A request as it is on the wire. */
export function rawPost(sandbox: Sandbox, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = {
    Host: `127.0.0.1:${sandbox.port}`,
    'X-Api-Key': 'test-key',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST /v2/messages HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
