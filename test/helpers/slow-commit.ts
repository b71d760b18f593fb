import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * A clock that jumps while the first claims are committed, as on a slow disk: it returns `beforeMs` until the ledger of
 * a project holds a claim, and `afterMs` from then on.
 */
export function slowCommitClock(root: string, beforeMs: number, afterMs: number): () => number {
  const ledger = join(root, '.handbill', 'ledger.db');
  let hasJumped = false;
  return () => {
    hasJumped ||= existsSync(ledger) && hasClaims(ledger);
    return hasJumped ? afterMs : beforeMs;
  };
}

function hasClaims(ledger: string): boolean {
  const database = new DatabaseSync(ledger, { readOnly: true });
  try {
    return database.prepare("SELECT 1 FROM recipients WHERE state = 'claimed' LIMIT 1").get() !== undefined;
  } finally {
    database.close();
  }
}
