import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { loadCampaign } from '../campaign/load.ts';
import type { PriceList } from '../content/price.ts';
import { type HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { WorkerFacts } from '../ledger/worker-store.ts';
import type { Campaign } from '../model.ts';
import { adviseLength } from '../plan/limits.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { createPricer, loadPrices } from '../plan/prices.ts';
import { loadSuppressions, type Suppressions } from '../plan/suppression.ts';
import { type Api, prepareApi } from '../run/api.ts';
import { countUnreached } from '../run/deliveries.ts';
import { joinReplies } from '../run/evidence.ts';
import { holdRun } from '../run/hold.ts';
import { needsShared } from '../run/list-workers.ts';
import type { Memory } from '../run/memory.ts';
import { identityOf, interruptedEarly, type Prepared, prepareRun } from '../run/prepare.ts';
import type { ListsAgain } from '../run/producer.ts';
import { type RoundsOptions, sendListening, sendRounds } from '../run/rounds.ts';
import { type RunEnd, sendRun } from '../run/run.ts';
import { refuseOtherList, refuseUnlessSealed } from '../run/sealed.ts';
import { callWorkersBack, createSharing, queueFor, type Sharing } from '../run/sharing.ts';
import { TIMERS } from '../run/timers.ts';
import { checkWinner, settleWinner } from '../run/winner.ts';
import { overRefusal } from '../schedule/occurrence.ts';
import { fileStamp } from '../util/file-stamp.ts';
import { isPostgres } from '../util/ledger-address.ts';
import { durationMs } from '../util/units.ts';
import { meantOccurrence } from './occurrence.ts';
import type { SendListener } from './send-listen.ts';
import {
  given,
  isSandbox,
  type ListenNeeds,
  type ListenWhileSending,
  listeningOf,
  type SendOptions,
} from './send-options.ts';
import { nothingToDo, resultOf, type SendResult } from './send-result.ts';

/**
 * One start of a campaign: see send.ts. What the process remembers of an earlier start is first compared with the
 * ledger.
 */
export async function sendOnce(target: string, options: SendOptions, memory: Memory): Promise<SendResult> {
  const { cwd, now } = options;
  const { campaign, warnings } = await loadCampaign(target, {
    cwd,
    now: now(),
    ...given(options, 'recipients', 'ledger'),
    toSend: { newLedger: options.newLedger === true },
  });
  const { environment = 'sandbox' } = options;
  const meant = await meantOccurrence(campaign, {
    environment,
    named: options.occurrence,
    nowMs: now(),
    newLedger: options.newLedger === true,
  });
  const plan = await createPlan(campaign, { environment, occurrence: meant.occurrence });
  options.watch?.planned(plan);
  options.onWarnings?.([...warnings, ...meant.warnings, ...plan.warnings]);
  return await sendPlan(plan, options, memory);
}

/** As `sendOnce`, of a plan that was made already. */
export async function sendPlan(plan: Plan, options: SendOptions, memory: Memory): Promise<SendResult> {
  const { cwd, now } = options;
  const { campaign } = plan;
  if (options.winner !== undefined) checkWinner(plan, options.winner);
  const { sealed = null } = options;
  if (options.workers === true) refuseUnlessShareable(campaign);
  if (sealed !== null) await refuseUnlessSealed(plan, sealed, { cwd, amend: options.amend === true });
  const concurrency = options.concurrency ?? plan.environment.concurrency ?? campaign.send.concurrency;
  const { timeoutMs } = campaign.send;
  const connection = { env: options.env, root: campaign.project.root, connections: concurrency, timeoutMs };
  const approval = { sealed, nowMs: now() };
  const { recipientsPerRequest } = plan;
  const listening = listeningOf(plan, options.listen);
  const startListening = listening === null ? null : await howToListen(listening, { plan, env: options.env, now });
  let listener: SendListener | null = null;
  const openApi = await prepareApi({
    environment: plan.environment,
    ...connection,
    ...approval,
    recipientsPerRequest,
    sandbox: () => listener?.sandbox?.() ?? null,
    ...given(options, 'onNotice'),
  });
  const prices = await loadPrices(campaign.project);
  const listsAgain = await howListsAreRead(campaign, options);
  const suppressions = await listsAgain.read();

  const recall = (found: Ledger): void => {
    for (const said of memory.recall(found, now())) options.onLedger?.({ kind: 'recalled', ...said });
  };
  const opening = { newLedger: options.newLedger === true, despiteWorkers: true, witness: recall };
  using held = holdRun(campaign.project, identityOf(plan), now(), opening);
  const { ledger } = held;
  recall(ledger);
  if (memory.last !== null) options.onLedger?.({ kind: 'back' });
  await callWorkersBack(ledger, identityOf(plan));
  if (options.late !== true && ledger.findRun(identityOf(plan)) === null) {
    const over = await overRefusal(campaign, plan.occurrence, now());
    if (over !== null) throw refuse(over);
  }
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const wanted = {
    amend: options.amend === true,
    late: options.late === true,
    retryRejected: options.retryRejected === true,
    resendChanged: options.resendChanged === true,
    winner: options.winner ?? null,
  };
  const wait = options.wait === true;
  const interrupt = options.interrupt ?? new AbortController().signal;
  options.watch?.checking();
  const prepared = await prepareRun({
    ledger,
    plan,
    prices,
    suppressions,
    skipInvalid,
    ...wanted,
    nowMs: now(),
    interrupt,
    meter: options.meter,
  });
  options.watch?.checked();
  if (sealed !== null) refuseOtherList(plan, sealed, prepared);
  if (prepared.toDo === 0 && prepared.continues && prepared.estimate === null) {
    prepared.seal();
    return nothingToDo(ledger, plan, prices, now(), prepared.winner);
  }
  const long = prepared.estimate === null ? [] : adviseLength(campaign, prepared.estimate);
  const found = [...long, ...(prepared.reached?.warnings ?? [])];
  if (found.length > 0) options.onWarnings?.(found);
  const confirmed = interrupt.aborted || isUnasked(plan, prepared) || (await asked(options, plan, prepared));
  if (interrupt.aborted || !confirmed) {
    prepared.discard();
    throw interrupt.aborted ? interruptedEarly() : notConfirmed();
  }
  await using sharing = options.workers === true ? await beginSharing({ options, plan, ledger, prepared }) : null;
  const start = {
    options,
    memory: ledger.history === null ? null : memory,
    plan,
    ledger,
    prepared,
    openApi,
    prices,
    suppressions,
    listsAgain,
    concurrency,
    interrupt,
    sharing: sharing?.sharing ?? null,
  };
  const round = createRound(start);
  const waiting = { wait, limit: options.limit ?? null, now, interrupt, ...given(options, 'onWait', 'timers') };
  if (startListening === null) {
    return resultOf(ledger, plan, prices, await sendRounds(prepared.seal(), { ...waiting, round }));
  }
  try {
    listener = await startListening(ledger);
  } catch (error) {
    prepared.discard();
    throw error;
  }
  await using receiving = listener;
  const { reporters } = receiving;
  const { startLifts } = campaign.project.webhook.replies;
  const rounds = {
    ...waiting,
    round,
    ledger,
    campaign,
    reporters,
    joinReplies: () => joinReplies(ledger, { startLifts, now }),
  };
  return resultOf(ledger, plan, prices, await sendListening(prepared.seal(), rounds));
}

/** Servers and signatures are for those who listen alone. */
async function howToListen(listening: ListenWhileSending, needs: ListenNeeds) {
  const { prepareListening } = await import('./send-listen.ts');
  return await prepareListening(listening, needs);
}

function notConfirmed(): HandbillError {
  const hint = 'Without a terminal, add --yes.';
  return refuse(problem('not-confirmed', 'Nothing was sent: it was not confirmed.', { hint }));
}

/**
 * The sandbox sends to no real recipient. A second message needs a confirmation even there: the question is the same
 * everywhere.
 */
function isUnasked(plan: Plan, { resends }: Pick<Prepared, 'resends'>): boolean {
  return isSandbox(plan) && resends.length === 0;
}

async function asked(
  options: SendOptions,
  plan: Plan,
  prepared: Pick<Prepared, 'toDo' | 'estimate' | 'resends'>,
): Promise<boolean> {
  const { environment, campaign, occurrence } = plan;
  // With `--wait`, recipients who wait for a window are sent to in this start.
  const later = options.wait === true ? (prepared.estimate?.deferred['outside-window'] ?? 0) : 0;
  const toDo = prepared.toDo + later;
  const recipients = Math.min(toDo, options.limit ?? toDo);
  const question = {
    campaign: campaign.name,
    environment: environment.name,
    url: environment.url,
    occurrence,
    recipients,
    canary: campaign.send.canary,
    resends: prepared.resends,
  };
  return (await options.confirm?.({ ...question, estimate: prepared.estimate })) ?? false;
}

/** What every start of a run with an open ledger needs. */
interface Start {
  readonly options: SendOptions;
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly prepared: Prepared;
  readonly openApi: () => Promise<Api>;
  readonly prices: PriceList | null;
  readonly suppressions: Suppressions;
  readonly listsAgain: ListsAgain;
  readonly concurrency: number;
  readonly interrupt: AbortSignal;
  /** Null: a ledger that is a file is not lost and found again. */
  readonly memory: Memory | null;
  /** Workers share the run; null: this process sends it alone. */
  readonly sharing: Sharing | null;
}

/** One start of the run, with connections of its own; `send --wait` has several. */
function createRound(start: Start): RoundsOptions['round'] {
  const { options, plan, ledger, prepared, prices, suppressions, listsAgain, concurrency, interrupt } = start;
  const { campaign } = plan;
  return async (begun, limit, posted) => {
    // For the first round, the winner was decided while the start was prepared.
    const run = posted === null ? begun : settleWinner(ledger, plan, begun, options.now).run;
    const api = await start.openApi();
    const watch = options.watch?.round(ledger, run, posted === null ? prepared.toDo : null) ?? null;
    let end: RunEnd | null = null;
    const abort = (): void => api.endpoint.abort();
    const { stopWaiting } = api.endpoint;
    interrupt.addEventListener('abort', stopWaiting, { once: true });
    options.abort?.addEventListener('abort', abort, { once: true });
    try {
      end = await sendRun({
        plan,
        ledger,
        run,
        list: prepared.list,
        reached: prepared.reached,
        loaded: posted === null ? prepared.loaded : null,
        // Reports may have come in since.
        unreached: posted === null ? prepared.unreached : countUnreached(ledger, run, campaign),
        suppressions,
        listsAgain,
        ...(posted === null ? {} : { postedBefore: posted }),
        endpoint: watch === null ? api.endpoint : watch.endpoint(api.endpoint),
        wire: api.wire,
        costOf: createPricer(prices),
        concurrency,
        ratePerSecond: rateOf(plan, options.ratePerSecond),
        limit,
        interrupt,
        wait: options.wait === true,
        memory: start.memory,
        sharing: start.sharing,
        ...given(options, 'onWait', 'onNotice'),
        now: options.now,
        random: options.random ?? Math.random,
        onStart: (figures) => options.onStart?.(figures, campaign),
        ...(watch === null || watch.onCommitted === null ? {} : { onCommitted: watch.onCommitted }),
      });
      return end;
    } finally {
      watch?.ended(end);
      interrupt.removeEventListener('abort', stopWaiting);
      options.abort?.removeEventListener('abort', abort);
      await api.close(campaign.send.timeoutMs);
    }
  };
}

/** The time stamps are taken before the lists are read: what is written meanwhile is seen by the first refresh. */
export async function howListsAreRead(
  campaign: Campaign,
  { env, now, lookMs = LOOK_MS }: SendOptions,
): Promise<ListsAgain> {
  const read = () => loadSuppressions(campaign, env);
  const paths = campaign.suppressions.map(({ path }) => path);
  if (paths.length === 0) return { readAtMs: now(), read };
  const stamp = () => fileStamp(paths);
  return { readAtMs: now(), read, watch: { stamp, first: await stamp(), everyMs: lookMs } };
}

const LOOK_MS = 10_000;

/** The lowest of the limits that are set: the option, the environment's and the campaign's. */
export function rateOf({ environment, campaign }: Plan, ratePerSecond: number | null | undefined): number | null {
  return lowest(ratePerSecond, environment.ratePerSecond, campaign.send.ratePerSecond);
}

function lowest(...rates: readonly (number | null | undefined)[]): number | null {
  const set = rates.filter((rate) => rate !== null && rate !== undefined);
  return set.length === 0 ? null : Math.min(...set);
}

/** @throws HandbillError (exit 2): the ledger is a file */
function refuseUnlessShareable({ project }: Campaign): void {
  if (!isPostgres(project.ledger)) throw needsShared('--workers is for a shared ledger; this one is a file.');
}

interface SharingNeeds {
  readonly options: SendOptions;
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly prepared: Pick<Prepared, 'discard'>;
}

/** Opens the queue through which the run is shared; what was prepared is forgotten where that fails. */
async function beginSharing({
  options,
  plan,
  ledger,
  prepared,
}: SharingNeeds): Promise<{ readonly sharing: Sharing } & AsyncDisposable> {
  const { workers } = ledger;
  if (workers === null) throw new Error('a ledger that is a file has no workers');
  try {
    const worker = thisWorker(options.env);
    workers.join(worker);
    const queue = await queueFor(plan.campaign.project.ledger);
    const { recipients = null, sealed = null, now } = options;
    const sharing = createSharing({
      ledger,
      workers,
      worker,
      queue,
      ratePerSecond: rateOf(plan, options.ratePerSecond),
      facts: {
        recipients,
        ratePerSecond: options.ratePerSecond ?? null,
        sealed: sealed === null ? null : JSON.stringify(sealed),
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

/**
 * A process without a sign of life for this long counts as dead. It is longer than a commit usually waits for others.
 */
const LEASE_MS = 8000;
/** A worker speaks four times a second. */
const LEAST_MS = 1000;

/**
 * This process as a worker.
 *
 * @throws HandbillError (exit 2): HANDBILL_LEASE is no time
 */
export function thisWorker(env: Readonly<Record<string, string | undefined>>): WorkerFacts {
  const said = env['HANDBILL_LEASE'];
  const leaseMs = said === undefined || said === '' ? LEASE_MS : durationMs(said);
  if (leaseMs === null || leaseMs < LEAST_MS) {
    throw refuse(problem('usage', `HANDBILL_LEASE is no time: ${said}.`, { hint: 'Write it as 8s; 1s is the least.' }));
  }
  return { id: randomUUID(), host: hostname(), pid: process.pid, leaseMs };
}
