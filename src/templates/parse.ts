import { createRequire } from 'node:module';
import { type Diagnostic, problem, thrownText } from '../errors.ts';
import type { SourceText } from '../model.ts';
import type { Loc, Program } from './ast.ts';
import { at, type Located, locate, locOf, offsetOf, slice, TEMPLATE_LIMITS, tooDeeplyNested } from './position.ts';

/** The one file for browsers loads in 10 ms, the 45 files in 25. The entry for Node also changes `require`. */
export const Handlebars = createRequire(import.meta.url)(
  'handlebars/dist/handlebars.min.js',
) as typeof import('handlebars');

export type Parsed = { readonly located: Located; readonly program: Program; readonly bytes: number };

/** Checks size and nesting before the parser, which needs minutes for deep nesting that fits into 64 KiB. */
export function parseTemplate(source: SourceText, mostBytes: number = TEMPLATE_LIMITS.bytes): Parsed | Diagnostic {
  // A tree in place of text would be compiled to code unchecked; YAML and callers without types can pass one.
  if (typeof source.text !== 'string') {
    return problem('template-syntax', 'A template must be text.', { at: { file: source.file, line: source.line } });
  }
  const located = locate(source);
  const bytes = Buffer.byteLength(source.text);
  if (bytes > mostBytes) {
    const most = `${mostBytes / 1024} KiB`;
    return problem('template-too-large', `The template is ${bytes} bytes long; at most ${most} are allowed.`, {
      at: { file: source.file, line: source.line, column: source.column },
    });
  }
  const tooDeep = findTooDeep(source.text, TEMPLATE_LIMITS.depth);
  if (tooDeep !== null) return tooDeeplyNested(located, tooDeep);
  try {
    return { located, program: Handlebars.parse(source.text) as Program, bytes };
  } catch (error) {
    const thrown = thrownText(error);
    const { message, loc, hint } = fromException(error, thrown) ?? fromParser(located, thrown);
    return problem('template-syntax', message, { ...at(located, loc), hint });
  }
}

type Finding = { readonly message: string; readonly loc: Loc; readonly hint?: string | undefined };

/** After the grammar was satisfied: they carry a place. */
function fromException(error: unknown, thrown: string): Finding | null {
  const { lineNumber, column } = error as { lineNumber?: unknown; column?: unknown };
  if (typeof lineNumber !== 'number' || typeof column !== 'number') return null;
  const start = { line: lineNumber, column };
  const text = thrown.replace(/ - \d+:\d+$/, '');
  const mismatch = /^(.*) doesn't match (.*)$/s.exec(text);
  if (mismatch !== null) {
    const [, open = '', close = ''] = mismatch;
    const loc = { start, end: { line: lineNumber, column: column + open.length } };
    return { message: `{{#${open}}} is closed by {{/${close}}}.`, loc, hint: `Close it with {{/${open}}}.` };
  }
  const path = /^Invalid path: (.*)$/s.exec(text);
  if (path !== null) return { message: `"${path[1]}" is not a name.`, loc: { start, end: start } };
  return { message: `Handlebars cannot read this: ${text}.`, loc: { start, end: start } };
}

/** Errors of the grammar: the lexer is at the unexpected token. */
function fromParser(located: Located, thrown: string): Finding {
  const { text } = located.source;
  const nul = text.indexOf('\0');
  if (nul >= 0) return { message: 'The template holds a NUL character.', loc: locOf(located, nul, 1) };
  // Only right after a failed parse: parsing is synchronous, the lexer is one.
  const token = { loc: place(), text: lexer.match };
  const offset = offsetOf(located, token.loc.start);
  const raw = thrown.startsWith('Lexical error') ? findUnclosedBlock(text) : null;
  if (raw !== null) return unclosedBlock(located, raw);
  return (
    unclosedTag(located, offset) ??
    fromToken(located, /got '(\w+)'/.exec(thrown)?.[1] ?? '', offset, thrown) ?? {
      message: `${shown(token.text)} is not allowed here.`,
      loc: token.loc,
      hint: HINTS[token.text.trim()],
    }
  );
}

