import { type Code, type Diagnostic, EXIT, HandbillError } from '../errors.ts';
import type { ListEncoding, ListSpec, Row } from '../model.ts';
import { cellOf, isOwnExport } from '../util/csv.ts';
import { createReader, sniffEncoding } from './decode.ts';
import { delimiterOf, readHeader, SEPARATOR } from './header.ts';
import { createBlockReader, openListFile } from './list-file.ts';
import { isEmpty, toRow } from './read.ts';
import {
  invalidEncoding,
  MAX_RECORD_CHARACTERS,
  nulCharacter,
  rowTooLarge,
  scanFields,
  syntaxFault,
} from './refusals.ts';

/** Faults that are named one by one when a list is refused; the rest is counted. */
export const NAMED_PROBLEMS = 1000;

const LIST_FAULTS: ReadonlySet<Code> = new Set([
  'invalid-encoding',
  'csv-nul',
  'csv-syntax',
  'csv-row-too-large',
  'csv-blank-header',
  'csv-duplicate-header',
  'csv-forbidden-header',
]);

/** Says what is wrong with a row; null: nothing. */
export type RowCheck = (row: Row) => Diagnostic | null;

/** Whether the list itself cannot be read: its encoding, its header or its quotes. */
function isListFault(error: unknown): error is HandbillError {
  return error instanceof HandbillError && LIST_FAULTS.has(error.code);
}

/**
 * All further faults of a list whose reading ended at a fault. The list is read again, from its beginning and past
 * every fault, so that all of them can be fixed at once. Any other error is returned unchanged.
 *
 * @param seen - rows, from the first, whose faults were all reported
 * @param checkOf - checks the rows of a list with these columns; null if the columns are not enough for that
 */
export async function withAllFaults(
  spec: ListSpec,
  error: unknown,
  seen: number,
  checkOf: (columns: readonly string[]) => RowCheck | null,
): Promise<unknown> {
  if (!isListFault(error) || spec.inline !== null) return error;
  // No text at all, or in another encoding than it is read in, which each line would only say again.
  const { code, at } = error.diagnostics[0] ?? {};
  if (at?.line === undefined || (code === 'csv-nul' && at.line === 1)) return error;
  const found: Diagnostic[] = [];
  let total = 0;
  const missing = new Map(error.diagnostics.map((fault) => [placeOf(fault), fault]));
  const survey = createSurvey(spec, { seen, checkOf }, (fault) => {
    // As it was said first: with what is known of the whole list.
    const said = missing.get(placeOf(fault)) ?? fault;
    missing.delete(placeOf(fault));
    total += 1;
    if (found.length < NAMED_PROBLEMS) found.push(said);
  });
  try {
    await readLines(spec, survey);
  } catch (again) {
    if (!(again instanceof HandbillError)) throw again;
    return error; // the file is gone, or cannot be read any more
  }
  // What ended the reading is said in any case, also of a file that was mended in between.
  const first = error.diagnostics.filter((fault) => missing.has(placeOf(fault)));
  return new HandbillError(EXIT.refused, [...first, ...found], first.length + total);
}

/** The error with which a list ended, with those of its rows that were found before it. */
export function joinFaults(problems: readonly Diagnostic[], count: number, error: unknown): unknown {
  if (!isListFault(error)) return error;
  return new HandbillError(error.exit, [...problems, ...error.diagnostics], count + error.total);
}

function placeOf({ code, at }: Diagnostic): string {
  return `${code} ${at?.line} ${at?.column}`;
}

interface Line {
  readonly text: string;
  readonly number: number;
  /** It contains bytes that are not text, or a NUL. */
  readonly isDamaged: boolean;
}

interface Survey {
  line(bytes: Uint8Array, encoding: ListEncoding): void;
  /** A line that is too long to be kept whole. */
  longLine(): void;
  end(): void;
}

interface SurveyOptions {
  readonly seen: number;
  readonly checkOf: (columns: readonly string[]) => RowCheck | null;
}

