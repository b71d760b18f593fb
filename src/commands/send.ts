import { loadCampaign } from '../campaign/load.ts';
import type { PriceList } from '../content/price.ts';
import { type Diagnostic, EXIT, type HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Campaign } from '../model.ts';
import type { Estimate } from '../plan/estimate.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { createPricer } from '../plan/pricer.ts';
import { loadPrices } from '../plan/prices.ts';
import type { SealedPlan } from '../plan/seal.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import { prepareApi } from '../run/api.ts';
import { holdRun } from '../run/hold.ts';
import { identityOf, interruptedEarly, prepareRun } from '../run/prepare.ts';
import type { Figures } from '../run/progress.ts';
import { type RunEnd, sendRun } from '../run/run.ts';
import { refuseOtherList, refuseUnlessSealed } from '../run/sealed.ts';
import { summarise } from '../run/summary.ts';
import type { Timers } from '../run/timers.ts';
import { sendRounds } from '../run/window-wait.ts';
import { checkWinner } from '../run/winner.ts';
import { occurrenceFor, refuseOver } from '../schedule/occurrence.ts';
import type { Confirmation } from './confirm.ts';
import { exitOf, type SendResult } from './send-result.ts';

export interface SendOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly random?: () => number;
  /** Default: `sandbox`. */
  readonly environment?: string;
  /** Default: with a schedule, the instant that is due; else `once`. */
  readonly occurrence?: string;
  readonly ledger?: string;
  readonly newLedger?: boolean;
  readonly recipients?: string;
  /** A plan that was sealed: any change of its inputs is refused. Environments with approvers take nothing else. */
  readonly sealed?: SealedPlan;
  readonly limit?: number;
  readonly concurrency?: number;
  readonly ratePerSecond?: number;
  readonly skipInvalid?: boolean;
  readonly amend?: boolean;
  readonly late?: boolean;
  /** Stays until the windows have opened of those who wait for one, and the pauses of a canary are over. */
  readonly wait?: boolean;
  readonly retryRejected?: boolean;
  /** The variant that everybody gets who is not in the test; remembered by the run. */
  readonly winner?: string;
  /** Asked before the first request of any environment but the sandbox; false refuses. Default: refuse. */
  readonly confirm?: (question: Confirmation) => Promise<boolean>;
  /** Ends the start in good order. */
  readonly interrupt?: AbortSignal;
  /** Ends it at once: what is in flight is aborted and recorded. */
  readonly abort?: AbortSignal;
  readonly onStart?: (figures: Readonly<Figures>, campaign: Campaign) => void;
  /** Nothing more can be sent before this instant, in ms since 1970. */
  readonly onWait?: (untilMs: number) => void;
  /** How time passes while it waits; default: the real ones. */
  readonly timers?: Pick<Timers, 'sleep'>;
  readonly onWarnings?: (warnings: readonly Diagnostic[]) => void;
}

/**
 * Sends a campaign, or continues what an earlier start left: the whole pipeline. Nothing is posted unless everything
 * was checked; nobody is posted to twice.
 *
 * @throws HandbillError exit 2 (refused before any request), 6 (another process holds this run), 7 (ledger),
 *   130 (interrupted before any request)
 */
