/** What SQLite throws, by what is wrong with the disk (https://sqlite.org/rescode.html). */
export const FAULTS = {
  full: { errcode: 13, errstr: 'database or disk is full' },
  'I/O error on write': { errcode: 10 | (3 << 8), errstr: 'disk I/O error' },
  'I/O error on sync': { errcode: 10 | (4 << 8), errstr: 'disk I/O error' },
  'read-only': { errcode: 8, errstr: 'attempt to write a readonly database' },
  corrupt: { errcode: 11, errstr: 'database disk image is malformed' },
  busy: { errcode: 5, errstr: 'database is locked' },
} as const;

export type FaultName = keyof typeof FAULTS;

/** Statements that write, and that alone can meet these faults. */
export const WRITES = /^(BEGIN IMMEDIATE|COMMIT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA (wal_checkpoint|\w+ =))/;
export const OF_WRITES_ALONE: readonly FaultName[] = ['full', 'read-only', 'I/O error on sync'];
