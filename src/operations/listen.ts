import { onlyEnvironment } from '../campaign/environments.ts';
import { type Diagnostic, EXIT, HandbillError, problem, thrownText, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isGone, LedgerError } from '../ledger/ledger-error.ts';
import { openLedger } from '../ledger/open.ts';
import type { Recorded } from '../ledger/records.ts';
import type { StopEnds, WebhookEvent } from '../model.ts';
import { environmentOf } from '../plan/plan.ts';
import { resolveByReports } from '../send/deliveries.ts';
import { againMs, TIMERS } from '../send/timers.ts';
import { isLoopback } from '../util/base-url.ts';
import { closedBy } from '../util/closing.ts';
import { DEFAULT_HOST, DEFAULT_PORT, startReceiver } from '../webhook/receive.ts';
import { type OptionsOf, type OptionTable, PORT, type ProjectOptions, withDefaults } from './options.ts';
import { addressTest, joinReplies, projectHere } from './project.ts';
import { readSenders } from './senders.ts';
import { unassignedOptOuts } from './warnings.ts';

export const LISTEN = {
  port: { flag: '--port <port>', says: 'TCP port; 0 takes a free one', range: PORT, preset: DEFAULT_PORT },
  host: {
    flag: '--host <address>',
    says: 'address to listen on; a proxy with TLS belongs before it',
    kind: 'host',
    preset: DEFAULT_HOST,
  },
  environment: {
    flag: '--env <name>',
    says: 'environment of requests to the path itself, or of the payload',
    inHelp: ' (default: HANDBILL_ENV, else the only one of handbill.yaml)',
    more: 'Each environment with a `webhook` also has a path of its name: `/webhooks/production`.',
    without: 'the only one beside the sandbox; where there are several, nothing is received there',
    kind: 'only-environment',
  },
} as const satisfies OptionTable;

/** Address, port and environment of a receiver. */
export interface ListenOptions extends ProjectOptions, OptionsOf<typeof LISTEN> {
  /** Closes it: what has come in is held and answered first. Default: only `close` does. */
  readonly signal?: AbortSignal;
  /** Called when a group of events is on the disk, with those that are new. */
  readonly onRecorded?: (recorded: Recorded) => void;
  /** Called with a line for what was refused or could not be stored; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

export interface Listening extends AsyncDisposable {
  /** URL for senders, such as `http://127.0.0.1:4011/webhooks`; with the scheme `path`, without the secret. */
  readonly url: string;
  readonly port: number;
  /** The environment of the events posted to that URL; null: nothing is received there. */
  readonly environment: string | null;
  /** Those that are received for: each has its own URL, which ends in its name. */
  readonly environments: readonly string[];
  /** Path of the ledger that holds the events. */
  readonly ledger: string;
  /** Weaknesses in the protection of these webhooks. */
  readonly warnings: readonly Diagnostic[];
  /**
   * Resolves when `close` or the signal closed it. Rejects with a HandbillError (exit 7) when the ledger can no longer
   * be written: it then receives nothing more, and the caller must still call `close`.
   */
  readonly closed: Promise<void>;
  /** Takes nothing new, and resolves when what has come in is held and answered. */
  close(): Promise<void>;
}

/**
 * `handbill listen`: receives delivery reports and replies, and holds them in the ledger before it answers.
 *
 * @throws HandbillError exit 2 where handbill.yaml does not say how, a secret is missing or the port is taken; 7 (ledger)
 */
