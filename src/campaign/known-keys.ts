import { type FileKind, resolveSchema, SCHEMAS, type Schema } from './schemas.ts';

/** Where else a key is known, as a sentence, or null. Somebody who writes `rate` at the top meant `send.rate`. */
export function belongsElsewhere(kind: FileKind, key: string): string | null {
  const here = PLACES[kind].get(key);
  if (here !== undefined) return here === '' ? 'It stands at the top level.' : `It belongs under "${here}".`;
  const there = kind === 'campaign' ? PLACES.project.get(key) : undefined;
  if (there === undefined) return null;
  return there === '' ? 'It belongs in handbill.yaml.' : `It belongs in handbill.yaml, under "${there}".`;
}

function placesOf(kind: FileKind): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const visit = (schema: Schema, at: FileKind, path: readonly string[]): void => {
    const found = resolveSchema(schema, at);
    const { properties = {}, additionalProperties } = found.schema;
    // What stands higher up comes first; the sandbox has the keys of any environment.
    for (const key of Object.keys(properties)) if (!places.has(key)) places.set(key, path.join('.'));
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

const PLACES: Readonly<Record<FileKind, ReadonlyMap<string, string>>> = {
  campaign: placesOf('campaign'),
  project: placesOf('project'),
};
