import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { problem, refuse, thrownText } from '../errors.ts';
import { isLoopback } from '../util/base-url.ts';
import { closedBy } from '../util/closing.ts';
import { portOf } from '../util/http-server.ts';
import { createApp, reportsOf } from './app.ts';
import { compileMessageCheck } from './form.ts';
import { Inbox, openReceipts, type Receipts } from './inbox.ts';
import type { Sandbox, SandboxSettings } from './options.ts';
import { answerProblem, type SandboxState } from './post-message.ts';
import type { Reporter, ReporterNeeds } from './reporter.ts';
import { SANDBOX_KEY, type WebhookOptions } from './webhook.ts';

/**
 * Serves the messaging API on this machine, with scripted answers (docs/sandbox.md). Reachable from this machine only.
 *
 * @throws HandbillError (exit 2) if the host is not a loopback address, the key is not valid in a header, the file of
 * devices is wrong, or the port or the receipts file is not available.
 */
export async function startSandbox(options: SandboxSettings = {}): Promise<Sandbox> {
  const host = loopbackHost(options.host ?? '127.0.0.1');
  const state = await createState(options);
  let url = '';
  const server = createHttpServer(state, () => url);
  try {
    server.listen(options.port ?? 0, host);
    await once(server, 'listening');
  } catch (error) {
    await closeState(state);
    const hint = 'Choose another port; 0 takes a free one.';
    throw refuse(problem('usage', `The sandbox cannot listen on ${host}: ${thrownText(error)}.`, { hint }));
  }
  const port = portOf(server);
  url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url,
    port,
    get received() {
      return state.inbox.received;
    },
    get reports() {
      return reportsOf(state);
    },
    settled: () => state.reporter?.settled() ?? Promise.resolve(),
    ...closedBy(() => close(server, state), options.signal),
  };
}

async function createState(options: SandboxSettings): Promise<SandboxState> {
  const { apiKey = SANDBOX_KEY, scripts = 'reserved', now = Date.now, latencyMs = 0, log } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const hint = 'Use printable ASCII characters without spaces.';
    const message = "The sandbox's API key has characters that are not allowed in a header.";
    throw refuse(problem('invalid-api-key', message, { hint }));
  }
  // Loads the parser of CSV, an HTTP client and a library of signatures only where they are needed.
  const devices =
    options.devices === undefined ? new Map() : (await import('./devices.ts')).readDevices(options.devices);
  const webhook = options.webhook === undefined ? undefined : await reporterOf(options.webhook);
  const prefix = randomBytes(5).toString('hex');
  return {
    apiKey,
    scripts,
    now,
    latencyMs,
    log,
    checker: compileMessageCheck(options.fields),
    provider: options.api ?? null,
    maxRecipients: Math.min(options.maxRecipients ?? 1_000, options.api?.recipients ?? 1_000),
    devices,
    nextId: createIds(`sbx-${prefix}`),
    throttled: new Set(),
    inbox: new Inbox(options.keep ?? 1_000),
    receipts: options.receipts === undefined ? undefined : receiptsAt(options.receipts),
    reporter: webhook?.({ scripts, now, latencyMs, log, nextId: createIds(`evt_${prefix}`) }),
  };
}

async function reporterOf(webhook: WebhookOptions): Promise<(needs: ReporterNeeds) => Reporter> {
  const [{ toWebhookSettings }, { createReporter }] = await Promise.all([
    import('./webhook.ts'),
    import('./reporter.ts'),
  ]);
  const settings = toWebhookSettings(webhook);
  return (needs) => createReporter(settings, needs);
}

/** No other start of the sandbox gives them out. */
function createIds(prefix: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}

function createHttpServer(state: SandboxState, url: () => string): Server {
  const app = createApp(state, url);
  const fetch = (request: Request, env: unknown): Response | Promise<Response> =>
    app.fetch(request, env as HttpBindings);
  // Without patching the globals: see `answer`.
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  return createServer(TIMEOUTS, (incoming, outgoing) => {
    // A page on the web can make a browser resolve its own name to 127.0.0.1; the Host header gives it away.
    if (isLoopback(incoming.headers.host?.toLowerCase().replace(/:\d{1,5}$/, '') ?? ''))
      void listener(incoming, outgoing);
    else answerProblem(outgoing, 421, { detail: 'The Host header names another machine.' }, { Connection: 'close' });
  });
}

/** Clients keep connections for minutes. If the server closed them first, it would cause unscripted doubts. */
const TIMEOUTS = { keepAliveTimeout: 120_000, headersTimeout: 10_000, requestTimeout: 30_000 };

/** `localhost` may resolve to either family: here it is 127.0.0.1. */
function loopbackHost(host: string): string {
  if (host === 'localhost') return '127.0.0.1';
  if (host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)) return host;
  const hint = 'Use 127.0.0.1, ::1 or localhost: the sandbox keeps what is sent to it, and has no access control.';
  throw refuse(problem('usage', `The sandbox listens on this machine only, not on ${JSON.stringify(host)}.`, { hint }));
}

function receiptsAt(path: string): Receipts {
  try {
    return openReceipts(path);
  } catch (error) {
    throw refuse(problem('file-unreadable', `The receipts cannot be written to ${path}: ${thrownText(error)}.`));
  }
}

async function close(server: Server, state: SandboxState): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await Promise.all([closed, closeState(state)]);
}

async function closeState({ receipts, reporter }: SandboxState): Promise<void> {
  await reporter?.close();
  receipts?.close();
}
