import type { Attempt, HaltRule } from '../model.ts';
import { isAboutRecipient } from '../providers/rules.ts';
import { parseJson } from '../util/json.ts';
import {
  type Addressee,
  type Answer,
  type CompiledWire,
  type Denied,
  describe,
  readAnswer,
  readRefusal,
} from './answer.ts';
import { retryAfterMs } from './waits.ts';

/** A closed set of words; the HTTP status is another field. */
export const REASONS = [
  // P1, nothing was sent
  'dns',
  'connect',
  'connect-timeout',
  'tls',
  'proxy',
  'internal',
  'stopped',
  // P2, the request may have been received
  'write',
  'timeout',
  'no-response',
  'bad-response',
  // an answer
  'unrecognised',
  'mismatch',
  'refused',
  'opted-out',
  'redirect',
  'not-authorised',
  'wrong-address',
  'rate-limited',
  'unsupported-channel',
  'too-large',
  'status',
] as const;
export type Reason = (typeof REASONS)[number];

export interface Verdict {
  readonly outcome: 'accepted' | 'rejected' | 'failed' | 'in-doubt' | 'pending';
  readonly reason: Reason | null;
  /** Another attempt may follow in this start; after the last one, `outcome` is final. */
  readonly again: boolean;
  /** The stop rule that this answer triggers (failures.md, rule 10). */
  readonly halt: HaltRule | null;
  /**
   * The API refused a request as a whole, and could accept some of its recipients: it is sent in smaller parts. No
   * retry: no recipient was tried individually.
   */
  readonly split: boolean;
  /** The wait that the API asks for, for the whole run; null: the usual backoff. */
  readonly retryAfterMs: number | null;
  readonly messageId: string | null;
  /** From the API or the library, at most 2 KiB: redact before it is kept or shown. */
  readonly error: string | null;
  /** The field of a 2xx that refuses without naming the recipient: `/status is "error"`. */
  readonly field: string | null;
  /** The words of the API about the key, the account or the sender, where a rule of its provider halts the run. */
  readonly says: string | null;
}

export interface ClassifyContext {
  readonly wire: CompiledWire;
  /** True until the first answer of this start that only the API can have given: see `isRecognised`. */
  readonly firstAnswer: boolean;
  /** Nothing was ever accepted in the environment at this address; default: something was. */
  readonly neverAccepted?: boolean;
  /** Wall clock in ms, for a `Retry-After` that is a date. */
  readonly nowMs: number;
  /** The run is stopping: what was not sent is not a failure. */
  readonly stopping: boolean;
}

/** Longest `Retry-After` that a run waits for; a longer one halts it (failures.md, rule 10, throttled). */
const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * The whole policy: the outcome of a recipient after one attempt. The code at the end of a line is its row in
 * docs/failures.md. Phase and status decide. Error codes only give the reason, because the same code was seen with
 * nothing sent and with everything received.
 * @param recipients - of the request; default: one that no entry names
 * @param document - the body as JSON
 */
export function classify(
  attempt: Attempt,
  context: ClassifyContext,
  recipients: readonly Addressee[] = [],
  document: unknown = parseJson(attempt.body),
): Verdict {
  if (attempt.phase === 'P1') return notSent(attempt, context);
  if (attempt.status === null) return perhapsSent(attempt);
  if (attempt.status >= 200 && attempt.status < 300) {
    // Accepted only when the whole answer came and is one that the API gives.
    return verdictOf(readAnswer(attempt, document, context.wire, recipients), context, recipients);
  }
  return refusal(attempt, attempt.status, context, recipients, document);
}

/** Whether this verdict shows that the API itself answered; a 429 does. */
export function isRecognised(verdict: Verdict): boolean {
  return verdict.outcome === 'accepted' || verdict.outcome === 'rejected' || verdict.reason === 'rate-limited';
}

/** P1: proven that nothing was sent, so any error may be tried again. */
function notSent(attempt: Attempt, context: ClassifyContext): Verdict {
  const code = attempt.error?.code ?? '';
  const error = attempt.error === null ? null : describe(attempt.error);
  if (context.stopping || STOPPED.test(code)) return verdict('pending', 'stopped', { again: true, error }); // B9
  if (code === 'HANDBILL_PROXY') return verdict('failed', 'proxy', { again: true, error }); // B7
  if (DNS.test(code)) return verdict('failed', 'dns', { again: true, error }); // B2
  if (SLOW.test(code)) return verdict('failed', 'connect-timeout', { again: true, error }); // B4
  if (TLS.test(code)) return verdict('failed', 'tls', { halt: 'tls', error }); // B6
  if (INTERNAL.test(code)) return verdict('failed', 'internal', { halt: 'invalid-request', error }); // B8
  return verdict('failed', 'connect', { again: true, error }); // B3, B5
}

/** P2: the API may have it, so no error is tried again. */
function perhapsSent(attempt: Attempt): Verdict {
  const code = attempt.error?.code ?? '';
  const error = attempt.error === null ? null : describe(attempt.error);
  if (code === 'HANDBILL_TIMEOUT' || SLOW.test(code)) return verdict('in-doubt', 'timeout', { error }); // C2, C3, C8
  if (STOPPED.test(code)) return verdict('in-doubt', 'stopped', { error }); // I2
  if (code === 'HANDBILL_STARTED_TWICE') return verdict('in-doubt', 'internal', { error }); // B10
  if (code === 'HANDBILL_PARTIAL_ANSWER') return verdict('in-doubt', 'bad-response', { error }); // C5, C6, C7
  if (code === 'EPIPE') return verdict('in-doubt', 'write', { error }); // C1
  return verdict('in-doubt', 'no-response', { error }); // C1, C3, C4, C9
}

