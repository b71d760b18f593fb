import { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';
import { type Diagnostic, warning } from '../errors.ts';
import type { Attempt, AttemptError, Phase } from '../model.ts';
import { createAnswering } from './connection-answers.ts';
import { Fault, toAttemptError } from './fault.ts';

/** Where a request goes at the origin, and what its body is. */
export interface Target {
  /** With the query. */
  readonly path: string;
  readonly contentType: string;
}

export type Posted = Pick<Exchange, 'body' | 'reference' | 'target' | 'authorization'>;

export interface ConnectionOwner {
  idle(connection: Connection): void;
  /** `error`: why it could not be opened; null: it was open, or is not needed any more. */
  gone(connection: Connection, error: Error | null): void;
  /** Whether a connection that has answered is used again; learns how each one ends. */
  readonly reuse: ReturnType<typeof createReuse>;
}

export interface RequestOptions {
  readonly origin: string;
  /** Where a request goes that does not say, as JSON. */
  readonly target: Target;
  /** Names and values in turn, without the content type. */
  readonly headers: readonly string[];
  readonly idempotencyHeader: string | null;
  /** Header of a response that holds the message id, in lower case. */
  readonly idHeader: string | null;
  /** Longest body of a response that is read, in bytes. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
  readonly openMs: number;
  readonly connector: buildConnector.connector;
}

/** Idle connections are closed after 4 s, or 2 s before the time that the API gives. */
const KEEP_ALIVE = { keepAliveTimeout: 4_000, keepAliveTimeoutThreshold: 2_000, keepAliveMaxTimeout: 60_000 };
const MAX_HEADER_BYTES = 16 * 1024;

export const STOPPED = new Fault('HANDBILL_STOPPED', 'The run stopped.');

/** Thrown in the hook of a probe: the connection is up, and nothing was sent. */
const OPENED = new Error('The connection is open.');

/**
 * One connection, an undici `Client`, and the request on it.
 *
 * It is opened by a probe: a request whose `onRequestStart` throws. undici connects, calls the hook, sends nothing, and
 * keeps the connection. Another probe waits behind each request. undici then checks the connection while the probe
 * waits, so that the next request is written within `carry`. Without the probe, this check comes between the request
 * and its first byte and takes one turn of the event loop. A kill in this turn leaves a claim that was never received:
 * it was 9 to 19% of the doubts. `test/http/killed.test.ts` allows only the request that was being posted (failures.md,
 * rule 9).
 *
 * A `Pool` would give a request to any client that is not busy, also to one whose connection has just closed, so that
 * an open connection would prove nothing for the next request.
 */
export class Connection implements Dispatcher.DispatchHandler {
  /** `busy` with an exchange; `resting` until undici says that the connection can be used again. */
  state: 'opening' | 'idle' | 'busy' | 'resting' | 'gone' = 'opening';
  /** It counts as being opened until it was first seen open. */
  opening = true;
  readonly answering = createAnswering(() => this.retire());
  socketError: Error | null = null;
  #exchange: Exchange | null = null;
  /** When its last response was read; null: there was none. */
  #answeredAt: number | null = null;
  /** From before it is connected. */
  #socket: Socket | null = null;
  #timer: NodeJS.Timeout;
  readonly #client: Client;
  readonly #probe: Dispatcher.DispatchOptions;
  readonly #options: RequestOptions;
  readonly #owner: ConnectionOwner;

  constructor(options: RequestOptions, owner: ConnectionOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#client = new Client(options.origin, {
      ...KEEP_ALIVE,
      allowH2: false,
      pipelining: 1,
      useMilo: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      maxResponseSize: options.mostBytes,
      // Neither bounds a response (endless 103s, a byte now and then): there is a time limit for the whole.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => this.#connect(target, callback),
    });
    this.#client.on('drain', () => this.#drained());
    this.#client.on('disconnect', (_origin, _targets, error) => this.#disconnected(error));
    this.#timer = setTimeout(() => this.#failOpening(timeUp(options.openMs)), options.openMs);
    this.#probe = { path: options.target.path, method: 'POST', blocking: false };
    this.#client.dispatch(this.#probe, this);
  }

  get idHeader(): string | null {
    return this.#options.idHeader;
  }

  /** Gives the connection its request. One whose connection has closed at this very moment waits for a new one. */
  carry(exchange: Exchange): void {
    this.state = 'busy';
    this.#exchange = exchange;
    exchange.carrier = this;
    const { origin, headers, idempotencyHeader } = this.#options;
    const { body, target, reference, authorization } = exchange;
    const own = ['content-type', target.contentType, ...headers];
    if (idempotencyHeader !== null) own.push(idempotencyHeader, reference);
    if (authorization !== null) own.push('authorization', authorization);
    exchange.sent = { url: origin + target.path, headers: own, body };
    this.#client.dispatch({ path: target.path, method: 'POST', headers: own, body, blocking: false }, exchange);
    this.#client.dispatch(this.#probe, this);
  }

  /** Called once, when the exchange has its attempt. */
  finished(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = null;
    const { reuse } = this.#owner;
    if (exchange.clean && this.#answeredAt !== null) reuse.answeredAgain();
    this.#answeredAt = performance.now();
    this.state = 'resting';
    // Only after a whole response the connection is used again.
    if (!exchange.clean || !reuse.isAllowed) this.retire();
  }

  /** The connection ended, and the API had answered nothing of the request on it. */
  endedUnanswered(): void {
    if (this.state !== 'gone' && this.#answeredAt !== null) {
      this.#owner.reuse.closed(performance.now() - this.#answeredAt);
    }
  }

  /** It has answered, and is not to be used again. */
  get isUsedUp(): boolean {
    return this.#answeredAt !== null && !this.#owner.reuse.isAllowed;
  }

  get isBusy(): boolean {
    return this.#exchange !== null;
  }

  /** Takes the connection out of use and closes it. */
  retire(): void {
    this.#end(null);
  }

  /** Ends the request on it, if there is one, and closes the connection. */
  abort(fault: Fault): void {
    this.#exchange?.fail(toAttemptError(fault));
    this.retire();
  }

  // The connection is itself the handler of its probes.

  onRequestStart(): void {
    throw OPENED;
  }

  onResponseStart(): void {}

  onResponseData(): void {}

  onResponseEnd(): void {}

  onResponseError(_controller: unknown, error: Error): void {
    if (error !== OPENED) this.#failOpening(error);
    else if (this.state === 'opening') {
      clearTimeout(this.#timer);
      this.state = 'resting';
    }
  }

  #failOpening(error: Error): void {
    if (this.state === 'opening') this.#end(error);
  }

  #end(error: Error | null): void {
    if (this.state === 'gone') return;
    this.state = 'gone';
    clearTimeout(this.#timer);
    // Not at once: this may run inside a callback of the client.
    queueMicrotask(() => {
      this.#client.destroy(() => {});
      // undici drops a socket that is still connecting, which would keep the process alive for as long as it tries.
      this.#socket?.destroy();
    });
    this.#owner.gone(this, error);
  }

  #connect(target: buildConnector.Options, callback: buildConnector.Callback): void {
    // Closed with only a probe left, which needs no new connection.
    if (this.state === 'gone') {
      callback(STOPPED, null);
      return;
    }
    const made: unknown = this.#options.connector(target, (...result) => {
      this.socketError = null;
      // Before undici listens: it takes a reset for the end of a body without a length.
      result[1]?.prependListener('error', (error: Error) => {
        this.socketError = error;
      });
      if (result[1] !== null) this.#socket = result[1];
      callback(...result);
    });
    // The types do not say that connectors return their socket.
    if (made instanceof Socket) this.#socket = made;
  }

  #drained(): void {
    if (this.state !== 'resting') return;
    // After a response that came before the whole request was written, the rest of it would precede the next.
    if ((this.#socket?.writableLength ?? 0) > 0 || this.isUsedUp) {
      this.retire();
      return;
    }
    this.state = 'idle';
    this.#owner.idle(this);
  }

  /** With a request that has not started, undici connects again by itself, and the request is still in P1. */
  #disconnected(error: Error): void {
    if (this.#exchange !== null || this.state === 'gone') return;
    const isUnasked =
      error instanceof errors.HTTPParserError ||
      (error instanceof errors.SocketError && error.message === 'bad response');
    if (isUnasked) this.answering.onUnasked?.();
    // undici ended it: after `Connection: close`, or when the connection was idle for long enough.
    else if (!(error instanceof errors.InformationalError)) this.endedUnanswered();
    this.retire();
  }

  /** Ends the exchange if its time is up. The endpoint asks now and then: a timer for each request costs more. */
  endLate(nowMs: number): void {
    const exchange = this.#exchange;
    if (exchange === null || nowMs < exchange.deadline) return;
    // Timers run before input: after a suspension or a long wait for the ledger, read the responses that arrived
    // meanwhile before the time limit counts (failures.md, I1).
    setImmediate(() => {
      if (!exchange.done) exchange.fail(toAttemptError(timeUp(this.#options.timeoutMs)));
    });
  }
}

function timeUp(ms: number): Fault {
  return new Fault('HANDBILL_TIMEOUT', `The time limit of ${ms} ms was up.`);
}

/** A connection that ends later was idle for too long. */
const SOON_MS = 1000;
const TOO_OFTEN = 2;
/** After so many answers on connections that were used again, an end counts as an exception. */
const PROVEN = 10;

/**
 * A request in transit when the API closes the connection is in doubt, because it may have been read (failures.md, C4).
 * An API that closes each connection after its answer, without `Connection: close`, would put every second recipient in
 * doubt. So if connections end soon after an answer, twice without ten answers on reused connections in between, each
 * connection is used for one request for the rest of the start. A trial within the start would put a request on a used
 * connection, and may cost a doubt: only the next start tries again.
 */
export function createReuse(onNotice: (notice: Diagnostic) => void) {
  let isAllowed = true;
  let ends = 0;
  let answers = 0;
  return {
    get isAllowed(): boolean {
      return isAllowed;
    },
    answeredAgain(): void {
      answers += 1;
      if (answers < PROVEN) return;
      ends = 0;
    },
    /** The API ended a connection unannounced, `sinceMs` after the answer before. */
    closed(sinceMs: number): void {
      if (!isAllowed || sinceMs > SOON_MS) return;
      ends += 1;
      answers = 0;
      if (ends < TOO_OFTEN) return;
      isAllowed = false;
      onNotice(
        warning(
          'connection-limit',
          'Connections ended within a second of an answer, by a close or a reset that was not announced: from now on each is used for one request.',
          {
            hint: 'Let the API, or the proxy before it, keep its connections open, or say `Connection: close` in the answer.',
          },
        ),
      );
    },
  };
}

/** Share of the time limit after which a request is not started any more. */
const LATEST_START = 0.75;

type Headers = NonNullable<Attempt['headers']>;

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
  readonly target: Target;
  /** Proves who sends this one request; null: the headers of all requests do that, or nothing does. */
  readonly authorization: string | null;
  /** On the monotonic clock, in ms. */
  readonly startedAt: number;
  readonly deadline: number;
  carrier: Pick<Connection, 'answering' | 'idHeader' | 'socketError' | 'endedUnanswered' | 'finished'> | null = null;
  sent: NonNullable<Attempt['sent']> | null = null;
  done = false;
  /** The whole response came, and the connection is in order. */
  clean = false;
  readonly #startBy: number;
  readonly #resolve: (attempt: Attempt) => void;
  #phase: Phase = 'P1';
  #responseBegan = false;
  #status: number | null = null;
  #answered: Headers | null = null;
  #chunk: Buffer | null = null;
  #chunks: Buffer[] | null = null;

  constructor(
    { body, reference, target, authorization }: Posted,
    startedAt: number,
    timeoutMs: number,
    resolve: (attempt: Attempt) => void,
  ) {
    this.body = body;
    this.reference = reference;
    this.target = target;
    this.authorization = authorization;
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

  onResponseStart(_: unknown, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#phase = 'P3';
    this.#status = status;
    this.#answered = headers;
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
    const encoding = first(this.#answered?.['content-encoding']) ?? '';
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
    const idHeader = this.carrier?.idHeader ?? null;
    const attempt: Attempt = {
      phase: this.#phase,
      status: this.#status,
      error: error !== null && this.#phase === 'P2' && this.#responseBegan ? partial(error) : error,
      contentType: first(this.#answered?.['content-type']),
      retryAfter: first(this.#answered?.['retry-after']),
      headerId: idHeader === null ? null : first(this.#answered?.[idHeader]),
      headers: this.#answered,
      sent: this.#phase === 'P1' ? null : this.sent,
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
