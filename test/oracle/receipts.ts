import { existsSync, readFileSync } from 'node:fs';

/**
 * One completely received request, as a server wrote it down before it answered. `handbill sandbox --receipts` and the
 * servers of test/faults write the same lines of JSON: `{ "number", "status", "id", "text", ... }`.
 */
export interface Receipt {
  /** Counts from 1. */
  readonly number: number;
  /** Final status of the answer that followed; null where none did, or not a whole status line. */
  readonly status: number | null;
  /** The message id that the answer gives; null where it gives none. */
  readonly id: string | null;
  /** The body as text, exactly as it came. */
  readonly text: string;
  /** handbill's own id, found in the body. */
  readonly reference: string | null;
}

const REFERENCE = /"handbill":"([^"]+)"/;

/** Every whole line of the file; a server that was killed may have left half a line, which was not answered yet. */
export function readReceipts(file: string): Receipt[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const { number, status, id, text } = JSON.parse(line) as Omit<Receipt, 'reference'>;
    return { number, status, id, text, reference: REFERENCE.exec(text)?.[1] ?? null };
  });
}
