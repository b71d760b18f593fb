import type { KillsApi } from './api.ts';
import { inLanes } from './lanes.ts';
import { planRound, playRound, type RoundPlan, type RoundResult } from './round.ts';

/** The sum of rounds. */
export interface KillsTotal {
  readonly rounds: number;
  readonly kills: number;
  readonly starts: number;
  readonly recipients: number;
  readonly doubts: number;
  readonly received: number;
  readonly violations: readonly string[];
}

/** Plays rounds with the seeds from `seed` on, two at a time, until so many kills hit. `given` replaces what seeds say. */
export async function killAtRandom(
  { kills, seed, given }: { readonly kills: number; readonly seed: number; readonly given?: Partial<RoundPlan> },
  api: KillsApi,
  onRound: (result: RoundResult) => void = () => {},
): Promise<KillsTotal> {
  let left = kills;
  function* seeds(): Generator<number> {
    for (let next = seed; left > 0; next++) yield next;
  }
  const results = await inLanes(2, seeds(), async (one) => {
    const plan = planRound(one, given);
    // Taken before, so that two rounds together do not kill more often than asked; what missed is given back.
    const most = Math.min(left, plan.kills);
    left -= most;
    const result = await playRound(plan, api, most);
    left += most - result.kills;
    onRound(result);
    return result;
  });
  return totalOf(results);
}

export function totalOf(results: readonly RoundResult[]): KillsTotal {
  const sum = (of: (result: RoundResult) => number): number => results.reduce((all, one) => all + of(one), 0);
  return {
    rounds: results.length,
    kills: sum(({ kills }) => kills),
    starts: sum(({ starts }) => starts),
    recipients: sum(({ plan }) => plan.rows),
    doubts: sum(({ doubts }) => doubts),
    received: sum(({ received }) => received),
    violations: results.flatMap(({ plan, violations, kept }) =>
      violations.map(
        (what) => `seed ${plan.seed}, ${plan.kind ?? 'sms'}: ${what}${kept === null ? '' : ` (kept in ${kept})`}`,
      ),
    ),
  };
}
