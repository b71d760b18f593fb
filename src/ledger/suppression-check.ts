import { problem } from '../errors.ts';
import type { Connection } from './connection.ts';
import { LedgerError } from './ledger-error.ts';
import type { ClaimRules } from './records.ts';

/** Says whether somebody must not be claimed, but for the address as it stands: that is looked up by the claim itself. */
export type IsSuppressed = (to: string, key: string) => boolean;

/**
 * A2, K3: what a claim asks besides its own statement, in the same transaction: other spellings of the address, the key
 * where it is an address, hashes of them, and lists that are no table. Made once for each transaction, so that it costs
 * one look while the ledger holds no hashes.
 *
 * The function throws a LedgerError while the ledger holds hashes and the key for them is not there: another process
 * has imported them since this run began, and nobody can tell whom they are about.
 */
export function suppressionCheck(
  connection: Connection,
): (rules: ClaimRules | undefined, nowMs: number) => IsSuppressed {
  const look = connection.query(
    'SELECT EXISTS (SELECT 1 FROM suppressions), (SELECT key_id FROM suppressed_hashes LIMIT 1)',
  );
  const address = connection.query(
    'SELECT 1 FROM suppressions WHERE address = ? AND (until_at IS NULL OR until_at > ?)',
  );
  const hashed = connection.query(
    'SELECT 1 FROM suppressed_hashes WHERE hash = ? AND (until_at IS NULL OR until_at > ?)',
  );
  return (rules, now) => {
    const [hasAddresses, keyId] = look.get() ?? [];
    const hasher = rules?.hasher ?? null;
    if (keyId !== null && keyId !== hasher?.keyId) throw withoutKey(connection.path);
    if (rules === undefined) return () => false;
    return (to, key) => {
      if (rules.isListed(to, key, now)) return true;
      if (hasAddresses === 0 && keyId === null) return false;
      for (const form of rules.forms(to, key)) {
        if (form !== to && address.get(form, now) !== undefined) return true;
        if (keyId !== null && hasher !== null && hashed.get(hasher.hash(form), now) !== undefined) return true;
      }
      return false;
    };
  };
}

function withoutKey(path: string): LedgerError {
  const message = 'Another process has put hashes on the suppression list, and this one does not have their key.';
  const hint = 'Give this command the key too (`suppressionKey` in handbill.yaml), and run it again to continue.';
  return new LedgerError('other', problem('missing-suppression-key', message, { at: { file: path }, hint }));
}
