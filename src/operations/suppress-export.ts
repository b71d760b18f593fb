import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { checkHashKey } from '../plan/suppression.ts';
import type { CommandContext } from './context.ts';
import { projectHere } from './project-ledger.ts';
import { hasherOf } from './suppress-addresses.ts';
import { asCsv, asHashes } from './suppress-csv.ts';

const EMPTY: Pick<Ledger, 'suppressions' | 'suppressedHashes'> = { suppressions: () => [], suppressedHashes: () => [] };

/**
 * The list of the ledger as the text of a suppression file, in pieces; the ledger is open while they are read.
 *
 * @throws HandbillError exit 2: the key of hashes is not there, or is another one; 7 (ledger)
 */
export async function* exportSuppressions(
  given: { readonly ledger?: string; readonly hashed?: boolean },
  context: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
): AsyncGenerator<string> {
  const { project } = await projectHere(context, given.ledger);
  const hasher = given.hashed === true ? await hasherOf(project, context) : null;
  const ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  try {
    // Hashes of two keys do not go together in one file.
    if (hasher !== null && ledger !== null) checkHashKey({ hasher: { hasher } }, ledger);
    const lists = ledger ?? EMPTY;
    yield* hasher === null ? asCsv(lists) : asHashes(lists, hasher);
  } finally {
    ledger?.close();
  }
}
