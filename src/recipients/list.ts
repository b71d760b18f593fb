import type { Diagnostic } from '../errors.ts';
import type { Row } from '../model.ts';
import type { Meter } from '../util/meter.ts';
import type { ListDigest } from './blocks.ts';

/** A list whose header has been read. */
export interface List {
  /** Names of the columns, trimmed and NFC. */
  readonly columns: readonly string[];
  /** Line of the header: 1, but after a `sep=` line or empty lines. Of a list in a campaign file: its first row's line. */
  readonly headerLine: number;
  /**
   * The rows, in batches of some hundred; can be called once. Nothing is read ahead: the consumer's pace decides.
   * Values may be slices of the piece of text that was read: whoever keeps one for long should copy it.
   */
  rows(): AsyncGenerator<readonly Row[]>;
  /** Rows handed out so far. */
  count(): number;
  /** What was read, once `rows` has ended. */
  digest(): ListDigest;
  /** What was left out of the list, and what is unusual about it; complete once `rows` has ended. */
  notes(): readonly Diagnostic[];
  /** Closes the file; needed when `rows` was not run to its end. */
  close(): Promise<void>;
}

export interface ListOptions {
  /** What the check pass read: a file that changed since is refused before any row of the changed part is parsed. */
  readonly expected?: ListDigest;
  /** Bytes that are decoded at a time, default 4 KiB: one batch holds the rows that end in them. */
  readonly pieceBytes?: number;
  /** Told the bytes of the file, and how many of them were read, after each block. */
  readonly meter?: Meter;
}
