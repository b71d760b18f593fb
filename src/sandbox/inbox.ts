import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, writeSync } from 'node:fs';
import { addressesOf, bareNumber, type Message } from './form.ts';

/** The facts about one completely received request, without its body. */
export interface ReceivedFacts {
  /** Counts from 1. */
  readonly number: number;
  readonly receivedAtMs: number;
  /** Status of the answer; absent where the connection was broken or left silent instead. */
  readonly status: number | undefined;
  /** Last three digits of the address that chose the answer. */
  readonly scenario: string | undefined;
  /** The id that the answer gives to the client. */
  readonly id: string | undefined;
  /** The body is a message by the schema. */
  readonly isMessage: boolean;
  /** Recipients that were refused inside an answer of success; empty in most. */
  readonly refused: readonly string[];
  /** A success, for one recipient at least. */
  readonly taken: boolean;
}

interface Received extends ReceivedFacts {
  /** The body exactly as it came. */
  readonly bytes: Buffer;
}

interface Slot {
  facts: ReceivedFacts;
  /** Holds the body in its first `length` bytes. */
  storage: Buffer;
  length: number;
}

/**
 * Counts every request, and keeps the newest `keep` in a ring whose slots are used again. With fresh objects and strings
 * instead, each lived just long enough to be promoted to V8's old generation: 150,000 requests took 232 MB instead of 176.
 */
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

/** Counts an answer by its status; `none`: no answer came. */
export function countIn(answers: Record<string, number>, status: number | undefined): void {
  const name = status ?? 'none';
  answers[name] = (answers[name] ?? 0) + 1;
}

/**
 * One request as a line of JSON, in `GET /sandbox/messages` and in a receipt. The body is inserted as it arrived, not
 * parsed and written again: that could overflow the stack for a body of a million brackets. Line breaks can only be
 * between its tokens, so they are replaced by spaces.
 */
export function receivedJson(entry: Received): string {
  const text = isUtf8(entry.bytes) ? entry.bytes.toString('utf8') : null;
  const body = entry.isMessage ? text : null;
  const view = {
    number: entry.number,
    receivedAt: new Date(entry.receivedAtMs).toISOString(),
    status: entry.status ?? null,
    scenario: entry.scenario ?? null,
    id: entry.id ?? null,
    to: body === null ? [] : addressesOf(JSON.parse(body) as Message),
    refused: entry.refused,
    text,
  };
  return `${JSON.stringify(view).slice(0, -1)},"body":${body === null ? null : body.replace(/[\r\n]/g, ' ')}}`;
}

/** Whether a request went to this address. A plus in a query is a space, and people leave it out: it does not count. */
export function isTo(entry: Received, address: string): boolean {
  if (!entry.isMessage) return false;
  const wanted = bareNumber(address.trim());
  const addresses = addressesOf(JSON.parse(entry.bytes.toString('utf8')) as Message);
  return addresses.some((to) => bareNumber(to) === wanted);
}

/** An append-only file with one line per completely received request. */
export interface Receipts {
  /** Returns when the line is with the operating system, so that it outlives this process. */
  append(entry: Received): void;
  close(): void;
}

/**
 * Opens or creates the file, readable by its owner only: it holds addresses and texts. Lines are written one by one and
 * synchronously, so that each is in the file before its request is answered.
 */
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
