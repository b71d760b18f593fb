import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { PriceList } from '../content/price.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { WorkerFacts } from '../ledger/records.ts';
import type { Campaign, WinnerState } from '../model.ts';
import { loadPrices } from '../plan/estimate.ts';
import { adviseEstimate } from '../plan/limits.ts';
import { isSandbox, type Plan, rateOf } from '../plan/plan.ts';
import { type AnyPlanFile, isStanding } from '../plan/plan-file.ts';
import { commitIn, type Provenance, readProvenance, refuseOtherCommit } from '../plan/provenance.ts';
import { endsSoon } from '../plan/standing-inputs.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import type { Api } from '../send/api.ts';
import { refuseOtherList } from '../send/approved.ts';
import { asksReports } from '../send/canary.ts';
import { cameBack, feedbackOf } from '../send/deliveries.ts';
import { needsShared } from '../send/list-workers.ts';
import type { Memory } from '../send/memory.ts';
import { refuseWhilePaused } from '../send/pause.ts';
import { beginRefusals, identityOf, interruptedEarly, olderRuns, type Prepared, prepareRun } from '../send/prepare.ts';
import { type SendPass, sendListening, sendRounds } from '../send/rounds.ts';
import { type RunEnd, sendRun } from '../send/run.ts';
import { lockRun } from '../send/run-lock.ts';
import { callWorkersBack, createSharing, type Sharing } from '../send/sharing.ts';
import { planInForce } from '../send/standing.ts';
import type { PreparedStart } from '../send/start.ts';
import { summarise } from '../send/summary.ts';
import { TIMERS } from '../send/timers.ts';
import { checkWinner, chooseWinner, noteUndecided } from '../send/winner.ts';
import { fileStamp } from '../util/files.ts';
import { isPostgres } from '../util/ledger-address.ts';
import type { Meter } from '../util/long-work.ts';
import { durationMs } from '../util/units.ts';
import { notConfirmed, type ResolvedOptions } from './options.ts';
import { joinReplies, planOf } from './project.ts';
import type { prepareFetching } from './send-fetch.ts';
import type { SendListener } from './send-listen.ts';
import {
  exitOf,
  type SendListenOptions,
  type SendOptions,
  type SendQuestion,
  type SendResult,
} from './send-options.ts';

export interface StartOptions
  extends Omit<SendOptions, keyof ResolvedOptions | 'confirm' | 'log' | 'progressEveryMs'>,
    ResolvedOptions {
  /** How far the list was checked, before anything is sent. */
  readonly meter?: Meter;
  readonly onExchange?: PreparedStart['onExchange'];
  /** The start must match this plan: a change of its inputs is refused. */
  readonly planFile?: AnyPlanFile;
  /** Asked before the first request of any environment but the sandbox; false refuses. Default: refuse. */
  readonly confirm?: (question: SendQuestion) => Promise<boolean>;
}

export interface StartResult extends Omit<SendResult, 'diagnostics'> {
  /** Null: the ledger could be written; else the report has its last state. */
  readonly ledgerError: Error | null;
}

/** See send.ts. First compares what the process remembers of an earlier start with the ledger. */
export async function sendOnce(target: string, options: StartOptions, memory: Memory): Promise<StartResult> {
  // A rehearsal has a copy of the ledger that the project sends with.
  const sends = options.rehearsal === undefined;
  const { plan, warnings } = await planOf(target, options, { nowMs: options.now(), sends });
  options.onEvent?.({ kind: 'planned', plan });
  options.onEvent?.({ kind: 'warnings', warnings });
  return await sendPlan(plan, options, memory);
}

export async function sendPlan(plan: Plan, given: StartOptions, memory: Memory): Promise<StartResult> {
  const { campaign } = plan;
  if (given.winner !== undefined) checkWinner(plan, given.winner);
  const { rehearsal } = given;
  const asked = rehearsal === undefined ? readProvenance(campaign, given.env) : Promise.resolve(REHEARSED);
  if (plan.environment.git !== null && rehearsal === undefined) refuseOtherCommit(plan.environment, await asked);
  if (given.workers === true && !isPostgres(campaign.project.ledger)) {
    throw needsShared('--workers is for a shared ledger; this one is a file.');
  }
  // That a rehearsal fetches no reports takes no guard away.
  const allow = given.allow?.filter((code) => rehearsal === undefined || code !== 'reports-stale');
  const covered = rehearsal === undefined ? given : { ...given, allow, recipients: null, isGivenByThen: true };
  const { planFile, file } = await planInForce(plan, covered);
  if (planFile !== null && isStanding(planFile)) {
    given.onEvent?.({ kind: 'warnings', warnings: endsSoon(planFile, given.now()) });
  }
  const options = planFile === null ? given : { ...given, planFile };
  const result = await sendApproved(plan, { options, planFile, asked }, memory);
  return file === null ? result : { ...result, standingPlan: file };
}

