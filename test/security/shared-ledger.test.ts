import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { createProject } from '../helpers/project.ts';

/*
 * A ledger on another machine: its server gets the password and the addresses of all recipients only where TLS has
 * proven who it is, or where the user has given that up.
 */

const PASSWORD = 'PWCANARY-77';
const CERTIFICATES = join(import.meta.dirname, '../fixtures/http');
/** Not a loopback address by its spelling, and on this machine all the same. */
const FAR = '0.0.0.0';

interface FakeServer {
  readonly port: number;
  /** Every byte that came, inside of TLS where there is some. */
  readonly heard: () => string;
  readonly connections: () => number;
  close(): void;
}

const SSL_REQUEST = 80877103;
/** AuthenticationCleartextPassword */
const ASKS_IN_CLEAR = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

let server: FakeServer | null = null;
afterEach(() => server?.close());

/** Speaks as much of PostgreSQL as is needed to be given a password, in TLS or not. */
async function fakeServer(tls: boolean, before: Buffer = Buffer.alloc(0)): Promise<FakeServer> {
  let heard = '';
  let connections = 0;
  const open = new Set<Socket>();
  const listener = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => undefined);
    const listen = (stream: Socket): void => {
      stream.on('error', () => undefined);
      stream.on('data', (bytes: Buffer) => {
        heard += bytes.toString('latin1');
        // The first message names the user; whatever follows is the password.
        stream.write(Buffer.concat([before, ASKS_IN_CLEAR]));
      });
    };
    socket.once('data', (bytes: Buffer) => {
      if (bytes.length === 8 && bytes.readUInt32BE(4) === SSL_REQUEST) {
        if (!tls) return void socket.write('N');
        socket.write('S');
        const key = readFileSync(join(CERTIFICATES, 'localhost.key'));
        const cert = readFileSync(join(CERTIFICATES, 'localhost.crt'));
        listen(new TLSSocket(socket, { isServer: true, key, cert }));
        return;
      }
      heard += bytes.toString('latin1');
      socket.write(Buffer.concat([before, ASKS_IN_CLEAR]));
      socket.on('data', (more: Buffer) => {
        heard += more.toString('latin1');
      });
    });
  });
  listener.listen(0, FAR);
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const close = (): void => {
    for (const socket of open) socket.destroy();
    listener.close();
  };
  server = { port, heard: () => heard, connections: () => connections, close };
  return server;
}

async function runs(address: string, env: Readonly<Record<string, string>> = {}, args: readonly string[] = ['runs']) {
  using project = createProject({ 'handbill.yaml': '{}\n' });
  const ledger = { HANDBILL_LEDGER: address, PGPASSWORD: PASSWORD };
  return await runCli(args, { cwd: project.root, env: { ...ledger, ...env } });
}

describe('an address that does not say how', () => {
  it('of another machine is TLS: nothing is said to a server that has none', async () => {
    const { port, heard } = await fakeServer(false);
    const { status, stderr } = await runs(`postgres://hb@${FAR}:${port}/db`);
    expect(status).toBe(7);
    expect(stderr).toContain('the server has no TLS');
    expect(heard()).toBe('');
  });

  it.each(['', '?sslmode=require', '?sslmode=prefer', '?sslmode=verify-ca', '?sslmode=verify-full'])(
    'of another machine, with %s: nothing is said to one that is not known',
    async (parameters) => {
      const { port, heard } = await fakeServer(true);
      const { status, stderr } = await runs(`postgres://hb@${FAR}:${port}/db${parameters}`);
      expect(status).toBe(7);
      expect(stderr).toMatch(/certificate|self.signed/i);
      expect(heard()).toBe('');
    },
  );

  it('a certificate of another name is refused, though its authority is trusted', async () => {
    const { port, heard } = await fakeServer(true);
    const ca = join(CERTIFICATES, 'localhost.crt');
    const { status, stderr } = await runs(`postgres://hb@${FAR}:${port}/db?sslrootcert=${ca}`);
    expect(status).toBe(7);
    expect(stderr).toMatch(/altnames/i);
    expect(heard()).toBe('');
  });

  it('the password goes to a server that is known, in TLS', async () => {
    const { port, heard } = await fakeServer(true);
    const ca = join(CERTIFICATES, 'localhost.crt');
    await runs(`postgres://hb@localhost:${port}/db?sslmode=verify-full&sslrootcert=${ca}`);
    expect(heard()).toContain(PASSWORD);
  });
});

describe('without TLS', () => {
  it.each([
    ['on this machine', '127.0.0.1', '', Buffer.alloc(0)],
    ['on another, where the address says so', FAR, '?sslmode=disable', Buffer.alloc(0)],
    ['behind another message', FAR, '?sslmode=disable', Buffer.from([0x4e, 0, 0, 0, 5, 0])],
  ])('a server that asks for the password in clear does not get it: %s', async (_label, host, parameters, before) => {
    const { port, heard } = await fakeServer(false, before);
    const { status, stderr } = await runs(`postgres://hb@${host}:${port}/db${parameters}`);
    expect(status).toBe(7);
    expect(stderr).toContain('asks for the password in clear');
    expect(heard()).toContain('hb');
    expect(heard()).not.toContain(PASSWORD);
  });
});

describe('what switches the verification off is refused before anything is connected to', () => {
  it.each([
    ['?sslmode=no-verify', {}],
    ['?sslmode=allow', {}],
    ['?ssl=no-verify', {}],
    ['?ssl=true', {}],
    ['?SSLMODE=disable', {}],
    ['?uselibpqcompat=true&sslmode=require', {}],
    ['?sslmode=verify-full&sslmode=disable', {}],
    ['?sslmode=disable&sslmode=disable', {}],
    ['?host=other.example&host=0.0.0.0', {}],
    ['', { PGSSLMODE: 'no-verify' }],
    ['', { PGSSLMODE: 'disable' }],
    ['?sslmode=verify-full', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
    ['?sslmode=disable', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ])('%s %j', async (parameters, env) => {
    const { port, connections } = await fakeServer(true);
    const { status, stderr } = await runs(`postgres://hb@${FAR}:${port}/db${parameters}`, env);
    expect(status).toBe(2);
    expect(stderr).toMatch(/error\[(?:tls-verification-off|invalid-value)\]/);
    expect(connections()).toBe(0);
  });

  it.each(['report', 'suppress list', 'replies list', 'purge --older-than 1d --yes', 'person +447400123456', 'doctor'])(
    'by %s too',
    async (command) => {
      const { port, connections } = await fakeServer(true);
      const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
      const { status, stdout, stderr } = await runs(`postgres://hb@${FAR}:${port}/db`, env, command.split(' '));
      expect(status).toBe(2);
      expect(stdout + stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
      expect(connections()).toBe(0);
    },
  );
});
