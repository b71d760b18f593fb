import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { problem, refuse } from '../errors.ts';
import { isLoopback } from '../util/base-url.ts';
import { answerProblem } from './answer.ts';
import { createApp } from './app.ts';
import { compileMessageCheck, type KnownFields } from './check-message.ts';
import { reportsOf } from './describe.ts';
import type { Devices } from './devices-file.ts';
import { DIALECTS } from './dialects.ts';
import { createInbox, openReceipts } from './inbox.ts';
import type { DialectName } from './openapi.ts';
import type { SandboxState } from './post-message.ts';
import type { ReportCounts, Reporter, ReporterNeeds } from './reporter.ts';
import type { ScriptedNumbers } from './scenarios.ts';
import type { WebhookOptions } from './webhook-options.ts';

export interface SandboxOptions {
  /** TCP port; 0 (the default) takes a free one. */
  readonly port?: number;
  /** Loopback address to listen on; `127.0.0.1` when absent. Anything else is refused. */
  readonly host?: string;
  /** The key that requests must carry in X-Api-Key: printable ASCII without spaces. */
  readonly apiKey: string;
  /** Called with one line per request, addresses masked; without it nothing is logged. */
  readonly log?: (line: string) => void;
  /**
   * How many requests `GET /sandbox/messages` can show, the newest ones; 1,000 when absent. Counts are exact anyway.
   */
  readonly keep?: number;
  /** Path of a file that gets one line of JSON per completely received request, before it is answered. */
  readonly receipts?: string;
  /** Milliseconds to wait before each answer; 0 when absent. */
  readonly latencyMs?: number;
  /** Whose numbers play scripted answers; those reserved for documentation when absent. */
  readonly scripts?: ScriptedNumbers;
  /** The form of requests and answers; `default` when absent. */
  readonly dialect?: DialectName;
  /** Which fields a message may have; those of the OpenAPI description (`known`) when absent. */
  readonly fields?: KnownFields;
  /** Path of a CSV file with the columns `msisdn` and `device`: which channels a recipient's device takes. */
  readonly devices?: string;
  /** Most recipients of one request, above which it is answered 413; 1,000 when absent. */
  readonly maxRecipients?: number;
  /** Where delivery reports and replies are posted, and which; nothing comes back when absent. */
  readonly webhook?: WebhookOptions;
  /** Milliseconds since 1970; the clock of this machine when absent. */
  readonly now?: () => number;
}

export interface Sandbox {
  /** Origin to send to, such as `http://127.0.0.1:4010`. */
  readonly url: string;
  readonly port: number;
  /** Completely received requests so far. */
  readonly received: number;
  /** What was posted to the webhook so far, and what waits. */
  readonly reports: ReportCounts;
  /** Resolves when every event so far is acknowledged or given up; at once without a webhook. */
  settled(): Promise<void>;
  /** Stops at once: open connections are cut, events that wait are never posted. */
  close(): Promise<void>;
}

/**
 * Serves the messaging API on this machine, with scripted answers (docs/sandbox.md). Reachable from this machine only.
 *
 * @throws HandbillError (exit 2) if the host is not a loopback address, the key is not valid in a header, the file of
 * devices is wrong, or the port or the receipts file is not available.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const host = loopbackHost(options.host ?? '127.0.0.1');
  checkKey(options.apiKey);
  const devices = await devicesOf(options.devices);
  const state = createState(options, devices, await webhookOf(options));
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
    close: () => close(server, state),
  };
}

const PORT_HINT = 'Choose another port; 0 takes a free one.';
const DEFAULT_KEEP = 1_000;
const DEFAULT_MAX_RECIPIENTS = 1_000;
const NO_DEVICES: Devices = new Map();

/** Makes the reporter of a webhook, whose options are checked by then. */
type MakeReporter = (needs: ReporterNeeds) => Reporter;

function createState(options: SandboxOptions, devices: Devices, makeReporter: MakeReporter | null): SandboxState {
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
  const [{ settleWebhook }, { createReporter }] = await Promise.all([
    import('./webhook-settings.ts'),
    import('./reporter.ts'),
  ]);
  const settings = settleWebhook(webhook);
  return (needs) => createReporter(settings, needs);
}

async function devicesOf(path: string | undefined): Promise<Devices> {
  if (path === undefined) return NO_DEVICES;
  // The parser of CSV is loaded only for those who have such a file.
  const { readDevices } = await import('./devices-file.ts');
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
  // Without patching the globals: see answer.ts.
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
