import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import { isList, isMapping, type Json, type JsonObject } from '../../src/util/json.ts';
import { type Accepts, knownProvider, type RequestExample } from './examples.ts';

/* The bodies that an API takes, by its published description: the examples of requests are, and hardly anything else is. */

const KNOWN = providerNames()
  .filter((name) => name !== 'messages-v2')
  .map(knownProvider);
const FAULTS = ['without', 'with a misspelt', 'with the wrong type of'] as const;

const ajv = new Ajv({ strict: true });

describe.each(KNOWN)('$name', ({ provider, examples: { accepts = {}, requests } }) => {
  const takes = ajv.compile(accepts);
  const bodies = requests.map((request) => bodyOf(request, 'json' in (provider.requests[0]?.body ?? {})));

  it('takes each request of the examples', () => {
    const refused = bodies.filter((body) => !takes(body));
    expect([refused, takes.errors]).toEqual([[], null]);
  });

  it.each(FAULTS)('refuses each request %s field', (fault) => {
    const faulty = bodies.flatMap((body) => faultsOf(body, accepts)).filter(([kind]) => kind === fault);
    expect(faulty.filter(([, , body]) => takes(body)).map(([, field]) => field)).toEqual([]);
    expect(faulty.length).toBeGreaterThan(0);
  });
});

function bodyOf({ body }: RequestExample, isJson: boolean): Json {
  if (isJson) return JSON.parse(body) as Json;
  const fields = Map.groupBy(new URLSearchParams(body), ([name]) => name);
  return Object.fromEntries([...fields].map(([name, all]) => [name, all.length === 1 ? one(all) : all.map(last)]));
}

const one = ([first]: readonly (readonly [string, string])[]): string => first?.[1] ?? '';
const last = ([, value]: readonly [string, string]): string => value;

/** A kind of fault, the field, and the whole value with this fault: at each place, and one at a time. */
type Fault = readonly [(typeof FAULTS)[number], string, Json];

function faultsOf(value: Json, schema: Accepts): readonly Fault[] {
  const chosen = schema.type === undefined ? schema.anyOf?.find((inner) => ajv.validate(inner, value)) : undefined;
  if (chosen !== undefined) return faultsOf(value, chosen);
  const { required = [], properties = {}, additionalProperties, items } = schema;
  if (isList(value)) {
    const inner = value[0] === undefined || items === undefined ? [] : faultsOf(value[0], items);
    return inner.map(([kind, field, faulty]) => [kind, `0/${field}`, [faulty, ...value.slice(1)]]);
  }
  if (!isMapping(value)) return [];
  const missing = required.map((key): Fault => ['without', key, omit(value, key)]);
  const misspelt = additionalProperties === false ? Object.keys(value).filter((key) => key in properties) : [];
  const extra = misspelt.map((key): Fault => ['with a misspelt', key, { ...value, [`${key}_`]: value[key] ?? null }]);
  const within = Object.entries(properties).flatMap(([key, inner]): readonly Fault[] => {
    const old = value[key];
    if (old === undefined) return [];
    const deeper = faultsOf(old, inner).map(([kind, field, faulty]): Fault => {
      return [kind, `${key}/${field}`, { ...value, [key]: faulty }];
    });
    return [['with the wrong type of', key, { ...value, [key]: isMapping(old) ? 'text' : { text: old } }], ...deeper];
  });
  return [...missing, ...extra, ...within];
}

function omit(value: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}
