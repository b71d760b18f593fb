/** The headers that are read; the place of each is that of its value. */
const NAMES = ['content-type', 'content-encoding', 'retry-after', 'keep-alive', 'content-length', 'transfer-encoding'];
const CONTENT_TYPE = 0;
const CONTENT_ENCODING = 1;
const RETRY_AFTER = 2;
const KEEP_ALIVE = 3;
const CONTENT_LENGTH = 4;
const TRANSFER_ENCODING = 5;
const OTHER = -1;

/** How long an idle connection is kept where the server does not say; undici's figure. */
export const KEPT_MS = 4_000;
/** Where it says, the connection is left this long before that: the end may be under way. */
const KEPT_MARGIN_MS = 2_000;
const MOST_KEPT_MS = 60_000;

/** Gathers what the headers of one answer say, from pieces of names and values as they come. Of two alike the first counts. */
export class AnswerHeaders {
  /** Of all names and values so far. */
  bytes = 0;
  /** A name as far as it has come, where it comes in pieces. */
  #name = '';
  #header = OTHER;
  #inValue = true;
  #values: (string | null)[] = [];

  /** Forgets everything: another answer begins. */
  clear(): void {
    this.bytes = 0;
    this.#inValue = true;
    this.#header = OTHER;
    this.#values = [null, null, null, null, null, null];
  }

  /** @param isCut - `chunk` ends here, so that there may be more of the name to come */
  name(chunk: Buffer, start: number, end: number, isCut: boolean): void {
    if (this.#inValue) {
      this.#inValue = false;
      this.#name = '';
      this.#header = isCut ? OTHER : headerAt(chunk, start, end);
    }
    if (isCut || this.#name !== '') this.#name += chunk.toString('latin1', start, end);
    this.bytes += end - start;
  }

  value(chunk: Buffer, start: number, end: number): void {
    if (!this.#inValue) {
      this.#inValue = true;
      if (this.#name !== '') this.#header = NAMES.indexOf(this.#name.toLowerCase());
      // It came before.
      if (this.#header !== OTHER && this.#values[this.#header] !== null) this.#header = OTHER;
    }
    if (this.#header !== OTHER) {
      this.#values[this.#header] = (this.#values[this.#header] ?? '') + chunk.toString('latin1', start, end);
    }
    this.bytes += end - start;
  }

  get contentType(): string | null {
    return this.#values[CONTENT_TYPE] ?? null;
  }

  get contentEncoding(): string | null {
    return this.#values[CONTENT_ENCODING] ?? null;
  }

  get retryAfter(): string | null {
    return this.#values[RETRY_AFTER] ?? null;
  }

  /** Whether a body is announced, be it one that must not be there. */
  get sayBody(): boolean {
    const length = this.#values[CONTENT_LENGTH] ?? null;
    return (length !== null && Number(length) !== 0) || (this.#values[TRANSFER_ENCODING] ?? null) !== null;
  }

  /** How long the connection may lie idle behind this answer, in ms; 0: it is not to be used again. */
  get keptMs(): number {
    const said = this.#values[KEEP_ALIVE] ?? null;
    const seconds = said === null ? undefined : /timeout=\s*([0-9]{1,9})/i.exec(said)?.[1];
    if (seconds === undefined) return KEPT_MS;
    return Math.min(MOST_KEPT_MS, Math.max(0, Number(seconds) * 1_000 - KEPT_MARGIN_MS));
  }
}

/** Which of `NAMES` stands there, by its bytes: no text is made of the names of other headers. */
function headerAt(chunk: Buffer, start: number, end: number): number {
  for (let n = 0; n < NAMES.length; n++) {
    const name = NAMES[n];
    if (name?.length === end - start && isNameAt(chunk, start, name)) return n;
  }
  return OTHER;
}

function isNameAt(chunk: Buffer, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const byte = chunk[start + i] ?? 0;
    if ((byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte) !== name.charCodeAt(i)) return false;
  }
  return true;
}
