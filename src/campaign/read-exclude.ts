import { problem } from '../errors.ts';
import type { Excluded } from '../model.ts';
import { readOccurrence } from '../util/occurrence-name.ts';
import { didYouMean } from '../util/suggest.ts';
import type { Report } from './legs.ts';
import type { Merged } from './merge.ts';

/**
 * `exclude`: other campaigns, or occurrences of them. A name that no campaign of the project has may be that of one which
 * was deleted since: whether it is a slip, which would let people through, is for those to say who have the ledger.
 *
 * @param names - of all campaigns of the project
 * @param timeZone - of the campaign, for an occurrence that has a time without a zone
 */
export function readExclude(
  merged: Merged,
  {
    names,
    timeZone,
    report,
  }: { readonly names: readonly string[]; readonly timeZone: string; readonly report: Report },
): readonly Excluded[] {
  const { exclude: written = [], name: own } = merged.file;
  const known = own === undefined ? names : [...names, own];
  return [written].flat().map((text, i) => {
    const at = text.indexOf('@');
    const campaign = at === -1 ? text : text.slice(0, at);
    const pointer = typeof written === 'string' ? '/exclude' : `/exclude/${i}`;
    const place = merged.where(pointer) ?? {};
    const read = at === -1 ? null : readOccurrence(text.slice(at + 1), { timeZone, scheduled: false });
    if (read !== null && 'message' in read) report(pointer, 'invalid-value', read.message, read.hint);
    const occurrence = read !== null && 'occurrence' in read ? read.occurrence : null;
    if (known.includes(campaign)) return { campaign, occurrence, place, unknown: null };
    const hint = didYouMean(campaign, known).hint ?? 'Correct the name, or take it out.';
    const message = `"exclude" names a campaign "${campaign}", which is neither in the project nor in the ledger.`;
    return { campaign, occurrence, place, unknown: problem('campaign-not-found', message, { ...place, hint }) };
  });
}