export async function send(target: string, options: SendOptions): Promise<SendResult> {
  const { cwd, now } = options;
  const { campaign, warnings } = await loadCampaign(target, {
    cwd,
    now: now(),
    ...given(options, 'recipients', 'ledger'),
  });
  const plan = await createPlan(campaign, {
    environment: options.environment ?? 'sandbox',
    occurrence: await occurrenceFor(campaign, options.occurrence, now()),
  });
  options.onWarnings?.([...warnings, ...plan.warnings]);
  if (options.winner !== undefined) checkWinner(plan, options.winner);
  const { sealed = null } = options;
  if (sealed !== null) await refuseUnlessSealed(plan, sealed, { cwd, amend: options.amend === true });
  const concurrency = options.concurrency ?? plan.environment.concurrency ?? campaign.send.concurrency;
  const { timeoutMs } = campaign.send;
  const connection = { env: options.env, root: campaign.project.root, connections: concurrency, timeoutMs };
  const approval = { sealed, nowMs: now() };
  const { recipientsPerRequest } = plan;
  const openApi = await prepareApi({ environment: plan.environment, ...connection, ...approval, recipientsPerRequest });
  const prices = await loadPrices(campaign.project);
  const listsAgain = { readAtMs: now(), read: () => loadSuppressions(campaign, options.env) };
  const suppressions = await listsAgain.read();

  using held = holdRun(campaign.project.ledger, identityOf(plan), now(), options.newLedger === true);
  const { ledger } = held;
  if (options.late !== true && ledger.findRun(identityOf(plan)) === null) {
    await refuseOver(campaign, plan.occurrence, now());
  }
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const wanted = {
    amend: options.amend === true,
    late: options.late === true,
    retryRejected: options.retryRejected === true,
    winner: options.winner ?? null,
  };
  const wait = options.wait === true;
  const interrupt = options.interrupt ?? new AbortController().signal;
  const prepared = await prepareRun({
    ledger,
    plan,
    prices,
    suppressions,
    skipInvalid,
    ...wanted,
    nowMs: now(),
    interrupt,
  });
  if (sealed !== null) refuseOtherList(plan, sealed, prepared);
  if (prepared.toDo === 0 && prepared.continues && prepared.estimate === null) {
    prepared.seal();
    return nothingToDo(ledger, plan, prices, now());
  }
  const found = prepared.reached?.warnings ?? [];
  if (found.length > 0) options.onWarnings?.(found);
  const confirmed = interrupt.aborted || plan.environment.apiKey === null || (await asked(options, plan, prepared));
  if (interrupt.aborted || !confirmed) {
    prepared.discard();
    throw interrupt.aborted ? interruptedEarly() : notConfirmed();
  }
  const round = async (run: RunRecord, limit: number | null, posted: number | null): Promise<RunEnd> => {
    const api = await openApi();
    const abort = (): void => api.endpoint.abort();
    const { stopWaiting } = api.endpoint;
    interrupt.addEventListener('abort', stopWaiting, { once: true });
    options.abort?.addEventListener('abort', abort, { once: true });
    try {
      return await sendRun({
        plan,
        ledger,
        run,
        list: prepared.list,
        reached: prepared.reached,
        suppressions,
        listsAgain,
        ...(posted === null ? {} : { postedBefore: posted }),
        endpoint: api.endpoint,
        wire: api.wire,
        costOf: createPricer(prices),
        concurrency,
        ratePerSecond: lowest(options.ratePerSecond, plan.environment.ratePerSecond, campaign.send.ratePerSecond),
        limit,
        interrupt,
        wait,
        ...given(options, 'onWait'),
        now,
        random: options.random ?? Math.random,
        onStart: (figures) => options.onStart?.(figures, campaign),
      });
    } finally {
      interrupt.removeEventListener('abort', stopWaiting);
      options.abort?.removeEventListener('abort', abort);
      await api.close(timeoutMs);
    }
  };
  const waiting = { wait, limit: options.limit ?? null, now, interrupt, ...given(options, 'onWait', 'timers') };
  return resultOf(ledger, plan, prices, await sendRounds(prepared.seal(), { ...waiting, round }));
}

function notConfirmed(): HandbillError {
  const hint = 'Without a terminal, add --yes.';
  return refuse(problem('not-confirmed', 'Nothing was sent: it was not confirmed.', { hint }));
}

async function asked(
  options: SendOptions,
  plan: Plan,
  prepared: { toDo: number; estimate: Estimate | null },
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
  };
  return (await options.confirm?.({ ...question, estimate: prepared.estimate })) ?? false;
}

function nothingToDo(ledger: Ledger, plan: Plan, prices: PriceList | null, nowMs: number): SendResult {
  const found = ledger.findRun(identityOf(plan));
  if (found === null) throw new Error('a run without anything to do is in the ledger');
  // Killed after the last outcome, or halted by it: nobody else would ever say that the run is finished.
  const ended = { state: 'finished', halt: null, figures: found.figures, nowMs } as const;
  const waits = ledger.counts(found).some(({ outcome }) => outcome === 'deferred');
  const run = found.state === 'finished' || waits ? found : ledger.finish(found, ended);
  const report = summarise(ledger, run, null, plan.campaign);
  const currency = prices?.currency ?? null;
  return { report, exit: exitOf(report), started: false, posted: 0, currency, recovered: 0, ledgerError: null };
}

function resultOf(ledger: Ledger, plan: Plan, prices: PriceList | null, end: RunEnd): SendResult {
  const report = summarise(ledger, end.run, { state: end.state, halt: end.halt }, plan.campaign);
  const { posted, recovered, ledgerError } = end;
  const exit = ledgerError === null ? exitOf(report) : EXIT.ledger;
  return { report, exit, started: true, posted, currency: prices?.currency ?? null, recovered, ledgerError };
}

function lowest(...rates: readonly (number | null | undefined)[]): number | null {
  const set = rates.filter((rate) => rate !== null && rate !== undefined);
  return set.length === 0 ? null : Math.min(...set);
}

/** The named options that were given, so that absent ones stay absent. */
function given<K extends keyof SendOptions>(options: SendOptions, ...names: readonly K[]): Pick<SendOptions, K> {
  return Object.fromEntries(names.flatMap((n) => (options[n] === undefined ? [] : [[n, options[n]]]))) as Pick<
    SendOptions,
    K
  >;
}
