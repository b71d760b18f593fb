import type { ErrorObject } from 'ajv';
import { type Code, type Diagnostic, problem } from '../errors.ts';
import { parsePointer, pointerTo } from '../util/json.ts';
import { onDemand } from '../util/on-demand.ts';
import { didYouMean, nearest } from '../util/suggest.ts';
import { shortened } from '../util/words.ts';
import { eachKind, type FileKind, resolveSchema, SCHEMAS, type Schema } from './validators.ts';
import { whereKey, whereValue, type YamlFile } from './yaml.ts';

export interface Explained {
  readonly diagnostic: Diagnostic;
  /** The value to drop so that the rest matches the schema; null when something is missing. */
  readonly pointer: string | null;
}

export interface Context {
  readonly kind: FileKind;
  readonly yaml: YamlFile;
}

export function explainUnknownKey(error: ErrorObject, context: Context): Explained {
  const key = String(error.params['additionalProperty']);
  const parent = parsePointer(error.instancePath);
  const pointer = error.instancePath + pointerTo([key]);
  const where = whereKey(context.yaml, pointer);
  const owner = parent.length > 0 ? `"${dotted(parent)}"` : ROOT[context.kind];
  const message = `"${brief(key)}" is not a key of ${owner}.`;
  return {
    pointer,
    diagnostic: problem('unknown-key', message, { ...where, ...adviceForKey(key, parent, error, context) }),
  };
}

function adviceForKey(
  key: string,
  parent: readonly string[],
  error: ErrorObject,
  context: Context,
): { readonly hint?: string } {
  if (parent[0] === 'environments' && parent[1] === 'sandbox' && (key === 'baseUrl' || key === 'apiKey')) {
    return { hint: 'The sandbox has its own address and key. Give an API its own environment.' };
  }
  if (context.kind === 'provider' && parent[0] === 'secrets' && (key === 'env' || key === 'file')) {
    return { hint: 'An environment of handbill.yaml says where the secret is, and this file what it is.' };
  }
  if (key === '<<') return { hint: 'Merge keys are not part of YAML 1.2. Repeat what you need.' };
  const called = calledHere(error);
  if (called !== null) return { hint: `It is called "${called}" here${HOW_TO_WRITE.get(called) ?? ''}.` };
  const value = (error.data as Readonly<Record<string, unknown>> | undefined)?.[key];
  const here = plausible(PLACES[context.kind]().get(key), parent, value);
  if (here !== null) return { hint: here === '' ? 'It belongs at the top level.' : `It belongs under "${here}".` };
  const known = knownKeys(error);
  const meant = key.length > MAX_SHOWN ? {} : didYouMean(key, known);
  const there = context.kind === 'campaign' ? plausible(PLACES.project().get(key), parent, value) : null;
  if (there !== null) {
    const elsewhere = `It belongs in handbill.yaml${there === '' ? '' : `, under "${there}"`}.`;
    return { hint: meant.hint === undefined ? elsewhere : `${meant.hint} As for "${key}": ${elsewhere}` };
  }
  return meant.hint !== undefined || known.length === 0 ? meant : { hint: `Known keys: ${known.join(', ')}.` };
}

/** The key that an unknown one probably means: it is not reported as missing as well. */
export function meantKey(error: ErrorObject): string | null {
  const key = String(error.params['additionalProperty']);
  return key.length > MAX_SHOWN ? null : (calledHere(error) ?? nearest(key, knownKeys(error)));
}

/** The key that other tools call by this word, if the mapping has it; else null. */
function calledHere(error: ErrorObject): string | null {
  const known = knownKeys(error);
  return OTHER_WORDS.get(String(error.params['additionalProperty']))?.find((key) => known.includes(key)) ?? null;
}

const OTHER_WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['sender', ['from']],
  ['body', ['template', 'json']],
  ['bearer', ['header']],
  ['message', ['template']],
  ['list', ['recipients', 'csv']],
  ['file', ['csv']],
  ['path', ['csv']],
]);

const HOW_TO_WRITE: ReadonlyMap<string, string> = new Map([
  ['header', ': `header: { Authorization: "Bearer {secret.token}" }`'],
  ['template', ': the name of a file, or `template: { text: "Hi {{name}}" }`'],
]);

export function explainMissingKey(error: ErrorObject, context: Context): Explained {
  const key = String(error.params['missingProperty']);
  const path = parsePointer(error.instancePath);
  const example = exampleOf(schemaOf(error).properties?.[key]);
  const within = path.length > 0 ? ` in "${dotted(path)}"` : '';
  return {
    pointer: null,
    diagnostic: problem('missing-key', `"${key}" is missing${within}.`, {
      ...(path.length > 0 ? whereKey(context.yaml, error.instancePath) : whereValue(context.yaml, '')),
      ...(example === null ? {} : { hint: `For example: ${key}: ${example}` }),
    }),
  };
}

