import type { Dispatcher } from 'undici';
import type { AnsweringConnection, Attempt, AttemptError, Phase } from '../model.ts';
import { Fault, toAttemptError } from './fault.ts';

/** Share of the time limit after which a request is not started any more. */
const LATEST_START = 0.75;

export interface Carrier {
  readonly answering: AnsweringConnection;
  readonly socketError: Error | null;
  /** The connection ended, and the API had answered nothing of the request on it. */
  endedUnanswered(): void;
  /** Called once, when the exchange has its attempt. */
  finished(exchange: Exchange): void;
}

/**
 * One POST while it is under way. undici calls its hooks, and they tell the phase, which decides the outcome
 * (failures.md, rule 2).
 *
 * P1  made P2  `onRequestStart` was called: TCP and TLS are up, the next thing is the first byte. Throwing there sends
 * nothing. P3  `onResponseStart` with a final status; 1xx responses call it too and do not count P4  `onResponseEnd`
 *
 * It ends exactly once, with the facts of the attempt, and never rejects.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly body: string;
  readonly reference: string;
  /** On the monotonic clock, in ms. */
  readonly startedAt: number;
  readonly deadline: number;
  carrier: Carrier | null = null;
  done = false;
  /** The whole response came, and the connection is in order. */
  clean = false;
  readonly #startBy: number;
  readonly #resolve: (attempt: Attempt) => void;
  #phase: Phase = 'P1';
  #responseBegan = false;
  #status: number | null = null;
  #contentType: string | null = null;
  #contentEncoding: string | null = null;
  #retryAfter: string | null = null;
  #chunk: Buffer | null = null;
  #chunks: Buffer[] | null = null;

  constructor(
    body: string,
    reference: string,
    startedAt: number,
    timeoutMs: number,
    resolve: (attempt: Attempt) => void,
  ) {
    this.body = body;
    this.reference = reference;
    this.startedAt = startedAt;
    this.deadline = startedAt + timeoutMs;
    this.#startBy = startedAt + timeoutMs * LATEST_START;
    this.#resolve = resolve;
  }

  /** The last moment at which nothing was sent: every reason not to send is thrown here. */
  onRequestStart(): void {
    // A request starts once: a second start is refused before its first byte (failures.md, B10).
    if (this.#phase !== 'P1') throw new Fault('HANDBILL_STARTED_TWICE', 'The request was about to be sent twice.');
    // It ended while it waited for its connection: its outcome is recorded, so it must not be sent.
    if (this.done) throw new Fault('HANDBILL_STOPPED', 'The request had ended before it could be sent.');
    // With little time left the response would be late, and the recipient in doubt. Not started, it is retried.
    if (performance.now() >= this.#startBy) throw new Fault('HANDBILL_TIMEOUT', 'No connection within the time limit.');
    this.#phase = 'P2';
  }

  onResponseStarted(): void {
    this.#responseBegan = true;
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#phase = 'P3';
    this.#status = status;
    this.#contentType = first(headers['content-type']);
    this.#contentEncoding = first(headers['content-encoding']);
    this.#retryAfter = first(headers['retry-after']);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#chunk === null) this.#chunk = chunk;
    else if (this.#chunks === null) this.#chunks = [this.#chunk, chunk];
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const broken = this.carrier?.socketError ?? null;
    if (broken !== null) {
      // A body without a length ends with its connection, and undici takes a reset for such an end. It proves nothing.
      this.#finish({ code: 'HANDBILL_CUT_BODY', message: `${toAttemptError(broken).code} at the end of the answer` });
      return;
    }
    this.#phase = 'P4';
    const encoding = this.#contentEncoding ?? '';
    if (encoding === '' || encoding.toLowerCase() === 'identity') this.#finish(null);
    else this.#finish({ code: 'HANDBILL_ENCODED_BODY', message: 'The answer is compressed, which was not asked for.' });
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.done) return;
    if (this.#phase === 'P2' && !this.#responseBegan) this.carrier?.endedUnanswered();
    this.#finish(toAttemptError(error));
  }

  /** Ends it from outside. What was not started yet is not sent any more. */
  fail(error: AttemptError): void {
    this.#finish(error);
  }

  #finish(error: AttemptError | null): void {
    if (this.done) return;
    this.done = true;
    this.clean = error === null;
    const attempt: Attempt = {
      phase: this.#phase,
      status: this.#status,
      error: error !== null && this.#phase === 'P2' && this.#responseBegan ? partial(error) : error,
      contentType: this.#contentType,
      retryAfter: this.#retryAfter,
      body: error?.code === 'HANDBILL_ENCODED_BODY' ? '' : this.#text(),
      latencyMs: performance.now() - this.startedAt,
      connection: this.carrier?.answering,
    };
    this.carrier?.finished(this);
    this.#resolve(attempt);
  }

  #text(): string {
    if (this.#chunk === null) return '';
    return (this.#chunks === null ? this.#chunk : Buffer.concat(this.#chunks)).toString('utf8');
  }
}

/** An attempt for which no connection could be opened. */
export function notStarted(error: AttemptError, latencyMs: number): Attempt {
  return { phase: 'P1', status: null, error, contentType: null, retryAfter: null, body: '', latencyMs };
}

/** Tells a broken response from silence. A time limit, a stop and a second start are more precise, and stay. */
function partial(error: AttemptError): AttemptError {
  if (error.code.startsWith('HANDBILL_')) return error;
  return { code: 'HANDBILL_PARTIAL_ANSWER', message: `${error.code}: ${error.message}` };
}

function first(value: string | string[] | undefined): string | null {
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}
