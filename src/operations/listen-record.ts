import { EXIT, HandbillError, problem } from '../errors.ts';
import type { Recorded } from '../ledger/event-records.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { WebhookEvent } from '../model.ts';
import { settleByReports } from '../run/evidence.ts';
import type { Record } from '../webhook/receive-group.ts';

/** Holds events in a ledger, and knows when that is over. */
export interface Recorder {
  readonly record: Record;
  /** Resolves with what is wrong when the ledger can be written no more. */
  readonly failed: Promise<HandbillError>;
  /** Does what is still to do. */
  finish(): void;
}

interface RecorderFacts {
  readonly now: () => number;
  readonly startLifts: boolean;
  readonly onRecorded: (recorded: Recorded) => void;
  readonly log: (line: string) => void;
}

/** Doubts are looked at so long after a report: while reports stream in, once a second is soon enough. */
const SETTLE_AFTER_MS = 1_000;

/** Where that takes long, less often: a report that quotes a text is compared with every list. */
const SETTLE_SHARE = 20;

/**
 * Holds events, and ends the doubts that reports speak of.
 *
 * Whether a failure passes: another process holds the ledger, or the disk is full. Then senders are told to come again,
 * and the next group is tried as if nothing had been. After anything else nothing more is written.
 */
export function recorderOf(
  ledger: Pick<Ledger, 'events'>,
  { now, startLifts, onRecorded, log }: RecorderFacts,
): Recorder {
  let fail: (error: HandbillError) => void = () => undefined;
  const failed = new Promise<HandbillError>((resolve) => {
    fail = resolve;
  });
  let isTroubled = false;
  let settling: NodeJS.Timeout | null = null;
  let settleAfterMs = SETTLE_AFTER_MS;
  const settle = (): void => {
    settling = null;
    const beganMs = performance.now();
    try {
      const count = settleByReports(ledger, now());
      if (count > 0) log(`${count} ${count === 1 ? 'doubt' : 'doubts'} settled by reports`);
    } catch (error) {
      // The next start of a run does the same: what matters is whether events can be held.
      if (isAboutEvents(error)) log(`doubts are not settled, by a bug: ${nameOf(error)}`);
      else if (!passes(error)) fail(asHandbillError(error));
    }
    settleAfterMs = Math.max(SETTLE_AFTER_MS, SETTLE_SHARE * (performance.now() - beganMs));
  };
  const hold = (events: readonly WebhookEvent[], environment: string): Recorded =>
    ledger.events.record(events, { nowMs: now(), source: 'webhook', environment, startLifts });
  return {
    failed,
    finish() {
      if (settling === null) return;
      clearTimeout(settling);
      settle();
    },
    record(group, environment) {
      try {
        const recorded = store(group, (events) => hold(events, environment), log);
        if (isTroubled) log('stored again');
        isTroubled = false;
        if (recorded.some(({ reports }) => reports > 0)) settling ??= setTimeout(settle, settleAfterMs).unref();
        recorded.forEach(onRecorded);
      } catch (error) {
        if (!passes(error)) fail(asHandbillError(error));
        else if (!isTroubled) log(`not stored: ${error.message}`);
        isTroubled = true;
        // The group is on the disk; only what comes after it could not be.
        if (error instanceof LedgerError && error.recorded) return;
        throw error;
      }
    },
  };
}

/** One event that the ledger does not take must not keep others out of it, nor come again for ever. */
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

/** A message could hold what somebody sent. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** Whether the ledger is sound, and what it was given is not: a bug in reading events. */
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
  const message = error instanceof Error ? error.message : String(error);
  return new HandbillError(EXIT.bug, [problem('bug', `Events could not be stored: ${message}.`)]);
}
