import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { type Diagnostic, type Position, problem } from '../errors.ts';
import { FORBIDDEN_NAMES, pointerTo } from '../util/json.ts';
import { maskInPlace } from '../util/redact.ts';
import { shortened } from '../util/words.ts';
import WORDS from './file-words.json' with { type: 'json' };
import { dots, hideKeys } from './hide-keys.ts';
import { decodeUtf8 } from './named-file.ts';
import { createSlipFinder, type Slip } from './yaml-slips.ts';

type CstToken = Parameters<Composer['next']>[0];

export interface YamlFile {
  readonly text: FileText;
  /** Null, boolean, finite number, string, array, or object without a prototype. */
  readonly value: unknown;
  /** By JSON pointer. */
  readonly places: ReadonlyMap<string, Place>;
}

interface YamlReading {
  /** Null after any fault: half a file would only lead to wrong advice. */
  readonly yaml: YamlFile | null;
  readonly diagnostics: readonly Diagnostic[];
}

const MAX_DEPTH = 64;
export const MAX_YAML_BYTES = 1 << 20;
/** A campaign of a thousand lines has about 10,000 tokens; a megabyte of brackets took the parser 12 s. */
const MAX_TOKENS = 100_000;
/** One slip causes several parser errors; the first are enough. */
const MAX_SYNTAX_ERRORS = 5;

/**
 * Reads YAML 1.2 with the core schema only: no other tags, no directives, one document, no duplicate keys, at most 50
 * aliases, at most 64 levels. The tokenizer counts depth without recursion: deeper text never reaches the recursive
 * part of the parser. Never throws; returns diagnostics with line, column and the line itself.
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
  const syntax = syntaxErrors(document, cut.slips, text);
  if (syntax.length > 0) return refused(syntax);
  const reader = new ValueReader(text, anchorsOf(document.contents));
  const value = reader.read(document.contents, [], null);
  const { places, diagnostics } = reader;
  return diagnostics.length > 0 ? refused(diagnostics) : { yaml: { text, value, places }, diagnostics };
}

function refused(diagnostics: readonly Diagnostic[]): YamlReading {
  return { yaml: null, diagnostics };
}

/** Lexer and concrete syntax only: both work with an explicit stack, so depth costs no call stack. */
function cutIntoTokens(
  text: FileText,
): { readonly tokens: readonly CstToken[]; readonly slips: readonly Slip[] } | { readonly problem: Diagnostic } {
  const parser = new Parser();
  const finder = createSlipFinder();
  const tokens: CstToken[] = [];
  let count = 0;
  for (const lexeme of new Lexer().lex(text.raw)) {
    count += 1;
    if (count > MAX_TOKENS) {
      return { problem: problem('file-too-large', 'The file holds more than handbill reads.', text.at(parser.offset)) };
    }
    const offset = parser.offset;
    finder.add(lexeme, offset);
    tokens.push(...parser.next(lexeme));
    // The stack also holds the document and the current scalar.
    if (
      parser.stack.length > MAX_DEPTH &&
      parser.stack.filter((t) => t.type === 'block-map' || t.type === 'block-seq' || t.type === 'flow-collection')
        .length > MAX_DEPTH
    ) {
      const message = `Mappings and sequences are nested more than ${MAX_DEPTH} levels deep.`;
      return { problem: problem('yaml-too-deep', message, text.at(offset)) };
    }
  }
  tokens.push(...parser.end());
  return { tokens, slips: finder.slips };
}

/** Refuses directives and further documents, which are well-formed YAML. */
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
        hint: 'Write each campaign into its own file.',
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
  throw new Error('The composer gave no document.');
}

/**
 * Warnings count as errors: the parser only warns of an unknown tag, and would use the value as text. After the first
 * slip, parser errors are unreliable: reports only further slips.
 */
