import { DatabaseSync } from 'node:sqlite';
import type { Ledger } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';

export type RunKeys = ReturnType<typeof openRunKeys>;

/** In a temporary database, which SQLite removes: a list may be larger than memory. */
export function openRunKeys(ledger: Ledger, run: RunRecord) {
  const keys = new DatabaseSync('');
  keys.exec('CREATE TABLE keys (key TEXT PRIMARY KEY, row INTEGER, taken INTEGER DEFAULT 0) WITHOUT ROWID; BEGIN');
  const add = keys.prepare('INSERT INTO keys (key, row) VALUES (?, ?) ON CONFLICT DO UPDATE SET row = excluded.row');
  for (const [key, row] of ledger.keys(run)) add.run(key, row);
  const find = keys.prepare('SELECT row FROM keys WHERE key = ?');
  const take = keys.prepare('UPDATE keys SET taken = 1 WHERE key = ? AND taken = 0');
  return {
    rowOf: (key: string) => (find.get(key)?.['row'] ?? null) as number | null,
    /** Whether the key is one of the run, and was not taken before. */
    take: (key: string) => take.run(key).changes === 1,
    /** Keys that were not taken, in list order. */
    *rest(): Generator<readonly [key: string, row: number], void> {
      const left = keys.prepare('SELECT key, row FROM keys WHERE taken = 0 ORDER BY row');
      for (const { key, row } of left.iterate()) yield [String(key), Number(row)];
    },
  };
}
