import { nearest } from '../util/suggest.ts';

/** What is wrong with markup, and where. */
export interface Flaw {
  readonly at: number;
  readonly length: number;
  readonly message: string;
  readonly hint: string | undefined;
}

/** Elements inside each other. The compiler runs out of stack at some 500, and never works again (mrml 1.6.1). */
export const MAX_MJML_DEPTH = 100;

/** The elements that the compiler knows. Others it would pass on as they stand. */
const ELEMENTS: ReadonlySet<string> = new Set(
  `mjml mj-accordion mj-accordion-element mj-accordion-text mj-accordion-title mj-all mj-attributes mj-body mj-breakpoint
  mj-button mj-carousel mj-carousel-image mj-class mj-column mj-divider mj-font mj-group mj-head mj-hero mj-image
  mj-navbar mj-navbar-link mj-preview mj-raw mj-section mj-social mj-social-element mj-spacer mj-style mj-table mj-text
  mj-title mj-wrapper`.split(/\s+/),
);

/** HTML elements without an end tag, as the compiler knows them: in lower case. */
const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);

/**
 * The first thing that is wrong with the markup of an MJML file, or null. The compiler says nothing of elements that it
 * does not know or that are closed by another's end tag, and does not say where one is left open.
 */
export function findFlaw(text: string): Flaw | null {
  const open: Tag[] = [];
  let hasBody = false;
  for (const tag of tagsOf(text)) {
    const flaw = tag.finished ? (tag.end ? closeTag(open, tag) : openTag(open, tag)) : unfinished(tag);
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

interface Tag {
  readonly name: string;
  readonly at: number;
  /** Of the whole tag. */
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
    return flawAt(tag, `<${name}> stands outside <mjml>.`, 'An MJML file begins with <mjml>.');
  }
  if (tag.empty || VOID.has(name)) return null;
  open.push(tag);
  if (open.length <= MAX_MJML_DEPTH) return null;
  return flawAt(tag, `Elements are nested more than ${MAX_MJML_DEPTH} levels deep.`);
}

function closeTag(open: Tag[], tag: Tag): Flaw | null {
  const last = open.pop();
  if (last?.name === tag.name) return null;
  // What is closed here was opened further out: the one in between was forgotten.
  if (last !== undefined && open.some(({ name }) => name === tag.name)) return unclosed(last);
  if (last === undefined) return flawAt(tag, `</${tag.name}> closes nothing.`);
  return flawAt(tag, `</${tag.name}> stands where </${last.name}> is expected.`);
}

function unclosed(tag: Tag): Flaw {
  const hint = tag.name.startsWith('mj')
    ? `Write </${tag.name}> where it ends.`
    : `Write </${tag.name.toLowerCase()}> where it ends. Each branch of a Handlebars block needs complete elements.`;
  return flawAt(tag, `<${tag.name}> is not closed.`, hint);
}

function unfinished(tag: Tag): Flaw {
  if (tag.name === '!--') return flawAt(tag, 'This comment is not closed.', 'Write --> where it ends.');
  return flawAt(tag, 'This tag does not end.', 'A quote or a > is missing, here or further on.');
}

function flawAt(tag: Tag, message: string, hint?: string): Flaw {
  return { at: tag.at, length: tag.name.length + (tag.end ? 2 : 1), message, hint };
}

/**
 * The same text with the values of attributes as the compiler can copy them: line breaks and tabs, which it would write
 * as `\\n` and `\\t`, are spaces, as XML has it; a double quote in single ones is a character that stands for it.
 */
export function flattenValues(text: string, quote: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { at, length } of tagsOf(text)) {
    parts.push(text.slice(done, at));
    const tag = text.slice(at, at + length);
    parts.push(tag.replace(/"[^"]*"|'[^']*'/g, (value) => flatten(value, quote)));
    done = at + length;
  }
  return parts.join('') + text.slice(done);
}

function flatten(value: string, quote: string): string {
  const inner = value.slice(1, -1);
  if (!/[\n\r\t"]/.test(inner)) return value;
  return value.charAt(0) + inner.replace(/[\n\r\t]/g, ' ').replaceAll('"', quote) + value.charAt(0);
}

/** The tags of a text, but for those in comments. One that does not end is the last. */
function* tagsOf(text: string): Generator<Tag> {
  const mark = /<!--|<(\/?)([a-z][a-z0-9:-]*)/gi;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [all, slash, name] = found;
    const end = all === '<!--' ? endOf(text, '-->', mark.lastIndex) : tagEnd(text, mark.lastIndex);
    const at = found.index;
    const tag = { name: name ?? '!--', at, length: end - at, end: slash === '/', finished: end >= 0 };
    if (end < 0) return yield { ...tag, length: text.length - at, empty: false };
    mark.lastIndex = end;
    if (name !== undefined) yield { ...tag, empty: text.startsWith('/>', end - 2) };
  }
}

function endOf(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? -1 : at + what.length;
}

/** After the `>` of a tag, but for those in quotes; -1 without one. */
function tagEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '>') return at + 1;
    if (character === '"' || character === "'") {
      at = text.indexOf(character, at + 1);
      if (at < 0) return -1;
    }
  }
  return -1;
}
