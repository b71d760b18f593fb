import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { InfoRecord } from 'csv-parse';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { type InlineList, type ListEncoding, type ListSpec, PLAIN_LIST_KEYS, type Row } from '../model.ts';
import { compared, isBlank } from '../util/cell.ts';
import { cellOf, isOwnExport } from '../util/csv.ts';
import type { Meter } from '../util/long-work.ts';
import { onDemand } from '../util/on-demand.ts';
import { wantedColumns } from './columns.ts';
import {
  createDecoding,
  createUtf8Suspicion,
  DecodeFault,
  garbledIn,
  isCodePage,
  isPlain,
  sniffEncoding,
  type TextDecoding,
  type Utf8Suspicion,
} from './decode.ts';
import { checkNames, delimiterOf, findDelimiter, readHeader, SEPARATOR } from './header.ts';
import { BLOCK_BYTES, type BlockReader, createBlockReader, type ListDigest, openListFile } from './list-file.ts';
import {
  countLines,
  emptyColumns,
  emptyRows,
  type Garbled,
  garbledText,
  invalidEncoding,
  laterHeaderHint,
  MAX_RECORD_CHARACTERS,
  noHeader,
  noRows,
  notText,
  nulCharacter,
  type RecordText,
  raggedFault,
  rowTooLarge,
  scanFields,
  syntaxFault,
  wrongEncoding,
} from './refusals.ts';

export type { ListDigest } from './list-file.ts';

export interface List {
  /** Names as they are compared. */
  readonly columns: readonly string[];
  /** 1, but after a `sep=` line or empty lines. For a list in a campaign file: its first row's line. */
  readonly headerLine: number;
  /** A line below with names that the campaign uses: the header may be there, under a title. Null: none. */
  readonly laterHeader: number | null;
  /** The rows, in batches; can be called once. Reads no batch before the consumer asks for it. */
  rows(): AsyncGenerator<readonly Row[]>;
  count(): number;
  /** Available once `rows` has ended. */
  digest(): ListDigest;
  /** When the file was last written, in ms since 1970; null: the recipients are in the campaign file. */
  readonly changedAtMs: number | null;
  /** Skipped lines and unusual facts; complete once `rows` has ended. */
  notes(): readonly Diagnostic[];
  /** Needed when `rows` did not run to its end. */
  close(): Promise<void>;
}

/** For a list of which only the cells are read; the delimiter and the encoding are detected. */
export const ONLY_CELLS = {
  ...PLAIN_LIST_KEYS,
  inline: null,
  kind: 'msisdn',
  to: '',
  key: [],
  defaultCountry: null,
  encoding: null,
  columns: {},
  where: null,
  each: null,
  display: null,
} satisfies Omit<ListSpec, 'path' | 'file'>;

export interface ListOptions {
  /** The digest of the check pass: a file that changed since is refused before any changed row is parsed. */
  readonly expected?: ListDigest;
  /** Bytes that are decoded at a time, default 2 KiB: one batch holds the rows that end in them. */
  readonly pieceBytes?: number;
  readonly meter?: Meter | undefined;
}

/**
 * Default of `pieceBytes`: some 45 rows of 45 bytes. With more live rows, V8 doubles its young generation and moves
 * more objects to the old one: `preview` needs 35 MB more with twice as much, and with eight times every rule is 10%
 * slower.
 */
const PIECE_BYTES = 2 * 1024;
const MOST_HEADER_PROBLEMS = 100;

/**
 * Opens a list and reads its header. Streams the file through one descriptor in constant memory; the hash covers the
 * bytes that are parsed, even if the file is replaced meanwhile (failures.md, J2).
 * @throws HandbillError (exit 2), from here and from `rows`: file-*, invalid-encoding, csv-*, input-changed
 */
