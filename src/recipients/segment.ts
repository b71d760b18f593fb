import type { Diagnostic } from '../errors.ts';
import type { ColumnTypes, Where } from '../model.ts';
import { readCell, readText } from './cell.ts';
import { typeFault } from './column-types.ts';
import { explainCondition } from './explain-condition.ts';
import type { Condition, QueryColumn } from './operators.ts';
import { readQuery } from './read-query.ts';
import { createTester, keyOf, type Tester, type Values } from './sift-query.ts';

/**
 * Whether a row is meant. `unreadable`: a cell that the query asks for does not hold what `recipients.columns` says;
 * the recipient reader refuses such a row too, and `Segment.fault` says why.
 */
export type Verdict = 'in' | 'out' | 'unreadable';

/** Who of a list is meant. */
export interface Segment {
  /** Names of the columns that the query asks for. */
  readonly columns: readonly string[];
  judge(values: readonly string[]): Verdict;
  /** Which condition a row that is out does not meet, in a short phrase; null for every other row. */
  why(values: readonly string[]): string | null;
  /** What is wrong with the cells of an unreadable row; null for every other row. */
  fault(values: readonly string[]): { readonly message: string; readonly hint: string } | null;
}

/**
 * Makes the judge of rows. Empty cells of typed columns are absent values: only $ne, $nin, $not, $nor and
 * `$exists: false` hold for them. Text is compared exactly, but for blanks around it.
 * @param columns names of the list's columns
 * @param types `recipients.columns`; a column that is not named holds text
 * @returns the segment, or everything that is wrong with the query (`invalid-where`, at its place)
 */
export function compileSegment(
  where: Where,
  columns: readonly string[],
  types: ColumnTypes,
): { readonly segment: Segment } | Diagnostic[] {
  const query = readQuery(where, columns, types);
  if (Array.isArray(query)) return query;
  return { segment: createSegment({ kind: 'group', operator: '$and', of: query.conditions }) };
}

function createSegment(root: Condition): Segment {
  const used = [...new Map(columnsOf(root).map((column) => [column.index, column])).values()];
  const typed = used.flatMap(({ type, ...column }) => (type === 'string' ? [] : [{ ...column, type }]));
  const test = createTester(root);
  const testers = new Map<Condition, Tester>();
  // One object for all rows: nothing keeps it, and a new one for each row is a third of the time.
  const read: Values = Object.fromEntries(used.map((column) => [keyOf(column), undefined]));
  const keys = used.map(keyOf);

  function fill(values: readonly string[]): boolean {
    for (let i = 0; i < used.length; i++) {
      const column = used[i];
      const key = keys[i];
      if (column === undefined || key === undefined) continue;
      const cell = values[column.index] ?? '';
      const value = column.type === 'string' ? readText(cell) : readCell(column.type, cell, column.format);
      if (value === null) return false;
      read[key] = value;
    }
    return true;
  }

  function judge(values: readonly string[]): Verdict {
    if (!fill(values)) return 'unreadable';
    return test(read) ? 'in' : 'out';
  }

  function why(values: readonly string[]): string | null {
    return judge(values) === 'out' ? explainCondition(root, values, holds) : null;
  }

  function holds(part: Condition): boolean {
    const tester = testers.get(part) ?? createTester(part);
    testers.set(part, tester);
    return tester(read);
  }

  const fault = (values: readonly string[]) => typeFault(typed, values);
  return { columns: used.map((column) => column.name), judge, why, fault };
}

function columnsOf(condition: Condition): readonly QueryColumn[] {
  return condition.kind === 'group' ? condition.of.flatMap(columnsOf) : [condition.column];
}
