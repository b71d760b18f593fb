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
import { safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';
import { paced } from './paced.ts';
import { projectHere, sayLedger } from './project-ledger.ts';
import { checkHashes, countryOf, hasherOf, type NamedAddresses, readAddresses } from './suppress-addresses.ts';

interface ChangeOptions {
  readonly ledger?: string;
  readonly quiet?: true;
}

interface AddOptions extends ChangeOptions {
  readonly reason?: string;
  readonly until?: string;
}

/** How many of those who were named are on the list since, and how many were before. */
interface Added {
  readonly added: number;
  readonly known: number;
}

/**
 * Puts addresses, contacts and hashes on the list of the ledger.
 *
 * @throws HandbillError exit 2 with everything that is no address; 7 (ledger)
 */
export async function addSuppressions(
  raw: readonly string[],
  given: Omit<AddOptions, 'quiet'>,
  context: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
): Promise<Added> {
  const nowMs = context.now();
  const reading = await projectHere(context, given.ledger);
  const { project } = reading;
  const untilMs = given.until === undefined ? null : await untilOf(given.until, project.timeZone, nowMs);
  const { addresses, hashes } = readAddresses(raw, countryOf(reading));
  await checkHashes(hashes, project, context);
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  try {
    const facts = { reason: given.reason === '' ? null : (given.reason ?? null), untilMs, source: 'user' };
    const added = ledger.suppressAll(
      addresses.map((address) => ({ address, ...facts })),
      hashes.map((hash) => ({ ...hash, ...facts })),
      nowMs,
    );
    return { added, known: addresses.length + hashes.length - added };
  } finally {
    ledger.close();
  }
}

/** `handbill suppress add` */
export async function addAll(raw: readonly string[], given: AddOptions, context: CommandContext): Promise<void> {
  const { added, known } = await addSuppressions(raw, given, context);
  const now = (given.reason ?? '') === '' ? '' : `, and ${known === 1 ? 'has' : 'have'} this reason now`;
  const before = known === 0 ? '' : ` ${plural(known)} ${known === 1 ? 'was' : 'were'} suppressed before${now}.`;
  if (given.quiet === true) return;
  await context.out(`${plural(added)} suppressed.${before}\n`);
  await sayLedger(context, given.ledger);
}

/** How many of those who were named are off the list, and how many were not on it. */
interface Removed {
  readonly removed: number;
  readonly absent: number;
}

/**
 * Takes addresses, contacts and hashes off the list of the ledger, the hashes of addresses too.
 *
 * @throws HandbillError exit 2 with everything that is no address, or without the key of the hashes; 7 (ledger)
 */
export async function removeSuppressions(
  raw: readonly string[],
  given: Omit<ChangeOptions, 'quiet'>,
  context: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
): Promise<Removed> {
  const nowMs = context.now();
  const reading = await projectHere(context, given.ledger);
  const named = readAddresses(raw, countryOf(reading));
  const removed = await removeFrom(reading.project, named, context, nowMs);
  return { removed, absent: named.addresses.length + named.hashes.length - removed };
}

/** `handbill suppress remove` */
export async function removeAll(raw: readonly string[], given: ChangeOptions, context: CommandContext): Promise<void> {
  const { removed, absent } = await removeSuppressions(raw, given, context);
  const rest = absent === 0 ? '' : ` ${plural(absent)} ${absent === 1 ? 'was' : 'were'} not on the list.`;
  if (given.quiet === true) return;
  await context.out(`${plural(removed)} removed.${rest}\n`);
  await sayLedger(context, given.ledger);
}

/** How many were on the list, as they stand or as hashes. */
async function removeFrom(
  project: Project,
  { addresses, hashes }: NamedAddresses,
  context: Pick<CommandContext, 'env'>,
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
    // Without the key nobody can say that the address is off the list.
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

function plural(count: number): string {
  return `${count} ${count === 1 ? 'address' : 'addresses'}`;
}

/** Entries of one transaction: 30 ms, for which others wait. */
const BATCH = 5000;

/** Entries of a file: how many there were, and how many of them the ledger did not hold. */
interface Imported {
  /** The file as the user would name it. */
  readonly file: string;
  readonly entries: number;
  readonly added: number;
}

/** `handbill suppress import` */
export async function importFile(written: string, given: ChangeOptions, context: CommandContext): Promise<void> {
  const { file, entries, added } = await importSuppressions(written, given, context);
  const said = `${entries} ${entries === 1 ? 'entry' : 'entries'} read from ${safeLine(file)}, ${added} new.\n`;
  if (given.quiet === true) return;
  await context.out(said);
  await sayLedger(context, given.ledger);
}

/**
 * Takes over a suppression file. It is read twice, so that a list of any length takes as much memory as a short one:
 * once to look at every row before anything is imported, and once to import, in steps between which others get the
 * ledger. Killed in between, it is done by doing it again: no entry ever gets weaker.
 *
 * @throws HandbillError exit 2 with every row that is wrong; 7 (ledger)
 */
export async function importSuppressions(
  written: string,
  given: Omit<ChangeOptions, 'quiet'>,
  context: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
): Promise<Imported> {
  const reading = await projectHere(context, given.ledger);
  const { project } = reading;
  const found = await findFileAnywhere(context.cwd, written);
  if ('fault' in found) {
    const { code, message, hint } = found.fault;
    throw refuse(problem(code, message, hint === undefined ? {} : { hint }));
  }
  const file = displayPath(found.path, context.cwd);
  const source = { path: found.path, file, defaultCountry: countryOf(reading), timeZone: project.timeZone };
  const hasher = await readHasher(project.suppressionKey, context.env, project.root);
  const checked = await check(source, hasher);
  const nowMs = context.now();
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs });
  try {
    refuseOtherKey(ledger, checked.keyId);
    const { all, added } = await takeOver(ledger, source, checked.digest, nowMs);
    return { file, entries: all, added };
  } finally {
    ledger.close();
  }
}

interface Checked {
  /** Of the bytes that were looked at: no others are imported. */
  readonly digest: ListDigest;
  /** Key of the hashes; null where there are none. */
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

/** Said before anything is imported: the addresses before the first hash would be in the ledger by then. */
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