export async function listen(options: ListenOptions = {}): Promise<Listening> {
  const asked = withDefaults(options, LISTEN);
  const { env, now, host = DEFAULT_HOST, port = DEFAULT_PORT } = asked;
  const reading = projectHere(asked);
  const { project } = reading;
  const { path, replies } = project.webhook;
  const environment =
    asked.environment === undefined ? onlyEnvironment(project) : environmentOf({ project }, asked.environment).name;
  const { senders, alsoIn, diagnostics, patienceMs } = await readSenders(reading, environment, env);
  // The other half is for the way, and for requests that wait.
  const busyTimeoutMs = Math.min(BUSY_TIMEOUT_MS, patienceMs / 2);
  const { onRecorded = () => undefined, log = () => undefined } = asked;
  const store = openEventStore({
    open: () => openLedger(project.ledger, { mode: 'write', nowMs: now(), busyTimeoutMs }),
    now,
    ...replies,
    isAddress: addressTest(reading),
    alsoIn,
    onRecorded,
    log,
  });
  try {
    const running = await startReceiver({
      path,
      senders,
      environment,
      record: store.record,
      port,
      host,
      now,
      ...(asked.log === undefined ? {} : { log: asked.log }),
    });
    const stop = async (): Promise<void> => {
      await running.close();
      await store.close();
    };
    return {
      url: running.url,
      port: running.port,
      ledger: store.path,
      environment,
      environments: [...senders.keys()],
      warnings: [...diagnostics, ...hostWarnings(host)],
      ...closedBy(stop, asked.signal, store.failed),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * A sender commits in milliseconds; if the ledger is locked for longer, providers retry. Waiting blocks the process.
 */
const BUSY_TIMEOUT_MS = 5_000;

function hostWarnings(host: string): readonly Diagnostic[] {
  if (isLoopback(host)) return [];
  const message = `Other machines reach ${host}, and nothing that they send is encrypted: handbill speaks plain HTTP.`;
  return [warning('weak-webhook', message, { hint: 'Put a proxy with TLS before it, and leave --host as it is.' })];
}

const NOTHING_NEW: Recorded = {
  reports: 0,
  replies: 0,
  unread: 0,
  known: 0,
  suppressed: [],
  lifted: [],
  unassigned: [],
};

/** On loss of a shared ledger, opens it again. Throws exit 7: it cannot be opened. */
function openEventStore({ open, ...facts }: RecorderFacts & { readonly open: () => Ledger }) {
  const { onRecorded, log } = facts;
  const { promise: failed, resolve: fail } = Promise.withResolvers<HandbillError>();
  const closing = new AbortController();
  let returning: Promise<void> = Promise.resolve();

  const begin = () => {
    const ledger = open();
    const onSuppressed = (suppressed: readonly string[]): void => onRecorded({ ...NOTHING_NEW, suppressed });
    const joiner = createIdleJoiner(ledger, { ...facts, onSuppressed });
    const recorder = recorderOf(ledger, {
      ...facts,
      onRecorded(recorded) {
        if (recorded.replies > 0) joiner.noticed();
        onRecorded(recorded);
      },
    });
    void recorder.failed.then((error) => {
      if (ledger.history === null || !isGone(error)) fail(error);
      else if (!closing.signal.aborted) returning = comeBack(ledger, joiner);
    });
    return { ledger, recorder, joiner };
  };
  const comeBack = async (ledger: Ledger, joiner: IdleJoiner): Promise<void> => {
    current = null;
    log('the ledger is lost: handbill asks senders to try again later, and tries to open it again');
    await joiner.close();
    ledger.close();
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      await TIMERS.sleep(againMs(tries), closing.signal);
      if (closing.signal.aborted) return;
      try {
        current = begin();
        log('the ledger is back');
        return;
      } catch (error) {
        if (isGone(error)) continue;
        if (!(error instanceof HandbillError)) throw error;
        fail(error);
        return;
      }
    }
  };

  const first = begin();
  let current: typeof first | null = first;
  return {
    path: first.ledger.path,
    failed,
    /** Rejects while the ledger is gone: senders retry. */
    async record(events: readonly WebhookEvent[], environment: string): Promise<void> {
      if (current === null) throw new Error('the ledger is gone');
      await current.recorder.record(events, environment);
    },
    async close(): Promise<void> {
      closing.abort();
      await returning;
      if (current === null) return;
      current.recorder.finish();
      await current.joiner.close();
      current.ledger.close();
    },
  };
}

interface RecorderFacts extends Pick<IdleFacts, 'now' | 'startLifts' | 'stopEnds' | 'log'> {
  /** Whether an opt-out from there can be put on the suppression list. */
  readonly isAddress: (written: string) => boolean;
  /** Other environments that a sender of this one may report for. Default: none. */
  readonly alsoIn?: (environment: string) => readonly string[];
  readonly onRecorded: (recorded: Recorded) => void;
}

/** The delay between a report and the check of doubts: while reports stream in, once a second is soon enough. */
const SETTLE_AFTER_MS = 1_000;
/** Where that takes long, less often: a report that quotes a text is compared with every list. */
const SETTLE_SHARE = 20;

/**
 * Records events, and resolves the doubts that reports are about. If another process holds the ledger, or the disk is
 * full, senders are asked to retry, and the next group is recorded. After any other failure nothing more is written.
 */
export function recorderOf(
  ledger: Ledger,
  { now, startLifts, stopEnds, isAddress, alsoIn = () => [], onRecorded, log }: RecorderFacts,
) {
  const { promise: failed, resolve: fail } = Promise.withResolvers<HandbillError>();
  let isTroubled = false;
  let resolving: NodeJS.Timeout | null = null;
  let resolveAfterMs = SETTLE_AFTER_MS;
  const resolve = (): void => {
    resolving = null;
    const beganMs = performance.now();
    try {
      const count = resolveByReports(ledger, now());
      if (count > 0) log(`${count} ${count === 1 ? 'doubt' : 'doubts'} resolved by reports`);
    } catch (error) {
      // The next start of a run resolves them too; the receiver must go on.
      if (isAboutEvents(error)) log(`doubts are not resolved, by a bug: ${nameOf(error)}`);
      else if (!passes(error)) fail(asHandbillError(error));
    }
    resolveAfterMs = Math.max(SETTLE_AFTER_MS, SETTLE_SHARE * (performance.now() - beganMs));
  };
  const hold = (events: readonly WebhookEvent[], environment: string): Recorded => {
    const facts = { environment, alsoIn: alsoIn(environment), startLifts, stopEnds, isAddress };
    return ledger.events.record(events, { nowMs: now(), source: 'webhook', ...facts });
  };
  return {
    /** Resolves when the ledger can no longer be written. */
    failed,
    finish(): void {
      if (resolving === null) return;
      clearTimeout(resolving);
      resolve();
    },
    /** Stores all of the events or none. */
    record(group: readonly WebhookEvent[], environment: string): void {
      try {
        const recorded = store(group, (events) => hold(events, environment), log);
        if (isTroubled) log('stored again');
        isTroubled = false;
        if (recorded.some(({ reports }) => reports > 0)) resolving ??= setTimeout(resolve, resolveAfterMs).unref();
        for (const one of recorded) {
          onRecorded(one);
          const trouble = unassignedOptOuts(one.unassigned);
          if (trouble !== null) log(trouble);
        }
      } catch (error) {
        if (!passes(error)) fail(asHandbillError(error));
        else if (!isTroubled) log(`not stored: ${error.message}`);
        isTroubled = true;
        // The events are on the disk; only later work failed.
        if (error instanceof LedgerError && error.recorded) return;
        throw error;
      }
    },
  };
}

/** One event that the ledger does not accept must not keep others out of it, nor be retried without end. */
function store(
  group: readonly WebhookEvent[],
  hold: (events: readonly WebhookEvent[]) => Recorded,
  log: (line: string) => void,
): readonly Recorded[] {
  try {
    return [hold(group)];
  } catch (error) {
    if (!isAboutEvents(error)) throw error;
  }
  return group.map((event) => {
    try {
      return hold([event]);
    } catch (error) {
      if (event.kind === 'unread' || !isAboutEvents(error)) throw error;
      log(`an event is kept unread, by a bug: ${nameOf(error)}`);
      return hold([{ kind: 'unread', body: JSON.stringify(event) }]);
    }
  });
}

function passes(error: unknown): error is LedgerError {
  return error instanceof LedgerError && (error.kind === 'busy' || error.kind === 'full');
}

/** The message of the error could hold text that a sender posted. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** The ledger is sound, but its input is not: a bug in reading events. */
function isAboutEvents(error: unknown): boolean {
  if (!(error instanceof HandbillError)) return true;
  const { cause } = error;
  if (!(error instanceof LedgerError && cause instanceof Error && 'errcode' in cause)) return false;
  return REFUSED_VALUES.has(Number(cause.errcode) & 0xff);
}

/** SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH (https://sqlite.org/rescode.html). */
const REFUSED_VALUES: ReadonlySet<number> = new Set([18, 19, 20]);

function asHandbillError(error: unknown): HandbillError {
  if (error instanceof HandbillError) return error;
  const message = thrownText(error);
  return new HandbillError(EXIT.bug, [problem('bug', `Events could not be stored: ${message}.`)]);
}

/** Looks for the messages of replies while nothing more urgent happens. */
export interface IdleJoiner {
  noticed(): void;
  /** Ends between two steps. */
  close(): Promise<void>;
}

interface IdleFacts {
  readonly now: () => number;
  readonly startLifts: boolean;
  readonly stopEnds: StopEnds;
  readonly onSuppressed: (addresses: readonly string[]) => void;
  /** Called with the reason if it failed; it is tried again when the next reply comes in. */
  readonly log: (line: string) => void;
  /** How long no reply must have come in, and how long it is waited for that at most; in ms. */
  readonly idleMs?: number;
  readonly mostMs?: number;
}

const IDLE_MS = 10_000;
const MOST_MS = 60_000;

/** Replies that an earlier process received, but did not join, are joined too. */
export function createIdleJoiner(
  ledger: { readonly events: Pick<Ledger['events'], 'joinReplies' | 'hasUnjoined'> },
  { now, startLifts, stopEnds, onSuppressed, log, idleMs = IDLE_MS, mostMs = MOST_MS }: IdleFacts,
): IdleJoiner {
  let timer: NodeJS.Timeout | null = null;
  let waitsSinceMs: number | null = null;
  let isClosed = false;
  let work: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    try {
      const { suppressed } = await joinReplies(ledger, { now, startLifts, stopEnds, stopped: () => isClosed });
      if (suppressed.length > 0) onSuppressed(suppressed);
    } catch (error) {
      log(`not looked for what replies answer: ${thrownText(error)}`);
    }
  };
  const begin = (): void => {
    timer = null;
    waitsSinceMs = null;
    work = work.then(look);
  };
  const noticed = (): void => {
    if (isClosed) return;
    const atMs = performance.now();
    waitsSinceMs ??= atMs;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(begin, Math.max(0, Math.min(idleMs, waitsSinceMs + mostMs - atMs)));
    timer.unref();
  };

  if (ledger.events.hasUnjoined()) noticed();
  return {
    noticed,
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await work;
    },
  };
}
