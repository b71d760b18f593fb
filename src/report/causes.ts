import type { Outcome, OutcomeState, ReportedCause } from '../model.ts';
import { LOST } from './fold-delivery.ts';
import { reasonWords } from './reason-words.ts';

const FAILED: ReadonlySet<OutcomeState> = new Set(['in-doubt', 'rejected', 'failed']);
/** Bounds an API that writes something new into each error. */
const MOST_CAUSES = 500;
const MOST_CHARACTERS = 200;

/**
 * Why a message failed: the status and the words of the API, or of the delivery report. Drops words with an address or
 * an id, so that recipients with the same cause have the same text. Null for a message that did not fail, and
 * for one whose doubt was resolved: that is bookkeeping.
 */
export function causeOf({ outcome, reason, httpStatus, error, delivery = null }: Outcome): string | null {
  const words = error === null ? '' : general(error);
  if (FAILED.has(outcome)) {
    if (reason === 'resolved') return null;
    // An error of the connection adds nothing to the words for it, except why nothing could be posted.
    const meaning = reasonWords(reason ?? '');
    if (httpStatus === null && meaning !== '' && outcome !== 'failed') return meaning;
    const code = httpStatus === null ? meaning || reason || outcome : `HTTP ${httpStatus}`;
    return short(words === '' ? code : `${code}: ${words}`);
  }
  if (delivery === null || !LOST.has(delivery)) return null;
  // The code of an error is no words.
  return short(/\p{L}/u.test(words) ? words : [delivery, words].filter((part) => part !== '').join(': '));
}

function general(text: string): string {
  const words = text.trim().split(/\s+/);
  const kept = words.map((word) =>
    word.includes('@') || word.replace(/\D+/g, '').length >= ID_DIGITS ? word.replace(INSIDE, '…') : word,
  );
  if (kept.some((word) => /[\p{L}\p{N}]/u.test(word))) return kept.join(' ');
  return CODE.test(text.trim()) ? text.trim() : '';
}

/** A word without the brackets and the punctuation around it. */
const INSIDE = /[+\p{L}\p{N}].*[\p{L}\p{N}]/u;

/** An error that is nothing but a number of this length is a code, as `30005`: telephone numbers are longer. */
const CODE = /^\d{1,6}$/;

/** Becomes part of a URL, which cannot hold half a character. */
function short(text: string): string {
  return text.slice(0, MOST_CHARACTERS).toWellFormed().trim();
}

/** A word with so many digits is a number, an id or a time. */
const ID_DIGITS = 5;

type Counted = { -readonly [K in keyof ReportedCause]: ReportedCause[K] };

export function countCauses(): { add(outcome: Outcome): void; all(): readonly ReportedCause[] } {
  const found = new Map<string, Counted>();
  return {
    add(one) {
      const cause = causeOf(one);
      if (cause === null) return;
      const { outcome, delivery = null } = one;
      const end = FAILED.has(outcome) || delivery === null ? { outcome } : { outcome, delivery };
      const keyOf = (text: string | null): string => JSON.stringify([end, text]);
      const kept = found.has(keyOf(cause)) || found.size < MOST_CAUSES ? cause : null;
      const known = found.get(keyOf(kept)) ?? ({ ...end, cause: kept, count: 0 } as Counted);
      known.count += 1;
      found.set(keyOf(kept), known);
    },
    all: () => [...found.values()].sort((a, b) => b.count - a.count),
  };
}
