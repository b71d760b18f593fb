import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Diagnostic, problem } from '../errors.ts';
import type { AnswerRule, Provider, ValueSpec } from '../providers/provider.ts';
import { displayPath, findFileInside, fromRoot, readSmallFile } from '../util/paths.ts';
import { didYouMean } from '../util/suggest.ts';
import { checkMeaning } from './check-provider.ts';
import { checkFile } from './validate.ts';
import type { ProviderFile } from './written.ts';
import { MAX_YAML_BYTES, readYaml } from './yaml.ts';

export const DEFAULT_PROVIDER = 'messages-v2';

/** The same path from `src/campaign/` and from a chunk of `dist/`. */
const FOLDER = fileURLToPath(new URL('../providers/', import.meta.url));

/** Names of the providers that come with handbill, in the order of the alphabet. */
export function providerNames(): readonly string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml') && !file.endsWith('.examples.yaml'));
  return files.map((file) => file.slice(0, -'.yaml'.length)).sort();
}

/** The examples of a provider that comes with handbill. */
export function examplesOf(name: string): string {
  return `${FOLDER}${name}.examples.yaml`;
}

/** A provider, and how its answers are read: `wire` of an environment goes over that. */
export interface ReadProvider {
  readonly provider: Provider;
  readonly reading: ReturnType<typeof readingOf>;
}

type Read = ReadProvider | { readonly diagnostics: readonly Diagnostic[] };

/**
 * The provider that an environment names: one of handbill's, or a file of the project.
 * @param root - real path of the project's root; paths of provider files are relative to it and stay inside
 * @param where - of its name, for problems
 */
export function readProvider(written: string, root: string, cwd: string, where: Partial<Diagnostic>): Read {
  if (!/[/\\.]/.test(written)) {
    const names = providerNames();
    if (names.includes(written)) return builtIn(written);
    const hint = didYouMean(written, names).hint ?? `handbill knows ${names.join(', ')}; a path names a file of yours.`;
    return { diagnostics: [problem('invalid-value', `There is no provider "${written}".`, { ...where, hint })] };
  }
  const found = findFileInside(root, root, written);
  if ('fault' in found) return { diagnostics: [{ ...found.fault, ...where }] };
  const file = displayPath(found.path, cwd);
  const read = readSmallFile(found.path, MAX_YAML_BYTES, file);
  if ('fault' in read) return { diagnostics: [{ ...read.fault, ...where }] };
  const parsed = parseProvider(written, read.bytes, file);
  if (!('provider' in parsed)) return parsed;
  const input = {
    role: 'provider',
    file: fromRoot(root, found.path),
    sha256: hash('sha256', read.bytes, 'hex'),
  } as const;
  return { ...parsed, provider: { ...parsed.provider, input } };
}

/**
 * One that comes with handbill. Its file is not checked again at each start, which would cost half of it: a test does. The
 * build writes it as JSON too: two files of YAML took a twentieth of a start.
 */
export function builtIn(name: string): ReadProvider {
  const known = BUILT_IN.get(name);
  if (known !== undefined) return known;
  const [json, yaml] = [`${FOLDER}${name}.json`, `${name}.yaml`];
  const file = existsSync(json)
    ? (JSON.parse(readFileSync(json, 'utf8')) as unknown)
    : readYaml(readFileSync(FOLDER + yaml), yaml).yaml?.value;
  const read = compiled(file as ProviderFile, name);
  BUILT_IN.set(name, read);
  return read;
}

/** Read once a process: `due` reads the environments of every campaign. */
const BUILT_IN = new Map<string, ReadProvider>();

/** Checks a provider file. `name`: as an environment names it. */
export function parseProvider(name: string, bytes: Uint8Array, file: string): Read {
  const { yaml, diagnostics } = readYaml(bytes, file);
  if (yaml === null) return { diagnostics };
  const checked = checkFile('provider', yaml);
  const wrong = [...checked.diagnostics, ...checkMeaning(checked)];
  return wrong.length > 0 ? { diagnostics: wrong } : compiled(checked.value as ProviderFile, name);
}

function compiled(file: ProviderFile, name: string): ReadProvider {
  return { provider: providerOf(file, name), reading: readingOf(file) };
}

function providerOf(file: ProviderFile, name: string): Provider {
  const { characterSets, limits = {} } = file;
  const wordOf = (word: string | number | null | undefined): string | null => (word == null ? null : String(word));
  return {
    name,
    title: file.title,
    input: null,
    vars: specsOf(file.vars),
    secrets: specsOf(file.secrets),
    url: file.url,
    auth: (file.auth ?? null) as Provider['auth'],
    headers: file.headers ?? {},
    msisdn: file.msisdn ?? 'e164',
    channels: file.channels,
    characterSets: {
      auto: wordOf(characterSets?.auto),
      gsm: wordOf(characterSets?.gsm),
      unicode: wordOf(characterSets?.unicode),
    },
    messageTypes: file.messageTypes ?? {},
    senders: file.senders ?? {},
    alphanumericReference: file.reference?.alphabet === 'alphanumeric',
    requests: file.requests.map(({ channels, kind, address, url, json, form }) => ({
      channels: channels ?? null,
      kind: kind ?? null,
      address: address ?? null,
      url: url ?? null,
      body: form === undefined ? { json: json ?? {} } : { form },
    })),
    needs: file.needs ?? [],
    limits: {
      recipients: limits.recipients ?? 1,
      text: limits.text ?? null,
      validity: (limits.validity ?? null) as Provider['limits']['validity'],
    },
  };
}

function readingOf({ response, answers, idempotency, webhook = {}, reports = {} }: ProviderFile) {
  const idempotencyHeader = idempotency?.header ?? null;
  return { response, answers: rulesOf(answers), idempotencyHeader, events: { webhook, reports } };
}

function specsOf(written: ProviderFile['vars'] = {}): Provider['vars'] {
  const entries = Object.entries(written).map(([name, { description, example = null, optional = false }]) => {
    return [name, { description, example, optional } satisfies ValueSpec] as const;
  });
  return Object.fromEntries(entries);
}

export function rulesOf(written: ProviderFile['answers'] = []): readonly AnswerRule[] {
  return written.map(({ status, codeAt = null, code = [], textAt = null, text = null, then }) => {
    const statuses = status === undefined ? null : [status].flat();
    return { statuses, codeAt, codes: code.map(String), textAt, text, verdict: then };
  });
}
