import type { Loc } from './ast.ts';
import { Handlebars } from './engine.ts';

/** What Handlebars' lexer keeps (jison): where it stands, also after the parser gave up. Not in its declarations. */
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

/** Where the lexer stopped. Only right after a failed parse: parsing is synchronous, the lexer is one. */
export function lastToken(): { readonly loc: Loc; readonly text: string } {
  return { loc: place(), text: lexer.match };
}

/** The first place that is nested deeper than `limit`, or null. Linear in the length of the text. */
export function findTooDeep(text: string, limit: number): Loc | null {
  let found: Loc | null = null;
  walk(text, (open, loc) => {
    if (open.length > limit) found = loc;
    return found === null;
  });
  return found;
}

/** The innermost block that is open where the text ends, or null. */
export function findUnclosedBlock(text: string): Loc | null {
  let last: Loc | null = null;
  walk(text, (open) => {
    last = open.findLast((o) => o.kind === 'block')?.loc ?? null;
    return true;
  });
  return last;
}

interface Open {
  readonly kind: 'block' | 'chain' | 'parenthesis';
  readonly loc: Loc;
}

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

/** Takes the last one of a kind away, and what was opened inside it. */
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
