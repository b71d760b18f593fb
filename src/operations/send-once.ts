import { loadCampaign } from '../campaign/load.ts';
import { type HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { adviseLength } from '../plan/limits.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { prepareApi } from '../run/api.ts';
import { callWorkersBack } from '../run/call-back.ts';
import { holdRun } from '../run/hold.ts';
import { joinReplies } from '../run/join-replies.ts';
import { sendListening } from '../run/listen.ts';
import type { Memory } from '../run/memory.ts';
import { identityOf, interruptedEarly, type Prepared, prepareRun } from '../run/prepare.ts';
import { refuseOtherList, refuseUnlessSealed } from '../run/sealed.ts';
import { sendRounds } from '../run/window-wait.ts';
import { checkWinner } from '../run/winner.ts';
import { overRefusal } from '../schedule/occurrence.ts';
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
import { createRound, howListsAreRead } from './send-rounds.ts';
import { beginSharing, refuseUnlessShareable } from './send-workers.ts';

/** One start of a campaign: see send.ts. What the process remembers of a start before is told to the ledger first. */
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

/** The sandbox reaches nobody. A second message is asked about all the same: it is the same question everywhere. */
function isUnasked(plan: Plan, { resends }: Pick<Prepared, 'resends'>): boolean {
  return isSandbox(plan) && resends.length === 0;
}

async function asked(
  options: SendOptions,
  plan: Plan,
  prepared: Pick<Prepared, 'toDo' | 'estimate' | 'resends'>,
): Promise<boolean> {
  const { environment, campaign, occurrence } = plan;
  // Whoever waits for a window is sent to in this start, when it stays.
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
