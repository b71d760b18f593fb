import { onDemand } from '../util/on-demand.ts';
import { AnswerHeaders } from './answer-headers.ts';
import { Fault } from './fault.ts';
import { type Llhttp, loadLlhttp } from './llhttp.ts';

/** What a final answer says before its body. Of a header that came twice the first counts. */
export interface AnswerHead {
  readonly status: number;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly retryAfter: string | null;
}

/** Who hears of the answers on a connection. A fault ends it, and nothing more is heard. */
export interface AnswerListener {
  /** The first byte of an answer, be it an interim one. */
  answerBegan(): Fault | null;
  answerHead(head: AnswerHead): void;
  /** A part of the body, from `start` to `end` of `chunk`, whose bytes are others as soon as this returns. */
  answerBody(chunk: Buffer, start: number, end: number): Fault | null;
  /**
   * The whole answer was read.
   * @param keptMs - how long the connection may lie idle, in ms; 0: it is not to be used again
   */
  answerEnd(keptMs: number): void;
}

/** Longest sum of the names and values of headers, in bytes (C5). */
const MAX_HEADER_BYTES = 16 * 1024;
/** Answers of the hooks. */
const GO_ON = 0;
const NO_BODY = 1;
const STOP = -1;

/**
 * Takes the answers on one connection apart, as they come, with the parser of undici. As strict as undici's client:
 * whatever is not HTTP/1.1, or was not asked for, is a fault.
 */
export class AnswerParser {
  readonly #listener: AnswerListener;
  readonly #parser: number;
  /** What a hook had to say; the parser only says that one had. */
  #fault: Fault | null = null;

  // Of the answer under way.
  #status = 0;
  #keepAlive = false;
  readonly #headers = new AnswerHeaders();

  constructor(listener: AnswerListener) {
    this.#listener = listener;
    this.#parser = machine().llhttp.llhttp_alloc(ANSWERS);
  }

