import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { AnsweringConnection } from '../model.ts';
import { KEPT_MS } from './answer-headers.ts';
import { type AnswerHead, type AnswerListener, AnswerParser } from './answer-parser.ts';
import type { Carrier, Exchange } from './exchange.ts';
import { Fault, toAttemptError } from './fault.ts';
import { isHeaderValue } from './headers.ts';
import { hear, listen } from './inbox.ts';
import type { Reuse } from './reuse.ts';

/** What a lane tells the endpoint that owns it. */
export interface LaneOwner {
  /** The lane has an open connection and nothing to do. */
  idle(lane: Lane): void;
  /** Its answer was read; `rested` is to be called one turn of the event loop later. */
  resting(lane: Lane): void;
  /** Its connection could not be opened. */
  openFailed(lane: Lane, error: Error): void;
  /** Whether a connection that has answered is used again; told of how it ends. */
  readonly reuse: Reuse;
  /** The lane has no connection any more and takes nothing. */
  gone(lane: Lane): void;
  settled(): void;
}

/** What every request of an endpoint has in common. */
export interface LaneOptions {
  /** Longest body of an answer that is read. */
  readonly mostBytes: number;
  readonly url: URL;
  /** The request up to its own headers: the first line and the headers that all have, each with its line end. */
  readonly head: string;
  readonly idempotencyHeader: string | null;
  readonly connector: buildConnector.connector;
}

/**
 * One connection and the request on it.
 *
 * A request is written in one piece, within `carry`: whoever was killed behind a claim has sent it, or was killed between
 * two statements (FAILURES rule 9). Between an answer and the next request lies at least one turn of the event loop, in
 * which the end of the connection, or bytes that nobody asked for, show themselves.
 */
export class Lane implements Carrier, AnswerListener {
  /** `busy` with an exchange; `resting` until the connection can be used again. */
  state: 'new' | 'opening' | 'idle' | 'busy' | 'resting' | 'gone' = 'new';
  exchange: Exchange | null = null;
  readonly connection: AnsweringConnection = { end: () => this.retire(), onUnasked: null, lingerMs: 0 };
  /** When its connection must be open, on the monotonic clock. */
  readonly openBy: number;
  /** It counts as being opened until its connection was first seen open. */
  opening = false;
  /** Until when an idle connection is kept, on the monotonic clock. */
  keptUntil = 0;
  #keptMs = KEPT_MS;
  /** When its last answer was read; null: it has given none. */
  #answeredAt: number | null = null;
  /** From before it is connected. */
  #socket: Socket | null = null;
  #parser: AnswerParser | null = null;
  readonly #options: LaneOptions;
  readonly #owner: LaneOwner;

  constructor(options: LaneOptions, owner: LaneOwner, openBy: number) {
    this.#options = options;
    this.#owner = owner;
    this.openBy = openBy;
  }

  /** Opens the connection; the owner hears `idle` or `openFailed`. To be called once. */
  open(): void {
    this.opening = true;
    this.#connect();
  }

  failOpening(error: Error): void {
    if (this.state !== 'opening') return;
    this.#end();
    this.#owner.openFailed(this, error);
  }

  /** Gives the connection its request; one that is still to be opened, first. */
  carry(exchange: Exchange, nowMs: number): void {
    this.exchange = exchange;
    exchange.carrier = this;
    if (this.state === 'new') this.#connect();
    else this.#write(exchange, nowMs);
  }

