import { allOf, didYouMean } from '../util/suggest.ts';
import {
  type BlockStatement,
  block,
  content,
  type Expression,
  type Loc,
  type MustacheStatement,
  mustache,
  type OutExpression,
  type OutStatement,
  type PartialStatement,
  type Program,
  type Statement,
  textLiteral,
} from './ast.ts';
import { warnOfText } from './entities.ts';
import { checkExpression, checkHelper, checkResolved, IN_CONDITIONS } from './expression.ts';
import { OWN_HELPERS, SIGNATURES } from './helpers/helpers.ts';
import { columnsIn, isSpacedColumn, needs, noteShown, resolveName, resolvePath } from './names.ts';
import { Handlebars, type Parsed, parseTemplate } from './parse.ts';
import { at, type Located, offsetOf, slice } from './position.ts';
import {
  type Checked,
  deeper,
  enter,
  enterText,
  type Given,
  notAllowed,
  type Place,
  report,
  reportAt,
  type Statements,
} from './state.ts';

/** Reports what is wrong, and leaves it away. */
export function checkProgram(program: Program, place: Place): Statements {
  return program.body.flatMap((statement) => (enter(place, statement.loc) ? checkStatement(statement, place) : []));
}

function checkStatement(statement: Statement, place: Place): Statements {
  switch (statement.type) {
    case 'ContentStatement':
      warnOfText(statement.loc, place);
      return statement.value === '' ? [] : [content(statement.value)];
    case 'CommentStatement':
      return [];
    case 'MustacheStatement':
      return checkMustache(statement, place);
    case 'BlockStatement':
      return checkBlock(statement, place);
    case 'PartialStatement':
      return checkPartial(statement, place);
    case 'PartialBlockStatement':
      notAllowed(place, statement.loc, 'Partials with a block are not available.', 'Include it with {{> name}}.');
      return [];
    case 'Decorator':
    case 'DecoratorBlock':
      notAllowed(place, statement.loc, 'Decorators and inline partials are not available.', OWN_FILE);
      return [];
  }
}

const OWN_FILE = 'A partial needs its own file.';

// -------------------------------------------------------------------------------------------------- {{name}}

function checkMustache(statement: MustacheStatement, place: Place): Statements {
  const isCall = statement.params.length > 0 || statement.hash !== undefined;
  const checked = isCall ? checkHelper(statement, place) : checkBareName(statement.path, place);
  if (checked === null) return [];
  if (checked.kind === 'condition') {
    const message = `${slice(place.located, statement.loc)} answers yes or no, and is no text.`;
    reportAt(place, statement.loc, 'helper-arguments', message, IN_CONDITIONS);
    return [];
  }
  if (place.mandatory) for (const column of needs(checked.out)) place.state.required.add(column);
  noteShown(checked.out, place);
  return [output(checked.out, statement, place)];
}

/** The column, even where a helper has that name. Handlebars takes `{{"a b"}}` and `{{1}}` for names too. */
function checkBareName(path: Expression, place: Place): Checked | null {
  if (path.type === 'SubExpression') return checkHelper(path, place);
  if (path.type !== 'PathExpression') {
    const name = path.type === 'StringLiteral' ? path.value : slice(place.located, path.loc);
    return checkResolved(resolveName(name, path.loc, place), place);
  }
  const written = slice(place.located, path.loc);
  const signature = SIGNATURES.get(written);
  if (signature !== undefined && !place.state.columns.has(written) && !place.scope.has(written)) {
    const message = `"${written}" is a helper and needs a value.`;
    return reportAt(place, path.loc, 'helper-arguments', message, `For example ${signature.example}.`);
  }
  return checkResolved(resolvePath(path, place), place);
}

function output(expression: OutExpression, { escaped, loc }: MustacheStatement, place: Place): OutStatement {
  switch (expression.type) {
    case 'PathExpression':
    case 'SubExpression':
      return mustache(expression, escaped, at(place.located, loc));
    case 'StringLiteral': {
      // A text that a partial was given: as a column's value would be.
      const { value } = expression;
      return content(escaped && place.state.escape === 'html' ? Handlebars.escapeExpression(value) : value);
    }
    default:
      return content('');
  }
}

