import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { eachChannel } from '../content/channels.ts';
import { type Code, type Diagnostic, problem } from '../errors.ts';
import type { Approval, Environment, GitRule, Project, Signer, SignerSource, StandingRule, Wire } from '../model.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { FORBIDDEN_NAMES, isList, parsePointer, pointerTo } from '../util/json.ts';
import { readSshKey } from '../util/ssh-key.ts';
import { didYouMean } from '../util/suggest.ts';
import { DAY_MS } from '../util/time.ts';
import { durationMs, microsOf, ratePerSecond } from '../util/units.ts';
import { checkCountry } from './check-values.ts';
import { DEFAULT_WIRE, wireChannels } from './defaults.ts';
import { keySource, readWebhook, sharedSecrets } from './read-webhook.ts';
import { whereValue } from './validate.ts';
import type { EnvironmentFile, ProjectFile, SignersFile, WireFile } from './written.ts';
import type { YamlFile } from './yaml.ts';

/** Every project has this environment: the API on this machine. Its address is known once it has started. */
const SANDBOX = 'sandbox';
const SANDBOX_URL = 'http://sandbox.invalid/v2/messages';

/**
 * The environments of a project, with the sandbox. Checks beyond the schema: base URL, proxy, header name.
 * @param folder - real path of the folder of handbill.yaml, for key files
 */
