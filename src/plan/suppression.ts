import { type Diagnostic, EXIT, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ClaimRules } from '../ledger/records.ts';
import { appliesTo } from '../ledger/suppressions.ts';
import type { AddressKind, Campaign, ListSpec, Project, Recipient, SuppressionFile } from '../model.ts';
import { addressMessage, createAddressReader } from '../recipients/address.ts';
import type { Address } from '../recipients/phone.ts';
import { doubtAbout } from '../recipients/phone.ts';
import { type ListDigest, ONLY_CELLS, openList } from '../recipients/read.ts';
import { countOf } from '../report/words.ts';
import { type Book, createBook } from '../suppression/book.ts';
import { type AddressCell, createEntryReader, type EntrySink, findColumns } from '../suppression/entries.ts';
import { type Hasher, type HasherReading, readHasher } from '../suppression/hash.ts';
import { createUntilReader } from '../suppression/until.ts';
import { formsOf } from '../util/address-form.ts';

export type Listed = Parameters<typeof sourcesOf>[0] & Pick<Campaign, 'project'>;

type Variables = Readonly<Record<string, string | undefined>>;

/** In addition to those in the ledger. The files are as they were at the start. */
export type Suppressions = ReturnType<typeof createSuppressions>;

export const NO_SUPPRESSIONS: Suppressions = createSuppressions(
  [],
  { problem: problem('missing-suppression-key', 'No suppression key was read.') },
  null,
);

/** Look-ups in the ledger, for each of its entries, that cost as much as reading the entries into memory. */
const LOOKUPS_PER_ENTRY = 1 / 2;

/** @throws HandbillError (exit 2): an unreadable list, all invalid rows, hashes with no key or another one */
export async function loadSuppressions(campaign: Campaign, env: Variables): Promise<Suppressions> {
  const { suppressions, faults } = await readSuppressions(campaign, env);
  if (faults.total > 0) throw new HandbillError(EXIT.refused, faults.diagnostics, faults.total);
  return suppressions;
}

/** Returns the errors. `shared`: lists that were read before; by default one book holds all and finds addresses at once. */
export async function readSuppressions(campaign: Listed, env: Variables, shared?: SharedLists) {
  const sources = sourcesOf(campaign);
  const { root, suppressionKey } = campaign.project;
  const reading = await readHasher(suppressionKey, env, root);
  const { topic } = campaign;
  const parts =
    shared === undefined
      ? [await readPart(sources, topic, reading)]
      : await readShared(sources, topic, root, reading, shared);
  const diagnostics = parts.flatMap(({ faults }) => faults.diagnostics);
  const total = parts.reduce((sum, { faults }) => sum + faults.total, 0);
  return { suppressions: createSuppressions(parts, reading, topic), faults: { diagnostics, total } };
}

