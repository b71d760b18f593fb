import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, writeSync } from 'node:fs';
import { bareNumber } from './endings.ts';

/** Without its body. */
export interface ReceivedFacts {
  /** Counts from 1. */
  readonly number: number;
  readonly receivedAtMs: number;
  /** Status of the answer; absent where the connection was broken or left silent instead. */
  readonly status: number | undefined;
  /** Last three digits of the address that chose the answer. */
  readonly scenario: string | undefined;
  readonly id: string | undefined;
  /** Addresses; null: the body is no message. */
  readonly to: readonly string[] | null;
  /** Recipients that were refused inside an answer of success; empty in most. */
  readonly refused: readonly string[];
  /** A success, for one recipient at least. */
  readonly taken: boolean;
}

type Received = ReceivedFacts & { readonly bytes: Buffer };

interface Slot {
  facts: ReceivedFacts;
  /** Holds the body in its first `length` bytes. */
  storage: Buffer;
  length: number;
}

/** Keeps the newest in a ring of slots: fresh objects get old in V8, and 150,000 requests take 232 MB, not 176. */
export class Inbox {
  received = 0;
  /** Requests of which at least one recipient was accepted. */
  accepted = 0;
  /** How often each status was answered; `none` counts broken and silent connections. */
  readonly answers: Record<string, number> = {};
  readonly #keep: number;
  readonly #ring: Slot[] = [];
  #next = 0;

  constructor(keep: number) {
    this.#keep = keep;
  }

  get kept(): number {
    return this.#ring.length;
  }

  /** Takes a copy of the bytes: the caller's may be part of a larger buffer. */
  add(facts: ReceivedFacts, bytes: Buffer): void {
    this.received += 1;
    if (facts.taken) this.accepted += 1;
    countIn(this.answers, facts.status);
    if (this.#keep === 0) return;
    const slot = this.#ring[this.#next];
    if (slot === undefined || slot.storage.length < bytes.length) {
      this.#ring[this.#next] = { facts, storage: Buffer.from(bytes), length: bytes.length };
    } else {
      bytes.copy(slot.storage);
      slot.facts = facts;
      slot.length = bytes.length;
    }
    this.#next = (this.#next + 1) % this.#keep;
  }

  /** Newest first; the result holds until the next `add`. */
  newestFirst(): Received[] {
    const slots = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse();
    return slots.map(({ facts, storage, length }) => ({ ...facts, bytes: storage.subarray(0, length) }));
  }

  clear(): void {
    this.#ring.length = 0;
    this.#next = 0;
  }
}

/** `none`: no answer came, or no report. */
export function countIn(counts: Record<string, number>, name: number | string = 'none'): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/**
 * In `GET /sandbox/messages` and in a receipt. Inserts the body as it arrived: to parse a million brackets could overflow the
 * stack. Line breaks are only between its tokens, and become spaces.
 */
export function receivedJson(entry: Received): string {
  const text = isUtf8(entry.bytes) ? entry.bytes.toString('utf8') : null;
  // A form begins with the name of a field.
  const body = entry.to !== null && text !== null && /^\s*[[{]/.test(text) ? text : null;
  const view = {
    number: entry.number,
    receivedAt: new Date(entry.receivedAtMs).toISOString(),
    status: entry.status ?? null,
    scenario: entry.scenario ?? null,
    id: entry.id ?? null,
    to: entry.to ?? [],
    refused: entry.refused,
    text,
  };
  return `${JSON.stringify(view).slice(0, -1)},"body":${body === null ? null : body.replace(/[\r\n]/g, ' ')}}`;
}

/** A plus in a query is a space, and people drop it: it does not count. */
export function isTo(entry: Received, address: string): boolean {
  const wanted = bareNumber(address.trim());
  return entry.to?.some((to) => bareNumber(to) === wanted) ?? false;
}

export interface Receipts {
  /** Returns when the line is with the operating system, so that it outlives this process. */
  append(entry: Received): void;
  close(): void;
}

/** Readable by its owner only. Writes each line synchronously: the file has it before the answer. */
export function openReceipts(path: string): Receipts {
  const file = openSync(path, 'a', 0o600);
  return {
    append: (entry) => {
      const line = Buffer.from(`${receivedJson(entry)}\n`);
      for (let written = 0; written < line.length; ) written += writeSync(file, line, written);
    },
    close: () => closeSync(file),
  };
}
