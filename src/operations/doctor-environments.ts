import { type Diagnostic, EXIT, type ExitStatus, HandbillError, thrownText } from '../errors.ts';
import { readKey } from '../http/credentials.ts';
import { cannotConnect } from '../http/fault.ts';
import type { LedgerFacts } from '../ledger/ledger.ts';
import { CLOCK_TOLERANCE_MS } from '../ledger/ledger-error.ts';
import { examineDisk, examineLedger, isAtLeast } from '../ledger/open.ts';
import { runName } from '../ledger/records.ts';
import type { Doctor } from '../model/result-types.ts';
import type { Environment } from '../model.ts';
import { placedBy } from '../providers/placed.ts';
import { pauseText, resumeHint } from '../report/pause-words.ts';
import { isLoopback } from '../util/base-url.ts';
import { isPostgres, placeOfLedger } from '../util/ledger-address.ts';
import { iso } from '../util/time.ts';
import { checkTlsEnvironment } from '../util/tls.ts';
import type { ResolvedOptions } from './options.ts';

interface EnvironmentCheckOptions extends Pick<ResolvedOptions, 'env' | 'now'> {
  readonly root: string;
  /** Connects to it. No message, no key and no body leaves this machine in any case. */
  readonly online: boolean;
}

const TIMEOUT_MS = 10_000;

