import type { Json } from '../model.ts';
import { readCell, readText } from './cell.ts';
import { OPERATORS, type Operator, type QueryColumn, type Scalar, type Test } from './operators.ts';

/** `problem` follows on the place of the operator. */
export type OperandResult = { readonly operand: Test['operand'] } | { readonly problem: string; readonly hint: string };

/** Reads what stands behind an operator as the type of its column: nothing is converted silently. */
export function readOperand(column: QueryColumn, operator: Operator, value: Json): OperandResult {
  const { operand, types } = OPERATORS[operator];
  const { type } = column;
  if (!types.some((t) => t === type)) return notForType(column, operator);
  if (operand === 'switch') return typeof value === 'boolean' ? { operand: value } : notSwitch(operator);
  if (operand === 'text')
    return typeof value === 'string' && value !== '' ? { operand: value.normalize('NFC') } : notText(operator, value);
  if (operand === 'value') return readValue(column, value);
  if (!Array.isArray(value) || value.length === 0) {
    return { problem: 'needs a list of values', hint: `For example ${operator}: [${EXAMPLES[type]}].` };
  }
  const found = value.map((item: Json) => readValue(column, item));
  return (
    found.find((item) => 'problem' in item) ?? {
      operand: found.flatMap((item) => ('operand' in item ? [item.operand as Scalar] : [])),
    }
  );
}

function readValue(column: QueryColumn, value: Json): OperandResult {
  const { type } = column;
  if (type === 'string' && typeof value === 'string') return { operand: readText(value) };
  if (type === 'number' && typeof value === 'number' && Number.isFinite(value)) return { operand: value };
  if (type === 'date' && typeof value === 'string') {
    const date = readCell('date', value);
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
  if (type === 'number')
    return { problem: `compares the numbers in "${name}" with ${shown}`, hint: numberHint(name, value) };
  if (type === 'date') {
    const hint = 'Write a day such as "2026-11-21" (midnight in UTC) or an instant such as "2026-11-21T09:00:00Z".';
    return { problem: `compares the dates in "${name}" with ${shown}, which is not a date`, hint };
  }
  const declare =
    typeof value === 'number'
      ? `, or say that the column holds numbers: \`recipients.columns\`: { ${name}: number }`
      : '';
  return { problem: `compares the text in "${name}" with ${shown}`, hint: `Put it in quotes: "${shown}"${declare}.` };
}

function numberHint(name: string, value: Json): string {
  if (typeof value === 'string' && typeof readCell('number', value) === 'number') {
    return `Write ${value.trim()} without quotes: text and numbers are never equal.`;
  }
  return `Give a number, or take "${name}" out of \`recipients.columns\` to compare its text.`;
}

function notForType({ name, type }: QueryColumn, operator: Operator): OperandResult {
  if (OPERATORS[operator].operand === 'text') {
    return { problem: `looks into text, but "${name}" holds ${type}s`, hint: 'Use $eq, $in, $gte or $lt.' };
  }
  // As text "9" comes after "18", which is never meant.
  return {
    problem: `puts values in order, but "${name}" holds text`,
    hint: `Say what it holds: \`recipients.columns\`: { ${name}: number }, or date.`,
  };
}

function notSwitch(operator: Operator): OperandResult {
  return { problem: 'needs true or false', hint: `${operator}: false asks for empty cells.` };
}

function notText(operator: Operator, value: Json): OperandResult {
  const hint = typeof value === 'number' ? `Put it in quotes: "${value}".` : `For example ${operator}: "GB".`;
  return { problem: 'needs a piece of text', hint };
}
