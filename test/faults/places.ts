import type { Behaviour } from './behaviours/behaviour.ts';

/** Where in a run a behaviour strikes. */
export interface Place {
  readonly connection: 'fresh' | 'reused';
  readonly position: 'first' | 'middle' | 'last';
  readonly concurrency: 1 | 8;
}

/** All twelve. */
export const PLACES: readonly Place[] = (['fresh', 'reused'] as const).flatMap((connection) =>
  (['first', 'middle', 'last'] as const).flatMap((position) =>
    ([1, 8] as const).map((concurrency) => ({ connection, position, concurrency })),
  ),
);

/** Length of the lists: long enough that all eight requests are in flight in the middle. */
export const ROWS = 30;

export function rowOf({ position }: Place): number {
  return { first: 0, middle: ROWS / 2, last: ROWS - 1 }[position];
}

/** How many requests come before a bad connection: with eight at a time the last ones are under way together. */
export function requestsBefore(place: Place): number {
  return Math.max(0, rowOf(place) - (place.concurrency - 1));
}

export function describePlace({ connection, position, concurrency }: Place): string {
  return `${connection} connection, ${position} of the list, concurrency ${concurrency}`;
}

export interface Scenario {
  readonly title: string;
  readonly behaviour: Behaviour;
  readonly place: Place;
  /** This is the one place at which the behaviour strikes in the sample. */
  readonly sample: boolean;
  /** The command line runs in the process of the test: in the sample for six of seven, in the whole set at all places but one. */
  readonly here: boolean;
}

/**
 * Each behaviour at every place, or at one that rotates: neighbours in the table strike at different places, so that the
 * sample covers all places for each group of behaviours.
 */
export function scenarios(behaviours: readonly Behaviour[], all: boolean): readonly Scenario[] {
  // A plain status is played by the tests of statuses, all of them; here one place of each is enough.
  const wanted = all ? behaviours : behaviours.filter(({ plain }) => plain !== true);
  return wanted.flatMap((behaviour, index) => {
    // 5 and 12 have no common factor: twelve neighbours are at twelve places.
    const own = PLACES[(index * 5) % PLACES.length];
    const places = all && behaviour.plain !== true ? PLACES : PLACES.filter((place) => place === own);
    return places.map((place) => ({
      sample: place === own,
      title: `${behaviour.rows.join(', ')}: ${behaviour.name} (${describePlace(place)})`,
      behaviour,
      place,
      here: (all ? place !== own : index % 7 !== 0) && !needsProcess(behaviour),
    }));
  });
}

/**
 * Only a process of its own takes authorities; it has the heap to itself that hostile answers want to fill; and nothing
 * else in it makes a short time limit end another request.
 */
function needsProcess({ secure, hostile, silent }: Behaviour): boolean {
  return secure !== undefined || hostile === true || silent === true;
}
