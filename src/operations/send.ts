import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { isGone, type LedgerError } from '../ledger/ledger-error.ts';
import { type Allowable, LEDGER_CODES } from '../model.ts';
import { type AnyPlanFile, isStanding } from '../plan/plan-file.ts';
import type { OnEvent } from '../send/event.ts';
import { createMemory, type Memory } from '../send/memory.ts';
import type { Figures } from '../send/progress.ts';
import { againMs, TIMERS } from '../send/timers.ts';
import type { Meter } from '../util/long-work.ts';
import { startTask, type Task } from '../util/task.ts';
import { iso } from '../util/time.ts';
import { durationMs } from '../util/units.ts';
import { asker, checkAllow, checkNumbers, PORT, present, resolveOptions } from './options.ts';
import { type StartOptions, type StartResult, sendOnce, toSendResult } from './send-once.ts';
import { SEND, type SendOptions, type SendProgress, type SendResult } from './send-options.ts';
import { changedWarning, ledgerText } from './warnings.ts';

/**
 * `handbill send`: sends a campaign, or continues what an earlier start left. Nothing is posted unless everything was
 * checked; no recipient is posted to twice. Await it for the result, or loop over it to see how far it is.
 *
 * Several campaigns can be sent at once in one process. What goes wrong for a recipient is in the report.
 *
 * @param target - a campaign file, its folder, or its name; or a plan file, of which any change of its inputs is
 * refused
 * @throws HandbillError exit 2 (refused before any request), 6 (another process holds this run), 7 (the ledger cannot
 *   be used), 130 (stopped before any request)
 */
export function send(target: string | AnyPlanFile, options: SendOptions = {}): Task<SendProgress, SendResult> {
  let live: { readonly round: number; readonly figures: Readonly<Figures> } | null = null;
  let said = '';
  const showChange = (show: (progress: SendProgress) => void): void => {
    if (live === null) return;
    const { toDo, posted, retried, finished, waits } = live.figures;
    const waiting = waits === null ? null : { why: waits.why, until: iso(waits.untilMs) };
    const progress = { round: live.round, toDo, posted, retried, outcomes: { ...finished }, waits: waiting };
    const text = JSON.stringify(progress);
    if (text === said) return;
    said = text;
    show(progress);
  };
  return startTask<SendProgress, SendResult>(
    async ({ show, signal }) => {
      const onEvent: OnEvent = (event) => {
        if (event.kind === 'sending') live = { figures: event.figures, round: (live?.round ?? 0) + 1 };
        options.onEvent?.(event);
      };
      const result = await prepareAndSend(target, { ...options, signal, onEvent });
      showChange(show);
      return result;
    },
    {
      signal: options.signal,
      newestOnly: true,
      watch(show) {
        const timer = setInterval(showChange, options.progressEveryMs ?? EVERY_MS, show);
        return () => clearInterval(timer);
      },
    },
  );
}

const EVERY_MS = 250;

async function prepareAndSend(
  given: string | AnyPlanFile,
  options: SendOptions & { readonly onEvent: OnEvent },
): Promise<SendResult> {
  const { confirm, listen, log, plan: standing = null, progressEveryMs: _every, ...rest } = options;
  const planFile = typeof given === 'string' ? standing : given;
  const target = typeof given === 'string' ? given : given.campaign.file;
  const { environment = planFile?.environment ?? 'sandbox' } = options;
  const meter: Meter = { done: 0, total: 0 };
  options.onEvent({ kind: 'begins', target, environment, meter });
  checkNumbers(options, SEND);
  if (listen !== undefined) {
    checkNumbers(listen, { port: { range: PORT }, forMs: { range: [0, Number.MAX_SAFE_INTEGER] } });
  }
  checkAllow(options);
  // A plan names the environment that it was made for; no option may name another one.
  if (planFile !== null && environment !== planFile.environment) {
    const message = `The plan was made for environment "${planFile.environment}", not "${environment}".`;
    throw refuse(problem('usage', message));
  }
  const warnings: Diagnostic[] = [];
  const result = await sendUntilDone(target, {
    ...(planFile === null ? {} : { ...writtenIn(planFile), planFile }),
    ...present(rest),
    ...resolveOptions(options),
    allow: [...(planFile?.version === 1 ? planFile.allow : []), ...(options.allow ?? [])],
    ...(listen === undefined ? {} : { listen: present(listen) }),
    confirm: confirm === true ? async ({ allows }) => allows.length === 0 : asker(confirm),
    meter,
    onEvent(event) {
      if (event.kind === 'warnings') warnings.push(...event.warnings);
      if (event.kind === 'notice') {
        // Each opening of the connections, of which a start has several, may come to say the same.
        if (warnings.some(({ message }) => message === event.notice.message)) return;
        warnings.push(event.notice);
      }
      const text = ledgerText(event);
      if (text !== null) log?.(text.trimEnd());
      options.onEvent(event);
    },
  });
  const sent = toSendResult(result, [...warnings, ...changedWarning(result.report)]);
  options.onEvent({ kind: 'ended', ...sent });
  return sent;
}

