import { AsyncLocalStorage } from 'node:async_hooks';
import { shellWord } from './escape.ts';
import { holdsPassword, isPostgres, shownLedger } from './ledger-address.ts';

/** The user said with these where a command works. Without them, the next command would work at another place. */
interface Place {
  /** `--ledger`; absent: not given. */
  readonly ledger?: string | undefined;
  /** HANDBILL_ENV; absent: not set. */
  readonly environment?: string | undefined;
}

/** Texts name next commands in every layer, so the place goes with the call that runs a command. */
const PLACE = new AsyncLocalStorage<Place>();

export function runAt<T>(place: Place, run: () => T): T {
  return PLACE.run(place, run);
}

/**
 * A command for the user to run next: `handbill`, the words, and the options of the present command that say where it
 * works. Each word is quoted for a POSIX shell where it needs that.
 */
export function nextCommand(...words: readonly string[]): string {
  const { ledger } = PLACE.getStore() ?? {};
  const place = ledger === undefined ? [] : ['--ledger', placeOf(ledger)];
  return ['handbill', ...words, ...place].map((word) => (OPTION.test(word) ? word : shellWord(word))).join(' ');
}

const OPTION = /^(?:--?[a-z][a-z-]*|-)$/;

function placeOf(ledger: string): string {
  return isPostgres(ledger) && (!URL.canParse(ledger) || holdsPassword(ledger)) ? shownLedger(ledger) : ledger;
}

/** `--env NAME`, if a command would take another environment without it. */
export function envWords(environment: string): readonly string[] {
  const isDefault = environment === 'sandbox' && (PLACE.getStore()?.environment ?? '') === '';
  return isDefault ? [] : ['--env', environment];
}
