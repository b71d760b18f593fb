import { type Diagnostic, problem } from '../errors.ts';
import type { SourceText } from '../model.ts';
import type { LinePosition, Loc } from './ast.ts';

export type Located = { readonly source: SourceText; readonly lineStarts: readonly number[] };

export function locate(source: SourceText): Located {
  const lineStarts = [0];
  // The line ends of Handlebars' lexer.
  for (const match of source.text.matchAll(/\r\n?|\n/g)) lineStarts.push(match.index + match[0].length);
  return { source, lineStarts };
}

export function offsetOf({ lineStarts }: Located, { line, column }: LinePosition): number {
  return (lineStarts[line - 1] ?? 0) + column;
}

function positionOf({ lineStarts }: Located, offset: number): LinePosition {
  let line = 1;
  while (line < lineStarts.length && (lineStarts[line] ?? Number.POSITIVE_INFINITY) <= offset) line++;
  return { line, column: offset - (lineStarts[line - 1] ?? 0) };
}

export function slice(located: Located, loc: Loc): string {
  return located.source.text.slice(offsetOf(located, loc.start), offsetOf(located, loc.end));
}

export function span(from: Loc, to: Loc): Loc {
  return { start: from.start, end: to.end };
}

export function locOf(located: Located, offset: number, length: number): Loc {
  return { start: positionOf(located, offset), end: positionOf(located, offset + length) };
}

/**
 * The place as an editor counts it. A template in a YAML block scalar is indented by the column of its first character on
 * every line. Only a separate file has its line here: of YAML only the scalar's value is known.
 */
export function at(located: Located, { start, end }: Loc): Pick<Diagnostic, 'at' | 'source'> {
  const { source } = located;
  const position = {
    file: source.file,
    line: source.line + start.line - 1,
    column: source.column + start.column,
    length: start.line === end.line ? Math.max(1, end.column - start.column) : 1,
  };
  if (source.line !== 1 || source.column !== 1) return { at: position };
  const [from = 0, to = source.text.length] = located.lineStarts.slice(start.line - 1, start.line + 1);
  return { at: position, source: source.text.slice(from, to).replace(/[\r\n]+$/, '') };
}

/** A render cannot be interrupted: 3,000 nested `{{#if}}` take 1.6 s to parse, 15,000 parentheses 99 s (4.7.10). */
export const TEMPLATE_LIMITS = {
  /** UTF-8 bytes of a template, and of a template with all its partials put in place. */
  bytes: 64 * 1024,
  /** Blocks, parentheses and partials inside each other; each `{{else if}}` counts as one more. */
  depth: 32,
  /** Tags, texts, names and values, partials put in place. */
  nodes: 10_000,
  /** UTF-8 bytes of one rendered text, where the caller sets no other limit. */
  outputBytes: 64 * 1024,
} as const;

export function tooDeeplyNested(located: Located, loc: Loc): Diagnostic {
  return problem('template-too-large', `The template is nested more than ${TEMPLATE_LIMITS.depth} levels deep.`, {
    ...at(located, loc),
    hint: 'Blocks, parentheses and partials count as levels, and each {{else if}} as one more.',
  });
}
