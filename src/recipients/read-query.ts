import { type Diagnostic, problem } from '../errors.ts';
import type { ColumnTypes, Json, JsonObject, Where } from '../model.ts';
import { didYouMean } from '../util/suggest.ts';
import { columnName, readType } from './column-types.ts';
import { listed } from './columns.ts';
import {
  type Condition,
  GROUPS,
  isGroup,
  isOperator,
  type OnColumn,
  OPERATORS,
  type QueryColumn,
} from './operators.ts';
import { readOperand } from './read-operand.ts';

/**
 * Checks a query against the columns of a list, and makes conditions of it whose operands have their columns' types.
 * @returns the conditions, which must all hold, or everything that is wrong with the query, at its place
 */
export function readQuery(
  where: Where,
  columns: readonly string[],
  types: ColumnTypes,
): { readonly conditions: readonly Condition[] } | Diagnostic[] {
  const problems: Diagnostic[] = [];
  const typeOf = new Map(Object.entries(types).map(([name, type]) => [columnName(name), type]));
  const refuse = (message: string, hint?: string): void => {
    problems.push(problem('invalid-where', message, { at: where.at, ...(hint === undefined ? {} : { hint }) }));
  };
  const conditions = readMapping(where.query, []);
  return problems.length > 0 ? problems : { conditions };

  function readMapping(query: JsonObject, path: readonly string[]): Condition[] {
    const entries = Object.entries(query);
    if (entries.length === 0) {
      refuse(`${place(path)} asks nothing.`, 'Leave it out to mean everybody, or name a column: { country: GB }.');
    }
    return entries.flatMap(([name, value]): readonly Condition[] => {
      if (name.startsWith('$')) return readGroup(name, value, [...path, name]);
      return readColumn(name, value, [...path, name]);
    });
  }

  function readGroup(name: string, value: Json, path: readonly string[]): readonly Condition[] {
    if (!isGroup(name)) {
      refuse(...unknownGroup(name, path));
      return [];
    }
    if (!Array.isArray(value) || value.length === 0) {
      refuse(`${place(path)} needs a list of queries.`, `For example ${name}: [{ country: GB }, { country: IE }].`);
      return [];
    }
    const of = value.flatMap((query: Json, i): Condition[] => {
      const at = [...path, String(i + 1)];
      if (isMapping(query)) return [all(readMapping(query, at))];
      refuse(`${place(at)} is not a query.`, 'Name a column and what it must be: { country: GB }.');
      return [];
    });
    return [{ kind: 'group', operator: name, of }];
  }

  function readColumn(name: string, value: Json, path: readonly string[]): readonly OnColumn[] {
    const index = columns.indexOf(columnName(name));
    if (index === -1) {
      const hint = [didYouMean(name, columns).hint, listed(columns)].filter((part) => part !== undefined).join(' ');
      refuse(`${place(path)} asks for the column "${name}", which the list does not have.`, hint);
      return [];
    }
    const column = { index, name: columnName(name), ...readType(typeOf.get(columnName(name)) ?? 'string') };
    if (!isMapping(value)) return readTest(column, '$eq', value, path);
    return readOperators(column, value, path);
  }

  function readOperators(column: QueryColumn, value: JsonObject, path: readonly string[]): readonly OnColumn[] {
    const entries = Object.entries(value);
    if (entries.length === 0) refuse(`${place(path)} asks nothing.`, 'Give a value, or an operator such as $gte.');
    return entries.flatMap(([name, operand]): readonly OnColumn[] => {
      const at = [...path, name];
      if (isOperator(name)) return readTest(column, name, operand, at);
      if (name === '$not') return readNot(column, operand, at);
      refuse(...unknownOperator(name, at));
      return [];
    });
  }

  function readNot(column: QueryColumn, value: Json, path: readonly string[]): readonly OnColumn[] {
    if (isMapping(value)) return [{ kind: 'not', column, of: readOperators(column, value, path) }];
    refuse(`${place(path)} needs operators behind it.`, 'For example $not: { $gte: 18 }; for one value write $ne.');
    return [];
  }

  function readTest(
    column: QueryColumn,
    operator: keyof typeof OPERATORS,
    value: Json,
    path: readonly string[],
  ): readonly OnColumn[] {
    const found = readOperand(column, operator, value);
    if ('operand' in found) return [{ kind: 'test', column, operator, operand: found.operand }];
    refuse(`${place(path)} ${found.problem}.`, found.hint);
    return [];
  }
}

function all(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1) return only;
  return { kind: 'group', operator: '$and', of: conditions };
}

function isMapping(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** `recipients.where` and the way into it. */
function place(path: readonly string[]): string {
  return `\`${['recipients', 'where', ...path].join('.')}\``;
}

const ALL_OPERATORS = [...Object.keys(OPERATORS), '$not'];
const KNOWN = `Operators: ${ALL_OPERATORS.join(', ')}; over whole queries: ${GROUPS.join(', ')}.`;

function unknownGroup(name: string, path: readonly string[]): [string, string] {
  if (name === '$not') return [`${place(path)} stands outside a column.`, 'Write $nor: [{ ... }] instead.'];
  if (isOperator(name)) {
    return [`${place(path)} stands outside a column.`, `Name the column first: { country: { ${name}: ... } }.`];
  }
  return unknownOperator(name, path);
}

function unknownOperator(name: string, path: readonly string[]): [string, string] {
  if (isGroup(name)) {
    const hint = `Write it around the column: ${name}: [{ age: { $lt: 18 } }, { age: { $gt: 65 } }].`;
    return [`${place(path)} stands inside a column.`, hint];
  }
  const message = `${place(path)} is not an operator that handbill knows.`;
  // Expressions from a file can be written so that a single cell takes minutes to match.
  if (name === '$regex' || name === '$options') return [message, 'Use $startsWith, $endsWith or $contains.'];
  const meant = didYouMean(name, [...ALL_OPERATORS, ...GROUPS]).hint;
  return [message, meant === undefined ? KNOWN : `${meant} ${KNOWN}`];
}
