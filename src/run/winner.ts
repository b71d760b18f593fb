import { problem, refuse } from '../errors.ts';
import type { Plan } from '../plan/plan.ts';
import { didYouMean } from '../util/suggest.ts';

/**
 * The winner that somebody names must be one of the variants, and there must be a test that it won.
 *
 * @throws HandbillError exit 2
 */
export function checkWinner({ campaign }: Pick<Plan, 'campaign'>, winner: string): void {
  const names = campaign.variants.map(({ name }) => name);
  const at = { file: campaign.file };
  if (names.length === 0 || campaign.split.test === null) {
    const hint = 'A winner is what everybody gets who is not in the test: see `variants` and `test`.';
    throw refuse(problem('usage', `The campaign "${campaign.name}" tests no variants.`, { at, hint }));
  }
  if (names.includes(winner)) return;
  const hint = didYouMean(winner, names).hint ?? `Variants: ${names.join(', ')}.`;
  throw refuse(problem('usage', `There is no variant "${winner}".`, { at, hint }));
}

/**
 * The winner that a run remembers, if any. An amended campaign may have lost it; nobody but the user can say what those
 * get then who wait for it.
 *
 * @throws HandbillError exit 2
 */
export function winnerOfRun({ campaign }: Pick<Plan, 'campaign'>, run: { readonly winner: string | null } | null) {
  const winner = run?.winner ?? null;
  const names = campaign.variants.map(({ name }) => name);
  if (winner === null || names.length === 0 || names.includes(winner)) return winner;
  const message = `This run has the winner "${winner}", and the campaign has no such variant any more.`;
  const hint = `Name another one with --winner: ${names.join(', ')}.`;
  throw refuse(problem('usage', message, { at: { file: campaign.file }, hint }));
}
