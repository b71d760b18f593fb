import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { type Diagnostic, problem } from '../../errors.ts';
import { isLoopback } from '../../util/base-url.ts';
import { checkTlsEnvironment } from '../../util/tls.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ServerOptions {
  /** Without its settings of TLS, which the driver would read in its own way. */
  readonly connectionString: string;
  readonly ssl: false | ConnectionOptions;
  readonly stream?: () => Socket;
}

/** Values of `sslmode`. With TLS, certificate and name of the server are always verified. */
const MODES: ReadonlySet<string> = new Set(['verify-full', 'verify-ca', 'require', 'prefer', 'disable']);
/** Files in PEM: trusted authorities, and a certificate for this client. */
const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;

/**
 * Why the address of a shared ledger, or a variable, must not be used: it switches off the verification of the server,
 * or contradicts itself. A ledger holds the addresses of all recipients, and its password opens it. Null: nothing.
 */
export function checkServerAddress(address: string, env: Env): Diagnostic | null {
  const variable = checkTlsEnvironment(env);
  if (variable !== null) return variable;
  const names = [...new URL(address).searchParams.keys()];
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return refused('invalid-value', `sets ${twice} twice`, `Write ${twice} once.`);
  const unknown = names.find((name) => /ssl|libpqcompat/i.test(name) && name !== 'sslmode' && !(name in FILES));
  if (unknown !== undefined) {
    return refused('invalid-value', `has a setting ${unknown}, which is not known`, `Known are ${KNOWN}.`);
  }
  const mode = new URL(address).searchParams.get('sslmode');
  if (mode !== null && !MODES.has(mode)) {
    return refused('tls-verification-off', 'has an sslmode that does not verify the server', HINT);
  }
  const ofProcess = env['PGSSLMODE'] ?? '';
  if (ofProcess === '' || (MODES.has(ofProcess) && ofProcess !== 'disable')) return null;
  const message = `PGSSLMODE=${/^[\w-]+$/.test(ofProcess) ? ofProcess : '...'} switches the verification of the server off.`;
  return problem('tls-verification-off', message, { hint: `Unset it. ${HINT}` });
}

const KNOWN = 'sslmode, sslrootcert, sslcert and sslkey';
const HINT =
  'Write sslmode=verify-full, with sslrootcert=FILE for your own authority; or sslmode=disable in your own network.';

function refused(code: 'invalid-value' | 'tls-verification-off', what: string, hint: string): Diagnostic {
  return problem(code, `The address of the ledger ${what}.`, { hint });
}

/**
 * How to connect: verified TLS, except on this machine, through a local socket, and where the address says
 * `sslmode=disable`. Without TLS a server that asks for the password in clear does not get it.
 *
 * Throws errors of reading a file that the address names.
 * @param address - as `checkServerAddress` accepts it
 */
export function serverOptions(address: string, env: Env): ServerOptions {
  const url = new URL(address);
  const { searchParams } = url;
  const mode = searchParams.get('sslmode');
  const named = searchParams.get('host') || decodeURIComponent(url.hostname).replace(/^\[(.+)\]$/, '$1');
  const host = named || env['PGHOST'] || 'localhost';
  const files: Partial<Record<'ca' | 'cert' | 'key', string>> = {};
  for (const [name, part] of Object.entries(FILES)) {
    const file = searchParams.get(name);
    // `system`: the authorities that this machine trusts, as in libpq.
    if (file !== null && file !== 'system') files[part] = readFileSync(file, 'utf8');
    searchParams.delete(name);
  }
  searchParams.delete('sslmode');
  const isNear = host.startsWith('/') || isLoopback(host);
  if (mode === 'disable' || (mode === null && isNear)) {
    return { connectionString: url.href, ssl: false, stream: withoutClearPassword };
  }
  return { connectionString: url.href, ssl: { ...files, host, rejectUnauthorized: true } };
}

/** The server asks for the password in clear (protocol 3: AuthenticationCleartextPassword). */
const AUTHENTICATION = 'R'.charCodeAt(0);
const IN_CLEAR = 3;

/** Closes if the server asks for the password in clear, before the driver answers. */
function withoutClearPassword(): Socket {
  const socket = new Socket();
  let start = Buffer.alloc(0);
  const look = (chunk: Buffer): void => {
    start = Buffer.concat([start, chunk]);
    while (start.length >= 9 && start[0] !== AUTHENTICATION && start.length > start.readUInt32BE(1)) {
      start = start.subarray(start.readUInt32BE(1) + 1);
    }
    if (start.length < 9) return;
    if (start[0] === AUTHENTICATION) socket.off('data', look);
    if (start[0] !== AUTHENTICATION || start.readUInt32BE(5) !== IN_CLEAR) return;
    socket.destroy(new Error('the server asks for the password in clear, and the connection has no TLS'));
  };
  return socket.on('data', look);
}
