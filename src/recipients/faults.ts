import { type Code, type Diagnostic, EXIT, HandbillError, problem, SUMMARY_CODE } from '../errors.ts';
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

/** The error names so many rows that are wrong, and counts the rest. */
export const NAMED_PROBLEMS = 1000;
/** A list that cannot be read to its end is read again for so many faults. */
const NAMED_FAULTS = 20;

const LIST_FAULTS: ReadonlySet<Code> = new Set([
  'invalid-encoding',
  'csv-nul',
  'csv-syntax',
  'csv-row-too-large',
  'csv-blank-header',
  'csv-duplicate-header',
  'csv-forbidden-header',
]);

export type RowCheck = (row: Row) => Diagnostic | null;

/** The list itself cannot be read: its encoding, header or quotes. */
function isListFault(error: unknown): error is HandbillError {
  return error instanceof HandbillError && LIST_FAULTS.has(error.code);
}

/**
 * Reads a list again, past the fault at which the reading ended, for its first 20 faults. Returns any other error.
 * @param seen - rows, from the first, whose faults were all reported
 * @param checkOf - checks rows of these columns; null: the columns are not enough for a check
 */
export async function withAllFaults(spec: ListSpec, error: unknown, seen: number, checkOf: CheckOf): Promise<unknown> {
  if (!isListFault(error) || spec.inline !== null) return error;
  // Not text, or in another encoding: each line would repeat that.
  const { code, at } = error.diagnostics[0] ?? {};
  if (at?.line === undefined || (code === 'csv-nul' && at.line === 1)) return error;
  const found: Diagnostic[] = [];
  const missing = new Map(error.diagnostics.map((fault) => [placeOf(fault), fault]));
  try {
    for await (const fault of survey(spec, seen, checkOf)) {
      // The first reading knows more of the whole list.
      found.push(missing.get(placeOf(fault)) ?? fault);
      missing.delete(placeOf(fault));
      if (found.length === NAMED_FAULTS) break;
    }
  } catch (again) {
    if (!(again instanceof HandbillError)) throw again;
    return error; // the file is gone, or cannot be read any more
  }
  // Reports the fault that ended the reading even if it is behind these, or was mended in between.
  const all = [...missing.values(), ...found];
  if (found.length < NAMED_FAULTS) return new HandbillError(EXIT.refused, all);
  const message = `handbill names the first ${NAMED_FAULTS} faults of this list: there may be more.`;
  const more = problem(SUMMARY_CODE, message, { at: { file: spec.file }, hint: 'Correct these, and run it again.' });
  return new HandbillError(EXIT.refused, [...all, more], all.length);
}

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
  /** Contains bytes that are not text, or a NUL. */
  readonly isDamaged: boolean;
}

type CheckOf = (columns: readonly string[]) => RowCheck | null;

