import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { HashEntry, SuppressEntry } from '../ledger/records.ts';
import { otherKey } from '../ledger/suppressions.ts';
import type { Project } from '../model.ts';
import { checkHashKey, createKeyCheck, readSuppressionList, type SuppressionSource } from '../plan/suppression.ts';
import type { ListDigest } from '../recipients/read.ts';
import { type HasherReading, readHasher } from '../suppression/hash.ts';
import { createUntilReader } from '../suppression/until.ts';
import { displayPath, findFileAnywhere } from '../util/paths.ts';
import { type ProjectOptions, type Settled, settle } from './options.ts';
import { paced } from './paced.ts';
import { projectHere } from './project-ledger.ts';
import { checkHashes, countryOf, hasherOf, type NamedAddresses, readAddresses } from './suppress-addresses.ts';

/** Why and how long an address is not sent to. */
export interface AddSuppressionsOptions extends ProjectOptions {
  /** For people who read the list. Default: none. */
  readonly reason?: string;
  /** Until the end of a day (`2027-01-31`) or an instant (`2027-01-31T09:00:00Z`). Default: without end. */
  readonly until?: string;
}

/**
 * `handbill suppress add`: never sends to these numbers, email addresses, `contact:ID`s or hashes again.
 *
 * @returns how many were added, and how many had been there before
 * @throws HandbillError exit 2 with everything that is no address; 7 (ledger)
 */
export async function addSuppressions(
  addresses: readonly string[],
  options: AddSuppressionsOptions = {},
): Promise<{ readonly added: number; readonly known: number }> {
  const settled = settle(options);
  const { reason, until } = options;
  const nowMs = settled.now();
  const reading = await projectHere(settled, settled.ledger);
  const { project } = reading;
  const untilMs = until === undefined ? null : await untilOf(until, project.timeZone, nowMs);
  const named = readAddresses(addresses, countryOf(reading));
  await checkHashes(named.hashes, project, settled);
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  try {
    const facts = { reason: reason === '' ? null : (reason ?? null), untilMs, source: 'user' };
    const added = ledger.suppressAll(
      named.addresses.map((address) => ({ address, ...facts })),
      named.hashes.map((hash) => ({ ...hash, ...facts })),
      nowMs,
    );
    return { added, known: named.addresses.length + named.hashes.length - added };
  } finally {
    ledger.close();
  }
}

/**
 * `handbill suppress remove`: takes them off the list, and the hashes of them too.
 *
 * @returns how many were removed, and how many were not there
 * @throws HandbillError exit 2 with everything that is no address, or without the key of the hashes; 7 (ledger)
 */
export async function removeSuppressions(
  addresses: readonly string[],
  options: ProjectOptions = {},
): Promise<{ readonly removed: number; readonly absent: number }> {
  const settled = settle(options);
  const reading = await projectHere(settled, settled.ledger);
  const named = readAddresses(addresses, countryOf(reading));
  const removed = await removeFrom(reading.project, named, settled, settled.now());
  return { removed, absent: named.addresses.length + named.hashes.length - removed };
}

/** How many were on the list, in clear or as hashes. */
async function removeFrom(
  project: Project,
  { addresses, hashes }: NamedAddresses,
  context: Pick<Settled, 'env'>,
  nowMs: number,
): Promise<number> {
  // Opened to read first: taking something off a list that does not exist must not make a ledger.
  const existing = openExistingLedger(project.ledger, { nowMs });
  if (existing === null) return 0;
  const holdsHashes = existing.hashKeyId() !== null;
  existing.close();
  const hasher = holdsHashes && addresses.length > 0 ? await hasherOf(project, context) : null;
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  try {
    // Without the key it is unknown whether the address is still on the list, as a hash.
    if (hasher !== null) checkHashKey({ hasher: { hasher } }, ledger);
    const gone = addresses.filter((address) => {
      const asHash = hasher !== null && ledger.unsuppressHash(hasher.hash(address));
      return ledger.unsuppress(address) || asHash;
    });
    return gone.length + hashes.filter(({ hash }) => ledger.unsuppressHash(hash)).length;
  } finally {
    ledger.close();
  }
}