export function readEnvironments(
  file: ProjectFile,
  yaml: YamlFile | null,
  folder: string,
): { readonly environments: ReadonlyMap<string, Environment>; readonly diagnostics: readonly Diagnostic[] } {
  const environments = new Map<string, Environment>();
  const diagnostics: Diagnostic[] = [];
  const whereIn = (name: string, path: Parameters<WhereOf>[0]) =>
    yaml === null ? {} : whereValue(yaml, pointerTo(['environments', name, ...path]));
  const written = { [SANDBOX]: {}, ...file.environments } as Readonly<Record<string, Partial<EnvironmentFile>>>;
  const rank = ({ standsInFor }: Partial<EnvironmentFile>): number => (standsInFor === undefined ? 0 : 1);
  const inOrder = Object.entries(written).sort(([, a], [, b]) => rank(a) - rank(b));
  for (const [name, environment] of inOrder) {
    const whereOf: WhereOf = (path) => whereIn(name, path);
    const report: Report = (path, code, message, hint) => {
      diagnostics.push(problem(code, message, { ...whereOf([path].flat()), hint }));
      return null;
    };
    const original = originalOf(name, written, environments, report);
    const own = original === null ? environment : ownOf(name, environment, original, written, report);
    const approval = name === SANDBOX ? null : readApproval(own, folder, whereOf, report);
    const git = readGitRule(own, whereOf);
    refuseFiles(own.redirect, report);
    const fence = readFence(own, folder, whereOf);
    const read = { ...readEnvironment(name, own, folder, report), ...fence, approval, git };
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

type Report = (path: string | readonly (string | number)[], code: Code, message: string, hint: string) => null;

function readEnvironment(name: string, written: Partial<EnvironmentFile>, folder: string, report: Report) {
  const { apiKey, baseUrl, rate, concurrency, countries, budget, proxy, webhook = {}, wire = {} } = written;
  countries?.forEach((country, i) => {
    const finding = checkCountry(country);
    if ('code' in finding) report(['countries', i], finding.code, finding.message, finding.hint ?? 'For example: GB');
  });
  checkWire(wire, (path, message, hint) => report(['wire', ...path], 'invalid-value', message, hint));
  const ratio = rate === undefined ? null : ratePerSecond(rate);
  if (rate !== undefined && ratio === null) {
    const hint = 'Write a number per second, minute or hour: 50/s.';
    report('rate', 'invalid-value', `"${rate}" is not a rate above zero.`, hint);
  }
  return {
    name,
    identity: name,
    url: name === SANDBOX ? SANDBOX_URL : urlOf(baseUrl, report),
    apiKey: name === SANDBOX || apiKey === undefined ? null : keySource(apiKey, folder),
    ratePerSecond: ratio,
    concurrency: concurrency ?? null,
    countries: countries ?? null,
    budget: budget === undefined ? null : { maxMicros: microsOf(budget.max), per: budget.per },
    proxy: proxy === undefined ? null : checkProxy(proxy, report),
    webhook: readWebhook(webhook, folder, (path, ...fault) => report(['webhook', ...path], ...fault)),
    wire: readWire(wire),
  };
}

/** `{baseUrl}/v2/messages`: joined, so that a path in the base URL is kept. */
function urlOf(baseUrl: string | undefined, report: Report): string {
  if (baseUrl === undefined) return SANDBOX_URL;
  const checked = checkBaseUrl(baseUrl);
  if ('url' in checked) return `${checked.url}/v2/messages`;
  report('baseUrl', 'invalid-base-url', checked.problem, checked.hint);
  return SANDBOX_URL;
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

/** Like the approvers, the rule about the commit is in handbill.yaml only. */
function readGitRule({ git }: Partial<EnvironmentFile>, whereOf: WhereOf): GitRule | null {
  if (git === undefined) return null;
  const { clean = false, branch = null } = git;
  return { clean, branches: branch === null ? null : [branch].flat(), where: whereOf(['git']) };
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

const LONGEST_DAYS = 366;

/** Approvers may approve a campaign until a day; null: they may not, unless handbill.yaml says so. */
function readStanding(
  { standingApprovals }: Pick<Partial<EnvironmentFile>, 'standingApprovals'>,
  folder: string,
  report: Report,
): StandingRule | null {
  // The schema has refused it.
  if (standingApprovals?.longest === undefined) return null;
  const { longest, folder: plans = 'approvals' } = standingApprovals;
  const longestMs = durationMs(longest);
  if (longestMs === null || longestMs < DAY_MS || longestMs > LONGEST_DAYS * DAY_MS) {
    const message = `A standing approval cannot last "${longest}": from 1 to ${LONGEST_DAYS} days are possible.`;
    report(['standingApprovals', 'longest'], 'invalid-value', message, 'For example: longest: 90d');
    return null;
  }
  return { longestMs, longest, folder: resolve(folder, plans) };
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

/** Settings over the defaults, one by one. Configured pointers replace those of the default. */
export function readWire(written: WireFile): Wire {
  const { channels, characterSets, response = {}, unsupportedChannel, content, ...rest } = written;
  return {
    ...DEFAULT_WIRE,
    ...rest,
    channels: wireChannels(channels),
    characterSets: { ...DEFAULT_WIRE.characterSets, ...characterSets },
    content: eachChannel(
      (channel) => (typeof content === 'string' ? content : content?.[channel]) ?? DEFAULT_WIRE.content[channel],
    ),
    response: readResponse(response),
    unsupportedChannel: { ...DEFAULT_WIRE.unsupportedChannel, ...unsupportedChannel },
  };
}

function readResponse(written: NonNullable<WireFile['response']>): Wire['response'] {
  const { recipientStatus, ...rest } = written;
  const response = { ...DEFAULT_WIRE.response, ...rest };
  const inEntries = (pointers: readonly string[] = []): readonly string[] =>
    pointers.flatMap((pointer) => insideEntry(pointer, response.recipients));
  const ids = inEntries(written.messageId);
  return {
    ...response,
    // If the place of the id is configured, the id is there: a 2xx without it is not this API's answer.
    messageIdRequired: written.messageId !== undefined,
    // Where several recipients have an entry each, a pointer into the first entry holds for all of them.
    recipientId: written.recipientId ?? (ids.length > 0 ? ids : response.recipientId),
    recipientFailed: written.recipientFailed ?? [...inEntries(written.failed), ...response.recipientFailed],
    recipientError: written.recipientError ?? [...inEntries(written.error), ...response.recipientError],
    recipientStatus: { ...DEFAULT_WIRE.response.recipientStatus, ...recipientStatus },
  };
}

/** `/messages/0/id` is `/id` inside the entries of `/messages`; empty where a pointer leads into no list. */
function insideEntry(pointer: string, lists: readonly string[]): readonly string[] {
  const list = lists.find((one) => pointer.startsWith(`${one}/0/`));
  return list === undefined ? [] : [pointer.slice(list.length + 2)];
}

/** These statuses are never about the recipient, or never mean that nothing was done (failures.md, F2 to F6). */
const NOT_ABOUT_THE_RECIPIENT: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 425, 429, 499]);

const OWN_HEADERS = new Set(
  `accept accept-encoding connection content-encoding content-length content-type expect host keep-alive
  proxy-authorization te trailer transfer-encoding upgrade user-agent x-api-key`.split(/\s+/),
);

/** Rich content must not replace these fields of the request; it can be inside `body`, `metaData`, `recipients`. */
const OWN_FIELDS = new Set(
  'accountReference name characterSet channel from validity messageType addressBook'.split(' '),
);

type ReportWire = (path: readonly (string | number)[], message: string, hint: string) => void;

function checkWire(written: WireFile, report: ReportWire): void {
  const { idempotencyHeader, content = {} } = written;
  if (idempotencyHeader !== undefined && OWN_HEADERS.has(idempotencyHeader.toLowerCase())) {
    const message = `The header "${idempotencyHeader}" is needed for something else.`;
    report(['idempotencyHeader'], message, 'A usual name is Idempotency-Key.');
  }
  checkStatuses(written, report);
  checkNames(written, report);
  const places =
    typeof content === 'string' ? [[[], content] as const] : Object.entries(content).map(([c, p]) => [[c], p] as const);
  for (const [path, place] of places) {
    const fault = faultOfPlace(parsePointer(place), written);
    if (fault !== null) report(['content', ...path], `Rich content cannot go to "${place}": ${fault}.`, USUAL_PLACES);
  }
}

function checkStatuses({ unsupportedChannel, tooLargeStatuses, retryStatuses }: WireFile, report: ReportWire): void {
  for (const [path, statuses] of [
    [['unsupportedChannel', 'statuses'], unsupportedChannel?.statuses],
    [['tooLargeStatuses'], tooLargeStatuses],
  ] as const) {
    statuses?.forEach((status, i) => {
      if (!NOT_ABOUT_THE_RECIPIENT.has(status)) return;
      const message = `The status ${status} is never about the recipient, or the size of a request.`;
      report([...path, i], message, 'It stops the run, is tried again, or leaves a doubt. Remove it.');
    });
  }
  retryStatuses?.forEach((status, i) => {
    if (unsupportedChannel?.statuses?.includes(status) !== true) return;
    const message = `The status ${status} cannot mean both "try again" and "cannot receive this channel".`;
    report(['retryStatuses', i], message, 'Remove it here, or from unsupportedChannel.statuses.');
  });
}

function checkNames({ emailField, referenceName, contentNames = {} }: WireFile, report: ReportWire): void {
  const forbidden = (path: readonly string[], name: string | undefined): void => {
    if (name === undefined || !FORBIDDEN_NAMES.has(name)) return;
    report(path, `"${name}" cannot be a name here.`, 'Many programs that read JSON give this name a special meaning.');
  };
  forbidden(['emailField'], emailField);
  forbidden(['referenceName'], referenceName);
  if (emailField === 'variables' || emailField === 'metaData') {
    report(['emailField'], `"${emailField}" holds something else of a recipient.`, 'A usual name is email.');
  }
  if (referenceName !== undefined && /^list-unsubscribe(?:-post)?$/i.test(referenceName)) {
    const message = `"${referenceName}" is where an email says how one unsubscribes.`;
    report(['referenceName'], message, 'The reference would take its place. A usual name is handbill.');
  }
  const taken = new Map<string, string>();
  for (const [name, other] of Object.entries(contentNames)) {
    forbidden(['contentNames', name], name);
    forbidden(['contentNames', name], other);
    const twin = taken.get(other);
    const message = `"${other}" is the name of "${twin}" already.`;
    if (twin !== undefined) report(['contentNames', name], message, 'Give each key its own name.');
    taken.set(other, name);
  }
}

const USUAL_PLACES = 'Usual places are /body/content, and /recipients/0/content for one in every recipient.';

/** Rich content goes into a separate field: in `body`, in `metaData`, in every recipient, or next to them. */
function faultOfPlace(names: readonly string[], { emailField, referenceName }: WireFile): string | null {
  const [first = '', ...inside] = names;
  if (OWN_FIELDS.has(first)) return `"${first}" is a field that the request already has`;
  if (first === 'recipients' && inside[0] !== '0') return 'recipients are a list, and 0 means every one of them';
  const own = first === 'recipients' ? inside.slice(1) : names;
  if (own.some((name) => name === '' || FORBIDDEN_NAMES.has(name) || /^(?:[0-9]+|-)$/.test(name))) {
    return 'it leads through a name that cannot be made';
  }
  const reference = `/metaData/${referenceName ?? DEFAULT_WIRE.referenceName}`;
  const taken =
    first === 'recipients'
      ? ['', '/msisdn', '/variables', '/metaData', `/${emailField ?? DEFAULT_WIRE.emailField}`, reference]
      : ['/body', '/body/text', '/body/templateId', '/metaData', reference];
  const place = pointerTo(own);
  if (taken.includes(place)) return 'that place is taken';
  return /^\/body\/(?:text|templateId)\//.test(place) ? 'it leads through the text of the message' : null;
}
