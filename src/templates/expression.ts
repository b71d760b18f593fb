import { allOf, didYouMean } from '../util/suggest.ts';
import {
  type Call,
  callOf,
  type Expression,
  type HashPair,
  type Literal,
  type OutExpression,
  textLiteral,
} from './ast.ts';
import { warnOfText } from './entities.ts';
import { OWN_HELPERS, SIGNATURES } from './helpers/helpers.ts';
import type { CheckedCall, Parameter, Signature } from './helpers/signature.ts';
import { columnsIn, isSpacedColumn, needs, resolvePath } from './names.ts';
import { at, slice } from './position.ts';
import { type Checked, deeper, enter, notAllowed, type Place, reportAt } from './state.ts';

/** Null when something is wrong; it is reported. */
export function checkExpression(expression: Expression, place: Place): Checked | null {
  if (!enter(place, expression.loc)) return null;
  if (expression.type === 'SubExpression') return checkHelper(expression, deeper(place));
  if (expression.type === 'PathExpression') return checkResolved(resolvePath(expression, place), place);
  return checkLiteral(expression, place);
}

export function checkResolved(found: ReturnType<typeof resolvePath>, place: Place): Checked | null {
  if (found === null) return null;
  if ('column' in found) return { kind: 'text', out: found.column };
  const given = place.scope.get(found.given);
  if (given === undefined) return null;
  const { mandatory, guarded, depth } = place;
  return checkExpression(given.expression, { ...given.place, mandatory, guarded, depth: depth + 1 });
}

function checkLiteral(literal: Literal, place: Place): Checked | null {
  if (literal.type === 'StringLiteral') {
    warnOfText(literal.loc, place);
    return { kind: 'text', out: textLiteral(literal.value) };
  }
  const written = slice(place.located, literal.loc);
  // As it was written: 1.50 and 007 are texts too.
  if (literal.type === 'NumberLiteral') return { kind: 'text', out: textLiteral(written) };
  const message = `"${written}" is not a value here: every value is a text.`;
  const hint = `Write "${written}" in quotes, or [${written}] for a column.`;
  return reportAt(place, literal.loc, 'helper-arguments', message, hint);
}

/** Helpers of Handlebars that are switched off: they read outside the row, or write to the console. */
const SWITCHED_OFF: ReadonlySet<string> = new Set(['lookup', 'log', 'each', 'with']);

/** In `{{...}}` or in parentheses. Null when something is wrong; it is reported. */
export function checkHelper(call: Call, place: Place): Checked | null {
  const { path } = call;
  const isSimple = path.type === 'PathExpression' && !path.data && path.depth === 0 && path.parts.length === 1;
  // Null: not a simple name.
  const name = isSimple && slice(place.located, path.loc) === path.parts[0] ? path.parts[0] : null;
  const signature = name === null ? undefined : SIGNATURES.get(name);
  if (name === null || signature === undefined) return noSuchHelper(name, call, place);
  if (isSpacedColumn(call.params, place)) return null;
  const counted = countArguments(name, signature, call, place);
  const checked = checkArguments(name, signature, call, place);
  if (!counted || checked === null) return null;
  const wrong = signature.verify?.(checked) ?? null;
  if (wrong !== null) return misuse(call, place, wrong, signature);
  if (name === 'eq' || name === 'ne') noteComparison(checked, call, place);
  return { kind: signature.gives, out: lower(name, signature, checked, place) };
}

/** A text that no row has in that column is a branch that no recipient, or every recipient, takes. */
function noteComparison({ positional: [a, b] }: CheckedCall, call: Call, place: Place): void {
  const column = a?.type === 'PathExpression' ? a : b;
  const literal = a?.type === 'StringLiteral' ? a : b;
  if (column?.type !== 'PathExpression' || literal?.type !== 'StringLiteral' || literal.value === '') return;
  const where = at(place.located, call.loc);
  const [name] = column.parts;
  const comparison = { column: name, text: literal.value, place: where };
  place.state.comparisons.set(JSON.stringify([where.at, name, literal.value]), comparison);
}

function noSuchHelper(name: string | null, call: Call, place: Place): null {
  const { loc } = call.path;
  const written = slice(place.located, loc);
  if (isSpacedColumn([call.path, ...call.params], place)) return null;
  if (name !== null && SWITCHED_OFF.has(name)) return notAllowed(place, loc, `"${name}" is not available.`);
  for (const param of [...call.params, ...(call.hash?.pairs ?? []).map((pair) => pair.value)])
    checkExpression(param, place);
  if (name === 'if' || name === 'unless') {
    const hint = `Write {{#${name} ...}}...{{/${name}}}.`;
    return reportAt(place, loc, 'helper-arguments', `"${name}" is a block.`, hint);
  }
  const isColumn = place.state.columns.has(written) || place.scope.has(written);
  const hint = isColumn
    ? `"${written}" is a column, and takes no values.`
    : (didYouMean(written, SIGNATURES.keys()).hint ?? allOf('The helpers', [...SIGNATURES.keys()]));
  return reportAt(place, loc, 'unknown-helper', `No helper is called "${written}".`, hint);
}

