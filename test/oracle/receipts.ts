import { existsSync, readFileSync } from 'node:fs';

/** What an answer says of one recipient, where the status alone does not say it. */
export type Said =
  | 'taken'
  | 'refused'
  /** That it cannot receive the channel. */
  | 'unsupported'
  /** That the person has opted out. */
  | 'opted-out'
  /** That the key or the account is refused, inside a 2xx without an id: nothing was done. */
  | 'account'
  /** That nothing was done, and may be tried again. */
  | 'busy'
  /** Nothing, or one thing and its opposite. */
  | 'unclear';

/**
 * One recipient of a completely received request, as a server wrote it down before it answered. `handbill sandbox
 * --receipts` and the servers of test/faults write the same lines of JSON: `{ "number", "status", "id", "text", ... }`.
 * A request with several recipients is one line and one receipt for each.
 */
export interface Receipt {
  /** Counts requests from 1. */
  readonly number: number;
  /** Final status of the answer that followed; null where none did, or not a whole status line. */
  readonly status: number | null;
  /** The message id that the answer gives this recipient; null where it gives none. */
  readonly id: string | null;
  /** The body as text, exactly as it came. */
  readonly text: string;
  /** handbill's own id, found in the body. */
  readonly reference: string | null;
  /** Absent: what the status says. */
  readonly said?: Said;
  /** Recipients of the request; absent: one. */
  readonly recipients?: number;
  /** A 2xx that is cut off, or is not an answer of the API: the message may be there, and nothing was accepted. */
  readonly isUnreadable?: true;
  /** The id by which reports name the message, null where they name another; absent: there are none. */
  readonly reportedAs?: string | null;
}

/** A line of the file. */
interface Line extends Pick<Receipt, 'number' | 'status' | 'id' | 'text'> {
  /** Of each recipient in the order of the request. */
  readonly each?: readonly { readonly said: Said; readonly id?: string | null }[];
  /** As the ledger has them, where the text has them in another place or in other letters. */
  readonly references?: readonly string[];
}

function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(/"handbill":"([^"]+)"/g)].map(([, reference = '']) => reference);
}

/** Every whole line of the file; a server that was killed may have left half a line, which was not answered yet. */
export function readReceipts(file: string): Receipt[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => receiptsOf(JSON.parse(line) as Line));
}

function receiptsOf({ number, status, id, text, each, references = referencesIn(text) }: Line): Receipt[] {
  if (references.length < 2 && each === undefined) {
    return [{ number, status, id, text, reference: references[0] ?? null }];
  }
  return references.map((reference, at) => {
    const own = each?.[at];
    const facts = { number, status, id: own?.id ?? id, text, reference, recipients: references.length };
    return own === undefined ? facts : { ...facts, said: own.said };
  });
}
