import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { tryDecode } from 'hono/utils/url';
import { asError } from '../errors.ts';
import type { ReportMethod, Scheme } from '../model.ts';
import { listenOn, SERVER_TIMEOUTS } from '../util/http-server.ts';
import {
  createGroup,
  createRefusalLog,
  type Interpret,
  type ReceiverContext,
  type Record,
  receiveRequest,
  refuse,
  rememberIds,
  type SeenIds,
  type Source,
} from './receive-request.ts';
import { limitConnections } from './server-connections.ts';
import { createVerifier } from './verify.ts';

export interface Sender {
  readonly scheme: Scheme;
  /** From `readWebhookSecrets`: at least one, and any of them is valid. */
  readonly secrets: readonly string[];
  /** Reads a body; never called for one whose sender did not prove itself. */
  readonly interpret: Interpret;
  /** Default: POST. */
  readonly methods?: readonly ReportMethod[];
  /** The token of a provider that registers the URL by a GET. Default: none does. */
  readonly verifyToken?: string | undefined;
}

interface ReceiverOptions {
  readonly path: string;
  /** By environment; each has a path that ends in its name: `/webhooks/production`. */
  readonly senders: ReadonlyMap<string, Sender>;
  /** The environment whose events come to the path itself, too; null: none. */
  readonly environment: string | null;
  /** Holds events durably, those of several requests at once. Its errors are answered with 503. */
  readonly record: Record;
  /** 0 takes a free one; default: 4011. */
  readonly port?: number;
  /** Default: `127.0.0.1`. */
  readonly host?: string;
  /** Milliseconds since 1970; default: the clock of this machine. */
  readonly now?: () => number;
  /** Called with a line for each refusal, without any content of the sender. */
  readonly log?: (line: string) => void;
}

export type RunningReceiver = Awaited<ReturnType<typeof startReceiver>>;

const POST_ONLY: readonly ReportMethod[] = ['POST'];

export const DEFAULT_PORT = 4011;
export const DEFAULT_HOST = '127.0.0.1';

/**
 * Receives webhooks: verifies, has the events stored, then answers 200 with an empty body. It does not know the ledger.
 * @throws HandbillError (exit status 2) if the port is not available
 */
export async function startReceiver(options: ReceiverOptions) {
  const { path, senders, environment, now = Date.now, port: wanted = DEFAULT_PORT, host = DEFAULT_HOST } = options;
  const log = createRefusalLog(options.log ?? null, now);
  const sources = sourcesOf(senders, options.record);
  const main = environment === null ? undefined : sources.get(environment);
  // The path itself comes last: with the scheme `path`, the next segment is a secret unless it is an environment.
  const paths = new Map([
    ...[...sources].map(([name, source]) => [`${path}/${name}`, source] as const),
    ...(main === undefined ? [] : [[path, main] as const]),
  ]);
  const listener = createListener(paths, {
    log,
    now,
    connections: () => connections,
    isClosing: () => !server.listening,
  });
  const serve: RequestListener = (incoming, outgoing) => {
    // A request that is refused may still bring a gigabyte, not to be read.
    outgoing.once('finish', () => {
      if (outgoing.statusCode !== 200) incoming.socket.destroySoon();
    });
    void listener(incoming, outgoing);
  };
  const server = createServer(TIMEOUTS, serve);
  // A sender that asks before it sends its body gets `100 Continue` unless its headers are refused.
  server.on('checkContinue', serve);
  const connections = limitConnections(server);
  const port = await listenOn(server, wanted, host, 'Webhooks cannot be received');
  return {
    /** The address for senders, such as `http://127.0.0.1:4011/webhooks`; with the scheme `path`, without the secret. */
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`,
    port,
    /** Accepts no new connections, and resolves when the events of all requests are stored and answered. */
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      connections.closeIdle();
      const timer = setTimeout(() => server.closeAllConnections(), LONGEST_FINISH_MS);
      await closed;
      clearTimeout(timer);
      for (const { group } of sources.values()) await group.idle();
      log.flush();
    },
  };
}

/** How requests for each environment are verified and read, and where their events go. */
function sourcesOf(senders: ReceiverOptions['senders'], record: Record): ReadonlyMap<string, Source> {
  const toleranceMs = Math.max(
    0,
    ...[...senders.values()].map(({ scheme }) => ('toleranceMs' in scheme ? scheme.toleranceMs : 0)),
  );
  // An id belongs to its secret, in every environment: two accounts may give their requests the same numbers.
  const bySecret = new Map<string, SeenIds>();
  const idsOf = (secret: string): SeenIds => {
    const ids = bySecret.get(secret) ?? rememberIds(toleranceMs);
    bySecret.set(secret, ids);
    return ids;
  };
  return new Map(
    [...senders].map(([name, { scheme, secrets, interpret, methods = POST_ONLY, verifyToken }]) => {
      const verify = createVerifier(scheme, secrets);
      const group = createGroup((events) => record(events, name));
      return [name, { scheme, verify, methods, verifyToken, interpret, ids: secrets.map(idsOf), group }];
    }),
  );
}

/** Proxies keep idle connections for 60 s: a server that closes them first would cut off an arriving request. */
const TIMEOUTS = { ...SERVER_TIMEOUTS, keepAliveTimeout: 65_000 };

/** Longest wait at the end for answers that are being written: a commit may wait for another process meanwhile. */
const LONGEST_FINISH_MS = 10_000;

/**
 * Paths that take POST or GET, each for an environment. No CORS header, no body. With the scheme `path`, the secret
 * follows.
 */
function createListener(paths: ReadonlyMap<string, Source>, context: ReceiverContext) {
  return async (...[incoming, outgoing]: Parameters<RequestListener>): Promise<void> => {
    const { method, url = '', headers } = incoming;
    const no = (status: number, reason: string, more: { readonly [name: string]: string } = {}): void => {
      context.log.refused(status, reason);
      refuse(incoming, outgoing, status, more);
    };
    if (!URL.canParse(`http://${headers.host}`)) return no(400, 'no valid Host');
    const path = url.replace(/[?#].*$/s, '');
    const [, parent = '', last = ''] = /^(.*)\/([^/]+)$/s.exec(path) ?? [];
    const [own, above] = [paths.get(path), paths.get(parent)];
    const source = own ?? (above?.scheme.kind === 'path' ? above : undefined);
    if (source === undefined) return no(404, 'another path');
    const isAsked = source.verifyToken !== undefined && !source.methods.includes('GET');
    const methods = isAsked ? ['GET', ...source.methods] : source.methods;
    if (!methods.some((one) => one === method)) {
      return no(405, `another method than ${methods.join(', ')}`, { Allow: methods.join(', ') });
    }
    try {
      const segment = own === undefined ? tryDecode(last, decodeURIComponent) : null;
      await receiveRequest(context, source, incoming, outgoing, segment);
    } catch (error) {
      // Its message could contain data of the sender.
      no(500, `a bug: ${asError(error).name}`);
    }
  };
}
