import type { Holder, RunRecord } from './records.ts';

/** What can be said of a ledger that is in order. */
export interface LedgerFacts {
  readonly version: number;
  /** The one that this handbill writes. */
  readonly newestVersion: number;
  readonly bytes: number;
  /** The newest time in it, ms since 1970. */
  readonly newestMs: number;
  readonly runs: number;
  /** Runs that some process is at now, with who holds them as far as it said. */
  readonly held: readonly { readonly run: RunRecord; readonly holder: Holder | null }[];
  /** Runs that were going on when their process ended. */
  readonly broken: readonly RunRecord[];
  /** Id of the key of its hashes; null: it holds none. */
  readonly hashKeyId: string | null;
  readonly isPurgeUnfinished: boolean;
  /** Other users of the machine may read it. */
  readonly isReadable: boolean;
  /** What the clock of the server says, ms since 1970; null: it is a file. */
  readonly serverMs: number | null;
}

/** What depends on where the ledger is. */
export type PlaceFacts = Pick<
  LedgerFacts,
  'version' | 'newestVersion' | 'bytes' | 'newestMs' | 'isReadable' | 'serverMs'
>;
