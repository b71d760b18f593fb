import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { problem, refuse } from '../errors.ts';
import { isLoopback } from '../util/base-url.ts';
import { closedBy } from '../util/closing.ts';
import { createApp } from './app.ts';
import { reportsOf } from './describe.ts';
import type { Devices } from './devices.ts';
import { DIALECTS } from './dialects.ts';
import { createInbox, openReceipts } from './inbox.ts';
import { compileMessageCheck } from './message.ts';
import type { Sandbox, SandboxOptions } from './options.ts';
import type { SandboxState } from './post-message.ts';
import { answerProblem } from './reply.ts';
import type { Reporter, ReporterNeeds } from './reporter.ts';
import { SANDBOX_KEY } from './webhook.ts';

/**
 * Serves the messaging API on this machine, with scripted answers (docs/sandbox.md). Reachable from this machine only.
 *
 * @throws HandbillError (exit 2) if the host is not a loopback address, the key is not valid in a header, the file of
 * devices is wrong, or the port or the receipts file is not available.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const host = loopbackHost(options.host ?? '127.0.0.1');
  const { apiKey = SANDBOX_KEY, signal } = options;
  checkKey(apiKey);
  const devices = await devicesOf(options.devices);
  const state = createState({ ...options, apiKey }, devices, await webhookOf(options));
  const address = { url: '' };
  const server = createHttpServer(state, () => address.url);
  try {
    await listen(server, options.port ?? 0, host);
  } catch (error) {
    await closeState(state);
    throw refuse(problem('usage', `The sandbox cannot listen on ${host}: ${messageOf(error)}.`, { hint: PORT_HINT }));
  }
  const port = portOf(server);
  address.url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url: address.url,
    port,
    get received() {
      return state.inbox.received;
    },
    get reports() {
      return reportsOf(state);
    },
    settled: () => state.reporter?.settled() ?? Promise.resolve(),
    ...closedBy(() => close(server, state), signal),
  };
}

const PORT_HINT = 'Choose another port; 0 takes a free one.';
const DEFAULT_KEEP = 1_000;
const DEFAULT_MAX_RECIPIENTS = 1_000;
const NO_DEVICES: Devices = new Map();

/** Makes the reporter of a webhook, whose options are checked by then. */
type MakeReporter = (needs: ReporterNeeds) => Reporter;

function createState(
  options: SandboxOptions & { readonly apiKey: string },
  devices: Devices,
  makeReporter: MakeReporter | null,
): SandboxState {
  const receipts = options.receipts === undefined ? null : receiptsAt(options.receipts);
  const prefix = randomBytes(5).toString('hex');
  const shared = {
    dialect: DIALECTS[options.dialect ?? 'default'],
    scripts: options.scripts ?? 'reserved',
    now: options.now ?? Date.now,
    latencyMs: options.latencyMs ?? 0,
    log: options.log ?? null,
  };
  return {
    ...shared,
    apiKey: options.apiKey,
    checker: compileMessageCheck(shared.dialect.request, options.fields),
    maxRecipients: options.maxRecipients ?? DEFAULT_MAX_RECIPIENTS,
    devices,
    nextId: createIds(`sbx-${prefix}`),
    throttled: new Set(),
    inbox: createInbox(options.keep ?? DEFAULT_KEEP),
    receipts,
    reporter: makeReporter === null ? null : makeReporter({ ...shared, nextId: createIds(`evt_${prefix}`) }),
  };
}

async function webhookOf({ webhook }: SandboxOptions): Promise<MakeReporter | null> {
  if (webhook === undefined) return null;
  // An HTTP client and a library of signatures, which are needed only here.
  const [{ toWebhookSettings }, { createReporter }] = await Promise.all([
    import('./webhook.ts'),
    import('./reporter.ts'),
  ]);
  const settings = toWebhookSettings(webhook);
  return (needs) => createReporter(settings, needs);
}

async function devicesOf(path: string | undefined): Promise<Devices> {
  if (path === undefined) return NO_DEVICES;
  // The parser of CSV is loaded only for those who have such a file.
  const { readDevices } = await import('./devices.ts');
  return readDevices(path);
}

/** Ids that no other start of the sandbox gives out, and that cost next to nothing. */
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
  // Without patching the globals: see reply.ts.
  const listener = getRequestListener(fetch, { overrideGlobalObjects: false });
  return createServer(TIMEOUTS, (incoming, outgoing) => {
    if (isLoopbackHost(incoming.headers.host)) void listener(incoming, outgoing);
    else answerProblem(outgoing, 421, { detail: 'The Host header names another machine.' }, { Connection: 'close' });
  });
}

/**
 * Clients keep connections for minutes. If the server closed them first, it would cause doubts that are not scripted.
 */
const TIMEOUTS = { keepAliveTimeout: 120_000, headersTimeout: 10_000, requestTimeout: 30_000 };

/** A page on the web can make a browser resolve its own name to 127.0.0.1; the Host header gives it away. */
function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && isLoopback(host.toLowerCase().replace(/:\d{1,5}$/, ''));
}

/** `localhost` may resolve to either family, so it is taken as 127.0.0.1. */
function loopbackHost(host: string): string {
  if (host === 'localhost') return '127.0.0.1';
  if (host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)) return host;
  const hint = 'Use 127.0.0.1, ::1 or localhost: the sandbox keeps what is sent to it, and has no access control.';
  throw refuse(problem('usage', `The sandbox listens on this machine only, not on ${JSON.stringify(host)}.`, { hint }));
}

function checkKey(apiKey: string): void {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return;
  const hint = 'Use printable ASCII characters without spaces.';
  throw refuse(
    problem('invalid-api-key', "The sandbox's API key has characters that are not allowed in a header.", { hint }),
  );
}

function receiptsAt(path: string): ReturnType<typeof openReceipts> {
  try {
    return openReceipts(path);
  } catch (error) {
    throw refuse(problem('file-unreadable', `The receipts cannot be written to ${path}: ${messageOf(error)}.`));
  }
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