export async function openList(spec: ListSpec, options: ListOptions = {}): Promise<List> {
  if (spec.inline !== null) return openInline(spec.inline, spec.file, options.expected ?? null);
  const handle = await openListFile(spec);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= handle.close();
    return closed;
  };
  try {
    const { meter } = options;
    const { size, mtimeMs } = await handle.stat();
    if (meter !== undefined) Object.assign(meter, { done: 0, total: size });
    const blocks = createBlockReader(handle, spec.file, options.expected ?? null, meter);
    const suspicion = createUtf8Suspicion();
    const text = readText(blocks, spec, suspicion, options.pieceBytes ?? PIECE_BYTES);
    const { header, ...top } = await readTop(spec, text);
    return createList(
      spec,
      {
        ...top,
        ...(await readColumns(spec, header).catch((error: unknown) => withLater(error, laterHeader(spec, top)))),
      },
      {
        text,
        suspicion,
        digest: blocks.digest,
        changedAtMs: mtimeMs,
        close,
      },
    );
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Reads a list without parsing it, for its digest.
 * @throws HandbillError (exit 2): file-*
 */
export async function hashList(spec: Pick<ListSpec, 'path' | 'file' | 'missing' | 'inline'>): Promise<ListDigest> {
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

/**
 * Reads the list as a whole: counts its rows, and does not check them.
 * @throws HandbillError (exit 2) as `openList`
 */
export async function readListFacts(spec: ListSpec) {
  const list = await openList(spec);
  for await (const _ of list.rows());
  return { file: spec.file, rows: list.count(), changedAtMs: list.changedAtMs, sha256: list.digest().sha256 };
}

/** A piece with `refusal` is a fault: bytes that are not text. The text before them comes first. */
type TextPieces = AsyncGenerator<string | { refusal(line: number): Error }>;

async function* readText(
  blocks: BlockReader,
  spec: ListSpec,
  suspicion: Utf8Suspicion,
  pieceBytes: number,
): TextPieces {
  let encoding: ListEncoding = 'utf-8';
  let decoding: TextDecoding | null = null;
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
      let at = 0;
      if (decoding === null) {
        const other = notText(spec.file, block);
        if (other !== null) throw refuse(other);
        ({ encoding, skip: at } = sniffEncoding(block, spec.encoding));
        decoding = createDecoding(encoding);
      }
      if (isCodePage(encoding)) suspicion.add(block);
      for (; at < block.length; at += pieceBytes) yield decoding.push(block.subarray(at, at + pieceBytes));
    }
    if (decoding !== null) yield decoding.end();
  } catch (error) {
    if (!(error instanceof DecodeFault)) throw error;
    const fault = error.kind === 'nul' ? nulCharacter : invalidEncoding;
    yield error.before;
    yield { refusal: (line) => refuse(fault(spec.file, line, encoding)) };
  }
}

interface Top {
  readonly header: RecordText;
  readonly rest: string;
  readonly restLine: number;
}

/** A CR at the end of a piece may be half of a CR LF. */
const LINE_END = /\r\n|\n|\r(?=[^\n])/;
const EMPTY_LINES = /^(?:\r\n|\n|\r(?=[^\n]))+/;

/** Reads up to the header, behind a `sep=` line if there is one. Its end must be known before its delimiter is. */
async function readTop(spec: ListSpec, pieces: TextPieces): Promise<Top> {
  const { file } = spec;
  const headerRow = spec.headerRow ?? 1;
  let text = '';
  let line = 1;
  let separator: string | null = null;
  let isEnd = false;
  for (;;) {
    for (let end = LINE_END.exec(text); line < headerRow && end !== null; end = LINE_END.exec(text)) {
      separator ??= SEPARATOR.exec(text.slice(0, end.index))?.[1] ?? null;
      text = text.slice(end.index + end[0].length);
      line += 1;
    }
    const blank = line < headerRow ? '' : (EMPTY_LINES.exec(text)?.[0] ?? '');
    text = text.slice(blank.length);
    line += countLines(blank);
    const end = recordEnd(text);
    const isWhole = line >= headerRow && (end < text.length - 1 || (isEnd && text.trim() !== ''));
    if (isWhole) {
      const record = text.slice(0, end);
      const rest = text.slice(end).replace(/^(?:\r\n?|\n)/, '');
      const restLine = line + countLines(text.slice(0, text.length - rest.length));
      const written = SEPARATOR.exec(record)?.[1];
      if (written === undefined || separator !== null) {
        const delimiter = delimiterOf(spec.delimiter, separator, record);
        return { header: { file, text: record, line, delimiter }, rest, restLine };
      }
      separator = written;
      text = rest;
      line = restLine;
      continue;
    }
    if (isEnd) throw refuse(noHeader(file, spec.headerRow));
    if (text.length > MAX_RECORD_CHARACTERS) {
      const delimiter = delimiterOf(spec.delimiter, separator, text);
      throw refuse(syntaxFault({ file, text, line, delimiter }, true) ?? rowTooLarge(file, line));
    }
    const { value: piece } = await pieces.next();
    if (piece === undefined) isEnd = true;
    else if (typeof piece === 'string') text += piece;
    else throw piece.refusal(line + countLines(text));
  }
}

