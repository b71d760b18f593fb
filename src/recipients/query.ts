import { type Diagnostic, problem } from '../errors.ts';
import type { ColumnTypes, Json, JsonObject, ListSpec, Where } from '../model.ts';
import { compared, comparedPart } from '../util/cell.ts';
import { isMapping } from '../util/json.ts';
import { onDemand } from '../util/on-demand.ts';
import { didYouMean } from '../util/suggest.ts';
import { addDays, createInstantOf, type DayStep, dayMs, readDayStep } from '../util/time.ts';
import { listed, readCell, readType, type TypedColumn } from './columns.ts';
import table from './query-operators.json' with { type: 'json' };

/** With the words for a row that does not meet one; `datePhrase` for a column of dates. */
export const OPERATORS: Readonly<
  Record<
    keyof typeof table,
    {
      readonly operand: string;
      readonly types: readonly string[];
      readonly phrase?: string;
      readonly datePhrase?: string;
    }
  >
> = table;

/** Also take a day such as `today`, and then compare calendar days. */
const ORDERS: ReadonlySet<string> = new Set(['$gt', '$gte', '$lt', '$lte']);

export type Operator = keyof typeof OPERATORS;

/** Operators over whole conditions, in the place of a column name. */
export const GROUPS = ['$and', '$or', '$nor'] as const;
type Group = (typeof GROUPS)[number];

/** Dates are milliseconds since 1970. */
export type Scalar = string | number;

export type Condition =
  | { readonly kind: 'group'; readonly operator: Group; readonly of: readonly Condition[] }
  /** Holds when the conditions, all on this column, do not hold together. */
  | { readonly kind: 'not'; readonly column: QueryColumn; readonly of: readonly OnColumn[] }
  | Test;

type OnColumn = Exclude<Condition, { kind: 'group' }>;

export interface Test {
  readonly kind: 'test';
  readonly column: QueryColumn;
  readonly operator: Operator;
  readonly operand: Scalar | boolean | readonly Scalar[] | Days;
}

/** First and last day, each as its midnight in UTC. */
export interface Days {
  readonly first: number;
  readonly last: number;
  /** As in the campaign: `tomorrow`, `P14D`. */
  readonly written: string;
}

export function asksForDay(test: Test): test is Test & { readonly operand: Days } {
  return typeof test.operand === 'object' && 'first' in test.operand;
}

const STEPS: Readonly<Record<string, DayStep>> = {
  today: { months: 0, days: 0 },
  tomorrow: { months: 0, days: 1 },
  yesterday: { months: 0, days: -1 },
};

function readStep(text: string): DayStep | null {
  return (Object.hasOwn(STEPS, text) ? STEPS[text] : undefined) ?? readDayStep(text);
}

export function isRelative(where: Where | null): boolean {
  return where !== null && hasDay(where.query);
}

function hasDay(query: Json): boolean {
  if (Array.isArray(query)) return query.some(hasDay);
  if (!isMapping(query)) return false;
  return Object.entries(query).some(([name, value]) => {
    const isRelative = isDay(name, value) && typeof value === 'string' && readStep(value) !== null;
    return name === '$within' || isRelative || hasDay(value);
  });
}

function isDay(operator: string, value: Json): boolean {
  return isDateOperator(operator) || comparesDays(operator, value);
}

function comparesDays(operator: string, value: Json): boolean {
  return ORDERS.has(operator) && typeof value === 'string' && readStep(value) !== null;
}

function isDateOperator(name: string): boolean {
  return isOperator(name) && (OPERATORS[name].operand === 'day' || OPERATORS[name].operand === 'span');
}

/** `recipients.columns`, plus the columns that the query compares with a day, as dates. */
export function columnTypes({ columns, where }: Pick<ListSpec, 'columns' | 'where'>): ColumnTypes {
  const named = new Set(Object.keys(columns).map(compared));
  const dates = where === null ? [] : datesIn(where.query).filter((name) => !named.has(name));
  return dates.length === 0 ? columns : { ...Object.fromEntries(dates.map((name) => [name, 'date'])), ...columns };
}

function datesIn(query: JsonObject): string[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.filter(isMapping).flatMap(datesIn);
    return !name.startsWith('$') && isMapping(value) && asksDate(value) ? [compared(name)] : [];
  });
}

function asksDate(operators: JsonObject): boolean {
  return Object.entries(operators).some(
    ([name, value]) => isDay(name, value) || (name === '$not' && isMapping(value) && asksDate(value)),
  );
}

export type QueryColumn = Pick<TypedColumn, 'index' | 'name' | 'type' | 'format'>;

function isOperator(name: string): name is Operator {
  return Object.hasOwn(OPERATORS, name);
}

function isGroup(name: string): name is Group {
  return GROUPS.some((group) => group === name);
}

