import type { Recipient, SkipReason } from '../model.ts';
import { uniform } from './assign.ts';
import type { Reached } from './contact-history.ts';
import type { Closed, WindowGate } from './gate.ts';
import type { Plan } from './plan.ts';
import { type SuppressionReader, type Suppressions, suppressedBy } from './suppression.ts';

/** A test message has no sources. Rules about days count from `plan.day`; `now` is for what may change during a run. */
type RuleSources = AtMoment | Partial<Record<keyof AtMoment, undefined>>;

interface AtMoment {
  /** Ms since 1970. */
  readonly now: () => number;
  readonly suppressions?: Suppressions;
  /** Null: there is none, as in a check of files. */
  readonly ledger?: SuppressionReader | null;
  /** Null: no rule uses it. */
  readonly reached?: Reached | null;
  /** See `lateAt`. Absent: the time does not count. */
  readonly lateAtMs?: number;
  /** Null: the campaign has no window. Absent: the hour does not count. */
  readonly window?: WindowGate | null;
}

/** Why a recipient is not sent to: the detail beside the rule's reason, empty without one; or what the window says. */
type Ruling = string | Closed;

/** Asked of each row; null: the rule lets the recipient through. */
type Check = (recipient: Recipient) => Ruling | null;

interface Rule {
  readonly reason: SkipReason;
  /** Other runs and replies can change the answer: the claim asks the ledger again, for a fallback at its address. */
  readonly atClaim?: true;
  /** Null: the campaign does not ask for the rule. */
  readonly open: (plan: Plan, sources: RuleSources) => Check | null;
}

/** The first rule that applies gives the reason (failures.md, A2). All commands that decide use this table. */
const RULES: readonly Rule[] = [
  {
    reason: 'suppressed',
    atClaim: true,
    open: (_, { suppressions, ledger = null, now }) =>
      suppressions === undefined || now === undefined ? null : suppressedBy(suppressions, ledger, now),
  },
  { reason: 'unreachable', atClaim: true, open: (_, { reached }) => reached?.unreachable ?? null },
  {
    reason: 'country',
    open: ({ environment: { countries } }) =>
      countries === null ? null : (recipient) => otherCountry(countries, recipient),
  },
  {
    reason: 'fenced',
    atClaim: true,
    open: ({ fence }) => (fence === null ? null : ({ to }) => (fence.reaches(to) ? null : '')),
  },
  { reason: 'excluded', atClaim: true, open: (_, { reached }) => reached?.excluded() ?? null },
  {
    reason: 'holdout',
    open: ({ campaign: { split } }) =>
      split.holdout === 0 ? null : ({ key }) => (uniform('holdout', split.seed, key) < split.holdout ? '' : null),
  },
  { reason: 'no-follow-up', atClaim: true, open: (_, sources) => followUp(sources) },
  {
    reason: 'frequency-cap',
    atClaim: true,
    open(_, sources) {
      const { reached, window, now } = sources;
      const capped = now === undefined ? null : (reached?.capped(now) ?? null);
      const others = [followUp(sources), window?.closed ?? null].filter((check) => check !== null);
      if (capped === null || others.length === 0) return capped;
      // A recipient that waits is checked again when its time has come: today's messages say nothing of tomorrow. One whose
      // time has passed is skipped for that reason, which a later rule gives.
      return (recipient) => (others.some((check) => check(recipient) !== null) ? null : capped(recipient));
    },
  },
  {
    reason: 'expired',
    open(_, { lateAtMs = Number.POSITIVE_INFINITY, now }) {
      if (now === undefined || lateAtMs === Number.POSITIVE_INFINITY) return null;
      return () => (now() >= lateAtMs ? '' : null);
    },
  },
  // The last one, because it can also say later.
  { reason: 'window-closed', open: (_, { window }) => window?.closed ?? null },
];

function followUp({ reached, now }: RuleSources): Check | null {
  return now === undefined ? null : (reached?.follows(now) ?? null);
}

/** Null: it may be sent to. Only numbers have a country. */
export function otherCountry(
  countries: readonly string[],
  { to, country }: Pick<Recipient, 'to' | 'country'>,
): string | null {
  if (!to.startsWith('+') || (country !== null && countries.includes(country))) return null;
  return country ?? 'no country';
}

export type OpenRules = readonly { readonly reason: SkipReason; readonly check: Check }[];

/** @throws HandbillError (exit 2): the ledger holds hashes, and their key is missing */
export function openRules(plan: Plan, sources: RuleSources = {}): OpenRules {
  return opened(RULES, plan, sources);
}

/** Each message asks these again, whatever the hour. */
export function openClaimRules(plan: Plan, { window: _, ...sources }: RuleSources): OpenRules {
  return opened(
    RULES.filter(({ atClaim }) => atClaim === true),
    plan,
    sources,
  );
}

function opened(rules: readonly Rule[], plan: Plan, sources: RuleSources): OpenRules {
  return rules.flatMap(({ reason, open }) => {
    const check = open(plan, sources);
    return check === null ? [] : [{ reason, check }];
  });
}
