import { displayPath } from './paths.ts';

/** Whether a ledger is named by an address, and not by a file. */
export function isAddress(ledger: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(ledger);
}

/** Whether it is the address of a ledger that several machines share. */
export function isPostgres(ledger: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(ledger);
}

/**
 * A ledger as people may see it, and as it is passed on in reports: the address of a shared one may hold a password,
 * before the host or among its parameters.
 */
export function shownLedger(ledger: string): string {
  if (!isPostgres(ledger)) return ledger;
  return ledger
    .replace(/^(\w+:\/\/[^/?#@:]*):[^/?#]*@/, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^&#]*/gi, '$1***');
}

/** Where a ledger is, as messages say it: a file as it is seen from the current folder. */
export function placeOfLedger(ledger: string, cwd: string): string {
  return isAddress(ledger) ? shownLedger(ledger) : displayPath(ledger, cwd);
}