/** `openApi` checks the approval again. */
async function sendApproved(
  plan: Plan,
  { options, planFile, asked }: { options: StartOptions; planFile: AnyPlanFile | null; asked: Promise<Provenance> },
  memory: Memory,
): Promise<StartResult> {
  const { campaign } = plan;
  const { now, allow = [], onEvent, rehearsal } = options;
  const concurrency = options.concurrency ?? plan.environment.concurrency ?? campaign.send.concurrency;
  // As the user asked, or as the campaign needs it; null: none, or another process receives.
  const needed = (isSandbox(plan) || plan.environment.fetch) && needsReports(campaign) ? {} : null;
  const listening = rehearsal === undefined ? (options.listen ?? needed) : null;
  const onNotice = (notice: Diagnostic): void => onEvent?.({ kind: 'notice', notice });
  const startListening =
    listening === null
      ? null
      : await prepareReports(listening, { plan, env: options.env, now, onNotice, timers: options.timers });
  let listener: SendListener | null = null;
  const openApi =
    rehearsal === undefined
      ? await (await import('../send/api.ts')).prepareApi({
          plan,
          env: options.env,
          connections: concurrency,
          planFile,
          now,
          sandbox: () => listener?.sandbox?.() ?? null,
          onNotice,
        })
      : async () => rehearsal.open(plan);
  const prices = loadPrices(campaign.project);
  const listsAgain = await howListsAreRead(campaign, options);
  const suppressions = await listsAgain.read();

  const recall = (found: Ledger): void => {
    for (const said of memory.recall(found, now())) onEvent?.({ kind: 'recalled', ...said });
  };
  const opening = { allow, despiteWorkers: true, witness: recall, isCopy: rehearsal !== undefined };
  using held = lockRun(campaign.project, identityOf(plan), now(), opening);
  const { ledger } = held;
  recall(ledger);
  if (memory.last !== null) onEvent?.({ kind: 'ledger-back' });
  refuseWhilePaused(ledger, plan);
  if (options.isDue !== true) onEvent?.({ kind: 'warnings', warnings: olderRuns(ledger, plan) });
  await callWorkersBack(ledger, identityOf(plan));
  if (ledger.findRun(identityOf(plan)) === null) {
    const refused = await beginRefusals(ledger, plan, { nowMs: now(), allow });
    if (refused.length > 0) throw refuse(...refused);
  }
  const interrupt = options.signal ?? new AbortController().signal;
  const opened = { plan, ledger, prices, suppressions, interrupt };
  const prepared = await prepareRun({ ...options, ...opened, allow, nowMs: now() });
  if (planFile !== null) refuseOtherList(plan, planFile, prepared);
  if (prepared.toDo === 0 && prepared.continues && prepared.estimate === null) {
    prepared.finishLoad();
    return nothingToDo(ledger, plan, prices, now(), prepared.winner);
  }
  const long = prepared.estimate === null ? [] : adviseEstimate(campaign, prepared.estimate);
  const strangers = prepared.estimate === null ? [] : (prepared.reached?.unfollowed() ?? []);
  const found = [
    ...suppressions.warnings,
    ...prepared.accepted,
    ...long,
    ...(prepared.reached?.warnings ?? []),
    ...strangers,
  ];
  onEvent?.({ kind: 'warnings', warnings: found });
  // The sandbox sends to no real recipient; only a second message needs a confirmation there, as everywhere.
  const isUnasked = isSandbox(plan) && prepared.resends.length === 0;
  const isConfirmed = interrupt.aborted || isUnasked || (await confirmed(options, plan, prepared));
  if (interrupt.aborted || !isConfirmed) {
    prepared.discard();
    if (interrupt.aborted) throw interruptedEarly();
    throw prepared.questions.length === 0 ? notConfirmed('Nothing was sent') : refuse(...prepared.questions);
  }
  await using sharing = options.workers === true ? await beginSharing(plan, ledger, options, prepared) : null;
  const start: PreparedStart = {
    ...options,
    ...prepared,
    ...opened,
    listsAgain,
    concurrency,
    ratePerSecond: rateOf(plan, options.ratePerSecond),
    commit: commitIn(await asked),
    // A ledger in a file cannot be lost and recovered.
    memory: ledger.history === null ? null : memory,
    random: options.random ?? Math.random,
    ...(rehearsal === undefined ? {} : { pauseLookMs: rehearsal.pauseLookMs }),
    timers: rehearsal?.timers ?? TIMERS,
    sleep: options.timers?.sleep,
  };
  const sendPass = createPass(start, openApi, sharing?.sharing ?? null, prepared.toDo, options.cutSignal);
  const sendAlone = async (): Promise<StartResult> => {
    const first = { run: prepared.finishLoad(), limit: options.limit ?? null, posted: null };
    return resultOf(ledger, plan, prices, await sendRounds(first, start, sendPass), now());
  };
  if (startListening === null) return await sendAlone();
  try {
    listener = await startListening(ledger);
  } catch (error) {
    prepared.discard();
    throw error;
  }
  await using receiving = listener;
  // The gates need reports. Only `--listen` waits for those that come after the last message.
  if (options.listen === undefined && !isSandbox(plan)) return await sendAlone();
  const end = await sendListening(prepared.finishLoad(), start, sendPass, receiving.reporters, () =>
    joinReplies(ledger, { ...campaign.project.webhook.replies, now }),
  );
  return resultOf(ledger, plan, prices, end, now());
}