export function explainName(error: ErrorObject, context: Context): Explained {
  const key = String(error.propertyName);
  const pointer = error.instancePath + pointerTo([key]);
  const hint = schemaOf(error).patternErrorMessage;
  return {
    pointer,
    diagnostic: problem('invalid-value', `"${brief(key)}" cannot be a name here.`, {
      ...whereKey(context.yaml, pointer),
      hint,
    }),
  };
}

/** For secrets. Neither the message nor the line repeats the value. */
export function explainApiKey(pointer: string, value: unknown, context: Context): Explained {
  const { subject, path, example, noun } = keyNames(pointer);
  const where = whereValue(context.yaml, pointer);
  const hint = `Write ${example} and put the ${noun} into that variable, or { file: PATH }.`;
  // A list of secrets is correct; its length is wrong.
  if (Array.isArray(value) && SECRETS.test(pointer)) {
    const message = value.length === 0 ? `"${path}" is an empty list.` : `"${path}" holds more than 10 items.`;
    return { pointer, diagnostic: problem('invalid-value', message, { ...where, hint }) };
  }
  const written = value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  const isNames = OF_PROVIDER.test(pointer) && (written !== null || Array.isArray(value));
  const literal = value !== null && !isNames && (written === null || isNoVariable(Reflect.get(written, 'env')));
  const [code, message]: [Code, string] = literal
    ? ['literal-key', `${subject} is written into the file, or is not the name of a variable.`]
    : value === null
      ? ['wrong-type', `"${path}" is empty.`]
      : SECRETS.test(pointer)
        ? ['wrong-type', `"${path}" must be a list.`]
        : isNames
          ? ['wrong-type', `"${path}" must be a mapping, with the names that the provider has for its secrets.`]
          : ['invalid-value', `"${path}" takes either "env" or "file", and nothing else.`];
  const replace = literal ? ` A ${noun} that was committed must be replaced.` : '';
  return { pointer, diagnostic: problem(code, message, { ...where, hint: `${hint}${replace}` }) };
}

const SECRETS = /^\/environments\/[^/]*\/webhook\/secrets$/;
const OF_PROVIDER = /^\/environments\/[^/]*\/secrets$/;

function keyNames(pointer: string) {
  const segments = parsePointer(pointer);
  const [first, name = '', key, secret] = segments;
  if (key === 'webhook') {
    const isToken = segments[3] === 'verifyToken';
    const example = isToken
      ? 'verifyToken: { env: HANDBILL_VERIFY_TOKEN }'
      : 'secrets: [{ env: HANDBILL_WEBHOOK_SECRET }]';
    return { subject: 'A secret of webhooks', path: dotted(segments), example, noun: 'secret' };
  }
  if (first === 'suppressionKey') {
    const example = 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }';
    return { subject: 'The suppression key', path: first, example, noun: 'key' };
  }
  if (key === 'secrets') {
    // A name that cannot be one may be the secret.
    const isName = secret !== undefined && /^(?!(?:env|file)$)[a-z][A-Za-z0-9]{0,31}$/.test(secret);
    const [path, shown] = isName ? [dotted(segments), secret] : [dotted(segments.slice(0, 3)), 'token'];
    const example = `secrets: { ${shown}: { env: ${shown.toUpperCase()} } }`;
    return { subject: `A secret of "${brief(name)}"`, path, example, noun: 'secret' };
  }
  const path = `environments.${brief(name)}.apiKey`;
  const example = 'apiKey: { env: HANDBILL_API_KEY }';
  return { subject: `The API key of "${brief(name)}"`, path, example, noun: 'key' };
}

/** As in the schema. A key from `openssl rand -hex` can begin with a letter, and then looks like a name. */
function isNoVariable(env: unknown): boolean {
  return typeof env === 'string' && !/^(?![\dA-Fa-f]{32,}$)[A-Za-z_]\w{0,127}$/.test(env);
}

export function explainValue(error: ErrorObject, context: Context): Explained {
  const pointer = error.instancePath;
  const where = whereValue(context.yaml, pointer);
  const name = pointer === '' ? 'The file' : `"${dotted(parsePointer(pointer))}"`;
  const { code, message, hint } =
    error.keyword === 'type' ? wrongType(error, name, context) : wrongValue(error, name, context);
  return { pointer, diagnostic: problem(code, message, { ...where, hint }) };
}

interface Verdict {
  readonly code: Code;
  readonly message: string;
  readonly hint?: string | undefined;
}

