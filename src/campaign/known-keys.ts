import { type FileKind, resolveSchema, SCHEMAS, type Schema } from './schemas.ts';

/**
 * Keys of the format that this version cannot carry out yet. They are refused one and all, because a rule that is read
 * over (who must not get a message, when it may go out) does harm. `*` stands for any name.
 */
const NOT_YET: Readonly<Record<FileKind, ReadonlySet<string>>> = {
  campaign: new Set([
    'winner.metric',
    'winner.wait',
    'winner.tie',
    'send.canary.gate.delivered',
    'send.canary.gate.optedOut',
  ]),
  project: new Set(['webhook']),
};

/** Is this key part of the format, but not of this version? */
export function isNotYet(kind: FileKind, path: readonly string[]): boolean {
  if (kind === 'project' && path[0] === 'defaults') return isNotYet('campaign', path.slice(1));
  const known = path[0] === 'environments' ? ['environments', '*', ...path.slice(2)] : path;
  return NOT_YET[kind].has(known.join('.'));
}

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
    for (const [key, inner] of Object.entries(properties)) {
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