const REHEARSED: Provenance = { unknown: 'it is a rehearsal' };

async function confirmed(options: StartOptions, plan: Plan, prepared: Prepared): Promise<boolean> {
  const { environment, campaign, occurrence } = plan;
  // With `--wait`, recipients who wait for a window are sent to in this start.
  const { deferred = {} } = prepared.estimate ?? {};
  const later = options.wait === true ? (deferred['outside-window'] ?? 0) + (deferred['too-early'] ?? 0) : 0;
  const toDo = prepared.toDo + later;
  const recipients = Math.min(toDo, options.limit ?? toDo);
  const question: SendQuestion = {
    campaign: campaign.name,
    environment: environment.name,
    url: environment.url,
    occurrence,
    recipients,
    canary: campaign.send.canary,
    resends: prepared.resends,
    allows: prepared.questions.map(({ message }) => message),
    estimate: prepared.estimate,
  };
  return (await options.confirm?.(question)) ?? false;
}

/**
 * Each pass opens new connections; `send --wait` has several passes.
 * @param toDo - recipients of the first pass
 */
function createPass(
  start: PreparedStart,
  openApi: () => Promise<Api>,
  sharing: Sharing | null,
  toDo: number,
  cutSignal: AbortSignal | undefined,
): SendPass {
  const { plan, ledger, commit = null, onEvent } = start;
  return async (pass) => {
    const isFirst = pass.posted === null;
    // For the first pass, the winner was decided while the start was prepared.
    const run = isFirst ? pass.run : chooseWinner(ledger, plan, pass.run, start.now).run;
    const api = await openApi();
    onEvent?.({ kind: 'started', run, ledger: ledger.path, toDo: isFirst ? toDo : null, commit });
    return await untilAborted(api, start, cutSignal, () => sendRun(start, { ...pass, run }, api, sharing));
  };
}

/** The first signal ends waits for a connection, the second what is in flight. Closes the API. */
export async function untilAborted<T>(
  api: Api,
  { interrupt, plan }: Pick<PreparedStart, 'interrupt' | 'plan'>,
  cutSignal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const abort = (): void => api.endpoint.abort();
  const { stopWaiting } = api.endpoint;
  interrupt.addEventListener('abort', stopWaiting, { once: true });
  cutSignal?.addEventListener('abort', abort, { once: true });
  try {
    return await work();
  } finally {
    interrupt.removeEventListener('abort', stopWaiting);
    cutSignal?.removeEventListener('abort', abort);
    await api.close(plan.campaign.send.timeoutMs);
  }
}

/** Takes the time stamps before it reads the lists, so that the first refresh sees any change made meanwhile. */
export async function howListsAreRead(campaign: Campaign, options: StartOptions) {
  const { env, now, lookMs = LOOK_MS, rehearsal } = options;
  const read = () => loadSuppressions(campaign, env);
  const paths = campaign.suppressions.map(({ path }) => path);
  if (paths.length === 0 || rehearsal !== undefined) return { readAtMs: now(), read };
  const stamp = () => fileStamp(paths);
  return { readAtMs: now(), read, watch: { stamp, first: await stamp(), everyMs: lookMs } };
}

const LOOK_MS = 10_000;