function wrongType(error: ErrorObject, name: string, context: Context): Verdict {
  const types = [error.params['type'] as string | readonly string[]].flat();
  const key = parsePointer(error.instancePath).at(-1) ?? '';
  const { data } = error;
  if (data === null) {
    const hint = error.instancePath === '' ? EMPTY_FILE[context.kind] : 'Write a value, or remove the key.';
    return { code: 'wrong-type', message: `${name} is empty.`, hint };
  }
  const schema = schemaOf(error);
  const written = context.yaml.places.get(error.instancePath)?.plain ?? null;
  if (written !== null && types.includes('string') && quotingHelps(schema, written)) {
    const hint = `Put it in quotes: ${/^\d+$/.test(key) ? '-' : `${brief(key)}:`} "${brief(written)}"`;
    if (typeof data === 'number' && (IDENTIFIERS.has(key) || losesCharacters(written, data))) {
      return { code: 'unquoted-number', message: `${name} is ${unquoted(written)}.`, hint };
    }
    return { code: 'wrong-type', message: `${name} must be text, but is ${TYPES[typeof data] ?? 'a value'}.`, hint };
  }
  const wanted = types.map((type) => TYPES[type] ?? type).join(' or ');
  const is = Array.isArray(data) ? 'a list' : (TYPES[typeof data] ?? 'a value');
  const example = exampleOf(schema);
  const hint =
    braced(data) ??
    schema.patternErrorMessage ??
    (example === null || key === '' ? undefined : `For example: ${key}: ${example}`);
  return { code: 'wrong-type', message: `${name} must be ${wanted}, but is ${is}.`, hint };
}

/** `{to}` without quotes is a mapping in YAML, with a key and no value. */
function braced(data: unknown): string | undefined {
  const [[key, value] = [], ...more] = Object.entries(data ?? {});
  return key !== undefined && value === null && more.length === 0 ? `Put it in quotes: "{${brief(key)}}"` : undefined;
}

/** `rate: 50` would be as wrong in quotes, and so would `stopEnds: true`. */
function quotingHelps(schema: Schema, written: string): boolean {
  if (schema.enum !== undefined && !schema.enum.includes(written)) return false;
  return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(written);
}

/** Phone numbers, senders, references, ids: never meant as numbers. */
const IDENTIFIERS = new Set(['from', 'accountReference', 'id', 'to', 'key']);

/** As a number, the text would lose a plus, leading zeros, or digits beyond a number's precision. */
export function losesCharacters(written: string, value: number): boolean {
  return /^\+|^-?0\d/.test(written) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

export function unquoted(written: string): string {
  const lost = written.startsWith('+')
    ? ', and would lose its +'
    : /^-?0\d/.test(written)
      ? ', and would lose its leading 0'
      : /^-?\d+$/.test(written) && !Number.isSafeInteger(Number(written))
        ? ', and would lose its last digits'
        : '';
  return `written as a number, ${brief(written)}${lost}`;
}

function wrongValue(error: ErrorObject, name: string, context: Context): Verdict {
  const { keyword, params } = error;
  // As in the file: `1e3` and `0x10`, not 1000 and 16.
  const data =
    typeof error.data === 'number'
      ? brief(context.yaml.places.get(error.instancePath)?.plain ?? String(error.data))
      : error.data;
  const schema = schemaOf(error);
  const invalid = (message: string, hint?: string): Verdict => ({ code: 'invalid-value', message, hint });
  const limit = String(params['limit']);
  switch (keyword) {
    case 'enum': {
      const allowed = (params['allowedValues'] as readonly unknown[]).map(String);
      const value = brief(String(data));
      const hint = didYouMean(value, allowed).hint ?? `It is one of: ${allowed.join(', ')}.`;
      return invalid(`${name} cannot be "${value}".`, hint);
    }
    case 'pattern':
      return invalid(`${name} cannot be "${brief(String(data))}".`, schema.patternErrorMessage);
    case 'minLength':
      return invalid(data === '' ? `${name} is empty.` : `${name} needs at least ${limit} characters.`);
    case 'maxLength':
      return invalid(`${name} is longer than ${limit} character${limit === '1' ? '' : 's'}.`);
    case 'minimum':
      return invalid(`${name} must be at least ${limit}, but is ${data}.`);
    case 'maximum':
      return invalid(`${name} must be at most ${limit}, but is ${data}.`);
    case 'minProperties':
      return { code: 'missing-key', message: `${name} needs one of ${keysOf(schema)}.` };
    case 'maxProperties':
      return invalid(`${name} takes only one of ${keysOf(schema)}.`);
    case 'minItems':
      return { ...invalid(`${name} is an empty list.`), hint: fillOrRemove(error.instancePath, schema) };
    case 'maxItems':
      return invalid(`${name} holds more than ${limit} items.`);
    case 'uniqueItems':
      return invalid(`${name} holds the same value twice.`);
    default:
      return invalid(`${name} is not allowed.`);
  }
}

function fillOrRemove(pointer: string, schema: Schema): string {
  const key = parsePointer(pointer).at(-1) ?? '';
  const example = exampleOf(schema);
  return example === null || /^\d*$/.test(key)
    ? 'Write at least one value, or remove it.'
    : `Write at least one, for example ${brief(key)}: ${example}, or remove the key.`;
}

function keysOf(schema: Schema): string {
  return Object.keys(schema.properties ?? {})
    .map((key) => `"${key}"`)
    .join(', ');
}

function knownKeys(error: ErrorObject): readonly string[] {
  return Object.keys(schemaOf(error).properties ?? {});
}

function schemaOf(error: ErrorObject): Schema {
  return (error.parentSchema ?? {}) as Schema;
}

function exampleOf(schema: Schema | undefined): string | null {
  const text = flowOf(schema?.examples?.[0]);
  return text !== null && text.length <= MAX_EXAMPLE ? text : null;
}

function flowOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return /^[A-Za-z][\w./-]*$|^\d+[a-z/%]+$/.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return joined(value.map(flowOf), '[', ']');
  if (value === null || typeof value !== 'object') return null;
  const entries = Object.entries(value).map(([key, inner]) => [key, flowOf(inner)] as const);
  return joined(
    entries.map(([key, inner]) => (inner === null ? null : `${key}: ${inner}`)),
    '{ ',
    ' }',
  );
}