  /** The turn of the event loop behind an answer is over. */
  rested(nowMs: number): void {
    if (this.state !== 'resting') return;
    // An answer that came before the whole request was written leaves the rest of that in the way of the next. Not known
    // before: with TLS, Node says one turn later than with TCP that all of it is written.
    if ((this.#socket?.writableLength ?? 0) > 0 || this.isUsedUp) {
      this.retire();
      return;
    }
    this.state = 'idle';
    this.keptUntil = nowMs + this.#keptMs;
    this.#owner.idle(this);
  }

  /** It has answered, and is not to be used again. */
  get isUsedUp(): boolean {
    return this.#answeredAt !== null && !this.#owner.reuse.isAllowed;
  }

  settled(exchange: Exchange): void {
    if (this.exchange !== exchange) return;
    this.exchange = null;
    // After anything but a whole answer the connection is not used again.
    if (!exchange.clean) this.retire();
    this.#owner.settled();
  }

  /** Takes the lane out of use and closes its connection. */
  retire(): void {
    if (this.state === 'gone') return;
    this.#end();
    this.#owner.gone(this);
  }

  // What its parser hears.

  answerBegan(): Fault | null {
    // S37: it would be taken for the answer to the next request.
    if (this.exchange === null) {
      this.connection.onUnasked?.();
      return unasked();
    }
    this.exchange.answerBegan();
    return null;
  }

  answerHead(head: AnswerHead): void {
    this.exchange?.head(head);
  }

  answerBody(chunk: Buffer, start: number, end: number): Fault | null {
    return this.exchange?.data(chunk, start, end) ?? null;
  }

  answerEnd(keptMs: number): void {
    const { exchange } = this;
    if (exchange === null) return;
    if (this.#answeredAt !== null) this.#owner.reuse.answeredAgain();
    this.#answeredAt = performance.now();
    const isOver = keptMs === 0 || this.#socket === null || !this.#owner.reuse.isAllowed;
    this.#keptMs = keptMs;
    this.state = 'resting';
    exchange.end();
    if (isOver) this.retire();
    else if (this.state === 'resting') this.#owner.resting(this);
  }

  #connect(): void {
    this.state = 'opening';
    const { protocol, hostname, host, port } = this.#options.url;
    const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port };
    const made: unknown = this.#options.connector(target, (error, socket) => {
      if (error !== null) this.#broke(error);
      else this.#opened(socket);
    });
    // The types do not say that connectors return their socket.
    if (made instanceof Socket) {
      this.#socket = made;
      hear(made, (chunk, length) => this.#received(chunk, length));
    }
  }

  #opened(socket: Socket): void {
    if (this.state === 'gone') {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#parser = new AnswerParser(this);
    listen(socket, (chunk, length) => this.#received(chunk, length));
    socket
      .on('error', (error) => this.#failed(error))
      .on('end', () => this.#ended())
      .on('close', () => this.#failed(closed()));
    if (this.exchange !== null) this.#write(this.exchange, performance.now());
    else {
      this.state = 'resting';
      this.#owner.resting(this);
    }
  }

  #write(exchange: Exchange, nowMs: number): void {
    const { head, idempotencyHeader } = this.#options;
    const { body, reference } = exchange;
    const socket = this.#socket;
    const refused =
      idempotencyHeader !== null && !isHeaderValue(reference)
        ? new Fault('HANDBILL_BAD_REQUEST', `The reference cannot stand in the header ${idempotencyHeader}.`)
        : socket?.writable === true
          ? exchange.begin(nowMs)
          : closed();
    if (socket === null || refused !== null) {
      exchange.fail(refused ?? closed());
      return;
    }
    this.state = 'busy';
    const own = idempotencyHeader === null ? '' : `${idempotencyHeader}: ${reference}\r\n`;
    socket.write(`${head}${own}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #received(chunk: Buffer, length: number): void {
    if (this.state === 'gone') return;
    const fault = this.#parser === null ? unasked() : this.#parser.execute(chunk, length);
    if (fault !== null) this.#broke(fault);
  }

  #ended(): void {
    this.#noteEnd();
    const parser = this.#parser;
    const fault = this.exchange !== null && parser?.endsWithConnection === true ? parser.finish() : closed();
    if (fault !== null) this.#broke(fault);
  }

  #failed(error: Error): void {
    this.#noteEnd();
    if (this.#parser?.endsWithConnection !== true) this.#broke(error);
    // A body without a length ends with its connection. One that breaks proves nothing.
    else this.#broke(new Fault('HANDBILL_CUT_BODY', `${toAttemptError(error).code} at the end of the answer`));
  }

  /** The API ended the connection: with no request on it, or with one of which it has answered nothing yet. */
  #noteEnd(): void {
    if (this.state === 'gone' || this.#answeredAt === null || this.exchange?.hasAnswer === true) return;
    this.#owner.reuse.closed(performance.now() - this.#answeredAt);
  }

  #broke(error: Error): void {
    if (this.exchange !== null) this.exchange.fail(error);
    else if (this.state === 'opening') this.failOpening(error);
    else this.retire();
  }

  #end(): void {
    this.state = 'gone';
    // Not at once: this may run within the parser.
    queueMicrotask(() => {
      this.#socket?.destroy();
      this.#parser?.free();
      this.#parser = null;
    });
  }
}

function unasked(): Fault {
  return new Fault('HANDBILL_BAD_ANSWER', 'The API sent something that nobody asked for.');
}

function closed(): Fault {
  return new Fault('HANDBILL_CLOSED', 'The API closed the connection.');
}
