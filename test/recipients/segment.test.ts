import { describe, expect, it, test } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import type { ColumnType, JsonObject } from '../../src/model.ts';
import { typedColumns, typeFault } from '../../src/recipients/columns.ts';
import { compileSegment, type Segment } from '../../src/recipients/segment.ts';

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
describe('who is meant', () => {
  const cases: readonly [label: string, query: JsonObject, inside: readonly Cells[], outside: readonly Cells[]][] = [
    ['equal text', { plan: 'pro' }, [{ plan: 'pro' }, { plan: ' pro ' }], [{ plan: 'Pro' }, { plan: '' }]],
    ['text that looks like a number', { plan: '7' }, [{ plan: '7' }], [{ plan: '07' }]],
    ['text in another composition', { city: 'Zürich' }, [{ city: 'Zu\u0308rich' }, { city: 'Z\u00fcrich' }], []],
    ['the query in another composition', { city: ' Zu\u0308rich ' }, [{ city: 'Z\u00fcrich' }], [{ city: 'Zurich' }]],
    ['equal numbers', { age: 18 }, [{ age: '18' }, { age: '18.0' }], [{ age: '19' }, {}]],
    [
      'dates',
      { joined: { $gte: '2026-01-01', $lt: '2026-02-01T00:00:00+01:00' } },
      [{ joined: '2026-01-01' }, { joined: '2026-01-31T22:59Z' }],
      [{ joined: '2025-12-31' }, { joined: '2026-01-31T23:00Z' }, {}],
    ],
    ['not there', { city: { $exists: false } }, [{}, { city: ' ' }], [{ city: 'x' }]],
    ['contains', { city: { $contains: '.*' } }, [{ city: 'a.*b' }], [{ city: 'ab' }]],
    ['a column with a dot', { 'a.b': { $gte: 2 } }, [{ dotted: '2' }], [{ dotted: '1' }]],
    [
      'one column under two spellings of its name',
      { city: { $ne: 'x' }, ' city ': { $ne: 'y' } },
      [{ city: 'z' }],
      [{ city: 'x' }, { city: 'y' }],
    ],
  ];

  test.each(cases)('%s', (_, query, inside, outside) => {
    const { judge } = compile(query);
    expect(inside.map((cells) => judge(rowOf(cells)))).toEqual(inside.map(() => 'in'));
    expect(outside.map((cells) => judge(rowOf(cells)))).toEqual(outside.map(() => 'out'));
  });

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

describe('why a row is out', () => {
  const cases: readonly [query: JsonObject, cells: Cells, why: string | null][] = [
    [{ age: { $gte: 18 } }, { age: '18' }, null],
    [{ age: { $gte: 18 } }, { age: '17' }, 'age is 17, not at least 18'],
    [{ age: { $gte: 18, $lt: 65 } }, { age: ' 70 ' }, 'age is 70, not below 65'],
    [{ age: { $gte: 18 } }, {}, 'age is empty, not at least 18'],
    [{ plan: 'pro', age: { $gte: 18 } }, { age: '17', plan: 'pro' }, 'age is 17, not at least 18'],
    [{ plan: 'pro' }, { plan: 'free' }, 'plan is "free", not "pro"'],
    [{ plan: { $ne: 'free' } }, { plan: 'free' }, 'plan is "free", which is left out'],
    [{ plan: { $nin: ['free'] } }, { plan: 'free' }, 'plan is "free", which is left out'],
    [{ plan: { $in: ['a', 'b'] } }, { plan: 'c' }, 'plan is "c", not one of "a", "b"'],
    [{ age: { $in: [1, 2, 3, 4, 5, 6, 7] } }, { age: '8' }, 'age is 8, not one of 1, 2, 3, 4, 5 or 2 more'],
    [{ joined: { $gt: '2026-01-01' } }, { joined: '2025-01-01' }, 'joined is 2025-01-01, not after 2026-01-01'],
    [
      { joined: { $lte: '2026-01-01T10:00Z' } },
      { joined: '2027-01-01' },
      'joined is 2027-01-01, not at or before 2026-01-01T10:00:00Z',
    ],
    [{ city: { $exists: true } }, {}, 'city is empty'],
    [{ city: { $exists: false } }, { city: 'Bern' }, 'city is "Bern", not empty'],
    [{ city: { $contains: 'x' } }, { city: 'Bern' }, 'city is "Bern", which does not contain "x"'],
    [{ age: { $not: { $gte: 18 } } }, { age: '20' }, 'age is 20, which is left out'],
    [
      { $or: [{ plan: 'pro' }, { age: { $gte: 65 } }] },
      { age: '3' },
      'plan is empty, not "pro"; and age is 3, not at least 65',
    ],
    [
      { $nor: [{ plan: 'pro' }, { age: { $gte: 65 }, plan: 'max' }] },
      { age: '70', plan: 'max' },
      'age is 70, which is left out and plan is "max", which is left out',
    ],
    [{ $nor: [{ $or: [{ plan: 'a' }, { plan: 'b' }] }] }, { plan: 'b' }, 'plan is "b", which is left out'],
    [
      { $and: [{ age: 1 }, { $or: [{ plan: 'a' }, { plan: 'b' }] }] },
      { age: '1' },
      'plan is empty, not "a"; and plan is empty, not "b"',
    ],
    [{ city: 'Bern' }, { city: '+447400123456' }, 'city is "+44••••••3456", not "Bern"'],
    [{ city: 'Bern' }, { city: 'x'.repeat(50) }, `city is "${'x'.repeat(40)}…", not "Bern"`],
  ];

  test.each(cases)('%j with %j', (query, cells, why) => {
    expect(compile(query).why(rowOf(cells))).toBe(why);
  });
});

describe('queries that are refused', () => {
  const cases: readonly [label: string, query: JsonObject, message: string, hint: string][] = [
    [
      'an unknown column',
      { plam: 'pro' },
      '`recipients.where.plam` asks for the column "plam", which the list does not have.',
      'Did you mean "plan"?',
    ],
    [
      'a prototype',
      JSON.parse('{ "__proto__": { "$eq": 1 } }'),
      '`recipients.where.__proto__` asks for the column "__proto__"',
      'Its columns',
    ],
    ['a constructor', { constructor: 'x' }, 'asks for the column "constructor"', 'Its columns'],
    [
      'an inherited operator',
      { age: { constructor: 1 } },
      '`recipients.where.age.constructor` is not an operator',
      'Operators: $eq',
    ],
    [
      'code',
      { $where: 'process.exit()' },
      '`recipients.where.$where` is not an operator that handbill knows.',
      'Operators: $eq',
    ],
    [
      'code in a column',
      { age: { $where: 'true' } },
      '`recipients.where.age.$where` is not an operator that handbill knows.',
      'Operators',
    ],
    ['an expression', { city: { $regex: '(a+)+$' } }, 'is not an operator', 'Use $startsWith, $endsWith or $contains.'],
    ['an operator with a mistake', { age: { $gtee: 18 } }, 'is not an operator', 'Did you mean "$gte"?'],
    [
      'an operator without its $',
      { age: { gte: 18 } },
      '`recipients.where.age.gte` is not an operator',
      'Did you mean "$gte"?',
    ],
    ['other operators of MongoDB', { age: { $type: 'number' } }, 'is not an operator', 'Operators'],
    [
      'an operator outside a column',
      { $gte: 18 },
      '`recipients.where.$gte` is outside a column.',
      'Name the column first',
    ],
    ['$not outside a column', { $not: { age: 18 } }, '`recipients.where.$not` is outside a column.', '$nor'],
    [
      '$or inside a column',
      { age: { $or: [{ $lt: 1 }] } },
      '`recipients.where.age.$or` is inside a column.',
      'Write it around the column',
    ],
    [
      'a quoted number',
      { age: { $gte: '18' } },
      '`recipients.where.age.$gte` compares the numbers in "age" with "18".',
      'Write 18 without quotes',
    ],
    [
      'a word for a number',
      { age: 'old' },
      '`recipients.where.age` compares the numbers in "age" with "old".',
      'Give a number',
    ],
    [
      'a number for text',
      { plan: 7 },
      '`recipients.where.plan` compares the text in "plan" with 7.',
      'Put it in quotes: "7", or say that the column holds numbers: `recipients.columns`: { plan: number }.',
    ],
    ['a truth for text', { plan: true }, 'compares the text in "plan" with true.', 'Put it in quotes: "true".'],
    ['null', { plan: null }, '`recipients.where.plan` compares with null.', '{ $exists: false }'],
    ['a list', { plan: ['a', 'b'] }, '`recipients.where.plan` compares with a list.', 'Write { $in: ["a","b"] }'],
    [
      'a mapping',
      { plan: { $eq: { a: 1 } } },
      '`recipients.where.plan.$eq` compares with a mapping.',
      'Give one value.',
    ],
    [
      'no date',
      { joined: { $gte: 'soon' } },
      'compares the dates in "joined" with "soon", which is not a date.',
      'Write a day',
    ],
    [
      'a day in a column that is not said to hold any',
      { city: 'today' },
      'the text in "city" with "today"',
      '{ $on: today }',
    ],
    ['one of such days', { city: { $nin: ['x', 'P1D'] } }, 'with "P1D"', '`recipients.columns`: { city: string }'],
    ['a date that does not exist', { joined: '2026-02-30' }, 'which is not a date.', 'Write a day'],
    [
      'a year',
      { joined: { $gte: 2026 } },
      'compares the dates in "joined" with 2026, which is not a date.',
      'Write a day',
    ],
    [
      'order of text',
      { plan: { $gte: 'm' } },
      '`recipients.where.plan.$gte` puts values in order, but "plan" holds text.',
      '`recipients.columns`: { plan: number }, or date.',
    ],
    ['text of a number', { age: { $contains: '1' } }, 'looks into text, but "age" holds numbers.', 'Use $eq'],
    ['nothing to look for', { plan: { $contains: '' } }, 'needs a piece of text.', 'For example'],
    [
      '$in without a list',
      { plan: { $in: 'pro' } },
      '`recipients.where.plan.$in` needs a list of values.',
      '$in: [GB, IE]',
    ],
    ['$in of nothing', { plan: { $nin: [] } }, 'needs a list of values.', 'For example'],
    [
      '$in with one wrong value',
      { age: { $in: [1, '2'] } },
      'compares the numbers in "age" with "2".',
      'Write 2 without quotes',
    ],
    ['$exists without truth', { age: { $exists: 1 } }, 'needs true or false.', 'asks for empty cells'],
    ['$not without operators', { age: { $not: 18 } }, 'needs operators behind it.', '$ne'],
    [
      'an unknown operator under $not',
      { age: { $not: { $where: '1' } } },
      '`recipients.where.age.$not.$where` is not an operator',
      'Operators',
    ],
    ['$or without a list', { $or: { age: 1 } }, '`recipients.where.$or` needs a list of queries.', 'For example $or'],
    ['$or of nothing', { $or: [] }, 'needs a list of queries.', 'For example'],
    ['$or of values', { $or: [1] }, '`recipients.where.$or.1` is not a query.', 'Name a column'],
    ['an empty query', {}, '`recipients.where` asks nothing.', 'Leave it out'],
    ['an empty condition', { age: {} }, '`recipients.where.age` asks nothing.', 'Give a value'],
    ['an empty query inside', { $or: [{}] }, '`recipients.where.$or.1` asks nothing.', 'Leave it out'],
  ];

  test.each(cases)('%s', (_, query, message, hint) => {
    expect(refused(query)).toEqual([
      {
        code: 'invalid-where',
        severity: 'error',
        message: expect.stringContaining(message),
        at: AT,
        hint: expect.stringContaining(hint),
      },
    ]);
  });

  it('with everything that is wrong', () => {
    const query = { aeg: 1, age: { $gte: '18', $lt: '65' }, $or: [{ plan: 7 }, { $where: 'x' }] };
    expect(refused(query)).toHaveLength(5);
  });
});
