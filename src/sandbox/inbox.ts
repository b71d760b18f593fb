import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, writeSync } from 'node:fs';
import { bareNumber } from './endings.ts';

export interface Received {
  /** Counts from 1. */
  readonly number: number;
  readonly receivedAtMs: number;
  /** Status of the answer; undefined where the connection was broken or left silent instead. */
  readonly status: number | undefined;
  /** Last three digits of the address that chose the answer. */
  readonly scenario?: string | undefined;
  readonly id?: string | undefined;
  /** Addresses; null: the body is no message. */
  readonly to: readonly string[] | null;
  /** Recipients that were refused inside an answer of success. */
  readonly refused: readonly string[];
  readonly bytes: Buffer;
}

export class Inbox {
  received = 0;
  /** Requests of which at least one recipient was accepted. */
  accepted = 0;
  readonly answers: Record<string, number> = {};
  readonly #keep: number;
  readonly #kept: Received[] = [];

  constructor(keep: number) {
    this.#keep = keep;
  }

  get kept(): number {
    return this.#kept.length;
  }

  add(entry: Received): void {
    const { status, to, refused, bytes } = entry;
    this.received += 1;
    if (isSuccess(status) && refused.length < (to?.length ?? 0)) this.accepted += 1;
    countIn(this.answers, status);
    if (this.#keep === 0) return;
    // A copy: the bytes may be part of a larger buffer.
    this.#kept.push({ ...entry, bytes: Buffer.from(bytes) });
    if (this.#kept.length > this.#keep) this.#kept.shift();
  }

  newestFirst(): Received[] {
    return this.#kept.toReversed();
  }

  clear(): void {
    this.#kept.length = 0;
  }
}

export function isSuccess(status = 0): boolean {
  return status >= 200 && status < 300;
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

/** Readable by its owner only. Writes each line synchronously: the file has it before the answer. */
export function openReceipts(path: string) {
  const file = openSync(path, 'a', 0o600);
  return {
    append(entry: Received): void {
      const line = Buffer.from(`${receivedJson(entry)}\n`);
      for (let written = 0; written < line.length; ) written += writeSync(file, line, written);
    },
    close: (): void => closeSync(file),
  };
}
