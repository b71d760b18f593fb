import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import { countUnreached, isFinal, openDeliveries } from './deliveries.ts';
import { PAUSE_LOOK_MS } from './pause.ts';
import { triedIn } from './progress.ts';
import type { Pass, RunEnd } from './run.ts';
import type { PreparedStart } from './start.ts';
import { TIMERS } from './timers.ts';

/** Longest sleep: a machine that slept, or a clock that was set, is noticed after this time. */
const SLICE_MS = 15_000;

/** Waits until the wall clock shows an instant, or a person paused the run; false where it was interrupted before. */
async function waitUntil(atMs: number, start: PreparedStart, run: RunRecord): Promise<boolean> {
  const { ledger, now, interrupt, sleep = start.timers?.sleep ?? TIMERS.sleep, pauseLookMs = PAUSE_LOOK_MS } = start;
  for (;;) {
    if (interrupt.aborted) return false;
    const leftMs = atMs - now();
    // The next pass halts where the run is paused.
    if (leftMs <= 0 || ledger.pauseOf(run) !== null) return true;
    await sleep(Math.min(leftMs, pauseLookMs, SLICE_MS), interrupt);
  }
}

export type SendPass = (pass: Pass) => Promise<RunEnd>;

/**
 * Starts a run, and again whenever the next window opens for waiting recipients. Keeps lock and ledger meanwhile; each
 * pass has its own connections to the API. A halt, a signal, or anything else that ends a pass ends it all.
 * @param first - its limit holds for all passes
 */
export async function sendRounds(first: Pass, start: PreparedStart, sendPass: SendPass): Promise<RunEnd> {
  let left = first.limit;
  let end = await sendPass(first);
  const { recovered } = end;
  let posted = (first.posted ?? 0) + end.posted;
  while (start.wait === true && isGoing(end) && end.opensAtMs !== null) {
    // Not requests: several recipients may share one, and one may have had several.
    if (left !== null) left -= triedIn(end.figures.finished);
    if (left !== null && left <= 0) break;
    end.figures.waits = { why: 'window', untilMs: end.opensAtMs };
    start.onEvent?.({ kind: 'waits', untilMs: end.opensAtMs });
    if (!(await waitUntil(end.opensAtMs, start, end.run))) break;
    end = await sendPass({ run: end.run, limit: left, posted });
    posted += end.posted;
  }
  return { ...end, posted, recovered };
}

/** Nothing ended it. A run is also finished while a fallback waits that a report made due: the message is accepted. */
function isGoing({ state, ledgerError }: RunEnd): boolean {
  return (state === 'partial' || state === 'finished') && ledgerError === null;
}

export interface Reporters {
  /** By the monotonic clock in ms; null: nothing has come in. */
  lastEventMs(): number | null;
  /** No more events will come, whatever is open: the sandbox has sent all of its events. Null: not known. */
  readonly isDone: (() => boolean) | null;
  /** How long to wait for the next event, in ms, while messages are without a final state. */
  readonly forMs: number;
  /** Why nothing more can be stored. */
  failure(): Error | null;
}

/** Poll interval while waiting for reports. */
const LOOK_MS = 200;

/** Once every message has its final state, answers may still come. */
const AFTER_LAST_MS = 5_000;

/**
 * `sendRounds`, then waits for delivery reports and replies: until every accepted message has a final state, or no
 * event has come in for a given time. Fallbacks that reports made due go out in another pass, after which it waits
 * again. It does not wait after a halt or an interrupt.
 * @param joinReplies - finds out which messages were answered, for callers that count replies
 */
export async function sendListening(
  run: RunRecord,
  start: PreparedStart,
  sendPass: SendPass,
  reporters: Reporters,
  joinReplies: () => Promise<unknown>,
): Promise<RunEnd> {
  const { ledger, interrupt, plan } = start;
  let left = start.limit ?? null;
  const counted: SendPass = async (pass) => {
    const ended = await sendPass(pass);
    if (left !== null) left -= triedIn(ended.figures.finished);
    return ended;
  };
  let end = await sendRounds({ run, limit: left, posted: null }, start, counted);
  const { recovered } = end;
  while (isGoing(end) && !interrupt.aborted) {
    await stay(end, start, reporters);
    const ledgerError = reporters.failure();
    if (ledgerError !== null) return { ...end, recovered, ledgerError };
    await joinReplies();
    if (interrupt.aborted || countUnreached(ledger, end.run, plan.campaign, start.now()) === 0) break;
    if (left !== null && left <= 0) break;
    const before: number = end.posted;
    end = await sendRounds({ run: end.run, limit: left, posted: before }, start, counted);
    // Rules hold back the fallbacks that are left: the recipient's window is closed, or the recipient opted out.
    if (end.posted === before) break;
  }
  return { ...end, recovered };
}

async function stay(end: RunEnd, start: PreparedStart, reporters: Reporters): Promise<void> {
  const { ledger, interrupt, now, timers = TIMERS, sleep = timers.sleep } = start;
  const beganMs = timers.monotonicMs();
  const isAnyOpen = openMessages(ledger, end.run);
  for (;;) {
    const quietMs = timers.monotonicMs() - Math.max(beganMs, reporters.lastEventMs() ?? beganMs);
    if (interrupt.aborted || reporters.failure() !== null) break;
    if (reporters.isDone !== null) {
      if (reporters.isDone()) break;
    } else if (quietMs >= reporters.forMs || (quietMs >= AFTER_LAST_MS && !isAnyOpen())) break;
    end.figures.waits = { why: 'reports', untilMs: now() + reporters.forMs - quietMs };
    await sleep(LOOK_MS, interrupt);
  }
  end.figures.waits = null;
}

/**
 * Whether a message has no final state. Checks only the first one without, until it has one: all messages together cost
 * one scan.
 */
function openMessages(ledger: Ledger, run: RunRecord): () => boolean {
  const batches = ledger.outcomes(run, { outcomes: ['accepted'] })[Symbol.iterator]();
  let batch = batches.next();
  let at = 0;
  return () => {
    const deliveries = openDeliveries(ledger, run);
    for (let pages = 0; batch.done !== true; pages += 1) {
      // Lets the process answer webhooks.
      if (pages === PAGES_AT_ONCE) return true;
      while (at < batch.value.length) {
        const ahead = batch.value.slice(at, at + AT_ONCE);
        const open = (deliveries?.join(ahead) ?? ahead).findIndex(({ delivery = null }) => !isFinal(delivery));
        at += open === -1 ? ahead.length : open;
        if (open !== -1) return true;
      }
      batch = batches.next();
      at = 0;
    }
    return false;
  };
}

const PAGES_AT_ONCE = 5;
const AT_ONCE = 100;