const HINTS: Readonly<Record<string, string>> = {
  '=': 'To compare, write {{#if (eq plan "gold")}}.',
  '/': 'Write {{/if}}, without a blank before the "/".',
};

function unclosedTag(located: Located, offset: number): Finding | null {
  const { text } = located.source;
  const comment = text.indexOf('{{!--', Math.max(0, text.lastIndexOf('--}}', offset)));
  if (comment >= 0 && !/--~?\}\}/.test(text.slice(comment))) {
    return { message: 'A comment is never closed.', loc: locOf(located, comment, 5), hint: 'Close it with --}}.' };
  }
  const open = text.lastIndexOf('{{', offset);
  if (open < 0 || text.includes('}}', open)) return null;
  return { message: '"{{" is never closed.', loc: locOf(located, open, 2), hint: 'Close it with }}.' };
}

function fromToken(located: Located, token: string, offset: number, thrown: string): Finding | null {
  const { text } = located.source;
  const tag = tagAt(text, offset);
  const here = (message: string, length: number, hint: string) => ({
    message,
    loc: locOf(located, offset, length),
    hint,
  });
  switch (token) {
    case 'EOF': {
      const block = findUnclosedBlock(text);
      return block === null ? null : unclosedBlock(located, block);
    }
    case 'OPEN_ENDBLOCK':
      return here(`${tag} closes a block that is not open.`, tag.length, 'A block is opened with #: {{#if name}}.');
    case 'INVERSE':
    case 'OPEN_INVERSE_CHAIN': {
      const hint = 'A column named "else" is written {{[else]}}.';
      return here(`${tag} is outside {{#if}}, or after the last {{else}}.`, tag.length, hint);
    }
    case 'INVALID':
      return invalidCharacter(located, offset);
    case 'CLOSE':
    case 'CLOSE_UNESCAPED':
      return earlyClose(located, offset, thrown);
    case 'CLOSE_BLOCK_PARAMS':
      return here('"|" is not allowed here.', 1, 'A helper comes first, then its values: {{upper name}}.');
    default:
      return null;
  }
}

