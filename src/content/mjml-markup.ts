import { nearest } from '../util/suggest.ts';
import { tagEnd } from './email-content.ts';
import names from './mjml-names.json' with { type: 'json' };

interface Flaw {
  readonly at: number;
  readonly length: number;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Elements inside each other. The compiler runs out of stack at some 500, and never works again (mrml 1.6.1). */
export const MAX_MJML_DEPTH = 100;
/** The elements that the compiler knows (mrml 1.6.1). It would copy others unchanged. */
const ELEMENTS: ReadonlySet<string> = new Set(names.elements.split(' '));

const sides = (name: string): readonly string[] =>
  name.endsWith('*') ? ['', '-bottom', '-left', '-right', '-top'].map((side) => name.replace('*', side)) : [name];
const attributesOf = (list: string): ReadonlySet<string> =>
  new Set(['css-class', 'mj-class', ...list.split(' ').flatMap(sides)]);
/** Attributes that the compiler reads; it drops others without a warning. `padding*`: itself, and one for each side. */
const BY_ELEMENT = new Map(Object.entries(names.attributes).map(([element, list]) => [element, attributesOf(list)]));
const ATTRIBUTES = attributesOf(Object.values(names.attributes).join(' '));
/** HTML elements without an end tag, as the compiler knows them: in lower case. */
const VOID: ReadonlySet<string> = new Set(names.void.split(' '));

/** The first flaw, or null. The compiler accepts unknown elements and crossed end tags, and hides where one is open. */
export function findFlaw(text: string): Flaw | null {
  const open: Tag[] = [];
  let hasBody = false;
  for (const tag of tagsOf(text)) {
    if (!tag.finished && tag.name === '!--')
      return flawAt(tag, 'This comment is not closed.', 'Write --> where it ends.');
    if (!tag.finished) return flawAt(tag, 'This tag does not end.', 'A quote or a > is missing, here or further on.');
    const flaw = tag.end ? closeTag(open, tag) : openTag(open, tag);
    if (flaw !== null) return flaw;
    if (tag.name === 'mj-body') hasBody = true;
  }
  const last = open.at(-1);
  if (last !== undefined) return unclosed(last);
  if (hasBody) return null;
  const at = /\S/.exec(text)?.index ?? 0;
  return {
    at,
    length: 1,
    message: 'The file has no <mj-body> inside <mjml>.',
    hint: 'An MJML file begins with <mjml>.',
  };
}

/** Null: nowhere. */
export function findPreview(text: string): number | null {
  for (const { name, at } of tagsOf(text)) if (name === 'mj-preview') return at;
  return null;
}

/** Finding out what one may mean takes a while. */
const MOST_LEFT_OUT = 20;

/** Attributes of MJML elements that the compiler drops, each once. The markup has no flaw. */
export function leftOutAttributes(text: string): readonly Flaw[] {
  const found = new Map<string, Flaw>();
  for (const { name: element, at, length, end } of tagsOf(text)) {
    if (end || !ELEMENTS.has(element)) continue;
    // mj-all and mj-class give attributes to several elements, so they take all of them.
    const known = BY_ELEMENT.get(element) ?? ATTRIBUTES;
    const from = at + 1 + element.length;
    for (const { 1: name = '', index } of text.slice(from, at + length).matchAll(ATTRIBUTE)) {
      const id = ATTRIBUTES.has(name) ? `${element} ${name}` : name;
      if (known.has(name) || name.startsWith('xmlns') || found.has(id)) continue;
      const near = nearest(name, known);
      const hint = near === null || ATTRIBUTES.has(name) ? 'It is left out of the email.' : `Did you mean "${near}"?`;
      const message = `"${name}" is not an attribute of ${ATTRIBUTES.has(name) ? `<${element}>` : 'MJML'}.`;
      found.set(id, { at: from + index, length: name.length, message, hint });
      if (found.size === MOST_LEFT_OUT) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** With its value, so that what a value holds is not read as an attribute. */
const ATTRIBUTE = /([a-z][\w:-]*)\s*=\s*(?:"[^"]*"|'[^']*')/gi;

interface Tag {
  readonly name: string;
  readonly at: number;
  readonly length: number;
  /** `</name>` */
  readonly end: boolean;
  /** `<name/>` */
  readonly empty: boolean;
  /** False where the text ends before the tag does. */
  readonly finished: boolean;
}

function openTag(open: Tag[], tag: Tag): Flaw | null {
  const { name } = tag;
  if (name === 'mj-include') {
    return flawAt(tag, 'MJML files cannot include others.', 'Use a Handlebars partial, {{> name}}, that holds HTML.');
  }
  if (name.startsWith('mj') && !ELEMENTS.has(name)) {
    const near = nearest(name, ELEMENTS);
    return flawAt(tag, `<${name}> is not an element of MJML.`, near === null ? undefined : `Did you mean <${near}>?`);
  }
  if (open.length === 0 && name !== 'mjml') {
    return flawAt(tag, `<${name}> is outside <mjml>.`, 'An MJML file begins with <mjml>.');
  }
  if (tag.empty || VOID.has(name)) return null;
  open.push(tag);
  if (open.length <= MAX_MJML_DEPTH) return null;
  return flawAt(tag, `Elements are nested more than ${MAX_MJML_DEPTH} levels deep.`);
}

function closeTag(open: Tag[], tag: Tag): Flaw | null {
  const last = open.pop();
  if (last?.name === tag.name) return null;
  // This tag closes an outer element: the end tag of the inner one is missing.
  if (last !== undefined && open.some(({ name }) => name === tag.name)) return unclosed(last);
  if (last === undefined) return flawAt(tag, `</${tag.name}> closes nothing.`);
  return flawAt(tag, `</${tag.name}> is where </${last.name}> is expected.`);
}

function unclosed(tag: Tag): Flaw {
  const hint = tag.name.startsWith('mj')
    ? `Write </${tag.name}> where it ends.`
    : `Write </${tag.name.toLowerCase()}> where it ends. Each branch of a Handlebars block needs complete elements.`;
  return flawAt(tag, `<${tag.name}> is not closed.`, hint);
}

function flawAt(tag: Tag, message: string, hint?: string): Flaw {
  return { at: tag.at, length: tag.name.length + (tag.end ? 2 : 1), message, hint };
}

/** For values that the compiler would spoil: line breaks and tabs become spaces, double quotes references. */
export function flattenValues(text: string, quote: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { at, length } of tagsOf(text)) {
    parts.push(text.slice(done, at));
    const tag = text.slice(at, at + length);
    const flat = tag.replace(/"[^"]*"|'[^']*'/g, (value) => {
      const inner = value
        .slice(1, -1)
        .replace(/[\n\r\t]/g, ' ')
        .replaceAll('"', quote);
      return value.charAt(0) + inner + value.charAt(0);
    });
    parts.push(flat);
    done = at + length;
  }
  return parts.join('') + text.slice(done);
}

/** Without those in comments. A tag that does not end is the last. */
function* tagsOf(text: string): Generator<Tag> {
  const mark = /<!--|<(\/?)([a-z][a-z0-9:-]*)/gi;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [all, slash, name] = found;
    const end = all === '<!--' ? (closingEnd(text, '-->', mark.lastIndex) ?? -1) : tagEnd(text, mark.lastIndex);
    const at = found.index;
    const tag = { name: name ?? '!--', at, length: end - at, end: slash === '/', finished: end >= 0 };
    if (end < 0) return yield { ...tag, length: text.length - at, empty: false };
    mark.lastIndex = end;
    if (name !== undefined) yield { ...tag, empty: text.startsWith('/>', end - 2) };
  }
}

