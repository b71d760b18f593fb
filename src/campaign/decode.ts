import { type Diagnostic, problem } from '../errors.ts';

/**
 * Decodes UTF-8 and refuses what is not, because a decoder that is not told to would put U+FFFD into messages without a
 * word. A byte order mark at the beginning is left out.
 */
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

/** The first line that does not decode: no character of UTF-8 holds the byte of a newline, so lines can be judged alone. */
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
