import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { markerOf } from '../util/ledger-address.ts';
import { unusable } from './ledger-error.ts';
import { codeOf, syncFolder } from './private-files.ts';

/*
 * Files beside the ledger: the marker remembers that this project was sent from, so that a ledger that is gone is
 * noticed; the reserve is room on the disk that is given back when the disk is full; a note is there
 * while a purge is under way.
 */

/** How much room the reserve keeps: outcomes of some thousand requests in flight. */
export const RESERVE_BYTES = 1024 * 1024;

export function reserveOf(ledger: string): string {
  return `${ledger}.reserve`;
}

export function hasMarker(ledger: string): boolean {
  return existsSync(markerOf(ledger));
}

/** H4: refuses to go on without the ledger that a marker speaks of. */
export function ledgerMissing(ledger: string): Error {
  return unusable(
    'ledger-missing',
    ledger,
    'This project has sent before, but its ledger is gone or empty: nobody knows any more who was sent to.',
    'Restore the ledger from a backup. Only if you are sure, begin with an empty one: --new-ledger.',
  );
}

/** Leaves the marker, durably. Call it before the first claim. */
export function leaveMarker(ledger: string): void {
  writeOnce(markerOf(ledger), Buffer.from(MARKER_TEXT));
}

/** Says that a purge is under way; see purge.ts. */
function purgeNoteOf(ledger: string): string {
  return `${ledger}.purge`;
}

export function hasPurgeNote(ledger: string): boolean {
  return existsSync(purgeNoteOf(ledger));
}

export function leavePurgeNote(ledger: string): void {
  writeOnce(purgeNoteOf(ledger), Buffer.from(PURGE_TEXT));
}

export function dropPurgeNote(ledger: string): void {
  rmSync(purgeNoteOf(ledger), { force: true });
}

/** Makes the reserve, durably, unless it is there. Throws what the file system says, for instance ENOSPC. */
export function keepReserve(ledger: string): void {
  const file = reserveOf(ledger);
  try {
    // Random bytes, because a file system that compresses would keep no room for zeros.
    writeOnce(file, randomBytes(RESERVE_BYTES));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** Gives the room of the reserve back. */
export function releaseReserve(ledger: string): void {
  rmSync(reserveOf(ledger), { force: true });
}

function writeOnce(file: string, bytes: Buffer): void {
  if (existsSync(file)) return;
  let fd: number;
  try {
    fd = openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  try {
    let written = 0;
    while (written < bytes.length) written += writeSync(fd, bytes, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(dirname(file));
}

const PURGE_TEXT = `handbill purge began to take personal data out of the ledger beside this file and was not finished.
\`handbill purge\` finishes it and takes this file away.
`;

const MARKER_TEXT = `handbill has sent messages from this project. The ledger beside this file knows to whom.
While this file exists and the ledger does not, nothing is sent (see --new-ledger).
`;
