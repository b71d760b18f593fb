import { closeSync, openSync, writeSync } from 'node:fs';
import type { Received } from './inbox.ts';
import { receivedJson } from './received-json.ts';

/** An append-only file with one line per completely received request. */
export interface Receipts {
  /** Returns when the line is with the operating system, so that it outlives this process. */
  append(entry: Received): void;
  close(): void;
}

/**
 * Opens or creates the file, readable by its owner only: it holds addresses and texts. Lines are written one by one
 * and without waiting, so that each stands there before its request is answered.
 */
export function openReceipts(path: string): Receipts {
  const file = openSync(path, 'a', 0o600);
  return {
    append: (entry) => writeWhole(file, Buffer.from(`${receivedJson(entry)}\n`)),
    close: () => closeSync(file),
  };
}

function writeWhole(file: number, line: Buffer): void {
  for (let written = 0; written < line.length; ) written += writeSync(file, line, written);
}
