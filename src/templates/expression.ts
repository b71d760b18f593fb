import { type Call, type Expression, type Literal, textLiteral } from './ast.ts';
import { checkCall } from './call.ts';
import { warnOfText } from './entities.ts';
import { resolvePath } from './names.ts';
import { slice } from './position.ts';
import { type Checked, deeper, enter, type Place, reportAt, type State } from './state.ts';

/** Checks one argument: a column, a literal, or a helper in parentheses. Null when something is wrong; it is reported. */
export function checkExpression(expression: Expression, place: Place, state: State): Checked | null {
  if (!enter(state, place, expression.loc)) return null;
  if (expression.type === 'SubExpression') return checkHelper(expression, deeper(place), state);
  if (expression.type === 'PathExpression') {
    const resolved = resolvePath(expression, place, state);
    return resolved === null
      ? null
      : 'column' in resolved
        ? { kind: 'text', out: resolved.column }
        : checkGiven(resolved.given, place, state);
  }
  return checkLiteral(expression, place, state);
}

/** Checks a helper with its arguments, in `{{...}}` or in parentheses. */
export function checkHelper(call: Call, place: Place, state: State): Checked | null {
  return checkCall(call, place, state, checkExpression);
}

/** The value that a partial was given, put in the place of its name. */
export function checkGiven(name: string, place: Place, state: State): Checked | null {
  const given = place.scope.get(name);
  if (given === undefined) return null;
  const { mandatory, depth } = place;
  return checkExpression(given.expression, { ...given.place, mandatory, depth: depth + 1 }, state);
}

function checkLiteral(literal: Literal, place: Place, state: State): Checked | null {
  if (literal.type === 'StringLiteral') {
    warnOfText(literal.loc, place, state);
    return { kind: 'text', out: textLiteral(literal.value) };
  }
  const written = slice(place.located, literal.loc);
  // As it was written: 1.50 and 007 are texts too.
  if (literal.type === 'NumberLiteral') return { kind: 'text', out: textLiteral(written) };
  const message = `"${written}" is not a value here: every value is a text.`;
  return reportAt(
    state,
    place,
    literal.loc,
    'helper-arguments',
    message,
    `Write "${written}" in quotes, or [${written}] for a column.`,
  );
}
