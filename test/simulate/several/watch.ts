import type { Heard } from '../heard.ts';
import type { Guard } from '../process.ts';
import type { Edition } from '../scene.ts';
import type { LedgerView, Operation, RowView } from '../watch.ts';
import type { World } from '../world.ts';
import type { Cast, Person } from './campaigns.ts';
import type { CampaignPlan, RuleSet } from './draw.ts';
import { countsFrom, isInside } from './oracle.ts';

/** One campaign as it is seen from outside. */
export interface Watched {
  readonly name: string;
  readonly plan: CampaignPlan;
  readonly edition: Edition;
  readonly view: LedgerView;
  /** Who was ever claimed, and when last: by address, of any leg. */
  readonly claims: Map<string, number>;
  isPurged: boolean;
}

/** The rules, asked of each request and of everybody who is left out; nothing of it is handbill's own. */
export interface RuleWatch {
  /** For one start of a campaign. */
  guard(own: Watched, edited: boolean, list: number): Guard;
  /** Written down now; null: for ever. */
  suppressed(address: string, untilMs: number | null): void;
}

export function createRuleWatch(world: World, cast: Cast, all: readonly Watched[], heard: Heard): RuleWatch {
  const people = new Map(cast.people.map((person) => [person.address, person]));
  const suppressedUntil = new Map<string, number>();

  const personOf = (address: string): Person => people.get(address) ?? { address, zones: null };
  const isSuppressed = (address: string, list: number): boolean =>
    (suppressedUntil.get(address) ?? 0) > world.wallMs ||
    heard.isOptedOut(address) ||
    cast.lists[list]?.addresses.has(address) === true;
  const wasSuppressed = (address: string, list: number): boolean =>
    suppressedUntil.has(address) || heard.wasOptedOut(address) || cast.lists[list]?.addresses.has(address) === true;
  /** Who was left out and why, with the name of the campaign: nobody's mind is changed by a later start. */
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
        const { before, after } = other.plan;
        if (!surely) return before.isCounted || after.isCounted;
        return before.isCounted && after.isCounted && !other.isPurged && wasReached(other, address);
      });
      return sent.length >= cap.max;
    });

  return {
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
          (reason === 'excluded' && others(own).some((other) => isNamed(either, other) && other.claims.has(address))) ||
          (reason === 'frequency-cap' && either.some((one) => isCapped(own, one, address, beganMs, false))) ||
          (reason === 'expired' && rules.notAfterMs !== null && world.wallMs > rules.notAfterMs) ||
          (reason === 'window-closed' && rules.window !== null && rules.notAfterMs !== null) ||
          (reason === 'zone-unknown' && rules.window !== null) ||
          (reason === 'outside-window' &&
            rules.window !== null &&
            !isInsideAllTheTime(rules, personOf(address), beganMs)) ||
          (reason === 'canary-undecided' && rules.canary !== null);
        if (row.state === 'skipped') leftOutBefore.add(said);
        if (RULES.has(reason)) world.cover(`rule:${reason}`);
        if (FINAL.has(reason) && row.state !== 'skipped') object(`${address} is ${row.state} (${reason}), not skipped`);
        if (RULES.has(reason) && !isRight)
          object(`${address} is ${row.state} (${reason}) although nothing asks for it`);
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
          known = new Map(own.view.rows.map((row) => [placeOf(row), `${row.state} ${row.reason}`]));
          canary.begins();
        },
        claimed(row) {
          if (row.address === null) return;
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
            if (isSuppressed(address, list)) object(`posts to ${address}, who is suppressed`);
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
          const isNew = operation === 'sealLoad' || operation === 'amend';
          const now = new Map<string, string>();
          for (const row of rows) {
            const said = `${row.state} ${row.reason}`;
            now.set(placeOf(row), said);
            const isSet = row.state === 'skipped' || row.state === 'deferred';
            if (isSet && (isNew || known.get(placeOf(row)) !== said)) leftOut(row);
          }
          known = now;
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

/** Reasons that somebody is left out by a rule, for now or for good. */
const RULES = new Set([
  'suppressed',
  'excluded',
  'frequency-cap',
  'expired',
  'window-closed',
  'zone-unknown',
  'outside-window',
  'canary-undecided',
]);

/** Of those, for good. */
const FINAL = new Set(['suppressed', 'excluded', 'frequency-cap', 'expired', 'window-closed']);

function isNamed(rules: readonly RuleSet[], { name }: Watched): boolean {
  return rules.some(({ exclude }) => exclude.includes(name));
}

function placeOf({ row, leg }: RowView): string {
  return `${leg} ${row}`;
}

/**
 * Nobody behind a step of the canary is claimed before everybody of the step has an outcome, enough of those are
 * accepted, and the pause is over. A fallback goes to somebody who has passed already.
 */
function createCanaryWatch(world: World, own: Watched, { canary }: RuleSet, inFlight: () => number) {
  const passed = new Set<number>();
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    begins() {
      lastMs = Math.max(lastMs, ...own.claims.values());
    },
    claimed({ leg }: RowView) {
      const before = lastMs;
      lastMs = world.wallMs;
      if (canary === null || leg > 0) return;
      const last = new Map<number, RowView>();
      for (const row of own.view.rows) last.set(row.row, row);
      const states = [...last.values()].map(({ state }) => state);
      const accepted = states.filter((state) => state === 'accepted').length;
      const settled = states.filter((state) => SETTLED.has(state)).length;
      const claimed = states.filter((state) => state === 'claimed').length;
      for (const step of canary.steps) {
        if (!('count' in step)) continue;
        if (settled + claimed <= step.count) passed.delete(step.count);
        // Whoever went through before there was such a step asked nobody.
        else if (settled > step.count) passed.add(step.count);
        else if (!passed.has(step.count)) {
          passed.add(step.count);
          world.cover('canary step passed');
          const object = (what: string): void => world.object(`${own.name}: the gate after ${step.count} ${what}`);
          if (settled < step.count || inFlight() > 0)
            object(`is passed with ${settled} outcomes, ${inFlight()} in flight`);
          const { accepted: least } = canary.gate;
          if (least !== null && accepted < least * settled - 1e-9)
            object(`is passed with ${accepted} accepted of ${settled}`);
          if (world.wallMs - before < canary.pauseMs) object(`is passed after a pause of ${world.wallMs - before} ms`);
        }
      }
    },
  };
}

const SETTLED = new Set(['accepted', 'rejected', 'failed', 'in-doubt']);
