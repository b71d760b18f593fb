import type { OutExpression } from '../ast.ts';

/** What a helper takes and gives: what the static check needs to know of it, and how its call is put in order. */
export interface Signature {
  /** A call as a user would write it, for hints and the guide. */
  readonly example: string;
  /** `condition` can stand in `{{#if}}` and in other comparisons only. */
  readonly gives: Kind;
  readonly positional: readonly Parameter[];
  /** How many of `positional` must be there. */
  readonly atLeast: number;
  /** Further values of this kind may follow. */
  readonly rest?: Parameter;
  readonly named: ReadonlyMap<string, Parameter>;
  /** What is wrong with the arguments together, in one sentence; null when nothing is. */
  readonly verify?: (call: CheckedCall) => string | null;
  /** The arguments in the order in which `run` takes them. Only for calls that were found right. */
  readonly arrange: (call: CheckedCall, settings: Settings) => readonly OutExpression[];
}

export type Kind = 'text' | 'condition';

export interface Parameter {
  readonly name: string;
  /** `condition` takes both kinds. */
  readonly accepts: Kind;
  /** The value must be written in the template, because it is checked before any row is read. */
  readonly literal?: true;
  /** What is wrong with a value that is written in the template; null when nothing is. */
  readonly check?: (value: string) => string | null;
}

/** A call whose arguments were checked one by one. */
export interface CheckedCall {
  readonly positional: readonly OutExpression[];
  readonly named: ReadonlyMap<string, OutExpression>;
  /** Columns that the first argument reads, for messages about a row. */
  readonly label: string;
}

export interface Settings {
  readonly locale: string;
  readonly timeZone: string;
}

export const NO_NAMES: ReadonlyMap<string, Parameter> = new Map();

export function text(name: string, check?: Parameter['check']): Parameter {
  return check === undefined ? { name, accepts: 'text' } : { name, accepts: 'text', check };
}

export function literal(name: string, check: NonNullable<Parameter['check']>): Parameter {
  return { name, accepts: 'text', literal: true, check };
}

export function named(...parameters: readonly Parameter[]): ReadonlyMap<string, Parameter> {
  return new Map(parameters.map((p) => [p.name, p]));
}
