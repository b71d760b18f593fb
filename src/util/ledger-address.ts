import { basename, dirname, join } from 'node:path';
import { displayPath } from './paths.ts';

type LedgerName =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'shared'; readonly address: string }
  | { readonly kind: 'refused'; readonly message: string; readonly hint: string };

/**
 * Refuses a misspelt address instead of using it as the name of a new file, which could contain a password: a relative path
 * with characters of an address must begin with `./`. Never repeats a refused name.
 */
export function readLedgerName(written: string): LedgerName {
  const name = written.replace(BLANKS_AROUND, '');
  if (name === '') return refused('The name of the ledger is empty.', 'Name a file, or postgres://user@host/database.');
  if (/^["'`\u2018-\u201f]/u.test(name)) {
    const message = 'The name of the ledger begins with a quotation mark.';
    return refused(message, 'Leave the quotation marks out: an --env-file takes them for a part of the value.');
  }
  if (/^postgres(?:ql)?:\/\//i.test(name)) return readAddress(name);
  if (/^~(?:$|[^/\\]*[/\\])/.test(name)) {
    const hint = 'Write the whole path, as /srv/handbill/ledger.db. A folder that is called so begins with ./';
    return refused('The name of the ledger begins with ~, which handbill does not replace by a home folder.', hint);
  }
  if (/\p{C}/u.test(name)) {
    return refused('The name of the ledger holds an invisible character (not shown).', 'Write the name anew.');
  }
  if (isPath(name)) return { kind: 'file', path: name };
  const message =
    'The name of the ledger looks like an address, but not like one of PostgreSQL (not shown: it may hold a password).';
  const hint = 'Write postgres://user@host/database, or the path of a file; a path with such characters begins with ./';
  return refused(message, hint);
}

// Also what editors and chats put around a text: no-break spaces, zero-width spaces, a byte order mark.
const BLANKS_AROUND = /^[\s\p{Z}\p{Cf}\p{Cc}]+|[\s\p{Z}\p{Cf}\p{Cc}]+$/gu;

function isPath(name: string): boolean {
  if (/:\/|^[/\\]{2}/.test(name) && !/^[a-z]:\//i.test(name)) return false;
  if (/^(?:\.{0,2}[/\\]|[a-z]:[/\\])/i.test(name)) return true;
  // Letters, digits and the characters of file names. None of `:`, `@`, `=`, `?`, `#`, `%`, or a slash after a slash.
  return /^[\p{L}\p{M}\p{N} ._~+,()/\\-]+$/u.test(name) && !name.includes('//');
}

function readAddress(address: string): LedgerName {
  const hint =
    'Write postgres://user@host/database. In a user or password, @ is written %40, / is %2F, : is %3A, # is %23, ? is %3F.';
  const cannot = 'The address of the ledger cannot be read (not shown: it may hold a password).';
  // A password with / # or ? ends the host there, and what follows would be shown as the name of a database.
  const [, behind = ''] = /^\w+:\/\/[^/?#]*(.*)$/s.exec(address) ?? [];
  if (!URL.canParse(address) || /[\s\p{C}]/u.test(address) || /[@#]/.test(behind)) return refused(cannot, hint);
  return { kind: 'shared', address };
}

function refused(message: string, hint: string): LedgerName {
  return { kind: 'refused', message, hint };
}

/** Whether it is the address of a ledger that several machines share; the name was read by `readLedgerName`. */
export function isPostgres(ledger: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(ledger);
}

/** Whether an address holds a password, or a parameter that could be one. */
export function holdsPassword(address: string): boolean {
  const url = new URL(address);
  return url.password !== '' || [...url.searchParams.keys()].some((key) => /pass/i.test(key));
}

/** For people and reports: only the parts that are known to hold no password, so not the user or a new parameter. */
export function shownLedger(ledger: string): string {
  if (!isPostgres(ledger)) return ledger;
  if (!URL.canParse(ledger)) return 'postgres://***';
  const { protocol, host, pathname, searchParams } = new URL(ledger);
  const known = [...searchParams].filter(([key, value]) => SHOWN_PARAMETERS.has(key) && /^[\w./-]+$/.test(value));
  const parameters = known.map(([key, value]) => `${key}=${value}`).join('&');
  return `${protocol}//${host}${pathname.replace(/@.*/s, '***')}${parameters === '' ? '' : `?${parameters}`}`;
}

const SHOWN_PARAMETERS: ReadonlySet<string> = new Set(['host', 'port', 'sslmode', 'target_session_attrs']);

/** The file beside a ledger that remembers that it was sent with; hidden, so that `rm ledger.db*` leaves it there. */
export function markerOf(ledger: string): string {
  return join(dirname(ledger), `.${basename(ledger)}.marker`);
}

/** The name, in the folder of a project's ledger, of what remembers that it was sent with a shared one. */
export const SHARED_MARKER = /^\.shared-[0-9a-f]{16}\.marker$/;

/** The same for a ledger file at another place: it holds the path, which a command may leave out. */
export const ELSEWHERE_MARKER = '.elsewhere.marker';

export function placeOfLedger(ledger: string, cwd: string): string {
  return isPostgres(ledger) ? shownLedger(ledger) : displayPath(ledger, cwd);
}
