import { type Diagnostic, EXIT, HandbillError, refuse } from '../errors.ts';
import type { ListSpec, Row } from '../model.ts';
import { unguardCell } from '../util/csv-cell.ts';
import { isOwnExport } from '../util/report-columns.ts';
import { createBlockReader, type ListDigest } from './blocks.ts';
import { findDelimiter, splitFields } from './fields.ts';
import { readHeader } from './header.ts';
import { hashInline, openInline } from './inline.ts';
import type { List, ListOptions } from './list.ts';
import { openListFile } from './open.ts';
import { createRecordReader, type RecordReader } from './records.ts';
import { emptyColumns, emptyRows, noHeader, noRows, raggedFault, syntaxFault } from './refusals.ts';
import type { Records } from './split.ts';

export type { ListDigest } from './blocks.ts';
export type { List, ListOptions } from './list.ts';

/**
 * Default of `pieceBytes`: some 90 rows of 45 bytes. Rows wait until their turn comes, with all that was decided about
 * them, and V8 takes for old what it finds in use twice: with four times as much, every rule is 10 % slower and needs
 * 20 MB more, and `send` 40 MB.
 */
const PIECE_BYTES = 4 * 1024;

/** More problems of one header than anyone would read. */
const MOST_HEADER_PROBLEMS = 100;

/**
 * Opens a list and reads its header. The file is read as a stream, with one descriptor, in constant memory; what is
 * hashed is what is parsed, also when the file is swapped meanwhile (J2). Recipients that the campaign file lists are
 * in memory already.
 * @throws HandbillError (exit 2), from here and from `rows`: file-*, invalid-encoding, csv-*, input-changed
 */