export function verdictOf(answer: Answer, context: ClassifyContext, recipients: readonly Addressee[]): Verdict {
  if (answer.kind === 'recognised') return verdict('accepted', null, { messageId: answer.messageId }); // D1, D3
  if (answer.kind === 'refused') {
    const { messageId, error } = answer;
    if (answer.unsupported) return unsupported(recipients, { messageId, error });
    return verdict('rejected', 'refused', { messageId, error }); // D1a, wire.response.failed
  }
  if (answer.kind === 'denied') return denied(answer); // D1a
  // An answer that we cut off ourselves does not show who gave it.
  const halt = !context.stopping && (answer.kind === 'html' || context.firstAnswer) ? 'not-the-api' : null;
  return verdict('in-doubt', 'unrecognised', { halt, error: answer.error }); // D2
}

/** A 2xx that refuses without naming the recipient (D1a): the start halts, because the next answer will be the same. */
export function denied({ isAccount, messageId, error, field }: Denied): Verdict {
  const halt = isAccount ? 'not-authorised' : 'refusals';
  if (isAccount) return verdict('pending', 'not-authorised', { halt, error });
  return verdict('in-doubt', 'refused', { halt, messageId, error, field });
}

/** For several recipients the answer does not say which one cannot receive the channel. */
export function unsupported(recipients: readonly Addressee[], rest: Partial<Verdict>): Verdict {
  if (recipients.length > 1)
    return verdict('pending', 'unsupported-channel', { split: true, error: rest.error ?? null });
  return verdict('rejected', 'unsupported-channel', rest);
}

/** P3, P4 without 2xx: only the status decides. */
function refusal(
  attempt: Attempt,
  status: number,
  context: ClassifyContext,
  recipients: readonly Addressee[],
  document: unknown,
): Verdict {
  const { error, unsupported: says } = readRefusal(attempt, document, context.wire);
  const limited = limitedBy(attempt, context, error);

  if (status === 307 || status === 308) return verdict('pending', 'wrong-address', { halt: 'wrong-address', error }); // E1
  if (status < 400) return verdict('in-doubt', 'redirect', { halt: 'wrong-address', error }); // E2
  if (status === 401 || status === 402 || status === 403 || status === 407) {
    return verdict('pending', 'not-authorised', { halt: 'not-authorised', error }); // F2
  }
  if (recipients.length > 1 && status === 413) {
    return verdict('pending', 'too-large', { split: true, error }); // F1
  }
  if (isAboutRecipient(status) && says) {
    return unsupported(recipients, { error }); // F1, before a 404 says that the address is wrong
  }
  if (status === 429 || status === 425) {
    // Never about the recipient, who waits for a later start after the last attempt (failures.md, F4, F5, F6).
    return limited;
  }
  if (context.neverAccepted === true && ELSEWHERE.has(status)) {
    return verdict('pending', 'wrong-address', { halt: 'wrong-address', error }); // F1, rule 10
  }
  if (status === 408 || status === 499) return verdict('in-doubt', 'status', { error }); // F3
  if (status < 500) return verdict('rejected', 'status', { error }); // F1
  if (status === 501 || status === 505) return verdict('pending', 'wrong-address', { halt: 'wrong-address', error }); // G3
  if (status === 511) return verdict('in-doubt', 'status', { halt: 'not-the-api', error }); // G4
  if (status === 503) {
    return verdict('in-doubt', 'status', { halt: limited.halt, retryAfterMs: limited.retryAfterMs, error }); // G2
  }
  return verdict('in-doubt', 'status', { error }); // G1, G5
}

/** Nothing was done: the recipient waits for another attempt, unless the API asks for a long wait. */
export function limitedBy({ retryAfter }: Attempt, { nowMs }: ClassifyContext, error: string | null): Verdict {
  const wait = retryAfterMs(retryAfter, nowMs);
  const throttled = wait !== null && wait > LONGEST_WAIT_MS;
  const halt = throttled ? 'throttled' : null;
  return verdict('pending', 'rate-limited', { again: !throttled, halt, retryAfterMs: wait, error });
}

export function verdict(outcome: Verdict['outcome'], reason: Reason | null, rest: Partial<Verdict>): Verdict {
  return {
    outcome,
    reason,
    again: rest.again ?? false,
    halt: rest.halt ?? null,
    split: rest.split ?? false,
    retryAfterMs: rest.retryAfterMs ?? null,
    messageId: rest.messageId ?? null,
    error: rest.error ?? null,
    field: rest.field ?? null,
    says: rest.says ?? null,
  };
}

/** A server's answers at an address that is not the API's; an API may give them for one recipient. */
export const ELSEWHERE: ReadonlySet<number> = new Set([404, 405, 410]);
const STOPPED = /^(?:HANDBILL_STOPPED|UND_ERR_(?:ABORTED|DESTROYED|CLOSED)|ABORT_ERR|AbortError)$/;
const DNS = /^(?:ENOTFOUND|EAI_[A-Z]+)$/;
const SLOW = /^(?:HANDBILL_TIMEOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT|ERR_TLS_HANDSHAKE_TIMEOUT)$/;
const INTERNAL =
  /^(?:UND_ERR_INVALID_ARG|UND_ERR_REQ_CONTENT_LENGTH_MISMATCH|UND_ERR_NOT_SUPPORTED|ERR_INVALID_[A-Z_]+)$/;
/** Codes of OpenSSL and Node for a peer that cannot be trusted or understood; OpenSSL's have no common beginning. */
const TLS =
  /^(?:ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERROR_IN_(?:CERT|CRL)_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)/;
