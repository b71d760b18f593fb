import { escapePattern } from '../util/escape.ts';
import { isList, isMapping, type Json, type JsonObject, parseJson } from '../util/json.ts';
import type { AddressForm, NumberForm, RequestFile } from './provider.ts';
import { asText, type Piece, piecesOf } from './text.ts';

/** The addresses in a value of a request; null: the value is not as the file has it. */
type Read = (value: unknown) => readonly string[] | null;

/**
 * Reads the addresses of all recipients from the bytes of a request, in the form of the ledger. Empty where the request
 * cannot be understood: it has a key, an item or an address that the file has not. It knows where addresses are from the
 * file that made the request, and not what made it.
 */
export function createAddressReader(
  { body }: RequestFile,
  kind: AddressForm,
  msisdn: NumberForm,
): (request: string) => readonly string[] {
  const prefix = kind === 'msisdn' ? PREFIX[msisdn] : null;
  const [tree, documentOf] = 'json' in body ? [body.json, parseJson] : [body.form, fieldsOf];
  const read = readerOf(tree, prefix);
  return (request) => read(documentOf(request)) ?? [];
}

/** Before a number that has a `+` in the ledger; null: addresses are as in the ledger. */
type Prefix = string | null;
const PREFIX: Readonly<Record<NumberForm, string>> = { e164: '+', digits: '', '00': '00' };

/** @param number - with its `+` */
export function numberIn(form: NumberForm, number: string): string {
  return PREFIX[form] + number.slice(1);
}

function readerOf(tree: Json, prefix: Prefix): Read {
  if (typeof tree === 'string') return textReader(tree, prefix);
  if (isList(tree)) return listReader(tree, prefix);
  if (!isMapping(tree)) return (value) => (value === tree || value === asText(tree) ? [] : null);
  const { $each, $join, $merge, $do = null, with: between } = tree;
  if ($each !== undefined) return eachReader($do, prefix);
  if ($join !== undefined) {
    const [read, text] = [readerOf($do, prefix), asText(between ?? '')];
    return (value) => (typeof value === 'string' ? all(text === '' ? [value] : value.split(text), read) : null);
  }
  if ($merge === undefined) return mappingReader(tree, prefix, false);
  // Keys of a part that a placeholder brings are not known here.
  const parts = [$merge].flat() as readonly Json[];
  return mappingReader(Object.assign({}, ...parts.filter(isMapping)) as JsonObject, prefix, true);
}

function textReader(text: string, prefix: Prefix): Read {
  const pieces = piecesOf(text) ?? [text];
  if (!pieces.some(isPlaceholder)) return (value) => (asText(value as Json) === text ? [] : null);
  const addresses = pieces.filter(isAddress);
  if (addresses.length === 0) return () => [];
  const source = pieces.map((piece) =>
    !isPlaceholder(piece) ? escapePattern(piece) : isAddress(piece) ? '(.*)' : '.*?',
  );
  const pattern = new RegExp(`^${source.join('')}$`, 's');
  return (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return null;
    // A JSON number has neither `+` nor zeros before it.
    const before = prefix !== null && addresses.some(({ name }) => name === 'to.number') ? '' : prefix;
    const found = pattern.exec(String(value))?.slice(1) ?? [];
    const known = found.filter((one) => before === null || one.startsWith(before));
    if (known.length < addresses.length) return null;
    return before === null ? known : known.map((one) => `+${one.slice(before.length)}`);
  };
}

/** Items may be absent, but they are in the order of the file. */
function listReader(tree: readonly Json[], prefix: Prefix): Read {
  const items = tree.map((item) => readerOf(item, prefix));
  return (value) => {
    let next = 0;
    return all(listed(value), (one) => {
      for (; next < items.length; next += 1) {
        const found = items[next]?.(one) ?? null;
        if (found === null) continue;
        const item = tree[next];
        // In a form, the items of a repetition are items of the list.
        if (!(isMapping(item) && '$each' in item)) next += 1;
        return found;
      }
      return null;
    });
  };
}

/** Each item of a repetition over recipients has the address of its recipient. */
function eachReader(item: Json, prefix: Prefix): Read {
  const read = readerOf(item, prefix);
  const isAddressed = ADDRESSED.test(JSON.stringify(item));
  return (value) =>
    all(listed(value), (one) => {
      const found = read(one);
      return isAddressed && found?.length === 0 ? null : found;
    });
}

/** @param isOpen - it may have further keys */
function mappingReader(tree: JsonObject, prefix: Prefix, isOpen: boolean): Read {
  const members = Object.entries(tree).map(([key, value]) => {
    return { key, keyReader: textReader(key, prefix), reader: readerOf(value, prefix) };
  });
  return (value) => {
    if (!isMapping(value)) return null;
    return all(Object.entries(value), ([key, inner]) => {
      const own = members.filter((one) => one.key === key);
      for (const { keyReader, reader } of own.length > 0 ? own : members) {
        const [inKey, inValue] = [keyReader(key), reader(inner)];
        if (inKey !== null && inValue !== null) return [...inKey, ...inValue];
      }
      return isOpen && own.length === 0 ? [] : null;
    });
  };
}

/** Null where one of them is not as the file has it. */
function all<T>(values: readonly T[] | null, read: (value: T) => readonly string[] | null): readonly string[] | null {
  if (values === null) return null;
  const found: string[] = [];
  for (const value of values) {
    const more = read(value);
    if (more === null) return null;
    found.push(...more);
  }
  return found;
}

/** A field of a form that is there once is a text. */
function listed(value: unknown): readonly unknown[] | null {
  if (isList(value)) return value;
  return typeof value === 'string' ? [value] : null;
}

function isPlaceholder(piece: Piece): piece is Exclude<Piece, string> {
  return typeof piece !== 'string';
}

function isAddress(piece: Piece): piece is Exclude<Piece, string> {
  return isPlaceholder(piece) && (ADDRESS.test(piece.name) || ADDRESS.test(piece.instead ?? ''));
}

const ADDRESS = /^to(?:\.[a-z]+)?$/;
const ADDRESSED = /[{|]to(?:\.[a-z]+)?[}|]/;

/** The fields of a form: a list where a name comes again, as `$each` writes it. */
export function fieldsOf(request: string): JsonObject {
  const fields: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(request)) fields[name] = [...(fields[name] ?? []), value];
  return Object.fromEntries(
    Object.entries(fields).map(([name, all]) => [name, all.length === 1 ? (all[0] ?? '') : all]),
  );
}
