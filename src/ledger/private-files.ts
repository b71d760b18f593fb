import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { foldersUp } from '../util/paths.ts';
import { canSyncFolders, grants } from '../util/platform.ts';
import { unusable } from './ledger-error.ts';

/**
 * A ledger holds personal data and decides who is sent to, so other users must not read it, write it, or replace it by
 * a link. SQLite would make files of mode 0644 and follow a link. So files are made and checked here before SQLite
 * opens them, and never while it has them open: closing such a file drops all locks that this process holds on it.
 */

/**
 * Makes the folder (0700), or checks that other users cannot change its files. The new folder is on disk when this
 * returns: otherwise a power failure could take away folder and ledger (failures.md, C11).
 */
export function ensurePrivateFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (first !== undefined) syncFoldersAbove(folder, first);
  const facts = checkPrivateFolder(folder);
  // Our own folder is closed to readers too. One that the user named with --ledger is not ours to close.
  if (facts !== undefined && grants(facts.mode, 0o077) && OWN_FOLDERS.has(basename(folder))) chmodSync(folder, 0o700);
}

export function checkPrivateFolder(folder: string): Stats | undefined {
  const facts = statSync(folder, { throwIfNoEntry: false });
  if (facts === undefined) return undefined;
  checkOwner(folder, facts);
  refuseWritable(folder, facts);
  return facts;
}

/**
 * Refuses a place where a start could not write; changes nothing.
 * @throws HandbillError exit 7
 */
export function refuseUnwritable(ledger: string): void {
  const place = foldersUp(ledger).find((one) => existsSync(one)) ?? ledger;
  for (const one of place === ledger ? [dirname(ledger), ledger] : [place]) {
    const fault = writeFault(one);
    if (fault !== null) throw unusable('ledger-unusable', ledger, fault, WRITABLE_HINT);
  }
}

/** Why this process cannot write to an existing file or folder, as a sentence; null: it can. */
export function writeFault(place: string): string | null {
  try {
    accessSync(place, constants.W_OK);
    return null;
  } catch (error) {
    return codeOf(error) === 'EROFS'
      ? 'The ledger is on a read-only file system.'
      : `The ledger cannot be used: this user cannot write to ${place}.`;
  }
}

export const WRITABLE_HINT =
  'Look at its folder: this user must be able to write there. Or name another file with --ledger.';

/** Makes a file of mode 0600 that is on disk when this returns. False if it exists. */
export function createPrivateFile(file: string, content: Uint8Array = new Uint8Array(0)): boolean {
  let fd: number;
  try {
    fd = openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | NOFOLLOW, 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    for (let written = 0; written < content.length; ) written += writeSync(fd, content, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(dirname(file));
  return true;
}

/** Refuses a file that is a link, belongs to another user or can be written by others. Null if it does not exist. */
export function checkPrivateFile(file: string): Stats | null {
  const facts = lstatSync(file, { throwIfNoEntry: false });
  if (facts === undefined) return null;
  if (facts.isSymbolicLink()) {
    throw unusable('ledger-permissions', file, 'The ledger is a link.', 'Name the file itself with --ledger.');
  }
  if (!facts.isFile()) {
    const hint = 'Move it away, or name another file with --ledger.';
    throw unusable('ledger-unusable', file, 'The ledger is not a regular file.', hint);
  }
  checkOwner(file, facts);
  refuseWritable(file, facts);
  return facts;
}

/** Removes other users' read access, as a restored backup may grant it. */
export function closeToReaders(file: string, facts: Stats): void {
  if (grants(facts.mode, 0o077)) chmodSync(file, 0o600);
}

/**
 * Refuses file systems with untrustworthy locks (NFS, SMB, 9p): two senders could hold the same run (failures.md, H6).
 */
export function refuseNetworkFileSystem(folder: string): void {
  const name = networkFileSystem(statfsSync(folder).type);
  if (name === null) return;
  const hint = 'Keep the ledger on a local disk (--ledger FILE), or use PostgreSQL for several machines.';
  throw unusable('ledger-filesystem', folder, `The ledger would lie on a network file system (${name}).`, hint);
}

/** By the magic number of statfs(2); null for a local one. */
export function networkFileSystem(magic: number): string | null {
  return NETWORK_FILE_SYSTEMS.get(magic) ?? null;
}

/** Without this, a new file can be gone after a power failure. */
function syncFolder(folder: string): void {
  if (!canSyncFolders()) return;
  const fd = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes the name of a folder durable, and those of the folders above it from `first` on. */
export function syncFoldersAbove(folder: string, first = folder): void {
  const top = dirname(resolve(first));
  for (let above = dirname(resolve(folder)); ; above = dirname(above)) {
    try {
      syncFolder(above);
    } catch (error) {
      // Another user's folder may be closed to readers; only its owner can sync it then.
      if (codeOf(error) !== 'EACCES') throw error;
    }
    if (above === top || above === dirname(above)) return;
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function checkOwner(path: string, facts: Stats): void {
  const user = process.geteuid?.();
  if (user === undefined || facts.uid === user) return;
  const message = `It belongs to another user (uid ${facts.uid}, this is ${user}).`;
  throw unusable('ledger-permissions', path, message, 'Run handbill as its owner, or change the owner with chown.');
}

function refuseWritable(path: string, facts: Stats): void {
  if (!grants(facts.mode, 0o022)) return;
  const mode = (facts.mode & 0o7777).toString(8).padStart(4, '0');
  const what = facts.isDirectory() ? 'Others can write to the folder of the ledger' : 'Others can write to the ledger';
  throw unusable('ledger-permissions', path, `${what} (mode ${mode}).`, `chmod go-w ${path}`);
}

// Windows has no such flag.
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
const OWN_FOLDERS: ReadonlySet<string> = new Set(['.handbill', 'locks']);

/** FUSE is not among them: encrypted home folders and containers are often FUSE. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
]);
