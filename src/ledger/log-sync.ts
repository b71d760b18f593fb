import { closeSync, constants, fdatasync, openSync } from 'node:fs';

/** Brings what was written to an open file to the disk, and calls back once. */
export type SyncFile = (fd: number, done: (error: Error | null) => void) => void;

/** How the log of a file is brought to the disk, and by which clock it is seen how long that takes. */
export interface Disk {
  readonly sync: SyncFile;
  /** Never set back. */
  clockMs(): number;
}

export const LOCAL_DISK: Disk = { sync: (fd, done) => fdatasync(fd, done), clockMs: () => performance.now() };

/** The write-ahead log of a ledger, brought to the disk while the event loop goes on. */
export interface LogSync {
  /** Calls back when everything that the log held at the call is on the disk, or cannot be brought there. */
  sync(done: (error: Error | null) => void): void;
  close(): void;
}

/**
 * C11: the log that SQLite has open beside `path`; null where it cannot be opened here too, for instance because it holds
 * nothing yet. SQLite keeps no lock on that file, so that closing it lets go of none; and neither deletes nor replaces it
 * while the ledger is open.
 */
export function openLog(path: string, sync: SyncFile): LogSync | null {
  let fd: number;
  try {
    // To be written to: Windows syncs no other.
    fd = openSync(`${path}-wal`, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return null;
  }
  let underWay = 0;
  let closed = false;
  const letGo = (): void => {
    if (closed && underWay === 0) closeSync(fd);
  };
  return {
    sync(done) {
      underWay += 1;
      sync(fd, (error) => {
        underWay -= 1;
        letGo();
        done(error);
      });
    },
    close() {
      if (closed) return;
      closed = true;
      letGo();
    },
  };
}
