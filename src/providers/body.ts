import { isList, isMapping, type Json, type JsonObject } from '../util/json.ts';
import { asText, compileText, type Entry, type Item, type Lookup, type Value } from './text.ts';

/** Makes the body of a request for its recipients, who get the same message. */
export type WriteBody = (entries: readonly Entry[]) => string;

/** Text, or how it is made; undefined: absent, so that the key or the item is left out. */
type Written = string | undefined | Write;
type Write = (entries: readonly Entry[], entry: Entry, item: Item | undefined) => string | undefined;

/** Compiles the tree below `json`: what is the same for all messages is written once. */
export function compileJson(tree: Json, lookup: Lookup): WriteBody {
  const written = writtenJson(tree, lookup);
  return typeof written === 'function'
    ? (entries) => written(entries, first(entries), undefined) ?? '{}'
    : () => written ?? '{}';
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
      const field = asField(evaluate(key, first(entries), undefined));
      return field === undefined ? [] : texts(entries).map((text) => `${field}=${encode(text)}`);
    };
  });
  return (entries) => written.flatMap((field) => field(entries)).join('&');
}

function asField(name: Json | undefined): string | undefined {
  return name === undefined ? undefined : encode(asText(name));
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
    return listOf(items, `${key}[`, ']', tree.length === 0);
  }
  if (!isMapping(tree)) return key + JSON.stringify(tree);
  if ('$each' in tree) return eachOf(tree, lookup, key);
  if ('$join' in tree) return joinOf(tree, lookup, key);
  if ('$merge' in tree) return mergeOf(tree['$merge'] ?? [], lookup, key);
  return mappingOf(tree, lookup, key);
}

function jsonOf(value: Value, key: string): Written {
  if (!('of' in value)) return value.constant === undefined ? undefined : key + JSON.stringify(value.constant);
  const { of, isPlain = false } = value;
  return (_entries, entry, item) => {
    const found = of(entry, item);
    if (found === undefined) return undefined;
    return isPlain ? `${key}"${found}"` : key + JSON.stringify(found);
  };
}

/** Absent parts are left out, and so is the whole where all of them are absent, unless it was written empty. */
function listOf(parts: readonly Written[], open: string, close: string, isEmpty: boolean): Written {
  if (isEmpty) return open + close;
  const [head, ...rest] = joinConstants(parts);
  if (head === undefined) return undefined;
  const start = typeof head === 'string' ? open + head : null;
  if (start !== null && rest.length === 0) return start + close;
  return (entries, entry, item) => {
    const first = typeof head === 'string' ? undefined : head(entries, entry, item);
    let whole = start ?? (first === undefined ? '' : open + first);
    for (const part of rest) {
      const text = typeof part === 'string' ? part : part(entries, entry, item);
      if (text !== undefined) whole = whole === '' ? open + text : `${whole},${text}`;
    }
    return whole === '' ? undefined : whole + close;
  };
}

function joinConstants(parts: readonly Written[]): readonly (string | Write)[] {
  const joined: (string | Write)[] = [];
  for (const part of parts) {
    if (part === undefined) continue;
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = `${last},${part}`;
    else joined.push(part);
  }
  return joined;
}

function mappingOf(tree: JsonObject, lookup: Lookup, key: string): Written {
  const { $unlessEmpty: needed, ...members } = tree;
  const written = Object.entries(members).map(([name, value]) => memberOf(compileText(name, lookup), value, lookup));
  const whole = listOf(written, `${key}{`, '}', written.length === 0);
  if (typeof needed !== 'string') return whole;
  const there = writtenJson(members[needed] ?? null, lookup);
  if (typeof there !== 'function') return there === undefined ? undefined : whole;
  return (entries, entry, item) => {
    if (there(entries, entry, item) === undefined) return undefined;
    return typeof whole === 'function' ? whole(entries, entry, item) : whole;
  };
}

function memberOf(name: Value, tree: Json, lookup: Lookup): Written {
  if (!('of' in name)) return writtenJson(tree, lookup, `${JSON.stringify(asText(name.constant ?? ''))}:`);
  const value = writtenJson(tree, lookup);
  if (value === undefined) return undefined;
  return (entries, entry, item) => {
    const key = name.of(entry, item);
    const text = typeof value === 'string' ? value : value(entries, entry, item);
    return key === undefined || text === undefined ? undefined : `${JSON.stringify(asText(key))}:${text}`;
  };
}

function eachOf(tree: JsonObject, lookup: Lookup, key: string): Written {
  const items = itemsOf(tree['$each'], lookup);
  const written = writtenJson(tree['$do'] ?? null, lookup);
  if (written === undefined) return undefined;
  const write = typeof written === 'string' ? () => written : written;
  return (entries, entry) => {
    const texts = textsOver(items, entries, entry, (one, item) => write(entries, one, item));
    return texts.length === 0 ? undefined : `${key}[${texts.length === 1 ? texts[0] : texts.join(',')}]`;
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
  const [only] = kept;
  if (kept.length <= 1) return only === undefined ? undefined : writtenJson(only, lookup, key);
  const there = kept.map((part) => writtenJson(part, lookup));
  return (entries, entry, item) => {
    const texts: string[] = [];
    for (const part of there) {
      const text = typeof part === 'function' ? part(entries, entry, item) : part;
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