// ------------------------------------------------------------------------------------------- {{#if}}, {{#unless}}

function checkBlock(statement: BlockStatement, place: Place): Statements {
  const { path, program, inverse } = statement;
  const name = slice(place.located, path.loc);
  if (statement.openStrip.open === undefined) {
    notAllowed(place, path.loc, 'Raw blocks are not available.', 'Write \\{{ for braces that stay as they are.');
    return [];
  }
  if (name !== 'if' && name !== 'unless') {
    noSuchBlock(name, statement, place);
    return [];
  }
  if ((program?.blockParams?.length ?? 0) > 0 || (inverse?.blockParams?.length ?? 0) > 0) {
    notAllowed(place, path.loc, 'Block parameters (as |name|) are not available.');
  }
  const condition = checkCondition(name, statement, { ...place, mandatory: false });
  const guarded = new Set([...place.guarded, ...(condition === null ? [] : columnsIn(condition))]);
  const inside = deeper(place, { mandatory: false, guarded });
  const body = program === undefined ? [] : checkProgram(program, inside);
  const otherwise = inverse === undefined ? null : checkProgram(inverse, inside);
  return condition === null ? [] : [block(name, condition, body, otherwise)];
}

function checkCondition(name: string, statement: BlockStatement, place: Place): OutExpression | null {
  const { params, hash, path } = statement;
  if (isSpacedColumn(params, place)) return null;
  const [condition] = params;
  if (condition === undefined || params.length > 1 || hash !== undefined) {
    const message = `{{#${name}}} takes exactly one condition.`;
    reportAt(place, path.loc, 'helper-arguments', message, `For example {{#${name} (eq plan "gold")}}.`);
  }
  const checked = params.map((param) => checkExpression(param, place));
  for (const { value } of hash?.pairs ?? []) checkExpression(value, place);
  return checked.length === 1 ? (checked[0]?.out ?? null) : null;
}

/** Reports the block, and still checks its content for unknown names. */
function noSuchBlock(name: string, statement: BlockStatement, place: Place): void {
  const { loc } = statement.path;
  if (name === 'each' || name === 'with' || name === 'lookup' || name === 'log') {
    notAllowed(place, loc, `"${name}" is not available: a row has no lists and no parts.`, ONLY_BLOCKS);
  } else if (place.state.columns.has(name) || place.scope.has(name)) {
    notAllowed(place, loc, `"${name}" is a column, not a block.`, `Write {{#if ${name}}}...{{/if}}.`);
  } else if (SIGNATURES.has(name)) {
    notAllowed(place, loc, `"${name}" is not a block.`, `For example ${SIGNATURES.get(name)?.example}.`);
  } else {
    const { hint } = didYouMean(name, ['if', 'unless']);
    reportAt(place, loc, 'unknown-helper', `No block is called "${name}".`, hint ?? ONLY_BLOCKS);
  }
  if (name === 'each' || name === 'with') return;
  const inside = deeper(place, { mandatory: false });
  if (statement.program !== undefined) checkProgram(statement.program, inside);
  if (statement.inverse !== undefined) checkProgram(statement.inverse, inside);
}

const ONLY_BLOCKS = 'The blocks are {{#if}} and {{#unless}}.';

const NO_PARTIALS =
  'A partial is a file such as footer.hbs, beside the campaign or in the folder `partials` of the project.';

