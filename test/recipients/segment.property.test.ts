import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/model.ts';
import { compileSegment } from '../../src/recipients/segment.ts';

const numRuns = process.env['HANDBILL_FULL'] === '1' ? 50_000 : 2000;

const COLUMNS = ['plan', 'age', 'joined'];
const TYPES = { age: 'number', joined: 'date' } as const;

// Few values, so that rows often are what queries ask for.
const text = fc.constantFrom('', 'a', 'b', 'ab', 'ba', '1');
const number = fc.integer({ min: -2, max: 2 });
const date = fc.integer({ min: 1, max: 4 }).map((day) => `2026-01-0${day}`);

const anyOf = (value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject>[] => [
  ...['$eq', '$ne'].map((name) => value.map((v) => ({ [name]: v }))),
  ...['$in', '$nin'].map((name) => fc.array(value, { minLength: 1, maxLength: 3 }).map((v) => ({ [name]: v }))),
  fc.boolean().map((v) => ({ $exists: v })),
];
const ordered = (value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject>[] =>
  ['$gt', '$gte', '$lt', '$lte'].map((name) => value.map((v) => ({ [name]: v })));
const inText = ['$startsWith', '$endsWith', '$contains'].map((name) =>
  fc.constantFrom('a', 'b', 'ab').map((v) => ({ [name]: v })),
);

function operators(some: readonly fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> {
  const plain = fc
    .array(fc.oneof(...some), { minLength: 1, maxLength: 3 })
    .map((parts): JsonObject => Object.assign({}, ...parts));
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 1, arbitrary: fc.tuple(plain, plain).map(([p, q]) => ({ ...p, $not: q })) },
    { weight: 1, arbitrary: plain.map((p) => ({ $not: { $not: p } })) },
  );
}

const onColumns = fc
  .record(
    {
      plan: fc.oneof(text, operators([...anyOf(text), ...inText])),
      age: fc.oneof(number, operators([...anyOf(number), ...ordered(number)])),
      joined: fc.oneof(date, operators([...anyOf(date), ...ordered(date)])),
    },
    { requiredKeys: [] },
  )
  .filter((query) => Object.keys(query).length > 0);

const { query } = fc.letrec<{ query: JsonObject }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    onColumns as fc.Arbitrary<JsonObject>,
    fc
      .tuple(
        fc.constantFrom('$and', '$or', '$nor'),
        fc.array(tie('query'), { minLength: 1, maxLength: 3 }),
        fc.option(onColumns, { nil: {} }),
      )
      .map(([name, of, more]) => ({ [name]: of, ...more }) as JsonObject),
  ),
}));

const row = fc.tuple(
  text,
  fc.oneof(fc.constant(''), number.map(String)),
  fc.oneof(
    fc.constant(''),
    date,
    date.map((d) => `${d}T00:00:00Z`),
  ),
);

/** What a query means, in the plainest way: empty cells are undefined, dates their first ten characters. */
function holds(query: Json, cells: Readonly<Record<string, string | number | undefined>>): boolean {
  return entries(query).every(([name, value]) => {
    if (name === '$and') return list(value).every((inner) => holds(inner, cells));
    if (name === '$or') return list(value).some((inner) => holds(inner, cells));
    if (name === '$nor') return !list(value).some((inner) => holds(inner, cells));
    return meets(cells[name], typeof value === 'object' ? value : { $eq: value });
  });
}

function meets(cell: string | number | undefined, condition: Json): boolean {
  return entries(condition).every(([name, wanted]) => {
    switch (name) {
      case '$not':
        return !meets(cell, wanted);
      case '$eq':
        return cell === wanted;
      case '$ne':
        return cell !== wanted;
      case '$in':
        return list(wanted).some((value) => value === cell);
      case '$nin':
        return !list(wanted).some((value) => value === cell);
      case '$exists':
        return (cell !== undefined && cell !== '') === wanted;
      default:
        return cell !== undefined && compares(name, cell, wanted as string | number);
    }
  });
}

function compares(name: string, cell: string | number, wanted: string | number): boolean {
  if (name === '$gt') return cell > wanted;
  if (name === '$gte') return cell >= wanted;
  if (name === '$lt') return cell < wanted;
  if (name === '$lte') return cell <= wanted;
  if (name === '$startsWith') return String(cell).startsWith(String(wanted));
  if (name === '$endsWith') return String(cell).endsWith(String(wanted));
  return String(cell).includes(String(wanted));
}

function entries(value: Json): [string, Json][] {
  return Object.entries(value as JsonObject);
}

function list(value: Json): readonly Json[] {
  return value as readonly Json[];
}

test('a segment judges as the query says, and gives a reason exactly for those who are out', () => {
  let inside = 0;
  const property = fc.property(query, fc.array(row, { minLength: 1, maxLength: 5 }), (asked, rows) => {
    const compiled = compileSegment({ query: asked, at: { file: 'x' }, timeZone: 'UTC' }, COLUMNS, TYPES, 0);
    if (Array.isArray(compiled)) throw new Error(compiled[0]?.message);
    const { judge, why } = compiled.segment;
    for (const values of rows) {
      const [plan, age, joined] = values;
      const expected = holds(asked, {
        plan,
        age: age === '' ? undefined : Number(age),
        joined: joined === '' ? undefined : joined.slice(0, 10),
      });
      expect(judge(values)).toBe(expected ? 'in' : 'out');
      if (expected) {
        inside++;
        expect(why(values)).toBeNull();
      } else expect(why(values)).toMatch(/^(plan|age|joined|none of) ./);
    }
  });
  fc.assert(property, { numRuns });
  expect(inside).toBeGreaterThan(0);
});

test('whatever is written as a query, it is compiled or refused', () => {
  const key = fc.constantFrom(...'plan age joined $and $or $not $where $regex $eq $in __proto__ x'.split(' '));
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Json>(null, true, 0, 18, '', 'a', '2026-01-01'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs) as JsonObject),
    ),
  }));
  const mapping = fc
    .array(fc.tuple(key, value), { maxLength: 3 })
    .map((pairs) => Object.fromEntries(pairs) as JsonObject);
  const property = fc.property(mapping, row, (asked, values) => {
    const compiled = compileSegment({ query: asked, at: { file: 'x' }, timeZone: 'UTC' }, COLUMNS, TYPES, 0);
    if (Array.isArray(compiled)) expect(compiled.length).toBeGreaterThan(0);
    else expect(['in', 'out']).toContain(compiled.segment.judge(values));
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
  fc.assert(property, { numRuns });
});
