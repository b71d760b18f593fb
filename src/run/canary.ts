import type { LegCount } from '../ledger/records.ts';
import type { Canary, Threshold } from '../model.ts';
import { wholePart } from '../util/units.ts';
import type { Figures } from './progress.ts';

/**
 * The steps of a canary: how many may be sent to before the next gate, and what the gate says. It is derived from what
 * the ledger holds, so that a start that goes on knows where the one before ended.
 */
export interface CanarySteps {
  /** Recipients that may still be put before the gate. */
  room(): number;
  put(recipients: number): void;
  /** Called when nothing is in flight: whoever was put and left out by a rule makes room again. */
  settle(): void;
  /** What the gate says of everybody so far: null, it is open; else which figure shuts it, as a sentence. */
  judge(): string | null;
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

/** What somebody was sent to became: a leg that fell back is followed by another, which counts instead. */
const TRIED = ['accepted', 'rejected', 'failed', 'in-doubt'] as const;

export function createCanary({ canary, before, figures }: CanaryContext): CanarySteps {
  const { settled } = figures;
  const earlier = { accepted: 0, rejected: 0, failed: 0, 'in-doubt': 0 };
  let meant = 0;
  for (const { outcome, fellBack, count } of before) {
    if (fellBack || outcome === 'skipped') continue;
    meant += count;
    if (outcome !== 'pending' && outcome !== 'deferred') earlier[outcome] += count;
  }
  const triedBefore = TRIED.reduce((sum, outcome) => sum + earlier[outcome], 0);
  const tried = (): number => TRIED.reduce((sum, outcome) => sum + settled[outcome], triedBefore);
  const ends = stepEnds(canary.steps, meant);
  // A gate that somebody has gone through already was open.
  let at = ends.findIndex((end) => end >= triedBefore);
  if (at === -1) at = ends.length;
  let put = triedBefore;

  return {
    room: () => (ends[at] ?? Number.POSITIVE_INFINITY) - put,
    put(recipients) {
      put += recipients;
    },
    settle() {
      put = tried();
    },
    judge() {
      const { accepted: least } = canary.gate;
      const all = tried();
      if (least === null || all === 0) return null;
      const accepted = earlier.accepted + settled.accepted;
      if (accepted >= wholePart(least, all)) return null;
      const doubts = earlier['in-doubt'] + settled['in-doubt'];
      const inDoubt = doubts === 0 ? '' : `, ${doubts} in doubt`;
      const share = `${percent(accepted / all)} of the first ${all} recipients were accepted (${accepted}${inDoubt})`;
      return `${share}; send.canary.gate.accepted asks for ${percent(least)}.`;
    },
    pass() {
      at += 1;
    },
    get end() {
      return ends[at] ?? Number.POSITIVE_INFINITY;
    },
  };
}

/** In recipients, ascending: counts and shares may be mixed, and a step that is reached already is none. */
export function stepEnds(steps: readonly Threshold[], recipients: number): readonly number[] {
  const ends = steps.map((step) => ('count' in step ? step.count : Math.max(1, wholePart(step.share, recipients))));
  return [...new Set(ends)].sort((a, b) => a - b);
}

/** Rounded down, so that what is just below a limit does not read as if it were the limit. */
function percent(part: number): string {
  return `${(Math.floor(part * 1000 + 1e-9) / 10).toFixed(1).replace(/\.0$/, '')} %`;
}
