import { buildConnector } from 'undici';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import { isLoopback } from '../util/base-url.ts';
import { maxAnswerBytes } from './exchange.ts';
import { checkHeaderValue } from './headers.ts';
import { INBOX } from './inbox.ts';
import type { LaneOptions } from './lane.ts';
import { tunnel } from './tunnel.ts';

export interface EndpointOptions {
  /** The exact URL that is posted to. */
  readonly url: string;
  /** Further headers, `x-api-key` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Most connections at a time, and so most requests at a time. */
  readonly connections: number;
  /** Total time of one request, from `post` to the last byte of the answer. */
  readonly timeoutMs: number;
  /** TCP and TLS; default: 10 s, or `timeoutMs` if that is less. */
  readonly connectTimeoutMs?: number;
  /** `http://host:port`; default: none. The environment is not asked. */
  readonly proxy?: string | null;
  /** A certificate authority to trust instead of the usual ones. */
  readonly tls?: { readonly ca?: string };
  /** Most recipients of one request, by which the answer may be long; default: 1. */
  readonly recipientsPerRequest?: number;
  /** Header that carries the reference; default: none. */
  readonly idempotencyHeader?: string | null;
  /** Told what is worth knowing of the connections, each once. */
  readonly onNotice?: (notice: Diagnostic) => void;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Everything that is the same for each request, made once.
 * @throws HandbillError when a header value or the proxy cannot be used
 */
export function prepare(options: EndpointOptions): { readonly lane: LaneOptions; readonly connectTimeoutMs: number } {
  const connectTimeoutMs = options.connectTimeoutMs ?? Math.min(CONNECT_TIMEOUT_MS, options.timeoutMs);
  const url = new URL(options.url);
  const proxy = options.proxy ?? null;
  const open = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    // Said outright, so that no environment variable can say otherwise (SECURITY S3).
    rejectUnauthorized: true,
    ...(options.tls?.ca === undefined ? {} : { ca: options.tls.ca }),
    // What a proxy says is read before there is a lane.
    ...(proxy === null ? { onread: INBOX } : {}),
  });
  const headers = Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const wrong = headers
    .map(([name, value]) => checkHeaderValue(name, value))
    .filter((diagnostic) => diagnostic !== null);
  if (wrong.length > 0) throw refuse(...wrong);
  const lane: LaneOptions = {
    url,
    head: headOf(url, headers),
    idempotencyHeader: options.idempotencyHeader ?? null,
    mostBytes: maxAnswerBytes(options.recipientsPerRequest ?? 1),
    connector: proxy === null ? open : tunnel(checkProxy(proxy, url), open, connectTimeoutMs),
  };
  return { lane, connectTimeoutMs };
}

/** A request up to the headers that differ, byte for byte: its parts were checked, so that none can begin another header. */
function headOf(url: URL, headers: readonly (readonly [name: string, value: string])[]): string {
  const all = [
    ['host', url.host],
    ['connection', 'keep-alive'],
    ['content-type', 'application/json'],
    ['accept-encoding', 'identity'],
    ...headers,
  ];
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}`;
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