function syntaxErrors(document: Document.Parsed<ParsedNode>, slips: readonly Slip[], text: FileText) {
  const lines = new Set<number | undefined>();
  const diagnostics: Diagnostic[] = [];
  const lineOf = (offset: number): number => text.position(offset).line;
  const lost = slips[0] === undefined ? Number.POSITIVE_INFINITY : lineOf(slips[0].offset);
  const errors = [...document.errors, ...document.warnings]
    .filter(({ pos }) => lineOf(pos[0]) < lost)
    .sort((a, b) => a.pos[0] - b.pos[0]);
  const slipped = slips.map(({ start, offset, message, hint }) => {
    const { at, source = '' } = text.at(start);
    return problem('yaml-syntax', message, { ...text.at(offset), hint: hint(source.slice((at.column ?? 1) - 1)) });
  });
  const told = [...errors.map((error) => explainSyntax(error, text)), ...slipped];
  for (const diagnostic of told) {
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
    const hint = 'Remove the tag (the word that begins with !). Put a text that begins with ! in quotes.';
    return problem('yaml-tag', 'This tag is not one of YAML 1.2 core.', { ...where, hint });
  }
  if (error.code === 'BAD_ALIAS') {
    const { source = '' } = where;
    // `cron: * 9 * * *`: a star begins an alias, unless the value is quoted.
    const written = /:\s*(\*.*?)\s*$/.exec(source)?.[1];
    const hint = `Put it in quotes: ${written === undefined ? '"* 9 * * *"' : JSON.stringify(written)}`;
    return problem('yaml-syntax', 'A value that begins with * is read as an alias.', { ...where, hint });
  }
  // After a colon the parser quotes the text, which could be a secret key.
  const message = `${error.message.replace(/(?<=\S): .*$/s, '').replace(/[.:]?$/, '')}.`;
  const hint = error.message.includes('same column') ? SAME_COLUMN : HINTS[error.code];
  return problem('yaml-syntax', message, { ...where, hint });
}

const HINTS: Readonly<Record<string, string>> = WORDS.syntax;
const SAME_COLUMN = 'Keys of one mapping begin in the same column.';
const VERSION_1_2 = /^%YAML[ \t]+1\.2[ \t]*$/;
const CONTROL_CLASS = '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]';
const CONTROL = new RegExp(CONTROL_CLASS);

export interface Place {
  /** Offsets in UTF-16 units, end exclusive. */
  readonly key: Range | null;
  readonly value: Range;
  /** The text of a plain scalar: `+447700900123` where the value is a number. */
  readonly plain: string | null;
  /** Offset of the first character of a text: after a quote, or in the first line of a block. */
  readonly textStart: number;
}

type Range = readonly [start: number, end: number];

/** The place of the value at a pointer, else of its nearest parent. */
export function whereValue(yaml: YamlFile, pointer: string): Where {
  for (let p = pointer; ; p = p.slice(0, p.lastIndexOf('/'))) {
    const place = yaml.places.get(p)?.value;
    if (place !== undefined) return yaml.text.at(place[0], place[1] - place[0]);
    // A mapping is as long as all its lines: mark its first character only.
    if (p === '') return yaml.text.at(0, 1);
  }
}

/** The place of the key at a pointer; for a list item or the file, of the value. */
export function whereKey(yaml: YamlFile, pointer: string): Where {
  const key = yaml.places.get(pointer)?.key;
  return key === undefined || key === null ? whereValue(yaml, pointer) : yaml.text.at(key[0], key[1] - key[0]);
}

/** SECURITY: aliases make small files large; a campaign has hardly any. */
const MAX_ALIASES = 50;
/** With aliases expanded; a campaign has some hundreds. */
const MAX_VALUES = 50_000;
const MAX_EXPANDED_DEPTH = 64;

/** The node of each alias: the last one before it with that anchor, in the order of the file. */
function anchorsOf(root: Node | null): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const visit = (node: unknown): void => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) targets.set(node, target);
      return;
    }
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isMap(node)) {
      for (const pair of node.items) {
        visit(pair.key);
        visit(pair.value);
      }
    }
    if (isSeq(node)) for (const item of node.items) visit(item);
  };
  visit(root);
  return targets;
}

