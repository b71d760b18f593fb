import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { problem } from '../errors.ts';
import { leaveMarker } from './companions.ts';
import { LedgerError, unusable } from './ledger-error.ts';
import { createPrivateFile, ensurePrivateFolder } from './private-files.ts';

/*
 * H4: a ledger that is removed or replaced while it is open (a restore, a file sync, `git clean`) goes on working for the
 * process that has it open, and for that process alone: the next start would read another file and send again. So the
 * names are compared with the open files. They are only ever looked at by name: opening and closing one of them would
 * drop the locks that SQLite holds on it (FAILURES rule 13).
 */

/** What became of the files of an open ledger; null: its name still leads to them. */
export type Displacement = 'removed' | 'replaced' | null;

/**
 * Remembers which files are open. To be called right after SQLite has opened the database.
 *
 * @returns compares them with what their names lead to now. The log counts from when it is first seen: SQLite makes it
 *   with the first write, and keeps it for as long as the database is open.
 */
export function rememberPlace(path: string): () => Displacement {
  const database = fileAt(path);
  let log: string | null = null;
  return () => {
    const [databaseNow, logNow] = [fileAt(path), fileAt(`${path}-wal`)];
    log ??= logNow;
    if (databaseNow === database && logNow === log) return null;
    return (databaseNow === database ? logNow : databaseNow) === null ? 'removed' : 'replaced';
  };
}

/** Device and inode of what a name leads to; null: nothing. */
function fileAt(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev}:${facts.ino}`;
}

/** Where the open ledger is copied to, once its name leads elsewhere. */
export function rescuedOf(path: string): string {
  return `${path}.rescued`;
}

/** The first name for such a copy that is free, or that `holdOff` has reserved. */
export function nameOfCopy(path: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? rescuedOf(path) : `${rescuedOf(path)}.${n}`;
    if ((statSync(name, { throwIfNoEntry: false })?.size ?? 0) === 0) return name;
  }
}

export function displaced(path: string, how: Exclude<Displacement, null>): LedgerError {
  const message = `The ledger was ${how} while this command was using it.`;
  const hint =
    `What this command knows is saved in ${rescuedOf(path)}. Move ${path} and the files ${path}-wal and ${path}-shm ` +
    'away, if they are there, then give the saved copy its name. Until then, nothing is sent.';
  return new LedgerError('displaced', problem('ledger-replaced', message, { at: { file: path }, hint }));
}

/** Keeps other starts from sending by a ledger that lacks what this process knows. The copy itself is made at the end. */
export function holdOff(path: string): void {
  ensurePrivateFolder(dirname(path));
  createPrivateFile(rescuedOf(path));
  leaveMarker(path);
}

/** @throws HandbillError exit 7: a command was using the ledger when it was removed or replaced, and saved what it knew */
export function refuseBesideRescued(path: string): void {
  const rescued = rescuedOf(path);
  if (!existsSync(rescued)) return;
  const message = 'The ledger was removed or replaced while a command was sending: a later copy of it is beside it.';
  const hint =
    `Move ${path} and the files ${path}-wal and ${path}-shm away, if they are there, then give ${rescued} its name. ` +
    `Only if you are sure that ${path} is the right one, move the copy away instead.`;
  throw unusable('ledger-replaced', path, message, hint);
}
