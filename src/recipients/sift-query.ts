import { createRequire } from 'node:module';
import type { Condition, OnColumn, Scalar } from './operators.ts';

/** The values that a query asks for, by `keyOf` their columns; undefined for an empty cell of a typed column. */
export type Values = Record<string, Scalar | undefined>;

export type Tester = (values: Values) => boolean;

/** Columns have names of their own in a query: in sift's, a dot would lead into an object. */
export function keyOf(column: { readonly index: number }): string {
  return `c${column.index}`;
}

/**
 * Makes sift's function for a condition. Sift gets only the operators that are listed here; what else it knows
 * (`$where` runs text as code, `$regex` can take minutes) it refuses as unknown.
 */
export function createTester(condition: Condition): Tester {
  const { createQueryTester, ...rest } = loadSift();
  const operations = operationsOf(rest);
  return createQueryTester<unknown>(toSift(condition), { operations, compare: isSame });
}

/** Loaded when the first query is compiled (3 ms), which most campaigns do not have. Sift is CommonJS. */
function loadSift(): Sift {
  return createRequire(import.meta.url)('sift') as Sift;
}

type Sift = typeof import('sift');

/** Cells are strings and numbers: sift's own comparison, which looks into lists and objects, takes longer. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b;
}

function operationsOf(sift: Omit<Sift, 'createQueryTester'>) {
  const { createEqualsOperation, $eq, $ne, $gt, $gte, $lt, $lte, $and, $or, $nor, $not } = sift;
  const holds =
    <T>(make: (operand: T) => (value: Scalar | undefined) => boolean) =>
    (operand: T, query: unknown, options: Parameters<typeof createEqualsOperation>[2]) =>
      createEqualsOperation(make(operand), query, options);
  const textHolds = (test: (text: string, operand: string) => boolean) =>
    holds((operand: string) => (value) => typeof value === 'string' && test(value, operand));
  return {
    ...{ $eq, $ne, $gt, $gte, $lt, $lte, $and, $or, $nor, $not },
    // A set takes as long for ten thousand values as for two.
    $in: holds((list: readonly Scalar[]) => {
      const known = new Set<Scalar | undefined>(list);
      return (value) => known.has(value);
    }),
    $nin: holds((list: readonly Scalar[]) => {
      const known = new Set<Scalar | undefined>(list);
      return (value) => !known.has(value);
    }),
    // A cell of text is never absent, only empty.
    $exists: holds((wanted: boolean) => (value) => (value !== undefined && value !== '') === wanted),
    $startsWith: textHolds((text, operand) => text.startsWith(operand)),
    $endsWith: textHolds((text, operand) => text.endsWith(operand)),
    $contains: textHolds((text, operand) => text.includes(operand)),
  };
}

type Query = { [key: string]: unknown };

/** A condition as sift's query. All keys are operators or made by `keyOf`: no text from a file becomes a key. */
function toSift(condition: Condition): Query {
  if (condition.kind !== 'group') return { [keyOf(condition.column)]: onColumn([condition]) };
  if (condition.operator === '$and') return merge(condition.of);
  return { [condition.operator]: condition.of.map(toSift) };
}

/** One mapping for all tests, which sift runs faster than a list under $and; what does not fit in stays such a list. */
function merge(conditions: readonly Condition[]): Query {
  const byColumn = new Map<string, OnColumn[]>();
  const others: Condition[] = [];
  for (const condition of conditions) {
    if (condition.kind === 'group') {
      others.push(condition);
      continue;
    }
    const key = keyOf(condition.column);
    const onSame = byColumn.get(key) ?? [];
    if (onSame.some((c) => nameOf(c) === nameOf(condition))) others.push(condition);
    else byColumn.set(key, [...onSame, condition]);
  }
  const query: Query = {};
  for (const [key, tests] of byColumn) query[key] = onColumn(tests);
  if (others.length > 0) query['$and'] = others.map(toSift);
  return query;
}

function onColumn(conditions: readonly OnColumn[]): Query {
  const query: Query = {};
  for (const c of conditions) query[nameOf(c)] = c.kind === 'not' ? onColumn(c.of) : c.operand;
  return query;
}

function nameOf(condition: OnColumn): string {
  return condition.kind === 'not' ? '$not' : condition.operator;
}