/** Takes a list line by line. A row with a fault of quotes ends with the line of the fault. */
function createSurvey(spec: ListSpec, { seen, checkOf }: SurveyOptions, report: (fault: Diagnostic) => void): Survey {
  const { file } = spec;
  let number = 0;
  let delimiter: string | null = null;
  let separator: string | null = null;
  let isHeaderRead = false;
  let checks: {
    readonly check: RowCheck;
    readonly columns: number;
    readonly width: number;
    readonly isEscaped: boolean;
  } | null = null;
  let row = 0;
  // The lines of the record that is being read.
  let lines: Line[] = [];
  let size = 0;
  let isOpen = false;
  /** The line of `lines` in which the open quoted value begins. */
  let opened = 0;
  let read: ((bytes: Uint8Array) => string) | null = null;

  function decode(bytes: Uint8Array, encoding: ListEncoding): Line {
    read ??= createReader(encoding);
    try {
      const text = read(bytes);
      const isDamaged = text.includes('\0');
      if (isDamaged) report(nulCharacter(file, number, encoding));
      return { text, number, isDamaged };
    } catch {
      report(invalidEncoding(file, number, encoding));
      return { text: new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes), number, isDamaged: true };
    }
  }

  function take(line: Line): void {
    if (lines.length === 0 && line.text === '') return;
    if (line.number < (spec.headerRow ?? 0)) {
      separator ??= SEPARATOR.exec(line.text)?.[1] ?? null;
      return;
    }
    lines.push(line);
    size += line.text.length + 1;
    const isTooLarge = size > MAX_RECORD_CHARACTERS;
    if (!isHeaderRead) {
      // Its delimiter is found once it is whole, which it is when its quotes are in pairs.
      if (line.text.split('"').length % 2 === 0) isOpen = !isOpen;
      if (!isOpen || isTooLarge) finishHeader();
      return;
    }
    if (isTooLarge) {
      giveUp(rowTooLarge(file, lines[0]?.number ?? line.number));
      return;
    }
    // A line behind an open quote is read as if the quoted value began with it.
    const before = isOpen ? '"' : '';
    const scanned = { file, text: before + line.text, line: line.number, delimiter: delimiter ?? ',' };
    const { fault } = scanFields(scanned.text, scanned.delimiter);
    if (fault === null) {
      finishRow();
      return;
    }
    if (fault.kind === 'unclosed-quote') {
      if (!isOpen || fault.offset > 0) opened = lines.length - 1;
      isOpen = true;
      return;
    }
    const said = syntaxFault(scanned, false);
    const column = (said?.at?.column ?? 1) - before.length;
    if (said !== null) report({ ...said, at: { file, line: line.number, column } });
    row += 1;
    clear();
  }

  /** The value that is open is never closed: the lines that it took in are read as rows of their own. */
  function giveUp(fault: Diagnostic | null): void {
    if (fault !== null) report(fault);
    row += 1;
    const again = isOpen ? lines.slice(opened + 1) : [];
    clear();
    for (const line of again) take(line);
  }

  function clear(): void {
    lines = [];
    size = 0;
    isOpen = false;
    opened = 0;
  }

  function finishHeader(): void {
    const text = textOf(lines);
    const read = lines;
    const start = read[0]?.number ?? 1;
    clear();
    const written = SEPARATOR.exec(text)?.[1];
    if (written !== undefined && separator === null) {
      separator = written;
      return;
    }
    isHeaderRead = true;
    const found = delimiterOf(spec.delimiter, separator, text);
    delimiter = found;
    const headerText = { file, text, line: start, delimiter: found };
    const fault = syntaxFault(headerText, false);
    if (fault !== null) {
      report(fault);
      for (const line of read) if (line.number > (fault.at?.line ?? start)) take(line);
      return;
    }
    const cells = scanFields(text, found).fields;
    const isEscaped = spec.escaped ?? isOwnExport(readHeader(headerText, cells).columns);
    const { columns, width, problems } = readHeader(
      headerText,
      cells.map((cell) => cellOf(cell, isEscaped)),
    );
    for (const problem of problems) report(problem);
    // If two columns have the same name, it is unclear which is meant.
    if (problems.some(({ code }) => code === 'csv-duplicate-header')) return;
    const check = checkOf(columns);
    if (check !== null) checks = { check, columns: columns.length, width, isEscaped };
  }

  function finishRow(): void {
    const text = textOf(lines);
    const start = lines[0]?.number ?? 0;
    const isDamaged = lines.some((line) => line.isDamaged);
    clear();
    const { fields } = scanFields(text, delimiter ?? ',');
    if (isEmpty(fields)) return;
    if (row >= seen) {
      const fault = faultOf(fields, start);
      // Unreadable bytes do not count as a fault of the values: the row must be wrong without them, too.
      const readable = isDamaged ? fields.map((field) => field.replace(UNREADABLE, '')) : fields;
      if (fault !== null && !isEmpty(readable) && (!isDamaged || faultOf(readable, start) !== null)) report(fault);
    }
    row += 1;
  }

  function faultOf(fields: readonly string[], line: number): Diagnostic | null {
    if (checks === null) return null;
    const { check, columns, width, isEscaped } = checks;
    return check(
      toRow(
        row,
        line,
        fields.map((field) => cellOf(field, isEscaped)),
        columns,
        width,
      ),
    );
  }

  return {
    line(bytes, encoding) {
      number += 1;
      take(decode(bytes, encoding));
    },
    longLine() {
      number += 1;
      giveUp(rowTooLarge(file, number));
    },
    end() {
      while (lines.length > 0) {
        const record = { file, text: textOf(lines), line: lines[0]?.number ?? 1, delimiter: delimiter ?? ',' };
        if (isHeaderRead) giveUp(syntaxFault(record, false));
        else finishHeader();
      }
    },
  };
}

