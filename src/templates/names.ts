import { compared } from '../util/cell.ts';
import { allOf, didYouMean } from '../util/suggest.ts';
import { columnPath, type Expression, type Loc, type OutExpression, type PathExpression } from './ast.ts';
import { OWN_HELPERS } from './helpers/helpers.ts';
import { slice, span } from './position.ts';
import { notAllowed, type Place, reportAt } from './state.ts';

/** Block helpers of Handlebars: a column of such a name needs square brackets. */
const BLOCK_NAMES: ReadonlySet<string> = new Set(['if', 'unless', 'each', 'with']);

/** `{{name}}`, or `{{[first.name]}}` where the name has other characters. */
export function columnTag(name: string): string {
  return `{{${columnName(name)}}}`;
}

function columnName(name: string): string {
  const plain = /^[\p{L}_][\p{L}\p{M}\p{N}_-]*$/u.test(name) && !RESERVED.has(name) && !BLOCK_NAMES.has(name);
  return plain ? name : `[${name.replace(/[\\\]]/g, '\\$&')}]`;
}

/** Words that Handlebars reads as something else than a name. */
const RESERVED: ReadonlySet<string> = new Set(['else', 'true', 'false', 'null', 'undefined', 'this', 'as']);

type Resolved = { readonly column: OutExpression } | { readonly given: string };

export function resolvePath(path: PathExpression, place: Place): Resolved | null {
  if (path.data) return notAllowed(place, path.loc, `"${path.original}" is not available.`);
  if (path.depth > 0) return notAllowed(place, path.loc, '"../" is not available: every column is in reach.');
  if (path.parts.length === 0) {
    return notAllowed(place, path.loc, `"${path.original}" means the whole row, which is not available.`);
  }
  const [part = '', ...inner] = path.parts;
  if (inner.length > 0) return dotted(path, place);
  // In brackets a name may run over a line end, as in the header of a spreadsheet; Handlebars leaves it to us.
  const bare = isKnown(part, place) ? part : compared(/^\[(.*\n.*)\]$/s.exec(part)?.[1] ?? part);
  return resolveName(isKnown(bare, place) ? bare : part, path.loc, place);
}

function namesAt({ scope, state }: Place): readonly string[] {
  return [...scope.keys(), ...state.columns];
}

function isKnown(name: string, place: Place): boolean {
  return place.scope.has(name) || place.state.columns.has(name);
}

export function resolveName(name: string, loc: Loc, place: Place): Resolved | null {
  if (isKnown(name, place)) {
    if (BLOCK_NAMES.has(name) && slice(place.located, loc) === name) {
      const message = `"${name}" is a column and a block helper.`;
      return reportAt(place, loc, 'column-is-helper', message, `Write [${name}] for the column, or rename it.`);
    }
    if (place.scope.has(name)) return { given: name };
    place.state.used.add(name);
    return { column: columnPath(name) };
  }
  return reportAt(place, loc, 'unknown-name', `No column is called "${name}".`, unknownHint(name, place));
}

/** `{{first.name}}`: rows have no inner structure, but a column may be called so. */
function dotted(path: PathExpression, place: Place): null {
  const written = slice(place.located, path.loc);
  const name = [written, path.original].find((n) => isKnown(n, place));
  if (name !== undefined) return bracketsNeeded(name, path.loc, place);
  const first = path.parts[0] ?? '';
  const message = `No column is called "${path.original}".`;
  const hint = isKnown(first, place)
    ? `"${first}" is a column, and a column has no parts.`
    : (didYouMean(path.original, namesAt(place)).hint ?? allColumns(place));
  return reportAt(place, path.loc, 'unknown-name', message, hint);
}

function bracketsNeeded(name: string, loc: Loc, place: Place): null {
  const message = `The name of the column "${name}" needs square brackets here.`;
  return reportAt(place, loc, 'unknown-name', message, `Write ${columnTag(name)}.`);
}

function unknownHint(name: string, place: Place): string | undefined {
  if (/[\u2018\u2019\u201c\u201d]/.test(name)) return 'Put a text in straight quotes: "text".';
  const near = didYouMean(name, namesAt(place)).hint;
  if (near !== undefined) return near;
  const partial = place.within.at(-1);
  if (partial !== undefined) return `Give it where the partial is included: {{> ${partial} ${columnName(name)}=...}}.`;
  return allColumns(place);
}

function allColumns({ state: { columns } }: Place): string | undefined {
  return columns.size === 0 ? undefined : allOf('The columns', [...columns]);
}

/** `{{First Name}}` reads as a helper `First` with an argument. Reports it if there is a column of that name. */
export function isSpacedColumn(words: readonly Expression[], place: Place): boolean {
  for (const [i, first] of words.entries()) {
    for (const last of words.slice(i + 1, i + MOST_WORDS)) {
      const loc = span(first.loc, last.loc);
      const written = slice(place.located, loc);
      if (!isKnown(written, place)) continue;
      bracketsNeeded(written, loc, place);
      return true;
    }
  }
  return false;
}

const MOST_WORDS = 8;

export function columnsIn(expression: OutExpression): readonly string[] {
  if (expression.type === 'PathExpression') return expression.parts;
  return expression.type === 'SubExpression' ? expression.params.flatMap(columnsIn) : [];
}

/** With the blanks at their ends, and also where they hold nothing. */
export function noteShown(expression: OutExpression, place: Place, whole = true, always = true): void {
  if (expression.type === 'PathExpression') {
    for (const column of expression.parts) {
      const before = place.state.shown.get(column);
      const isOpen = always && !place.guarded.has(column);
      place.state.shown.set(column, {
        whole: whole || before?.whole === true,
        always: isOpen || before?.always === true,
      });
    }
    return;
  }
  if (expression.type !== 'SubExpression') return;
  const [name = ''] = expression.path.parts;
  // These write what they read from a cell, and refuse what they cannot read.
  if (name === 'date' || name === 'number' || name === 'currency' || name === 'plural') return;
  const hasDefault = name === 'default' || name === OWN_HELPERS.defaultOrRefuse;
  for (const [i, param] of expression.params.entries()) {
    noteShown(param, place, whole && name !== 'trim', always && !(hasDefault && i === 0));
  }
}

/** None where a `default` steps in. */
export function needs(expression: OutExpression): readonly string[] {
  if (expression.type === 'PathExpression') return expression.parts;
  if (expression.type !== 'SubExpression') return [];
  const [name] = expression.path.parts;
  return name === 'default' || name === OWN_HELPERS.defaultOrRefuse ? [] : expression.params.flatMap(needs);
}
