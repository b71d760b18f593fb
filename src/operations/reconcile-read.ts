import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Diagnostic, HandbillError, problem } from '../errors.ts';
import type { ListEncoding, WebhookEvent } from '../model.ts';
import { createDecoding, DecodeFault, sniffEncoding } from '../recipients/decode.ts';
import { ONLY_CELLS, openList } from '../recipients/read.ts';
import { type JsonFault, jsonValues } from '../util/json-values.ts';
import type { Meter } from '../util/meter.ts';
import type { Interpretation, Interpreter } from '../webhook/interpret.ts';

/** A file of events, as it is read. */
export interface EventFile {
  /** Where it lies. */
  readonly path: string;
  /** As the user would name it. */
  readonly name: string;
  /** Called with how far it was read. */
  readonly meter?: Meter;
}

/** Events of one value or row, with the line where it begins; or what is wrong there. */
type ReadPiece =
  | { readonly events: readonly WebhookEvent[]; readonly line: number }
  | { readonly diagnostic: Diagnostic };

/** Longest JSON value, in UTF-16 units: a body that wraps its events as a whole. */
const MAX_VALUE = 16 * 1024 * 1024;
/** Most events in such a value. */
export const MAX_VALUE_EVENTS = 200_000;

const PIECE_BYTES = 64 * 1024;

/**
 * Reads a file of exported reports, in memory that does not grow with it: JSON in any form (`util/json-values.ts`), or
 * CSV whose columns are named as the fields of events are. Errors are returned as diagnostics; reading goes on after
 * them.
 *
 * @throws HandbillError (exit status 2): the header or the form of a CSV file makes it unreadable
 */
export async function* readEvents(
  file: EventFile,
  interpreter: Interpreter,
  nowMs: number,
): AsyncGenerator<readonly ReadPiece[]> {
  if (await isJson(file.path)) yield* readJson(file, interpreter, nowMs);
  else yield* readCsv(file, interpreter, nowMs);
}

/** Whether the first character is one that JSON begins with, in any encoding. */
async function isJson(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { bytes } = await firstBytes(handle);
    return /^[\ufeff\s\0]*[[{]/.test(bytes.toString('latin1').replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, ''));
  } finally {
    await handle.close();
  }
}

async function firstBytes(handle: FileHandle): Promise<{ readonly bytes: Buffer }> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
  return { bytes: buffer.subarray(0, bytesRead) };
}

async function* readJson(
  file: EventFile,
  interpreter: Interpreter,
  nowMs: number,
): AsyncGenerator<readonly ReadPiece[]> {
  const at = { line: 1 };
  try {
    for await (const values of jsonValues(textOf(file, at), MAX_VALUE)) {
      yield values.map((value): ReadPiece => {
        if ('fault' in value) return { diagnostic: faultAt(file, value.line, FAULTS[value.fault]) };
        const { events, problems } = interpreter.interpret(Buffer.from(value.text), nowMs);
        const [wrong] = problems;
        if (wrong === undefined && isObject(value.text)) return { events, line: value.line };
        return { diagnostic: faultAt(file, value.line, wrong === undefined ? NO_OBJECT : wordsOf(wrong)) };
      });
    }
  } catch (error) {
    if (!(error instanceof DecodeFault)) throw error;
    const message = error.kind === 'nul' ? 'There is a NUL character.' : 'There are bytes that are no text in UTF-8.';
    yield [{ diagnostic: faultAt(file, at.line + error.before.split('\n').length - 1, message) }];
  }
}

