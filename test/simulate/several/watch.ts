import type { StopEnds } from '../../../src/model.ts';
import type { Heard } from '../heard.ts';
import type { Guard } from '../process.ts';
import type { Edition } from '../scene.ts';
import type { LedgerView, Operation, RowView } from '../watch.ts';
import type { World } from '../world.ts';
import type { Cast, Person } from './campaigns.ts';
import { type CampaignPlan, PRICE, type RuleSet, type SeveralPlan } from './draw.ts';
import { beginning, countsFrom, isInside } from './oracle.ts';

/** One campaign as it is seen from outside. */
export interface Watched {
  readonly name: string;
  readonly plan: CampaignPlan;
  readonly edition: Edition;
  readonly view: LedgerView;
  /** Who was ever claimed, and when last: by address, of any step. */
  readonly claims: Map<string, number>;
  isPurged: boolean;
}

/** The rules, asked of each request and of all who are left out; nothing of it is handbill's own. */
export interface RuleWatch {
  /** For one start of a campaign. */
  guard(own: Watched, edited: boolean, list: number): Guard;
  /** A STOP, or a complaint, that counts for this campaign: one about another topic does not. */
  isOptedOut(own: Watched, address: string): boolean;
  /** Written down now; null: permanent. */
  suppressed(address: string, untilMs: number | null): void;
  /** The least that the ledger must count as spent, by the instant at which the period began. */
  spent(): ReadonlyMap<number, number>;
}

