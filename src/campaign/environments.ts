import { basename, extname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Code, type Diagnostic, problem } from '../errors.ts';
import type { Approval, Environment, Project, Signer, SignerSource, StandingRule, Wire } from '../model.ts';
import type { Provider } from '../providers/provider.ts';
import { fillUrl, needsBaseUrl, originOf } from '../providers/url.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { isList, pointerTo } from '../util/json.ts';
import { readSshKey } from '../util/ssh-key.ts';
import { didYouMean, nearest } from '../util/suggest.ts';
import { DAY_MS } from '../util/time.ts';
import { microsOf } from '../util/units.ts';
import { checkAnswers } from './check-provider.ts';
import { checkCountry, checked, checkRate, checkTime, YEAR_MS } from './check-values.ts';
import { DEFAULT_WIRE } from './defaults.ts';
import { builtIn, DEFAULT_PROVIDER, type ReadProvider, rulesOf } from './read-provider.ts';
import { keySource, readWebhook, sharedSecrets } from './read-webhook.ts';
import type { EnvironmentFile, ProjectFile, SignersFile, WireFile } from './written.ts';
import { whereKey, whereValue, type YamlFile } from './yaml.ts';

/** Every project has this environment: the API on this machine. Its address is known once it has started. */
const SANDBOX = 'sandbox';
const AT_SANDBOX: At = { baseUrl: 'http://sandbox.invalid', url: 'http://sandbox.invalid/v2/messages' };

/**
 * The environments of a project, with the sandbox. Checks beyond the schema: base URL, proxy, header name.
 * @param folder - real path of the folder of handbill.yaml, for key files
 * @param providers - by the name of the environment; absent where it names none, or a wrong one
 * @param reported - pointers of values that have been reported, and are not missing
 */
export function readEnvironments(
  file: ProjectFile,
  yaml: YamlFile | null,
  folder: string,
  providers: ReadonlyMap<string, ReadProvider>,
  reported: ReadonlySet<string> = new Set(),
): { readonly environments: ReadonlyMap<string, Environment>; readonly diagnostics: readonly Diagnostic[] } {
  const environments = new Map<string, Environment>();
  const diagnostics: Diagnostic[] = [];
  const standard = builtIn(DEFAULT_PROVIDER);
  const whereIn = (name: string, path: Parameters<WhereOf>[0]) =>
    yaml === null ? {} : whereValue(yaml, pointerTo(['environments', name, ...path]));
  const written = { [SANDBOX]: {}, ...file.environments } as Readonly<Record<string, Partial<EnvironmentFile>>>;
  const rank = ({ standsInFor }: Partial<EnvironmentFile>): number => (standsInFor === undefined ? 0 : 1);
  const inOrder = Object.entries(written).sort(([, a], [, b]) => rank(a) - rank(b));
  for (const [name, environment] of inOrder) {
    const whereOf: WhereOf = (path) => whereIn(name, path);
    const report: Report = (path, code, message, hint) => {
      const asked = ['environments', name, ...[path].flat()];
      const isKnown = code === 'missing-key' && asked.some((_, i) => reported.has(pointerTo(asked.slice(0, i + 1))));
      if (isKnown) return null;
      const where = code === 'unknown-key' && yaml !== null ? whereKey(yaml, pointerTo(asked)) : whereOf([path].flat());
      diagnostics.push(problem(code, message, { ...where, hint }));
      return null;
    };
    const rules = pointerTo(['environments', name, 'wire', 'answers']);
    checkAnswers(environment.wire?.answers, rules, reported, (path, message, hint) => {
      report(['wire', 'answers', ...path], 'invalid-value', message, hint);
    });
    const original = originalOf(name, written, environments, report);
    const own = original === null ? environment : ownOf(name, environment, original, written, report);
    const approval = name === SANDBOX ? null : readApproval(own, folder, whereOf, report);
    const { clean = false, branch = null } = own.git ?? {};
    const branches = branch === null ? null : [branch].flat();
    // Like the approvers, the rule about the commit is in handbill.yaml only.
    const git = own.git === undefined ? null : { clean, branches, where: whereOf(['git']) };
    refuseFiles(own.redirect, report);
    const fence = readFence(own, folder, whereOf);
    const provider = providers.get(name);
    const isWrong = own.provider !== undefined || reported.has(pointerTo(['environments', name, 'provider']));
    // A provider that is wrong has been reported; nothing says what it asks for.
    const ofProvider: Report = provider === undefined && isWrong ? () => null : report;
    const used = provider ?? standard;
    for (const secret of Object.keys(used.provider.secrets)) {
      const place = yaml?.places.get(pointerTo(['environments', name, 'vars', secret]))?.value;
      if (place !== undefined && !Object.hasOwn(used.provider.vars, secret)) yaml?.text.hide(...place);
    }
    const read = { ...readEnvironment(name, own, used, folder, report, ofProvider), ...fence, approval, git };
    environments.set(name, original === null ? read : standIn(read, original));
  }
  const sources = ({ webhook }: Environment) => webhook.receiver?.secrets.map((one) => JSON.stringify(one)) ?? [];
  const secrets = new Map([...environments].map(([name, environment]) => [name, sources(environment)]));
  diagnostics.push(...sharedSecrets(secrets, (name) => whereIn(name, ['webhook', 'secrets'])));
  return { environments, diagnostics };
}

