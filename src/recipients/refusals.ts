import { type Diagnostic, type Position, problem, warning } from '../errors.ts';
import type { ListEncoding } from '../model.ts';
import { TEXT_FORMULA } from '../util/csv.ts';
import { codePointOf } from '../util/escape.ts';
import FAULTS from './csv-faults.json' with { type: 'json' };

/** Refusals of a list as a whole. They never show a line: it holds personal data. */

export interface RecordText {
  readonly file: string;
  readonly text: string;
  readonly line: number;
  readonly delimiter: string;
}

export const MAX_RECORD_CHARACTERS = 1024 * 1024;

interface FieldScan {
  readonly starts: readonly number[];
  readonly fields: readonly string[];
  readonly fault: FieldFault | null;
}

interface FieldFault {
  readonly kind: keyof typeof FAULTS;
  readonly offset: number;
}

/** Reads one record to its end or first fault: csv-parse reports a fault, but not its line and column. */
export function scanFields(text: string, delimiter: string): FieldScan {
  const starts: number[] = [];
  const fields: string[] = [];
  const stopped = (kind: FieldFault['kind'], offset: number): FieldScan => ({
    starts,
    fields,
    fault: { kind, offset },
  });
  for (let at = 0; ; ) {
    starts.push(at);
    let end: number;
    const formula = formulaAt(text, at, delimiter);
    if (formula !== null) {
      end = at + formula.length;
      fields.push(formula);
    } else if (text[at] === '"') {
      let close = text.indexOf('"', at + 1);
      while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
      if (close === -1) return stopped('unclosed-quote', at);
      end = close + 1;
      if (!isFieldEnd(text, end, delimiter)) return stopped('after-quote', end);
      fields.push(text.slice(at + 1, close).replaceAll('""', '"'));
    } else {
      end = at;
      while (!isFieldEnd(text, end, delimiter)) {
        const before = text[end] === '"' ? text.slice(at, end) : null;
        if (before !== null && /^\s*=/.test(before)) return stopped('formula', end);
        if (before !== null) return stopped(before.trim() === '' ? 'blank-before-quote' : 'stray-quote', end);
        end += 1;
      }
      fields.push(text.slice(at, end));
    }
    if (!text.startsWith(delimiter, end)) return { starts, fields, fault: null };
    at = end + delimiter.length;
  }
}

const FORMULA = new RegExp(TEXT_FORMULA, 'uy');

/** `="0740"` without quotes around it; null: something else. */
function formulaAt(text: string, at: number, delimiter: string): string | null {
  FORMULA.lastIndex = at;
  const [formula = ''] = FORMULA.exec(text) ?? [];
  if (formula === '' || !isFieldEnd(text, at + formula.length, delimiter)) return null;
  return /[\r\n]/.test(formula) || formula.includes(delimiter) ? null : formula;
}

function isFieldEnd(text: string, at: number, delimiter: string): boolean {
  return at >= text.length || text[at] === '\n' || text[at] === '\r' || text.startsWith(delimiter, at);
}

export function positionAt({ file, text, line }: Omit<RecordText, 'delimiter'>, offset: number): Position {
  const before = text.slice(0, offset);
  return {
    file,
    line: line + countLines(before),
    column: offset - Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')),
  };
}