export async function openList(spec: ListSpec, options: ListOptions = {}): Promise<List> {
  if (spec.inline !== null) return openInline(spec.inline, spec.file, options.expected ?? null);
  const handle = await openListFile(spec);
  const close = once(() => handle.close());
  try {
    const { meter } = options;
    if (meter !== undefined) Object.assign(meter, { done: 0, total: (await handle.stat()).size });
    const blocks = createBlockReader(handle, spec.file, options.expected ?? null, meter);
    const records = createRecordReader(blocks, spec, options.pieceBytes ?? PIECE_BYTES);
    return createList(spec, await readFirst(spec, records), { records, digest: blocks.digest, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Reads a list without parsing it, for its digest.
 * @throws HandbillError (exit 2): file-*
 */
export async function hashList(spec: Pick<ListSpec, 'path' | 'file' | 'inline'>): Promise<ListDigest> {
  if (spec.inline !== null) return hashInline(spec.inline);
  const handle = await openListFile(spec);
  try {
    const blocks = createBlockReader(handle, spec.file, null);
    while ((await blocks.next()) !== null);
    return blocks.digest();
  } finally {
    await handle.close();
  }
}

interface First {
  readonly columns: readonly string[];
  /** Fields of the header: columns without a name at its end are left out. */
  readonly width: number;
  readonly headerLine: number;
  readonly delimiter: string;
  /** Cells have the `'` of handbill's exports, which is taken off. */
  readonly isEscaped: boolean;
  /** Records that were read together with the header. */
  readonly rest: Records;
}

/** The line in which some programs name the delimiter, in front of the header. */
export const SEPARATOR = /^"?sep=(.)"?$/i;

/** Reads up to the header, behind a `sep=` line if there is one. */
async function readFirst(spec: ListSpec, records: RecordReader): Promise<First> {
  let batch = await nextRecords(spec, records);
  const separator = SEPARATOR.exec(batch.texts[0] ?? '')?.[1];
  if (separator !== undefined) batch = dropFirst(batch);
  if (batch.texts.length === 0) batch = await nextRecords(spec, records);
  const text = batch.texts[0] ?? '';
  const headerLine = batch.lines[0] ?? 1;
  const delimiter = spec.delimiter ?? separator ?? findDelimiter(text);
  const header = { file: spec.file, text, line: headerLine, delimiter };
  const fault = syntaxFault(header, false);
  if (fault !== null) throw refuse(fault);
  if (text.trim() === '') throw refuse(noHeader(spec.file));
  const written = readHeader(header);
  const isEscaped = spec.escaped ?? isOwnExport(written.columns);
  const { columns, width, problems } = isEscaped ? readHeader(header, unguardCell) : written;
  if (problems.length > 0) throw tooMany(problems);
  return { columns, width, headerLine, delimiter, isEscaped, rest: dropFirst(batch) };
}

function tooMany(problems: readonly Diagnostic[]): HandbillError {
  return new HandbillError(EXIT.refused, problems.slice(0, MOST_HEADER_PROBLEMS), problems.length);
}

async function nextRecords(spec: ListSpec, records: RecordReader): Promise<Records> {
  for (;;) {
    const batch = await records.next(spec.delimiter);
    if (batch === null) throw refuse(noHeader(spec.file));
    if (batch.texts.length > 0) return batch;
  }
}

function dropFirst(records: Records): Records {
  return { texts: records.texts.slice(1), lines: records.lines.slice(1) };
}

interface Source {
  readonly records: RecordReader;
  readonly digest: () => ListDigest;
  readonly close: () => Promise<void>;
}

function createList(spec: ListSpec, first: First, source: Source): List {
  const { columns, width, delimiter, headerLine, isEscaped } = first;
  let count = 0;
  const empty = { count: 0, line: 0 };
  let started = false;

  async function* rows(): AsyncGenerator<readonly Row[]> {
    if (started) throw new Error('The rows of a list can be read once.');
    started = true;
    try {
      for (let batch: Records | null = first.rest; batch !== null; batch = await source.records.next(delimiter)) {
        if (batch.texts.length === 0) continue;
        const rows = toRows(batch);
        count += rows.length;
        if (rows.length > 0) yield rows;
      }
    } finally {
      await source.close();
    }
  }

  function toRows(batch: Records): Row[] {
    const fields = splitFields(batch.texts, delimiter);
    if (fields === null) throw findFault(batch);
    const rows: Row[] = [];
    for (let i = 0; i < fields.length; i++) {
      const line = batch.lines[i] ?? 0;
      const cells = isEscaped ? (fields[i] ?? []).map(unguardCell) : (fields[i] ?? []);
      if (!isEmpty(cells)) rows.push(toRow(count + rows.length, line, cells, columns.length, width));
      else if (++empty.count === 1) empty.line = line;
    }
    return rows;
  }

  function findFault(batch: Records): Error {
    for (const [i, text] of batch.texts.entries()) {
      const fault = syntaxFault({ file: spec.file, text, line: batch.lines[i] ?? 0, delimiter }, false);
      if (fault !== null) return refuse(fault);
    }
    return new Error('csv-parse refused records in which no fault can be found.');
  }

  function notes(): readonly Diagnostic[] {
    return [
      ...(width === columns.length ? [] : [emptyColumns(spec.file, headerLine, width - columns.length)]),
      ...(empty.count === 0 ? [] : [emptyRows(spec.file, empty.line, empty.count)]),
      ...(count === 0 ? [noRows(spec.file)] : []),
    ];
  }

  return { columns, headerLine, rows, count: () => count, digest: source.digest, notes, close: source.close };
}

/** Nothing but fields without a value. */
export function isEmpty(fields: readonly string[]): boolean {
  // Hardly any row begins with such a field.
  return isBlank(fields[0] ?? '') && fields.every(isBlank);
}

function isBlank(field: string): boolean {
  return field === '' || field.trim() === '';
}

export function toRow(row: number, line: number, fields: readonly string[], wanted: number, width: number): Row {
  // Some programs write the fields of columns without a name, and some do not; a value there belongs to no column.
  const isWide = width > wanted && fields.length === width;
  if (fields.length !== wanted && !isWide)
    return { row, line, values: null, fault: raggedFault(fields.length, wanted) };
  if (isWide && !fields.slice(wanted).every(isBlank)) {
    return {
      row,
      line,
      values: null,
      fault: `has a value in a column without a name, behind the ${wanted} of the header`,
    };
  }
  return { row, line, values: isWide ? fields.slice(0, wanted) : fields, fault: null };
}

function once(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | null = null;
  return () => {
    closed ??= close();
    return closed;
  };
}