/** Opens the queue through which workers share the run; on failure, discards what was prepared. */
async function beginSharing(
  plan: Plan,
  ledger: Ledger,
  options: StartOptions,
  prepared: Prepared,
): Promise<{ readonly sharing: Sharing } & AsyncDisposable> {
  const { workers } = ledger;
  if (workers === null) throw new Error('a ledger that is a file has no workers');
  try {
    const worker = thisWorker(options.env);
    workers.join(worker);
    const { openQueue } = await import('../send/shard-queue.ts');
    const queue = await openQueue(plan.campaign.project.ledger);
    const { recipients = null, planFile = null, now } = options;
    const sharing = createSharing({
      ledger,
      workers,
      worker,
      queue,
      ratePerSecond: rateOf(plan, options.ratePerSecond),
      facts: {
        recipients,
        ratePerSecond: options.ratePerSecond ?? null,
        planFile: planFile === null ? null : JSON.stringify(planFile),
      },
      now,
      timers: TIMERS,
    });
    return {
      sharing,
      async [Symbol.asyncDispose]() {
        try {
          workers.leave(worker.id);
        } catch {
          // A ledger that cannot be reached was reported already; other processes notice by themselves that this one
          // has stopped.
        }
        await queue.close().catch(() => undefined);
      },
    };
  } catch (error) {
    prepared.discard();
    throw error;
  }
}

/** A process without a sign of life for this long counts as dead; a commit usually waits less for others. */
const LEASE_MS = 8000;
const LEAST_MS = 1000;

/** @throws HandbillError (exit 2): HANDBILL_LEASE is no time */
export function thisWorker(env: Readonly<Record<string, string | undefined>>): WorkerFacts {
  const said = env['HANDBILL_LEASE'];
  const leaseMs = said === undefined || said === '' ? LEASE_MS : durationMs(said);
  if (leaseMs === null || leaseMs < LEAST_MS) {
    throw refuse(problem('usage', `HANDBILL_LEASE is no time: ${said}.`, { hint: 'Write it as 8s; 1s is the least.' }));
  }
  return { id: randomUUID(), host: hostname(), pid: process.pid, leaseMs };
}

function nothingToDo(ledger: Ledger, plan: Plan, prices: PriceList | null, nowMs: number, winner: WinnerState) {
  const found = ledger.findRun(identityOf(plan));
  if (found === null) throw new Error('a run without anything to do is in the ledger');
  // The process was killed after the last outcome, or that outcome halted the run: it is marked as finished here.
  const ended = { state: 'finished', halt: null, figures: found.figures, nowMs } as const;
  const waits = ledger.counts(found).some(({ outcome }) => outcome === 'deferred');
  const noted = waits ? noteUndecided(ledger, found, winner, nowMs) : found;
  const run = found.state === 'finished' || waits ? noted : ledger.finish(found, ended);
  return {
    ...resultOf(ledger, plan, prices, { run, posted: 0, recovered: 0, ledgerError: null }, nowMs),
    started: false,
  };
}

/** `state` is absent where nothing was to do. */
function resultOf(
  ledger: Ledger,
  { campaign }: Plan,
  prices: PriceList | null,
  {
    run,
    posted,
    recovered,
    ledgerError,
    state,
    halt = null,
  }: Pick<RunEnd, 'run' | 'posted' | 'recovered' | 'ledgerError'> & Partial<RunEnd>,
  nowMs: number,
) {
  const came = cameBack(ledger, run, feedbackOf(ledger, run), campaign, nowMs);
  const report = summarise(ledger, run, state === undefined ? null : { state, halt }, campaign, came);
  const exit = ledgerError === null ? exitOf(report) : EXIT.ledger;
  const { locale, timeZone } = campaign.project;
  const currency = prices?.currency ?? null;
  return { report, exit, started: true, posted, recovered, ledgerError, currency, locale, timeZone };
}

/** Servers and signatures are loaded only where a start listens. */
async function prepareReports(listening: SendListenOptions, needs: Parameters<typeof prepareFetching>[1]) {
  if (needs.plan.environment.fetch) return await (await import('./send-fetch.ts')).prepareFetching(listening, needs);
  return await (await import('./send-listen.ts')).prepareListening(listening, needs);
}

/** A winner or the gate of a canary. */
export function needsReports({ send, split }: Campaign): boolean {
  const { decides } = split;
  return (decides !== null && decides.by !== 'accepted') || (send.canary !== null && asksReports(send.canary.gate));
}

/** Exit status 130 where the signal ended the start. */
export function toSendResult({ ledgerError, exit, ...result }: StartResult, warnings: readonly Diagnostic[]) {
  const stopped = result.report.state === 'interrupted' && exit !== EXIT.ledger;
  return {
    ...result,
    exit: stopped ? EXIT.interrupted : exit,
    diagnostics: [
      ...warnings,
      ...(ledgerError === null
        ? []
        : ledgerError instanceof HandbillError
          ? ledgerError.diagnostics
          : [problem('bug', ledgerError.message)]),
    ],
  };
}
