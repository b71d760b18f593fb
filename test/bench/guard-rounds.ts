import pLimit from 'p-limit';
import { compareFigures, type Figures, type Recorded, recordOf } from './guard-compare.ts';

/** Something that is measured again and again. */
export interface Take {
  /** How often in each round. */
  readonly times: number;
  /** What it costs once: CPU time, or instructions. */
  readonly cost: () => Promise<number>;
}

/** A figure that is guarded, and what has to be taken for it. */
export interface Guarded<Name extends string> {
  readonly takes: readonly Name[];
  readonly figure: (least: Readonly<Record<Name, number>>) => number;
}

/** Figures that are measured in the same way. */
export interface Kind<Name extends string> {
  /** In the order in which they are taken. */
  readonly takes: Readonly<Record<Name, Take>>;
  readonly guarded: Readonly<Record<string, Guarded<Name>>>;
  /** How many are taken at once. */
  readonly together: number;
}

/** Rounds that are always taken, and rounds at most. */
export interface Rounds {
  readonly least: number;
  readonly most: number;
}

/**
 * Takes everything in turn so many times, and then what seems too slow until it does not, or often enough: whatever else
 * a machine does only adds, so that the least is the truest.
 */
export async function takeFigures<Name extends string>(
  kind: Kind<Name>,
  recorded: Recorded,
  rounds: Rounds,
): Promise<Figures> {
  const least = new Map<Name, number>();
  const names = Object.keys(kind.guarded);
  let again: readonly string[] = names;
  for (let round = 1; round <= rounds.most && again.length > 0; round += 1) {
    await takeRound(kind, new Set(again.flatMap((name) => kind.guarded[name]?.takes ?? [])), least);
    if (round < rounds.least) continue;
    const verdicts = compareFigures(figuresOf(kind, least), recordOf(recorded, names));
    again = verdicts.filter(({ ok }) => !ok).map(({ name }) => name);
  }
  return figuresOf(kind, least);
}

async function takeRound<Name extends string>(
  { takes, together }: Kind<Name>,
  wanted: ReadonlySet<Name>,
  least: Map<Name, number>,
): Promise<void> {
  const names = (Object.keys(takes) as Name[]).filter((name) => wanted.has(name));
  await pLimit(together).map(names, async (name) => {
    for (let n = 0; n < takes[name].times; n += 1) {
      const cost = await takes[name].cost();
      least.set(name, Math.min(least.get(name) ?? Number.POSITIVE_INFINITY, cost));
    }
  });
}

function figuresOf<Name extends string>({ guarded }: Kind<Name>, taken: ReadonlyMap<Name, number>): Figures {
  const least = Object.fromEntries(taken) as Record<Name, number>;
  return Object.fromEntries(Object.entries(guarded).map(([name, { figure }]) => [name, figure(least)]));
}
