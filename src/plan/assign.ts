import { hash } from 'node:crypto';
import type { Split, Variant } from '../model.ts';

type Drawable = Pick<Variant, 'name' | 'weight'> & Partial<Pick<Variant, 'where'>>;

export type Assignment =
  /** Held out: gets nothing, so that the campaign can be compared with its absence. */
  | { readonly kind: 'holdout' }
  | { readonly kind: 'variant'; readonly index: number }
  /** Is not in the test, and waits for its winner. */
  | { readonly kind: 'undecided' }
  /** The campaign has no variants, or none without a condition: gets its own message. */
  | { readonly kind: 'own' };

/**
 * Divides recipients by their keys alone: the order and the rest of the list do not count. Each question has another hash,
 * so that an added holdout moves no recipient between variants, and a raised share only adds people.
 *
 * @param split - `winner` must be the name of a variant; throws otherwise
 */
export function createAssigner(variants: readonly Drawable[], split: Split): (key: string) => Assignment {
  const { seed, holdout, test } = split;
  const places = variants.flatMap(({ where = null }, index) => (where === null ? [index] : []));
  const drawn = variants.filter(({ where = null }) => where === null);
  const assignments = places.map((index): Assignment => Object.freeze({ kind: 'variant', index }));
  const bounds = boundsOf(drawn);
  const rest = restOf(drawn, assignments, split);
  return (key) => {
    if (holdout > 0 && uniform('holdout', seed, key) < holdout) return HOLDOUT;
    if (assignments.length === 0) return OWN;
    if (test !== null && uniform('test', seed, key) >= test) return rest;
    const at = uniform('variant', seed, key);
    let index = 0;
    while (at >= (bounds[index] ?? 1)) index++;
    return assignments[index] ?? OWN;
  };
}

/** The first 52 bits of SHA-256(question, NUL, seed, NUL, key) in UTF-8. A change moves people of begun campaigns. */
export function uniform(question: 'holdout' | 'test' | 'variant', seed: string, key: string): number {
  return Number.parseInt(hash('sha256', `${question}\0${seed}\0${key}`, 'hex').slice(0, 13), 16) / 2 ** 52;
}

/** The last one takes whatever rounding leaves over. */
function boundsOf(variants: readonly { readonly weight: number }[]): readonly number[] {
  const total = variants.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  return variants.map(({ weight }, index) => {
    sum += weight;
    return index === variants.length - 1 ? 1 : sum / total;
  });
}

function restOf(
  variants: readonly { readonly name: string }[],
  assignments: readonly Assignment[],
  { winner }: Split,
): Assignment {
  if (winner === null || variants.length === 0) return UNDECIDED;
  const assignment = assignments[variants.findIndex(({ name }) => name === winner)];
  if (assignment === undefined) throw new Error(`There is no variant "${winner}".`);
  return assignment;
}

const HOLDOUT: Assignment = Object.freeze({ kind: 'holdout' });
const UNDECIDED: Assignment = Object.freeze({ kind: 'undecided' });
const OWN: Assignment = Object.freeze({ kind: 'own' });