/** Where an environment is, its key, and whether it can be reached. The sandbox needs none of it. */
export async function checkEnvironment(environment: Environment, options: EnvironmentCheckOptions) {
  const of = environment.name;
  if (of === 'sandbox') return [found('environment', 'ok', 'The sandbox on this machine is always there.', { of })];
  return [
    checkAddress(environment),
    ...checkAbilities(environment),
    ...checkValues(environment),
    ...(await checkSecrets(environment, options)),
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

/** The limits of the provider, as its requests show them. */
function checkAbilities({ name: of, provider: { title, limits, requests } }: Environment): readonly DoctorCheck[] {
  const placed = requests.map(placedBy);
  const has = (value: string): boolean => placed.some(({ whole }) => whole.has(value));
  const lacks = [
    ...(has('validity') ? [] : ['no validity of a message']),
    ...(has('reference')
      ? []
      : [has('callback') ? 'our reference in reports by webhook.url alone' : 'no reference in reports']),
    ...(limits.recipients === 1 ? ['one recipient in each request'] : []),
    ...(limits.text === null ? [] : [`at most ${limits.text} characters in a text`]),
  ];
  return lacks.length === 0 ? [] : [found('environment', 'ok', `${title} has limits: ${lacks.join(', ')}.`, { of })];
}

/** Those that `init` wrote, which belong to no account. */
function checkValues({ name: of, vars, provider }: Environment): readonly DoctorCheck[] {
  return Object.entries(provider.vars).flatMap(([name, { description, example }]) => {
    if (example === null || vars[name] !== example || !/0000|xxxx|\.example$/.test(example)) return [];
    const hint = `Write yours into handbill.yaml: ${description}.`;
    return [found('environment', 'problem', `"vars.${name}" is still the example ${example}.`, { of, hint })];
  });
}

async function checkSecrets({ name: of, secrets }: Environment, { env, root }: EnvironmentCheckOptions) {
  const checks: DoctorCheck[] = [];
  for (const [name, source] of Object.entries(secrets ?? {})) {
    const read = await readKey(name, source, env, root);
    const place = 'env' in source ? `in ${source.env}` : `in ${source.file}, which no other user can read`;
    checks.push(
      'problem' in read ? asCheck('key', read.problem, { of }) : found('key', 'ok', `There, ${place}.`, { of }),
    );
  }
  return checks;
}

/** Name, TCP, TLS and proxy as for `send`, without a byte of a request. Without a proxy, also compares the time. */
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
  const { protocol, hostname, origin } = new URL(url);
  const isTls = protocol === 'https:';
  const how = isTls ? ', and its certificate is trusted' : isLoopback(hostname) ? ' on this machine' : '';
  const reached = found('connection', 'ok', `${origin} can be reached${how}.`, { of });
  return proxy === null ? [reached, ...(await checkTime(environment, now))] : [reached];
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

/**
 * The ledger and the disk that it lies on. It is read, every page of it, and never made or changed. `facts` is null if
 * there is no ledger, or it cannot be used.
 */
export function checkLedger(path: string, { cwd, nowMs }: { readonly cwd: string; readonly nowMs: number }) {
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
  const why = thrownText(error);
  const hint = 'Look at who may read it. A damaged one is moved away for safe keeping, and restored from a backup.';
  return [found('ledger', 'problem', `${place} cannot be read: ${why}.`, { code: 'ledger-unusable', hint })];
}

function checkFacts(facts: LedgerFacts, place: string, nowMs: number): readonly DoctorCheck[] {
  const { bytes, runs, newestMs, isReadable } = facts;
  const size = bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / MIB)} MiB`;
  const checks = [found('ledger', 'ok', `${place}: whole, ${size}, ${runs} ${runs === 1 ? 'run' : 'runs'}`)];
  if (isReadable) {
    const hint = `chmod 600 ${place}`;
    checks.push(found('ledger', 'warning', 'Other users can read the ledger.', { code: 'ledger-permissions', hint }));
  }
  checks.push(...checkServerClock(facts.serverMs, nowMs));
  if (nowMs < newestMs - CLOCK_TOLERANCE_MS) {
    const newest = iso(newestMs);
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

function checkRuns({ held, broken, isPurgeUnfinished, pauses }: LedgerFacts): readonly DoctorCheck[] {
  const checks = held.map(({ run, lockOwner }) => {
    const who =
      lockOwner === null ? '' : ` by process ${lockOwner.pid} on ${lockOwner.host}, since ${iso(lockOwner.sinceMs)}`;
    return found('locks', 'ok', `${runName(run)} is being sent${who}.`);
  });
  for (const run of broken) {
    const hint = 'Give the same command again: it continues where it stopped.';
    checks.push(found('locks', 'warning', `${runName(run)} ended in the middle, and no process has it.`, { hint }));
  }
  if (checks.length === 0) checks.push(found('locks', 'ok', 'No run is going on.'));
  for (const pause of pauses) {
    checks.push(found('pause', 'warning', pauseText(pause), { code: 'paused', hint: resumeHint(pause) }));
  }
  if (!isPurgeUnfinished) return checks;
  const message = 'A purge was begun and not finished: personal data may still be in the file.';
  return [...checks, found('purge', 'warning', message, { hint: 'Run handbill purge again.' })];
}

/** Outcomes of requests in flight must always fit: with less than the first of these free, no request is begun. */
const NO_ROOM_BYTES = 4 * 1024 * 1024;
const LITTLE_ROOM_BYTES = 100 * 1024 * 1024;
const MIB = 1024 * 1024;

function checkDisk(ledger: string): readonly DoctorCheck[] {
  let disk: ReturnType<typeof examineDisk>;
  try {
    disk = examineDisk(ledger);
  } catch (error) {
    return [found('disk', 'warning', `The disk cannot be asked: ${thrownText(error)}.`)];
  }
  const free = `${Math.floor(disk.freeBytes / MIB)} MiB free`;
  const hint = 'Make room before anything is sent.';
  const checks = [
    disk.freeBytes < NO_ROOM_BYTES
      ? found('disk', 'problem', `The disk of the ledger is full: ${free}.`, { code: 'ledger-write', hint })
      : disk.freeBytes < LITTLE_ROOM_BYTES
        ? found('disk', 'warning', `The disk of the ledger is nearly full: ${free}.`, { hint })
        : found('disk', 'ok', `${free} for the ledger`),
  ];
  if (disk.network === null) return checks;
  const message = `The ledger would lie on a network file system (${disk.network}), where locks cannot be trusted.`;
  const local = 'Keep it on a local disk: --ledger FILE.';
  return [...checks, found('disk', 'problem', message, { code: 'ledger-filesystem', hint: local })];
}

export type DoctorCheck = Doctor['checks'][number];
export type CheckName = DoctorCheck['check'];

type Rest = Partial<Pick<DoctorCheck, 'of' | 'hint' | 'code'>>;

export function found(check: CheckName, status: DoctorCheck['status'], message: string, rest: Rest = {}): DoctorCheck {
  return { check, of: null, hint: null, code: null, ...rest, status, message };
}

/** Puts the place of the diagnostic first. */
export function asCheck(check: CheckName, { code, severity, message, at, hint }: Diagnostic, rest: Rest = {}) {
  const line = at?.line === undefined ? '' : `:${at.line}${at.column === undefined ? '' : `:${at.column}`}`;
  const place = at === undefined ? '' : `${at.file}${line}: `;
  const status = severity === 'error' ? 'problem' : 'warning';
  return found(check, status, `${place}${message}`, { ...rest, code, hint: hint ?? WITHOUT_HINT[check] ?? null });
}

/** For diagnostics without a hint. */
const WITHOUT_HINT: Partial<Record<CheckName, string>> = {
  project: 'handbill validate shows the line.',
  campaign: 'handbill validate shows the line.',
  suppressions: 'Check `suppressions`, and the file that it names.',
};

/** 7 if the ledger cannot be used, which is worse than an error in a file. */
export function exitOf(checks: readonly DoctorCheck[]): ExitStatus {
  const problems = checks.filter(({ status }) => status === 'problem');
  if (problems.length === 0) return EXIT.done;
  return problems.some(({ code }) => code?.startsWith('ledger-') === true) ? EXIT.ledger : EXIT.refused;
}

interface Runtime {
  readonly node: string;
  readonly sqlite: string;
  readonly handbill: string;
  /** Offset that the runtime gives for a zone at a moment: `GMT+01:00`; null where it does not know the zone. */
  readonly offsetAt: (timeZone: string, atMs: number) => string | null;
}

/** Node, its SQLite and its time zones, the clock, and environment variables that weaken security. */
export function checkRuntime(runtime: Runtime, context: Pick<ResolvedOptions, 'env' | 'now'>): readonly DoctorCheck[] {
  const tls = checkTlsEnvironment(context.env);
  return [
    checkNode(runtime),
    found('handbill', 'ok', `handbill ${runtime.handbill}`),
    checkZones(runtime),
    checkYear(context.now()),
    tls === null ? found('certificates', 'ok', 'Certificates are verified.') : asCheck('certificates', tls),
  ];
}

function checkNode({ node, sqlite }: Runtime): DoctorCheck {
  const hint = 'Run handbill with Node.js 24 in its newest version.';
  if (!isAtLeast(node, [24])) {
    return found('node', 'problem', `Node.js ${node} is older than handbill needs (24).`, {
      code: 'runtime-too-old',
      hint,
    });
  }
  if (!isAtLeast(sqlite, [3, 51, 3])) {
    const message = `Node.js ${node} brings SQLite ${sqlite}; the ledger needs 3.51.3 or newer.`;
    return found('node', 'problem', message, { code: 'ledger-unusable', hint });
  }
  return found('node', 'ok', `Node.js ${node} with SQLite ${sqlite}`);
}

/** Known offsets: a build of Node with few or no time zones knows only UTC, and would shift every window. */
const KNOWN_OFFSETS = [
  ['Europe/London', Date.UTC(2026, 0, 1), 'GMT+00:00'],
  ['Europe/London', Date.UTC(2026, 6, 1), 'GMT+01:00'],
  ['Australia/Lord_Howe', Date.UTC(2026, 6, 1), 'GMT+10:30'],
] as const;

function checkZones({ offsetAt }: Runtime): DoctorCheck {
  const wrong = KNOWN_OFFSETS.find(([zone, atMs, offset]) => offsetAt(zone, atMs) !== offset);
  if (wrong === undefined) return found('time-zones', 'ok', 'Time zones and their summer times are known.');
  const hint = 'Use a build of Node.js with full ICU data, and leave NODE_ICU_DATA unset.';
  const message = `This Node.js does not know what time it is in ${wrong[0]}: windows and schedules would be wrong.`;
  return found('time-zones', 'problem', message, { code: 'invalid-time-zone', hint });
}

/** No clock that runs correctly is before this version of handbill, or a hundred years after it. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
const LATEST_MS = Date.UTC(2126, 0, 1);

function checkYear(nowMs: number): DoctorCheck {
  const shown = iso(nowMs);
  if (nowMs >= EARLIEST_MS && nowMs < LATEST_MS) return found('clock', 'ok', `The clock says ${shown}.`);
  return found('clock', 'problem', `The clock says ${shown}, which cannot be.`, { code: 'clock', hint: SET_CLOCK });
}

const SET_CLOCK = 'Set the clock, and let a time server keep it.';
