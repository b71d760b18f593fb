import { type Diagnostic, problem, refuse, warning } from '../errors.ts';
import type { Ledger, Reach } from '../ledger/ledger.ts';
import type { Cap, RunIdentity } from '../ledger/records.ts';
import type { Campaign, Recipient } from '../model.ts';
import { isTest } from '../util/occurrence-name.ts';
import { didYouMean } from '../util/suggest.ts';
import { DAY_MS } from '../util/time.ts';
import { idsOf } from './campaign-id.ts';
import { createFollowUp, notSentBefore, otherList, sentBefore } from './follow-up.ts';
import { mostBeforeMs } from './gate.ts';
import { periodAt } from './period.ts';
import type { Plan } from './plan.ts';
import { openUnreachable } from './unreachable.ts';

export type Reached = NonNullable<Awaited<ReturnType<typeof openReach>>>;

/**
 * Null without a rule, and without a ledger unless a run cannot begin for that. Throws (exit 2): `exclude` names an unknown
 * campaign, a rule asks of a purged run.
 */
export async function openReach(plan: Plan, ledger: Ledger | null, nowMs: number) {
  const { campaign } = plan;
  const { exclude, frequency, after, unreachable, send } = campaign;
  const { each } = campaign.recipients;
  const isAsked = exclude.length > 0 || frequency.length > 0;
  if (!isAsked && after === null && unreachable === null && each === null) return null;
  // A typing mistake in a name would let through all recipients that it was to exclude.
  const unknown = exclude.flatMap((one) =>
    one.unknown === null || idsOf(one, ledger).length > 0 ? [] : [one.unknown],
  );
  if (unknown.length > 0) throw refuse(...unknown);
  const missing = notSentBefore(plan, sentBefore(campaign, plan.environment.identity, ledger));
  const refusals = missing === null ? [] : [missing];
  if (ledger === null && refusals.length === 0) return null;
  const caps = frequency.length === 0 ? null : await createCaps(plan);
  const own = { environment: plan.environment.identity, campaign: campaign.id, occurrence: plan.occurrence };
  const followed = after === null ? null : (ledger?.findRun({ ...own, campaign: after.id }) ?? null);
  const excludes = exclude.flatMap((one) => idsOf(one, ledger).map((id) => ({ ...one, id })));
  const rules = {
    exclude: excludes.map(({ id, occurrence }) => ({ campaign: id, occurrence })),
    sinceMs: caps?.earliestMs(nowMs) ?? null,
    follows: after?.id ?? null,
    sameSinceMs: each === null ? null : nowMs - mostBeforeMs(each, send.window),
  };
  const reach = ledger?.reach(own, rules) ?? NO_HISTORY;
  if (reach.purged.length > 0) throw refuse(...reach.purged.map((run) => purged(run, campaign, excludes)));
  const followUp = missing !== null || ledger === null ? null : createFollowUp(plan, ledger, reach);
  const failing = ledger && openUnreachable(plan, ledger, nowMs);
  const acceptedBefore = (): number => {
    const counts = followed === null ? [] : (ledger?.counts(followed) ?? []);
    return counts.reduce((sum, { outcome, count }) => sum + (outcome === 'accepted' ? count : 0), 0);
  };
  return {
    /** For the claims, which see what other processes do meanwhile. */
    reach: {
      ...reach,
      ...(followUp === null ? {} : { followUp: followUp.atClaim }),
      ...(failing === null ? {} : { unreachable: failing.atClaim }),
    } satisfies Reach as Reach,
    /** Says how often an address failed for good. Null: the campaign does not ask, or no provider says so. */
    unreachable: failing?.check ?? null,
    /** Why the run cannot begin: the campaign that it follows was not sent. */
    refusals,
    /** Once the whole list was counted: it may be another one than that of the campaign before. */
    unfollowed: () => (followUp === null ? [] : otherList(plan, acceptedBefore(), followUp.counted())),
    /** Counts a row for `unfollowed`; null: the campaign follows on no other. */
    count: followUp?.count ?? null,
    /** Says who gets no follow-up, or when; null: the campaign follows on no other. */
    follows: (now: () => number) =>
      followUp === null ? null : (recipient: Recipient) => followUp.check(recipient, now()),
    /** Occurrences that `exclude` names and that were not sent, perhaps by a typing mistake. */
    warnings: ledger === null ? [] : unsentOccurrences(plan, ledger),
    capsOf: (recipient: Recipient, at: number): readonly Cap[] => caps?.of(recipient, at) ?? NO_CAPS,
    /** Says which excluded campaign reached a recipient; null: none. Null where the campaign excludes none. */
    excluded: () => (exclude.length === 0 && each === null ? null : excludedBy(reach, excludes)),
    /** Says what a recipient was sent already, where that is as much as the cap allows. Null without caps. */
    capped: (now: () => number) => (caps === null ? null : cappedBy(reach, caps, now)),
  };
}