type Written = Readonly<Record<string, Partial<EnvironmentFile>>>;

/** The original of a stand-in; null: it is no stand-in, or its original is refused. */
function originalOf(name: string, written: Written, environments: ReadonlyMap<string, Environment>, report: Report) {
  const asked = written[name]?.standsInFor;
  if (asked === undefined) return null;
  const refused = (message: string, hint: string): null => {
    report('standsInFor', 'invalid-value', message, hint);
    return null;
  };
  const original = Object.hasOwn(written, asked) ? written[asked] : undefined;
  if (original === undefined) {
    const known = Object.keys(written).filter((one) => one !== name && one !== SANDBOX);
    const hint = didYouMean(asked, known).hint ?? 'Write the name of another environment of this file.';
    report('standsInFor', 'unknown-environment', `There is no environment "${asked}" to stand in for.`, hint);
    return null;
  }
  if (asked === name) return refused(`${name} cannot stand in for itself.`, 'Name the environment that it replaces.');
  if (asked === SANDBOX) {
    return refused('The sandbox sends to no real recipient: it has no stand-in.', 'Leave "standsInFor" out.');
  }
  if (original.standsInFor === undefined) return environments.get(asked) ?? null;
  const hint = `Name the environment that ${asked} stands in for.`;
  return refused(`${asked} stands in for ${original.standsInFor}: ${name} cannot stand in for ${asked}.`, hint);
}

/** A stand-in takes these keys from its original: rules about recipients and approvals. */
const INHERITED = [
  'only',
  'redirect',
  'approvers',
  'approvals',
  'planners',
  'standingApprovals',
  'git',
  'countries',
  'budget',
] as const;

/** The keys that a stand-in sets itself. Refuses inherited keys that differ from the original's. */
function ownOf(
  name: string,
  environment: Partial<EnvironmentFile>,
  original: Environment,
  written: Written,
  report: Report,
): Partial<EnvironmentFile> {
  const own: Partial<Record<string, unknown>> = { ...environment };
  for (const key of INHERITED) {
    const value = environment[key];
    if (value !== undefined && !isDeepStrictEqual(value, written[original.name]?.[key])) {
      const message = `"${key}" of ${name} is not that of ${original.name}, which it stands in for.`;
      report(key, 'invalid-value', message, `Leave it out: that of ${original.name} holds.`);
    }
    delete own[key];
  }
  return own;
}

