import { refuse } from '../errors.ts';
import type { ListSpec } from '../model.ts';
import type { BlockReader } from './blocks.ts';
import { createDecoding, DecodeFault, sniffEncoding, type TextDecoding } from './decode.ts';
import { findDelimiter, MAX_RECORD_CHARACTERS } from './fields.ts';
import { invalidEncoding, notText, nulCharacter, rowTooLarge, syntaxFault } from './refusals.ts';
import { countLines, createSplitter, type Records } from './split.ts';

export interface RecordReader {
  /**
   * The records that end in the next piece of the file, possibly none; null after the last piece.
   * @param delimiter for saying what is wrong with a row that is too long; null while it is not known
   */
  next(delimiter: string | null): Promise<Records | null>;
}

/** Blocks of bytes -> pieces of text -> records with their lines. */
export function createRecordReader(blocks: BlockReader, spec: ListSpec, pieceBytes: number): RecordReader {
  const splitter = createSplitter();
  let encoding = spec.encoding ?? 'utf-8';
  let decoding: TextDecoding | null = null;
  let block: Buffer | null = null;
  let at = 0;
  let ended = false;
  // What stands in front of a fault is handed out before it: a fault behind the header does not hide the header.
  let fault: Error | null = null;

  async function next(delimiter: string | null): Promise<Records | null> {
    if (fault !== null) throw fault;
    if (ended) return null;
    if (block === null || at >= block.length) {
      block = await blocks.next();
      at = 0;
      if (block === null) return checkSizes(last(), delimiter);
    }
    decoding ??= begin(block);
    const piece = block.subarray(at, at + pieceBytes);
    at += piece.length;
    return checkSizes(splitter.push(decode(decoding, piece)), delimiter);
  }

  function begin(bytes: Buffer): TextDecoding {
    const other = notText(spec.file, bytes);
    if (other !== null) throw refuse(other);
    const found = sniffEncoding(bytes, spec.encoding);
    encoding = found.encoding;
    at = found.skip;
    return createDecoding(encoding);
  }

  function last(): Records {
    ended = true;
    const records = splitter.push(decoding === null ? '' : decode(decoding, null));
    const rest = fault === null ? splitter.end() : { texts: [], lines: [] };
    return { texts: [...records.texts, ...rest.texts], lines: [...records.lines, ...rest.lines] };
  }

  function decode(decoding: TextDecoding, piece: Buffer | null): string {
    try {
      return piece === null ? decoding.end() : decoding.push(piece);
    } catch (error) {
      if (!(error instanceof DecodeFault)) throw error;
      const rest = splitter.rest();
      const line = rest.line + countLines(rest.text + error.before);
      fault = refuse((error.kind === 'nul' ? nulCharacter : invalidEncoding)(spec.file, line, encoding));
      return error.before;
    }
  }

  function checkSizes(records: Records, delimiter: string | null): Records {
    for (let i = 0; i < records.texts.length; i++) {
      const text = records.texts[i] ?? '';
      if (text.length > MAX_RECORD_CHARACTERS) throw oversized(text, records.lines[i] ?? 0, delimiter);
    }
    const rest = splitter.rest();
    if (rest.text.length > MAX_RECORD_CHARACTERS) throw oversized(rest.text, rest.line, delimiter);
    return records;
  }

  // A stray quote makes everything up to the next one look like one row: then that quote is the fault.
  function oversized(text: string, line: number, known: string | null): Error {
    const delimiter = known ?? findDelimiter(text);
    return refuse(syntaxFault({ file: spec.file, text, line, delimiter }, true) ?? rowTooLarge(spec.file, line));
  }

  return { next };
}
