import { isList, isMapping, type Json, type JsonObject } from '../util/json.ts';
import { asText, compileText, type Entry, type Item, type Lookup, type Value } from './text.ts';

/** Makes the body of a request for its recipients, who get the same message. */
export type WriteBody = (entries: readonly Entry[]) => string;

/** What is there in every message: texts, and how the others are made. */
type Parts = readonly (string | ((entries: readonly Entry[], entry: Entry, item: Item | undefined) => string))[];
/** Undefined: absent, so that the key or the item is left out. */
type Write = (entries: readonly Entry[], entry: Entry, item: Item | undefined) => string | undefined;
/** Undefined: no message has it. */
type Written = Parts | Write | undefined;

/** Compiles the tree below `json`: what is the same for all messages is written once. */
export function compileJson(tree: Json, lookup: Lookup): WriteBody {
  const written = writtenJson(tree, lookup);
  if (written === undefined) return () => '{}';
  return (entries) => textOf(written, entries, first(entries), undefined) ?? '{}';
}

/**
 * Compiles the fields below `form`, as application/x-www-form-urlencoded. A list is the same name again.
 * @throws Error where a field is a mapping, which the schema refuses
 */
export function compileForm(fields: JsonObject, lookup: Lookup): WriteBody {
  const written = Object.entries(fields).map(([name, value]) => {
    const key = compileText(name, lookup);
    const texts = textsOf(value, lookup);
    return (entries: readonly Entry[]): string[] => {
      const field = evaluate(key, first(entries), undefined);
      return field === undefined ? [] : texts(entries).map((text) => `${encode(asText(field))}=${encode(text)}`);
    };
  });
  return (entries) => written.flatMap((field) => field(entries)).join('&');
}

function textsOf(value: Json, lookup: Lookup): (entries: readonly Entry[]) => string[] {
  if (isList(value)) {
    const items = value.map((item) => textsOf(item, lookup));
    return (entries) => items.flatMap((item) => item(entries));
  }
  if (isMapping(value)) {
    const repeated = repetitionOf(value, lookup);
    if (repeated === null) throw new Error('A field of a form is a text or a list.');
    return (entries) => repeated(entries, first(entries));
  }
  const text = typeof value === 'string' ? compileText(value, lookup) : { constant: value };
  return (entries) => {
    const found = evaluate(text, first(entries), undefined);
    return found === undefined || found === null ? [] : [asText(found)];
  };
}

/** As HTML forms do it: a space is `+`, so that a `+` is `%2B`. */
export function encode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** @param key - with its colon, for a member of a mapping; empty: none */
function writtenJson(tree: Json, lookup: Lookup, key = ''): Written {
  if (typeof tree === 'string') return jsonOf(compileText(tree, lookup), key);
  if (isList(tree)) {
    const items = tree.map((item) => writtenJson(item, lookup));
    const isSure = tree.length === 0 || items.some((item) => typeof item === 'object');
    return together(items, `${key}[`, ']', isSure);
  }
  if (!isMapping(tree)) return [key + JSON.stringify(tree)];
  if ('$each' in tree) return eachOf(tree, lookup, key);
  if ('$join' in tree) return joinOf(tree, lookup, key);
  if ('$merge' in tree) return mergeOf(tree['$merge'] ?? [], lookup, key);
  return mappingOf(tree, lookup, key);
}

function jsonOf(value: Value, key: string): Written {
  if (!('of' in value)) return value.constant === undefined ? undefined : [key + JSON.stringify(value.constant)];
  const { of, isPlain = false } = value;
  if (isPlain) return [`${key}"`, (_entries, entry) => of(entry, undefined) as string, '"'];
  return (_entries, entry, item) => {
    const found = of(entry, item);
    return found === undefined ? undefined : key + JSON.stringify(found);
  };
}

/** A mapping with placeholders, none of which has a value, is left out with what else it holds. */
function mappingOf(tree: JsonObject, lookup: Lookup, key: string): Written {
  const members = Object.entries(tree).map(([name, value]) => memberOf(compileText(name, lookup), value, lookup));
  const placed = members.filter((_, i) => PLACEHOLDER.test(JSON.stringify(Object.entries(tree)[i])));
  if (placed.length > 0 && placed.every((member) => member === undefined)) return undefined;
  const isSure = placed.length === 0 || placed.some((member) => typeof member === 'object');
  return together(members, `${key}{`, '}', isSure);
}

