import type { Diagnostic } from '../../errors.ts';
import type { SuppressionAnswer, SuppressionEntry } from '../../model.ts';
import { type ProjectOptions, present, settle } from '../options.ts';

export type { SuppressionAnswer, SuppressionEntry };

/** Why and how long an address is not sent to. */
export interface AddSuppressionsOptions extends ProjectOptions {
  /** For people who read the list. Default: none. */
  readonly reason?: string;
  /** Until the end of a day (`2027-01-31`) or an instant (`2027-01-31T09:00:00Z`). Default: without end. */
  readonly until?: string;
}

/** The addresses to check. */
export interface CheckSuppressionsOptions extends ProjectOptions {
  /** Numbers, email addresses, `contact:ID`s or hashes, each of which gets an answer. Default: none. */
  readonly addresses?: readonly string[];
}

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

/** What the lists of a project hold, and what would keep its campaigns from being sent. */
export interface SuppressionCheck {
  /** In the ledger, unchanged. */
  readonly addresses: number;
  readonly hashes: number;
  /** Id of the key of those hashes; null without any. */
  readonly keyId: string | null;
  /** Id of the key that handbill.yaml names; null where it is not there. */
  readonly ownKeyId: string | null;
  /** Lists that handbill.yaml names. */
  readonly files: readonly string[];
  /** Empty: nothing would. */
  readonly problems: readonly Diagnostic[];
  /** One for each of `addresses`, in their order. */
  readonly answers: readonly SuppressionAnswer[];
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
  const { addSuppressions: add } = await import('../suppress-change.ts');
  return await add(addresses, present({ ledger: settled.ledger, reason, until }), settled);
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
  const { removeSuppressions: remove } = await import('../suppress-change.ts');
  return await remove(addresses, present({ ledger: settled.ledger }), settled);
}

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
  const { importSuppressions: take } = await import('../suppress-change.ts');
  return await take(file, present({ ledger: settled.ledger }), settled);
}

/**
 * `handbill suppress list`: the list in the ledger, addresses first. The ledger is closed when the loop ends or is left.
 *
 * @throws HandbillError exit 2 (a project file that is wrong), 7 (ledger)
 */
export async function* listSuppressions(options: ProjectOptions = {}): AsyncGenerator<Suppression, void, undefined> {
  const settled = settle(options);
  const [{ projectHere }, { openExistingLedger }, { writeHash }] = await Promise.all([
    import('../project-ledger.ts'),
    import('../../ledger/open.ts'),
    import('../../suppression/hash.ts'),
  ]);
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
  const { exportSuppressions: write } = await import('../suppress-export.ts');
  yield* write(present({ ledger: settled.ledger, hashed: options.hashed }), settled);
}

/**
 * `handbill suppress check`: what the lists of the project hold, and whether the key of their hashes is there; for each of
 * `addresses`, whether it is suppressed, why, and by which list.
 *
 * @throws HandbillError exit 2 (a project file that is wrong, what is no address), 7 (ledger)
 */
export async function checkSuppressions(options: CheckSuppressionsOptions = {}): Promise<SuppressionCheck> {
  const settled = settle(options);
  const { checkSuppressions: check } = await import('../suppress-check.ts');
  const { checked } = await check(settled, settled.ledger, options.addresses);
  const { addresses, hashes, keyId, ownKeyId, files, problems, answers = [] } = checked;
  return { addresses, hashes, keyId, ownKeyId, files, problems, answers };
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