function standIn(own: Environment, original: Environment): Environment {
  const { name: identity, only, redirect, approval, git, countries, budget } = original;
  const rates = [own.ratePerSecond, original.ratePerSecond].filter((rate) => rate !== null);
  const ratePerSecond = rates.length === 0 ? null : Math.min(...rates);
  return { ...own, identity, only, redirect, approval, git, countries, budget, ratePerSecond };
}

function readFence(written: Pick<Partial<EnvironmentFile>, 'only' | 'redirect'>, folder: string, whereOf: WhereOf) {
  const entriesOf = (key: 'only' | 'redirect', isFile: (text: string) => boolean): Environment['only'] => {
    const texts = written[key];
    if (texts === undefined) return null;
    return [texts].flat().map((text, i) => ({
      text,
      path: isFile(text) ? resolve(folder, text) : null,
      where: whereOf(typeof texts === 'string' ? [key] : [key, i]),
    }));
  };
  return { only: entriesOf('only', (text) => !IS_ADDRESS.test(text)), redirect: entriesOf('redirect', () => false) };
}

/** `redirect` names addresses; a file of allowed recipients belongs in `only`. */
function refuseFiles(redirect: EnvironmentFile['redirect'], report: Report): void {
  [redirect ?? []].flat().forEach((text, i) => {
    if (IS_ADDRESS.test(text) || !IS_FILE.test(text)) return;
    const message = `"redirect" takes an address, and "${text}" is the name of a file.`;
    const hint = `Did you mean only: ${text}? Then the addresses in the file are the only ones that are sent to.`;
    report(typeof redirect === 'string' ? ['redirect'] : ['redirect', i], 'fence', message, hint);
  });
}

