/** Something that the compiler must not see: a Handlebars expression, or a character that it would spoil. */
export interface Piece {
  readonly text: string;
  /** Where it stands in the text as it was written. */
  readonly start: number;
}

/** A text in which each piece is replaced by a mark that is plain text to a parser of markup. */
export interface Hidden {
  readonly text: string;
  readonly pieces: readonly Piece[];
  readonly marks: Marks;
  /** Where a place of this text was in the original one. */
  toSource(offset: number): number;
}

/** A text in which the marks are pieces again, and where each of them stands. */
export interface Shown {
  readonly text: string;
  /** In the order of the text; one piece may stand at several places, or at none. */
  readonly copies: readonly { readonly start: number; readonly piece: Piece }[];
}

/** Characters that the text does not hold: before and after the number of a piece, and for a quote in a value. */
interface Marks {
  readonly open: string;
  readonly close: string;
  readonly quote: string;
}

// Printable, because the compiler writes all others as numbers into attributes.
const MARKS: readonly Marks[] = [
  { open: '\u27e6', close: '\u27e7', quote: '\u27e5' },
  { open: '\u2e28', close: '\u2e29', quote: '\u2e26' },
  { open: '\u2772', close: '\u2773', quote: '\u2771' },
];

/**
 * Begins of what is hidden. Besides expressions: the compiler writes values of attributes as Rust prints strings for
 * debugging (mrml 1.6.1), so that a backslash is doubled, and a joiner in an emoji or an accent of its own becomes
 * `\u{200d}`, to be read by everyone.
 */
const HIDDEN = /\{\{|(?! )[\\\x7f-\x9f\p{Cf}\p{Co}\p{Cn}\p{M}\p{Z}]+/gu;

/** Hides every Handlebars expression of a text; null where the text holds the characters of all marks itself. */
export function hideExpressions(source: string): Hidden | null {
  const marks = MARKS.find(({ open, close, quote }) => ![open, close, quote].some((mark) => source.includes(mark)));
  if (marks === undefined) return null;
  const pieces: Piece[] = [];
  const starts: number[] = [];
  let text = '';
  let done = 0;
  HIDDEN.lastIndex = 0;
  for (let found = HIDDEN.exec(source); found !== null; found = HIDDEN.exec(source)) {
    const start = found.index;
    const end = found[0] === '{{' ? expressionEnd(source, start) : HIDDEN.lastIndex;
    text += source.slice(done, start);
    starts.push(text.length);
    text += marks.open + pieces.length + marks.close;
    pieces.push({ text: source.slice(start, end), start });
    done = end;
    HIDDEN.lastIndex = end;
  }
  text += source.slice(done);
  return { text, pieces, marks, toSource: (offset) => toSource(offset, starts, pieces) };
}

/** Puts the pieces back. */
export function showExpressions(text: string, { pieces, marks }: Hidden): Shown {
  const mark = new RegExp(`${marks.open}(\\d+)${marks.close}|${marks.quote}`, 'g');
  const copies: { start: number; piece: Piece }[] = [];
  let shown = '';
  let done = 0;
  for (const { 0: all, 1: index, index: at } of text.matchAll(mark)) {
    shown += text.slice(done, at);
    done = at + all.length;
    const piece = pieces[Number(index)];
    if (piece === undefined) {
      shown += '&quot;';
      continue;
    }
    copies.push({ start: shown.length, piece });
    shown += piece.text;
  }
  return { text: shown + text.slice(done), copies };
}

/** Whether a piece is an expression. */
export function isExpression({ text }: Piece): boolean {
  return text.startsWith('{{');
}

/** The piece whose mark begins at a place of a hidden text, if one does. */
export function pieceAt({ text, pieces, marks }: Hidden, offset: number): Piece | undefined {
  if (text.charAt(offset) !== marks.open) return undefined;
  return pieces[Number.parseInt(text.slice(offset + 1, offset + 12), 10)];
}

/**
 * Expressions and white space before and after the elements of a hidden text: no parser of MJML takes them there, and
 * Handlebars does.
 */
export function splitOutside({ text, marks }: Hidden): { before: string; core: string; after: string } {
  const outside = `(?:\\s|${marks.open}\\d+${marks.close})*`;
  const before = new RegExp(`^${outside}`).exec(text)?.[0] ?? '';
  const rest = text.slice(Math.max(before.length, text.lastIndexOf('>') + 1));
  const after = new RegExp(`^${outside}$`).test(rest) ? rest : '';
  return { before, core: text.slice(before.length, text.length - after.length), after };
}

/** The mark that begins last before a place tells how far the texts are apart. */
function toSource(offset: number, starts: readonly number[], pieces: readonly Piece[]): number {
  const index = starts.findLastIndex((start) => start <= offset);
  const piece = pieces[index];
  const start = starts[index];
  if (piece === undefined || start === undefined) return offset;
  const end = start + String(index).length + 2;
  return offset < end ? piece.start : piece.start + piece.text.length + (offset - end);
}

/**
 * After the last brace of an expression, as Handlebars reads it: comments end with their dashes, braces in quotes and in
 * `[...]` do not count. One that is not closed ends before whatever cannot be part of it: Handlebars will say so.
 */
function expressionEnd(source: string, start: number): number {
  const comment = source.startsWith('!--', start + 2) ? 5 : source.startsWith('~!--', start + 2) ? 6 : 0;
  if (comment > 0) {
    DASHED_END.lastIndex = start + comment;
    return DASHED_END.exec(source) === null ? source.length : DASHED_END.lastIndex;
  }
  if (source.startsWith('!', start + 2) || source.startsWith('~!', start + 2)) {
    return closingEnd(source, '}}', start + 2) ?? unclosedEnd(source, start + 2);
  }
  const braces = source.startsWith('{{{{', start) ? 4 : source.startsWith('{{{', start) ? 3 : 2;
  return closedEnd(source, start + braces, '}'.repeat(braces)) ?? unclosedEnd(source, start + braces);
}

function closedEnd(source: string, from: number, close: string): number | null {
  for (let at = from; at < source.length; at++) {
    const character = source.charAt(at);
    if (character === '}' && source.startsWith(close, at)) return at + close.length;
    if (character === '{' && source.startsWith('{{', at)) return null;
    const closing = PAIRS[character];
    if (closing === undefined) continue;
    const length = source.slice(at + 1, at + 1 + MAX_LITERAL).indexOf(closing);
    if (length < 0) return null;
    at += length + 1;
  }
  return null;
}

function closingEnd(source: string, close: string, from: number): number | null {
  const at = source.indexOf(close, from);
  return at < 0 ? null : at + close.length;
}

function unclosedEnd(source: string, from: number): number {
  UNCLOSED_END.lastIndex = from;
  return UNCLOSED_END.exec(source)?.index ?? source.length;
}

const PAIRS: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' };
/** Characters of a text in quotes: a quote that is never closed must not cost a look at the whole file. */
const MAX_LITERAL = 2000;
const DASHED_END = /--~?\}\}/g;
const UNCLOSED_END = /\{\{|[<>\n\r]/g;