const UNREADABLE = /[\0\uFFFD\u0080-\u009f]/g;

function textOf(lines: readonly Line[]): string {
  return lines.length === 1 ? (lines[0]?.text ?? '') : lines.map(({ text }) => text).join('\n');
}

/** More bytes than a row may have characters, in any encoding. */
const MOST_LINE_BYTES = 4 * MAX_RECORD_CHARACTERS;

/** Cuts the bytes of a file into lines, whatever they contain. */
async function readLines(spec: ListSpec, survey: Survey): Promise<void> {
  const handle = await openListFile(spec);
  try {
    const blocks = createBlockReader(handle, spec.file, null);
    let encoding: ListEncoding | null = null;
    let skip = 0;
    let kept: Buffer = Buffer.alloc(0);
    let isCut = false;
    let wasReturn = false;
    const lineEnds = (bytes: Buffer): void => {
      if (isCut || bytes.length > MOST_LINE_BYTES) survey.longLine();
      else survey.line(bytes, encoding ?? 'utf-8');
      isCut = false;
    };
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
      if (encoding === null) ({ encoding, skip } = sniffEncoding(block, spec.encoding));
      const bytes: Buffer = kept.length === 0 ? block.subarray(skip) : Buffer.concat([kept, block]);
      skip = 0;
      const width = encoding.startsWith('utf-16') ? 2 : 1;
      const high = encoding === 'utf-16le' ? 1 : 0;
      let start = 0;
      // What was kept has no line end: it has been looked at.
      for (let at = kept.length - (kept.length % width); at + width <= bytes.length; at += width) {
        const unit = bytes[at + (width - 1 - high) * (width - 1)] ?? 0;
        if (unit !== 10 && unit !== 13) {
          wasReturn = false;
          continue;
        }
        if (width === 2 && bytes[at + high] !== 0) {
          wasReturn = false;
          continue;
        }
        // The second half of CR LF ends nothing.
        if (unit === 13 || !wasReturn) lineEnds(bytes.subarray(start, at));
        wasReturn = unit === 13;
        start = at + width;
      }
      kept = Buffer.from(bytes.subarray(start));
      if (kept.length > MOST_LINE_BYTES) {
        isCut = true;
        kept = Buffer.alloc(0);
      }
    }
    if (kept.length > 0 || isCut) lineEnds(kept);
    survey.end();
  } finally {
    await handle.close();
  }
}
