import { Composer, type Document, Lexer, type ParsedNode, Parser, type YAMLError } from 'yaml';
import { type Diagnostic, problem } from '../errors.ts';
import { decodeUtf8 } from './decode.ts';
import { createText, type FileText } from './file-text.ts';
import { type Places, readValue } from './yaml-value.ts';

type CstToken = Parameters<Composer['next']>[0];

/** A YAML file as plain data without prototypes, and the place of everything in it. */
export interface YamlFile {
  readonly text: FileText;
  /** Null, boolean, finite number, string, array, or object without a prototype. */
  readonly value: unknown;
  /** By JSON pointer. */
  readonly places: Places;
}

export interface YamlReading {
  /** Null when anything is wrong: half a file would only lead to wrong advice. */
  readonly yaml: YamlFile | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** How deep mappings and sequences may be nested. */
export const MAX_DEPTH = 64;
/** How large a YAML file may be, in bytes. */
export const MAX_YAML_BYTES = 1 << 20;
/** A campaign of a thousand lines has about 10,000 tokens; a megabyte of brackets took the parser 12 s. */
const MAX_TOKENS = 100_000;
/** One slip of the pen makes the parser stumble several times; the first lines tell. */
const MAX_SYNTAX_ERRORS = 5;

/**
 * Reads YAML 1.2 with the core schema and nothing else: no other tags, no directives, one document, no duplicate keys,
 * at most 50 aliases, at most 64 levels. Depth is counted while the text is cut into tokens, which needs no recursion,
 * and reading stops there: deeper text never reaches the part of the parser that does.
 *
 * Never throws; what is wrong comes back as diagnostics with line, column and the line itself.
 */
export function readYaml(bytes: Uint8Array, file: string): YamlReading {
  const decoded = decodeUtf8(bytes, file);
  if ('problem' in decoded) return refused([decoded.problem]);
  const text = createText(decoded.text, file);
  if (bytes.length > MAX_YAML_BYTES) {
    return refused([problem('file-too-large', 'The file is larger than 1 MiB.', { at: { file } })]);
  }
  const control = CONTROL.exec(text.raw);
  if (control !== null) {
    return refused([
      problem('yaml-syntax', 'The file holds a control character.', {
        ...text.at(control.index),
        hint: 'Remove it; inside double quotes it can be written as an escape.',
      }),
    ]);
  }
  const cut = cutIntoTokens(text);
  if ('problem' in cut) return refused([cut.problem]);
  const layout = checkLayout(cut.tokens, text);
  if (layout.length > 0) return refused(layout);
  const document = compose(cut.tokens, text.raw.length);
  const syntax = syntaxErrors(document, text);
  if (syntax.length > 0) return refused(syntax);
  const { value, places, diagnostics } = readValue(document.contents, text);
  return diagnostics.length > 0 ? refused(diagnostics) : { yaml: { text, value, places }, diagnostics };
}

function refused(diagnostics: readonly Diagnostic[]): YamlReading {
  return { yaml: null, diagnostics };
}

/** Lexer and concrete syntax only: both work with a stack of their own, so that depth costs no call stack. */
function cutIntoTokens(text: FileText): { readonly tokens: readonly CstToken[] } | { readonly problem: Diagnostic } {
  const parser = new Parser();
  const tokens: CstToken[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text.raw)) {
    count += 1;
    if (count > MAX_TOKENS) {
      return { problem: problem('file-too-large', 'The file holds more than handbill reads.', text.at(parser.offset)) };
    }
    const offset = parser.offset;
    tokens.push(...parser.next(lexeme));
    // The stack also holds the document and the scalar at hand.
    if (parser.stack.length > MAX_DEPTH && depthOf(parser) > MAX_DEPTH) {
      const message = `Mappings and sequences are nested more than ${MAX_DEPTH} levels deep.`;
      return { problem: problem('yaml-too-deep', message, text.at(offset)) };
    }
  }
  tokens.push(...parser.end());
  return { tokens };
}

function depthOf(parser: Parser): number {
  return parser.stack.filter((t) => t.type === 'block-map' || t.type === 'block-seq' || t.type === 'flow-collection')
    .length;
}