/** A Handlebars expression, or a character that the compiler would spoil. */
export type Piece = { readonly text: string; readonly start: number };

/** Each piece is replaced by a mark, which parsers of markup read as plain text. */
export interface Hidden {
  readonly text: string;
  readonly pieces: readonly Piece[];
  readonly marks: Marks;
  /** Where a place of this text was in the original one. */
  toSource(offset: number): number;
}

export interface Shown {
  readonly text: string;
  /** In the order of the text; one piece may be at several positions, or at none. */
  readonly copies: readonly { readonly start: number; readonly piece: Piece }[];
}

/** Characters that the text does not hold: before and after the number of a piece, and for a quote in a value. */
type Marks = { readonly open: string; readonly close: string; readonly quote: string };

// Printable, because the compiler writes all others as numbers into attributes.
const MARKS: readonly Marks[] = [
  { open: '\u27e6', close: '\u27e7', quote: '\u27e5' },
  { open: '\u2e28', close: '\u2e29', quote: '\u2e26' },
  { open: '\u2772', close: '\u2773', quote: '\u2771' },
];

/**
 * The compiler writes values of attributes as Rust prints strings for debugging (mrml 1.6.1): it would double a backslash, and
 * make a visible `\u{200d}` of a joiner in an emoji or a combining accent.
 */
const HIDDEN = /\{\{|(?! )[\\\x7f-\x9f\p{Cf}\p{Co}\p{Cn}\p{M}\p{Z}]+/gu;

/** Null: the text holds the characters of all marks itself. */
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

export function isExpression({ text }: Piece): boolean {
  return text.startsWith('{{');
}

export function pieceAt({ text, pieces, marks }: Hidden, offset: number): Piece | undefined {
  if (text.charAt(offset) !== marks.open) return undefined;
  return pieces[Number.parseInt(text.slice(offset + 1, offset + 12), 10)];
}

/** White space and expressions around the elements: Handlebars takes them there, no parser of MJML does. */
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
 * The position after the last brace, as Handlebars reads it: comments end with their dashes; braces in quotes and `[...]` do
 * not count. An unclosed expression ends before a character that cannot be part of it; Handlebars reports it.
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
/** An unclosed quote must not cause a scan of the whole file. */
const MAX_LITERAL = 2000;
const DASHED_END = /--~?\}\}/g;
const UNCLOSED_END = /\{\{|[<>\n\r]/g;
