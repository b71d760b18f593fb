import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { ADDRESS_KINDS, type AddressKind } from '../model.ts';
import { checkHashKey } from '../plan/suppression.ts';
import { createAddressReader } from '../recipients/address.ts';
import { kindOf, listedForm } from '../suppression/form.ts';
import { type Hasher, writeHash } from '../suppression/hash.ts';
import { csvCell } from '../util/csv-cell.ts';
import { type ProjectOptions, settle } from './options.ts';
import { projectHere } from './project-ledger.ts';
import { hasherOf } from './suppress-addresses.ts';

const EMPTY: Pick<Ledger, 'suppressions' | 'suppressedHashes'> = { suppressions: () => [], suppressedHashes: () => [] };

/** In which form the list is written. */
export interface ExportSuppressionsOptions extends ProjectOptions {
  /** Keyed hashes instead of addresses, without reasons. Default: false. */
  readonly hashed?: boolean;
}

/** One entry of the list. */
export interface Suppression {
  /** Null where only a hash of it is known. */
  readonly address: string | null;
  /** With the id of its key, as suppression files have it; null for an address that is known. */
  readonly hash: string | null;
  readonly reason: string | null;
  /** ISO 8601 in UTC; null: without end. */
  readonly until: string | null;
  /** Where it comes from: `user`, a file, a reply. */
  readonly source: string;
  readonly createdAt: string;
}

/**
 * `handbill suppress list`: the list in the ledger, addresses first. The ledger is closed when the loop ends or is left.
 *
 * @throws HandbillError exit 2 (a project file that is wrong), 7 (ledger)
 */
export async function* listSuppressions(options: ProjectOptions = {}): AsyncGenerator<Suppression, void, undefined> {
  const settled = settle(options);
  const { project } = await projectHere(settled, settled.ledger);
  const ledger = openExistingLedger(project.ledger, { nowMs: settled.now() });
  if (ledger === null) return;
  try {
    for (const { address, ...rest } of ledger.suppressions()) yield { address, hash: null, ...factsOf(rest) };
    for (const { hash, keyId, ...rest } of ledger.suppressedHashes()) {
      yield { address: null, hash: writeHash({ hash, keyId }), ...factsOf(rest) };
    }
  } finally {
    ledger.close();
  }
}

function factsOf({
  reason,
  untilMs,
  source,
  createdAtMs,
}: {
  readonly reason: string | null;
  readonly untilMs: number | null;
  readonly source: string;
  readonly createdAtMs: number;
}) {
  const until = untilMs === null ? null : new Date(untilMs).toISOString();
  return { reason, until, source, createdAt: new Date(createdAtMs).toISOString() };
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
  const settled = settle(options);
  const { project } = await projectHere(settled, settled.ledger);
  const hasher = options.hashed === true ? await hasherOf(project, settled) : null;
  const ledger = openExistingLedger(project.ledger, { nowMs: settled.now() });
  try {
    // Hashes of two keys do not go together in one file.
    if (hasher !== null && ledger !== null) checkHashKey({ hasher: { hasher } }, ledger);
    const lists = ledger ?? EMPTY;
    yield* hasher === null ? asCsv(lists) : asHashes(lists, hasher);
  } finally {
    ledger?.close();
  }
}

type Lists = Pick<Ledger, 'suppressions' | 'suppressedHashes'>;

/** In the form of a suppression file, so that one project's list can be another's. */
export function* asCsv(lists: Lists): Generator<string> {
  yield 'msisdn,email,contact,hash,reason,until\r\n';
  const columnOf = createColumnOf();
  for (const { address, reason, untilMs } of lists.suppressions()) {
    const kind = columnOf(address);
    const addresses = ADDRESS_KINDS.map((one) => (one === kind ? address : null));
    yield line(...addresses, null, reason, untilOf(untilMs));
  }
  for (const { reason, untilMs, ...hash } of lists.suppressedHashes()) {
    yield line(null, null, null, writeHash(hash), reason, untilOf(untilMs));
  }
}

/**
 * The column in which an import reads an address as the right kind: the id of a contact may look like an invalid
 * number.
 */
function createColumnOf(): (address: string) => AddressKind {
  const read = { msisdn: createAddressReader('msisdn', null), email: createAddressReader('email', null) };
  return (address) => {
    const kind = kindOf(address);
    if (kind === 'contact') return kind;
    const found = read[kind](address);
    return 'to' in found && listedForm(found.to) === address ? kind : 'contact';
  };
}

/** The same as hashes, to be shared: without reasons, which may identify a person. */
function* asHashes(lists: Lists, { keyId, hash }: Hasher): Generator<string> {
  yield 'hash,until\r\n';
  for (const { address, untilMs } of lists.suppressions()) {
    yield line(writeHash({ keyId, hash: hash(address) }), untilOf(untilMs));
  }
  for (const { untilMs, ...written } of lists.suppressedHashes()) yield line(writeHash(written), untilOf(untilMs));
}

function line(...cells: readonly (string | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function untilOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