/**
 * @param today midnight in UTC of the day from which relative dates count
 * @returns the conditions, which must all hold, or every fault of the query, at its place
 */
export function readQuery(
  where: Where,
  columns: readonly string[],
  types: ColumnTypes,
  today: number,
): { readonly conditions: readonly Condition[] } | Diagnostic[] {
  const problems: Diagnostic[] = [];
  const typeOf = new Map(Object.entries(types).map(([name, type]) => [compared(name), type]));
  const refuse = (message: string, hint?: string): void => {
    problems.push(problem('invalid-where', message, { at: where.at, hint }));
  };
  const instantOf = onDemand(() => createInstantOf(where.timeZone));
  const clock: Clock = { today, instantOf: (wallMs) => instantOf()(wallMs) };
  const conditions = readMapping(where.query, []);
  return problems.length > 0 ? problems : { conditions };

  function readMapping(query: JsonObject, path: readonly string[]): Condition[] {
    const entries = Object.entries(query);
    if (entries.length === 0) {
      refuse(`${place(path)} asks nothing.`, 'Leave it out to mean all recipients, or name a column: { country: GB }.');
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
    const index = columns.indexOf(compared(name));
    if (index === -1) {
      const hint = [didYouMean(name, columns).hint, listed(columns)].filter((part) => part !== undefined).join(' ');
      refuse(`${place(path)} asks for the column "${name}", which the list does not have.`, hint);
      return [];
    }
    const column = { index, name: compared(name), ...readType(typeOf.get(compared(name)) ?? 'string') };
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
    const found = dayWord(column, operator, value) ?? readOperand(column, operator, value, clock);
    if ('operand' in found) return [{ kind: 'test', column, operator, operand: found.operand }];
    refuse(`${place(path)} ${found.problem}.`, found.hint);
    return [];
  }

  /** Such as `{ visit: today }`: it would compare with the word, and exclude everyone or no one. */
  function dayWord({ name }: QueryColumn, operator: Operator, value: Json): OperandResult | null {
    const { operand } = OPERATORS[operator];
    if (typeOf.has(name) || (operand !== 'value' && operand !== 'values')) return null;
    const word = [value].flat().find((one) => typeof one === 'string' && readStep(one) !== null);
    if (word === undefined) return null;
    const declare = `If the cells hold that word, say so: \`recipients.columns\`: { ${name}: string }.`;
    return {
      problem: `compares the text in "${name}" with ${JSON.stringify(word)}`,
      hint: `For a day write { $on: ${word} }. ${declare}`,
    };
  }
}

function all(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1) return only;
  return { kind: 'group', operator: '$and', of: conditions };
}

function place(path: readonly string[]): string {
  return `\`${['recipients', 'where', ...path].join('.')}\``;
}

const ALL_OPERATORS = [...Object.keys(OPERATORS), '$not'];
const KNOWN = `Operators: ${ALL_OPERATORS.join(', ')}; over whole queries: ${GROUPS.join(', ')}.`;

function unknownGroup(name: string, path: readonly string[]): [string, string] {
  if (name === '$not') return [`${place(path)} is outside a column.`, 'Write $nor: [{ ... }] instead.'];
  if (isOperator(name)) {
    return [`${place(path)} is outside a column.`, `Name the column first: { country: { ${name}: ... } }.`];
  }
  return unknownOperator(name, path);
}

function unknownOperator(name: string, path: readonly string[]): [string, string] {
  if (isGroup(name)) {
    const hint = `Write it around the column: ${name}: [{ age: { $lt: 18 } }, { age: { $gt: 65 } }].`;
    return [`${place(path)} is inside a column.`, hint];
  }
  const message = `${place(path)} is not an operator that handbill knows.`;
  // An expression can make a single cell take minutes to match.
  if (name === '$regex' || name === '$options') return [message, 'Use $startsWith, $endsWith or $contains.'];
  const meant = didYouMean(name, [...ALL_OPERATORS, ...GROUPS]).hint;
  return [message, meant === undefined ? KNOWN : `${meant} ${KNOWN}`];
}

/** `problem` follows on the place of the operator. */
type OperandResult = { readonly operand: Test['operand'] } | { readonly problem: string; readonly hint: string };

interface Clock {
  /** Midnight in UTC of the day from which relative dates count. */
  readonly today: number;
  readonly instantOf: (wallMs: number) => number;
}