const IS_FILE = /[/\\]|\.[A-Za-z]{2,5}$/;
const IS_ADDRESS = /^(?:\+[\d (]|contact:|[^/\\\s]+@[^/\\\s]+$)/;

/** The default environment: the only one beside the sandbox; null: there are several. */
export function onlyEnvironment({ environments }: Pick<Project, 'environments'>): string | null {
  const [only = SANDBOX, ...more] = [...environments.keys()].filter((name) => name !== SANDBOX);
  return more.length === 0 ? only : null;
}

type Report = (path: string | readonly (string | number)[], code: Code, message: string, hint?: string) => null;

function readEnvironment(
  name: string,
  written: Partial<EnvironmentFile>,
  { provider, reading }: ReadProvider,
  folder: string,
  report: Report,
  ofProvider: Report,
) {
  const { baseUrl, rate, concurrency, countries, budget, proxy, fetch = false, webhook = {}, wire = {} } = written;
  const { vars = {} } = written;
  if (name !== SANDBOX) checkNames('vars', vars, provider, ofProvider);
  countries?.forEach((country, i) => void checked(country, ['countries', i], checkCountry, report));
  if (fetch && reading.events.reports?.fetch === undefined) {
    const message = `${provider.title} has no reports that can be fetched.`;
    const hint = 'Remove "fetch", and receive them: docs/webhooks.md.';
    ofProvider('fetch', 'invalid-value', message, hint);
  }
  return {
    name,
    identity: name,
    // The words of `wire` over those of the provider.
    provider: {
      ...provider,
      channels: { ...provider.channels, ...wire.channels },
      characterSets: { ...provider.characterSets, ...wire.characterSets },
      messageTypes: { ...provider.messageTypes, ...wire.messageTypes },
      senders: { ...provider.senders, ...wire.senders },
      msisdn: wire.msisdn ?? provider.msisdn,
    },
    vars,
    secrets: name === SANDBOX ? null : readSecrets(written, provider, folder, ofProvider),
    ...(name === SANDBOX ? AT_SANDBOX : urlOf(provider, vars, baseUrl, ofProvider)),
    ratePerSecond: checked(rate, 'rate', checkRate, report),
    concurrency: concurrency ?? null,
    countries: countries ?? null,
    budget: budget === undefined ? null : { maxMicros: microsOf(budget.max), per: budget.per },
    proxy: proxy === undefined ? null : checkProxy(proxy, report),
    fetch,
    webhook: readWebhook(webhook, reading.events, folder, (path, ...fault) => report(['webhook', ...path], ...fault)),
    wire: readWire(wire, reading),
  };
}

/** `apiKey` is the one secret of `messages-v2`; those of all others are under `secrets`. */
function readSecrets(
  written: Partial<EnvironmentFile>,
  provider: Provider,
  folder: string,
  report: Report,
): NonNullable<Environment['secrets']> {
  const { apiKey, secrets = {} } = written;
  if (provider.name !== DEFAULT_PROVIDER) {
    if (apiKey === undefined) checkNames('secrets', secrets, provider, report);
    else {
      const message = `"apiKey" is for ${DEFAULT_PROVIDER} alone; ${provider.title} has "secrets".`;
      report('apiKey', 'invalid-value', message, `Write instead: ${exampleOf('secrets', provider)}`);
    }
    return Object.fromEntries(Object.entries(secrets).map(([name, source]) => [name, keySource(source, folder)]));
  }
  const example = 'apiKey: { env: HANDBILL_API_KEY }';
  if (written.secrets !== undefined) {
    report(
      'secrets',
      'invalid-value',
      `${DEFAULT_PROVIDER} has "apiKey" and no "secrets".`,
      `Write instead: ${example}`,
    );
  } else if (apiKey === undefined) {
    report('apiKey', 'missing-key', '"apiKey" is missing.', `For example: ${example}`);
  }
  return apiKey === undefined ? {} : { apiKey: keySource(apiKey, folder) };
}

type Values = 'vars' | 'secrets';

/** Reports names that the provider does not ask for, and those that it needs, unless one of the former means it. */
function checkNames(key: Values, written: object, provider: Provider, report: Report): void {
  const { title, [key]: specs } = provider;
  const known = Object.keys(specs);
  const other = key === 'vars' ? 'secrets' : 'vars';
  const meant = new Set<string | null>();
  for (const name of Object.keys(written)) {
    if (known.includes(name)) continue;
    meant.add(nearest(name, known));
    const isSecret = key === 'vars' && Object.hasOwn(provider.secrets, name);
    const hint = Object.hasOwn(provider[other], name)
      ? `Write instead: ${exampleOf(other, provider)}.${isSecret ? ' A secret that was committed must be replaced.' : ''}`
      : (didYouMean(name, known).hint ??
        (known.length === 0 ? 'Remove it.' : `It asks for ${known.map((name) => `"${name}"`).join(', ')}.`));
    report([key, name], isSecret ? 'literal-key' : 'unknown-key', `${title} asks for no "${key}.${name}".`, hint);
  }
  for (const [name, { description, optional }] of Object.entries(specs)) {
    if (optional || Object.hasOwn(written, name) || meant.has(name)) continue;
    const hint = `For example: ${exampleOf(key, provider)}`;
    report([key, name], 'missing-key', `"${key}.${name}" is missing: ${description}.`, hint);
  }
}

/** All values that the provider needs, as an environment gives them. */
function exampleOf(key: Values, { name: provider, [key]: specs }: Provider): string {
  const file = basename(provider, extname(provider))
    .replace(/[^a-z\d]+/gi, '_')
    .replace(/^[\d_]+/, '');
  const needed = Object.entries(specs).filter(([, { optional }]) => !optional);
  const values = needed.map(([name, { example }]) => {
    return `${name}: ${key === 'vars' ? (example ?? '...') : `{ env: ${`${file}_${name}`.toUpperCase()} }`}`;
  });
  return `${key}: { ${values.join(', ')} }`;
}

type At = Pick<Environment, 'baseUrl' | 'url'>;

/** A base URL with a path is kept by a provider that has `{baseUrl}`; for every other it is an origin. */
function urlOf(
  { url: text, title }: Provider,
  vars: Environment['vars'],
  written: string | undefined,
  report: Report,
): At {
  if (written === undefined && needsBaseUrl(text)) {
    report('baseUrl', 'missing-key', '"baseUrl" is missing.', 'For example: baseUrl: https://api.example.com');
    return AT_SANDBOX;
  }
  const checked = written === undefined ? null : checkBaseUrl(written);
  if (checked !== null && !('url' in checked)) {
    report('baseUrl', 'invalid-base-url', checked.problem, checked.hint);
    return AT_SANDBOX;
  }
  const baseUrl = checked?.url ?? null;
  if (baseUrl !== null && !needsBaseUrl(text) && new URL(baseUrl).pathname !== '/') {
    const message = `The base URL of ${title} has a path: it replaces scheme, host and port alone.`;
    report('baseUrl', 'invalid-base-url', message, `Write ${new URL(baseUrl).origin}.`);
    return AT_SANDBOX;
  }
  // A value such as a host can make a URL that is none; path and query are those of the provider's file.
  const origin = checkBaseUrl(fillUrl(originOf(text), vars, baseUrl));
  if ('url' in origin) return { baseUrl, url: fillUrl(text, vars, baseUrl) };
  report('vars', 'invalid-value', `The values make no URL that can be posted to: ${origin.problem}`, origin.hint);
  return AT_SANDBOX;
}

function checkProxy(text: string, report: Report): string | null {
  const example = 'Write it in full, like http://proxy.example.com:3128.';
  if (!URL.canParse(text) || !/^[\x21-\x7e]+$/.test(text)) {
    report('proxy', 'invalid-value', 'The proxy is not a complete URL.', example);
    return null;
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    report('proxy', 'invalid-value', 'The proxy is not an http or https address.', example);
  } else if (url.username !== '' || url.password !== '' || text.includes('@')) {
    const message = 'The address of the proxy holds a user name or a password.';
    report('proxy', 'not-supported', message, 'Proxies that ask for a password cannot be used yet.');
  } else if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    report('proxy', 'invalid-value', 'The address of the proxy has a path.', example);
  }
  return text;
}

