import type { Diagnostic } from '../errors.ts';
import type { ColumnTypes, Where } from '../model.ts';
import { compared, holdsNothing } from '../util/cell.ts';
import { createDayOf, createInstantOf, dayText, isAnniversary, iso } from '../util/time.ts';
import { shortened } from '../util/words.ts';
import { readCell, readCellDay } from './columns.ts';
import {
  asksForDay,
  type Condition,
  type Days,
  OPERATORS,
  type Operator,
  type QueryColumn,
  readQuery,
  type Scalar,
  type Test,
} from './query.ts';
import { shorten, show } from './show.ts';

export type Segment = ReturnType<typeof createSegment>;

/**
 * Compiles a segment. Empty cells of typed columns are absent values: only $ne, $nin, $not, $nor and `$exists: false`
 * hold for them, and for a word such as NULL. Text is compared as the helper `eq` does.
 * @param types column types (`columnTypes`); columns without one contain text
 * @param today midnight in UTC of the day from which relative dates count
 * @returns the segment, or every fault of the query (`invalid-where`, at its place)
 */
export function compileSegment(
  where: Where,
  columns: readonly string[],
  types: ColumnTypes,
  today: number,
): { readonly segment: Segment } | Diagnostic[] {
  const query = readQuery(where, columns, types, today);
  if (Array.isArray(query)) return query;
  return { segment: createSegment({ kind: 'group', operator: '$and', of: query.conditions }, where.timeZone) };
}

function createSegment(root: Condition, timeZone: string) {
  const used = uniqueColumns(testsOf(root));
  const dated = uniqueColumns(testsOf(root).filter((one) => one.kind === 'test' && asksForDay(one)));
  const dayOf = dated.length === 0 ? () => 0 : createDayOf(timeZone);
  const isTimed = used.some(({ type }) => type === 'date');
  const instantOf = isTimed ? createInstantOf(timeZone) : () => 0;
  const test = testerOf(root);
  const testers = new Map<Condition, Tester>();
  // Reused for all rows, since no one keeps it.
  const read: Cells = { values: new Map(used.map(({ index }) => [index, undefined])), days: new Map() };

  function fill(values: readonly string[]): boolean {
    for (const column of used) {
      const cell = values[column.index] ?? '';
      const value = column.type === 'string' ? compared(cell) : readCell(column.type, cell, column.format, instantOf);
      if (value === null) return false;
      read.values.set(column.index, value);
    }
    for (const { index, format } of dated) read.days.set(index, readCellDay(values[index] ?? '', format, dayOf));
    return true;
  }

  function judge(values: readonly string[]): 'in' | 'out' | 'unreadable' {
    if (!fill(values)) return 'unreadable';
    return test(read) ? 'in' : 'out';
  }

  /** The condition that an excluded row does not meet; null for every other row. */
  function why(values: readonly string[]): string | null {
    return judge(values) === 'out' ? explainCondition(root, values, holds) : null;
  }

  function holds(part: Condition): boolean {
    const tester = testers.get(part) ?? testerOf(part);
    testers.set(part, tester);
    return tester(read);
  }

  return { judge, why };
}

function testsOf(condition: Condition): readonly Test[] {
  return condition.kind === 'test' ? [condition] : condition.of.flatMap(testsOf);
}

function uniqueColumns(tests: readonly Test[]): readonly QueryColumn[] {
  return [...new Map(tests.map(({ column }) => [column.index, column])).values()];
}

/** Cells by column index; undefined: an empty cell of a typed column. */
interface Cells {
  readonly values: Map<number, Scalar | undefined>;
  /** Calendar days, for columns that a condition compares by day. */
  readonly days: Map<number, number | null | undefined>;
}

type Tester = (cells: Cells) => boolean;

function testerOf(condition: Condition): Tester {
  if (condition.kind === 'test') {
    const { index } = condition.column;
    if (asksForDay(condition)) {
      const onDay = dayComparisonOf(condition.operator, condition.operand);
      return ({ days }) => {
        const day = days.get(index);
        return typeof day === 'number' && onDay(day);
      };
    }
    const holds = comparisonOf(condition);
    return ({ values }) => holds(values.get(index));
  }
  const parts = condition.of.map(testerOf);
  const all: Tester = (cells) => parts.every((part) => part(cells));
  if (condition.kind === 'not') return (cells) => !all(cells);
  switch (condition.operator) {
    case '$and':
      return all;
    case '$or':
      return (cells) => parts.some((part) => part(cells));
    case '$nor':
      return (cells) => !parts.some((part) => part(cells));
  }
}

