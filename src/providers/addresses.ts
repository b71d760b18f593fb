import { isList, isMapping, type Json, type JsonObject, parseJson } from '../util/json.ts';
import type { AddressForm, NumberForm, RequestFile } from './provider.ts';
import { piecesOf } from './text.ts';

/** Keys down to a text; `*`: of every item. */
interface Place {
  readonly path: readonly string[];
  /** Between several addresses in one text; null: there is one. */
  readonly between: string | null;
  /** Lengths of what is before and after an address: `whatsapp:{to}`. */
  readonly before: number;
  readonly after: number;
}

/**
 * Reads the addresses of all recipients from the bytes of a request, in the form of the ledger. Empty where the request
 * cannot be understood. It knows where they are from the file that made the request, and not what made it.
 */
export function createAddressReader(
  { body }: RequestFile,
  kind: AddressForm,
  msisdn: NumberForm,
): (request: string) => readonly string[] {
  const places = placesIn('json' in body ? body.json : body.form, []);
  const documentOf = 'json' in body ? parseJson : fieldsOf;
  const ledgerForm = (text: string): string => (kind === 'msisdn' ? `+${text.replace(PREFIX[msisdn], '')}` : text);
  return (request) => {
    const document = documentOf(request);
    return places.flatMap(({ path, between, before, after }) =>
      textsAt(document, path).flatMap((text) =>
        (between === null ? [text] : text.split(between)).map((one) =>
          ledgerForm(one.slice(before, one.length - after)),
        ),
      ),
    );
  };
}

const PREFIX: Readonly<Record<NumberForm, RegExp>> = { e164: /^\+/, digits: /^/, '00': /^00/ };

function placesIn(tree: Json, path: readonly string[]): readonly Place[] {
  if (typeof tree === 'string') return placeIn(tree, path);
  if (isList(tree)) return tree.flatMap((item) => placesIn(item, [...path, '*']));
  if (!isMapping(tree)) return [];
  const { $each, $join, $do = null, with: between = '' } = tree;
  if ($each !== undefined) return placesIn($do, [...path, '*']);
  if ($join !== undefined) return placesIn($do, path).map((place) => ({ ...place, between: String(between) }));
  return Object.entries(tree).flatMap(([key, inner]) => placesIn(inner, [...path, key]));
}

function placeIn(text: string, path: readonly string[]): readonly Place[] {
  const pieces = piecesOf(text) ?? [];
  const at = pieces.findIndex((piece) => typeof piece !== 'string' && ADDRESS.test(piece.name));
  if (at === -1) return [];
  const lengthOf = (some: typeof pieces): number =>
    some.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0), 0);
  return [{ path, between: null, before: lengthOf(pieces.slice(0, at)), after: lengthOf(pieces.slice(at + 1)) }];
}

const ADDRESS = /^to(?:\.[a-z]+)?$/;

function textsAt(value: unknown, [key, ...rest]: readonly string[]): readonly string[] {
  if (key === undefined) return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  // A field of a form that was repeated once is a text.
  if (key === '*') return [value].flat().flatMap((item: unknown) => textsAt(item, rest));
  return isMapping(value) && Object.hasOwn(value, key) ? textsAt(value[key], rest) : [];
}

/** A list where a name comes again, as `$each` writes it. */
function fieldsOf(request: string): JsonObject {
  const fields: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(request)) fields[name] = [...(fields[name] ?? []), value];
  return Object.fromEntries(
    Object.entries(fields).map(([name, all]) => [name, all.length === 1 ? (all[0] ?? '') : all]),
  );
}
