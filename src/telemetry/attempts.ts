import type { ResultRecord } from '../ledger/records.ts';
import type { Channel } from '../model.ts';
import type { LogAbout } from '../operations/observer.ts';
import type { Plan } from '../plan/plan.ts';
import type { RunOptions } from '../run/run.ts';
import { mask } from '../util/mask.ts';
import type { Log } from './log.ts';

type Committed = NonNullable<RunOptions['onCommitted']>;

/** The channel of a leg: the campaign is its first. */
export function channelOf(plan: Plan | null, leg: number): Channel {
  const campaign = plan?.campaign;
  return (leg === 0 ? campaign?.channel : campaign?.fallbacks[leg - 1]?.channel) ?? 'sms';
}

/**
 * Writes a record for each attempt whose result is on disk, all of one commit in one write. A result has no address: it
 * is remembered from the claim, for as long as the request is in flight.
 */
export function createAttemptLog(log: Log, about: LogAbout, plan: Plan | null): Committed {
  const addresses = new Map<string, string>();
  const keyOf = ({ row, leg }: Pick<ResultRecord, 'row' | 'leg'>): string => `${row}.${leg}`;
  return (results, claims) => {
    const records = results.map((result) => {
      const { row, leg, attempts, state, reason, httpStatus, messageId } = result;
      const to = addresses.get(keyOf(result)) ?? null;
      addresses.delete(keyOf(result));
      const outcome = result.next === undefined ? state : 'rejected';
      const fields = {
        row,
        leg,
        channel: channelOf(plan, leg),
        to: to === null ? null : mask(to),
        attempt: attempts,
        outcome,
        reason,
        httpStatus,
        messageId,
      };
      return { message: `An attempt: ${outcome}.`, fields };
    });
    log.writeAll('debug', 'attempt', records, about);
    for (const claim of claims) addresses.set(keyOf(claim), claim.to);
  };
}
