import type { AttemptError } from '../model.ts';

/**
 * Codes of what handbill itself sees go wrong in an attempt, beside those of Node and undici. Like all codes they only
 * explain: what becomes of the recipient is decided by phase and status.
 */
export type FaultCode =
  /** The total time of the attempt was up. */
  | 'HANDBILL_TIMEOUT'
  /** The run stopped: the endpoint was closed or aborted. */
  | 'HANDBILL_STOPPED'
  /** One attempt was about to be sent twice. */
  | 'HANDBILL_STARTED_TWICE'
  /** A request that cannot be made: something of its own cannot stand in a header. */
  | 'HANDBILL_BAD_REQUEST'
  /** The API ended the connection. */
  | 'HANDBILL_CLOSED'
  /** An answer is not HTTP/1.1, or says what nothing asks for. */
  | 'HANDBILL_BAD_ANSWER'
  /** An answer had begun, but never became a status line with headers. */
  | 'HANDBILL_PARTIAL_ANSWER'
  /** The connection broke, which is no end of a body without a length. */
  | 'HANDBILL_CUT_BODY'
  | 'HANDBILL_BODY_TOO_LARGE'
  /** The body is compressed although `identity` was asked for. */
  | 'HANDBILL_ENCODED_BODY'
  /** The proxy could not be reached or did not open a tunnel. */
  | 'HANDBILL_PROXY';

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** An error as plain data: code and message, never the object itself, which may hold headers and so the key. */
export function toAttemptError(error: unknown): AttemptError {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  // An AggregateError of several addresses has no message of its own.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : null;
  return { code, message: error.message === '' && first instanceof Error ? first.message : error.message };
}
