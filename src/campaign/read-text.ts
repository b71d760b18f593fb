import { hash } from 'node:crypto';
import { type Diagnostic, problem } from '../errors.ts';
import type { SourceText } from '../model.ts';
import { type PathFault, readSmallFile } from '../util/paths.ts';
import { decodeUtf8 } from './decode.ts';

/** How large a template or partial may be, in bytes. */
export const MAX_TEMPLATE_BYTES = 64 << 10;

/** How large the HTML of an email may be, in bytes: Gmail cuts off at 102 KB, and MJML is shorter than its HTML. */
export const MAX_HTML_BYTES = 256 << 10;

export interface ReadText {
  readonly source: SourceText;
  /** Of the bytes as they lie on the disk. */
  readonly sha256: string;
}

/**
 * Reads a template file: UTF-8, at most 64 KiB. Lines end with LF afterwards whatever they ended with, because a CR
 * costs a septet in an SMS, and one newline at the end is left out, because editors add it and users do not mean to
 * send it.
 *
 * @param file - the path as the user would name it
 * @param where - where the file is named, for faults of the file as a whole
 * @param mostBytes - how large it may be
 */
export async function readTemplateFile(
  path: string,
  file: string,
  where: Partial<Diagnostic>,
  mostBytes: number = MAX_TEMPLATE_BYTES,
): Promise<ReadText | { readonly problem: Diagnostic }> {
  const read = await readSmallFile(path, mostBytes, file);
  if ('fault' in read) return { problem: faultAt(read.fault, where) };
  const decoded = decodeUtf8(read.bytes, file);
  if ('problem' in decoded) return decoded;
  const source = { text: trimText(decoded.text), file, line: 1, column: 1 };
  return { source, sha256: hash('sha256', read.bytes, 'hex') };
}

/** LF for CRLF and CR, without one newline at the end. */
export function trimText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\n$/, '');
}

/** What is wrong with a path, at the place where the path is written. */
export function faultAt(fault: PathFault, where: Partial<Diagnostic>): Diagnostic {
  const { code, message, hint } = fault;
  return problem(code, message, { ...where, ...(hint === undefined ? {} : { hint }) });
}
