import { HandbillError } from '../errors.ts';
import { readKey } from '../http/credentials.ts';
import { cannotConnect } from '../http/fault.ts';
import { CLOCK_TOLERANCE_MS } from '../ledger/clock.ts';
import { type DiskFacts, examineDisk, examineLedger } from '../ledger/examine.ts';
import type { LedgerFacts } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Environment } from '../model.ts';
import { isLoopback } from '../util/base-url.ts';
import { isPostgres, placeOfLedger } from '../util/ledger-address.ts';
import { asCheck, type DoctorCheck, found, SET_CLOCK } from './doctor-check.ts';

interface EnvironmentCheckOptions {
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
): Promise<readonly DoctorCheck[]> {
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

function checkAddress({ name: of, url, proxy }: Environment): DoctorCheck {
  const way = proxy === null ? '' : ` through ${proxy}`;
  if (new URL(url).protocol === 'https:') return found('environment', 'ok', `${url}${way}`, { of });
  const hint = 'Nothing protects it but that it does not leave this machine. Use https for a real API.';
  return found('environment', 'warning', `${url}${way} is plain http, without TLS.`, { of, hint });
}

async function checkKey(
  { name: of, apiKey }: Environment,
  { env, root }: EnvironmentCheckOptions,
): Promise<DoctorCheck> {
  if (apiKey === null) {
    const hint = 'Write apiKey: { env: HANDBILL_API_KEY }.';
    return found('key', 'problem', 'No key is named.', { of, code: 'missing-api-key', hint });
  }
  const read = await readKey(apiKey, env, root);
  if ('problem' in read) return asCheck('key', read.problem, { of });
  const place = 'env' in apiKey ? `in ${apiKey.env}` : `in ${apiKey.file}, which no other user can read`;
  return found('key', 'ok', `There, ${place}.`, { of });
}

/**
 * Connects as `send` does: name, TCP, TLS and proxy, without a byte of a request. Then, without a proxy, compares the
 * time.
 */
async function checkConnection(environment: Environment, now: () => number): Promise<readonly DoctorCheck[]> {
  const { name: of, url, proxy } = environment;
  // Loaded where it is needed: undici takes longer to load than all else that the package exports.
  const { connect } = await import('../http/connect.ts');
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
const API_CLOCK_TOLERANCE_MS = 60_000;

/** Asks the root of the API's host for its headers, without a key. Only the time in the answer matters. */
async function checkTime({ name: of, url }: Environment, now: () => number): Promise<readonly DoctorCheck[]> {
  const { request } = await import('undici');
  const sentMs = now();
  const date = await request(new URL(url).origin, {
    method: 'HEAD',
    headersTimeout: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { 'user-agent': 'handbill' },
  }).then(
    async ({ headers, body }) => {
      await body.dump();
      return Date.parse(String(headers['date']));
    },
    () => Number.NaN,
  );
  if (Number.isNaN(date)) return [found('clock', 'skipped', 'It does not say what time it is.', { of })];
  // The header has whole seconds, and took some time to arrive.
  const awayMs = date > now() ? date - now() : Math.max(0, sentMs - date - 1000);
  if (awayMs <= API_CLOCK_TOLERANCE_MS) return [found('clock', 'ok', 'Its clock and this one agree.', { of })];
  const message = `This clock and that of ${new URL(url).origin} are ${Math.round(awayMs / 1000)} s apart.`;
  return [found('clock', 'warning', message, { of, code: 'clock', hint: SET_CLOCK })];
}

export interface LedgerCheckup {
  readonly checks: readonly DoctorCheck[];
  /** Null if there is no ledger, or it cannot be used. */
  readonly facts: LedgerFacts | null;
}

/** The ledger and the disk that it lies on. It is read, every page of it, and never made or changed. */
export function checkLedger(
  path: string,
  { cwd, nowMs }: { readonly cwd: string; readonly nowMs: number },
): LedgerCheckup {
  const place = placeOfLedger(path, cwd);
  const disk = isPostgres(path) ? [] : checkDisk(path);
  try {
    const facts = examineLedger(path, nowMs);
    if (facts === null) {
      const none = found('ledger', 'ok', `None yet: ${place} is made when something is sent.`);
      return { checks: [none, ...disk], facts };
    }
    return { checks: [...checkFacts(facts, place, nowMs), ...disk, ...checkRuns(facts)], facts };
  } catch (error) {
    return { checks: [...refusals(error, place), ...disk], facts: null };
  }
}

/** Any error that a damaged file causes, in SQLite or in this code, is a finding like any other. */
function refusals(error: unknown, place: string): readonly DoctorCheck[] {
  if (error instanceof HandbillError) return error.diagnostics.map((one) => asCheck('ledger', one));
  const why = error instanceof Error ? error.message : String(error);
  const hint = 'Look at who may read it. A damaged one is moved away for safe keeping, and restored from a backup.';
  return [found('ledger', 'problem', `${place} cannot be read: ${why}.`, { code: 'ledger-unusable', hint })];
}

function checkFacts(facts: LedgerFacts, place: string, nowMs: number): readonly DoctorCheck[] {
  const { version, newestVersion, bytes, runs, newestMs, isReadable } = facts;
  const size = bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / MIB)} MiB`;
  const older = version < newestVersion ? `, which the next command that writes brings to ${newestVersion}` : '';
  const checks = [
    found(
      'ledger',
      'ok',
      `${place}: whole, version ${version}${older}, ${size}, ${runs} ${runs === 1 ? 'run' : 'runs'}`,
    ),
  ];
  if (isReadable) {
    const hint = `chmod 600 ${place}`;
    checks.push(found('ledger', 'warning', 'Other users can read the ledger.', { code: 'ledger-permissions', hint }));
  }
  checks.push(...checkServerClock(facts.serverMs, nowMs));
  if (nowMs < newestMs - CLOCK_TOLERANCE_MS) {
    const newest = new Date(newestMs).toISOString();
    const message = `The clock is before the newest entry of the ledger (${newest}): nothing is sent.`;
    checks.push(found('clock', 'problem', message, { code: 'clock', hint: SET_CLOCK }));
  }
  return checks;
}

/** Machines that share a ledger and a rate must agree about the time. */
const SERVER_TOLERANCE_MS = 2_000;

function checkServerClock(serverMs: number | null, nowMs: number): readonly DoctorCheck[] {
  if (serverMs === null) return [];
  const apart = Math.abs(serverMs - nowMs);
  if (apart <= SERVER_TOLERANCE_MS) {
    return [found('clock', 'ok', `The clock of the database agrees with that of this machine.`)];
  }
  const seconds = Math.round(apart / 1000);
  const message = `The clock of the database is ${seconds} s ${serverMs > nowMs ? 'ahead of' : 'behind'} that of this machine.`;
  return [found('clock', 'warning', message, { code: 'clock', hint: SET_CLOCK })];
}

function checkRuns({ held, broken, isPurgeUnfinished }: LedgerFacts): readonly DoctorCheck[] {
  const checks = held.map(({ run, holder }) => {
    const who = holder === null ? '' : ` by process ${holder.pid} on ${holder.host}, since ${iso(holder.sinceMs)}`;
    return found('locks', 'ok', `${nameOf(run)} is being sent${who}.`);
  });
  for (const run of broken) {
    const hint = 'Give the same command again: it continues where it stopped.';
    checks.push(found('locks', 'warning', `${nameOf(run)} ended in the middle, and no process has it.`, { hint }));
  }
  if (checks.length === 0) checks.push(found('locks', 'ok', 'No run is going on.'));
  if (!isPurgeUnfinished) return checks;
  const message = 'A purge was begun and not finished: personal data may still be in the file.';
  return [...checks, found('purge', 'warning', message, { hint: 'Run handbill purge again.' })];
}

/** Outcomes of requests in flight must always fit: with less than the first of these free, no request is begun. */
const NO_ROOM_BYTES = 4 * 1024 * 1024;
const LITTLE_ROOM_BYTES = 100 * 1024 * 1024;
const MIB = 1024 * 1024;

function checkDisk(ledger: string): readonly DoctorCheck[] {
  let disk: DiskFacts;
  try {
    disk = examineDisk(ledger);
  } catch (error) {
    return [
      found('disk', 'warning', `The disk cannot be asked: ${error instanceof Error ? error.message : String(error)}.`),
    ];
  }
  const free = `${Math.floor(disk.freeBytes / MIB)} MiB free`;
  const hint = 'Make room before anything is sent.';
  const checks = [judgeRoom(disk.freeBytes, free, hint)];
  if (disk.network === null) return checks;
  const message = `The ledger would lie on a network file system (${disk.network}), where locks cannot be trusted.`;
  const local = 'Keep it on a local disk: --ledger FILE.';
  return [...checks, found('disk', 'problem', message, { code: 'ledger-filesystem', hint: local })];
}

function judgeRoom(bytes: number, free: string, hint: string): DoctorCheck {
  if (bytes < NO_ROOM_BYTES)
    return found('disk', 'problem', `The disk of the ledger is full: ${free}.`, { code: 'ledger-write', hint });
  if (bytes < LITTLE_ROOM_BYTES)
    return found('disk', 'warning', `The disk of the ledger is nearly full: ${free}.`, { hint });
  return found('disk', 'ok', `${free} for the ledger`);
}

function nameOf({ id, environment, occurrence }: RunRecord): string {
  return `${id} (${environment}, ${occurrence})`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
