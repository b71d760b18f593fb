import { type FileKind, resolveSchema, SCHEMAS, type Schema } from './schemas.ts';

/**
 * Where else a key is known, as a sentence, or null. A person who writes `rate` at the top meant `send.rate`; one who
 * writes `schedule.at` did not mean a pointer deep inside the settings of webhooks. So a place is only named where it is
 * near the top, or in the same section.
 *
 * @param parent where the key was written
 */
export function belongsElsewhere(kind: FileKind, key: string, parent: readonly string[]): string | null {
  const here = plausible(PLACES[kind].get(key), parent);
  if (here !== null) return here === '' ? 'It belongs at the top level.' : `It belongs under "${here}".`;
  const there = kind === 'campaign' ? plausible(PLACES.project.get(key), parent) : null;
  if (there === null) return null;
  return there === '' ? 'It belongs in handbill.yaml.' : `It belongs in handbill.yaml, under "${there}".`;
}

function plausible(places: readonly Place[] | undefined, [section]: readonly string[]): string | null {
  const found = places?.find((place) => place.filter((key) => key !== 'defaults').length <= 2 || place[0] === section);
  return found === undefined ? null : found.join('.');
}

/** The mapping that a key is in, from the top. */
type Place = readonly string[];

function placesOf(kind: FileKind): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  const visit = (schema: Schema, at: FileKind, path: readonly string[]): void => {
    const found = resolveSchema(schema, at);
    const { properties = {}, additionalProperties } = found.schema;
    // Keys higher up come first; the sandbox has the keys of any environment.
    for (const key of Object.keys(properties)) places.set(key, [...(places.get(key) ?? []), path]);
    // A key of campaigns belongs into the defaults, whatever else has a key of that name.
    const { defaults, ...others } = properties;
    for (const [key, inner] of Object.entries(defaults === undefined ? others : { defaults, ...others })) {
      if (key !== 'sandbox') visit(inner, found.kind, [...path, key]);
    }
    if (typeof additionalProperties === 'object') visit(additionalProperties, found.kind, [...path, '<name>']);
  };
  visit(SCHEMAS[kind], kind, []);
  return places;
}

const PLACES: Readonly<Record<FileKind, ReadonlyMap<string, readonly Place[]>>> = {
  campaign: placesOf('campaign'),
  project: placesOf('project'),
};
