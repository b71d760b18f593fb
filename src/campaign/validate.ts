import type { ErrorObject } from 'ajv';
import { type Diagnostic, problem } from '../errors.ts';
import { isMapping, parsePointer, pointerTo, valueAt } from '../util/json.ts';
import {
  brief,
  type Context,
  dotted,
  type Explained,
  explainApiKey,
  explainMissingKey,
  explainName,
  explainUnknownKey,
  explainValue,
  losesCharacters,
  meantKey,
  unquoted,
} from './explain.ts';
import { type FileKind, resolveSchema, type Schema, validatorOf } from './validators.ts';
import type { CampaignFile, ProjectFile, ProviderFile } from './written.ts';
import { type Place, whereValue, type YamlFile } from './yaml.ts';

/** `value` lacks the parts that violate the schema, so that the rest can be checked. */
export interface Checked<T> {
  readonly value: T;
  /** With list items counted as in `value`, so that its pointers locate further faults. */
  readonly yaml: YamlFile;
  readonly diagnostics: readonly Diagnostic[];
  /** Pointers of wrong values and of misspelt keys: they have been reported, and are not missing. */
  readonly reported: ReadonlySet<string>;
}

interface Files extends Record<FileKind, object> {
  readonly campaign: Partial<CampaignFile>;
  readonly project: ProjectFile;
  readonly provider: Partial<ProviderFile>;
}

export function checkFile<Kind extends FileKind>(kind: Kind, yaml: YamlFile): Checked<Files[Kind]> {
  const context: Context = { kind, yaml };
  const validate = validatorOf(kind);
  const errors = validate(yaml.value) ? [] : namesAsKeys(validate.errors ?? [], kind);
  if (kind === 'project') hideSecrets(errors, yaml);
  if (kind === 'provider') hideLiterals(yaml);
  const unknown = errors.filter((error) => error.keyword === 'additionalProperties');
  const meant = new Set(unknown.map((error) => error.instancePath + pointerTo([meantKey(error) ?? ''])));
  const explained = [...explainAll(errors, meant, yaml, context), ...lostCharacters(kind, yaml)];
  const dropped = new Set(explained.flatMap(({ pointer }) => (pointer === null ? [] : [pointer])));
  return {
    value: (dropped.has('') || !isMapping(yaml.value)
      ? Object.create(null)
      : without(yaml.value, '', dropped)) as Files[Kind],
    yaml: renumbered(yaml, dropped),
    diagnostics: explained.map((e) => e.diagnostic),
    reported: new Set([...dropped, ...meant]),
  };
}

/** Reports a name outside a `propertyNames` list as an unknown key. Ajv reports the name and its value. */
function namesAsKeys(errors: readonly ErrorObject[], kind: FileKind): readonly ErrorObject[] {
  const twice = new Set<string>();
  const keys = errors.map((error): ErrorObject => {
    const { propertyNames } = (error.keyword === 'propertyNames' ? error.parentSchema : {}) as Schema;
    const names = propertyNames === undefined ? undefined : resolveSchema(propertyNames, kind).schema.enum;
    if (names === undefined) return error;
    const name = String(error.params['propertyName']);
    twice.add(`${error.instancePath} ${name}`);
    const parentSchema = { properties: Object.fromEntries(names.map((known) => [String(known), {}])) };
    return { ...error, keyword: 'additionalProperties', params: { additionalProperty: name }, parentSchema };
  });
  const isName = ({ keyword, instancePath, data }: ErrorObject): boolean =>
    keyword === 'enum' && typeof data === 'string' && twice.has(`${instancePath} ${data}`);
  return keys.filter((error) => !isName(error));
}

/**
 * Hides secrets, and values of unknown keys of an environment or of `webhook`, which may be misnamed secrets. Runs
 * before all explanations, because an error elsewhere may show the same line.
 */