/** The first record ends at a line end outside quotes, else with the text. */
function recordEnd(text: string): number {
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r')) return at;
  }
  return text.length;
}

/** Searches so many lines under a title for a header, within the text that was read together with it. */
const MOST_LINES_ABOVE = 20;

function laterHeader(spec: ListSpec, { rest, restLine }: Omit<Top, 'header'>): number | null {
  const names = new Set([...wantedColumns(spec)].map(compared));
  const lines = rest.split(/\r\n?|\n/).slice(0, MOST_LINES_ABOVE);
  const found = lines.findIndex((text) => {
    const { fields } = scanFields(text, spec.delimiter ?? findDelimiter(text));
    return fields.some((field) => names.has(compared(field)));
  });
  return found === -1 ? null : restLine + found;
}

/** A header that cannot be one may be a title. */
function withLater(error: unknown, line: number | null): never {
  if (line === null || !(error instanceof HandbillError)) throw error;
  const [first, ...others] = error.diagnostics;
  if (first === undefined) throw error;
  const hint = `${laterHeaderHint(line)} ${first.hint ?? ''}`.trim();
  throw new HandbillError(error.exit, [{ ...first, hint }, ...others], error.total);
}

interface Columns {
  readonly columns: readonly string[];
  /** Fields of the header, including columns without a name at its end. */
  readonly width: number;
  readonly headerLine: number;
  readonly delimiter: string;
  /** Cells have the `'` of handbill's exports, to be removed. */
  readonly isEscaped: boolean;
}

async function readColumns(spec: ListSpec, header: RecordText): Promise<Columns> {
  const parser = createRecordParser(header);
  const [cells = []] = [...(await parser.push(header.text)), ...(await parser.end())].map(({ fields }) => fields);
  if (parser.fault() !== null) throw parser.fault();
  if (header.text.trim() === '') throw refuse(noHeader(spec.file, spec.headerRow));
  const isEscaped = spec.escaped ?? isOwnExport(readHeader(header, cells).columns);
  const { columns, width, problems } = readHeader(
    header,
    cells.map((cell) => cellOf(cell, isEscaped)),
  );
  if (problems.length > 0) {
    throw new HandbillError(EXIT.refused, problems.slice(0, MOST_HEADER_PROBLEMS), problems.length);
  }
  return { columns, width, headerLine: header.line, delimiter: header.delimiter, isEscaped };
}

const csvParse = onDemand(() => createRequire(import.meta.url)('csv-parse') as typeof import('csv-parse'));

interface CsvRecord {
  readonly fields: readonly string[];
  readonly line: number;
}

function createRecordParser({ file, line: firstLine, delimiter }: Omit<RecordText, 'text'>) {
  let records: CsvRecord[] = [];
  let fault: Error | null = null;
  // The current record: where it begins, in bytes and lines, and the bytes from there on.
  let start = 0;
  let line = firstLine;
  let lines = 0;
  let held = Buffer.alloc(0);
  let heldFrom = 0;
  const parser = new (csvParse().Parser)({
    delimiter,
    // Line ends may be mixed, and those in quotes stay as they are.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // The code below finds quotes that csv-parse no longer looks for: `="0740"` is a value.
    relax_quotes: true,
    on_record: take,
  });
  // The callbacks below get the same errors.
  parser.on('error', () => {});

  function take(fields: string[], info: InfoRecord): null {
    if (fault === null && fields.some(hasQuote)) fault = quoteFault(info.bytes);
    const isEmptyLine = fields.length === 1 && fields[0] === '' && held[start - heldFrom] !== QUOTE;
    checkSize(info.bytes);
    if (!isEmptyLine && fault === null) records.push({ fields, line });
    // csv-parse counts a CR LF in quotes twice.
    line += info.lines - lines === 1 ? 1 : 1 + fields.reduce((sum, field) => sum + countLines(field), 0);
    lines = info.lines;
    start = info.bytes;
    return null;
  }

  function quoteFault(end: number): Error | null {
    const found = syntaxFault({ file, text: textTo(end), line, delimiter }, false);
    return found === null ? null : refuse(found);
  }

  /** Text of the current record, up to a byte of the whole text. */
  const textTo = (end: number): string => held.toString('utf8', start - heldFrom, end - heldFrom);

  function checkSize(end: number): void {
    if (end - start <= MAX_RECORD_CHARACTERS) return;
    if (textTo(end).replace(/\r?\n?$/, '').length > MAX_RECORD_CHARACTERS) fault ??= refuse(rowTooLarge(file, line));
  }

  function taken(error: unknown): readonly CsvRecord[] {
    if (error && fault === null) {
      const found = syntaxFault({ file, text: textTo(heldFrom + held.length), line, delimiter }, false);
      fault = found === null ? new Error('csv-parse finds a fault that cannot be located.') : refuse(found);
    }
    checkSize(heldFrom + held.length);
    const found = records;
    records = [];
    return found;
  }

  return {
    async push(text: string): Promise<readonly CsvRecord[]> {
      held = Buffer.concat([held.subarray(start - heldFrom), Buffer.from(text)]);
      heldFrom = start;
      const bytes = held.subarray(held.length - Buffer.byteLength(text));
      return taken(await new Promise((resolve) => parser.write(bytes, resolve)));
    },
    end: async () => taken(await new Promise((resolve) => parser.end(resolve))),
    /** The error that ended the reading, behind the last record; null: none. */
    fault: (): Error | null => fault,
    line: () => line + countLines(textTo(heldFrom + held.length)),
  };
}

