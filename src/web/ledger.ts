import { statSync } from 'node:fs';
import { EXIT, HandbillError } from '../errors.ts';
import type { Query } from '../ledger/connection.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { openToRead } from '../ledger/open.ts';
import { ledgerOver } from '../ledger/stores.ts';
import { isPostgres, shownLedger } from '../util/ledger-address.ts';

interface Reader {
  readonly ledger: Ledger;
  /** A prepared query. Pages read rows by their place, which no command does. */
  readonly query: (sql: string) => Query;
}

/** Opened for reading, even if actions are allowed. */
export interface OpenLedger extends Reader {
  /** A second connection, for a scan that holds one moment while pages show updates. */
  readonly scan: Reader;
  /** Changes whenever another process has written. */
  readonly version: () => number;
  /** Changes when another file is at the same path. */
  readonly file: string;
}

export type LedgerKeeper = ReturnType<typeof keepLedger>;

/** Longest wait for a locked ledger: meanwhile no page is served. */
const BUSY_TIMEOUT_MS = 250;

/** Pause before an unreadable ledger is opened again: after some failures the connection stays (failures.md, H1). */
const PAUSE_MS = 1_000;

/** Opens the ledger when it exists, and again when another file has replaced it. */
export function keepLedger(path: string, now: () => number) {
  let open: OpenLedger | null = null;
  let failure: { readonly error: unknown; readonly untilMs: number } | null = null;
  let isOver = false;

  const letGo = (): void => {
    open?.scan.ledger.close();
    open?.ledger.close();
    open = null;
  };
  const failed = (error: unknown): void => {
    if (!(error instanceof HandbillError) || error.exit !== EXIT.ledger) return;
    // The same connection retries a busy ledger; after any other failure it is opened again.
    if (error instanceof LedgerError && error.kind === 'busy') return;
    // The same failure again, after the pause. A new pause would never end while requests come in.
    if (error === failure?.error) return;
    letGo();
    failure = { error, untilMs: performance.now() + PAUSE_MS };
  };
  const current = (): OpenLedger | null => {
    if (isOver) return null;
    const file = fileAt(path);
    if (open !== null && open.file === file) return open;
    letGo();
    if (failure !== null && performance.now() < failure.untilMs) throw failure.error;
    failure = null;
    try {
      open = openBoth(path, file, now());
    } catch (error) {
      failed(error);
      throw error;
    }
    return open;
  };

  return {
    path: shownLedger(path),
    /**
     * Null: none yet.
     * @throws HandbillError as `openExistingLedger`
     */
    current,
    /** Call it with every failure. A failed ledger is closed, and the next request after a pause opens it again. */
    failed,
    /** Changes whenever another process has written, or the file is another one. Never throws. */
    mark(): string {
      try {
        const opened = current();
        return opened === null ? 'none' : `${opened.file} ${opened.version()}`;
      } catch (error) {
        failed(error);
        return `failed ${error instanceof Error ? error.message : ''}`;
      }
    },
    /** For good: a running pass finds no ledger. */
    close(): void {
      isOver = true;
      letGo();
    },
  };
}

function openBoth(path: string, file: string, nowMs: number): OpenLedger | null {
  const open = () =>
    openToRead(path, { nowMs, busyTimeoutMs: BUSY_TIMEOUT_MS }, (connection) => ({
      ledger: ledgerOver(connection),
      version: () => connection.version(),
      query: connection.query,
    }));
  const pages = open();
  if (pages === null) return null;
  using opened = new DisposableStack();
  opened.defer(() => pages.ledger.close());
  const scan = open();
  if (scan !== null) opened.move();
  return scan && { ...pages, scan, file };
}

/** Identifies the file at a path; empty if there is none. Does not open it, because that would drop locks of SQLite. */
function fileAt(path: string): string {
  if (isPostgres(path)) return 'shared';
  try {
    const { dev, ino } = statSync(path);
    return `${dev}.${ino}`;
  } catch {
    return '';
  }
}
