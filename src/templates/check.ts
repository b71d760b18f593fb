import { didYouMean } from '../util/suggest.ts';
import {
  type BlockStatement,
  block,
  type Call,
  content,
  type Expression,
  type MustacheStatement,
  mustache,
  type OutExpression,
  type OutStatement,
  type Program,
  type Statement,
} from './ast.ts';
import { IN_CONDITIONS } from './call.ts';
import { Handlebars } from './engine.ts';
import { warnOfText } from './entities.ts';
import { checkExpression, checkGiven, checkHelper } from './expression.ts';
import { SIGNATURES } from './helpers/helpers.ts';
import { isSpacedColumn, resolveName, resolvePath } from './names.ts';
import { needs } from './needs.ts';
import { checkPartial } from './partial.ts';
import { slice } from './position.ts';
import { type Checked, deeper, enter, notAllowed, type Place, reportAt, type State, type Statements } from './state.ts';

/** Checks a program and everything in it; what is wrong is reported and left out of what is returned. */
export function checkProgram(program: Program, place: Place, state: State): Statements {
  return program.body.flatMap((statement) =>
    enter(state, place, statement.loc) ? checkStatement(statement, place, state) : [],
  );
}

function checkStatement(statement: Statement, place: Place, state: State): Statements {
  switch (statement.type) {
    case 'ContentStatement':
      warnOfText(statement.loc, place, state);
      return statement.value === '' ? [] : [content(statement.value)];
    case 'CommentStatement':
      return [];
    case 'MustacheStatement':
      return checkMustache(statement, place, state);
    case 'BlockStatement':
      return checkBlock(statement, place, state);
    case 'PartialStatement':
      return checkPartial(statement, place, state, checkProgram);
    case 'PartialBlockStatement':
      notAllowed(
        state,
        place,
        statement.loc,
        'Partials with a block are not available.',
        'Include it with {{> name}}.',
      );
      return [];
    case 'Decorator':
    case 'DecoratorBlock':
      notAllowed(state, place, statement.loc, 'Decorators and inline partials are not available.', OWN_FILE);
      return [];
  }
}

const OWN_FILE = 'A partial stands in a file of its own.';

// -------------------------------------------------------------------------------------------------- {{name}}

function checkMustache(statement: MustacheStatement, place: Place, state: State): Statements {
  const checked = isCall(statement)
    ? checkHelper(statement, place, state)
    : checkBareName(statement.path, place, state);
  if (checked === null) return [];
  if (checked.kind === 'condition') {
    const message = `${slice(place.located, statement.loc)} answers yes or no, and is no text.`;
    reportAt(state, place, statement.loc, 'helper-arguments', message, IN_CONDITIONS);
    return [];
  }
  if (place.mandatory) for (const column of needs(checked.out)) state.required.add(column);
  return [output(checked.out, statement.escaped, state)];
}

function isCall({ params, hash }: Call): boolean {
  return params.length > 0 || hash !== undefined;
}

/** `{{name}}`: the column, even where a helper has that name. Handlebars takes `{{"a b"}}` and `{{1}}` for names too. */
function checkBareName(path: Expression, place: Place, state: State): Checked | null {
  if (path.type === 'SubExpression') return checkHelper(path, place, state);
  if (path.type !== 'PathExpression') {
    const name = path.type === 'StringLiteral' ? path.value : slice(place.located, path.loc);
    return resolved(resolveName(name, path.loc, place, state), place, state);
  }
  const written = slice(place.located, path.loc);
  const signature = SIGNATURES.get(written);
  if (signature !== undefined && !state.columns.has(written) && !place.scope.has(written)) {
    const message = `"${written}" is a helper and needs a value.`;
    return reportAt(state, place, path.loc, 'helper-arguments', message, `For example ${signature.example}.`);
  }
  return resolved(resolvePath(path, place, state), place, state);
}