function readOperand(column: QueryColumn, operator: Operator, value: Json, clock: Clock): OperandResult {
  const { today } = clock;
  const { operand, types } = OPERATORS[operator];
  const { type } = column;
  if (!types.some((t) => t === type)) return notForType(column, operator);
  if (operand === 'switch')
    return typeof value === 'boolean'
      ? { operand: value }
      : { problem: 'needs true or false', hint: `${operator}: false asks for empty cells.` };
  if (operand === 'text') {
    if (typeof value === 'string' && value !== '') return { operand: comparedPart(value) };
    const hint = typeof value === 'number' ? `Put it in quotes: "${value}".` : `For example ${operator}: "GB".`;
    return { problem: 'needs a piece of text', hint };
  }
  if (operand === 'day' || operand === 'span') return readDays(operator, value, today);
  if (type === 'date' && comparesDays(operator, value)) return readDays(operator, value, today);
  if (operand === 'value') return readValue(column, value, clock);
  if (!Array.isArray(value) || value.length === 0) {
    return { problem: 'needs a list of values', hint: `For example ${operator}: [${EXAMPLES[type]}].` };
  }
  const found = value.map((item: Json) => readValue(column, item, clock));
  return (
    found.find((item) => 'problem' in item) ?? {
      operand: found.flatMap((item) => ('operand' in item ? [item.operand as Scalar] : [])),
    }
  );
}

function readDays(operator: Operator, value: Json, today: number): OperandResult {
  const written = typeof value === 'string' ? value : '';
  if (operator === '$within') {
    const step = readDayStep(written);
    if (step === null) return { problem: 'needs a duration in days', hint: `For example ${operator}: ${DURATIONS}.` };
    const end = addDays(today, step);
    return { operand: { first: Math.min(today, end), last: Math.max(today, end), written } };
  }
  const step = readStep(written);
  const day = step === null ? dayMs(written) : addDays(today, step);
  if (day !== null) return { operand: { first: day, last: day, written } };
  const hint = `Write today, tomorrow, yesterday, a duration from today such as ${DURATIONS}, or a date such as 2026-12-24.`;
  return { problem: 'needs a day', hint };
}

const DURATIONS = 'P14D, P1M or -P2W';

function readValue(column: QueryColumn, value: Json, { instantOf }: Clock): OperandResult {
  const { type } = column;
  if (type === 'string' && typeof value === 'string') return { operand: compared(value) };
  if (type === 'number' && typeof value === 'number' && Number.isFinite(value)) return { operand: value };
  if (type === 'date' && typeof value === 'string') {
    const date = readCell('date', value, null, instantOf);
    if (typeof date === 'number') return { operand: date };
  }
  return wrongValue(column, value);
}

const EXAMPLES = { string: 'GB, IE', number: '18, 21', date: '2026-11-21, 2026-11-22' } as const;

function wrongValue({ name, type }: QueryColumn, value: Json): OperandResult {
  const shown = JSON.stringify(value)?.slice(0, 60) ?? 'nothing';
  if (value === null) return { problem: 'compares with null', hint: 'For empty cells write { $exists: false }.' };
  if (Array.isArray(value))
    return { problem: 'compares with a list', hint: `Write { $in: ${shown} } for one of several values.` };
  if (typeof value === 'object') return { problem: 'compares with a mapping', hint: 'Give one value.' };
  if (type === 'number') {
    const hint =
      typeof value === 'string' && typeof readCell('number', value) === 'number'
        ? `Write ${value.trim()} without quotes: text and numbers are never equal.`
        : `Give a number, or take "${name}" out of \`recipients.columns\` to compare its text.`;
    return { problem: `compares the numbers in "${name}" with ${shown}`, hint };
  }
  if (type === 'date') {
    const hint =
      typeof value === 'string' && readStep(value) !== null
        ? `For a day write { $on: ${value} }.`
        : 'Write a day such as "2026-11-21" (midnight in UTC) or an instant such as "2026-11-21T09:00:00Z".';
    return { problem: `compares the dates in "${name}" with ${shown}, which is not a date`, hint };
  }
  const declare =
    typeof value === 'number'
      ? `, or say that the column holds numbers: \`recipients.columns\`: { ${name}: number }`
      : '';
  return { problem: `compares the text in "${name}" with ${shown}`, hint: `Put it in quotes: "${shown}"${declare}.` };
}

function notForType({ name, type }: QueryColumn, operator: Operator): OperandResult {
  if (OPERATORS[operator].operand === 'text') {
    return { problem: `looks into text, but "${name}" holds ${type}s`, hint: 'Use $eq, $in, $gte or $lt.' };
  }
  if (type === 'number' || isDateOperator(operator)) {
    const hint =
      type === 'number' ? 'Is it the wrong column?' : `Say what it holds: \`recipients.columns\`: { ${name}: date }.`;
    return { problem: `asks for a date, but "${name}" holds ${type === 'number' ? 'numbers' : 'text'}`, hint };
  }
  // As text "9" comes after "18", which is never intended.
  return {
    problem: `puts values in order, but "${name}" holds text`,
    hint: `Say what it holds: \`recipients.columns\`: { ${name}: number }, or date.`,
  };
}
