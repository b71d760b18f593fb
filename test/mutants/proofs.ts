import type { Proof } from './mutant.ts';

/** The command line against a server that misbehaves, by how the names of its behaviours begin: titles are cut. */
export const server = (...names: readonly string[]): Proof => ({
  in: 'faults/behaviours.test.ts',
  only: names.map((name) => `: ${name.slice(0, 28)}`).join('|'),
});

/** A server that answers one recipient with this status. */
export const status = (code: number): Proof => ({ in: 'faults/statuses.test.ts', only: `: ${code}, body` });