/** @throws HandbillError (exit 2): as `openReach`, and where the run cannot be sent */
export async function openReachToSend(...args: Parameters<typeof openReach>): Promise<Reached | null> {
  const reached = await openReach(...args);
  if (reached !== null && reached.refusals.length > 0) throw refuse(...reached.refusals);
  return reached;
}

const NO_CAPS: readonly DatedCap[] = [];

const NO_HISTORY: Reach = {
  purged: [],
  excludedBy: () => null,
  cappedBy: () => null,
  followed: () => null,
  replyTo: () => null,
  refresh: () => undefined,
};

type Excludes = readonly (Campaign['exclude'][number] & { readonly id: string })[];

function excludedBy(reach: Reach, excludes: Excludes): (recipient: Recipient) => string | null {
  // The same few runs may exclude half of a list, or all of it.
  const texts = new Map<RunIdentity, string>();
  return ({ to, key }) => {
    const run = reach.excludedBy(to, key);
    if (run === null) return null;
    const named = excludes.find(({ id }) => id === run.campaign)?.campaign ?? run.campaign;
    const text = texts.get(run) ?? `reached by ${named}@${run.occurrence}`;
    texts.set(run, text);
    return text;
  };
}

function cappedBy(reach: Reach, caps: Caps, now: () => number): (recipient: Recipient) => string | null {
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

/** It may be sent later; but where other occurrences were, it is more likely misspelt. */
function unsentOccurrences({ campaign, environment }: Plan, ledger: Ledger): readonly Diagnostic[] {
  const named = campaign.exclude.filter(({ occurrence }) => occurrence !== null);
  if (named.length === 0) return [];
  const runs = ledger.runs().filter((run) => run.environment === environment.identity && !isTest(run.occurrence));
  return named.flatMap((one) => {
    const { campaign: name, occurrence, place } = one;
    const ids = idsOf(one, ledger);
    const sent = runs.filter((run) => ids.includes(run.campaign)).map((run) => run.occurrence);
    if (occurrence === null || sent.length === 0 || sent.includes(occurrence)) return [];
    const message = `\`exclude\` names ${name}@${occurrence}, which was not sent: it excludes no recipients.`;
    const hint = didYouMean(occurrence, sent).hint ?? `Occurrences that were sent: ${sent.slice(0, 5).join(', ')}.`;
    return [warning('run-not-found', message, { ...place, hint })];
  });
}

function purged({ campaign, occurrence }: RunIdentity, asking: Campaign, excludes: Excludes): Diagnostic {
  const excluded = excludes.find(({ id }) => id === campaign);
  const isExcluded = excluded !== undefined;
  const { after } = asking;
  const isBefore = after?.id === campaign;
  const isSame = campaign === asking.id && asking.recipients.each !== null;
  const rule = isBefore ? 'after' : isExcluded ? 'exclude' : isSame ? 'send.each' : 'frequency';
  const name = isBefore ? after.campaign : (excluded?.campaign ?? campaign);
  const message = `\`${rule}\` needs the recipients of ${name}@${occurrence}, but its personal data was purged.`;
  const hint = isExcluded
    ? 'Take it out of `exclude`, or leave its recipients out with a suppression list.'
    : isSame
      ? 'It may have sent for times that are still to come. Wait until they have passed, and purge later next time.'
      : 'Wait until its messages are older than the period of the cap, or send without the cap: frequency: none.';
  return problem('run-purged', message, { at: { file: asking.file }, ...excluded?.place, hint });
}

interface DatedCap extends Cap {
  /** Where its day or week is: of several possible zones, the one in which it began first. */
  readonly zone: string;
}

type Caps = Awaited<ReturnType<typeof createCaps>>;

interface Group {
  readonly zones: readonly string[];
  caps: readonly DatedCap[];
  fromMs: number;
  toMs: number;
}

/** Calendar units are those of the recipient's zone; of several possible zones, the earliest beginning counts. */
export async function createCaps(plan: Plan) {
  const { frequency, recipients, timeZone, topic } = plan.campaign;
  const [{ wallText }, { createZoneReader }] = await Promise.all([
    import('./calendar.ts'),
    import('../recipients/zone.ts'),
  ]);
  const isByZone = frequency.some(({ per }) => per.kind === 'calendar');
  const reader = isByZone ? createZoneReader(recipients, plan.columns) : null;
  const groups: Group[] = [];
  const groupOf = (id: number): Group => {
    // By position, without holes, which would make every look-up slow; the first one is of those without a known zone.
    while (groups.length <= id + 1) {
      const zones = groups.length === 0 ? [timeZone] : (reader?.names(groups.length - 1) ?? []);
      groups.push({ zones, caps: [], fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY });
    }
    return groups[id + 1] ?? { zones: [timeZone], caps: [], fromMs: 0, toMs: 0 };
  };
  const renew = (group: Group, nowMs: number): void => {
    let toMs = Number.POSITIVE_INFINITY;
    group.caps = frequency.map(({ max, per, of }): DatedCap => {
      const about = of === 'topic' ? { topic } : {};
      if (per.kind === 'rolling') {
        toMs = Math.min(toMs, nowMs + 1);
        return { max, sinceMs: nowMs - per.ms + 1, zone: timeZone, ...about };
      }
      let [zone = timeZone, ...others] = group.zones;
      let { beginsMs: sinceMs, endsMs } = periodAt(per.unit, nowMs, zone);
      for (const other of others) {
        const there = periodAt(per.unit, nowMs, other);
        if (there.beginsMs < sinceMs) [sinceMs, zone] = [there.beginsMs, other];
        endsMs = Math.min(endsMs, there.endsMs);
      }
      toMs = Math.min(toMs, endsMs);
      return { max, sinceMs, zone, ...about };
    });
    group.fromMs = nowMs;
    group.toMs = toMs;
  };
  return {
    /** For all recipients in the same zones the same array, until a day ends or, of a rolling period, the clock moves. */
    of(recipient: Recipient, nowMs: number): readonly DatedCap[] {
      const group = groupOf(reader === null ? -1 : reader.of(recipient));
      if (nowMs >= group.toMs || nowMs < group.fromMs) renew(group, nowMs);
      return group.caps;
    },
    /** `2 messages since 2026-11-21 00:00 in Europe/London`: the history of a capped person. */
    describe({ max, sinceMs, zone, topic: about }: DatedCap): string {
      const which = about === undefined ? '' : about === null ? ' without a topic' : ` about ${about}`;
      return `${max} ${max === 1 ? 'message' : 'messages'}${which} since ${wallText(sinceMs, zone)} in ${zone}`;
    },
    /** A message that is older counts for no recipient, wherever they are. */
    earliestMs(nowMs: number): number {
      // Days that are not 24 hours long: one of a DST night, and those of a country that changes its zone.
      const lengths = frequency.map(({ per }) =>
        per.kind === 'rolling' ? per.ms : LONGEST_DAYS[per.unit] * DAY_MS + DAY_MS / 2,
      );
      return nowMs - Math.max(...lengths);
    },
  };
}

const LONGEST_DAYS = { day: 1, week: 7, month: 31 };
