import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SHARED_MARKER } from '../util/ledger-address.ts';
import { hasMarker, leaveMarker } from './companions.ts';
import { ensurePrivateFolder } from './private-files.ts';

/*
 * H4 for a shared ledger: nothing lies beside it, so each project that has sent from a folder that stays remembers it
 * there. A database that was emptied, or another one under the same name, looks like a new ledger otherwise.
 */

/** Whether this project has sent with this ledger before, as far as this machine knows. */
export function hasSentWith(root: string, address: string): boolean {
  return hasMarker(placeOf(root, address));
}

/** Remembers it; where the folder cannot be written, as on machines that forget their disk, nothing is remembered. */
export function rememberSendingWith(root: string, address: string): void {
  const place = placeOf(root, address);
  try {
    ensurePrivateFolder(dirname(place));
    leaveMarker(place);
  } catch {
    // It is a second net: what decides who is sent to is the ledger.
  }
}

/** A shared ledger was given up for a file: from now on, that is what this project sends with. */
export function forgetShared(root: string): void {
  const folder = join(root, '.handbill');
  for (const name of readdirSync(folder).filter((one) => SHARED_MARKER.test(one))) rmSync(join(folder, name));
}

/** By the server and the database, whoever the user is. */
function placeOf(root: string, address: string): string {
  const { host, pathname } = new URL(address);
  const name = createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 16);
  return join(root, '.handbill', `shared-${name}`);
}