export function countLines(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

/** The first fault in a record, or null. `cut`: the record was not read to its end. */
export function syntaxFault(record: RecordText, cut: boolean): Diagnostic | null {
  const fault = scanFields(record.text, record.delimiter).fault;
  if (fault === null || (cut && fault.kind === 'unclosed-quote')) return null;
  const { message, hint } = FAULTS[fault.kind];
  return problem('csv-syntax', message, { at: positionAt(record, fault.offset), hint });
}

export function laterHeaderHint(line: number): string {
  return `Line ${line} looks like the header: set \`recipients.headerRow: ${line}\`.`;
}

export function noHeader(file: string, headerRow: number | null): Diagnostic {
  if (headerRow !== null) {
    const message = `The list ${file} has nothing on line ${headerRow} and below, where \`recipients.headerRow\` says its header is.`;
    const hint = 'Give the line with the names of the columns.';
    return problem('csv-no-header', message, { at: { file, line: headerRow }, hint });
  }
  const hint = 'The first row names the columns, for example: msisdn,name';
  return problem('csv-no-header', `The list ${file} is empty.`, { at: { file, line: 1 }, hint });
}

/** Spreadsheets write rows of empty fields below the list. */
export function emptyRows(file: string, line: number, count: number): Diagnostic {
  const rows = count === 1 ? 'A row without any value was' : `${count} rows without any value were`;
  return warning('csv-empty-rows', `${rows} left out.`, { at: { file, line } });
}

export function emptyColumns(file: string, line: number, count: number): Diagnostic {
  const columns = count === 1 ? 'A column without a name was' : `${count} columns without a name were`;
  return warning('csv-empty-columns', `${columns} left out at the end of each row.`, { at: { file, line } });
}

export function noRows(file: string): Diagnostic {
  return warning('csv-no-rows', `The list ${file} has a header but no rows: nothing is sent.`, {
    at: { file, line: 1 },
  });
}

/** Follows on "The row". */
export function raggedFault(has: number, wanted: number): string {
  return `has ${has} ${has === 1 ? 'field' : 'fields'}, the header has ${wanted}`;
}

export function rowTooLarge(file: string, line: number): Diagnostic {
  const hint = 'A quoted value that is never closed takes in the rows behind it: look for a single quote in this row.';
  return problem('csv-row-too-large', 'A row has more than 1,048,576 characters.', { at: { file, line }, hint });
}

export function nulCharacter(file: string, line: number, encoding: ListEncoding): Diagnostic {
  const wide = !encoding.startsWith('utf-16');
  return problem('csv-nul', 'The list holds a NUL character.', {
    at: { file, line },
    hint: wide
      ? 'Remove it. A list in UTF-16 without a byte order mark needs `recipients.encoding: utf-16le`.'
      : 'Remove it.',
  });
}

export function invalidEncoding(file: string, line: number, encoding: ListEncoding): Diagnostic {
  const hint = `Save it as "CSV UTF-8", or set \`recipients.encoding\` to the encoding of the program that wrote it: ${CODE_PAGES}.`;
  return problem('invalid-encoding', `The list is not valid ${encoding.toUpperCase()}.`, { at: { file, line }, hint });
}

const CODE_PAGES =
  'windows-1252 (Excel in Western Europe), windows-1250 (Central Europe), windows-1251, koi8-r, macintosh, shift_jis';

/** @param line - of the first character outside ASCII */
export function wrongEncoding(file: string, line: number, encoding: ListEncoding): Diagnostic {
  const example = encoding === 'windows-1252' ? ': é becomes Ã©' : '';
  return warning('wrong-encoding', `The list looks like UTF-8, but is read as ${encoding}${example}.`, {
    at: { file, line },
    hint: `Set \`recipients.encoding: utf-8\`. Nothing has to be done if \`preview\` shows line ${line} as it should be.`,
  });
}

/** A part of a text that was read in a wrong encoding. */
export type Garbled = { readonly found: string; readonly kind: 'utf-8' | 'lost' | 'misread' | 'odd' };

/**
 * @param declared - by the campaign: it may be what is wrong
 * @param isRefused - half of the rows with foreign letters are so. Saved as UTF-8 a list has the letters that the user
 * sees, so this is for a code page, and a single odd cell never blocks a list.
 */
export function garbledText(
  file: string,
  line: number,
  { found, kind }: Garbled,
  declared: ListEncoding | null,
  isRefused = false,
): Diagnostic {
  const read = declared === null || declared.startsWith('utf-') ? null : declared;
  const said = read === null ? 'The list holds' : `Read as ${read}, the list holds`;
  const hint = read === null ? EXPORT_AGAIN : `Look whether it was written so. ${EXPORT_AGAIN}`;
  if (kind === 'lost') {
    const what = found === '\ufffd' ? 'the mark of letters that could not be read' : 'a control character';
    const message = `${said} ${codePointOf(found)}, ${what}: it was read in a wrong encoding before it was saved.`;
    return warning('wrong-encoding', message, { at: { file, line }, hint });
  }
  const why =
    kind === 'utf-8'
      ? 'UTF-8 that was read as windows-1252 and saved again'
      : found.includes('?')
        ? 'each "?" may be a letter that another encoding did not have'
        : 'words rarely have these characters in this order, so the list may have been read in a wrong encoding';
  if (isRefused) {
    const fix = `Set \`recipients.encoding\` to the encoding of the program that wrote the list: ${CODE_PAGES}. Or save it as UTF-8, and leave \`encoding\` out.`;
    return problem('wrong-encoding', `${said} "${found}": ${why}.`, { at: { file, line }, hint: fix });
  }
  return warning('wrong-encoding', `${said} "${found}": ${why}.`, { at: { file, line }, hint });
}

const EXPORT_AGAIN = 'Export the list again, as UTF-8: messages would show these characters.';

/** Beginnings of other files, in small letters. Web systems name an HTML table `.xls`. */
const OTHER_FILES: readonly (readonly [what: string, ...starts: readonly string[]])[] = [
  ['an Excel workbook or another zip archive', 'pk\u0003\u0004'],
  ['an Excel workbook', '\u00f0\u00ef\u0011\u00e0'],
  ['compressed with gzip', '\u001f\u008b'],
  ['a PDF', '%pdf-'],
  ['HTML', '<!doctype html', '<html', '<table', '<meta'],
  ['XML', '<?xml'],
  ['JSON', '{"', '[{', '[['],
  ['an SQLite database', 'sqlite format 3'],
  ['a pointer of Git LFS', 'version https://git-lfs'],
];

export function notText(file: string, bytes: Uint8Array): Diagnostic | null {
  const start = Buffer.from(bytes.subarray(0, 100))
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '');
  const text = start.trimStart().toLowerCase();
  const [what] = OTHER_FILES.find(([, ...starts]) => starts.some((one) => text.startsWith(one))) ?? [];
  if (what === undefined) return null;
  const isPointer = what === 'a pointer of Git LFS';
  const hint = isPointer ? 'Fetch the file: git lfs pull.' : 'Save the list as "CSV UTF-8" and name that file.';
  return problem('invalid-encoding', `The list ${file} is not CSV, but ${what}.`, { at: { file }, hint });
}