async function untilOf(text: string, timeZone: string, nowMs: number): Promise<number> {
  const ms = (await createUntilReader(timeZone))(text);
  const hint = 'Write a day such as 2027-01-31, or an instant such as 2027-01-31T09:00:00Z.';
  if (ms === null) throw refuse(problem('usage', `--until "${text}" is no date.`, { hint }));
  if (ms <= nowMs) throw refuse(problem('usage', `--until ${text} has passed.`, { hint: 'Give a time to come.' }));
  return ms;
}

/** Entries of one transaction: 30 ms, for which others wait. */
const BATCH = 5000;

/**
 * `handbill suppress import`: adds all rows of a suppression file; a bad row refuses the file.
 *
 * @param file - CSV with a column `msisdn`, `email`, `contact` or `hash`, relative to `cwd`
 * @returns the file as the user would name it, how many entries it has, and how many of them were added
 * @throws HandbillError exit 2 with every row that is wrong; 7 (ledger)
 */
export async function importSuppressions(
  file: string,
  options: ProjectOptions = {},
): Promise<{ readonly file: string; readonly entries: number; readonly added: number }> {
  const settled = settle(options);
  const { cwd, env } = settled;
  const reading = await projectHere(settled, settled.ledger);
  // The file is read twice, so that memory stays flat: once to check every row before anything is imported, and once to
  // import, in steps between which other processes get the ledger. If it is killed in between, importing again
  // completes it: an import never weakens an entry.
  const { project } = reading;
  const found = await findFileAnywhere(cwd, file);
  if ('fault' in found) {
    const { code, message, hint } = found.fault;
    throw refuse(problem(code, message, hint === undefined ? {} : { hint }));
  }
  const name = displayPath(found.path, cwd);
  const source = { path: found.path, file: name, defaultCountry: countryOf(reading), timeZone: project.timeZone };
  const hasher = await readHasher(project.suppressionKey, env, project.root);
  const checked = await check(source, hasher);
  const nowMs = settled.now();
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  try {
    refuseOtherKey(ledger, checked.keyId);
    const { all, added } = await takeOver(ledger, source, checked.digest, nowMs);
    return { file: name, entries: all, added };
  } finally {
    ledger.close();
  }
}

interface Checked {
  /** The digest of the bytes that were checked: no others are imported. */
  readonly digest: ListDigest;
  /** Key of the hashes; null if there are none. */
  readonly keyId: string | null;
}

/** @throws HandbillError with every row that is wrong */
async function check(source: SuppressionSource, hasher: HasherReading): Promise<Checked> {
  let keyId: string | null = null;
  const keys = createKeyCheck(source.file, hasher);
  const { diagnostics, total, digest } = await readSuppressionList(source, {
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
  return { digest, keyId };
}

/**
 * Checked before anything is imported: otherwise the addresses before the first hash would be in the ledger already.
 */
function refuseOtherKey(ledger: Pick<Ledger, 'hashKeyId' | 'path'>, keyId: string | null): void {
  const known = ledger.hashKeyId();
  if (keyId !== null && known !== null && known !== keyId) throw otherKey(ledger.path, known, keyId);
}

async function takeOver(
  ledger: Pick<Ledger, 'suppressAll'>,
  source: SuppressionSource,
  digest: ListDigest,
  nowMs: number,
): Promise<{ readonly all: number; readonly added: number }> {
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
  const sink = {
    address(address: string, untilMs: number | null, reason: string | null) {
      addresses.push({ address, untilMs, reason, source: file });
    },
    hash(hash: Pick<HashEntry, 'hash' | 'keyId'>, untilMs: number | null, reason: string | null) {
      hashes.push({ ...hash, untilMs, reason, source: file });
    },
  };
  const full = (): Promise<void> | undefined => (addresses.length + hashes.length < BATCH ? undefined : flush());
  const { diagnostics, total } = await readSuppressionList(source, sink, { expected: digest, each: full });
  if (total > 0) throw new HandbillError(EXIT.refused, diagnostics, total);
  if (addresses.length + hashes.length > 0) await flush();
  return { all, added };
}
