import type { AnsweringConnection, Attempt, AttemptError, Phase } from '../model.ts';
import type { AnswerHead } from './answer-parser.ts';
import { Fault, type FaultCode, toAttemptError } from './fault.ts';

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
  /** Null: it waits for one. */
  readonly connection: AnsweringConnection | null;
  /** Called once, when the exchange has its attempt. */
  settled(exchange: Exchange): void;
}

/**
 * One POST while it is under way: its lane calls its hooks, and from them it knows the phase (FAILURES rule 2).
 *
 *   P1  made
 *   P2  `begin` let it go: TCP and TLS are up, the next thing is the first byte. What it refuses sends nothing.
 *   P3  `head`, with a final status
 *   P4  `end`
 *
 * It ends exactly once, with the facts of the attempt, and never rejects.
 */
export class Exchange {
  readonly body: string;
  readonly reference: string;
  /** On the monotonic clock, in ms. */
  readonly startedAt: number;
  readonly deadline: number;
  /** From then on it is not begun any more. */
  readonly startBy: number;
  carrier: Carrier | null = null;
  done = false;
  /** The whole answer came. */
  clean = false;
  readonly #resolve: (attempt: Attempt) => void;
  #phase: Phase = 'P1';
  #answerBegan = false;
  #head: AnswerHead | null = null;
  #text = '';
  /** What has come of the body since a chunk that may have ended within a character. */
  #bytes: Buffer | null = null;
  #length = 0;
  readonly #mostBytes: number;

  constructor(
    body: string,
    reference: string,
    startedAt: number,
    timeoutMs: number,
    mostBytes: number,
    resolve: (attempt: Attempt) => void,
  ) {
    this.body = body;
    this.reference = reference;
    this.startedAt = startedAt;
    this.deadline = startedAt + timeoutMs;
    this.startBy = startedAt + timeoutMs * LATEST_START;
    this.#mostBytes = mostBytes;
    this.#resolve = resolve;
  }

  /** The last moment at which nothing was sent. Null lets the first byte go; else it must not, for this reason. */
  begin(nowMs: number): Fault | null {
    // B10
    if (this.#phase !== 'P1') return new Fault('HANDBILL_STARTED_TWICE', 'The request was about to be sent twice.');
    // Ended while it waited for its connection: its outcome is out, so its bytes must not go.
    if (this.done) return new Fault('HANDBILL_STOPPED', 'The request had ended before it could be sent.');
    // With little time left the answer would come too late, and the recipient be in doubt; not begun, it is tried again.
    if (nowMs >= this.startBy) return new Fault('HANDBILL_TIMEOUT', 'No connection within the time limit.');
    this.#phase = 'P2';
    return null;
  }

  answerBegan(): void {
    this.#answerBegan = true;
  }

  /** Something of its answer has come. */
  get hasAnswer(): boolean {
    return this.#answerBegan;
  }

  head(head: AnswerHead): void {
    this.#phase = 'P3';
    this.#head = head;
  }

  /** A part of the body, which is not kept: those bytes of `chunk` are others afterwards. */
  data(chunk: Buffer, start: number, end: number): Fault | null {
    this.#length += end - start;
    if (this.#length > this.#mostBytes) {
      return new Fault('HANDBILL_BODY_TOO_LARGE', `The answer is longer than ${this.#mostBytes} bytes.`);
    }
    // Behind a byte of ASCII no character is cut in two, so what came up to there can be turned into text.
    const isCut = (chunk[end - 1] ?? 0) >= 0x80;
    if (this.#bytes === null && !isCut) this.#text += chunk.toString('utf8', start, end);
    else {
      const bytes = Buffer.concat([this.#bytes ?? NOTHING, chunk.subarray(start, end)]);
      if (!isCut) this.#text += bytes.toString('utf8');
      this.#bytes = isCut ? bytes : null;
    }
    return null;
  }

  end(): void {
    this.#phase = 'P4';
    const encoding = this.#head?.contentEncoding ?? '';
    if (encoding === '' || encoding.toLowerCase() === 'identity') this.#settle(null);
    else this.#settle({ code: 'HANDBILL_ENCODED_BODY', message: 'The answer is compressed, which was not asked for.' });
  }

  /** It ends without a whole answer. What was not started yet sends nothing any more. */
  fail(error: Error): void {
    this.#settle(toAttemptError(error));
  }

  #settle(error: AttemptError | null): void {
    if (this.done) return;
    this.done = true;
    this.clean = error === null;
    const head = this.#head;
    const attempt: Attempt = {
      phase: this.#phase,
      status: head === null ? null : head.status,
      error: error !== null && this.#phase === 'P2' && this.#answerBegan ? partial(error) : error,
      contentType: head === null ? null : head.contentType,
      retryAfter: head === null ? null : head.retryAfter,
      body: error?.code === 'HANDBILL_ENCODED_BODY' ? '' : this.#textSoFar(),
      latencyMs: performance.now() - this.startedAt,
      ...(this.carrier?.connection == null ? {} : { connection: this.carrier.connection }),
    };
    this.carrier?.settled(this);
    this.#resolve(attempt);
  }

  #textSoFar(): string {
    return this.#bytes === null ? this.#text : this.#text + this.#bytes.toString('utf8');
  }
}

const NOTHING = Buffer.alloc(0);

/** An attempt that never came as far as a connection. */
export function notStarted(error: AttemptError, latencyMs: number): Attempt {
  return { phase: 'P1', status: null, error, contentType: null, retryAfter: null, body: '', latencyMs };
}

/** Tells an answer that broke off from silence. A time limit, a stop and a second start say more than that, so they stay. */
function partial(error: AttemptError): AttemptError {
  if (error.code.startsWith('HANDBILL_') && !OF_THE_ANSWER.has(error.code)) return error;
  return { code: 'HANDBILL_PARTIAL_ANSWER', message: `${error.code}: ${error.message}` };
}

const OF_THE_ANSWER: ReadonlySet<string> = new Set(['HANDBILL_CLOSED', 'HANDBILL_BAD_ANSWER'] satisfies FaultCode[]);