function unclosedBlock(located: Located, block: Loc): Finding {
  const { text } = located.source;
  const offset = offsetOf(located, block.start);
  const name = /^[{~#^>*\s]*([^\s}]+)/.exec(text.slice(offset))?.[1] ?? '';
  const tag = slice(located, block) + name;
  const close = tag.startsWith('{{{{') ? '}}}}' : '}}';
  return {
    message: `${tag}${close} is never closed.`,
    loc: locOf(located, offset, tag.length),
    hint: `Close it with ${close === '}}' ? '{{' : '{{{{'}/${name}${close}.`,
  };
}

const NOT_IN_NAMES = /[!"#%-,;->@[\\\]^`{-~]/;

function invalidCharacter(located: Located, offset: number): Finding {
  const { text } = located.source;
  const first = text.charAt(offset);
  if (first === '"' || first === "'") {
    return { message: `A text that begins with ${first} is never closed.`, loc: locOf(located, offset, 1) };
  }
  if (first === '[') return { message: 'A "[" is never closed.', loc: locOf(located, offset, 1) };
  const culprit = text.slice(offset).search(NOT_IN_NAMES);
  const place = culprit < 0 ? offset : offset + culprit;
  const tag = insideTag(text, offset);
  return {
    message: `${shown(text.charAt(place))} is not allowed here.`,
    loc: locOf(located, place, 1),
    hint: tag === '' || tag.includes(']') ? undefined : `If that is the name of a column, write {{[${tag}]}}.`,
  };
}

function earlyClose(located: Located, offset: number, thrown: string): Finding {
  const { text } = located.source;
  const open = text.lastIndexOf('{{', offset - 1);
  const tag = text.slice(open, offset);
  const loc = locOf(located, offset, text.startsWith('}}}', offset) ? 3 : 2);
  if (/^\{\{[{~#^>&/]*\s*$/.test(tag)) {
    const empty = locOf(located, open, offset - open + 2);
    return { message: 'The tag is empty.', loc: empty, hint: 'Write the name of a column: {{name}}.' };
  }
  if (thrown.includes("got 'CLOSE_UNESCAPED'")) {
    return { message: '"}}}" closes a tag that "{{" opened.', loc, hint: 'Use as many braces on both sides.' };
  }
  if (text.charAt(open - 1) === '{' || tag.startsWith('{{{')) {
    return { message: '"}}" closes a tag that "{{{" opened.', loc, hint: 'Use as many braces on both sides.' };
  }
  if (thrown.includes("'CLOSE_SEXPR'")) return { message: 'A "(" is never closed.', loc };
  if (thrown.includes("Expecting 'EQUALS'")) {
    return { message: 'A value follows a named one.', loc, hint: 'Named values (name=value) come last.' };
  }
  return { message: 'The tag ends too early.', loc };
}

function tagAt(text: string, offset: number): string {
  const end = text.indexOf('}}', offset);
  return end < 0 ? text.slice(offset) : text.slice(offset, end + 2);
}

/** Empty if it is long or has several lines. */
function insideTag(text: string, offset: number): string {
  const open = text.lastIndexOf('{{', offset);
  const inside = tagAt(text, open)
    .replace(/^\{\{[{~#^>&/]*|~?\}\}$/g, '')
    .trim();
  return inside.length > 60 || inside.includes('\n') ? '' : inside;
}

function shown(text: string): string {
  return text === '' ? 'The end of the template' : `"${text}"`;
}

/** The lexer (jison) keeps its position after the parser gave up. Not in Handlebars' declarations. */
interface Lexer {
  yy?: object;
  readonly yylloc: LexerPlace;
  readonly match: string;
  setInput(text: string): void;
  lex(): number;
}

interface LexerPlace {
  readonly first_line: number;
  readonly first_column: number;
  readonly last_line: number;
  readonly last_column: number;
}

const { lexer, terminals_: names } = (
  Handlebars as unknown as { Parser: { lexer: Lexer; terminals_: Readonly<Record<number, string>> } }
).Parser;

/** Null: no place. Linear in the length of the text. */
function findTooDeep(text: string, limit: number): Loc | null {
  let found: Loc | null = null;
  walk(text, (open, loc) => {
    if (open.length > limit) found = loc;
    return found === null;
  });
  return found;
}

/** Null: none is open where the text ends. */
function findUnclosedBlock(text: string): Loc | null {
  let last: Loc | null = null;
  walk(text, (open) => {
    last = open.findLast((o) => o.kind === 'block')?.loc ?? null;
    return true;
  });
  return last;
}

type Open = { readonly kind: 'block' | 'chain' | 'parenthesis'; readonly loc: Loc };

const OPENS: Readonly<Record<string, Open['kind']>> = {
  OPEN_BLOCK: 'block',
  OPEN_INVERSE: 'block',
  OPEN_RAW_BLOCK: 'block',
  OPEN_PARTIAL_BLOCK: 'block',
  OPEN_INVERSE_CHAIN: 'chain',
  OPEN_SEXPR: 'parenthesis',
};

/** Calls `visit` after each token that opens or closes something, with what is open then, until it says false. */
function walk(text: string, visit: (open: readonly Open[], loc: Loc) => boolean): void {
  const open: Open[] = [];
  lexer.yy ??= {};
  lexer.setInput(text);
  try {
    for (;;) {
      const name = names[lexer.lex()];
      if (name === undefined || name === 'EOF') return;
      const kind = OPENS[name];
      if (kind !== undefined) open.push({ kind, loc: place() });
      else if (name === 'CLOSE_SEXPR') closeLast(open, 'parenthesis');
      else if (name === 'OPEN_ENDBLOCK' || name === 'END_RAW_BLOCK') closeLast(open, 'block');
      else continue;
      if (!visit(open, place())) return;
    }
  } catch {
    // Not even tokens: the parser will say where.
  }
}

function closeLast(open: Open[], kind: Open['kind']): void {
  const index = open.findLastIndex((o) => o.kind === kind);
  if (index >= 0) open.length = index;
}

function place(): Loc {
  const { first_line, first_column, last_line, last_column } = lexer.yylloc;
  return {
    start: { line: first_line, column: first_column },
    end: { line: last_line, column: last_column },
  };
}
