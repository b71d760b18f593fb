import { didYouMean } from '../util/suggest.ts';
import { block, type Expression, type OutBlock, type PartialStatement, type Program, textLiteral } from './ast.ts';
import { checkExpression } from './expression.ts';
import { OWN_HELPERS } from './helpers/helpers.ts';
import { atItsPlace } from './line-end.ts';
import { type Parsed, parseTemplate } from './parse.ts';
import { slice } from './position.ts';
import {
  deeper,
  enterText,
  type Given,
  notAllowed,
  type Place,
  report,
  reportAt,
  type State,
  type Statements,
} from './state.ts';

/**
 * Puts a partial in its place: its statements, with the values that it is given where their names stand. So every name
 * in it is checked against what is known at this place, and nothing is left to be found out when a row is rendered.
 */
export function checkPartial(
  statement: PartialStatement,
  place: Place,
  state: State,
  checkProgram: (program: Program, place: Place, state: State) => Statements,
): Statements {
  const name = nameOf(statement, place, state);
  const scope = checkGivens(statement, place, state);
  if (name === null) return [];
  const source = state.partials.get(name);
  if (source === undefined) {
    const { hint } = didYouMean(name, state.partials.keys());
    reportAt(state, place, statement.name.loc, 'unknown-partial', `No partial is called "${name}".`, hint);
    return [];
  }
  if (place.within.includes(name)) {
    const circle = [...place.within.slice(place.within.indexOf(name)), name].join(' -> ');
    reportAt(state, place, statement.name.loc, 'partial-cycle', `Partials include each other in a circle: ${circle}.`);
    return [];
  }
  const parsed = parsedOnce(name, source, state);
  if (parsed === null || !enterText(state, place, statement.loc, parsed.bytes)) return [];
  const inside = deeper(place, { located: parsed.located, scope, within: [...place.within, name] });
  const checked = checkProgram(parsed.program, inside, state);
  const { body, lineEnd } = atItsPlace(checked, parsed.located, place.located, statement);
  return [...(statement.indent ? [indented(statement.indent, body)] : body), ...lineEnd];
}

function nameOf(statement: PartialStatement, place: Place, state: State): string | null {
  const { name, params } = statement;
  if (params[0] !== undefined) {
    const hint = 'Give single values: {{> greeting name=first_name}}.';
    notAllowed(state, place, params[0].loc, 'A partial sees every column, and takes named values only.', hint);
  }
  if (name.type === 'SubExpression') {
    return notAllowed(state, place, name.loc, 'The name of a partial must be written in the template.');
  }
  if (name.type === 'PathExpression' && name.data) {
    return notAllowed(state, place, name.loc, `"${name.original}" is not available.`);
  }
  return writtenName(name, place);
}

function writtenName(name: Exclude<Expression, { type: 'SubExpression' }>, place: Place): string {
  if (name.type === 'PathExpression') return name.original;
  return name.type === 'StringLiteral' ? name.value : slice(place.located, name.loc);
}

/** What the partial is given, checked here whether it uses it or not, beside what is known here already. */
function checkGivens({ hash }: PartialStatement, place: Place, state: State): ReadonlyMap<string, Given> {
  if (hash === undefined) return place.scope;
  const scope = new Map(place.scope);
  for (const { key, value } of hash.pairs) {
    checkExpression(value, deeper(place, { mandatory: false }), state);
    scope.set(key, { expression: value, place });
  }
  return scope;
}

function parsedOnce(name: string, source: Parsed['located']['source'], state: State): Parsed | null {
  const known = state.parsed.get(name);
  if (known !== undefined) return known;
  const parsed = parseTemplate(source);
  const found = 'program' in parsed ? parsed : null;
  if (!('program' in parsed)) report(state, parsed);
  state.parsed.set(name, found);
  return found;
}

function indented(indent: string, body: Statements): OutBlock {
  return block(OWN_HELPERS.indent, textLiteral(indent), body, null);
}