const QUOTE = 0x22;

// Not made anew for each row.
const hasQuote = (field: string): boolean => field.includes('"');
const isFormula = (field: string): boolean => field.includes('="') || field.startsWith('=');

interface Source {
  readonly text: TextPieces;
  readonly suspicion: Utf8Suspicion;
  readonly digest: () => ListDigest;
  readonly changedAtMs: number;
  readonly close: () => Promise<void>;
}

function createList(spec: ListSpec, top: Columns & Omit<Top, 'header'>, { text, suspicion, ...source }: Source): List {
  const { file } = spec;
  const { columns, width, headerLine, isEscaped } = top;
  const { close } = source;
  let count = 0;
  const empty = { count: 0, line: 0 };
  // Checks cells only once a piece of the text is garbled; misses a pair that two pieces share.
  let isGarbled = false;
  type Find = { readonly line: number; readonly found: Garbled } | null;
  const garbled = { first: null as Find, misread: null as Find, rowsMisread: 0, rowsForeign: 0 };

  async function* records(): AsyncGenerator<readonly CsvRecord[]> {
    const parser = createRecordParser({ file, line: top.restLine, delimiter: top.delimiter });
    isGarbled = garbledIn(top.rest) !== null;
    yield await parser.push(top.rest);
    for (;;) {
      if (parser.fault() !== null) throw parser.fault();
      const { value: piece } = await text.next();
      if (piece === undefined) break;
      if (typeof piece !== 'string') throw piece.refusal(parser.line());
      isGarbled ||= garbledIn(piece) !== null;
      yield await parser.push(piece);
    }
    yield await parser.end();
    if (parser.fault() !== null) throw parser.fault();
  }

  async function* rows(): AsyncGenerator<readonly Row[]> {
    try {
      for await (const batch of records()) {
        const rows = toRows(batch);
        count += rows.length;
        if (rows.length > 0) yield rows;
      }
      // UTF-8 is found at the end of the file, and has its own warning.
      const { misread, rowsMisread, rowsForeign } = garbled;
      if (misread !== null && rowsMisread * 2 >= rowsForeign && suspicion.line() === null)
        throw refuse(garbledText(file, misread.line, misread.found, spec.encoding, true));
    } finally {
      await close();
    }
  }

  function toRows(batch: readonly CsvRecord[]): Row[] {
    const rows: Row[] = [];
    for (const { fields, line } of batch) {
      const cells = isEscaped || fields.some(isFormula) ? fields.map((field) => cellOf(field, isEscaped)) : fields;
      if (isGarbled) {
        const text = fields.join(' | ');
        if (!isPlain(text)) garbled.rowsForeign += 1;
        const found = garbledIn(text);
        const inCodePage = isCodePage(spec.encoding ?? 'utf-8');
        if (found?.kind === 'misread' && inCodePage) {
          garbled.rowsMisread += 1;
          garbled.misread ??= { line, found };
        }
        // Where a code page is declared, the whole file tells whether it is UTF-8.
        if (found !== null && !(found.kind === 'utf-8' && inCodePage)) garbled.first ??= { line, found };
      }
      if (!isEmpty(cells)) rows.push(toRow(count + rows.length, line, cells, columns.length, width));
      else if (++empty.count === 1) empty.line = line;
    }
    return rows;
  }

  const suspected = (): readonly Diagnostic[] => {
    const line = suspicion.line();
    if (line !== null) return [wrongEncoding(file, line, spec.encoding ?? '')];
    const { first } = garbled;
    return first === null ? [] : [garbledText(file, first.line, first.found, spec.encoding)];
  };
  const notes = (): readonly Diagnostic[] => [
    ...suspected(),
    ...(width === columns.length ? [] : [emptyColumns(file, headerLine, width - columns.length)]),
    ...(empty.count === 0 ? [] : [emptyRows(file, empty.line, empty.count)]),
    ...(count === 0 ? [noRows(file)] : []),
  ];

  const later = [...wantedColumns(spec)].every((name) => columns.includes(compared(name)))
    ? null
    : laterHeader(spec, top);
  return { columns, headerLine, laterHeader: later, rows: readOnce(rows), count: () => count, notes, ...source };
}