/** Inserts the given values for their names. Each name is checked here, so rendering a row finds no fault. */
function checkPartial(statement: PartialStatement, place: Place): Statements {
  const name = nameOf(statement, place);
  const scope = checkGivens(statement, place);
  if (name === null) return [];
  const source = place.state.partials.get(name);
  if (source === undefined) {
    const known = [...place.state.partials.keys()];
    const hint = known.length === 0 ? NO_PARTIALS : allOf('The partials', known);
    const near = didYouMean(name, known).hint;
    reportAt(place, statement.name.loc, 'unknown-partial', `No partial is called "${name}".`, near ?? hint);
    return [];
  }
  if (place.within.includes(name)) {
    const circle = [...place.within.slice(place.within.indexOf(name)), name].join(' -> ');
    reportAt(place, statement.name.loc, 'partial-cycle', `Partials include each other in a circle: ${circle}.`);
    return [];
  }
  const parsed = parsedOnce(name, source, place);
  if (parsed === null || !enterText(place, statement.loc, parsed.bytes)) return [];
  const inside = deeper(place, { located: parsed.located, scope, within: [...place.within, name] });
  const checked = checkProgram(parsed.program, inside);
  const { body, lineEnd } = atItsPlace(checked, parsed.located, place.located, statement);
  const { indent } = statement;
  return [...(indent ? [block(OWN_HELPERS.indent, textLiteral(indent), body, null)] : body), ...lineEnd];
}

function nameOf(statement: PartialStatement, place: Place): string | null {
  const { name, params } = statement;
  if (params[0] !== undefined) {
    const hint = 'Give single values: {{> greeting name=first_name}}.';
    notAllowed(place, params[0].loc, 'A partial sees every column, and takes named values only.', hint);
  }
  if (name.type === 'SubExpression') {
    return notAllowed(place, name.loc, 'The name of a partial must be written in the template.');
  }
  if (name.type === 'PathExpression' && name.data) {
    return notAllowed(place, name.loc, `"${name.original}" is not available.`);
  }
  if (name.type === 'PathExpression') return name.original;
  return name.type === 'StringLiteral' ? name.value : slice(place.located, name.loc);
}

function checkGivens({ hash }: PartialStatement, place: Place): ReadonlyMap<string, Given> {
  if (hash === undefined) return place.scope;
  const scope = new Map(place.scope);
  for (const { key, value } of hash.pairs) {
    checkExpression(value, deeper(place, { mandatory: false }));
    scope.set(key, { expression: value, place });
  }
  return scope;
}

function parsedOnce(name: string, source: Parsed['located']['source'], place: Place): Parsed | null {
  const { parsed: all } = place.state;
  const known = all.get(name);
  if (known !== undefined) return known;
  const parsed = parseTemplate(source);
  const found = 'program' in parsed ? parsed : null;
  if (!('program' in parsed)) report(place, parsed);
  all.set(name, found);
  return found;
}

/** Editors and YAML end a text with a line end; a message, or a partial inside a line, has none. */
export function withoutFinalLineEnd(body: readonly OutStatement[]): readonly OutStatement[] {
  return splitLineEnd(body).body;
}

function splitLineEnd(body: readonly OutStatement[]): { body: readonly OutStatement[]; lineEnd: string } {
  const last = body.at(-1);
  const lineEnd = last?.type === 'ContentStatement' ? (/\r?\n$/.exec(last.value)?.[0] ?? '') : '';
  if (last?.type !== 'ContentStatement' || lineEnd === '') return { body, lineEnd: '' };
  return { body: [...body.slice(0, -1), content(last.value.slice(0, -lineEnd.length))], lineEnd };
}

/**
 * Alone on its line, a partial ends with a line end, because Handlebars removes the one after the tag; anywhere else the last
 * line end of its file goes.
 */
function atItsPlace(
  whole: readonly OutStatement[],
  partial: Located,
  located: Located,
  { loc, strip }: PartialStatement,
): { readonly body: readonly OutStatement[]; readonly lineEnd: readonly OutStatement[] } {
  const { body, lineEnd } = splitLineEnd(whole);
  if (strip.close || !isAlone(located, loc)) return { body, lineEnd: [] };
  if (lineEnd !== '') return { body, lineEnd: [content(lineEnd)] };
  return { body, lineEnd: partial.source.text.endsWith('\n') ? [] : [content('\n')] };
}

/** Whether its line contains only white space apart from it, and ends in a line break. */
function isAlone(located: Located, { start, end }: Loc): boolean {
  const { text } = located.source;
  const from = offsetOf(located, start);
  const to = offsetOf(located, end);
  const next = text.indexOf('\n', to);
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  return next >= 0 && before.trim() === '' && text.slice(to, next).trim() === '';
}
