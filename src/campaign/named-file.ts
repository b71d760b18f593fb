import { hash } from 'node:crypto';
import { type Diagnostic, problem } from '../errors.ts';
import type { SourceText } from '../model.ts';
import { displayPath, findFileAnywhere, findFileInside, findListFile, readSmallFile } from '../util/paths.ts';

export const MAX_TEMPLATE_BYTES = 64 << 10;
/** In bytes: Gmail cuts off at 102 KB, and MJML is shorter than its HTML. */
export const MAX_HTML_BYTES = 256 << 10;

/** Real paths of the project's root, of the folder that the name is relative to, and of the cwd. */
interface Naming {
  readonly root: string;
  readonly folder: string;
  readonly cwd: string;
  /** Where the file is named: a problem points to it. */
  readonly where: Partial<Diagnostic>;
  /** For a list: folders outside the project in which it may be (HANDBILL_LISTS), or `anywhere` for an option. */
  readonly outside?: readonly string[] | 'anywhere';
}

/**
 * Finds a file that a campaign or handbill.yaml names: a list, prices, a suppression list, or a text. Returns the real path,
 * and the path in messages.
 */
export function findNamedFile(
  written: string,
  { root, folder, cwd, where, outside }: Naming,
): { readonly path: string; readonly file: string } | { readonly problem: Diagnostic } {
  const found =
    outside === undefined
      ? findFileInside(root, folder, written)
      : outside === 'anywhere'
        ? findFileAnywhere(folder, written)
        : findListFile(root, folder, written, outside);
  if ('fault' in found) return { problem: { ...found.fault, ...where } };
  return { path: found.path, file: displayPath(found.path, cwd) };
}

/**
 * Finds and reads a text: UTF-8, at most 64 KiB. Converts line ends to LF, because a CR costs a septet in an SMS, and
 * removes one newline at the end, which editors add and users do not mean to send. The SHA-256 is of the bytes on disk; a
 * problem has a path if the file exists.
 */
export function readNamedText(
  written: string,
  naming: Naming,
  mostBytes: number = MAX_TEMPLATE_BYTES,
):
  | { readonly path: string; readonly source: SourceText; readonly sha256: string }
  | { readonly path?: string; readonly problem: Diagnostic } {
  const found = findNamedFile(written, naming);
  if ('problem' in found) return found;
  const { path, file } = found;
  const read = readSmallFile(path, mostBytes, file);
  if ('fault' in read) return { path, problem: { ...read.fault, ...naming.where } };
  const decoded = decodeUtf8(read.bytes, file);
  if ('problem' in decoded) return { path, ...decoded };
  const source = { text: trimText(decoded.text), file, line: 1, column: 1 };
  return { path, source, sha256: hash('sha256', read.bytes, 'hex') };
}

/** LF for CRLF and CR, without one newline at the end. */
export function trimText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\n$/, '');
}

/** Refuses invalid UTF-8, which a lenient decoder would silently turn into U+FFFD. Removes a byte order mark. */
export function decodeUtf8(
  bytes: Uint8Array,
  file: string,
): { readonly text: string } | { readonly problem: Diagnostic } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: problem('invalid-encoding', 'The file is not valid UTF-8.', invalidPlace(bytes, file)) };
  }
}

/** The first line that does not decode. No character of UTF-8 holds a newline's byte: each line decodes alone. */
function invalidPlace(bytes: Uint8Array, file: string): Partial<Diagnostic> {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return { at: { file, line: 1, column: 1 }, hint: 'It looks like UTF-16: save it as UTF-8.' };
  }
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    try {
      decoder.decode(bytes.subarray(start, end));
    } catch {
      const column = new TextDecoder().decode(bytes.subarray(start, end)).indexOf('\ufffd') + 1;
      return { at: { file, line, column: Math.max(1, column) }, hint: 'Save the file as UTF-8.' };
    }
    if (newline === -1) return { at: { file } };
    start = newline + 1;
    line += 1;
  }
}