function dayComparisonOf(operator: Operator, { first, last }: Days): (day: number) => boolean {
  switch (operator) {
    case '$gt':
      return (day) => day > last;
    case '$gte':
      return (day) => day >= first;
    case '$lt':
      return (day) => day < first;
    case '$lte':
      return (day) => day <= last;
    case '$anniversary':
      return (day) => isAnniversary(first, day);
    default:
      return (day) => day >= first && day <= last;
  }
}

/** An absent value is not equal to any value, not in any list, and neither above nor below a number. */
function comparisonOf({ operator, operand }: Test): (value: Scalar | undefined) => boolean {
  const isNumber =
    (compare: (value: number, wanted: number) => boolean) =>
    (value: Scalar | undefined): boolean =>
      typeof value === 'number' && compare(value, operand as number);
  const isText =
    (compare: (value: string, wanted: string) => boolean) =>
    (value: Scalar | undefined): boolean =>
      typeof value === 'string' && compare(value, operand as string);
  const list = new Set<unknown>(Array.isArray(operand) ? operand : []);
  switch (operator) {
    case '$eq':
      return (value) => value === operand;
    case '$ne':
      return (value) => value !== operand;
    case '$gt':
      return isNumber((value, wanted) => value > wanted);
    case '$gte':
      return isNumber((value, wanted) => value >= wanted);
    case '$lt':
      return isNumber((value, wanted) => value < wanted);
    case '$lte':
      return isNumber((value, wanted) => value <= wanted);
    case '$in':
      return (value) => list.has(value);
    case '$nin':
      return (value) => !list.has(value);
    // A cell of text is never absent, only empty.
    case '$exists':
      return (value) => (typeof value === 'string' ? !holdsNothing(value) : value !== undefined) === operand;
    case '$startsWith':
      return isText((value, wanted) => value.startsWith(wanted));
    case '$endsWith':
      return isText((value, wanted) => value.endsWith(wanted));
    case '$contains':
      return isText((value, wanted) => value.includes(wanted));
    default:
      throw new Error(`${operator} compares calendar days`);
  }
}

/** Cuts longer phrases, to fit a table cell. */
const LONGEST = 200;

/**
 * A short phrase why a condition does not hold for a row: `age is 17, not at least 18`.
 * @param holds whether a part of the condition holds for that row
 */
function explainCondition(
  condition: Condition,
  values: readonly string[],
  holds: (part: Condition) => boolean,
): string {
  return shortened(explain(condition), LONGEST);

  function explain(failed: Condition): string {
    if (failed.kind === 'test') return explainTest(failed, values);
    if (failed.kind === 'not') return leftOut(failed.column, values);
    if (failed.operator === '$or') return failed.of.map(explain).join('; and ');
    const part = failed.of.find((inner) => holds(inner) === (failed.operator === '$nor'));
    if (part === undefined) return 'the query does not hold';
    return failed.operator === '$nor' ? describe(part) : explain(part);
  }

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
  const { phrase, datePhrase = phrase } = OPERATORS[operator];
  const found = `${is(column, values)}, ${column.type === 'date' ? datePhrase : phrase}`;
  if (asksForDay(test)) {
    // `2026-11-26 (tomorrow)`, `2026-11-25 to 2026-12-09 (P14D)`
    const { first, last, written } = test.operand;
    const days = first === last ? dayText(first) : `${dayText(first)} to ${dayText(last)}`;
    return `${found} ${days}${days === written ? '' : ` (${written})`}`;
  }
  const all = [operand].flat() as Scalar[];
  const more = all.length > MOST_VALUES ? ` or ${all.length - MOST_VALUES} more` : '';
  const named = all.slice(0, MOST_VALUES).map((one) => value(column, one));
  return `${found} ${named.join(', ')}${more}`;
}

function leftOut(column: QueryColumn, values: readonly string[]): string {
  return `${is(column, values)}, which is left out`;
}

function is(column: QueryColumn, values: readonly string[]): string {
  const cell = (values[column.index] ?? '').trim();
  if (cell === '') return `${column.name} is empty`;
  return `${column.name} is ${column.type === 'string' ? show(cell) : shorten(cell)}`;
}

const MOST_VALUES = 5;

function value(column: QueryColumn, operand: Scalar): string {
  if (column.type === 'date')
    return iso(Number(operand))
      .replace(/T00:00:00\.000Z$/, '')
      .replace('.000Z', 'Z');
  return typeof operand === 'string' ? show(operand) : String(operand);
}