type WhereOf = (path: readonly (string | number)[]) => Pick<Diagnostic, 'at' | 'source'>;

/** Null: none. Only handbill.yaml has approvers, never a campaign, which would name its own. */
function readApproval(
  written: Pick<Partial<EnvironmentFile>, 'approvers' | 'approvals' | 'planners' | 'standingApprovals'>,
  folder: string,
  whereOf: WhereOf,
  report: Report,
): Approval | null {
  const { approvers, approvals = 1, planners } = written;
  if (approvers === undefined) {
    for (const key of ['approvals', 'planners', 'standingApprovals'] as const) {
      if (written[key] === undefined) continue;
      report([key], 'missing-key', `"${key}" says nothing without "approvers".`, 'Add "approvers", or leave it out.');
    }
    return null;
  }
  const signersOf = (from: SignersFile, key: 'approvers' | 'planners'): SignerSource =>
    // As a key file it may lie outside the project, where a commit cannot change it. It is read when it is needed.
    isList(from)
      ? signersIn(from, key, report)
      : { file: resolve(folder, from.file ?? ''), where: whereOf([key, 'file']) };
  const read = {
    approvers: signersOf(approvers, 'approvers'),
    planners: planners === undefined ? null : signersOf(planners, 'planners'),
    approvals,
    standing: readStanding(written, folder, report),
  };
  const isWhole =
    !isList(approvers) || ('signers' in read.approvers && read.approvers.signers.length === approvers.length);
  if (isWhole && !canBeMet(read)) {
    const message = `Fewer people than the plans need are named: ${approvals} to approve, and one more who plans.`;
    report(['approvers'], 'invalid-value', message, 'Name more people here, or those who plan under "planners".');
  }
  return read;
}

