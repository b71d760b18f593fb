import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ClaimRules } from '../ledger/records.ts';
import type { Campaign, Project } from '../model.ts';
import { type Book, createBook } from '../suppression/book.ts';
import { formsOf, listedForm } from '../suppression/form.ts';
import type { Hasher } from '../suppression/hash.ts';
import { type HasherReading, readHasher } from '../suppression/key.ts';
import type { View } from './decide.ts';
import { type ListFaults, sourcesOf } from './suppression-lists.ts';
import { otherKeyProblem, type Part, readPart, readShared, type SharedLists } from './suppression-parts.ts';

/** What of a campaign says which lists there are, and how they are read. */
export type Listed = Parameters<typeof sourcesOf>[0] & Pick<Campaign, 'project'>;

export type Variables = Readonly<Record<string, string | undefined>>;

/** The suppressions that one start knows, in addition to those in the ledger. The files are as they were then. */
export interface Suppressions {
  /** For every claim of the start. */
  readonly rules: ClaimRules;
  /** The list that has this address at this time, or null. */
  listOf(to: string, key: string, nowMs: number): string | null;
  readonly hasher: HasherReading;
  /** No file has an entry. */
  readonly isEmpty: boolean;
}

/** No file has an entry, and no hash can be compared. */
export const NO_SUPPRESSIONS: Suppressions = createSuppressions([], {
  problem: problem('missing-suppression-key', 'No suppression key was read.'),
});

/** So many look-ups in the ledger cost as much as to read all its entries into memory. */
const LOOKUPS_PER_ENTRY = 1 / 2;

/**
 * Reads the suppression lists of a campaign and the key of their hashes, at every start.
 *
 * @throws HandbillError (exit 2): a list that cannot be read, rows that cannot be understood - all of them -, hashes
 *   without their key or with another one's
 */
export async function loadSuppressions(campaign: Campaign, env: Variables): Promise<Suppressions> {
  const { suppressions, faults } = await readSuppressions(campaign, env);
  if (faults.total > 0) throw new HandbillError(EXIT.refused, faults.diagnostics, faults.total);
  return suppressions;
}

/**
 * As `loadSuppressions`, with what is wrong as diagnostics. What is right can be looked up all the same.
 *
 * @param shared - lists that were read before, and those that are read now; default: all are read into one book, in
 *   which an address is found at once
 */
export async function readSuppressions(
  campaign: Listed,
  env: Variables,
  shared?: SharedLists,
): Promise<{ readonly suppressions: Suppressions; readonly faults: ListFaults }> {
  const sources = sourcesOf(campaign);
  const { root, suppressionKey } = campaign.project;
  const reading = await readHasher(suppressionKey, env, root);
  const parts =
    shared === undefined ? [await readPart(sources, reading)] : await readShared(sources, root, reading, shared);
  const diagnostics = parts.flatMap(({ faults }) => faults.diagnostics);
  const total = parts.reduce((sum, { faults }) => sum + faults.total, 0);
  return { suppressions: createSuppressions(parts, reading), faults: { diagnostics, total } };
}

function createSuppressions(parts: readonly Part[], reading: HasherReading): Suppressions {
  const hasher = 'hasher' in reading ? reading.hasher : null;
  const filled = parts.filter(({ book }) => book.addresses + book.hashes > 0);
  const isEmpty = filled.length === 0;
  // A hash is made only where there are hashes to compare it with.
  const lookUps = filled.map(({ book, names }) => ({ find: lookUpIn(book, hasher), names }));
  const find = (form: string, nowMs: number): string | null => {
    for (const { find: findIn, names } of lookUps) {
      const name = names[findIn(form, nowMs)];
      if (name !== undefined) return name;
    }
    return null;
  };
  const listOf = (to: string, key: string, nowMs: number): string | null => {
    if (isEmpty) return null;
    // Few recipients have another key than the address; the others need no array.
    if (key === to) return find(listedForm(to), nowMs);
    for (const form of formsOf(to, key)) {
      const name = find(form, nowMs);
      if (name !== null) return name;
    }
    return null;
  };
  return {
    rules: { isListed: (to, key, nowMs) => listOf(to, key, nowMs) !== null, forms: formsOf, hasher },
    listOf,
    hasher: reading,
    isEmpty,
  };
}

/**
 * Compares the key with that of the hashes in the ledger.
 *
 * @throws HandbillError (exit 2) where the ledger holds hashes and their key is not there
 */
export function checkHashKey({ hasher }: Pick<Suppressions, 'hasher'>, ledger: HashReader): void {
  const found = ledgerKeyProblem(hasher, ledger);
  if (found !== null) throw refuse(found);
}