/** The faults of a list, in the order of its lines. */
async function* survey(spec: ListSpec, seen: number, checkOf: CheckOf): AsyncGenerator<Diagnostic> {
  const { file } = spec;
  let number = 0;
  let delimiter: string | null = null;
  let separator: string | null = null;
  let isHeaderRead = false;
  let checkFields: ((fields: readonly string[], line: number) => Diagnostic | null) | null = null;
  let read: ((bytes: Uint8Array) => string) | null = null;
  let row = 0;
  let lines: Line[] = [];
  let size = 0;
  let isOpen = false;
  let opened = 0;

  function* take(line: Line): Generator<Diagnostic> {
    if (lines.length === 0 && line.text === '') return;
    if (line.number < (spec.headerRow ?? 0)) {
      separator ??= SEPARATOR.exec(line.text)?.[1] ?? null;
      return;
    }
    lines.push(line);
    size += line.text.length + 1;
    const isTooLarge = size > MAX_RECORD_CHARACTERS;
    if (!isHeaderRead) {
      // A row is whole when its quotes are in pairs.
      if (line.text.split('"').length % 2 === 0) isOpen = !isOpen;
      if (!isOpen || isTooLarge) yield* finishHeader();
      return;
    }
    if (isTooLarge) {
      yield* giveUp(rowTooLarge(file, lines[0]?.number ?? line.number));
      return;
    }
    // Reads a line behind an open quote as if the quoted value began with it.
    const before = isOpen ? '"' : '';
    const scanned = { file, text: before + line.text, line: line.number, delimiter: delimiter ?? ',' };
    const { fault } = scanFields(scanned.text, scanned.delimiter);
    if (fault === null) {
      yield* finishRow();
      return;
    }
    if (fault.kind === 'unclosed-quote') {
      if (!isOpen || fault.offset > 0) opened = lines.length - 1;
      isOpen = true;
      return;
    }
    const said = syntaxFault(scanned, false);
    const column = (said?.at?.column ?? 1) - before.length;
    if (said !== null) yield { ...said, at: { file, line: line.number, column } };
    row += 1;
    clear();
  }

  /** The open value is never closed: reads the lines that it took in as separate rows. */
  function* giveUp(fault: Diagnostic | null): Generator<Diagnostic> {
    if (fault !== null) yield fault;
    row += 1;
    const again = isOpen ? lines.slice(opened + 1) : [];
    clear();
    for (const line of again) yield* take(line);
  }

  function clear(): void {
    lines = [];
    size = 0;
    isOpen = false;
    opened = 0;
  }

  function* finishHeader(): Generator<Diagnostic> {
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
      yield fault;
      for (const line of read) if (line.number > (fault.at?.line ?? start)) yield* take(line);
      return;
    }
    const cells = scanFields(text, found).fields;
    const isEscaped = spec.escaped ?? isOwnExport(readHeader(headerText, cells).columns);
    const { columns, width, problems } = readHeader(
      headerText,
      cells.map((cell) => cellOf(cell, isEscaped)),
    );
    yield* problems;
    // With two columns of the same name, it is unclear which one the campaign uses.
    if (problems.some(({ code }) => code === 'csv-duplicate-header')) return;
    const check = checkOf(columns);
    if (check === null) return;
    checkFields = (fields, line) => {
      const cells = fields.map((field) => cellOf(field, isEscaped));
      return check(toRow(row, line, cells, columns.length, width));
    };
  }

  function* finishRow(): Generator<Diagnostic> {
    const text = textOf(lines);
    const start = lines[0]?.number ?? 0;
    const isDamaged = lines.some((line) => line.isDamaged);
    clear();
    const { fields } = scanFields(text, delimiter ?? ',');
    if (isEmpty(fields)) return;
    if (row >= seen && checkFields !== null) {
      const fault = checkFields(fields, start);
      // A row with unreadable bytes is also wrong only if it is wrong without them.
      const readable = isDamaged ? fields.map((field) => field.replace(UNREADABLE, '')) : fields;
      if (fault !== null && !isEmpty(readable) && (!isDamaged || checkFields(readable, start) !== null)) yield fault;
    }
    row += 1;
  }

  for await (const line of linesOf(spec)) {
    number += 1;
    if (line === null) {
      yield* giveUp(rowTooLarge(file, number));
      continue;
    }
    const { bytes, encoding } = line;
    // This machine's byte order.
    const own = encoding === 'utf-16be' ? 'utf-16le' : encoding;
    read ??= createReader(own);
    let text: string;
    let fault: typeof nulCharacter | null = null;
    try {
      text = read(bytes);
      if (text.includes('\0')) fault = nulCharacter;
    } catch {
      fault = invalidEncoding;
      text = new TextDecoder(own, { ignoreBOM: true }).decode(bytes);
    }
    if (fault !== null) yield fault(file, number, encoding);
    yield* take({ text, number, isDamaged: fault !== null });
  }
  while (lines.length > 0) {
    const record = { file, text: textOf(lines), line: lines[0]?.number ?? 1, delimiter: delimiter ?? ',' };
    if (isHeaderRead) yield* giveUp(syntaxFault(record, false));
    else yield* finishHeader();
  }
}

const UNREADABLE = /[\0\uFFFD\u0080-\u009f]/g;

function textOf(lines: readonly Line[]): string {
  return lines.length === 1 ? (lines[0]?.text ?? '') : lines.map(({ text }) => text).join('\n');
}

/** More code units than a row may have, in any encoding. */
const MOST_LINE_UNITS = 4 * MAX_RECORD_CHARACTERS;

/** The lines of a file as bytes; null: a line that is too long to keep. */
async function* linesOf(spec: ListSpec): AsyncGenerator<{ bytes: Buffer; encoding: ListEncoding } | null> {
  const handle = await openListFile(spec);
  try {
    const blocks = createBlockReader(handle, spec.file, null);
    let encoding: ListEncoding | null = null;
    let rest = '';
    let isCut = false;
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
      let skip = 0;
      if (encoding === null) ({ encoding, skip } = sniffEncoding(block, spec.encoding));
      const lines = (rest + unitsOf(block.subarray(skip), encoding)).split(LINE_END);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        yield isCut || line.length > MOST_LINE_UNITS ? null : lineOf(line, encoding);
        isCut = false;
      }
      isCut ||= rest.length > MOST_LINE_UNITS;
      if (isCut) rest = rest.endsWith('\r') ? '\r' : '';
    }
    if (isCut) yield null;
    else if (rest !== '') yield lineOf(rest.replace(/\r$/, ''), encoding ?? 'utf-8');
  } finally {
    await handle.close();
  }
}

/** A CR at the end may be half of a CR LF. */
const LINE_END = /\r\n|\n|\r(?!$)/;

/** Bytes as characters, or UTF-16 code units, to find line ends before it is known whether they are text. */
function unitsOf(bytes: Buffer, encoding: ListEncoding): string {
  if (!encoding.startsWith('utf-16')) return bytes.toString('latin1');
  const whole = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  const units = (encoding === 'utf-16le' ? whole : whole.swap16()).toString('utf16le');
  return whole.length === bytes.length ? units : `${units}\ud800`;
}

function lineOf(units: string, encoding: ListEncoding) {
  return { bytes: Buffer.from(units, encoding.startsWith('utf-16') ? 'utf16le' : 'latin1'), encoding };
}
