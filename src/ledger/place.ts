import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Diagnostic, problem, warning } from '../errors.ts';
import { ALLOWABLE } from '../model.ts';
import { ELSEWHERE_MARKER, isPostgres, markerOf, SHARED_MARKER } from '../util/ledger-address.ts';
import { LedgerError, unusable } from './ledger-error.ts';
import { createPrivateFile, ensurePrivateFolder } from './private-files.ts';

/**
 * If a ledger is removed or replaced while it is open (a restore, a file sync, `git clean`), this process goes on with
 * the old file, but the next start would read another file and send again (failures.md, H4). So the names are compared
 * with the open files, without opening them: closing one would drop the locks that SQLite holds on it.
 */

/** Null: the name still leads to the open files. */
export type Displacement = 'removed' | 'replaced' | null;

/**
 * Remembers which files are open. Call it right after SQLite has opened the database.
 * @returns compares them with the files of their names now. The log counts from when it is first seen: SQLite makes it
 * with the first write, and keeps it while the database is open.
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

/** Device and inode; null: there is none. */
function fileAt(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev}:${facts.ino}`;
}

function rescuedOf(path: string): string {
  return `${path}.rescued`;
}

/** The first free name for such a copy, or the one that `holdOff` has reserved. */
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

/** Keeps other starts from sending with a ledger that lacks what this process knows. The copy is made at the end. */
export function holdOff(path: string): void {
  ensurePrivateFolder(dirname(path));
  createPrivateFile(rescuedOf(path));
  leaveMarker(path);
}

/** Why a ledger may lack recipients who were sent to: a command saved a later copy beside it. Null: none did. */
export function besideRescued(path: string): Diagnostic | null {
  const rescued = rescuedOf(path);
  if (isPostgres(path) || !existsSync(rescued)) return null;
  const message =
    'The ledger was removed or replaced while a command was sending: a later copy of it is beside it, and only the copy ' +
    'knows all who were sent to.';
  const hint =
    `Move ${path} and the files ${path}-wal and ${path}-shm away, if they are there, then give ${rescued} its name. ` +
    `Only if you are sure that ${path} is the right one, move the copy away instead.`;
  return warning('ledger-replaced', message, { at: { file: path }, hint });
}

/** @throws HandbillError exit 7: as `besideRescued` */
export function refuseBesideRescued(path: string): void {
  const found = besideRescued(path);
  if (found !== null) throw unusable('ledger-replaced', path, found.message, found.hint);
}

/*
 * Files beside the ledger: the marker says that this project was sent from, so that a missing ledger is noticed; the
 * reserve is disk space that is freed when the disk is full; a note is there while a purge is under way.
 */

/** Room for the outcomes of some thousand requests in flight. */
export const RESERVE_BYTES = 1024 * 1024;

export function reserveOf(ledger: string): string {
  return `${ledger}.reserve`;
}

export function hasMarker(ledger: string): boolean {
  return existsSync(markerOf(ledger));
}

/** Refuses to go on if the marker of a ledger exists but the ledger does not (failures.md, H4). */
export function ledgerMissing(ledger: string): Error {
  return unusable(
    'ledger-missing',
    ledger,
    'This project has sent before, but its ledger is gone or empty: who was sent to is no longer known.',
    `Restore the ledger from a backup. Only if you are sure: ${ALLOWABLE['ledger-missing']}`,
  );
}

/** Durable. Call it before the first claim. */
export function leaveMarker(ledger: string): void {
  writeOnce(markerOf(ledger), Buffer.from(MARKER_TEXT));
}

export function purgeNoteOf(ledger: string): string {
  return `${ledger}.purge`;
}

export function leavePurgeNote(ledger: string): void {
  writeOnce(purgeNoteOf(ledger), Buffer.from(PURGE_TEXT));
}

/** Durable. Throws errors of the file system, for instance ENOSPC. */
export function keepReserve(ledger: string): void {
  const file = reserveOf(ledger);
  try {
    // Random bytes: a file system that compresses would keep no room for zeros.
    writeOnce(file, randomBytes(RESERVE_BYTES));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

function writeOnce(file: string, bytes: Buffer): void {
  if (!existsSync(file)) createPrivateFile(file, bytes);
}

const PURGE_TEXT = `handbill purge began to take personal data out of the ledger beside this file and was not finished.
\`handbill purge\` finishes it and takes this file away.
`;

const MARKER_TEXT = `handbill has sent messages from this project. The ledger beside this file records the recipients.
While this file exists and the ledger does not, nothing is sent (see --allow ledger-missing).
`;

/**
 * Nothing can lie beside a shared ledger, so each project that has sent from a permanent folder keeps a note of it
 * there. Otherwise a database that was emptied or replaced would look like a new ledger (failures.md, H4).
 */

/** Whether this project has sent with this ledger before, as far as this machine knows. */
export function hasSentWith(root: string, address: string): boolean {
  return hasMarker(placeOf(root, address));
}

export function hasSentWithOther(root: string, ledger: string): boolean {
  const own = isPostgres(ledger) ? markerOf(placeOf(root, ledger)) : '';
  return sharedMarkers(root).some((path) => path !== own);
}

/** Where the folder cannot be written, as on machines without a permanent disk, nothing is remembered. */
export function rememberSendingWith(root: string, ledger: string): void {
  const folder = join(root, '.handbill');
  if (ledger === join(folder, 'ledger.db')) return;
  try {
    ensurePrivateFolder(folder);
    if (isPostgres(ledger)) leaveMarker(placeOf(root, ledger));
    else writeFileSync(join(folder, ELSEWHERE_MARKER), ledger, { mode: 0o600 });
  } catch {
    // An additional protection: the ledger decides who is sent to.
  }
}

/** The project has changed from a shared ledger to a file. */
export function forgetShared(root: string): void {
  for (const path of sharedMarkers(root)) rmSync(path);
}

function sharedMarkers(root: string): readonly string[] {
  const folder = join(root, '.handbill');
  // A project whose ledger lies elsewhere, as in an image, has no such folder.
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => SHARED_MARKER.test(name));
  return names.map((name) => join(folder, name));
}

/** Identified by server and database; the user does not matter. */
function placeOf(root: string, address: string): string {
  const { host, pathname } = new URL(address);
  const name = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16);
  return join(root, '.handbill', `shared-${name}`);
}
