import type { ColumnType } from '../model.ts';
import type { DateFormat } from '../util/date-format.ts';

/** Every operator that a condition on a column can use, and what it can be asked of. The list is closed. */
export const OPERATORS = {
  $eq: { operand: 'value', types: ['string', 'number', 'date'] },
  $ne: { operand: 'value', types: ['string', 'number', 'date'] },
  $gt: { operand: 'value', types: ['number', 'date'] },
  $gte: { operand: 'value', types: ['number', 'date'] },
  $lt: { operand: 'value', types: ['number', 'date'] },
  $lte: { operand: 'value', types: ['number', 'date'] },
  $in: { operand: 'values', types: ['string', 'number', 'date'] },
  $nin: { operand: 'values', types: ['string', 'number', 'date'] },
  $exists: { operand: 'switch', types: ['string', 'number', 'date'] },
  $startsWith: { operand: 'text', types: ['string'] },
  $endsWith: { operand: 'text', types: ['string'] },
  $contains: { operand: 'text', types: ['string'] },
} as const satisfies Record<string, { operand: Operand; types: readonly ColumnType[] }>;

/** What stands behind an operator: a value of the column's type, a list of them, true or false, or a piece of text. */
export type Operand = 'value' | 'values' | 'switch' | 'text';

export type Operator = keyof typeof OPERATORS;

/** Operators over whole conditions, which stand where columns are named. */
export const GROUPS = ['$and', '$or', '$nor'] as const;
export type Group = (typeof GROUPS)[number];

/** Something that can be asked of a cell once it has been read: dates are milliseconds since 1970. */
export type Scalar = string | number;

/** A query that was checked against the columns of a list. */
export type Condition =
  | { readonly kind: 'group'; readonly operator: Group; readonly of: readonly Condition[] }
  /** Holds when the conditions, all on this column, do not hold together. */
  | { readonly kind: 'not'; readonly column: QueryColumn; readonly of: readonly OnColumn[] }
  | Test;

export type OnColumn = Exclude<Condition, { kind: 'group' }>;

export interface Test {
  readonly kind: 'test';
  readonly column: QueryColumn;
  readonly operator: Operator;
  readonly operand: Scalar | boolean | readonly Scalar[];
}

export interface QueryColumn {
  readonly index: number;
  readonly name: string;
  readonly type: ColumnType;
  /** How its dates are written in the list; null: as ISO 8601. */
  readonly format: DateFormat | null;
}

export function isOperator(name: string): name is Operator {
  return Object.hasOwn(OPERATORS, name);
}

export function isGroup(name: string): name is Group {
  return GROUPS.some((group) => group === name);
}
