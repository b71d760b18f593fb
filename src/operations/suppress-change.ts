import { problem, refuse } from '../errors.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { Project } from '../model.ts';
import { checkHashKey } from '../plan/suppression.ts';
import { createUntilReader } from '../suppression/until.ts';
import type { CommandContext } from './context.ts';
import { projectHere, sayLedger } from './project-ledger.ts';
import { checkHashes, countryOf, hasherOf, type NamedAddresses, readAddresses } from './suppress-addresses.ts';

export interface ChangeOptions {
  readonly ledger?: string;
  readonly quiet?: true;
}

export interface AddOptions extends ChangeOptions {
  readonly reason?: string;
  readonly until?: string;
}

/** How many of those who were named are on the list since, and how many were before. */
export interface Added {
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
export interface Removed {
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