function joined(parts: readonly (string | null)[], open: string, close: string): string | null {
  return parts.includes(null) ? null : `${open}${parts.join(', ')}${close}`;
}

/** `/wire/response/messageId/0` is `wire.response.messageId[0]`. */
export function dotted(segments: readonly string[]): string {
  return segments.map((s, i) => (/^\d+$/.test(s) ? `[${s}]` : `${i > 0 ? '.' : ''}${brief(s)}`)).join('');
}

export function brief(text: string): string {
  return shortened(text.replace(/(:\/\/)[^/\s@]+@/g, '$1…@'), MAX_SHOWN);
}

const MAX_SHOWN = 60;
const MAX_EXAMPLE = 80;
const ROOT: Readonly<Record<FileKind, string>> = {
  campaign: 'a campaign',
  project: 'handbill.yaml',
  provider: 'a provider file',
};
const EMPTY_FILE: Readonly<Record<FileKind, string>> = {
  campaign: 'A campaign begins with its name: `name: hello`.',
  project: 'Write at least one key, or remove the file.',
  provider: 'A provider file begins with its title: `title: Our gateway`.',
};
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
};

/**
 * The likely place of a misplaced key, or null. A person who writes `rate` at the top means `send.rate`, but with
 * `schedule.sender` does not mean a deep setting of webhooks. So the place must accept this type, and be in the same
 * section, in a section of that name, above, or near the top for a key near the top.
 */
function plausible(places: readonly Place[] | undefined, parent: readonly string[], value: unknown): string | null {
  const depth = (path: readonly string[]): number => path.filter((key) => key !== 'defaults').length;
  const found = places?.find(
    ({ path, types }) =>
      (path.length === 0 || [path[0], path.at(-1)].includes(parent[0]) || (depth(parent) <= 1 && depth(path) <= 2)) &&
      (types.length === 0 || typesOf(value).some((type) => types.includes(type))),
  );
  return found === undefined ? null : found.path.join('.');
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

interface Place {
  readonly path: readonly string[];
  /** Types of its values; empty: any. */
  readonly types: readonly string[];
}

function placesOf(kind: FileKind): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  const visit = (schema: Schema, at: FileKind, path: readonly string[]): void => {
    const found = resolveSchema(schema, at);
    const { properties = {}, additionalProperties } = found.schema;
    // Keys higher up come first; the sandbox has the keys of any environment.
    for (const [key, inner] of Object.entries(properties)) {
      const types = [resolveSchema(inner, found.kind).schema.type ?? []].flat();
      places.set(key, [...(places.get(key) ?? []), { path, types }]);
    }
    // A key of campaigns belongs into the defaults, whatever else has a key of that name.
    const { defaults, ...others } = properties;
    for (const [key, inner] of Object.entries(defaults === undefined ? others : { defaults, ...others })) {
      if (key !== 'sandbox') visit(inner, found.kind, [...path, key]);
    }
    if (typeof additionalProperties === 'object') visit(additionalProperties, found.kind, [...path, '<name>']);
  };
  visit(SCHEMAS[kind](), kind, []);
  return places;
}

const PLACES = eachKind((kind) => onDemand(() => placesOf(kind)));
