import { findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { findSuppressions } from '../campaign/read-suppressions.ts';
import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { Suppression as LedgerEntry } from '../ledger/records.ts';
import { shownTopic } from '../ledger/suppressions.ts';
import type { SuppressionCheck as CheckSchema } from '../model/result-types.ts';
import {
  ADDRESS_KINDS,
  type AddressKind,
  type Project,
  type SuppressionAnswer,
  type SuppressionEntry,
} from '../model.ts';
import {
  checkHashKey,
  createKeyCheck,
  hashKeyState,
  readSuppressionList,
  readSuppressions,
  type SuppressionSource,
  sourcesOf,
} from '../plan/suppression.ts';
import { unreachableIn } from '../plan/unreachable.ts';
import { createAddressReader } from '../recipients/address.ts';
import { type Hasher, type HasherReading, readHasher, writeHash } from '../suppression/hash.ts';
import { kindOf, listedForm, spellingsOf } from '../util/address-form.ts';
import { csvCell } from '../util/csv.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { iso } from '../util/time.ts';
import {
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  withDefaults,
} from './options.ts';
import { countryOf, projectHere } from './project.ts';
import { checkHashes, hasherOf, type Named, readEach } from './suppress-change.ts';

export type Lists = Pick<Ledger, 'suppressions' | 'suppressedHashes'>;

export const EMPTY: Lists = { suppressions: () => [], suppressedHashes: () => [] };

export const EXPORT_SUPPRESSIONS = {
  hashed: { flag: '--hashed', says: 'keyed hashes instead of addresses, without reasons' },
} as const satisfies OptionTable;

/** The form of the exported entries. */
export interface ExportSuppressionsOptions extends ProjectOptions, OptionsOf<typeof EXPORT_SUPPRESSIONS> {}

export interface Suppression {
  /** Null where only a hash of it is known. */
  readonly address: string | null;
  /** With the id of its key, as suppression files have it; null for an address that is known. */
  readonly hash: string | null;
  /** The entry counts for campaigns with this topic; null: for all. */
  readonly topic: string | null;
  readonly reason: string | null;
  /** ISO 8601 in UTC; null: without end. */
  readonly until: string | null;
  /** `user`, a file or a reply. */
  readonly source: string;
  readonly createdAt: string;
}

/**
 * `handbill suppress list`: the list in the ledger, addresses first. The ledger is closed when the loop ends or is left.
 *
 * @throws HandbillError exit 2 (a project file that is wrong), 7 (ledger)
 */
export async function* listSuppressions(options: ProjectOptions = {}): AsyncGenerator<Suppression, void, undefined> {
  const resolved = withDefaults(options);
  const { project } = projectHere(resolved);
  using ledger = openExistingLedger(project.ledger, { nowMs: resolved.now() });
  const lists = ledger ?? EMPTY;
  for (const one of lists.suppressions()) yield { address: one.address, hash: null, ...factsOf(one) };
  for (const one of lists.suppressedHashes()) yield { address: null, hash: writeHash(one), ...factsOf(one) };
}

export function factsOf({ topic, reason, untilMs, source, createdAtMs }: Omit<LedgerEntry, 'address'>) {
  const until = iso(untilMs);
  return { topic: shownTopic(topic), reason, until, source, createdAt: iso(createdAtMs) };
}

/**
 * `handbill suppress export`: the list as the text of a suppression file, in pieces. The ledger is closed when the loop
 * ends or is left.
 *
 * @throws HandbillError exit 2: the key of hashes is not there, or is another one; 7 (ledger)
 */
export async function* exportSuppressions(
  options: ExportSuppressionsOptions = {},
): AsyncGenerator<string, void, undefined> {
  const resolved = withDefaults(options);
  const { project } = projectHere(resolved);
  const hasher = options.hashed === true ? await hasherOf(project, resolved) : null;
  using ledger = openExistingLedger(project.ledger, { nowMs: resolved.now() });
  // Hashes of two keys do not go together in one file.
  if (hasher !== null && ledger !== null) checkHashKey({ hasher: { hasher } }, ledger);
  const lists = ledger ?? EMPTY;
  yield* hasher === null ? asCsv(lists) : asHashes(lists, hasher);
}

/** As a suppression file, which another project can import. */
export function* asCsv(lists: Lists): Generator<string> {
  yield 'msisdn,email,contact,hash,reason,until,topic\r\n';
  const columnOf = createColumnOf();
  for (const { address, reason, untilMs, topic } of lists.suppressions()) {
    const kind = columnOf(address);
    const addresses = ADDRESS_KINDS.map((one) => (one === kind ? address : null));
    yield line(...addresses, null, reason, iso(untilMs), shownTopic(topic));
  }
  for (const { reason, untilMs, topic, ...hash } of lists.suppressedHashes()) {
    yield line(null, null, null, writeHash(hash), reason, iso(untilMs), shownTopic(topic));
  }
}

/** The column tells an import the kind of address: the id of a contact may look like an invalid number. */
function createColumnOf(): (address: string) => AddressKind {
  const read = { msisdn: createAddressReader('msisdn', null), email: createAddressReader('email', null) };
  return (address) => {
    const kind = kindOf(address);
    if (kind === 'contact') return kind;
    const found = read[kind](address);
    return 'to' in found && listedForm(found.to) === address ? kind : 'contact';
  };
}

/** Without reasons, which may identify a person. */
function* asHashes(lists: Lists, { keyId, hash }: Hasher): Generator<string> {
  yield 'hash,until,topic\r\n';
  for (const { address, untilMs, topic } of lists.suppressions()) {
    yield line(writeHash({ keyId, hash: hash(address) }), iso(untilMs), shownTopic(topic));
  }
  for (const { untilMs, topic, ...written } of lists.suppressedHashes()) {
    yield line(writeHash(written), iso(untilMs), shownTopic(topic));
  }
}

function line(...cells: readonly (string | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** The addresses to look up. */
export interface CheckSuppressionsOptions extends ProjectOptions {
  /** Numbers, email addresses, `contact:ID`s or hashes, each of which gets an answer. Default: none. */
  readonly addresses?: readonly string[];
}

/** Contents of the lists of a project, and problems that stop its campaigns. */
export interface SuppressionCheck extends Omit<CheckSchema, 'version' | 'problems' | 'answers'> {
  readonly problems: readonly Diagnostic[];
  /** One for each of `addresses`, in their order. */
  readonly answers: readonly SuppressionAnswer[];
}

/**
 * `handbill suppress check`: what the lists of the project hold, and whether the key of their hashes is there; for each of
 * `addresses`, whether it is suppressed, why, and by which list.
 *
 * @throws HandbillError exit 2 (a project file that is wrong, what is no address), 7 (ledger)
 */
export async function checkSuppressions(options: CheckSuppressionsOptions = {}): Promise<SuppressionCheck> {
  return (await lookAtSuppressions(options)).checked;
}

/** As `checkSuppressions`, with the number of problems: `problems` has the first ones of each list. */
export async function lookAtSuppressions(options: CheckSuppressionsOptions) {
  const { addresses = [] } = options;
  const context = withDefaults(options);
  const reading = projectHere(context);
  const { project } = reading;
  const named = readEach(addresses, countryOf(reading));
  await checkHashes(
    named.flatMap((one) => ('hash' in one ? [one.hash] : [])),
    project,
    context,
  );
  const found = findSuppressions(null, reading, context.cwd);
  const listed = {
    suppressions: found.files,
    topic: null,
    recipients: { defaultCountry: countryOf(reading) },
    project,
  };
  using ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  const held = ledger ?? { path: placeOfLedger(project.ledger, context.cwd), ...NO_LEDGER };
  const { problem, ...state } = await hashKeyState(project, context.env, held);
  const own = sourcesOf(listed).map((source) => ({ ...source, campaigns: null }));
  const answered =
    named.length === 0
      ? { found: [], ...(await readSuppressions(listed, context.env)).faults }
      : await answer(
          named,
          ledger,
          [...own, ...(await listsOfCampaigns(project, context))],
          await readHasher(project.suppressionKey, context.env, project.root),
          context.now(),
        );
  const problems = [...found.diagnostics, ...answered.diagnostics, ...(problem === null ? [] : [problem])];
  const total = found.diagnostics.length + answered.total + (problem === null ? 0 : 1);
  const { addresses: count } = held.suppressionCounts();
  const files = found.files.map(({ file }) => file);
  const answers = named.map((one, i) => {
    const among = ledger === null || !('address' in one) ? [] : [one.address];
    const failing = ledger === null ? [] : unreachableIn(project, found.unreachable, ledger, context.now(), among);
    const entries = answered.found[i] ?? [];
    const isEverywhere = entries.some((entry) => entry.active && entry.campaigns === null && entry.topic === null);
    const suppressed = isEverywhere ? true : total === 0 ? false : null;
    const address = 'address' in one ? one.address : null;
    const plain: SuppressionAnswer = { given: one.given, address, suppressed, entries };
    return failing.length === 0 ? plain : { ...plain, unreachable: failing };
  });
  return { checked: { addresses: count, ...state, files, problems, answers }, total, timeZone: project.timeZone };
}

const NO_LEDGER = { hashKeyId: () => null, suppressionCounts: () => ({ addresses: 0, hashes: 0 }) };

/** Campaigns that name the list; null: the project does. */
type AnsweringList = SuppressionSource & { readonly campaigns: string[] | null };

/** The lists that only campaigns name. Ignores an invalid campaign: it cannot be sent either. */
async function listsOfCampaigns({ root }: Project, { cwd }: Pick<ResolvedOptions, 'cwd'>) {
  const lists = new Map<string, AnsweringList & { readonly campaigns: string[] }>();
  for (const file of findCampaigns([], root).files) {
    const { campaign } = await readCampaign(file, { cwd });
    if (campaign === null) continue;
    const own = { ...campaign, suppressions: campaign.suppressions.filter(({ namedBy }) => namedBy === 'campaign') };
    for (const source of sourcesOf(own)) {
      // Numbers are read by the country.
      const key = JSON.stringify(source);
      const list = lists.get(key) ?? { ...source, campaigns: [] };
      list.campaigns.push(campaign.name);
      lists.set(key, list);
    }
  }
  return [...lists.values()];
}

/** Looks each address up in the ledger and in every list. Returns also the errors in the lists. */
async function answer(
  named: readonly Named[],
  ledger: Ledger | null,
  lists: readonly AnsweringList[],
  reading: HasherReading,
  nowMs: number,
) {
  const hasher = 'hasher' in reading ? reading.hasher : null;
  const found = named.map(() => [] as SuppressionEntry[]);
  const isActive = (untilMs: number | null): boolean => untilMs === null || untilMs > nowMs;
  const { byForm, byHash, hasHashes } = indexOf(named, hasher);
  const add = (at: readonly number[], entry: SuppressionEntry): void => {
    for (const i of at) found[i]?.push(entry);
  };
  if (ledger !== null) {
    const facts = { list: 'ledger', line: null, campaigns: null };
    // A hash is compared with the addresses too: their list may be the only one that names the person.
    const forms = hasHashes && hasher !== null ? everyForm(ledger) : byForm.keys();
    for (const form of forms) {
      const at = placesOf(form);
      if (at.length === 0) continue;
      for (const one of ledger.suppressionsOf(form)) add(at, { ...facts, hashed: false, ...timesOf(one) });
    }
    for (const [hash, at] of byHash) {
      for (const one of ledger.suppressedHashesOf(hash)) add(at, { ...facts, hashed: true, ...timesOf(one) });
    }
  }
  const diagnostics: Diagnostic[] = [];
  let total = 0;
  for (const { campaigns, ...source } of lists) {
    const keys = createKeyCheck(source.file, reading);
    const entry = (untilMs: number | null, reason: string | null, line: number, topic: string) => ({
      list: source.file,
      line,
      campaigns,
      topic: shownTopic(topic),
      reason,
      since: null,
      until: iso(untilMs),
      source: null,
      active: isActive(untilMs),
    });
    const read = await readSuppressionList(source, {
      address(form, untilMs, reason, line, topic) {
        add(placesOf(form), { ...entry(untilMs, reason, line, topic), hashed: false });
      },
      hash({ keyId, hash }, untilMs, reason, line, topic) {
        keys.see(keyId, line);
        if (keyId !== hasher?.keyId) return;
        add(byHash.get(hash) ?? [], { ...entry(untilMs, reason, line, topic), hashed: true });
      },
    });
    for (const faults of [read, keys.faults()]) {
      diagnostics.push(...faults.diagnostics);
      total += faults.total;
    }
  }
  return { found, diagnostics, total };

  function timesOf(one: Omit<LedgerEntry, 'address'>) {
    const { topic, reason, createdAt: since, until, source } = factsOf(one);
    return { topic, reason, since, until, source, active: isActive(one.untilMs) };
  }

  function placesOf(form: string): readonly number[] {
    if (!hasHashes || hasher === null) return byForm.get(form) ?? [];
    return [...new Set(spellingsOf(form).flatMap((one) => byHash.get(hasher.hash(one)) ?? []))];
  }
}

/** Where each address and each hash was named. With a hasher, an address is found by its hash too. */
function indexOf(named: readonly Named[], hasher: Hasher | null) {
  const byForm = new Map<string, number[]>();
  const byHash = new Map<string, number[]>();
  const push = (map: Map<string, number[]>, key: string, at: number): void => {
    map.set(key, [...(map.get(key) ?? []), at]);
  };
  for (const [at, one] of named.entries()) {
    if ('hash' in one) push(byHash, one.hash.hash, at);
    else {
      push(byForm, one.address, at);
      for (const hash of hasher === null ? [] : spellingsOf(one.address).map(hasher.hash)) push(byHash, hash, at);
    }
  }
  return { byForm, byHash, hasHashes: named.some((one) => 'hash' in one) };
}

function* everyForm(ledger: Pick<Ledger, 'suppressions'>): Iterable<string> {
  for (const { address } of ledger.suppressions()) yield address;
}
