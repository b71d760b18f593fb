import { problem } from '../errors.ts';
import type { Excluded } from '../model.ts';
import { didYouMean } from '../util/suggest.ts';
import type { Merged } from './merge.ts';

/**
 * `exclude`: other campaigns, or occurrences of them. A name that no campaign of the project has may be that of one which
 * was deleted since: whether it is a slip, which would let people through, is for those to say who have the ledger.
 *
 * @param names - of all campaigns of the project
 */
export function readExclude(merged: Merged, names: readonly string[]): readonly Excluded[] {
  const { exclude: written = [], name: own } = merged.file;
  const known = own === undefined ? names : [...names, own];
  return [written].flat().map((text, i) => {
    const at = text.indexOf('@');
    const campaign = at === -1 ? text : text.slice(0, at);
    const occurrence = at === -1 ? null : text.slice(at + 1);
    const place = merged.where(typeof written === 'string' ? '/exclude' : `/exclude/${i}`) ?? {};
    if (known.includes(campaign)) return { campaign, occurrence, place, unknown: null };
    const hint = didYouMean(campaign, known).hint ?? 'Correct the name, or take it out.';
    const message = `"exclude" names a campaign "${campaign}", which is neither in the project nor in the ledger.`;
    return { campaign, occurrence, place, unknown: problem('campaign-not-found', message, { ...place, hint }) };
  });
}
