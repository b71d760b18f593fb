import { type Diagnostic, problem, refuse, warning } from '../errors.ts';
import type { Ledger, Reach } from '../ledger/ledger.ts';
import type { Cap, RunIdentity } from '../ledger/records.ts';
import type { Campaign, Recipient } from '../model.ts';
import { canonicalName, isTest } from '../util/occurrence-name.ts';
import { didYouMean } from '../util/suggest.ts';
import { type Caps, createCaps, type DatedCap } from './caps.ts';
import type { View } from './decide.ts';
import type { Plan } from './plan.ts';

/** `exclude` and `frequency` of a campaign, with what the ledger holds of other runs. */
export interface Reached {
  /** For the claims, which see what other processes do meanwhile. */
  readonly reach: Reach;
  /** Occurrences that `exclude` names and that were not sent, perhaps by a typing mistake. */
  readonly warnings: readonly Diagnostic[];
  /** The most that a recipient may get at this moment. */
  capsOf(recipient: Recipient, nowMs: number): readonly Cap[];
  view(now: () => number): Pick<View, 'excluded' | 'capped'>;
}

/**
 * Reads the contact history of other runs of the environment, as far as `exclude` and `frequency` ask for it. Null where neither
 * does, or where there is no ledger: then there is no history.
 *
 * @throws HandbillError (exit 2): `exclude` names an unknown campaign, or a rule asks about a run whose
 * personal
 *   data was purged: it would let people through
 */
export async function openReach(
  plan: Plan,
  ledger: Pick<Ledger, 'reach' | 'runs'> | null,
  nowMs: number,
): Promise<Reached | null> {
  const { campaign } = plan;
  const { exclude, frequency } = campaign;
  if (exclude.length === 0 && frequency.length === 0) return null;
  const unknown = unknownCampaigns(campaign, ledger);
  if (unknown.length > 0) throw refuse(...unknown);
  if (ledger === null) return null;
  const caps = frequency.length === 0 ? null : await createCaps(plan);
  const own = { environment: plan.environment.name, campaign: campaign.name, occurrence: plan.occurrence };
  const reach = ledger.reach(own, { exclude, sinceMs: caps?.earliestMs(nowMs) ?? null });
  if (reach.purged.length > 0) throw refuse(...reach.purged.map((run) => purged(run, campaign)));
  return {
    reach,
    warnings: unsentOccurrences(plan, ledger),
    capsOf: (recipient, at) => caps?.of(recipient, at) ?? NO_CAPS,
    view: (now) => ({
      ...(exclude.length === 0 ? {} : { excluded: excludedView(reach) }),
      ...(caps === null ? {} : { capped: cappedView(reach, caps, now) }),
    }),
  };
}

const NO_CAPS: readonly DatedCap[] = [];

function excludedView(reach: Reach): NonNullable<View['excluded']> {
  // Half of a list may be left out, all of it by the same few runs.
  const texts = new Map<RunIdentity, string>();
  return (to, key) => {
    const run = reach.excludedBy(to, key);
    if (run === null) return null;
    const text = texts.get(run) ?? `reached by ${run.campaign}@${run.occurrence}`;
    texts.set(run, text);
    return text;
  };
}

function cappedView(reach: Reach, caps: Caps, now: () => number): NonNullable<View['capped']> {
  let last: Cap | null = null;
  let text = '';
  return (recipient) => {
    const cap = reach.cappedBy(recipient.to, recipient.key, caps.of(recipient, now()));
    if (cap === null) return null;
    if (cap !== last) text = caps.describe(cap);
    last = cap;
    return text;
  };
}

/** A typing mistake in a name would let through all recipients that it was to exclude. */
function unknownCampaigns(campaign: Campaign, ledger: Pick<Ledger, 'runs'> | null): readonly Diagnostic[] {
  const strange = campaign.exclude.filter(({ unknown }) => unknown !== null);
  if (strange.length === 0) return [];
  const known = new Set((ledger?.runs() ?? []).map((run) => run.campaign));
  return strange.flatMap((one) => (one.unknown === null || known.has(one.campaign) ? [] : [one.unknown]));
}

/** It may be sent later; but where other occurrences were, it is more likely misspelt. */
function unsentOccurrences({ campaign, environment }: Plan, ledger: Pick<Ledger, 'runs'>): readonly Diagnostic[] {
  const named = campaign.exclude.filter(({ occurrence }) => occurrence !== null);
  if (named.length === 0) return [];
  const runs = ledger.runs().filter((run) => run.environment === environment.name && !isTest(run.occurrence));
  return named.flatMap(({ campaign: name, occurrence, place }) => {
    const sent = runs.filter((run) => run.campaign === name).map((run) => canonicalName(run.occurrence));
    if (occurrence === null || sent.length === 0 || sent.includes(occurrence)) return [];
    const message = `\`exclude\` names ${name}@${occurrence}, which was not sent: it excludes no recipients.`;
    const hint = didYouMean(occurrence, sent).hint ?? `Occurrences that were sent: ${sent.slice(0, 5).join(', ')}.`;
    return [warning('run-not-found', message, { ...place, hint })];
  });
}

function purged({ campaign, occurrence }: RunIdentity, asking: Campaign): Diagnostic {
  const excluded = asking.exclude.find((e) => e.campaign === campaign);
  const isExcluded = excluded !== undefined;
  const rule = isExcluded ? 'exclude' : 'frequency';
  const message = `\`${rule}\` needs the recipients of ${campaign}@${occurrence}, but its personal data was purged.`;
  const hint = isExcluded
    ? 'Take it out of `exclude`, or leave its recipients out with a suppression list.'
    : 'Wait until its messages are older than the period of the cap, or send without the cap: frequency: none.';
  return problem('run-purged', message, { at: { file: asking.file }, ...excluded?.place, hint });
}
