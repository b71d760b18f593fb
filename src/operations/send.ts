import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { isGone, type LedgerError } from '../ledger/ledger-error.ts';
import { createMemory, type Memory } from '../run/memory.ts';
import { againMs, TIMERS } from '../run/timers.ts';
import { durationMs } from '../util/units.ts';
import { sendOnce } from './send-once.ts';
import type { SendOptions } from './send-options.ts';
import type { SendResult } from './send-result.ts';

export type { SendOptions } from './send-options.ts';

/** A server that is started again, or a replica that takes over, is back by then. */
const LEDGER_WAIT_MS = 60_000;

/** What one start came to. */
type Tried = { readonly result: SendResult } | { readonly error: unknown };

/**
 * Sends a campaign, or continues what an earlier start left: the whole pipeline. Nothing is posted unless everything
 * was checked; no recipient is posted to twice. If a shared ledger is lost in the middle, nothing more is posted; when
 * it is back, the run continues as another start would.
 *
 * @throws HandbillError exit 2 (refused before any request), 6 (another process holds this run), 7 (ledger), 130
 *   (interrupted before any request)
 */
export async function send(target: string, given: SendOptions): Promise<SendResult> {
  const options = withEachNoticeOnce(given);
  const memory = createMemory();
  const patience = createPatience(options);
  let end = await tried(sendOnce(target, options, memory));
  let posted = 0;
  for (let loss = lossOf(end, options, memory); loss !== null; ) {
    if (!(await patience.wait(loss))) break;
    posted = postedIn(memory);
    const { recalls } = memory;
    const next = await tried(sendOnce(target, onceMore(options, memory), memory));
    if (memory.recalls === recalls && 'error' in next && isAbsent(next.error)) continue;
    // A server that is back and fails again at once still counts as the same loss.
    if (postedIn(memory) > posted) patience.isOver();
    end = next;
    loss = lossOf(end, options, memory);
  }
  if ('error' in end) throw end.error;
  const { result } = end;
  return posted === 0 ? result : { ...result, started: true, posted: posted + result.posted };
}

/** Each opening of the connections, of which a start has several, may come to say the same. */
function withEachNoticeOnce(options: SendOptions): SendOptions {
  const { onNotice } = options;
  if (onNotice === undefined) return options;
  const said = new Set<string>();
  return {
    ...options,
    onNotice(notice) {
      if (!said.has(notice.message)) onNotice(notice);
      said.add(notice.message);
    },
  };
}

function postedIn({ last }: Memory): number {
  return last?.memory.posted ?? 0;
}

async function tried(start: Promise<SendResult>): Promise<Tried> {
  try {
    return { result: await start };
  } catch (error) {
    return { error };
  }
}

/** What ended a start that had begun to send, where that may be over soon; null: nothing did, or something else. */
function lossOf(end: Tried, { limit, workers }: SendOptions, memory: Memory): LedgerError | null {
  // With a limit that workers share, this process cannot know how much of it is left.
  if (memory.last === null || (limit !== undefined && workers === true)) return null;
  const error = 'error' in end ? end.error : end.result.ledgerError;
  return isGone(error) ? error : null;
}

/** To the server, a process that was cut off holds its run for some seconds still. */
function isAbsent(error: unknown): boolean {
  return isGone(error) || (error instanceof HandbillError && error.exit === EXIT.locked);
}

/** The same start once more: what was asked is answered, and what was done at its beginning is done. */
function onceMore({ onWarnings: _said, ...options }: SendOptions, { last }: Memory): SendOptions {
  const { run, memory } = last ?? unreachable();
  return {
    ...options,
    occurrence: run.occurrence,
    newLedger: false,
    amend: false,
    retryRejected: false,
    resendChanged: false,
    confirm: async () => true,
    ...(options.limit === undefined ? {} : { limit: Math.max(0, options.limit - memory.recipients) }),
  };
}

function unreachable(): never {
  throw new Error('a start that was lost is remembered');
}

interface Patience {
  /** Waits until it is worth another try; false: it has waited long enough, or was interrupted. */
  wait(loss: LedgerError): Promise<boolean>;
  /** The ledger was there, and was sent from: the next loss is another one. */
  isOver(): void;
}

/** @throws HandbillError (exit 2): HANDBILL_LEDGER_WAIT is no time */
function createPatience({ env, interrupt, onLedger, timers = TIMERS }: SendOptions): Patience {
  const waitMs = waitOf(env['HANDBILL_LEDGER_WAIT']);
  const interrupted = interrupt ?? new AbortController().signal;
  let until: number | null = null;
  let tries = 0;
  return {
    async wait(error) {
      if (waitMs === 0 || interrupted.aborted) return false;
      if (until === null) {
        until = TIMERS.monotonicMs() + waitMs;
        tries = 0;
        onLedger?.({ kind: 'lost', error, waitMs });
      }
      if (TIMERS.monotonicMs() >= until) return false;
      await timers.sleep(againMs(tries), interrupted);
      tries += 1;
      return !interrupted.aborted;
    },
    isOver() {
      until = null;
    },
  };
}

function waitOf(said: string | undefined): number {
  const waitMs = said === undefined || said === '' ? LEDGER_WAIT_MS : said === '0' ? 0 : durationMs(said);
  if (waitMs !== null) return waitMs;
  const hint = 'Write it as 60s or 5m; 0: it is not waited for.';
  throw refuse(problem('usage', `HANDBILL_LEDGER_WAIT is no time: ${said}.`, { hint }));
}
