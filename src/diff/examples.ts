import { decisions } from '../plan/decide.ts';
import type { Plan } from '../plan/plan.ts';
import { mask } from '../util/mask.ts';

/**
 * The masked addresses of some rows. The list is read once more up to the last of them: to remember an address for
 * every recipient, in case it should be shown, would take more memory than all the rest.
 */
export async function maskedAddresses(
  plan: Plan,
  rows: Iterable<number>,
  skipInvalid: boolean,
): Promise<ReadonlyMap<number, string>> {
  const wanted = new Set(rows);
  const masked = new Map<number, string>();
  if (wanted.size === 0) return masked;
  for await (const batch of decisions(plan, { skipInvalid, wanted: (row) => wanted.has(row) })) {
    for (const { row, to } of batch) {
      wanted.delete(row);
      if (to !== null) masked.set(row, mask(to));
    }
    if (wanted.size === 0) break;
  }
  return masked;
}
