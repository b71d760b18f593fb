import type { Stats } from 'node:fs';
import { lstat, mkdir, readFile, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { checkCountry, checkSender } from '../campaign/check-values.ts';
import { PROJECT_FILE, projectsAround } from '../campaign/place.ts';
import { builtIn, DEFAULT_PROVIDER, providerNames } from '../campaign/read-provider.ts';
import { CHANNEL_TABLE, CHANNELS, type Channel } from '../content/channels.ts';
import { SENDER_COUNTRIES } from '../content/senders.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { type Provider, requestFor } from '../providers/provider.ts';
import { secretVariable } from '../scaffold/environment.ts';
import { exampleSender, IGNORED, type NewProject, scaffold, takesOf } from '../scaffold/scaffold.ts';
import { safe, shellWord } from '../util/escape.ts';
import { createOutput, DISK_FAULTS } from '../util/files.ts';
import { folderAbove, repositoryOf } from '../util/git.ts';
import { isMapping, parseJson } from '../util/json.ts';
import { nextCommand } from '../util/next-command.ts';
import { displayPath, readSmallFile, realPlace } from '../util/paths.ts';
import { isDeviceOnWindows } from '../util/platform.ts';
import { didYouMean } from '../util/suggest.ts';
import { offsetHere } from '../util/time.ts';
import { version } from '../util/version.ts';
import { listWithAnd } from '../util/words.ts';
import { type OptionsOf, type OptionTable, type ProjectOptions, withDefaults } from './options.ts';

export const INIT = {
  channel: {
    flag: '--channel <channel>',
    says: `what to send: ${CHANNELS.join(', ')} (default: sms)`,
    choices: CHANNELS,
  },
  from: {
    flag: '--from <sender>',
    says: 'who the messages are from, as recipients see it',
    without: 'one that the channel and the country take',
  },
  country: {
    flag: '--country <code>',
    says: 'country of numbers without a country code (default: GB)',
    more: 'ISO 3166-1 alpha-2; the time zone is made of it too.',
  },
  provider: {
    flag: '--provider <name>',
    says: 'the messaging API of the environment "production" (default: decide later, with the sandbox only)',
    more: '`handbill help providers` lists them.',
  },
  campaign: {
    flag: '--name <name>',
    says: 'name of the first campaign (default: hello)',
    more: 'Small letters, digits and hyphens.',
  },
  addMissing: { flag: '--force', says: 'add what is missing where files exist already; overwrites nothing' },
} as const satisfies OptionTable;

/** A new project. */
export interface InitOptions extends Pick<ProjectOptions, 'cwd'>, OptionsOf<typeof INIT> {}

export interface InitResult {
  /** Absolute. */
  readonly root: string;
  /** Files, by their path below the root. */
  readonly made: readonly string[];
  /** Existing files that `init` did not change. */
  readonly kept: readonly string[];
  readonly notes: readonly string[];
  readonly next: readonly string[];
}

/**
 * `handbill init`: makes a project to start from; it validates, previews and is sent to the sandbox at once.
 *
 * @param folder - relative to `cwd`; made where it does not exist
 * @throws HandbillError exit 2: options that cannot be used, files that exist; then nothing was written
 */
export async function init(folder: string, options: InitOptions = {}): Promise<InitResult> {
  const { cwd } = withDefaults(options);
  const { campaign = DEFAULT_ANSWERS.campaign, channel = DEFAULT_ANSWERS.channel } = options;
  const country = normalCountry(options.country ?? DEFAULT_ANSWERS.country);
  const from = options.from ?? defaultSender(channel, country, options.provider);
  const named = options.provider === undefined ? {} : { provider: options.provider };
  const answers: InitAnswers = { campaign, channel, from, country, ...named };
  const noFolder = problem('usage', 'The name of the folder is empty or holds a NUL character.');
  const faults = [...(folder === '' || folder.includes('\0') ? [noFolder] : []), ...answerFaults(answers)];
  if (faults.length > 0) throw new HandbillError(EXIT.refused, faults);
  const root = realPlace(resolve(cwd, folder));
  const provider = answers.provider === undefined ? undefined : builtIn(answers.provider).provider;
  const manifest = JSON.parse(await readFile(join(HERE, MANIFEST), 'utf8')) as {
    readonly devDependencies: { readonly node: string };
  };
  const schemas = ['campaign.schema.json', 'project.schema.json', 'provider.schema.json'].map(async (name) => {
    return [name, await readFile(join(HERE, 'schemas', name), 'utf8')] as const;
  });
  const files = scaffold({
    ...answers,
    provider,
    exampleProvider: builtIn(DEFAULT_PROVIDER).provider,
    timeZone: zoneOf(country),
    dependency: await dependencyFrom(root),
    node: manifest.devDependencies.node,
    schemas: new Map(await Promise.all(schemas)),
  });
  refuseInsideAnother(root, cwd);
  const { existing, faults: blocked } = await lookAround(root, files.keys(), cwd);
  if (blocked.length > 0) throw new HandbillError(EXIT.refused, blocked);
  const inTheWay = isInstalledIn(root) ? existing.filter((path) => path !== MANIFEST) : existing;
  if (inTheWay.length > 0 && options.addMissing !== true) {
    const hint =
      'Nothing was written. Name another folder, or add what is missing with --force: it overwrites nothing.';
    const names = inTheWay.map((path) => displayPath(join(root, path), cwd));
    const verb = names.length === 1 ? 'exists' : 'exist';
    throw refuse(problem('output-exists', `${listWithAnd(names)} ${verb} already.`, { hint }));
  }
  // `due` would send follow-ups of a campaign that is in use to its recipients, with a text that no one wrote for them.
  const isInUse = existing.includes(`campaigns/${campaign}/campaign.yaml`);
  const isUnwanted = (path: string): boolean => isInUse && path.startsWith(`campaigns/${campaign}-`);
  const missing = new Map([...files].filter(([path]) => !existing.includes(path) && !isUnwanted(path)));
  await makeFiles(root, missing);
  const repository = repositoryOf(root);
  const notes = [
    ...(provider === undefined ? [] : providerNotes(provider, channel, missing.has(PROJECT_FILE))),
    ...(options.from === undefined || takesOf(channel, provider)('from')
      ? []
      : [`${provider?.title} takes no sender of a campaign: --from is not in campaign.yaml.`]),
    ...ignoreNotes(root, existing),
    ...(repository === null ? ['This is no git repository yet: git init makes it one.'] : []),
    ...(repository === null || repository === root
      ? []
      : ['GitHub reads .github at the root of a repository: move it there, or give this folder its own.']),
  ];
  const next = nextCommands(root, cwd, campaign);
  const last = provider === undefined ? [] : ['npx handbill doctor --env production'];
  return { root, made: [...missing.keys()], kept: existing, notes, next: [...next, ...last] };
}

/** Values to fill in, and a campaign that the provider cannot send. */
function providerNotes(provider: Provider, channel: Channel, isWritten: boolean): readonly string[] {
  const { title, name, vars, secrets } = provider;
  if (!isWritten)
    return [`handbill.yaml is as it was: \`handbill help providers ${name}\` shows an environment to paste.`];
  const names = Object.keys(secrets).map((secret) => secretVariable(provider, secret));
  const values = Object.keys(vars).length === 0 ? '' : 'fill in the values in handbill.yaml, and ';
  return [
    `For ${title}: ${values}put ${listWithAnd(names)} into the environment, or into .env.`,
    ...(requestFor(provider, channel, 'text', CHANNEL_TABLE[channel].address) === null
      ? [`${title} takes templates only: write the id of yours into each campaign.yaml before you send to production.`]
      : []),
  ];
}

/** The outermost handbill.yaml is that of the project: a second one inside it would be refused with its campaigns. */
function refuseInsideAnother(root: string, cwd: string): void {
  const { above, below } = projectsAround(root);
  const [other] = [...above, ...below];
  if (other === undefined) return;
  const name = displayPath(join(other, PROJECT_FILE), cwd);
  const where = above.length > 0 ? 'inside another project' : 'around another project';
  const hint =
    above.length > 0 ? 'Add a campaign to that project, or name a folder outside of it.' : 'Name a folder beside it.';
  throw refuse(problem('other-project', `The new project would be ${where} (${name}).`, { hint }));
}

const MANIFEST = 'package.json';

/** Whether `npm install` of handbill made the folder's package.json, or added handbill to it: then it is kept. */
function isInstalledIn(root: string): boolean {
  const manifest = parseJson(readText(join(root, MANIFEST)) ?? '');
  if (!isMapping(manifest)) return false;
  const { dependencies, devDependencies } = manifest;
  return [dependencies, devDependencies].some((all) => isMapping(all) && all['handbill'] !== undefined);
}

/** Null where there is no such file, or it cannot be read. */
function readText(path: string): string | null {
  const read = readSmallFile(path, 1 << 20);
  return 'bytes' in read ? Buffer.from(read.bytes).toString('utf8') : null;
}

/** handbill's package folder, with the schemas, docs/ and package.json. */
const HERE = join(import.meta.dirname, '..', '..');

/**
 * The dependency for package.json, from where this handbill came: a version of a registry; or a file or git repository,
 * as npm recorded it, because a registry may have another package of that name. A clone is named by its folder.
 */
async function dependencyFrom(root: string): Promise<string> {
  const fileFrom = (path: string): string => `file:${relative(root, path).replaceAll(sep, '/')}`;
  if (!HERE.split(sep).includes('node_modules')) return fileFrom(HERE);
  const installed = join(dirname(HERE), '.package-lock.json');
  const lock = JSON.parse(await readFile(installed, 'utf8').catch(() => '{}')) as {
    readonly packages?: { readonly [path: string]: { readonly resolved?: string } };
  };
  const { resolved = '' } = lock.packages?.['node_modules/handbill'] ?? {};
  if (resolved.startsWith('git+')) return resolved;
  if (!resolved.startsWith('file:')) return version();
  return fileFrom(resolve(dirname(HERE), '..', resolved.slice('file:'.length)));
}

const LISTS_NOTE =
  'git would commit lists of people: add campaigns/**/*.csv to .gitignore, or !campaigns/**/*.csv to allow it.';

/** A .gitignore from before may not exclude the ledger, which names the recipients, from git. */
function ignoreNotes(root: string, existing: readonly string[]): readonly string[] {
  if (!existing.includes('.gitignore'))
    return ['.gitignore says how to keep lists of people out of git, or to commit them on purpose.'];
  const lines = (readText(join(root, '.gitignore')) ?? '').split(/\r?\n/);
  const ignored = lines.map((line) => line.trim().replace(/^\/|\/$/g, ''));
  const missing = IGNORED.filter((name) => !ignored.includes(name.replace(/\/$/, '')));
  return [
    ...(missing.length === 0 ? [] : [`Add to .gitignore: ${missing.join(', ')}. They hold personal data or keys.`]),
    ...(lines.some((line) => line.includes('.csv')) ? [] : [LISTS_NOTE]),
  ];
}

function nextCommands(root: string, cwd: string, campaign: string): readonly string[] {
  const folder = displayPath(root, cwd);
  const isInstalled = folderAbove(root, join('node_modules', '.bin', 'handbill')) !== null;
  const isHere = folder === '' || folder === '.' || root === realPlace(cwd);
  return [
    ...(isHere ? [] : [`cd ${shellWord(folder)}`]),
    ...(isInstalled ? [] : ['npm install']),
    'npx handbill validate',
    `npx ${nextCommand('preview', campaign)}`,
    `npx ${nextCommand('rehearse', campaign)}`,
    `npx ${nextCommand('send', campaign)}`,
  ];
}

export interface InitAnswers extends Pick<NewProject, 'campaign' | 'channel' | 'from' | 'country'> {
  /** Absent: decided later. */
  readonly provider?: string;
}

export function providersWith(channel: Channel): readonly { readonly name: string; readonly title: string }[] {
  const providers = providerNames().map((name) => builtIn(name).provider);
  return providers.filter(({ channels }) => channels[channel] !== undefined);
}

export const DEFAULT_ANSWERS = { campaign: 'hello', channel: 'sms', country: 'GB' } as const;

/** The sender of an example: a name where networks and the provider accept names, else a reserved number. */
export function defaultSender(channel: Channel, country: string, provider = ''): string {
  const { sender } = CHANNEL_TABLE[channel].init;
  if (sender === 'email') return 'Riverside <hello@riverside.example>';
  const needs = providerNames().includes(provider) ? builtIn(provider).provider.needs : [];
  const isName =
    sender === 'sms' && SENDER_COUNTRIES[country] === undefined && !needs.some((need) => need.includes('from.msisdn'));
  return isName ? 'Riverside' : exampleSender(country);
}

/** Two letters in any case, as they are typed. */
export function normalCountry(typed: string): string {
  return typed.trim().toUpperCase();
}

/** In sentences; null: valid. */
export function countryFault(country: string): string | null {
  const finding = checkCountry(country);
  return 'value' in finding ? null : sentences(finding);
}

export function senderFault(channel: Channel, from: string): string | null {
  const { sender } = CHANNEL_TABLE[channel].init;
  if (sender === 'sms') {
    const finding = checkSender(from);
    return 'value' in finding ? null : sentences(finding);
  }
  if (from === '' || from.length > MAX_SENDER) return `A sender has 1 to ${MAX_SENDER} characters.`;
  if (from.trim() !== from || from.includes('\n') || safe(from) !== from) {
    return 'A sender is one line without control characters, and has no space at its ends.';
  }
  if (sender === 'email' && !EMAIL.test(from)) {
    return `"${from}" is not a sender of emails. Write hello@example.com, or Riverside <hello@example.com>.`;
  }
  return null;
}

function providerAnswerFault(channel: Channel, name: string | undefined): string | null {
  if (name === undefined) return null;
  const names = providerNames();
  if (!names.includes(name)) {
    const { hint = '`handbill help providers` lists them.' } = didYouMean(name, names);
    return `There is no provider "${name}". ${hint}`;
  }
  const { title, channels } = builtIn(name).provider;
  if (channels[channel] !== undefined) return null;
  return `${title} has no ${channel}. It has ${listWithAnd(Object.keys(channels))}.`;
}

function answerFaults({ campaign, channel, from, country, provider }: InitAnswers): readonly Diagnostic[] {
  const device = `"${campaign}" is the name of a device on Windows: its folder could not be made there.`;
  const strange = `"${campaign}" cannot be the name of a campaign. Use small letters, digits and hyphens, such as spring-sale. At most 62: the names of its follow-ups end in -2 and -3.`;
  const faults = [
    ['--provider', providerAnswerFault(channel, provider)],
    ['--name', isDeviceOnWindows(campaign) ? device : NAME.test(campaign) ? null : strange],
    ['--from', senderFault(channel, from)],
    ['--country', countryFault(country)],
  ] as const;
  return faults.flatMap(([option, fault]) => (fault === null ? [] : [problem('usage', `${option}: ${fault}`)]));
}

/** The time zone of a country in which all clocks show the same time; null for other countries. */
function zoneOf(country: string): string | null {
  // The types of TypeScript do not have it yet.
  const locale: Intl.Locale & { readonly getTimeZones?: () => readonly string[] } = new Intl.Locale(`und-${country}`);
  const zones = locale.getTimeZones?.() ?? [];
  const [first = null] = zones;
  // Winter and summer of one year.
  const offsets = zones.map((zone) => [0, 6].map((month) => offsetHere(zone, Date.UTC(2026, month, 1))).join(' '));
  return new Set(offsets).size === 1 ? first : null;
}

function sentences({ message, hint }: { readonly message: string; readonly hint?: string | undefined }): string {
  return hint === undefined ? message : `${message} ${hint}`;
}

/** Two fewer than campaigns may have, for `-2` and `-3`. */
const NAME = /^[a-z0-9][a-z0-9-]{0,61}$/;
const MAX_SENDER = 200;
const EMAIL = /^(?:[^<>@"]*<[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)$/;

/**
 * `existing`: files, links and folders; `faults`: links, and files where a folder is needed. A link made by another
 * user would decide where the files are written. `root` is absolute and need not exist; `paths` are below it, with `/`.
 */
async function lookAround(root: string, paths: Iterable<string>, cwd: string) {
  const existing: string[] = [];
  const faults: Diagnostic[] = [];
  const folders = new Set<string>();
  for (const path of paths) {
    if ((await factsOf(join(root, path))) !== null) existing.push(path);
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  for (const folder of ['', ...folders]) {
    const facts = await factsOf(join(root, folder));
    if (facts === null || facts.isDirectory()) continue;
    const what = facts.isSymbolicLink() ? 'a link, which handbill does not follow' : 'not a folder';
    const name = displayPath(join(root, folder), cwd);
    faults.push(problem('output-exists', `${name} is ${what}.`, { hint: 'Name another folder.' }));
  }
  return { existing, faults };
}

/** Also makes folders. Changes no existing file; on failure removes what it made. Throws exit 2, `output-exists`. */
export async function makeFiles(root: string, files: ReadonlyMap<string, string>): Promise<void> {
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const [path, text] of files) {
      const file = join(root, path);
      await makeFolders(dirname(file), undo);
      await createOutput(file, text);
      undo.push(() => unlink(file));
    }
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    throw error;
  }
}

async function makeFolders(folder: string, undo: (() => Promise<void>)[]): Promise<void> {
  if (folder === parse(folder).root || (await factsOf(folder))?.isDirectory() === true) return;
  await makeFolders(dirname(folder), undo);
  try {
    await mkdir(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    // Another process made it meanwhile. A link in its place would lead the files elsewhere.
    if (code === 'EEXIST' && (await factsOf(folder))?.isDirectory() === true) return;
    const why = code === 'EEXIST' ? 'a link or a file lies in its place' : (DISK_FAULTS[code] ?? code);
    throw refuse(problem('output-exists', `The folder ${folder} cannot be made: ${why}.`));
  }
  undo.push(() => rmdir(folder));
}

async function factsOf(path: string): Promise<Stats | null> {
  return await lstat(path).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw refuse(problem('output-exists', `${path}cannot be read: ${DISK_FAULTS[code] ?? code}.`));
  });
}
