import { connect } from '../http/connect.ts';
import { readKey } from '../http/credentials.ts';
import { cannotConnect } from '../http/fault.ts';
import type { Environment } from '../model.ts';
import { isLoopback } from '../util/base-url.ts';
import { asCheck, type Check, found } from './doctor-check.ts';
import { SET_CLOCK } from './doctor-runtime.ts';

export interface EnvironmentCheckOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly root: string;
  readonly now: () => number;
  /** Connects to it. No message, no key and no body leaves this machine in any case. */
  readonly online: boolean;
}

const TIMEOUT_MS = 10_000;

/** Where an environment is, its key, and whether it can be reached. The sandbox needs none of it. */
export async function checkEnvironment(
  environment: Environment,
  options: EnvironmentCheckOptions,
): Promise<readonly Check[]> {
  const of = environment.name;
  if (of === 'sandbox') return [found('environment', 'ok', 'The sandbox on this machine is always there.', { of })];
  return [
    checkAddress(environment),
    await checkKey(environment, options),
    ...(options.online
      ? await checkConnection(environment, options.now)
      : [found('connection', 'skipped', 'Not asked for: --online connects, and sends nothing.', { of })]),
  ];
}

function checkAddress({ name: of, url, proxy }: Environment): Check {
  const way = proxy === null ? '' : ` through ${proxy}`;
  if (new URL(url).protocol === 'https:') return found('environment', 'ok', `${url}${way}`, { of });
  const hint = 'Nothing protects it but that it does not leave this machine. Use https for a real API.';
  return found('environment', 'warning', `${url}${way} is plain http, without TLS.`, { of, hint });
}

async function checkKey({ name: of, apiKey }: Environment, { env, root }: EnvironmentCheckOptions): Promise<Check> {
  if (apiKey === null) {
    const hint = 'Write apiKey: { env: HANDBILL_API_KEY }.';
    return found('key', 'problem', 'No key is named.', { of, code: 'missing-api-key', hint });
  }
  const read = await readKey(apiKey, env, root);
  if ('problem' in read) return asCheck('key', read.problem, { of });
  const place = 'env' in apiKey ? `in ${apiKey.env}` : `in ${apiKey.file}, which nobody else can read`;
  return found('key', 'ok', `There, ${place}.`, { of });
}

/** As send connects: name, TCP, TLS and proxy, without a byte of a request; then the time, where no proxy is between. */
async function checkConnection(environment: Environment, now: () => number): Promise<readonly Check[]> {
  const { name: of, url, proxy } = environment;
  const endpoint = connect({ url, headers: {}, connections: 1, timeoutMs: TIMEOUT_MS, proxy });
  try {
    const failed = await endpoint.ready();
    if (failed !== null) {
      const { error } = failed;
      const why = error === null ? '' : ` (${error.code})`;
      const said = cannotConnect({ url, proxy }, error ?? { code: 'no reason was given', message: '' });
      const hint = 'Check baseUrl, the network, and what firewalls and proxies let through.';
      return [found('connection', 'problem', `${said}${why}.`, { of, hint })];
    }
  } finally {
    endpoint.abort();
  }
  const reached = found('connection', 'ok', `${new URL(url).origin} can be reached${isTls(url)}.`, { of });
  return proxy === null ? [reached, ...(await checkTime(environment, now))] : [reached];
}

function isTls(url: string): string {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' ? ', and its certificate is trusted' : isLoopback(hostname) ? ' on this machine' : '';
}

/** Deadlines, signatures of webhooks and schedules bear some minutes; a server's clock is seldom wrong. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Asks the root of the API's host for its headers, without a key. What it answers does not matter, but the time. */
async function checkTime({ name: of, url }: Environment, now: () => number): Promise<readonly Check[]> {
  // Its stand-in in bundles (`.scripts/undici.cjs`) has no names when it is imported on demand.
  const { default: undici } = await import('undici');
  const sentMs = now();
  const date = await undici
    .request(new URL(url).origin, {
      method: 'HEAD',
      headersTimeout: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'user-agent': 'handbill' },
    })
    .then(
      async ({ headers, body }) => {
        await body.dump();
        return Date.parse(String(headers['date']));
      },
      () => Number.NaN,
    );
  if (Number.isNaN(date)) return [found('clock', 'skipped', 'It does not say what time it is.', { of })];
  // The header has whole seconds, and took its time.
  const awayMs = date > now() ? date - now() : Math.max(0, sentMs - date - 1000);
  if (awayMs <= CLOCK_TOLERANCE_MS) return [found('clock', 'ok', 'Its clock and this one agree.', { of })];
  const message = `This clock and that of ${new URL(url).origin} are ${Math.round(awayMs / 1000)} s apart.`;
  return [found('clock', 'warning', message, { of, code: 'clock', hint: SET_CLOCK })];
}
