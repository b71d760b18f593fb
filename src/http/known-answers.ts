/** An answer that was parsed, and so each that begins with the same bytes and is as long. */
export interface KnownAnswer<Head> {
  /** Up to its body. */
  readonly head: Buffer;
  /** Of all of it, in bytes. */
  readonly length: number;
  readonly said: Head;
  readonly keptMs: number;
}

/** Answers that are looked at in vain before it is given up: where each has a head of its own, nothing is gained. */
const MOST_MISSED = 100;

/**
 * Answers mostly begin with the same bytes, for as long as their date is the same. Where one filled a chunk, and its
 * head says how long its body is, those bytes say everything but the body: whatever begins with them, between two
 * answers, and is as long, need not be parsed again.
 */
export class KnownAnswers<Head> {
  #known: KnownAnswer<Head> | null = null;
  #missed = 0;

  find(chunk: Buffer, length: number): KnownAnswer<Head> | null {
    const known = this.#known;
    if (known === null || known.length !== length) return null;
    const { head } = known;
    if (chunk.compare(head, 0, head.length, 0, head.length) !== 0) return null;
    this.#missed = 0;
    return known;
  }

  /** @param bodyAt - where its body begins in `chunk`, which ends at `length` */
  learn(chunk: Buffer, bodyAt: number, length: number, said: Head, keptMs: number): void {
    if (this.#missed >= MOST_MISSED) return;
    this.#missed += 1;
    this.#known = { head: Buffer.from(chunk.subarray(0, bodyAt)), length, said, keptMs };
  }
}