type HashReader = Pick<Ledger, 'hashKeyId' | 'path'>;

function ledgerKeyProblem(reading: HasherReading, ledger: HashReader): Diagnostic | null {
  const keyId = ledger.hashKeyId();
  if (keyId === null) return null;
  if ('problem' in reading) {
    const { code, message, hint } = reading.problem;
    const said = `The suppression list of the ledger holds hashes (key ${keyId}). ${message}`;
    return problem(code, said, { at: { file: ledger.path }, ...(hint === undefined ? {} : { hint }) });
  }
  return keyId === reading.hasher.keyId ? null : otherKeyProblem(keyId, reading.hasher, { file: ledger.path });
}

/** How many hashes the ledger holds, under which key, and whether the project has that key. */
export interface HashKeyState {
  readonly hashes: number;
  /** Null: there are none. */
  readonly keyId: string | null;
  /** Id of the project's key; null: it is not there. */
  readonly ownKeyId: string | null;
  /** Why sending would be refused; null: it would not. */
  readonly problem: Diagnostic | null;
}

/** For checks of a machine: nothing is thrown for a key that is not there. */
export async function hashKeyState(
  project: Pick<Project, 'suppressionKey' | 'root'>,
  env: Variables,
  ledger: HashReader & Pick<Ledger, 'suppressionCounts'>,
): Promise<HashKeyState> {
  const reading = await readHasher(project.suppressionKey, env, project.root);
  const keyId = ledger.hashKeyId();
  return {
    hashes: keyId === null ? 0 : ledger.suppressionCounts().hashes,
    keyId,
    ownKeyId: 'hasher' in reading ? reading.hasher.keyId : null,
    problem: ledgerKeyProblem(reading, ledger),
  };
}

type SuppressionReader = HashReader &
  Pick<Ledger, 'isSuppressed' | 'isHashSuppressed' | 'suppressions' | 'suppressedHashes' | 'suppressionCounts'>;

/**
 * Says for each recipient which list names them: a file, or the ledger. What is added to the ledger while a run is
 * going is seen by the claims.
 *
 * @param ledger null: there is none, or the claims look at it
 * @returns nothing to ask where no list has an entry
 * @throws HandbillError (exit 2) where the ledger holds hashes and their key is not there
 */
export function suppressionView(
  suppressions: Suppressions,
  ledger: SuppressionReader | null,
  now: () => number,
): Pick<View, 'suppressed'> {
  const inLedger = ledger === null ? null : ledgerLookup(suppressions, ledger, now);
  if (inLedger === null && suppressions.isEmpty) return {};
  return {
    suppressed(to, key) {
      const file = suppressions.listOf(to, key, now());
      if (file !== null) return `on the list ${file}`;
      return inLedger?.(to, key) === true ? 'on the list in the ledger' : null;
    },
  };
}

/**
 * Looks addresses up in the ledger's list. Once so many were asked for that it is worth it, the list is read into memory:
 * a look-up in a ledger on another machine takes 100 us and more, and a short list is not worth a million entries.
 */
function ledgerLookup(
  suppressions: Suppressions,
  ledger: SuppressionReader,
  now: () => number,
): ((to: string, key: string) => boolean) | null {
  checkHashKey(suppressions, ledger);
  const counts = ledger.suppressionCounts();
  const entries = counts.addresses + counts.hashes;
  if (entries === 0) return null;
  const { hasher } = suppressions.rules;
  let left = entries * LOOKUPS_PER_ENTRY;
  let find: ((form: string, nowMs: number) => number) | null = null;
  const isListed = (form: string): boolean => {
    if (left-- > 0) {
      if (ledger.isSuppressed(form, now())) return true;
      return counts.hashes > 0 && hasher !== null && ledger.isHashSuppressed(hasher.hash(form), now());
    }
    find ??= lookUpIn(bookOf(ledger), hasher);
    return find(form, now()) !== -1;
  };
  return (to, key) => (key === to ? isListed(listedForm(to)) : formsOf(to, key).some(isListed));
}

function bookOf(ledger: SuppressionReader): Book {
  const book = createBook();
  for (const { address, untilMs } of ledger.suppressions()) book.add(address, untilMs, 0);
  for (const { hash, untilMs } of ledger.suppressedHashes()) book.addHash(hash, untilMs, 0);
  return book;
}

/** The number of the list that names an address, by itself or by its hash, or -1. */
function lookUpIn(book: Book, hasher: Hasher | null): (form: string, nowMs: number) => number {
  if (hasher === null || book.hashes === 0) return book.find;
  return (form, nowMs) => {
    const listed = book.find(form, nowMs);
    return listed === -1 ? book.findHash(hasher.hash(form), nowMs) : listed;
  };
}