/** In JSON, a brace of its syntax has no letter behind it. */
const PLACEHOLDER = /\{[A-Za-z]/;

/**
 * Members or items, without those that are absent.
 * @param isSure - false: absent, unless one is there that not every message has
 */
function together(written: readonly Written[], open: string, close: string, isSure: boolean): Written {
  const blocks: ((string | Parts[number])[] | Write)[] = [];
  for (const one of written) {
    const last = blocks.at(-1);
    if (one === undefined) continue;
    if (typeof one === 'function') blocks.push(one);
    else if (typeof last === 'object') last.push(',', ...one);
    else blocks.push([...one]);
  }
  const [only, ...more] = blocks;
  if (only === undefined) return isSure ? [open + close] : undefined;
  if (more.length === 0 && typeof only === 'object') return joined([open, ...only, close]);
  const whole: Write = (entries, entry, item) => {
    let text = '';
    let isThere = isSure;
    for (const block of blocks) {
      const part = textOf(block, entries, entry, item);
      if (part === undefined) continue;
      isThere ||= typeof block === 'function';
      text += text === '' ? part : `,${part}`;
    }
    return isThere ? open + text + close : undefined;
  };
  return isSure ? [whole as Exclude<Parts[number], string>] : whole;
}

/** With texts that follow each other in one. */
function joined(parts: Parts): Parts {
  const found: (string | Parts[number])[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (typeof part === 'string' && typeof last === 'string') found[found.length - 1] = last + part;
    else found.push(part);
  }
  return found;
}

function textOf(
  written: Parts | Write,
  entries: readonly Entry[],
  entry: Entry,
  item: Item | undefined,
): string | undefined {
  if (typeof written === 'function') return written(entries, entry, item);
  let text = '';
  for (const part of written) text += typeof part === 'string' ? part : part(entries, entry, item);
  return text;
}

function memberOf(name: Value, tree: Json, lookup: Lookup): Written {
  if (!('of' in name)) {
    return name.constant === undefined
      ? undefined
      : writtenJson(tree, lookup, `${JSON.stringify(asText(name.constant))}:`);
  }
  const value = writtenJson(tree, lookup);
  if (value === undefined) return undefined;
  return (entries, entry, item) => {
    const key = name.of(entry, item);
    const text = textOf(value, entries, entry, item);
    return key === undefined || text === undefined ? undefined : `${JSON.stringify(asText(key))}:${text}`;
  };
}

function eachOf(tree: JsonObject, lookup: Lookup, key: string): Written {
  const items = itemsOf(tree['$each'], lookup);
  // Each recipient has a reference.
  const withReference: Lookup = (name) =>
    name === 'reference' ? { of: ({ reference }) => reference ?? '', isPlain: true } : lookup(name);
  const written = writtenJson(tree['$do'] ?? null, items === null ? withReference : lookup);
  if (written === undefined) return undefined;
  if (items === null && typeof written === 'object') {
    const all = (entries: readonly Entry[]): string =>
      entries.map((entry) => textOf(written, entries, entry, undefined)).join(',');
    return [
      `${key}[`,
      (entries, entry) => (entries.length === 1 ? (textOf(written, entries, entry, undefined) ?? '') : all(entries)),
      ']',
    ];
  }
  return (entries, entry) => {
    const texts = textsOver(items, entries, entry, (one, item) => textOf(written, entries, one, item));
    return texts.length === 0 ? undefined : `${key}[${texts.join(',')}]`;
  };
}

function joinOf(tree: JsonObject, lookup: Lookup, key: string): Written {
  const repeated = repetitionOf(tree, lookup);
  if (repeated === null) throw new Error('A joined text is made of items.');
  return (entries, entry) => {
    const [text] = repeated(entries, entry);
    return text === undefined ? undefined : key + JSON.stringify(text);
  };
}

/** The texts of `$each`, or the one text of `$join`; null: the mapping is neither. */
function repetitionOf(
  tree: JsonObject,
  lookup: Lookup,
): ((entries: readonly Entry[], entry: Entry) => string[]) | null {
  const { $each, $join = $each, $do, with: between } = tree;
  if ($join === undefined) return null;
  const items = itemsOf($join, lookup);
  const text = compileText(asText($do ?? ''), lookup);
  return (entries, entry) => {
    const texts = textsOver(items, entries, entry, (one, item) => {
      const found = evaluate(text, one, item);
      return found === undefined ? undefined : asText(found);
    });
    return $each !== undefined || texts.length === 0 ? texts : [texts.join(asText(between ?? ''))];
  };
}

/** The values of a mapping such as `variables`; null: recipients. */
type Items = ((entry: Entry) => readonly Item[]) | null;

function itemsOf(name: Json | undefined, lookup: Lookup): Items {
  if (name === 'recipients') return null;
  const value = lookup(asText(name ?? '')) ?? { constant: undefined };
  return (entry) => {
    const found = evaluate(value, entry, undefined);
    if (found === undefined || found === null || typeof found !== 'object') return [];
    return Object.entries(found).map(([key, inner]) => ({ name: key, value: inner as Json }));
  };
}

function textsOver(
  items: Items,
  entries: readonly Entry[],
  entry: Entry,
  textOf: (entry: Entry, item: Item | undefined) => string | undefined,
): string[] {
  const texts: string[] = [];
  const add = (text: string | undefined): void => {
    if (text !== undefined) texts.push(text);
  };
  if (items === null) for (const one of entries) add(textOf(one, undefined));
  else for (const item of items(entry)) add(textOf(entry, item));
  return texts;
}

/** The keys of several mappings in one; of two values for one key, the later counts. */
function mergeOf(parts: Json, lookup: Lookup, key: string): Written {
  const kept = (isList(parts) ? parts : [parts]).filter((part) => writtenJson(part, lookup) !== undefined);
  const [only = null] = kept;
  if (kept.length <= 1) return kept.length === 0 ? undefined : writtenJson(only, lookup, key);
  const there = kept.map((part) => writtenJson(part, lookup) ?? []);
  return (entries, entry, item) => {
    const texts: string[] = [];
    for (const part of there) {
      const text = textOf(part, entries, entry, item);
      if (text !== undefined && text !== '{}' && text !== 'null') texts.push(text);
    }
    if (texts.length === 0) return undefined;
    if (texts.length === 1) return key + texts[0];
    // Not by assignment, which would lose a key `__proto__`.
    const pairs = texts.flatMap((text) => Object.entries(JSON.parse(text) as JsonObject));
    return key + JSON.stringify(Object.fromEntries(pairs));
  };
}

function evaluate(value: Value, entry: Entry, item: Item | undefined): Json | undefined {
  return 'of' in value ? value.of(entry, item) : value.constant;
}

/** What is outside of a repetition: all recipients have the same text. */
function first(entries: readonly Entry[]): Entry {
  const [entry] = entries;
  if (entry === undefined) throw new Error('a request has a recipient');
  return entries.length === 1 ? entry : { ...entry, reference: null };
}