/** Directives and further documents: well-formed YAML, but not what a campaign is written in. */
function checkLayout(tokens: readonly CstToken[], text: FileText): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const token of tokens) {
    if (token.type !== 'directive' || VERSION_1_2.test(token.source)) continue;
    diagnostics.push(
      problem('yaml-directive', 'Directives cannot be used: the file is always read as YAML 1.2.', {
        ...text.at(token.offset, token.source.length),
        hint: 'Remove the line.',
      }),
    );
  }
  const second = tokens.filter((token) => token.type === 'document')[1];
  if (second !== undefined) {
    diagnostics.push(
      problem('yaml-several-documents', 'The file holds more than one document.', {
        ...text.at(second.offset, 3),
        hint: 'Write each campaign into a file of its own.',
      }),
    );
  }
  return diagnostics.slice(0, MAX_SYNTAX_ERRORS);
}

function compose(tokens: readonly CstToken[], end: number): Document.Parsed<ParsedNode> {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    // Known tags outside the core (`!!binary`, `!!set`) would be taken without a word.
    resolveKnownTags: false,
    merge: false,
    // Its check compares every key with every other; readValue has one that does not.
    uniqueKeys: false,
    logLevel: 'silent',
  });
  for (const document of composer.compose(tokens, true, end)) return document;
  throw new Error('The composer was told to give a document, and gave none.');
}

/** Warnings count as errors: an unknown tag is only a warning to the parser, and the value would be taken as text. */
function syntaxErrors(document: Document.Parsed<ParsedNode>, text: FileText): readonly Diagnostic[] {
  const lines = new Set<number | undefined>();
  const diagnostics: Diagnostic[] = [];
  const errors = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  for (const error of errors) {
    const diagnostic = explainSyntax(error, text);
    const line = diagnostic.at?.line;
    if (lines.has(line)) continue;
    lines.add(line);
    diagnostics.push(diagnostic);
    if (diagnostics.length === MAX_SYNTAX_ERRORS) break;
  }
  return diagnostics;
}

function explainSyntax(error: YAMLError, text: FileText): Diagnostic {
  const [start, end] = error.pos;
  const where = text.at(start, end - start);
  if (error.code === 'TAG_RESOLVE_FAILED' || error.code === 'BAD_COLLECTION_TYPE') {
    return problem('yaml-tag', 'This tag is not one of YAML 1.2 core.', {
      ...where,
      hint: 'Remove the tag (the word that begins with !). Put a text that begins with ! in quotes.',
    });
  }
  if (error.code === 'BAD_ALIAS') {
    const { source = '' } = where;
    // `cron: * 9 * * *`: a star begins an alias, unless the value is quoted.
    const written = /:\s*(\*.*?)\s*$/.exec(source)?.[1];
    return problem('yaml-syntax', 'A value that begins with * is read as an alias.', {
      ...where,
      hint: `Put it in quotes: ${written === undefined ? '"* 9 * * *"' : JSON.stringify(written)}`,
    });
  }
  // After a colon the parser quotes what it found, which could be a secret key.
  const message = `${error.message.replace(/(?<=\S): .*$/s, '').replace(/[.:]?$/, '')}.`;
  const hint = error.message.includes('same column') ? SAME_COLUMN : HINTS[error.code];
  return problem('yaml-syntax', message, { ...where, ...(hint === undefined ? {} : { hint }) });
}

const HINTS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: 'Indent with spaces.',
  BAD_INDENT: 'A bracket is not closed, or a line is indented too little.',
  BLOCK_AS_IMPLICIT_KEY: 'Put a text that holds ": " in quotes.',
  BAD_SCALAR_START: 'Put a text that begins with this character in quotes.',
  BAD_DQ_ESCAPE: 'Inside double quotes a backslash begins an escape; use single quotes or double the backslash.',
  MULTILINE_IMPLICIT_KEY: 'Is a ":" missing, or a quote not closed?',
  MISSING_CHAR: 'A bracket, a quote or a colon is missing, here or further up.',
};
const SAME_COLUMN = 'Keys of one mapping begin in the same column.';
const VERSION_1_2 = /^%YAML[ \t]+1\.2[ \t]*$/;
const CONTROL_CLASS = '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]';
const CONTROL = new RegExp(CONTROL_CLASS);
