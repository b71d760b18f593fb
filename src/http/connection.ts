import { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';
import { createAnswering } from './connection-answers.ts';
import type { Carrier, Exchange } from './exchange.ts';
import { Fault, toAttemptError } from './fault.ts';
import type { Reuse } from './reuse.ts';

export interface ConnectionOwner {
  idle(connection: Connection): void;
  /** `error`: why it could not be opened; null: it was open, or is not needed any more. */
  gone(connection: Connection, error: Error | null): void;
  /** Whether a connection that has answered is used again; learns how each one ends. */
  readonly reuse: Reuse;
}

export interface RequestOptions {
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly idempotencyHeader: string | null;
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
export class Connection implements Carrier, Dispatcher.DispatchHandler {
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
    this.#probe = { path: options.path, method: 'POST', blocking: false };
    this.#client.dispatch(this.#probe, this);
  }

  /** Gives the connection its request. One whose connection has closed at this very moment waits for a new one. */
  carry(exchange: Exchange): void {
    this.state = 'busy';
    this.#exchange = exchange;
    exchange.carrier = this;
    const { path, headers, idempotencyHeader } = this.#options;
    const own = idempotencyHeader === null ? headers : [...headers, idempotencyHeader, exchange.reference];
    const { body } = exchange;
    this.#client.dispatch({ path, method: 'POST', headers: own as string[], body, blocking: false }, exchange);
    this.#client.dispatch(this.#probe, this);
  }

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
    if (isUnasked(error)) this.answering.onUnasked?.();
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

function isUnasked(error: Error): boolean {
  return (
    error instanceof errors.HTTPParserError || (error instanceof errors.SocketError && error.message === 'bad response')
  );
}

function timeUp(ms: number): Fault {
  return new Fault('HANDBILL_TIMEOUT', `The time limit of ${ms} ms was up.`);
}