export function createRuleWatch(
  world: World,
  cast: Cast,
  all: readonly Watched[],
  heard: Heard,
  stopEnds: StopEnds,
  budget: SeveralPlan['budget'],
): RuleWatch {
  const people = new Map(cast.people.map((person) => [person.address, person]));
  const suppressedUntil = new Map<string, number>();
  /** When each row was claimed last, by campaign, step and row: what it costs counts in that period. */
  const claimedAt = new Map<string, number>();
  const spent = (): ReadonlyMap<number, number> => {
    const sums = new Map<number, number>();
    if (budget === null) return sums;
    for (const { name, view } of all) {
      for (const row of view.rows) {
        const atMs = claimedAt.get(`${name} ${placeOf(row)}`);
        if (atMs === undefined || !REACHED.has(row.state)) continue;
        const period = beginning(budget.per, 'UTC', atMs);
        sums.set(period, (sums.get(period) ?? 0) + PRICE);
      }
    }
    return sums;
  };

  const personOf = (address: string): Person => people.get(address) ?? { address, zones: null };
  const topicOf = ({ edition }: Watched): string | null => edition.plan.campaign.topic;
  /** Whether a STOP of this person can only be about messages such as this campaign's, or about everything. */
  const isAboutThis = (own: Watched, address: string): boolean => {
    if (stopEnds === 'everything' || heard.hasComplained(address)) return true;
    const topics = new Set(all.filter(({ claims }) => claims.has(address)).map(topicOf));
    topics.delete(topicOf(own));
    return topics.size === 0 || (topics.size === 1 && topics.has(null));
  };
  const isOptedOut = (own: Watched, address: string): boolean => heard.isOptedOut(address) && isAboutThis(own, address);
  const isSuppressed = (own: Watched, address: string, list: number): boolean =>
    (suppressedUntil.get(address) ?? 0) > world.wallMs ||
    isOptedOut(own, address) ||
    cast.lists[list]?.addresses.has(address) === true;
  const wasSuppressed = (address: string, list: number): boolean =>
    suppressedUntil.has(address) || heard.wasOptedOut(address) || cast.lists[list]?.addresses.has(address) === true;
  /** They failed for good as often as the rule says, now or once `from` events had come in since `fromMs`. */
  const isUnreachable = ({ unreachable }: RuleSet, address: string, fromMs: number, from: number): boolean => {
    if (unreachable === null) return false;
    const { after, withinMs } = unreachable;
    for (let told = heard.told.length; told >= from; told--) {
      if (heard.failures(address, fromMs - withinMs, told) >= after) return true;
    }
    return false;
  };
  /** Who was left out and why, with the name of the campaign: a later start changes none of it. */
  const leftOutBefore = new Set<string>();

  /** A message that counts: accepted, in doubt, or on its way. */
  const wasReached = ({ view }: Watched, address: string): boolean =>
    view.rows.some((row) => row.address === address && REACHED.has(row.state));
  const others = (own: Watched): readonly Watched[] => all.filter((other) => other !== own);
  /** Others that sent, or may have, as many messages as a cap allows. */
  const isCapped = (own: Watched, rules: RuleSet, address: string, fromMs: number, surely: boolean): boolean =>
    rules.frequency.some((cap) => {
      const sinceMs = countsFrom(cap, personOf(address), own.edition.plan.campaign.timeZone, fromMs);
      const sent = others(own).filter((other) => {
        if ((other.claims.get(address) ?? 0) < sinceMs) return false;
        if (cap.of === 'topic' && topicOf(other) !== topicOf(own)) return false;
        const { before, after } = other.plan;
        if (!surely) return before.isCounted || after.isCounted;
        return before.isCounted && after.isCounted && !other.isPurged && wasReached(other, address);
      });
      return sent.length >= cap.max;
    });

  return {
    spent,
    isOptedOut,
    suppressed(address, untilMs) {
      const until = untilMs ?? Number.POSITIVE_INFINITY;
      suppressedUntil.set(address, Math.max(until, suppressedUntil.get(address) ?? 0));
    },
    guard(own, edited, list) {
      const rules = edited ? own.plan.after : own.plan.before;
      const either = [own.plan.before, own.plan.after];
      const inFlight = new Set<string>();
      const canary = createCanaryWatch(world, own, rules, () => inFlight.size);
      let beganMs = world.wallMs;
      let toldBefore = heard.told.length;
      /** State and reason of each row after the last transaction. */
      let known = new Map<string, string>();
      const object = (what: string): void => world.object(`${own.name}: ${what}`);

      const leftOut = (row: RowView): void => {
        const { address, reason } = row;
        if (address === null || reason === null) return;
        const said = `${own.name} ${address} ${reason}`;
        const isRight =
          leftOutBefore.has(said) ||
          (reason === 'suppressed' && wasSuppressed(address, list)) ||
          (reason === 'unreachable' && isUnreachable(rules, address, beganMs, toldBefore)) ||
          (reason === 'excluded' && others(own).some((other) => isNamed(either, other) && other.claims.has(address))) ||
          (reason === 'frequency-cap' && either.some((one) => isCapped(own, one, address, beganMs, false))) ||
          (reason === 'fenced' && rules.isFenced && !cast.fence.addresses.has(address)) ||
          (reason === 'expired' && rules.notAfterMs !== null && world.wallMs > rules.notAfterMs) ||
          (reason === 'window-closed' && rules.window !== null && rules.notAfterMs !== null) ||
          (reason === 'zone-unknown' && rules.window !== null) ||
          (reason === 'outside-window' &&
            rules.window !== null &&
            !isInsideAllTheTime(rules, personOf(address), beganMs)) ||
          (reason === 'canary-undecided' && rules.canary !== null) ||
          ((reason === 'no-follow-up' || reason === 'follow-up-later') && rules.followsMs !== null);
        if (row.state === 'skipped') leftOutBefore.add(said);
        if (RULES.has(reason)) world.cover(`rule:${reason}`);
        if (FINAL.has(reason) && row.state !== 'skipped') object(`${address} is ${row.state} (${reason}), not skipped`);
        if (RULES.has(reason) && !isRight)
          object(`${address} is ${row.state} (${reason}) although nothing asks for it`);
      };
      /** A message that follows that of the first campaign: long enough after it, and after no answer. */
      const followUp = (address: string, waitMs: number): void => {
        world.cover('follow-up claimed');
        const before = all.find(({ name }) => name === 'alpha');
        const sentMs = before?.claims.get(address);
        if (before === undefined || sentMs === undefined || !wasReached(before, address)) {
          object(`follows a message that ${address} did not get`);
          return;
        }
        if (world.wallMs - sentMs < waitMs) object(`follows after ${world.wallMs - sentMs} ms on ${address}`);
        // What comes in from another provider answers no message of this one.
        const { postedFrom } = before.view.rows.find((row) => row.address === address && REACHED.has(row.state)) ?? {};
        const isAnswered = heard.told.some(
          ({ event, environment }) =>
            event.kind === 'reply' &&
            event.from === address &&
            environment === postedFrom &&
            (event.atMs ?? 0) > sentMs,
        );
        if (isAnswered) object(`follows on ${address}, who answered`);
      };
      /** Inside when the start began and now, and less than an hour has passed. */
      const isInsideAllTheTime = ({ window }: RuleSet, person: Person, fromMs: number): boolean =>
        window !== null &&
        world.wallMs - fromMs < 3_600_000 &&
        isInside(window, person, fromMs) &&
        isInside(window, person, world.wallMs);

      return {
        begins() {
          beganMs = world.wallMs;
          toldBefore = heard.told.length;
          known = new Map(own.view.rows.map((row) => [placeOf(row), `${row.state} ${row.reason}`]));
          canary.begins();
        },
        claimed(row) {
          claimedAt.set(`${own.name} ${placeOf(row)}`, world.wallMs);
          if (row.address === null) return;
          if (rules.followsMs !== null && row.step === 0) followUp(row.address, rules.followsMs);
          own.claims.set(row.address, world.wallMs);
          canary.claimed(row);
        },
        posting({ addresses, references }) {
          for (const reference of references) inFlight.add(reference);
          const late = rules.notAfterMs !== null && world.wallMs > rules.notAfterMs;
          if (late && world.monotonicMs > world.clockSetMs + 1000) object('posts after notAfter');
          if (own.isPurged) object('posts although the run was purged');
          for (const address of addresses) {
            const person = personOf(address);
            if (heard.isOptedOut(address) && !isAboutThis(own, address)) world.cover('posted about another topic');
            if (isSuppressed(own, address, list)) object(`posts to ${address}, who is suppressed`);
            if (isUnreachable(rules, address, world.wallMs, heard.told.length))
              object(`posts to ${address}, who is out of reach`);
            if (rules.isFenced && !cast.fence.addresses.has(address)) object(`posts to ${address}, behind the fence`);
            if (rules.window !== null && !isInside(rules.window, person, world.wallMs)) {
              object(`posts to ${address} outside their window, at ${new Date(world.wallMs).toISOString()}`);
            }
            for (const other of others(own)) {
              if (!isNamed([rules], other)) continue;
              if (other.isPurged) object(`posts to ${address} although nobody knows whom ${other.name} reached`);
              else if (wasReached(other, address)) object(`posts to ${address}, whom ${other.name} reached`);
            }
            if (isCapped(own, rules, address, world.wallMs, true)) object(`posts to ${address} above the cap`);
            world.cover('ruled post');
          }
        },
        answered({ references }) {
          for (const reference of references) inFlight.delete(reference);
        },
        committed(operation: Operation) {
          const { rows } = own.view;
          const isNew = operation === 'finishLoad' || operation === 'amend';
          const now = new Map<string, string>();
          for (const row of rows) {
            const said = `${row.state} ${row.reason}`;
            now.set(placeOf(row), said);
            const isSet = row.state === 'skipped' || row.state === 'deferred';
            if (isSet && (isNew || known.get(placeOf(row)) !== said)) leftOut(row);
          }
          known = now;
          for (const [fromMs, micros] of spent()) {
            world.cover('spent of a budget');
            if (micros > (budget?.maxMicros ?? 0))
              object(
                `${micros} of ${budget?.maxMicros} are spent in the ${budget?.per} of ${new Date(fromMs).toISOString()}`,
              );
          }
          const toSend = rows.filter(({ state }) => state === 'pending' || state === 'deferred').length;
          const { maxRecipients } = rules;
          if (isNew && maxRecipients !== null && toSend > maxRecipients)
            object(`${toSend} are above limits.maxRecipients`);
        },
      };
    },
  };
}

