import type { Condition, Operator, QueryColumn, Scalar, Test } from './operators.ts';
import { shorten, show } from './show.ts';

/** Longer phrases are cut: they stand in one cell of a table. */
const LONGEST = 200;

/**
 * Says in a short phrase why a condition does not hold for a row: `age is 17, not at least 18`.
 * @param holds whether a part of the condition holds for that row
 */
export function explainCondition(
  condition: Condition,
  values: readonly string[],
  holds: (part: Condition) => boolean,
): string {
  const phrase = explain(condition);
  return phrase.length > LONGEST ? `${phrase.slice(0, LONGEST)}…` : phrase;

  function explain(failed: Condition): string {
    if (failed.kind === 'test') return explainTest(failed, values);
    if (failed.kind === 'not') return leftOut(failed.column, values);
    if (failed.operator === '$or') return failed.of.map(explain).join('; and ');
    const part = failed.of.find((inner) => holds(inner) === (failed.operator === '$nor'));
    if (part === undefined) return 'the query does not hold';
    return failed.operator === '$nor' ? describe(part) : explain(part);
  }

  /** A condition that holds, but must not. */
  function describe(met: Condition): string {
    if (met.kind !== 'group') return leftOut(met.column, values);
    if (met.operator === '$and') return met.of.map(describe).join(' and ');
    if (met.operator === '$nor') return 'none of the conditions under $nor holds, which is left out';
    return met.of.filter(holds).slice(0, 1).map(describe).join('');
  }
}

function explainTest(test: Test, values: readonly string[]): string {
  const { column, operator, operand } = test;
  if (operator === '$ne' || operator === '$nin') return leftOut(column, values);
  if (operator === '$exists') return operand === true ? `${column.name} is empty` : `${is(column, values)}, not empty`;
  const wanted = Array.isArray(operand) ? listOf(column, operand) : value(column, operand as Scalar);
  return `${is(column, values)}, ${phraseOf(operator, column)} ${wanted}`;
}

function leftOut(column: QueryColumn, values: readonly string[]): string {
  return `${is(column, values)}, which is left out`;
}

function is(column: QueryColumn, values: readonly string[]): string {
  const cell = (values[column.index] ?? '').trim();
  if (cell === '') return `${column.name} is empty`;
  return `${column.name} is ${column.type === 'string' ? show(cell) : shorten(cell)}`;
}

const PHRASES = {
  $eq: 'not',
  $gt: 'not above',
  $gte: 'not at least',
  $lt: 'not below',
  $lte: 'not at most',
  $in: 'not one of',
  $startsWith: 'which does not begin with',
  $endsWith: 'which does not end with',
  $contains: 'which does not contain',
} as const satisfies Partial<Record<Operator, string>>;

const DATE_PHRASES: Partial<Record<Operator, string>> = {
  $gt: 'not after',
  $gte: 'not at or after',
  $lt: 'not before',
  $lte: 'not at or before',
};

function phraseOf(operator: Exclude<Operator, '$ne' | '$nin' | '$exists'>, column: QueryColumn): string {
  return (column.type === 'date' ? DATE_PHRASES[operator] : undefined) ?? PHRASES[operator];
}

/** More values than fit into a phrase. */
const MOST_VALUES = 5;

function listOf(column: QueryColumn, operands: readonly Scalar[]): string {
  const named = operands.slice(0, MOST_VALUES).map((operand) => value(column, operand));
  const more = operands.length - named.length;
  return more > 0 ? `${named.join(', ')} or ${more} more` : named.join(', ');
}

function value(column: QueryColumn, operand: Scalar): string {
  if (column.type === 'date')
    return new Date(operand)
      .toISOString()
      .replace(/T00:00:00\.000Z$/, '')
      .replace('.000Z', 'Z');
  return typeof operand === 'string' ? show(operand) : String(operand);
}
