import type { Ledger } from '../ledger/ledger.ts';
import type { Campaign } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import { needsShared } from '../run/list-workers.ts';
import { queueFor } from '../run/part.ts';
import type { Prepared } from '../run/prepare.ts';
import { createSharing, type Sharing } from '../run/sharing.ts';
import { TIMERS } from '../run/timers.ts';
import { isPostgres } from '../util/ledger-address.ts';
import type { SendOptions } from './send-options.ts';
import { rateOf } from './send-rounds.ts';
import { thisWorker } from './worker-facts.ts';

/** @throws HandbillError (exit 2): the ledger is a file */
export function refuseUnlessShareable({ project }: Campaign): void {
  if (!isPostgres(project.ledger)) throw needsShared('--workers is for a shared ledger; this one is a file.');
}

export interface SharingNeeds {
  readonly options: SendOptions;
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly prepared: Pick<Prepared, 'discard'>;
}

/** Opens the queue through which the run is shared; what was prepared is forgotten where that fails. */
export async function beginSharing({
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
          // A ledger that cannot be reached was reported already; whoever left is not heard of any more.
        }
        await queue.close().catch(() => undefined);
      },
    };
  } catch (error) {
    prepared.discard();
    throw error;
  }
}
