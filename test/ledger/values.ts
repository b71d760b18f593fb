import type { LoadRow, ResultRecord, RunIdentity } from '../../src/ledger/records.ts';

export const NOON = Date.parse('2026-11-21T12:00:00Z');

export const HELLO: RunIdentity = { environment: 'sandbox', campaign: 'hello', occurrence: 'once' };

export function keyOf(row: number): string {
  return `+4477009${String(row).padStart(5, '0')}`;
}

export function loadRow(row: number, changes: Partial<LoadRow> = {}): LoadRow {
  const key = changes.key === undefined ? keyOf(row) : changes.key;
  return {
    row,
    line: row + 2,
    to: key,
    state: 'pending',
    reason: null,
    parts: 1,
    encoding: 'GSM-7',
    costMicros: 45_000,
    variant: null,
    ...changes,
    key,
  };
}

export function rows(count: number): LoadRow[] {
  return Array.from({ length: count }, (_, row) => loadRow(row));
}

export function claimOf(row: number): { row: number; step: number; to: string; key: string } {
  return { row, step: 0, to: keyOf(row), key: keyOf(row) };
}

export function resultOf(row: number, changes: Partial<ResultRecord> = {}): ResultRecord {
  return {
    row,
    step: 0,
    from: 'claimed',
    state: 'accepted',
    reason: null,
    attempts: 1,
    httpStatus: 202,
    messageId: `id-${row}`,
    error: null,
    ...changes,
  };
}
