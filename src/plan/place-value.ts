import type { Json, JsonObject } from '../model.ts';

/**
 * A copy of a document with a value at a place; what is missing on the way is made, as mappings. The place is one that
 * `wire.content` may name: inside `/body`, `/metaData` or a recipient.
 */
export function withValueAt(document: JsonObject, place: readonly string[], value: Json): JsonObject {
  const [name, ...rest] = place;
  if (name === undefined) return value as JsonObject;
  const inner = Object.hasOwn(document, name) ? document[name] : undefined;
  if (rest.length === 0) return { ...document, [name]: value };
  if (Array.isArray(inner)) return { ...document, [name]: inItems(inner, rest, value) };
  return { ...document, [name]: withValueAt(isMapping(inner) ? inner : {}, rest, value) };
}

/** In a list the place means every item: each recipient gets the content. */
function inItems(items: readonly Json[], [, ...rest]: readonly string[], value: Json): readonly Json[] {
  return items.map((item) => (isMapping(item) ? withValueAt(item, rest, value) : item));
}

function isMapping(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Makes the function that gives other names to keys, however deep they are. */
export function renamed(names: Readonly<Record<string, string>>): (value: Json) => Json {
  const rename = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(rename);
    if (!isMapping(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        Object.hasOwn(names, key) ? (names[key] ?? key) : key,
        rename(inner),
      ]),
    );
  };
  return rename;
}

/**
 * A name that two keys of one mapping would have after they got other names, so that one of them would be lost; null
 * where there is none.
 */
export function clashIn(value: Json, names: Readonly<Record<string, string>>): string | null {
  if (Array.isArray(value)) return firstClash(value, names);
  if (!isMapping(value)) return null;
  const seen = new Set<string>();
  for (const key of Object.keys(value)) {
    const name = Object.hasOwn(names, key) ? (names[key] ?? key) : key;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return firstClash(Object.values(value), names);
}

function firstClash(values: readonly Json[], names: Readonly<Record<string, string>>): string | null {
  for (const value of values) {
    const clash = clashIn(value, names);
    if (clash !== null) return clash;
  }
  return null;
}
