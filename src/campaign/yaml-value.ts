import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import { type Diagnostic, problem } from '../errors.ts';
import { pointerTo } from '../util/json.ts';
import type { FileText } from './file-text.ts';

/** Where a value is, and how it was written. */
export interface Place {
  /** Offsets in UTF-16 units, end exclusive. */
  readonly key: Range | null;
  readonly value: Range;
  /** The text of a plain scalar as it was written: `+447700900123` where the value is a number. */
  readonly plain: string | null;
  /** Offset of the first character of a text: after a quote, or in the first line of a block. */
  readonly textStart: number;
}

export type Places = ReadonlyMap<string, Place>;
type Range = readonly [start: number, end: number];

/** SECURITY: aliases make small files large; a campaign has hardly any. */
const MAX_ALIASES = 50;
/** With aliases expanded; a campaign has some hundreds. */
const MAX_VALUES = 50_000;
const MAX_EXPANDED_DEPTH = 64;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Turns the parsed tree into plain data: objects have no prototype, keys are as written, numbers are finite, strings
 * are well-formed. Remembers where every value is.
 */
export function readValue(
  root: Node | null,
  text: FileText,
): { readonly value: unknown; readonly places: Places; readonly diagnostics: readonly Diagnostic[] } {
  const reader = new ValueReader(text, anchorsOf(root));
  const value = reader.read(root, [], null);
  return { value, places: reader.places, diagnostics: reader.diagnostics };
}

/** What each alias means: the last node before it with that anchor, in the order of the file. */
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

/** One reading: it counts what aliases expand to, and stops where that is too much. */
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
    // Aliases can stack what is allowed by itself.
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
    return this.#report('yaml-syntax', 'This alias (*) names no anchor (&) above it.', alias, {
      hint: 'Put a text that begins with * in quotes.',
    });
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
        const message = `Duplicate key "${shown(name)}", first in line ${line}.`;
        this.#report('yaml-duplicate-key', message, pair.key, {});
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
      return this.#report('yaml-syntax', 'A key must be plain text.', key ?? map, {});
    }
    const name = typeof key.value === 'string' ? key.value : key.source;
    if (name === '') return this.#report('yaml-syntax', 'A key is empty.', key, {});
    if (!FORBIDDEN.has(name)) return name;
    return this.#report('yaml-forbidden-key', `The key "${name}" is never allowed.`, key, {});
  }

  #readScalar(scalar: Scalar): unknown {
    const { value } = scalar;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return this.#report('invalid-value', 'This is not a number that can be sent.', scalar, {
        hint: 'If it is a text, write it in quotes.',
      });
    }
    if (typeof value === 'string' && !value.isWellFormed()) {
      return this.#report('invalid-value', 'The text holds half a character (a lone surrogate).', scalar, {});
    }
    return value ?? null;
  }

  #placeOf(node: Node | null, key: Range | null): Place {
    const value = node === null ? (key ?? [0, 0]) : rangeOf(node);
    const scalar = isScalar(node) ? node : null;
    const plain = scalar?.type === 'PLAIN' ? (scalar.source ?? null) : null;
    return { key, value, plain, textStart: scalar === null ? value[0] : textStart(scalar, this.#text.raw) };
  }

  #report(code: Diagnostic['code'], message: string, node: Node, rest: Partial<Diagnostic>): null {
    const [start, end] = rangeOf(node);
    if (this.diagnostics.length < MAX_DIAGNOSTICS) {
      this.diagnostics.push(problem(code, message, { ...this.#text.at(start, end - start), ...rest }));
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

/** An empty value has no characters of its own: its place is where it would begin. */
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

function shown(key: string): string {
  return key.length <= 80 ? key : `${key.slice(0, 80)}…`;
}
