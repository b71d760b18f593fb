import type { UnmatchedReason } from '../model.ts';
import type { SentMessage } from './records.ts';

/** A report, as far as it says which message it is about. */
export interface Naming {
  /** Where it came in for; empty: nobody said so. */
  readonly environment: string;
  readonly reference: string | null;
  readonly address: string | null;
  /** When it happened, else when it came in. */
  readonly saidAtMs: number;
}

/** The clocks of two machines differ by at most so much. */
export const SKEW_MS = 5 * 60_000;

/**
 * The one rule that says whether a report is about a message; null: it is. Everything that follows from reports asks it:
 * figures, gates, winners, fallbacks, and doubts that end (K2).
 *
 * An id of the API is unique within one account at best: another environment may have the same. So the report must have
 * come in for the environment of the message. What else it names must agree: our reference, the address, and the time,
 * because nothing is reported before it was sent. Where nobody said which environment a report came in for, our own
 * reference proves it, because it is made of the environment.
 *
 * Where several recipients share a request, the API may give all of them one id: a report that names the reference or
 * the address of one is about that one alone.
 *
 * @param message - its reference may be null where no report in the ledger names any
 */
export function mismatchOf(report: Naming, message: SentMessage): UnmatchedReason | null {
  const { environment, reference, address, saidAtMs } = report;
  const isProven = environment === '' && reference !== null && reference === message.reference;
  if (environment !== message.environment && !isProven) return 'environment';
  if (reference !== null && message.reference !== null && reference !== message.reference) return 'reference';
  if (address !== null && message.to !== null && isAnother(address, message.to)) return 'address';
  if (message.claimedAtMs !== null && saidAtMs < message.claimedAtMs - SKEW_MS) return 'time';
  return null;
}

/**
 * Whether two addresses cannot be of one person. A contact of an address book has a number and an email address that the
 * ledger does not know, and a number that cannot be read may be any.
 */
function isAnother(a: string, b: string): boolean {
  if (a === b) return false;
  const [kind, other] = [kindOf(a), kindOf(b)];
  if (kind !== other) return kind !== 'contact' && other !== 'contact';
  return kind !== 'email' || a.toLowerCase() !== b.toLowerCase();
}

function kindOf(address: string): 'number' | 'email' | 'contact' {
  if (address.startsWith('+')) return 'number';
  return address.includes('@') ? 'email' : 'contact';
}
