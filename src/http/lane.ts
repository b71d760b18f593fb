import { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import type { Carrier, Exchange } from './exchange.ts';
import { Fault } from './fault.ts';

/** What a lane tells the endpoint that owns it. */
export interface LaneOwner {
  /** The lane has an open connection and nothing to do. */
  idle(lane: Lane): void;
  /** Its connection could not be opened. */
  openFailed(lane: Lane, error: Error): void;
  /** The lane has no connection any more and takes nothing. */
  gone(lane: Lane): void;
  settled(): void;
}

/** What every request of an endpoint has in common. */
export interface LaneOptions {
  /** Longest body of an answer that is read. */
  readonly mostBytes: number;
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly idempotencyHeader: string | null;
  readonly connector: buildConnector.connector;
}

/** Thrown in the hook of a probe: the connection is up, and nothing was sent. */
const OPENED = new Error('The connection is open.');

/**
 * One connection and the request on it.
 *
 * A lane is opened by a probe: a request whose `onRequestStart` throws. undici connects, calls the hook, sends 0 bytes,
 * and keeps the connection. Behind each exchange waits another probe: with one waiting, undici has checked the
 * connection by the time the lane is idle, and the next request is written within `carry`. Without it undici puts that
 * check, one turn of the event loop, between the request and its first byte; a kill in this turn left a claim that was
 * never received (7 % of the doubts of 24 kills at 15 ms per answer, against 0.2 % of 40).
 *
 * An undici `Client` per lane instead of a `Pool`: a Pool gives a request to the first client that is not busy, also one
 * whose connection has died, while another stands open - so that "an open connection is waiting" would prove nothing for
 * the next request (FAILURES rule 9).
 */
export class Lane implements Carrier, Dispatcher.DispatchHandler {
  readonly client: Client;
  /** `busy` with an exchange; `finishing` until undici says that the connection can be used again. */
  state: 'new' | 'opening' | 'idle' | 'busy' | 'finishing' | 'gone' = 'new';
  exchange: Exchange | null = null;
  socketError: Error | null = null;
  /** When its connection must be open, on the monotonic clock. */
  readonly openBy: number;
  /** It counts as being opened until its connection was first seen open. */
  opening = false;
  /** The socket, from before it is connected. */
  #socket: Socket | null = null;
  readonly #options: LaneOptions;
  readonly #owner: LaneOwner;
  readonly #probe: Dispatcher.DispatchOptions;

  constructor(options: LaneOptions, owner: LaneOwner, openBy: number) {
    this.#options = options;
    this.#owner = owner;
    this.openBy = openBy;
    this.#probe = { path: options.path, method: 'POST', blocking: false };
    this.client = new Client(options.origin, {
      allowH2: false,
      pipelining: 1,
      useMilo: false,
      maxHeaderSize: 16 * 1024,
      maxResponseSize: options.mostBytes,
      // Neither bounds an answer (endless 103s, a byte now and then): the endpoint ends exchanges by its own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (target, callback) => this.#connect(target, callback),
    });
    this.client.on('drain', () => this.#drained());
    this.client.on('disconnect', () => this.#disconnected());
  }

  /** Opens the connection; the owner hears `idle` or `openFailed`. To be called once. */
  open(): void {
    this.state = 'opening';
    this.opening = true;
    this.client.dispatch(this.#probe, this);
  }

  failOpening(error: Error): void {
    if (this.state !== 'opening') return;
    this.#end();
    this.#owner.openFailed(this, error);
  }

  /** Gives the connection its request. */
  carry(exchange: Exchange): void {
    this.state = 'busy';
    this.exchange = exchange;
    exchange.carrier = this;
    const { path, headers, idempotencyHeader } = this.#options;
    this.client.dispatch(
      {
        path,
        method: 'POST',
        headers:
          idempotencyHeader === null ? (headers as string[]) : [...headers, idempotencyHeader, exchange.reference],
        body: exchange.body,
        blocking: false,
      },
      exchange,
    );
    this.client.dispatch(this.#probe, this);
  }

  // The lane is itself the handler of its probes.

  onRequestStart(): void {
    throw OPENED;
  }

  onResponseStart(): void {}

  onResponseData(): void {}

  onResponseEnd(): void {}

  onResponseError(_controller: unknown, error: Error): void {
    if (error !== OPENED) this.failOpening(error);
    else if (this.state === 'opening') this.state = 'finishing';
  }

  settled(exchange: Exchange): void {
    if (this.exchange !== exchange) return;
    this.exchange = null;
    this.state = 'finishing';
    // After anything but a clean answer the connection is not used again.
    if (!exchange.clean) this.retire();
    this.#owner.settled();
  }

  /** Takes the lane out of use and closes its connection. */
  retire(): void {
    if (this.state === 'gone') return;
    this.#end();
    this.#owner.gone(this);
  }

  #end(): void {
    this.state = 'gone';
    // Not at once: this may run inside a callback of the client.
    queueMicrotask(() => {
      this.client.destroy(() => {});
      // undici lets go of a socket that is still connecting, which would keep the process for as long as it tries.
      this.#socket?.destroy();
    });
  }

  #connect(target: buildConnector.Options, callback: buildConnector.Callback): void {
    // Gone, and only the probe is left of it: that needs no connection.
    if (this.state === 'gone') {
      callback(new Fault('HANDBILL_STOPPED', 'The connection is not needed.'), null);
      return;
    }
    const made: unknown = this.#options.connector(target, (...result) => {
      this.socketError = null;
      // Before undici listens: it takes a reset for the end of a body without a length, and so must be told apart.
      result[1]?.prependListener('error', (error: Error) => {
        this.socketError = error;
      });
      callback(...result);
    });
    // The types do not say that connectors return their socket.
    if (made instanceof Socket) this.#socket = made;
  }

  #drained(): void {
    if (this.state !== 'finishing') return;
    this.state = 'idle';
    this.#owner.idle(this);
  }

  /** With a request that has not started, undici connects again by itself, and the request is still in P1. */
  #disconnected(): void {
    if (this.exchange === null) this.retire();
  }
}