  /** Reads the first `length` bytes of `chunk`. Null when they are in order, else what is wrong with them. */
  execute(chunk: Buffer, length: number): Fault | null {
    const { llhttp, inbox } = machine();
    for (let start = 0; start < length; start += INBOX_BYTES) {
      const end = Math.min(length, start + INBOX_BYTES);
      if (inbox.bytes.buffer !== llhttp.memory.buffer) inbox.bytes = bytesOf(llhttp, inbox.at);
      chunk.copy(inbox.bytes, 0, start, end);
      inbox.chunk = chunk;
      inbox.end = end;
      inbox.shift = start - inbox.at;
      inbox.parser = this;
      const error = llhttp.llhttp_execute(this.#parser, inbox.at, end - start);
      if (error !== 0) return this.#fault ?? this.#notHttp(error);
    }
    return null;
  }

  /** The server has ended the connection: null when that is how an answer ends, or when none is under way. */
  finish(): Fault | null {
    const { llhttp, inbox } = machine();
    inbox.parser = this;
    const error = llhttp.llhttp_finish(this.#parser);
    return error === 0 ? null : (this.#fault ?? this.#notHttp(error));
  }

  /** Whether the answer under way ends with its connection, because it said no other end. */
  get endsWithConnection(): boolean {
    return this.#status >= 200 && !this.#keepAlive;
  }

  /** Gives its memory back. Nothing may be called after it, and it not within a call. */
  free(): void {
    machine().llhttp.llhttp_free(this.#parser);
  }

  // The hooks.

  begin(): number {
    this.#status = 0;
    this.#headers.clear();
    return this.#or(this.#listener.answerBegan());
  }

  name(chunk: Buffer, start: number, end: number, isCut: boolean): number {
    this.#headers.name(chunk, start, end, isCut);
    return this.#bound();
  }

  value(chunk: Buffer, start: number, end: number): number {
    this.#headers.value(chunk, start, end);
    return this.#bound();
  }

  head(status: number, isUpgrade: boolean, keepAlive: boolean): number {
    this.#status = status;
    if (status < 200) {
      // 100 was not asked for, and after 101 it is HTTP no more (C5, C7). The others say that the answer takes long.
      if (status > 101) return NO_BODY;
      return this.#or(
        new Fault('HANDBILL_BAD_ANSWER', `The API answered with status ${status}, which nothing asks for.`),
      );
    }
    if (isUpgrade)
      return this.#or(new Fault('HANDBILL_BAD_ANSWER', 'The API wants to speak something other than HTTP.'));
    const { contentType, contentEncoding, retryAfter, sayBody } = this.#headers;
    // 204 and 304 have no body, so one that is announced would be taken for the next answer.
    this.#keepAlive = keepAlive && !((status === 204 || status === 304) && sayBody);
    this.#listener.answerHead({ status, contentType, contentEncoding, retryAfter });
    return GO_ON;
  }

  body(chunk: Buffer, start: number, end: number): number {
    return this.#or(this.#listener.answerBody(chunk, start, end));
  }

  end(): number {
    if (this.#status < 200) return GO_ON;
    const keptMs = this.#keepAlive ? this.#headers.keptMs : 0;
    this.#status = 0;
    this.#listener.answerEnd(keptMs);
    return GO_ON;
  }

  #bound(): number {
    if (this.#headers.bytes < MAX_HEADER_BYTES) return GO_ON;
    return this.#or(
      new Fault('HANDBILL_BAD_ANSWER', `The headers of the answer are longer than ${MAX_HEADER_BYTES} bytes.`),
    );
  }

  #or(fault: Fault | null): number {
    if (fault === null) return GO_ON;
    this.#fault = fault;
    return STOP;
  }

  #notHttp(error: number): Fault {
    const { llhttp } = machine();
    const [name, reason] = [
      textAt(llhttp, llhttp.llhttp_errno_name(error)),
      textAt(llhttp, llhttp.llhttp_get_error_reason(this.#parser)),
    ];
    return new Fault('HANDBILL_BAD_ANSWER', `The answer is not HTTP/1.1: ${reason} (${name}).`);
  }
}

/** Where a chunk is handed to the parser, and whose it is. */
interface Inbox {
  /** Its place in the memory of the parser. */
  readonly at: number;
  bytes: Buffer;
  chunk: Buffer;
  /** What lies in it ends there in `chunk`. */
  end: number;
  /** A place in the memory of the parser and this are the same place in `chunk`. */
  shift: number;
  parser: AnswerParser | null;
}

interface Machine {
  readonly llhttp: Llhttp;
  readonly inbox: Inbox;
}

const ANSWERS = 2;
const INBOX_BYTES = 64 * 1024;

/** One for all connections: a call of it reads one chunk of one of them, and has returned before the next. */
const machine = onDemand((): Machine => {
  const llhttp = loadLlhttp({
    begin: () => inbox.parser?.begin() ?? STOP,
    name(_, at, length) {
      const end = at + inbox.shift + length;
      return inbox.parser?.name(inbox.chunk, at + inbox.shift, end, end === inbox.end) ?? STOP;
    },
    value: (_, at, length) => inbox.parser?.value(inbox.chunk, at + inbox.shift, at + inbox.shift + length) ?? STOP,
    head: (_, status, upgrade, keepAlive) => inbox.parser?.head(status, upgrade === 1, keepAlive === 1) ?? STOP,
    body: (_, at, length) => inbox.parser?.body(inbox.chunk, at + inbox.shift, at + inbox.shift + length) ?? STOP,
    end: () => inbox.parser?.end() ?? STOP,
  });
  const at = llhttp.malloc(INBOX_BYTES);
  const bytes = bytesOf(llhttp, at);
  const inbox: Inbox = { at, bytes, chunk: bytes, end: 0, shift: 0, parser: null };
  return { llhttp, inbox };
});

/** To be made again when the memory has grown, for then the old one is empty. */
function bytesOf(llhttp: Llhttp, at: number): Buffer {
  return Buffer.from(llhttp.memory.buffer, at, INBOX_BYTES);
}

function textAt(llhttp: Llhttp, at: number): string {
  const bytes = Buffer.from(llhttp.memory.buffer);
  return at === 0 ? '' : bytes.toString('latin1', at, bytes.indexOf(0, at));
}
