import { Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { isLoopback } from '../util/base-url.ts';
import type { RequestOptions } from './connection.ts';
import { checkHeaderValue } from './credentials.ts';
import { Fault } from './fault.ts';

export interface EndpointOptions {
  /** The exact URL that is posted to. */
  readonly url: string;
  /** Further headers, `x-api-key` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the header `Authorization` of each request; default: `headers` has it, or there is none. */
  readonly authorize?: (() => Promise<string>) | null;
  /** Most connections, and so most requests, at a time. */
  readonly connections: number;
  /** From `post` to the last byte of the answer. */
  readonly timeoutMs: number;
  /** TCP and TLS; default: 10 s, or `timeoutMs` if that is less. */
  readonly connectTimeoutMs?: number;
  /** `http://host:port`; default: none. Variables of the process do not count. */
  readonly proxy?: string | null;
  /** A certificate authority to trust instead of the usual ones. */
  readonly tls?: { readonly ca?: string };
  /** The size limit of the answer grows with it; default: 1. */
  readonly recipientsPerRequest?: number;
  /** Header that carries the reference; default: none. */
  readonly idempotencyHeader?: string | null;
  /** Header of a response that holds the message id, in lower case; default: none. */
  readonly idHeader?: string | null;
  /** Called once for each notice about the connections. */
  readonly onNotice?: ((notice: Diagnostic) => void) | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** The limits of connector and proxy say what was slow, so the one for opening as a whole comes later. */
const OPEN_MARGIN = 1.25;

/** Longest body of a response, in bytes. One about one message has some hundred. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** For a request with several recipients: entries of half a kilobyte were seen, with long texts for refusals. */
const MAX_ENTRY_BYTES = 1024;

/**
 * Made once for all requests.
 * @throws HandbillError when a header value or the proxy cannot be used
 */
export function prepare(options: EndpointOptions): RequestOptions {
  const { timeoutMs, recipientsPerRequest = 1 } = options;
  const connectTimeoutMs = options.connectTimeoutMs ?? Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
  const url = new URL(options.url);
  const open = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    // Set explicitly, so that no environment variable can switch the verification of certificates off.
    rejectUnauthorized: true,
    ...(options.tls?.ca === undefined ? {} : { ca: options.tls.ca }),
  });
  const proxy = options.proxy ?? null;
  const headers = Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const wrong = headers
    .map(([name, value]) => checkHeaderValue(name, value))
    .filter((diagnostic) => diagnostic !== null);
  if (wrong.length > 0) throw refuse(...wrong);
  return {
    origin: url.origin,
    target: { path: url.pathname + url.search, contentType: 'application/json' },
    headers: ['accept-encoding', 'identity', ...headers.flat()],
    idempotencyHeader: options.idempotencyHeader ?? null,
    idHeader: options.idHeader ?? null,
    mostBytes: MAX_RESPONSE_BYTES + (recipientsPerRequest === 1 ? 0 : recipientsPerRequest * MAX_ENTRY_BYTES),
    timeoutMs,
    openMs: Math.ceil(connectTimeoutMs * OPEN_MARGIN),
    connector: proxy === null ? open : throughProxy(checkProxy(proxy, url), open, connectTimeoutMs),
  };
}

/**
 * A connector through an HTTP proxy with CONNECT, so that TLS is spoken with the API itself and the proxy never sees
 * the key. undici opens the tunnel; its ProxyAgent does so within a pool, whose connections cannot be told apart.
 */
function throughProxy(proxy: URL, open: buildConnector.connector, timeoutMs: number): buildConnector.connector {
  const { host, username, password } = proxy;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = pair === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
  return (options, callback) => {
    const { protocol, port, hostname } = options;
    const path = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
    let made: unknown;
    const client = new Client(proxy.origin, {
      allowH2: false,
      connect: (target, connected) => {
        made = open(target, connected);
      },
    });
    client.connect({ path, headers, signal: AbortSignal.timeout(timeoutMs) }, (error, data) => {
      const socket = data?.socket ?? null;
      if (socket instanceof Socket && data?.statusCode === 200) {
        if (protocol === 'https:') open({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
        return;
      }
      socket?.on('error', () => {}).destroy();
      client.destroy(() => {});
      const why = error?.message ?? `it refused the connection with status ${data?.statusCode}`;
      callback(new Fault('HANDBILL_PROXY', `proxy ${host}: ${why}`), null);
    });
    return made;
  };
}

/** @throws HandbillError when requests may not go through this proxy */
function checkProxy(text: string, url: URL): URL {
  const proxy = URL.canParse(text) ? new URL(text) : null;
  if (proxy === null || (proxy.protocol !== 'http:' && proxy.protocol !== 'https:')) {
    throw refuse(
      problem('invalid-value', 'The proxy is not a URL.', { hint: 'Write it like http://proxy.example.com:3128.' }),
    );
  }
  if (url.protocol === 'http:' && !isLoopback(proxy.hostname)) {
    throw refuse(
      problem('invalid-base-url', 'Plain http is for this machine only, but the proxy is another one.', {
        hint: 'Use an https base URL, or remove the proxy: through it the API key could be read.',
      }),
    );
  }
  return proxy;
}