function resolved(found: ReturnType<typeof resolvePath>, place: Place, state: State): Checked | null {
  if (found === null) return null;
  return 'column' in found ? { kind: 'text', out: found.column } : checkGiven(found.given, place, state);
}

function output(expression: OutExpression, escaped: boolean, state: State): OutStatement {
  switch (expression.type) {
    case 'PathExpression':
      return mustache(expression, [], escaped);
    case 'SubExpression':
      return mustache(expression.path, expression.params, escaped);
    case 'StringLiteral': {
      // A text that a partial was given: as a column's value would be.
      const { value } = expression;
      return content(escaped && state.escape === 'html' ? Handlebars.escapeExpression(value) : value);
    }
    default:
      return content('');
  }
}

// ------------------------------------------------------------------------------------------- {{#if}}, {{#unless}}

function checkBlock(statement: BlockStatement, place: Place, state: State): Statements {
  const { path, program, inverse } = statement;
  const name = slice(place.located, path.loc);
  if (statement.openStrip.open === undefined) {
    notAllowed(state, place, path.loc, 'Raw blocks are not available.', 'Write \\{{ for braces that stay as they are.');
    return [];
  }
  if (name !== 'if' && name !== 'unless') {
    noSuchBlock(name, statement, place, state);
    return [];
  }
  if ((program?.blockParams?.length ?? 0) > 0 || (inverse?.blockParams?.length ?? 0) > 0) {
    notAllowed(state, place, path.loc, 'Block parameters (as |name|) are not available.');
  }
  const condition = checkCondition(name, statement, { ...place, mandatory: false }, state);
  const inside = deeper(place, { mandatory: false });
  const body = program === undefined ? [] : checkProgram(program, inside, state);
  const otherwise = inverse === undefined ? null : checkProgram(inverse, inside, state);
  return condition === null ? [] : [block(name, condition, body, otherwise)];
}

function checkCondition(name: string, statement: BlockStatement, place: Place, state: State): OutExpression | null {
  const { params, hash, path } = statement;
  if (isSpacedColumn(params, place, state)) return null;
  const [condition] = params;
  if (condition === undefined || params.length > 1 || hash !== undefined) {
    const message = `{{#${name}}} takes exactly one condition.`;
    reportAt(state, place, path.loc, 'helper-arguments', message, `For example {{#${name} (eq plan "gold")}}.`);
  }
  const checked = params.map((param) => checkExpression(param, place, state));
  for (const { value } of hash?.pairs ?? []) checkExpression(value, place, state);
  return checked.length === 1 ? (checked[0]?.out ?? null) : null;
}

/** Says what is wrong with the block, and still looks for unknown names in what it holds. */
function noSuchBlock(name: string, statement: BlockStatement, place: Place, state: State): void {
  const { loc } = statement.path;
  if (name === 'each' || name === 'with' || name === 'lookup' || name === 'log') {
    notAllowed(state, place, loc, `"${name}" is not available: a row has no lists and no parts.`, ONLY_BLOCKS);
  } else if (state.columns.has(name) || place.scope.has(name)) {
    notAllowed(state, place, loc, `"${name}" is a column, not a block.`, `Write {{#if ${name}}}...{{/if}}.`);
  } else if (SIGNATURES.has(name)) {
    notAllowed(state, place, loc, `"${name}" is not a block.`, `For example ${SIGNATURES.get(name)?.example}.`);
  } else {
    const { hint } = didYouMean(name, ['if', 'unless']);
    reportAt(state, place, loc, 'unknown-helper', `No block is called "${name}".`, hint ?? ONLY_BLOCKS);
  }
  if (name === 'each' || name === 'with') return;
  const inside = deeper(place, { mandatory: false });
  if (statement.program !== undefined) checkProgram(statement.program, inside, state);
  if (statement.inverse !== undefined) checkProgram(statement.inverse, inside, state);
}

const ONLY_BLOCKS = 'The blocks are {{#if}} and {{#unless}}.';
