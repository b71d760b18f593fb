import type { Channel, Outcome } from '../../src/model.ts';
import type { Ending } from './oracle.ts';

/** What the ledger says of the rows, with the references by which receipts are found. */
export function endingsOf<T extends Outcome>(
  outcomes: readonly T[],
  referenceOf: (key: string, channel: Channel) => string,
): (Omit<T, 'steps'> & Ending)[] {
  return outcomes.map(({ steps, ...last }) => {
    const reference = (channel: Channel) => (last.key === null ? null : referenceOf(last.key, channel));
    const ending = { ...last, reference: reference(last.channel) };
    if (steps === undefined) return ending;
    return { ...ending, steps: steps.map((step) => ({ ...step, reference: reference(step.channel) })) };
  });
}