/**
 * Counts the values of one file with aliases expanded, and stops at the limit. Objects have no prototype, keys are as
 * written, numbers are finite, strings are well-formed.
 */
class ValueReader {
  readonly places = new Map<string, Place>();
  readonly diagnostics: Diagnostic[] = [];
  readonly #text: FileText;
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #open = new Set<Node>();
  #aliases = 0;
  #values = 0;
  #stopped = false;

  constructor(text: FileText, targets: ReadonlyMap<Alias, Node>) {
    this.#text = text;
    this.#targets = targets;
  }

  read(node: Node | null, path: readonly (string | number)[], key: Range | null): unknown {
    if (this.#stopped) return null;
    this.#values += 1;
    if (this.#values > MAX_VALUES)
      return this.#stop('file-too-large', 'The file holds more than handbill reads.', node);
    // Nested aliases can exceed the depth, though each is within it.
    if (path.length > MAX_EXPANDED_DEPTH) return this.#stop('yaml-too-deep', 'Aliases nest too deeply.', node);
    if (isAlias(node)) return this.#readAlias(node, path, key);
    this.places.set(pointerTo(path), this.#placeOf(node, key));
    if (isScalar(node)) return this.#readScalar(node);
    if (!isMap(node) && !isSeq(node)) return null;
    if (this.#open.has(node)) return this.#stop('yaml-alias-limit', 'An alias is inside its own anchor.', node);
    this.#open.add(node);
    const value = isMap(node)
      ? this.#readMap(node, path)
      : node.items.map((item, index) => this.read(item as Node | null, [...path, index], null));
    this.#open.delete(node);
    return value;
  }

  #readAlias(alias: Alias, path: readonly (string | number)[], key: Range | null): unknown {
    this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) {
      return this.#stop('yaml-alias-limit', `Aliases are expanded more than ${MAX_ALIASES} times.`, alias);
    }
    const target = this.#targets.get(alias);
    if (target !== undefined) return this.read(target, path, key);
    return this.#report(
      'yaml-syntax',
      'This alias (*) names no anchor (&) above it.',
      alias,
      'Put a text that begins with * in quotes.',
    );
  }

  #readMap(map: YAMLMap, path: readonly (string | number)[]): unknown {
    const object: Record<string, unknown> = Object.create(null);
    const first = new Map<string, number>();
    for (const pair of map.items as readonly Pair<Node | null, Node | null>[]) {
      const name = this.#keyOf(pair.key, map);
      if (name === null || !isScalar(pair.key)) continue;
      const range = rangeOf(pair.key);
      const line = first.get(name);
      if (line !== undefined) {
        const message = `Duplicate key "${shortened(name, 80)}", first in line ${line}.`;
        this.#report('yaml-duplicate-key', message, pair.key);
        continue;
      }
      first.set(name, this.#text.position(range[0]).line);
      object[name] = this.read(pair.value, [...path, name], range);
    }
    return object;
  }

  /** The key as written: `1.0` stays `1.0`, `no` stays `no`. */
  #keyOf(key: Node | null, map: YAMLMap): string | null {
    if (!isScalar(key) || key.source === undefined) {
      return this.#report('yaml-syntax', 'A key must be plain text.', key ?? map);
    }
    const name = typeof key.value === 'string' ? key.value : key.source;
    if (name === '') return this.#report('yaml-syntax', 'A key is empty.', key);
    if (!FORBIDDEN_NAMES.has(name)) return name;
    return this.#report('yaml-forbidden-key', `The key "${name}" is never allowed.`, key);
  }