/** Anything else could be taken for a form, as senders post them. */
function isObject(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[');
}

const NO_OBJECT = 'This is no JSON object.';

const FAULTS: Readonly<Record<JsonFault, string>> = {
  unfinished: 'The file ends in the middle of what begins here.',
  'too-large': 'What begins here is larger than 16 MiB. Write each event on a line of its own.',
  stray: 'Here is a closing bracket too many. Nothing after it was read.',
};

function wordsOf({ kind, message }: Interpretation['problems'][number]): string {
  return kind === 'not-readable' ? 'This is no well-formed JSON.' : message.replace('The body', 'The value');
}

/** Counts the lines of what has been handed out. */
async function* textOf({ path, meter }: EventFile, at: { line: number }): AsyncGenerator<string> {
  let encoding: ListEncoding | null = null;
  let decoding: ReturnType<typeof createDecoding> | null = null;
  const seen = (text: string): string => {
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) at.line += 1;
    return text;
  };
  if (meter !== undefined) Object.assign(meter, { done: 0, total: (await stat(path)).size });
  for await (const chunk of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    const bytes = chunk as Buffer;
    if (meter !== undefined) meter.done += bytes.length;
    let skip = 0;
    if (encoding === null) ({ encoding, skip } = sniffEncoding(bytes, null));
    decoding ??= createDecoding(encoding);
    yield seen(decoding.push(bytes.subarray(skip)));
  }
  if (decoding !== null) yield seen(decoding.end());
}

async function* readCsv(
  file: EventFile,
  interpreter: Interpreter,
  nowMs: number,
): AsyncGenerator<readonly ReadPiece[]> {
  const { meter } = file;
  const list = await openList(
    { ...ONLY_CELLS, path: file.path, file: file.name },
    meter === undefined ? {} : { meter },
  ).catch(rethrown);
  const documentOf = documentMaker(list.columns);
  try {
    for await (const rows of list.rows()) {
      yield rows.map(({ line, values, fault }): ReadPiece => {
        if (values === null) return { diagnostic: faultAt(file, line, fault ?? 'The row cannot be read.') };
        return { events: interpreter.interpretDocument(documentOf(values), nowMs).events, line };
      });
    }
  } catch (error) {
    rethrown(error);
  } finally {
    await list.close();
  }
}

const FORMS = 'Events are JSON, or CSV whose first row names columns such as messageId,status,timestamp,error.';

/** The words of the reader of recipients name lists, and settings that this file does not have. */
function rethrown(error: unknown): never {
  if (!(error instanceof HandbillError)) throw error;
  const diagnostics = error.diagnostics.map(({ hint, ...rest }) => {
    if (rest.code === 'csv-no-header') return { ...rest, message: 'There is nothing in it.', hint: FORMS };
    const isOurs = hint === undefined || hint.includes('`recipients.');
    return isOurs ? rest : { ...rest, hint };
  });
  throw new HandbillError(error.exit, diagnostics, error.total);
}

/**
 * Rows as JSON would have them: `error.code` is `code` in `error`, and what is empty is not there. Letter case, spaces
 * and signs in names do not count where events are read.
 */
function documentMaker(columns: readonly string[]): (values: readonly string[]) => object {
  const places = columns.map((name) => {
    const names = name.split('.').map((part) => part.trim());
    const isPath = names.length > 1 && names.length <= MAX_NAMES && names.every((part) => part !== '');
    // Where another column has the name of the whole, the parts have no place in it.
    return isPath && !columns.includes(names[0] ?? '') ? names : [name];
  });
  return (values) => {
    const document = emptyObject();
    for (const [i, names] of places.entries()) {
      const value = values[i] ?? '';
      if (value === '') continue;
      let at = document;
      for (const name of names.slice(0, -1)) {
        const inner = at[name];
        at[name] = typeof inner === 'object' && inner !== null ? inner : emptyObject();
        at = at[name] as Record<string, unknown>;
      }
      at[names.at(-1) ?? ''] = value;
    }
    return document;
  };
}

const MAX_NAMES = 8;

function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function faultAt({ name }: EventFile, line: number, message: string): Diagnostic {
  const hint =
    'What was read of the file is taken over. Correct the rest and give it again: what is known already changes nothing.';
  return problem('invalid-reports', message, { at: { file: name, line }, hint });
}
