import type { PriceList } from '../content/price.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Campaign } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import { createPricer } from '../plan/pricer.ts';
import { loadSuppressions, type Suppressions } from '../plan/suppression.ts';
import type { Api } from '../run/api.ts';
import { settleWinner } from '../run/decide-winner.ts';
import type { ListsAgain } from '../run/lists.ts';
import type { Memory } from '../run/memory.ts';
import type { Prepared } from '../run/prepare.ts';
import { type RunEnd, sendRun } from '../run/run.ts';
import type { Sharing } from '../run/sharing.ts';
import { countUnreached } from '../run/unreached.ts';
import type { RoundsOptions } from '../run/window-wait.ts';
import { fileStamp } from '../util/file-stamp.ts';
import { given, type SendOptions } from './send-options.ts';

/** What every start of a run with an open ledger needs. */
export interface Start {
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
  /** Others work on the run as well; null: nobody does. */
  readonly sharing: Sharing | null;
}

/** One start of the run, with connections of its own; `send --wait` has several. */
export function createRound(start: Start): RoundsOptions['round'] {
  const { options, plan, ledger, prepared, prices, suppressions, listsAgain, concurrency, interrupt } = start;
  const { campaign } = plan;
  return async (begun, limit, posted) => {
    // The first start of these has looked for a winner as it was prepared.
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

/** Stamped before they are read: what is written meanwhile is seen at the first look. */
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

/** The lowest of all that hold: what somebody says, that of the environment, and that of the campaign. */
export function rateOf({ environment, campaign }: Plan, ratePerSecond: number | null | undefined): number | null {
  return lowest(ratePerSecond, environment.ratePerSecond, campaign.send.ratePerSecond);
}

function lowest(...rates: readonly (number | null | undefined)[]): number | null {
  const set = rates.filter((rate) => rate !== null && rate !== undefined);
  return set.length === 0 ? null : Math.min(...set);
}
