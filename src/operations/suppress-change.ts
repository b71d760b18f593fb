import { findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import { paced } from '../ledger/paced.ts';
import type { HashEntry, SuppressEntry } from '../ledger/records.ts';
import { otherKey, shownTopic } from '../ledger/suppressions.ts';
import type { AddressKind, Project } from '../model.ts';
import {
  checkHashKey,
  createKeyCheck,
  createNumberDoubts,
  doubtAboutLength,
  otherKeyProblem,
  readSuppressionList,
  type SuppressionSource,
} from '../plan/suppression.ts';
import { createAddressReader } from '../recipients/address.ts';
import type { AddressProblem } from '../recipients/phone.ts';
import { isChatId } from '../recipients/phone.ts';
import type { ListDigest } from '../recipients/read.ts';
import { isTopic } from '../suppression/entries.ts';
import { type Hasher, type HasherReading, readHash, readHasher, type WrittenHash } from '../suppression/hash.ts';
import { createUntilReader } from '../suppression/until.ts';
import { listedForm, spellingsOf } from '../util/address-form.ts';
import { displayPath, findFileAnywhere } from '../util/paths.ts';
import { mask } from '../util/redact.ts';
import { didYouMean } from '../util/suggest.ts';
import {
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import { countryOf, projectHere } from './project.ts';

export const ADD_SUPPRESSIONS = {
  reason: { flag: '--reason <text>', says: 'why, for people who read the list', without: 'none' },
  until: { flag: '--until <date>', says: 'until the end of a day (2027-01-31) or an instant (default: without end)' },
  topic: { flag: '--topic <topic>', says: 'only in campaigns with this topic (default: in all)' },
} as const satisfies OptionTable;

/** Topic, reason and end of new entries. */
export interface AddSuppressionsOptions extends ProjectOptions, OptionsOf<typeof ADD_SUPPRESSIONS> {}

/**
 * `handbill suppress add`: never sends to these numbers, email addresses, `contact:ID`s or hashes again.
 *
 * @returns how many were added, and how many had been there before
 * @throws HandbillError exit 2 with everything that is no address; 7 (ledger)
 */
export async function addSuppressions(
  addresses: readonly string[],
  options: AddSuppressionsOptions = {},
): Promise<AddedSuppressions> {
  const resolved = withDefaults(options);
  const { reason, until } = options;
  const topic = topicIn(options);
  const nowMs = resolved.now();
  const reading = projectHere(resolved);
  const { project } = reading;
  const strange = topic === '' ? null : await topicOfNone(topic, project, resolved);
  const untilMs = until === undefined ? null : createUntilReader(project.timeZone)(until);
  if (until !== undefined && untilMs === null) {
    const hint = 'Write a day such as 2027-01-31, or an instant such as 2027-01-31T09:00:00Z.';
    throw refuse(problem('usage', `--until "${until}" is no date.`, { hint }));
  }
  if (untilMs !== null && untilMs <= nowMs)
    throw refuse(problem('usage', `--until ${until} has passed.`, { hint: 'Give a time to come.' }));
  const named = readAddresses(addresses, countryOf(reading));
  await checkHashes(named.hashes, project, resolved);
  using ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  const facts = { topic, reason: reason === '' ? null : (reason ?? null), untilMs, source: 'user' };
  const added = ledger.suppressAll(
    named.addresses.map((address) => ({ address, ...facts })),
    named.hashes.map((hash) => ({ ...hash, ...facts })),
    nowMs,
  );
  const known = named.addresses.length + named.hashes.length - added;
  return { added, known, ...said([...named.warnings, ...(strange === null ? [] : [strange])]) };
}

/** Results without warnings have no such field. */
function said(warnings: readonly Diagnostic[]): { readonly warnings?: readonly Diagnostic[] } {
  return warnings.length === 0 ? {} : { warnings };
}

/** The warning that no campaign has the topic, so that the entry suppresses no recipient; null: one has it. */
async function topicOfNone(topic: string, { root }: Project, { cwd }: Pick<ResolvedOptions, 'cwd'>) {
  const { files } = findCampaigns([], root);
  if (files.length === 0) return null;
  const topics: (string | null)[] = [];
  for (const file of files) topics.push((await readCampaign(file, { cwd })).campaign?.topic ?? null);
  const message = `No campaign has the topic "${topic}": so far, the entry leaves out no recipient.`;
  return noSuchTopic(topic, topics, message, ['No campaign has a topic.', 'Topics of the campaigns']);
}

/** Null: there is such a topic. `says`: that there is none at all, or before those that there are. */
function noSuchTopic(
  topic: string,
  all: readonly (string | null)[],
  message: string,
  [none, some]: readonly [string, string],
): Diagnostic | null {
  const topics = new Set(all.flatMap((one) => one ?? []));
  if (topics.has(topic)) return null;
  const known = topics.size === 0 ? none : `${some}: ${[...topics].sort().join(', ')}.`;
  return warning('usage', message, { hint: didYouMean(topic, topics).hint ?? known });
}

export interface AddedSuppressions {
  readonly added: number;
  readonly known: number;
  /** Numbers that probably have a digit too few or too many. Absent: there is nothing to say. */
  readonly warnings?: readonly Diagnostic[];
}

/**
 * `handbill suppress remove`: takes them off the list, and the hashes of them too.
 *
 * @returns how many were removed, of how many only failures no longer count, and how many were not there
 * @throws HandbillError exit 2 with everything that is no address, or without the key of the hashes; 7 (ledger)
 */
export async function removeSuppressions(
  addresses: readonly string[],
  options: RemoveSuppressionsOptions = {},
): Promise<RemovedSuppressions> {
  const resolved = withDefaults(options);
  const reading = projectHere(resolved);
  const named = readAddresses(addresses, countryOf(reading));
  const topic = options.topic === undefined ? null : topicIn(options);
  const { removed, dismissed } = await removeFrom(reading.project, named, topic, resolved, resolved.now());
  const absent = named.addresses.length + named.hashes.length - removed - dismissed;
  const unknown =
    removed === 0 && topic !== null && topic !== '' ? unknownTopic(reading.project, topic, resolved.now()) : null;
  return { removed, absent, ...(dismissed === 0 ? {} : { dismissed }), ...said(unknown === null ? [] : [unknown]) };
}

export interface RemovedSuppressions {
  readonly removed: number;
  readonly absent: number;
  /** Not on the list, but with permanent failures, which no longer count. Absent: none. */
  readonly dismissed?: number;
  /** The topic may be misspelt. Absent: there is nothing to say. */
  readonly warnings?: readonly Diagnostic[];
}

/** The warning that no entry has the topic, or null. */
function unknownTopic(project: Project, topic: string, nowMs: number): Diagnostic | null {
  using ledger = openExistingLedger(project.ledger, { nowMs });
  if (ledger === null) return null;
  const topics = new Set<string>();
  for (const list of [ledger.suppressions(), ledger.suppressedHashes()]) for (const one of list) topics.add(one.topic);
  const message = `No entry of the suppression list has the topic "${topic}".`;
  return noSuchTopic(topic, [...topics].map(shownTopic), message, ['No entry has a topic.', 'Topics on the list']);
}

/** Returns how many were on the list, in clear or as hashes, and how many others had failures. */
async function removeFrom(
  project: Project,
  { addresses, hashes }: ReturnType<typeof readAddresses>,
  topic: string | null,
  context: Pick<ResolvedOptions, 'env'>,
  nowMs: number,
) {
  // Opened to read first: taking something off a list that does not exist must not make a ledger.
  const existing = openExistingLedger(project.ledger, { nowMs });
  if (existing === null) return { removed: 0, dismissed: 0 };
  const holdsHashes = existing.hashKeyId() !== null;
  existing.close();
  const hasher = holdsHashes && addresses.length > 0 ? await hasherOf(project, context) : null;
  using ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  // Without the key it is unknown whether the address is still on the list, as a hash.
  if (hasher !== null) checkHashKey({ hasher: { hasher } }, ledger);
  const found = { removed: 0, dismissed: 0 };
  for (const address of addresses) {
    const hashes = hasher === null ? [] : spellingsOf(address).map(hasher.hash);
    const asHash = hashes.filter((hash) => ledger.unsuppressHash(hash, topic)).length > 0;
    const isListed = ledger.unsuppress(address, topic) || asHash;
    const hadFailed = topic === null && ledger.dismissFailures(address, nowMs);
    if (isListed) found.removed += 1;
    else if (hadFailed) found.dismissed += 1;
  }
  found.removed += hashes.filter(({ hash }) => ledger.unsuppressHash(hash, topic)).length;
  return found;
}

export const REMOVE_SUPPRESSIONS = {
  topic: { flag: '--topic <topic>', says: 'only the entry for this topic (default: every entry)' },
} as const satisfies OptionTable;

/** The topic whose entries are removed. */
export interface RemoveSuppressionsOptions extends ProjectOptions, OptionsOf<typeof REMOVE_SUPPRESSIONS> {}

/** '': all topics. */
function topicIn({ topic = '' }: { readonly topic?: string }): string {
  if (topic === '' || isTopic(topic)) return topic;
  const hint = 'Write it as the campaigns do: lower-case letters, digits and hyphens.';
  throw refuse(problem('usage', `--topic "${topic}" is no topic.`, { hint }));
}

/** In one transaction of 30 ms, for which other processes wait. */
const BATCH = 5000;

/**
 * `handbill suppress import`: adds all rows of a suppression file; a bad row refuses the file.
 *
 * @param file - CSV with a column `msisdn`, `email`, `contact` or `hash`, relative to `cwd`
 * @returns the file as the user would name it, how many entries it has, and how many of them were added
 * @throws HandbillError exit 2 with every row that is wrong; 7 (ledger)
 */
export async function importSuppressions(file: string, options: ProjectOptions = {}): Promise<ImportedSuppressions> {
  const resolved = withDefaults(options);
  const { cwd, env } = resolved;
  const reading = projectHere(resolved);
  // The file is read twice, so that memory stays flat: once to check every row before anything is imported, and once to
  // import, in steps between which other processes get the ledger. If it is killed in between, importing again
  // completes it: an import never weakens an entry.
  const { project } = reading;
  const found = findFileAnywhere(cwd, file);
  if ('fault' in found) {
    const { code, message, hint } = found.fault;
    throw refuse(problem(code, message, { hint }));
  }
  const name = displayPath(found.path, cwd);
  const source = { path: found.path, file: name, defaultCountry: countryOf(reading), timeZone: project.timeZone };
  const hasher = await readHasher(project.suppressionKey, env, project.root);
  const checked = await check(source, hasher);
  const nowMs = resolved.now();
  using ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  // Before the import: else the addresses before the first hash would be in the ledger already.
  refuseOtherKey(ledger, checked.keyId);
  const { all, added } = await takeOver(ledger, source, checked.digest, nowMs);
  return { file: name, entries: all, added, ...said(checked.warnings) };
}

export interface ImportedSuppressions {
  readonly file: string;
  readonly entries: number;
  readonly added: number;
  /** Numbers that probably have a digit too few or too many. Absent: there is nothing to say. */
  readonly warnings?: readonly Diagnostic[];
}

/** `digest` is of the checked bytes: no others are imported. `keyId` is null without hashes. Throws on wrong rows. */
async function check(source: SuppressionSource, hasher: HasherReading) {
  let keyId: string | null = null;
  const keys = createKeyCheck(source.file, hasher);
  const { diagnostics, warnings, total, digest } = await readSuppressionList(source, {
    address: () => undefined,
    hash(hash, _untilMs, _reason, line) {
      keys.see(hash.keyId, line);
      keyId = hash.keyId;
    },
  });
  const others = keys.faults();
  if (total + others.total > 0 || digest === null) {
    throw new HandbillError(EXIT.refused, [...diagnostics, ...others.diagnostics], total + others.total);
  }
  return { warnings, digest, keyId };
}

/** Throws exit 2 where the ledger has hashes of another key; null: there are no hashes to add. */
export function refuseOtherKey(ledger: Ledger, keyId: string | null): void {
  const known = ledger.hashKeyId();
  if (keyId !== null && known !== null && known !== keyId) throw otherKey(ledger.path, known, keyId);
}

async function takeOver(ledger: Ledger, source: SuppressionSource, digest: ListDigest, nowMs: number) {
  let addresses: SuppressEntry[] = [];
  let hashes: HashEntry[] = [];
  let all = 0;
  let added = 0;
  const flush = async (): Promise<void> => {
    all += addresses.length + hashes.length;
    added += await paced(() => ledger.suppressAll(addresses, hashes, nowMs));
    addresses = [];
    hashes = [];
  };
  const { file } = source;
  const sink: Parameters<typeof readSuppressionList>[1] = {
    address(address, untilMs, reason, _line, topic) {
      addresses.push({ address, topic, untilMs, reason, source: file });
    },
    hash(hash, untilMs, reason, _line, topic) {
      hashes.push({ ...hash, topic, untilMs, reason, source: file });
    },
  };
  const full = (): Promise<void> | undefined => (addresses.length + hashes.length < BATCH ? undefined : flush());
  const { diagnostics, total } = await readSuppressionList(source, sink, { expected: digest, each: full });
  if (total > 0) throw new HandbillError(EXIT.refused, diagnostics, total);
  if (addresses.length + hashes.length > 0) await flush();
  return { all, added };
}

/**
 * The addresses of a command line, in any notation: each once, in the form in which they are compared. Throws exit 2 with
 * all that are invalid.
 */
function readAddresses(raw: readonly string[], defaultCountry: string | null) {
  const named = readEach(raw, defaultCountry);
  const addresses = new Set(named.flatMap((one) => ('address' in one ? [one.address] : [])));
  const hashes = new Map(named.flatMap((one) => ('hash' in one ? [[one.hash.hash, one.hash] as const] : [])));
  const doubts = createNumberDoubts(null);
  for (const one of named) if ('address' in one && one.doubt !== null) doubts.add(null, one.doubt);
  return { addresses: [...addresses], hashes: [...hashes.values()], warnings: doubts.warnings() };
}

/** As given, and in the form in which it is compared. */
export type Named = { readonly given: string } & (
  | { readonly address: string; readonly doubt: string | null }
  | { readonly hash: WrittenHash }
);

/** As `readAddresses`, each in its place. Throws exit 2. */
export function readEach(raw: readonly string[], defaultCountry: string | null): readonly Named[] {
  const readers = {
    msisdn: createAddressReader('msisdn', defaultCountry),
    email: createAddressReader('email', null),
    contact: createAddressReader('contact', null),
  };
  const wrong: Diagnostic[] = [];
  const named: Named[] = [];
  for (const given of raw) {
    const hash = readHash(given);
    if (hash !== null) {
      named.push({ given, hash });
      continue;
    }
    const kind = given.startsWith(CONTACT) ? 'contact' : given.includes('@') && !isChatId(given) ? 'email' : 'msisdn';
    const found = readers[kind](kind === 'contact' ? given.slice(CONTACT.length) : given);
    if ('problem' in found) wrong.push(noAddress(given, kind, found));
    else named.push({ given, address: listedForm(found.to), doubt: doubtAboutLength(found) });
  }
  if (wrong.length > 0) throw new HandbillError(EXIT.refused, wrong);
  return named;
}

const CONTACT = 'contact:';

/** Masks only what may be a person's address, because logs hold messages too. */
export function shownArgument(text: string): string {
  const digits = text.replace(/\D/g, '').length;
  return /^[+0(]|@/.test(text) || digits >= 10 ? mask(text) : text.slice(0, 100);
}

function noAddress(text: string, kind: AddressKind, { problem: why, hint }: AddressProblem): Diagnostic {
  const advice = hint ?? 'Write it with + and the country code, such as +447700900123.';
  const usable =
    kind === 'msisdn' ? advice.replace('`recipients.defaultCountry`', '`defaultCountry` in handbill.yaml') : hint;
  return problem('invalid-address', `"${shownArgument(text)}" ${why}.`, { hint: usable });
}

/** Throws exit 2 if the key of the project is not there. */
export async function hasherOf(project: Project, context: Pick<ResolvedOptions, 'env'>): Promise<Hasher> {
  const reading = await readHasher(project.suppressionKey, context.env, project.root);
  if ('problem' in reading) throw refuse(reading.problem);
  return reading.hasher;
}

/** Throws exit 2 for hashes that this project could not compare with any address. */
export async function checkHashes(
  hashes: readonly WrittenHash[],
  project: Project,
  context: Pick<ResolvedOptions, 'env'>,
): Promise<void> {
  if (hashes.length === 0) return;
  const hasher = await hasherOf(project, context);
  const other = hashes.find(({ keyId }) => keyId !== hasher.keyId);
  if (other !== undefined)
    throw refuse(otherKeyProblem(other.keyId, hasher, { file: project.file ?? 'handbill.yaml' }));
}
