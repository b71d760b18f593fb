import { onDemand } from '../util/on-demand.ts';
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
/** How long an idle connection is kept where the server does not say; undici's figure. */
export const KEPT_MS = 4_000;
/** Where it says, the connection is left this long before that: the end may be under way. */
const KEPT_MARGIN_MS = 2_000;
const MOST_KEPT_MS = 60_000;

/** Answers of the hooks. */
const GO_ON = 0;
const NO_BODY = 1;
const STOP = -1;

/** The headers that are read; the place of each is that of its value. */
const NAMES = ['content-type', 'content-encoding', 'retry-after', 'keep-alive', 'content-length', 'transfer-encoding'];
const CONTENT_TYPE = 0;
const CONTENT_ENCODING = 1;
const RETRY_AFTER = 2;
const KEEP_ALIVE = 3;
const CONTENT_LENGTH = 4;
const TRANSFER_ENCODING = 5;
const NO_NAME = -1;

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
  #headerBytes = 0;
  /** The name of a header as far as it has come, where it comes in pieces. */
  #name = '';
  #header = NO_NAME;
  #inValue = true;
  #values: (string | null)[] = [];

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
    this.#headerBytes = 0;
    this.#inValue = true;
    this.#header = NO_NAME;
    this.#values = [null, null, null, null, null, null];
    return this.#or(this.#listener.answerBegan());
  }

  /** @param isCut - `chunk` ends here, so that there may be more of the name to come */
  name(chunk: Buffer, start: number, end: number, isCut: boolean): number {
    if (this.#inValue) {
      this.#inValue = false;
      this.#name = '';
      this.#header = isCut ? NO_NAME : headerAt(chunk, start, end);
    }
    if (isCut || this.#name !== '') this.#name += chunk.toString('latin1', start, end);
    return this.#count(end - start);
  }

  value(chunk: Buffer, start: number, end: number): number {
    if (!this.#inValue) {
      this.#inValue = true;
      if (this.#name !== '') this.#header = NAMES.indexOf(this.#name.toLowerCase());
      // It came before.
      if (this.#header !== NO_NAME && this.#values[this.#header] !== null) this.#header = NO_NAME;
    }
    if (this.#header !== NO_NAME) {
      this.#values[this.#header] = (this.#values[this.#header] ?? '') + chunk.toString('latin1', start, end);
    }
    return this.#count(end - start);
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
    const values = this.#values;
    this.#keepAlive = keepAlive;
    // These have no body, so one that is announced would be taken for the next answer.
    if ((status === 204 || status === 304) && saysBody(values)) this.#keepAlive = false;
    this.#listener.answerHead({
      status,
      contentType: values[CONTENT_TYPE] ?? null,
      contentEncoding: values[CONTENT_ENCODING] ?? null,
      retryAfter: values[RETRY_AFTER] ?? null,
    });
    return GO_ON;
  }

  body(chunk: Buffer, start: number, end: number): number {
    return this.#or(this.#listener.answerBody(chunk, start, end));
  }

  end(): number {
    if (this.#status < 200) return GO_ON;
    const keptMs = this.#keepAlive ? keptFor(this.#values[KEEP_ALIVE] ?? null) : 0;
    this.#status = 0;
    this.#listener.answerEnd(keptMs);
    return GO_ON;
  }

  #count(bytes: number): number {
    this.#headerBytes += bytes;
    if (this.#headerBytes < MAX_HEADER_BYTES) return GO_ON;
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

function saysBody(values: readonly (string | null)[]): boolean {
  const length = values[CONTENT_LENGTH] ?? null;
  return (length !== null && Number(length) !== 0) || (values[TRANSFER_ENCODING] ?? null) !== null;
}

/** @param said - the header Keep-Alive */
function keptFor(said: string | null): number {
  const seconds = said === null ? undefined : /timeout=\s*([0-9]{1,9})/i.exec(said)?.[1];
  if (seconds === undefined) return KEPT_MS;
  return Math.min(MOST_KEPT_MS, Math.max(0, Number(seconds) * 1_000 - KEPT_MARGIN_MS));
}

/** Which of `NAMES` stands there, by its bytes: no text is made of the names of other headers. */
function headerAt(chunk: Buffer, start: number, end: number): number {
  for (let n = 0; n < NAMES.length; n++) {
    const name = NAMES[n];
    if (name?.length === end - start && isNameAt(chunk, start, name)) return n;
  }
  return NO_NAME;
}

function isNameAt(chunk: Buffer, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const byte = chunk[start + i] ?? 0;
    if ((byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte) !== name.charCodeAt(i)) return false;
  }
  return true;
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

const ANSWERS = 2;
const INBOX_BYTES = 64 * 1024;

/** One for all connections: a call of it reads one chunk of one of them, and has returned before the next. */
const machine = onDemand((): { readonly llhttp: Llhttp; readonly inbox: Inbox } => {
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
