import type { LedgerErrorKind } from '../ledger-error.ts';

/** What to do next. */
export const HINTS: Readonly<Record<LedgerErrorKind, string | null>> = {
  busy: 'Another process has been writing for long. Run the command again: it continues where it stopped.',
  full: 'Make room on the disk of the server, then run the command again: it continues where it stopped.',
  io: 'Look whether the server can be reached, then run the command again: it continues where it stopped.',
  readonly: 'Name the server that takes writes, and a user who may write.',
  corrupt: 'The server says that its data are damaged. Restore a backup, and compare who was sent to since.',
  displaced: null,
  other: null,
};

/** After these nothing more is written through a connection. */
export const LASTING: ReadonlySet<LedgerErrorKind> = new Set(['io', 'corrupt', 'readonly']);

/** What an error of PostgreSQL means for a run; `other`: a bug of ours, or a rule of the tables. */
export function kindOf(code: string): LedgerErrorKind {
  if (code === '55P03' || code === '57014' || code === '40P01') return 'busy';
  if (code === '53100') return 'full';
  if (code === '25006') return 'readonly';
  if (code.startsWith('XX')) return 'corrupt';
  // What the connection says, not the database: ECONNRESET, ETIMEDOUT ...
  if (/^(?:08|57P|58|53)/.test(code) || !/^[0-9A-Z]{5}$/.test(code)) return 'io';
  return 'other';
}