function hideSecrets(errors: readonly ErrorObject[], yaml: YamlFile): void {
  const unknown = new Set(errors.filter((error) => error.keyword === 'additionalProperties').map(subjectOf));
  for (const [pointer, { value }] of yaml.places) {
    const secret =
      API_KEY.test(pointer) ||
      LIKE_SECRET.test(pointer) ||
      (/^\/(?:environments|webhook)\//.test(pointer) && unknown.has(pointer));
    if (secret) yaml.text.hide(value[0], value[1]);
  }
}

/** Hides texts where a provider file names its secrets: a literal key may be there. */
function hideLiterals(yaml: YamlFile): void {
  for (const [pointer, { value }] of yaml.places) {
    const text = valueAt(yaml.value, pointer);
    const isPlace = /^\/(?:auth|headers)\/|^\/secrets\/[^/]*(?:\/(?!description$|example$|optional$)[^/]*)?$/.test(
      pointer,
    );
    if (isPlace && !isMapping(text) && !Array.isArray(text) && !String(text).includes('{')) yaml.text.hide(...value);
  }
}

function explainAll(errors: readonly ErrorObject[], meant: ReadonlySet<string>, yaml: YamlFile, context: Context) {
  const explained: Explained[] = [];
  const seen = new Set<string>();
  // A wrong type comes first, because it causes other errors.
  for (const error of [...errors].sort((a, b) => rank(a) - rank(b))) {
    const apiKey = API_KEY.exec(error.instancePath)?.[0];
    const subject = apiKey ?? subjectOf(error);
    if (subject === null || seen.has(subject)) continue;
    seen.add(subject);
    if (apiKey !== undefined) explained.push(explainApiKey(apiKey, valueAt(yaml.value, apiKey), context));
    else if (error.propertyName !== undefined) explained.push(explainName(error, context));
    else if (error.keyword === 'additionalProperties') explained.push(explainUnknownKey(error, context));
    else if (error.keyword !== 'required') explained.push(explainValue(error, context));
    else if (!meant.has(subject)) explained.push(explainMissingKey(error, context));
  }
  return explained;
}

/** The pointer that an error is about; null for an error that only sums up others. */
function subjectOf(error: ErrorObject): string | null {
  if (error.keyword === 'propertyNames') return null;
  if (error.propertyName !== undefined) return error.instancePath + pointerTo([error.propertyName]);
  const key = error.params['additionalProperty'] ?? error.params['missingProperty'];
  return typeof key === 'string' ? error.instancePath + pointerTo([key]) : error.instancePath;
}

function rank(error: ErrorObject): number {
  return error.keyword === 'type' ? 0 : 1;
}

/** Free-form metadata accepts numbers, but a reference without quotes can lose characters as a number. */
function lostCharacters(kind: FileKind, yaml: YamlFile): readonly Explained[] {
  const prefix = kind === 'campaign' ? '/metaData/' : '/defaults/metaData/';
  const explained: Explained[] = [];
  for (const [pointer, { plain }] of yaml.places) {
    if (plain === null || !pointer.startsWith(prefix)) continue;
    const value = valueAt(yaml.value, pointer);
    if (typeof value !== 'number' || !losesCharacters(plain, value)) continue;
    const name = dotted(parsePointer(pointer));
    const diagnostic = problem('unquoted-number', `"${name}" is ${unquoted(plain)}.`, {
      ...whereValue(yaml, pointer),
      hint: `Put it in quotes: "${brief(plain)}"`,
    });
    explained.push({ pointer, diagnostic });
  }
  return explained;
}

/** A value of `vars` whose name is usual for secrets. */
const LIKE_SECRET = /^\/environments\/[^/]*\/vars\/\w*(?:key|token|secret|password)$/i;
const API_KEY =
  /^(?:\/environments\/[^/]*\/(?:apiKey|secrets(?:\/[^/]*)?|webhook\/(?:secrets(?:\/\d+)?|verifyToken))(?=\/|$)|\/suppressionKey)/;

/** The value without the dropped parts; undefined for a list that becomes empty, which is wrong too. */
function without(value: unknown, pointer: string, dropped: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    const left = value.flatMap((item, i) => {
      const inner = `${pointer}/${i}`;
      const kept = dropped.has(inner) ? undefined : without(item, inner, dropped);
      return kept === undefined ? [] : [kept];
    });
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  if (!isMapping(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    const inner = pointer + pointerTo([key]);
    const kept = dropped.has(inner) ? undefined : without(item, inner, dropped);
    if (kept !== undefined) copy[key] = kept;
  }
  return copy;
}

/** The file without dropped list items, so that the others have the same indexes as in the result of `without`. */
function renumbered(yaml: YamlFile, dropped: ReadonlySet<string>): YamlFile {
  if (![...dropped].some((pointer) => /\/\d+$/.test(pointer))) return yaml;
  const places = new Map<string, Place>();
  const visit = (value: unknown, from: string, to: string): unknown => {
    const place = yaml.places.get(from);
    if (place !== undefined) places.set(to, place);
    if (Array.isArray(value)) {
      const items = value.map((item, i) => ({ item, from: `${from}/${i}` }));
      const left = items.filter((one) => !dropped.has(one.from));
      return (left.length === 0 ? items : left).map((one, i) => visit(one.item, one.from, `${to}/${i}`));
    }
    if (!isMapping(value)) return value;
    const copy: Record<string, unknown> = Object.create(null);
    for (const [key, item] of Object.entries(value)) {
      const name = pointerTo([key]);
      copy[key] = visit(item, from + name, to + name);
    }
    return copy;
  };
  return { ...yaml, value: visit(yaml.value, '', ''), places };
}