/** Approvers may approve a campaign until a day; null: they may not, unless handbill.yaml says so. */
function readStanding(
  { standingApprovals }: Pick<Partial<EnvironmentFile>, 'standingApprovals'>,
  folder: string,
  report: Report,
): StandingRule | null {
  // The schema has refused it.
  if (standingApprovals?.longest === undefined) return null;
  const { longest, folder: plans = 'approvals' } = standingApprovals;
  const longestMs = checked(longest, ['standingApprovals', 'longest'], checkTime(DAY_MS, YEAR_MS), report);
  return longestMs === null ? null : { longestMs, longest, folder: resolve(folder, plans) };
}

function signersIn(written: Extract<SignersFile, readonly unknown[]>, key: 'approvers' | 'planners', report: Report) {
  const signers = written.flatMap(({ name, key: line }, index): readonly Signer[] => {
    // The schema has refused it.
    if (name === undefined || line === undefined) return [];
    const hint = 'Write type and base64 as in the .pub file: ssh-ed25519 AAAA...';
    const read = readSshKey(line);
    if ('problem' in read) {
      report([key, index, 'key'], 'invalid-value', read.problem, hint);
      return [];
    }
    if (read.isCertificate) {
      const message = 'This is a certificate, which expires. Put authorities into a file.';
      report([key, index, 'key'], 'invalid-value', message, hint);
      return [];
    }
    const limits = { authority: false, validAfter: null, validBefore: null, namespaces: null };
    return [{ names: [name], key: read.text, ...limits }];
  });
  return { signers };
}

/** Counts the people named here; files are read when needed. Several keys of one name count once. */
function canBeMet({ approvers, planners, approvals }: Approval): boolean {
  if ('file' in approvers) return true;
  const approve = namesOf(approvers.signers);
  if (approve.size < approvals) return false;
  if (planners !== null && 'file' in planners) return true;
  const all = new Set([...approve, ...namesOf(planners?.signers ?? [])]);
  return all.size > approvals;
}

function namesOf(signers: readonly Signer[]): ReadonlySet<string> {
  return new Set(signers.flatMap(({ names }) => names.map((name) => name.toLowerCase())));
}

/** Settings of the environment over those of its provider, over the defaults; lists of pointers are replaced. */
export function readWire({ response, answers }: WireFile, reading?: ReadProvider['reading']): Wire {
  return {
    response: readResponse({ ...reading?.response, ...response }),
    answers: [...rulesOf(answers), ...(reading?.answers ?? [])],
    idempotencyHeader: reading?.idempotencyHeader ?? null,
  };
}

function readResponse(written: NonNullable<WireFile['response']>): Wire['response'] {
  const { recipientStatus, ...rest } = written;
  const response = { ...DEFAULT_WIRE.response, ...rest };
  const inEntries = (pointers: readonly string[] = []): readonly string[] =>
    pointers.flatMap((pointer) => {
      // `/messages/0/id` is `/id` inside the entries of `/messages`.
      const list = response.recipients.find((one) => pointer.startsWith(`${one}/0/`));
      return list === undefined ? [] : [pointer.slice(list.length + 2)];
    });
  const ids = inEntries(written.messageId);
  return {
    ...response,
    // If the place of the id is configured, the id is there: a 2xx without it is not this API's answer.
    messageIdRequired: written.messageId !== undefined || response.messageIdHeader !== null,
    messageIdHeader: response.messageIdHeader?.toLowerCase() ?? null,
    // Where several recipients have an entry each, a pointer into the first entry holds for all of them.
    recipientId: written.recipientId ?? (ids.length > 0 ? ids : response.recipientId),
    recipientFailed: written.recipientFailed ?? [...inEntries(written.failed), ...response.recipientFailed],
    recipientError: written.recipientError ?? [...inEntries(written.error), ...response.recipientError],
    recipientStatus: { ...DEFAULT_WIRE.response.recipientStatus, ...recipientStatus },
  };
}
