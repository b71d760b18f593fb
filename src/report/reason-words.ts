import { DEFER_WORDS, type OutcomeState, type ReasonWords, SKIP_WORDS } from '../model.ts';
import WORDS from './words.json' with { type: 'json' };

/** Continues a sentence; empty for an unknown word, from a ledger of another version. */
export function reasonWords(reason: string): string {
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason]?.means ?? '') : '';
}

/** Advice for recipients with this outcome and reason, in a sentence; empty for an unknown word. */
export function reasonAdvice(reason: string, outcome: OutcomeState): string {
  // Whatever the reason: send nothing again before a person knows whether the message arrived.
  if (outcome === 'in-doubt') return DOUBT;
  return Object.hasOwn(REASON_WORDS, reason) ? (REASON_WORDS[reason]?.advice ?? '') : '';
}

const DOUBT = 'Find out from the provider, then `handbill doubt resolve`.';

/** Rules have theirs next to their names, in model/decision.ts. */
export const REASON_WORDS: Readonly<Record<string, ReasonWords>> = {
  ...SKIP_WORDS,
  ...DEFER_WORDS,
  ...WORDS.reasons,
};
