import { HandbillError } from '../errors.ts';
import type { Recorded } from '../ledger/event-records.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isGone } from '../ledger/ledger-error.ts';
import type { WebhookEvent } from '../model.ts';
import { againMs } from '../run/again.ts';
import { TIMERS } from '../run/timers.ts';
import { type Recorder, recorderOf } from './listen-record.ts';
import { createIdleJoiner, type IdleJoiner } from './listen-replies.ts';
import { placelessOptOut } from './placeless.ts';

/** The ledger that events go to; a shared one is waited for where it is lost. */
export interface EventStore {
  /** Rejects while the ledger is gone: senders come again. */
  record(events: readonly WebhookEvent[], environment: string): Promise<void>;
  /** Of the ledger, as people may see it. */
  readonly path: string;
  /** Resolves with what is wrong when nothing more can be stored. */
  readonly failed: Promise<HandbillError>;
  /** Does what is still to do. */
  close(): Promise<void>;
}

interface StoreFacts {
  readonly open: () => Ledger;
  readonly now: () => number;
  readonly startLifts: boolean;
  readonly onRecorded: (recorded: Recorded) => void;
  readonly log: (line: string) => void;
}

interface Opened {
  readonly ledger: Ledger;
  readonly recorder: Recorder;
  readonly joiner: IdleJoiner;
}

const NOTHING_NEW: Recorded = { reports: 0, replies: 0, unread: 0, known: 0, suppressed: [], lifted: [] };

/** @throws HandbillError (exit 7): the ledger cannot be opened */
export function openEventStore({ open, now, startLifts, onRecorded, log }: StoreFacts): EventStore {
  let fail: (error: HandbillError) => void = () => undefined;
  const failed = new Promise<HandbillError>((resolve) => {
    fail = resolve;
  });
  const closing = new AbortController();
  let returning: Promise<void> = Promise.resolve();

  const begin = (): Opened => {
    const ledger = open();
    const onSuppressed = (suppressed: readonly string[]): void => onRecorded({ ...NOTHING_NEW, suppressed });
    const joiner = createIdleJoiner(ledger, { now, startLifts, onSuppressed, log });
    const recorder = recorderOf(ledger, {
      now,
      startLifts,
      onRecorded(recorded) {
        if (recorded.replies > 0) joiner.noticed();
        onRecorded(recorded);
        const trouble = placelessOptOut(recorded.suppressed);
        if (trouble !== null) log(trouble);
      },
      log,
    });
    const opened = { ledger, recorder, joiner };
    void recorder.failed.then((error) => {
      if (ledger.history === null || !isGone(error)) fail(error);
      else if (!closing.signal.aborted) returning = comeBack(opened);
    });
    return opened;
  };
  const comeBack = async ({ ledger, joiner }: Opened): Promise<void> => {
    current = null;
    log('the ledger is lost: senders are told to come again, and it is tried again');
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
  let current: Opened | null = first;
  return {
    path: first.ledger.path,
    failed,
    async record(events, environment) {
      if (current === null) throw new Error('the ledger is gone');
      await current.recorder.record(events, environment);
    },
    async close() {
      closing.abort();
      await returning;
      if (current === null) return;
      current.recorder.finish();
      await current.joiner.close();
      current.ledger.close();
    },
  };
}