function createSuppressions(parts: readonly Part[], reading: HasherReading, topic: string | null) {
  const hasher = 'hasher' in reading ? reading.hasher : null;
  const filled = parts.filter(({ book }) => book.addresses + book.hashes > 0);
  const isEmpty = filled.length === 0;
  // A hash is made only where there are hashes to compare it with.
  const lookUps = filled.map(({ book, names }) => ({ find: lookUpIn(book, hasher), names }));
  const listOf = (to: string, key: string, nowMs: number): string | null => {
    if (isEmpty) return null;
    for (const form of formsOf(to, key)) {
      for (const { find, names } of lookUps) {
        const name = names[find(form, nowMs)];
        if (name !== undefined) return name;
      }
    }
    return null;
  };
  return {
    rules: {
      isListed: (to: string, key: string, nowMs: number) => listOf(to, key, nowMs) !== null,
      hasher,
    } satisfies ClaimRules,
    listOf,
    hasher: reading,
    /** Entries for other topics do not count. */
    topic,
    isEmpty,
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}

/** @throws HandbillError (exit 2): the ledger holds hashes, and their key is missing */
export function checkHashKey({ hasher }: Pick<Suppressions, 'hasher'>, ledger: HashReader): void {
  const found = ledgerKeyProblem(hasher, ledger);
  if (found !== null) throw refuse(found);
}

const LOST_KEY =
  'If the key is lost: `handbill suppress list --format csv` lists the hashes, and `handbill suppress remove hb1:...` takes them off. The people behind them, erased ones too, can then be sent to again.';

type HashReader = Pick<Ledger, 'hashKeyId' | 'path'>;

function ledgerKeyProblem(reading: HasherReading, ledger: HashReader): Diagnostic | null {
  const keyId = ledger.hashKeyId();
  if (keyId === null) return null;
  if ('problem' in reading) {
    const { code, message, hint = '' } = reading.problem;
    const said = `The suppression list of the ledger holds hashes (key ${keyId}). ${message}`;
    return problem(code, said, { at: { file: ledger.path }, hint: `${hint} ${LOST_KEY}`.trim() });
  }
  if (keyId === reading.hasher.keyId) return null;
  const other = otherKeyProblem(keyId, reading.hasher, { file: ledger.path });
  return { ...other, hint: `${other.hint} ${LOST_KEY}` };
}

/** For checks of a machine: nothing is thrown for a key that is not there. `problem`: why sending would be refused. */
export async function hashKeyState(
  project: Pick<Project, 'suppressionKey' | 'root'>,
  env: Variables,
  ledger: HashReader & Pick<Ledger, 'suppressionCounts'>,
) {
  const reading = await readHasher(project.suppressionKey, env, project.root);
  const keyId = ledger.hashKeyId();
  return {
    hashes: keyId === null ? 0 : ledger.suppressionCounts().hashes,
    keyId,
    ownKeyId: 'hasher' in reading ? reading.hasher.keyId : null,
    problem: ledgerKeyProblem(reading, ledger),
  };
}

export type SuppressionReader = HashReader &
  Pick<Ledger, 'isSuppressed' | 'isHashSuppressed' | 'suppressions' | 'suppressedHashes' | 'suppressionCounts'>;

/** Null where no list has an entry. Throws HandbillError (exit 2): the ledger has hashes, and their key is missing. */
export function suppressedBy(
  suppressions: Suppressions,
  ledger: SuppressionReader | null,
  now: () => number,
): ((recipient: Pick<Recipient, 'to' | 'key'>) => string | null) | null {
  const inLedger = ledger === null ? null : ledgerLookup(suppressions, ledger, now);
  if (inLedger === null && suppressions.isEmpty) return null;
  return ({ to, key }) => {
    const file = suppressions.listOf(to, key, now());
    if (file !== null) return `on the list ${file}`;
    return inLedger?.(to, key) === true ? 'on the list in the ledger' : null;
  };
}

/** After many look-ups it reads the list into memory: one in a remote ledger takes 100 us and more. */
function ledgerLookup(
  suppressions: Suppressions,
  ledger: SuppressionReader,
  now: () => number,
): ((to: string, key: string) => boolean) | null {
  checkHashKey(suppressions, ledger);
  const counts = ledger.suppressionCounts();
  const entries = counts.addresses + counts.hashes;
  if (entries === 0) return null;
  const { topic } = suppressions;
  const { hasher } = suppressions.rules;
  let left = entries * LOOKUPS_PER_ENTRY;
  let find: ((form: string, nowMs: number) => number) | null = null;
  const listed = (): Book => {
    const book = createBook();
    for (const one of ledger.suppressions()) if (appliesTo(one, topic)) book.add(one.address, one.untilMs, 0);
    for (const one of ledger.suppressedHashes()) if (appliesTo(one, topic)) book.addHash(one.hash, one.untilMs, 0);
    return book;
  };
  const isListed = (form: string): boolean => {
    if (left-- > 0) {
      if (ledger.isSuppressed(form, now(), topic)) return true;
      return counts.hashes > 0 && hasher !== null && ledger.isHashSuppressed(hasher.hash(form), now(), topic);
    }
    find ??= lookUpIn(listed(), hasher);
    return find(form, now()) !== -1;
  };
  return (to, key) => formsOf(to, key).some(isListed);
}

/** By itself or by its hash; -1: none. */
function lookUpIn(book: Book, hasher: Hasher | null): (form: string, nowMs: number) => number {
  if (hasher === null || book.hashes === 0) return book.find;
  return (form, nowMs) => {
    const listed = book.find(form, nowMs);
    return listed === -1 ? book.findHash(hasher.hash(form), nowMs) : listed;
  };
}

interface Part {
  readonly book: Book;
  /** By the numbers of the lists. */
  readonly names: readonly string[];
  readonly warnings: readonly Diagnostic[];
}

type ReadPart = Part & { readonly faults: ListFaults };

/** Lists that several campaigns name: a command over many campaigns reads each list once. */
export type SharedLists = Map<string, Promise<ReadPart>>;

/** `root`: the project to whose key the hashes are compared. */
async function readShared(
  sources: readonly SuppressionSource[],
  topic: string | null,
  root: string,
  reading: HasherReading,
  shared: SharedLists,
): Promise<readonly ReadPart[]> {
  const parts: ReadPart[] = [];
  for (const source of sources) {
    // The country says how its numbers are read.
    const key = JSON.stringify([root, source, topic]);
    const part = shared.get(key) ?? readPart([source], topic, reading);
    shared.set(key, part);
    parts.push(await part);
  }
  return parts;
}

async function readPart(
  sources: readonly SuppressionSource[],
  topic: string | null,
  reading: HasherReading,
): Promise<ReadPart> {
  const book = createBook();
  const diagnostics: Diagnostic[] = [];
  const warnings: Diagnostic[] = [];
  let total = 0;
  const add = (found: ListFaults): void => {
    diagnostics.push(...found.diagnostics);
    total += found.total;
  };
  for (const [number, source] of sources.entries()) {
    const keys = createKeyCheck(source.file, reading);
    const faults = await readSuppressionList(source, {
      address(form, untilMs, _reason, _line, about) {
        if (about === '' || about === topic) book.add(form, untilMs, number);
      },
      hash({ keyId, hash }, untilMs, _reason, line, about) {
        keys.see(keyId, line);
        if (about === '' || about === topic) book.addHash(hash, untilMs, number);
      },
    });
    add(faults);
    warnings.push(...faults.warnings);
    add(keys.faults());
  }
  return { book, names: sources.map(({ file }) => file), warnings, faults: { diagnostics, total } };
}

/** Checks the keys of the hashes in one list, and reports each wrong key once. */
export function createKeyCheck(file: string, reading: HasherReading) {
  const wrong = new Map<string, Diagnostic>();
  return {
    see(keyId: string, line: number): void {
      if ('problem' in reading) {
        const { code, message, hint } = reading.problem;
        // A missing row or key gets its own error, with the place of the first hash.
        const found = problem(code, `${file} holds hashes. ${message}`, { at: { file, line }, hint });
        if (wrong.size === 0) wrong.set('', found);
      } else if (keyId !== reading.hasher.keyId && !wrong.has(keyId)) {
        wrong.set(keyId, otherKeyProblem(keyId, reading.hasher, { file, line }));
      }
    },
    faults: (): ListFaults => ({ diagnostics: [...wrong.values()], total: wrong.size }),
  };
}

export function otherKeyProblem(
  keyId: string,
  hasher: Hasher,
  at: { readonly file: string; readonly line?: number },
): Diagnostic {
  const message = `Hashes were made with another key (${keyId}) than this project's (${hasher.keyId}).`;
  const hint = 'Set `suppressionKey` to the key that they were made with, or have the list made again with this one.';
  return problem('other-suppression-key', message, { at, hint });
}

export interface SuppressionSource extends Pick<SuppressionFile, 'path' | 'file'> {
  /** ISO 3166-1 alpha-2, for numbers without a country code. */
  readonly defaultCountry: string | null;
  /** IANA zone of the days in `until`. */
  readonly timeZone: string;
}

type ListFaults = { readonly diagnostics: readonly Diagnostic[]; readonly total: number };

type ListsOf = Pick<Campaign, 'suppressions' | 'topic'> & {
  readonly recipients: Pick<ListSpec, 'defaultCountry'>;
  readonly project: Pick<Project, 'defaultCountry' | 'timeZone'>;
};

/** Rows of one list that are named one by one; the rest is counted. */
const NAMED_FAULTS = 1000;

/** The country of the project comes first for lists of handbill.yaml: they mean the same in every campaign. */
export function sourcesOf({ suppressions, recipients, project }: ListsOf): readonly SuppressionSource[] {
  return suppressions.map(({ path, file, namedBy }) => {
    const [first, second] = [recipients.defaultCountry, project.defaultCountry];
    const defaultCountry = namedBy === 'campaign' ? (first ?? second) : (second ?? first);
    return { path, file, defaultCountry, timeZone: project.timeZone };
  });
}

/**
 * Reads a list as a stream into `sink`, and returns its errors, and warnings about the lengths of numbers.
 * @param expected - the bytes that the list must still have
 * @param each - called after some hundred rows; nothing more is read until it is done
 */
export async function readSuppressionList(
  source: SuppressionSource,
  sink: EntrySink,
  { expected, each }: { readonly expected?: ListDigest; readonly each?: () => Promise<void> | undefined } = {},
): Promise<ListFaults & { readonly warnings: readonly Diagnostic[]; readonly digest: ListDigest | null }> {
  const { file, defaultCountry, timeZone } = source;
  const diagnostics: Diagnostic[] = [];
  const doubts = createNumberDoubts(file);
  let total = 0;
  let digest: ListDigest | null = null;
  try {
    const list = await openList(
      { ...ONLY_CELLS, path: source.path, file: source.file, escaped: true },
      expected === undefined ? {} : { expected },
    );
    try {
      const columns = findColumns(list.columns, file, list.headerLine);
      if ('code' in columns) return { diagnostics: [columns], warnings: [], total: 1, digest };
      const untilOf = createUntilReader(timeZone);
      const read = createEntryReader(file, columns, cellsOf(defaultCountry), untilOf, sink, doubts.add);
      for await (const rows of list.rows()) {
        for (const row of rows) {
          const fault = read(row);
          if (fault !== null && ++total <= NAMED_FAULTS) diagnostics.push(hinted(fault));
        }
        const taken = each?.();
        if (taken !== undefined) await taken;
      }
      digest = list.digest();
    } finally {
      await list.close();
    }
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    diagnostics.push(...error.diagnostics.map(hinted));
    total += error.total;
  }
  return { diagnostics, warnings: doubts.warnings(), total, digest };
}

/** One warning for all numbers of a list that probably have a digit too few or too many: they match no recipient. */
export function createNumberDoubts(file: string | null) {
  let first: { readonly line: number | null; readonly problem: string } | null = null;
  let count = 0;
  return {
    add(line: number | null, problem: string): void {
      first ??= { line, problem };
      count += 1;
    },
    warnings(): readonly Diagnostic[] {
      if (first === null) return [];
      const { line, problem: why } = first;
      const more = count === 1 ? '' : ` The same kind in ${countOf(count - 1, 'more entry', 'more entries')}.`;
      const hint = 'Look for a missing or an extra digit: handbill still sends to the correct number.';
      const at = file === null ? {} : { at: { file, ...(line === null ? {} : { line }) } };
      return [warning('wrong-length-number', `The suppressed number ${why}.${more}`, { ...at, hint })];
    },
  };
}

/** Only the length counts: a person may mean a landline, or a number that is not in use. */
export function doubtAboutLength(found: Address): string | null {
  const doubt = found.assigned ? null : doubtAbout(found, false);
  return doubt?.kind === 'wrong-length' ? doubt.problem : null;
}

function cellsOf(defaultCountry: string | null): Readonly<Record<AddressKind, AddressCell>> {
  const cellOf = (kind: AddressKind): AddressCell => {
    const read = createAddressReader(kind, defaultCountry);
    return {
      read(cell) {
        const found = read(cell);
        return 'problem' in found ? found : { to: found.to, doubt: doubtAboutLength(found) };
      },
      explain: (cell, found) => addressMessage(kind, kind, cell, found),
    };
  };
  return { msisdn: cellOf('msisdn'), email: cellOf('email'), contact: cellOf('contact') };
}

/** The hints of the reader of recipients name settings that a suppression list does not have. */
function hinted(found: Diagnostic): Diagnostic {
  const hint = HINTS[found.code];
  if (hint !== undefined && (found.hint ?? '').includes('`recipients.')) return { ...found, hint };
  return found;
}

const HINTS: Partial<Record<Diagnostic['code'], string>> = {
  'file-not-found': 'Check `suppressions`.',
  'invalid-encoding': 'Save it as "CSV UTF-8".',
  'csv-nul': 'Remove it, or save the list as "CSV UTF-8".',
  'invalid-address':
    'Write it with "+" and the country code, or set `defaultCountry` in handbill.yaml, for example to GB.',
};