function readOnce<T>(read: () => AsyncGenerator<T>): () => AsyncGenerator<T> {
  let isRead = false;
  return async function* () {
    if (isRead) throw new Error('The rows of a list can be read once.');
    isRead = true;
    yield* read();
  };
}

export function isEmpty(fields: readonly string[]): boolean {
  // Hardly any row begins with such a field.
  return isBlank(fields[0] ?? '') && fields.every(isBlank);
}

export function toRow(row: number, line: number, fields: readonly string[], wanted: number, width = wanted): Row {
  // Some programs write the fields of columns without a name, and some do not; a value there belongs to no column.
  const isWide = width > wanted && fields.length === width;
  if (fields.length !== wanted && !isWide)
    return { row, line, values: null, fault: raggedFault(fields.length, wanted) };
  if (isWide && !fields.slice(wanted).every(isBlank)) {
    const fault = `has a value in a column without a name, behind the ${wanted} of the header`;
    return { row, line, values: null, fault };
  }
  return { row, line, values: isWide ? fields.slice(0, wanted) : fields, fault: null };
}

/** About as many as a piece of a file has. */
const BATCH_ROWS = 256;

/**
 * Opens a list in the campaign file. Its cells are exact: a leading `'`, which keeps a spreadsheet from running a cell
 * of a CSV as a formula, is part of the value here.
 */
function openInline(inline: InlineList, file: string, expected: ListDigest | null): List {
  const headerLine = inline.rows[0]?.line ?? 1;
  const columns = inline.columns.map(compared);
  const problems = checkNames(columns, () => ({ at: { file, line: headerLine } }));
  if (problems.length > 0) throw refuse(...problems);
  const digest = hashInline(inline);
  if (expected !== null && expected.sha256 !== digest.sha256) {
    const message = `The recipients that ${file} lists changed after they had been checked.`;
    throw refuse(problem('input-changed', message, { at: { file }, hint: 'Run the command again.' }));
  }
  let count = 0;

  async function* rows(): AsyncGenerator<readonly Row[]> {
    while (count < inline.rows.length) {
      const from = count;
      const batch = inline.rows.slice(from, from + BATCH_ROWS);
      count += batch.length;
      yield batch.map(({ line, values }, i) => toRow(from + i, line, values, columns.length));
    }
  }

  return {
    columns,
    headerLine,
    laterHeader: null,
    rows: readOnce(rows),
    count: () => count,
    digest: () => digest,
    changedAtMs: null,
    notes: () => [],
    close: async () => {},
  };
}

/**
 * The digest of a list in the campaign file, over its columns and then each row as a line of JSON. It excludes line
 * numbers, so that a comment above the list does not change it.
 */
function hashInline(inline: InlineList): ListDigest {
  const records = [inline.columns.map(compared), ...inline.rows.map((row) => row.values)];
  const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const blocks: string[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    blocks.push(hash('sha256', bytes.subarray(at, at + BLOCK_BYTES), 'hex'));
  }
  return { sha256: hash('sha256', bytes, 'hex'), size: bytes.length, blocks };
}