  #readScalar(scalar: Scalar): unknown {
    const { value } = scalar;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return this.#report(
        'invalid-value',
        'This is not a number that can be sent.',
        scalar,
        'If it is a text, write it in quotes.',
      );
    }
    if (typeof value === 'string' && !value.isWellFormed()) {
      return this.#report('invalid-value', 'The text holds half a character (a lone surrogate).', scalar);
    }
    return value ?? null;
  }

  #placeOf(node: Node | null, key: Range | null): Place {
    const value = node === null ? (key ?? [0, 0]) : rangeOf(node);
    const scalar = isScalar(node) ? node : null;
    const plain = scalar?.type === 'PLAIN' ? (scalar.source ?? null) : null;
    return { key, value, plain, textStart: scalar === null ? value[0] : textStart(scalar, this.#text.raw) };
  }

  #report(code: Diagnostic['code'], message: string, node: Node, hint?: string): null {
    const [start, end] = rangeOf(node);
    if (this.diagnostics.length < MAX_DIAGNOSTICS) {
      this.diagnostics.push(problem(code, message, { ...this.#text.at(start, end - start), hint }));
    }
    return null;
  }

  #stop(code: Diagnostic['code'], message: string, node: Node | null): null {
    this.#stopped = true;
    const [start, end] = node === null ? [0, 1] : rangeOf(node);
    this.diagnostics.splice(0, Number.POSITIVE_INFINITY, problem(code, message, this.#text.at(start, end - start)));
    return null;
  }
}

const MAX_DIAGNOSTICS = 100;

/** An empty value has no characters: its place is where it would begin. */
function rangeOf(node: Node): Range {
  const range = node.range;
  return range === null || range === undefined ? [0, 1] : [range[0], Math.max(range[0] + 1, range[1])];
}

function textStart(scalar: Scalar, raw: string): number {
  const start = rangeOf(scalar)[0];
  if (scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE') return start + 1;
  if (scalar.type !== 'BLOCK_LITERAL' && scalar.type !== 'BLOCK_FOLDED') return start;
  const next = raw.indexOf('\n', start) + 1;
  const indent = /^[ ]*/.exec(raw.slice(next, next + 1000))?.[0].length ?? 0;
  return next === 0 ? start : next + indent;
}

/** Spread it into a diagnostic; it shows the line with secrets hidden. */
export type Where = { readonly at: Position } & Pick<Diagnostic, 'source'>;

type FileText = ReturnType<typeof createText>;

function createText(raw: string, file: string) {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of raw.matchAll(/\n/g)) lines.addNewLine(index + 1);
  const { lineStarts: starts } = lines;
  const position = (offset: number) => {
    const { line, col: column } = lines.linePos(offset);
    return { line, column };
  };
  const hidden: [start: number, end: number][] = [];
  let shown: string | null = null;
  return {
    file,
    raw,
    /** From 1. */
    position,
    /** Hides a range that has not been shown yet. Offsets in UTF-16 units, end exclusive. */
    hide(start: number, end: number): void {
      hidden.push([start, end]);
      shown = null;
    },
    /** The place of an offset in UTF-16 units; the mark ends with the line. */
    at(offset: number, length = 1): Where {
      const bounded = Math.min(Math.max(0, offset), raw.length);
      const { line, column } = position(bounded);
      // Always hides keys. They take up as many characters as before, so places still hold.
      shown ??= hideRanges(hideKeys(raw), hidden).replace(LIST, maskInPlace);
      const end = starts[line] === undefined ? raw.length : starts[line] - 1;
      const source = shown.slice(starts[line - 1] ?? 0, end).replace(/\r$/, '');
      const rest = Math.max(1, source.length - column + 1);
      return { at: { file, line, column, length: Math.max(1, Math.min(length, rest)) }, source };
    },
  };
}

/** The list of recipients in a campaign file, also where the YAML is wrong. Numbers elsewhere are shown. */
const LIST = /\brecipients\b.*(?:\n(?:[ \t\r#-].*)?)*/g;

function hideRanges(text: string, ranges: readonly (readonly [start: number, end: number])[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    parts.push(text.slice(done, start), dots(text.slice(Math.max(done, start), end)));
    done = Math.max(done, end);
  }
  return parts.join('') + text.slice(done);
}
