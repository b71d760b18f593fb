import type { LegCount } from '../ledger/records.ts';
import type { Canary, Threshold } from '../model.ts';
import { wholePart } from '../util/units.ts';
import { type Figures, triedIn } from './progress.ts';
import { percentDown } from './share-text.ts';

/**
 * The steps of a canary: how many may be sent to before the next gate, and what the gate says. It is derived from what
 * the ledger holds, so that a start that goes on knows where the one before ended.
 */
export interface CanarySteps {
  /** Recipients that may still be put before the gate. */
  room(): number;
  put(recipients: number): void;
  /**
   * Called when nothing is in flight: whoever was put and left out by a rule makes room again.
   *
   * @param counts - as the ledger says it by now, where it was asked: doubts may have been settled meanwhile
   */
  settle(counts?: readonly LegCount[]): void;
  /** What the gate says of everybody so far: null, it is open; else which figure shuts it, as a sentence. */
  judge(): string | null;
  /** It is shut, and opens if reports say that enough of those in doubt have their message. */
  isInDoubt(): boolean;
  /** The next step may begin. */
  pass(): void;
  /** Where the step ends whose gate is next, in recipients. */
  readonly end: number;
}

export interface CanaryContext {
  readonly canary: Canary;
  /** What earlier starts came to, before this one. */
  readonly before: readonly LegCount[];
  readonly figures: Pick<Figures, 'settled'>;
}

export function createCanary({ canary, before, figures }: CanaryContext): CanarySteps {
  const { settled } = figures;
  const first = answersOf(before);
  let earlier = first.outcomes;
  // What this start came to when the ledger was asked last, and what it says holds these too.
  let known = { ...NOBODY };
  const count = (outcome: Tried): number => earlier[outcome] + settled[outcome] - known[outcome];
  const tried = (): number => triedIn(earlier) + triedIn(settled) - triedIn(known);
  const triedBefore = tried();
  const ends = stepEnds(canary.steps, first.meant);
  // A gate that somebody has gone through already was open.
  let at = ends.findIndex((end) => end >= triedBefore);
  if (at === -1) at = ends.length;
  let put = triedBefore;
  const { accepted: least } = canary.gate;
  const isEnough = (accepted: number): boolean => least === null || accepted >= wholePart(least, tried());

  return {
    room: () => (ends[at] ?? Number.POSITIVE_INFINITY) - put,
    put(recipients) {
      put += recipients;
    },
    settle(counts) {
      if (counts !== undefined) {
        earlier = answersOf(counts).outcomes;
        const { accepted, rejected, failed, 'in-doubt': doubts } = settled;
        known = { accepted, rejected, failed, 'in-doubt': doubts };
      }
      put = tried();
    },
    judge() {
      const all = tried();
      const accepted = count('accepted');
      if (least === null || isEnough(accepted)) return null;
      const doubts = count('in-doubt');
      const inDoubt = doubts === 0 ? '' : `, ${doubts} in doubt`;
      const share =
        all === 1
          ? `the first recipient was not accepted${inDoubt}`
          : `${percentDown(accepted / all)} of the first ${all} recipients were accepted (${accepted}${inDoubt})`;
      return `${share}; send.canary.gate.accepted asks for ${percentDown(least)}.`;
    },
    isInDoubt: () => !isEnough(count('accepted')) && isEnough(count('accepted') + count('in-doubt')),
    pass() {
      at += 1;
    },
    get end() {
      return ends[at] ?? Number.POSITIVE_INFINITY;
    },
  };
}

type Tried = 'accepted' | 'rejected' | 'failed' | 'in-doubt';

const NOBODY: Readonly<Record<Tried, number>> = { accepted: 0, rejected: 0, failed: 0, 'in-doubt': 0 };

/** Recipients who were tried, by outcome, and how many are meant at all. */
function answersOf(counts: readonly LegCount[]) {
  const outcomes = { ...NOBODY };
  let meant = 0;
  for (const { outcome, fellBack, count } of counts) {
    if (fellBack || outcome === 'skipped') continue;
    meant += count;
    if (outcome !== 'pending' && outcome !== 'deferred') outcomes[outcome] += count;
  }
  return { outcomes, meant };
}

/** In recipients, ascending: counts and shares may be mixed, and a step that is reached already is none. */
export function stepEnds(steps: readonly Threshold[], recipients: number): readonly number[] {
  const ends = steps.map((step) => ('count' in step ? step.count : Math.max(1, wholePart(step.share, recipients))));
  return [...new Set(ends)].sort((a, b) => a - b);
}
