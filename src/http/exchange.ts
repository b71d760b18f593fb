import type { Dispatcher } from 'undici';
import type { Attempt, AttemptError, Phase } from '../model.ts';
import { Fault, toAttemptError } from './fault.ts';

/** Longest body of an answer that is read, in bytes. An answer to one message has some hundred. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** The same for a request with several recipients: entries of half a kilobyte were seen, with long texts for refusals. */
export function maxAnswerBytes(recipients: number): number {
  return recipients === 1 ? MAX_ANSWER_BYTES : MAX_ANSWER_BYTES + recipients * 1024;
}

/** The share of the time limit after which a request is not begun any more. */
const LATEST_START = 0.75;

/** What an exchange needs of the connection that carries it. */
export interface Carrier {
  /** The error event of the socket, if there was one. */
  socketError: Error | null;
  /** Called once, when the exchange has its attempt. */
  settled(exchange: Exchange): void;
}

/**
 * One POST while it is under way: undici calls its hooks, and from them it knows the phase (FAILURES rule 2).
 *
 *   P1  made
 *   P2  `onRequestStart` was called: TCP and TLS are up, the next thing is the first byte. Throwing there sends nothing.
 *   P3  `onResponseStart` with a final status; 1xx answers call it too and do not count
 *   P4  `onResponseEnd`
 *
 * It ends exactly once, with the facts of the attempt, and never rejects.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly body: Buffer;
  readonly reference: string;
  /** On the monotonic clock, in ms. */
  readonly startedAt: number;
  readonly deadline: number;
  /** From then on it is not begun any more. */
  readonly startBy: number;
  carrier: Carrier | null = null;
  done = false;
  /** The whole answer came and the connection is in order. */
  clean = false;
  readonly #resolve: (attempt: Attempt) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: Phase = 'P1';
  #answerBegan = false;
  #status: number | null = null;
  #contentType: string | null = null;
  #contentEncoding: string | null = null;
  #retryAfter: string | null = null;
  #chunk: Buffer | null = null;
  #chunks: Buffer[] | null = null;
  #bytes = 0;
  readonly #mostBytes: number;

  constructor(
    body: string,
    reference: string,
    startedAt: number,
    timeoutMs: number,
    mostBytes: number,
    resolve: (attempt: Attempt) => void,
  ) {
    this.body = Buffer.from(body, 'utf8');
    this.reference = reference;
    this.startedAt = startedAt;
    this.deadline = startedAt + timeoutMs;
    this.startBy = startedAt + timeoutMs * LATEST_START;
    this.#mostBytes = mostBytes;
    this.#resolve = resolve;
  }

  /** The last moment at which nothing was sent: whatever speaks against sending is thrown here. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // B10
    if (this.#controller !== null) throw new Fault('HANDBILL_STARTED_TWICE', 'The request was about to be sent twice.');
    // Ended while it waited for its connection: its outcome is out, so its bytes must not go.
    if (this.done) throw new Fault('HANDBILL_STOPPED', 'The request had ended before it could be sent.');
    // With little time left the answer would come too late, and the recipient be in doubt; not begun, it is tried again.
    if (performance.now() >= this.startBy) throw new Fault('HANDBILL_TIMEOUT', 'No connection within the time limit.');
    this.#controller = controller;
    this.#phase = 'P2';
  }

  onResponseStarted(): void {
    this.#answerBegan = true;
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    this.#phase = 'P3';
    this.#status = status;
    this.#contentType = first(headers['content-type']);
    this.#contentEncoding = first(headers['content-encoding']);
    this.#retryAfter = first(headers['retry-after']);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#mostBytes) {
      controller.abort(new Fault('HANDBILL_BODY_TOO_LARGE', `The answer is longer than ${this.#mostBytes} bytes.`));
    } else if (this.#chunk === null) this.#chunk = chunk;
    else if (this.#chunks === null) this.#chunks = [this.#chunk, chunk];
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const broken = this.carrier?.socketError ?? null;
    if (broken !== null) {
      // A body without a length ends with its connection; undici takes a reset for such an end as well. It proves nothing.
      this.#settle({ code: 'HANDBILL_CUT_BODY', message: `${toAttemptError(broken).code} at the end of the answer` });
      return;
    }
    this.#phase = 'P4';
    const encoding = this.#contentEncoding;
    if (encoding === null || encoding === '' || encoding.toLowerCase() === 'identity') this.#settle(null);
    else this.#settle({ code: 'HANDBILL_ENCODED_BODY', message: 'The answer is compressed, which was not asked for.' });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#settle(toAttemptError(error));
  }

  /** Ends it from outside. What was not started yet sends nothing any more. */
  stop(fault: Fault): void {
    this.#controller?.abort(fault);
    this.#settle(toAttemptError(fault));
  }

  #settle(error: AttemptError | null): void {
    if (this.done) return;
    this.done = true;
    this.clean = error === null;
    const attempt: Attempt = {
      phase: this.#phase,
      status: this.#status,
      error: error !== null && this.#phase === 'P2' && this.#answerBegan ? partial(error) : error,
      contentType: this.#contentType,
      retryAfter: this.#retryAfter,
      body: this.#text(error),
      latencyMs: performance.now() - this.startedAt,
    };
    this.carrier?.settled(this);
    this.#resolve(attempt);
  }

  #text(error: AttemptError | null): string {
    if (this.#chunk === null || error?.code === 'HANDBILL_ENCODED_BODY') return '';
    return (this.#chunks === null ? this.#chunk : Buffer.concat(this.#chunks)).toString('utf8');
  }
}

/** An attempt that never came as far as a connection. */
export function notStarted(error: AttemptError, latencyMs: number): Attempt {
  return { phase: 'P1', status: null, error, contentType: null, retryAfter: null, body: '', latencyMs };
}

/** Tells an answer that broke off from silence. A time limit and a stop say more than that, so they stay. */
function partial(error: AttemptError): AttemptError {
  if (error.code.startsWith('HANDBILL_')) return error;
  return { code: 'HANDBILL_PARTIAL_ANSWER', message: `${error.code}: ${error.message}` };
}

function first(value: string | string[] | undefined): string | null {
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}