const REACHED = new Set(['accepted', 'in-doubt', 'claimed']);

/** Reasons that a recipient is left out by a rule, for now or for good. */
const RULES = new Set([
  ...'unreachable fenced suppressed excluded frequency-cap expired window-closed zone-unknown'.split(' '),
  ...'outside-window canary-undecided no-follow-up follow-up-later'.split(' '),
]);

/** Of those, for good. */
const FINAL = new Set([
  'unreachable',
  'suppressed',
  'fenced',
  'excluded',
  'no-follow-up',
  'frequency-cap',
  'expired',
  'window-closed',
]);

function isNamed(rules: readonly RuleSet[], { name }: Watched): boolean {
  return rules.some(({ exclude }) => exclude.includes(name));
}

function placeOf({ row, step }: RowView): string {
  return `${step} ${row}`;
}

/**
 * No recipient behind a step of the canary is claimed before all of the step has an outcome, enough of those are
 * accepted, and the pause is over. A fallback goes to a recipient who has passed already.
 */
function createCanaryWatch(world: World, own: Watched, { canary }: RuleSet, inFlight: () => number) {
  const passed = new Set<number>();
  /** Rows that had an outcome: a report may begin a fallback of them later, after they have passed. */
  const hadOutcome = new Set<number>();
  let lastMs = Number.NEGATIVE_INFINITY;
  const lastOf = (): readonly RowView[] => {
    const last = new Map<number, RowView>();
    for (const row of own.view.rows) last.set(row.row, row);
    return [...last.values()];
  };
  const noteOutcomes = (rows: readonly RowView[]): void => {
    for (const { row, state } of rows) if (SETTLED.has(state)) hadOutcome.add(row);
  };
  return {
    begins() {
      lastMs = Math.max(lastMs, ...own.claims.values());
      noteOutcomes(lastOf());
    },
    claimed({ step }: RowView) {
      const before = lastMs;
      lastMs = world.wallMs;
      if (canary === null || step > 0) return;
      const last = lastOf();
      noteOutcomes(last);
      const states = last.map(({ state }) => state);
      const late = last.filter((row) => row.state === 'claimed' && row.step > 0 && hadOutcome.has(row.row)).length;
      const accepted = states.filter((state) => state === 'accepted').length;
      const settled = states.filter((state) => SETTLED.has(state)).length + late;
      const claimed = states.filter((state) => state === 'claimed').length - late;
      for (const step of canary.steps) {
        if (!('count' in step)) continue;
        if (settled + claimed <= step.count) passed.delete(step.count);
        // A recipient who passed before there was such a step was not counted.
        else if (settled > step.count) passed.add(step.count);
        else if (!passed.has(step.count)) {
          passed.add(step.count);
          world.cover('canary step passed');
          const object = (what: string): void => world.object(`${own.name}: the gate after ${step.count} ${what}`);
          const flying = inFlight() - late;
          if (settled < step.count || flying > 0) object(`is passed with ${settled} outcomes, ${flying} in flight`);
          const { accepted: least } = canary.gate;
          if (least !== null && accepted + late < least * settled - 1e-9)
            object(`is passed with ${accepted} accepted of ${settled}`);
          if (world.wallMs - before < canary.pauseMs) object(`is passed after a pause of ${world.wallMs - before} ms`);
        }
      }
    },
  };
}

const SETTLED = new Set(['accepted', 'rejected', 'failed', 'in-doubt']);