function misuse(call: Call, place: Place, message: string, { example }: Signature): null {
  return reportAt(place, call.path.loc, 'helper-arguments', message, `For example ${example}.`);
}

function countArguments(name: string, signature: Signature, call: Call, place: Place): boolean {
  const count = call.params.length;
  const most = signature.rest === undefined ? signature.positional.length : Number.POSITIVE_INFINITY;
  if (count >= signature.atLeast && count <= most) return true;
  const wanted = signature.positional.slice(0, count < signature.atLeast ? signature.atLeast : undefined);
  const names = wanted.map((p) => p.name).join(', ');
  const message = count < signature.atLeast ? `"${name}" needs more: ${names}.` : `"${name}" takes only ${names}.`;
  misuse(call, place, message, signature);
  return false;
}

function checkArguments(name: string, signature: Signature, call: Call, place: Place): CheckedCall | null {
  const positional = call.params.map((param, i) => {
    const parameter = signature.positional[i] ?? signature.rest;
    // The value that `default` replaces may be empty.
    const own = name === 'default' && i === 0 ? { ...place, mandatory: false } : place;
    return parameter === undefined ? null : checkArgument(name, parameter, param, own);
  });
  const named = checkNamed(name, signature, call.hash?.pairs ?? [], place);
  if (named === null || !positional.every((p) => p !== null)) return null;
  const [column] = positional.slice(0, 1).flatMap(columnsIn);
  return { positional, named, label: column === undefined ? '' : ` in the column ${JSON.stringify(column)}` };
}

function checkNamed(
  name: string,
  signature: Signature,
  pairs: readonly HashPair[],
  place: Place,
): ReadonlyMap<string, OutExpression> | null {
  const found = new Map<string, OutExpression>();
  let right = true;
  for (const { key, value, loc } of pairs) {
    const parameter = signature.named.get(key);
    if (parameter === undefined || found.has(key)) {
      right = false;
      const known = [...signature.named.keys()];
      const message = found.has(key) ? `${key}= is given twice.` : `"${name}" knows no ${key}=.`;
      const hint =
        known.length === 0 ? `"${name}" takes no named values.` : `It knows ${known.map((k) => `${k}=`).join(', ')}.`;
      reportAt(place, loc, 'helper-arguments', message, didYouMean(key, known).hint ?? hint);
    }
    const checked = checkArgument(name, parameter ?? ANY, value, place);
    if (checked === null) right = false;
    else found.set(key, checked);
  }
  return right ? found : null;
}

const ANY: Parameter = { name: 'value', accepts: 'condition' };

function checkArgument(name: string, parameter: Parameter, expression: Expression, place: Place): OutExpression | null {
  const checked = checkExpression(expression, place);
  if (checked === null) return null;
  const { kind, out } = checked;
  const wrong = (message: string, hint?: string) => reportAt(place, expression.loc, 'helper-arguments', message, hint);
  if (kind === 'condition' && parameter.accepts === 'text') {
    return wrong(`"${name}" needs a text as ${parameter.name}, and a comparison is none.`, IN_CONDITIONS);
  }
  if (out.type === 'StringLiteral') {
    const message = parameter.check?.(out.value) ?? null;
    return message === null ? out : wrong(message);
  }
  return parameter.literal ? wrong(`The ${parameter.name} of "${name}" must be written in the template.`) : out;
}

export const IN_CONDITIONS = 'Comparisons are allowed in {{#if (...)}} and in other comparisons.';

function lower(name: string, signature: Signature, checked: CheckedCall, place: Place): OutExpression {
  const params = signature.arrange(checked, place.state.settings);
  const [value, fallback] = params;
  if (name !== 'default' || !place.mandatory || value === undefined || fallback === undefined) {
    return callOf(name, params);
  }
  // A fallback that may itself be empty: one of the columns must then be filled.
  if (needs(fallback).length === 0) return callOf(name, params);
  const columns = [...new Set([...columnsIn(value), ...columnsIn(fallback)])].map((c) => JSON.stringify(c));
  return callOf(OWN_HELPERS.defaultOrRefuse, [value, fallback, textLiteral(columns.join(', '))]);
}
