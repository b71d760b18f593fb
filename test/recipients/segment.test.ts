import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import type { ColumnType, JsonObject } from '../../src/model.ts';
import { typedColumns, typeFault } from '../../src/recipients/columns.ts';
import { compileSegment, type Segment } from '../../src/recipients/segment.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';

const AT = { file: 'campaign.yaml', line: 7, column: 10 };
const COLUMNS = ['msisdn', 'age', 'plan', 'joined', 'a.b', 'city'];
const TYPES: Readonly<Record<string, ColumnType>> = { age: 'number', joined: 'date', 'a.b': 'number' };

function compile(query: JsonObject): Segment {
  const found = compileSegment({ query, at: AT, timeZone: 'UTC' }, COLUMNS, TYPES, 0);
  if (Array.isArray(found)) throw new Error(found.map((d) => d.message).join('\n'));
  return found.segment;
}

function refused(query: JsonObject): readonly Diagnostic[] {
  const found = compileSegment({ query, at: AT, timeZone: 'UTC' }, COLUMNS, TYPES, 0);
  if (!Array.isArray(found)) throw new Error('The query was not refused.');
  return found;
}

interface Cells {
  readonly age?: string;
  readonly plan?: string;
  readonly joined?: string;
  readonly dotted?: string;
  readonly city?: string;
}

function rowOf({ age = '', plan = '', joined = '', dotted = '', city = '' }: Cells): readonly string[] {
  return ['+447400123456', age, plan, joined, dotted, city];
}

it('compares with the word `today` where the column is said to hold text', () => {
  const types = { ...TYPES, city: 'string' } as const;
  const found = compileSegment({ query: { city: 'today' }, at: AT, timeZone: 'UTC' }, COLUMNS, types, 0);
  expect(Array.isArray(found)).toBe(false);
});

// The property in segment.property.test.ts says what the operators mean; these are the cells and names that it does not have.
golden(
  'a query chooses the recipients and tells why it leaves others out, or handbill refuses it',
  'recipients/segment',
  (input) => {
    const [query, ...people] = input.split('\n').map((line) => JSON.parse(line));
    if (people.length === 0) return diagnosticLines(refused(query), AT.file);
    const { judge, why } = compile(query);
    return people.map((cells) => (judge(rowOf(cells)) === 'in' ? 'in' : `out: ${why(rowOf(cells))}`));
  },
);

describe('who is meant', () => {
  it('one of ten thousand values', () => {
    const { judge } = compile({ city: { $in: Array.from({ length: 10_000 }, (_, i) => `c${i}`) } });
    for (let i = 0; i < 10_000; i++) expect(judge(rowOf({ city: `c${i + 1}` }))).toBe(i < 9999 ? 'in' : 'out');
  });
});

describe('cells that do not hold their type', () => {
  it('are unreadable where the query asks for them', () => {
    const { judge, why } = compile({ age: { $ne: 18 } });
    const typed = typedColumns(TYPES, COLUMNS);
    expect(judge(rowOf({ age: 'x' }))).toBe('unreadable');
    expect(why(rowOf({ age: 'x' }))).toBeNull();
    expect(typeFault(typed, rowOf({ age: 'x' }))?.message).toBe('The column "age" holds "x", not a number.');
    expect(typeFault(typed, rowOf({ age: '1' }))).toBeNull();
  });

  it('do not matter elsewhere', () => {
    expect(compile({ plan: 'pro' }).judge(rowOf({ age: 'x', plan: 'pro' }))).toBe('in');
  });
});

describe('queries that are refused', () => {
  it('with everything that is wrong', () => {
    const query = { aeg: 1, age: { $gte: '18', $lt: '65' }, $or: [{ plan: 7 }, { $where: 'x' }] };
    expect(refused(query)).toHaveLength(5);
  });
});
