import { content, type Loc, type OutStatement, type PartialStatement } from './ast.ts';
import { type Located, offsetOf } from './position.ts';

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
 * A partial's statements, and the line end that fits its place. Alone on its line, a partial brings the line end of its
 * file along, because Handlebars takes the one after the tag away; a file without one is given one, or the next line
 * would be joined to it. Anywhere else the last line end of the file is left out.
 */
export function atItsPlace(
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

/** Nothing but white space stands before and after it on its line, and the line has an end. */
function isAlone(located: Located, { start, end }: Loc): boolean {
  const { text } = located.source;
  const from = offsetOf(located, start);
  const to = offsetOf(located, end);
  const next = text.indexOf('\n', to);
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  return next >= 0 && before.trim() === '' && text.slice(to, next).trim() === '';
}