function writtenIn(planFile: AnyPlanFile) {
  if (isStanding(planFile)) return { environment: planFile.environment };
  const { environment, occurrence, recipients } = planFile;
  return { environment, occurrence, ...(recipients === null ? {} : { recipients }) };
}

/** A server that is started again, or a replica that takes over, is back by then. */
const LEDGER_WAIT_MS = 60_000;

type Tried = { readonly result: StartResult } | { readonly error: unknown };

/** Starts again each time a lost shared ledger is back; until then nothing is posted. */
async function sendUntilDone(target: string, options: StartOptions): Promise<StartResult> {
  const memory = createMemory();
  const patience = createPatience(options);
  let end = await tried(sendOnce(target, options, memory));
  let posted = 0;
  for (let loss = lossOf(end, options, memory); loss !== null; ) {
    if (!(await patience.wait(loss))) break;
    posted = postedIn(memory);
    const { recalls } = memory;
    const next = await tried(sendOnce(target, onceMore(options, memory), memory));
    // To the server, a process that was cut off holds its run for some seconds still.
    const error = 'error' in next ? next.error : null;
    const isAbsent = isGone(error) || (error instanceof HandbillError && error.exit === EXIT.locked);
    if (memory.recalls === recalls && isAbsent) continue;
    // A server that is back and fails again at once still counts as the same loss.
    if (postedIn(memory) > posted) patience.isOver();
    end = next;
    loss = lossOf(end, options, memory);
  }
  if ('error' in end) throw end.error;
  const { result } = end;
  return posted === 0 ? result : { ...result, started: true, posted: posted + result.posted };
}

function postedIn({ last }: Memory): number {
  return last?.posted ?? 0;
}

async function tried(start: Promise<StartResult>): Promise<Tried> {
  try {
    return { result: await start };
  } catch (error) {
    return { error };
  }
}

/** The error of a start that had begun to send, if it may pass soon; null: none, or another error. */
function lossOf(end: Tried, { limit, workers }: StartOptions, memory: Memory): LedgerError | null {
  // With a limit that workers share, this process cannot know how much of it is left.
  if (memory.last === null || (limit !== undefined && workers === true)) return null;
  const error = 'error' in end ? end.error : end.result.ledgerError;
  return isGone(error) ? error : null;
}

/** The same start once more: what was asked is answered, and what was done at its beginning is done. */
function onceMore({ retry: _done, ...options }: StartOptions, { last }: Memory): StartOptions {
  if (last === null) throw new Error('a start that was lost is remembered');
  const { run, recipients } = last;
  return {
    ...options,
    occurrence: run.occurrence,
    allow: (options.allow ?? []).filter((code) => !DONE_AT_FIRST.includes(code)),
    confirm: async () => true,
    onEvent(event) {
      if (event.kind !== 'warnings') options.onEvent?.(event);
    },
    ...(options.limit === undefined ? {} : { limit: Math.max(0, options.limit - recipients) }),
  };
}

/** Codes that the first start has applied already. */
const DONE_AT_FIRST: readonly Allowable[] = ['input-changed', ...LEDGER_CODES];

/** @throws HandbillError (exit 2): HANDBILL_LEDGER_WAIT is no time */
function createPatience({ env, signal, onEvent, timers = TIMERS }: StartOptions) {
  const said = env['HANDBILL_LEDGER_WAIT'] ?? '';
  const waitMs = said === '' ? LEDGER_WAIT_MS : said === '0' ? 0 : durationMs(said);
  if (waitMs === null) {
    const hint = 'Write it as 60s or 5m; 0: it is not waited for.';
    throw refuse(problem('usage', `HANDBILL_LEDGER_WAIT is no time: ${said}.`, { hint }));
  }
  const interrupted = signal ?? new AbortController().signal;
  let until: number | null = null;
  let tries = 0;
  return {
    /** Waits until it is worth another try; false: it has waited long enough, or was interrupted. */
    async wait(error: LedgerError): Promise<boolean> {
      if (waitMs === 0 || interrupted.aborted) return false;
      if (until === null) {
        until = TIMERS.monotonicMs() + waitMs;
        tries = 0;
        onEvent?.({ kind: 'ledger-lost', error, waitMs });
      }
      if (TIMERS.monotonicMs() >= until) return false;
      await timers.sleep(againMs(tries), interrupted);
      tries += 1;
      return !interrupted.aborted;
    },
    /** The ledger was there, and was sent from: the next loss is another one. */
    isOver(): void {
      until = null;
    },
  };
}
