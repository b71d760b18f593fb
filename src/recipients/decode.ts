import { isAscii, isUtf8 } from 'node:buffer';
import type { ListEncoding } from '../model.ts';
import { countLines, type Garbled } from './refusals.ts';

/** Bytes that are not text. `before`: the text before them in the same piece. */
export class DecodeFault extends Error {
  readonly kind: 'encoding' | 'nul';
  readonly before: string;

  constructor(kind: 'encoding' | 'nul', before: string) {
    super(kind);
    this.kind = kind;
    this.before = before;
  }
}

export type TextDecoding = ReturnType<typeof createDecoding>;

const BYTE_ORDER_MARKS: readonly (readonly [ListEncoding, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** Finds the encoding: that of a byte order mark, else `wanted`, else UTF-8; and the length of the mark in bytes. */
export function sniffEncoding(bytes: Uint8Array, wanted: ListEncoding | null) {
  for (const [encoding, mark] of BYTE_ORDER_MARKS) {
    if (mark.every((byte, i) => bytes[i] === byte)) return { encoding, skip: mark.length };
  }
  return { encoding: wanted ?? 'utf-8', skip: 0 };
}

/** @throws DecodeFault from `push` and `end`: invalid bytes, or a NUL */
export function createDecoding(encoding: ListEncoding) {
  const read = createReader(encoding);
  let carry: Uint8Array = new Uint8Array(0);

  function push(bytes: Uint8Array): string {
    const all = carry.length === 0 ? bytes : Buffer.concat([carry, bytes]);
    const whole = all.length - unfinished(all, encoding);
    carry = Uint8Array.from(all.subarray(whole)); // a copy: the caller uses its buffer again
    return decode(all.subarray(0, whole));
  }

  function decode(bytes: Uint8Array): string {
    let text: string;
    try {
      text = read(bytes);
    } catch {
      throw new DecodeFault('encoding', validStart(bytes, encoding));
    }
    const nul = text.indexOf('\0');
    if (nul !== -1) throw new DecodeFault('nul', text.slice(0, nul));
    return text;
  }

  return {
    /** The whole characters of these bytes; line ends are as in the file. */
    push,
    /** Text held back until the end of the file. */
    end: (): string => decode(carry),
  };
}

/** UTF-8 and UTF-16 have every character; code pages have those of some languages, and bytes that mean nothing. */
export function isCodePage(encoding: ListEncoding): boolean {
  return !encoding.startsWith('utf-');
}

/**
 * A reader of whole characters. It throws for bytes that the encoding does not define: TextDecoder takes those of code
 * pages for control characters (U+0080 to U+009F).
 */
export function createReader(encoding: ListEncoding): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  if (!isCodePage(encoding)) return (bytes) => decoder.decode(bytes);
  return (bytes) => {
    const text = decoder.decode(bytes);
    if (CONTROLS.test(text)) throw new TypeError('bytes that the code page does not define');
    return text;
  };
}

// A string, because a pattern must not hold control characters.
const CONTROLS = /[\u0080-\u009f]/;

/** Bytes at the end that belong to an incomplete character. */
function unfinished(bytes: Uint8Array, encoding: ListEncoding): number {
  if (encoding === 'utf-8') return unfinishedUtf8(bytes);
  if (isCodePage(encoding)) {
    // In those of East Asia a blank, a comma or a line end is never the second byte of a character.
    const isEnd = (byte: number): boolean => byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09;
    const at = ONE_BYTE.test(encoding) ? bytes.length - 1 : bytes.findLastIndex(isEnd);
    // Decodes a text without any at once, to bound memory.
    return at === -1 && bytes.length > MOST_HELD ? 0 : bytes.length - at - 1;
  }
  const odd = bytes.length % 2;
  const high = bytes[bytes.length - odd - (encoding === 'utf-16le' ? 1 : 2)];
  return high !== undefined && high >= 0xd8 && high <= 0xdb ? odd + 2 : odd;
}

const ONE_BYTE = /^(?:windows|iso-8859|koi8|ibm|macintosh|x-mac)/;

const MOST_HELD = 1024 * 1024;

function unfinishedUtf8(bytes: Uint8Array): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined || byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** The text before the first invalid byte. Slow, byte by byte. */
function validStart(bytes: Uint8Array, encoding: ListEncoding): string {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let text = '';
  try {
    for (let i = 0; i < bytes.length; i++) {
      const next = decoder.decode(bytes.subarray(i, i + 1), { stream: true });
      if (isCodePage(encoding) && CONTROLS.test(next)) break;
      text += next;
    }
  } catch {}
  return text;
}

/**
 * UTF-8 text that was read as windows-1252 and saved again, such as Ã© for é. Signs that can follow a word that ends
 * with Ã, as in Portuguese, count only where the word cannot be one.
 */
const FOLLOWING =
  '[\u0080-\u00bf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]';
const GARBLED = new RegExp(
  [
    '\u00c3[\u0080-\u009f\u00a1-\u00a9\u00ac\u00ad\u00af-\u00b2\u00b4-\u00b6\u00b8\u00b9\u00bc-\u00bf\u20ac\u0192\u201e\u2020\u2021\u02c6\u2030\u0160\u0161\u2039\u0152\u0153\u017d\u017e\u0178\u02dc\u00b3]',
    '\u00c3[\u00aa\u00ab\u00ae\u00ba\u00bb](?=\\p{Ll})',
    // No word has this capital after a small letter, and then a sign.
    '(?<=\\p{Ll})\u00c3[\u00a0-\u00bf]',
    '\u00c3[\u2018\u201c](?=\\p{L})',
    '(?<!\\p{L})\u00c3\u2013(?=\\p{L})',
    '\u00c2[\u00a1-\u00a5\u00a9\u00b0\u00b1\u00b4\u00bf]',
    '\u00e2\u20ac.|\u00e2\u201a\u00ac|\u00f0\u0178|\u00ef\u00bf\u00bd|\u00ef\u00bb\u00bf',
    // Letters of Poland, Turkey and Hungary, and two in a row of any other alphabet.
    '[\u00c4\u00c5][\u00a1-\u00a9\u00ac\u00af-\u00b4\u00b6\u00b8\u00b9\u00bc-\u00bf\u0192\u201a\u2020\u2021\u02c6\u2030\u20ac\u02dc\u2122]',
    `(?:[\u00c2-\u00df]${FOLLOWING}){2}|(?:[\u00e0-\u00ef]${FOLLOWING}{2}){2}`,
  ].join('|'),
  'u',
);

/** Letters in an order that no word has, because the text was read in another encoding than it was written in. */
const MISREAD = new RegExp(
  [
    // UTF-8 as windows-1251, windows-1250, Mac Roman and the code pages of DOS.
    '(?:[\u0420\u0421][^\\0-\\x7f\u0410-\u044f]){3}|\u0432\u0402.|(?<=[A-Za-z])[\u0413\u0415\u0414][^\\0-\\x7f\u0410-\u044f]',
    '(?<=[A-Za-z])\u0102(?:[^\\0-\\x7f\\p{Lu}\\p{Z}\\p{Pf}\\p{Pi}\\p{Pd}\u2026]|[^\\0-\\x7f](?=\\p{Ll}))',
    '(?<=[A-Za-z])[\u221a\u2248\u00ac\u0192\u251c\u252c][^\\0-\\x7f]',
    // Cyrillic, Greek, Hebrew and Arabic code pages as windows-1252: a whole word of accented letters.
    '(?<![\\p{L}\\p{N}])(?![\u00d7\u00f7]{4})[\u00c0-\u00ff]{4,}(?![\\p{L}\\p{N}])',
    // KOI8-R and ISO-8859-5 as windows-1251, and the other way round: small letters and capitals change places.
    '(?<![\\p{L}\\p{M}])(?![\u043c\u0442\u0440]\u0420\u041d\u041a)[\u0430-\u045f][\u0401-\u042f]{2,}(?!\\p{Ll})',
    // The Cyrillic code pages of DOS and of the Macintosh.
    '(?<!\\p{L})[\u20ac\u2030\u2020\u2021\u2122](?:[\u0430-\u044f]{2}|[\u0452-\u045f])|[\u0401-\u040f][\u00a0\u00a4\u00a6-\u00a9\u00ab-\u00ae]',
    // Mac Roman as windows-1252, and the other way round: capitals and signs inside of words.
    '\\p{Ll}{2}[\u017d\u0160\u0152\u2030\u02c6\u2021\u00bf](?:\\p{Ll}|(?!\\p{L}))|.?\u0178\\p{Ll}',
    '\\p{L}[\u00a4\u00a6\u00a7\u00ac\u00af\u00b1\u00b6\u00b8\u0192\u02c6\u02dc\u201a\u201e\u2021\u2030\u2039\u203a\u20ac]\\p{Ll}',
    // ISO-8859-2 as windows-1250.
    '(?<!\\p{L})\u00a9\\p{Ll}{2}',
  ].join('|'),
  'u',
);

/** Also in texts that were read as they should be: a brand, a unit, a program that made small letters of ASCII alone. */
const ODD = new RegExp(
  [
    '\\p{L}[\u2020\u2022\u2122\u201d]\\p{Ll}',
    '(?<!\\p{L})(?!I)\\p{Lu}\u2014\\p{Ll}{2,}|\\p{Ll}{2}[\u00c0-\u00c2\u00c4-\u00d4\u00d6-\u00de](?!\\p{Lu})',
    // Code pages of DOS as windows-1252, and windows-1252 as one of these.
    '\\p{L}[\u00b3\u00f7\u00b1]\\p{Ll}{2}',
    // Letters that an encoding did not have. A SUB at the end of a file is none.
    '\\p{L}\u001a(?=\\p{L})',
    '(?<![^\\s|,;"])(?:\\p{Lu}\\p{Ll}*\\?\\p{Ll}+|\\?{4,})(?![^\\s|,;"])',
  ].join('|'),
  'u',
);

/** Replacement characters for unreadable bytes, and controls that no text has: letters are lost. */
const LOST = /[\u0080-\u009f\ufffd]/;

export function garbledIn(text: string): Garbled | null {
  if (isPlain(text)) return null;
  const kinds = { 'utf-8': GARBLED, lost: LOST, misread: MISREAD, odd: ODD } as const;
  for (const kind of ['utf-8', 'lost', 'misread', 'odd'] as const) {
    const found = kinds[kind].exec(text)?.[0];
    if (found !== undefined) return { found, kind };
  }
  return null;
}

/** Nothing but ASCII, and no `?`. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

const PLAIN = /^[\t\n\r\x20-\x3e\x40-\x7e]*$/;

/** Finds a UTF-8 file that is declared to be in a code page, in which nearly every byte is a character. */
export type Utf8Suspicion = ReturnType<typeof createUtf8Suspicion>;

export function createUtf8Suspicion() {
  let isValid = true;
  let isPlain = true;
  let line = 1;
  let endsInCr = false;
  let carry = Buffer.alloc(0);

  function count(block: Buffer): void {
    isPlain = isAscii(block);
    const end = isPlain ? block.length : block.findIndex((byte) => byte >= 0x80);
    const text = block.toString('latin1', 0, end);
    line += countLines(text) - (endsInCr && text.startsWith('\n') ? 1 : 0);
    endsInCr = text.endsWith('\r');
  }

  return {
    add(block: Buffer): void {
      if (!isValid) return;
      if (isPlain) count(block);
      const all = carry.length === 0 ? block : Buffer.concat([carry, block]);
      const whole = all.length - unfinishedUtf8(all);
      isValid = isUtf8(all.subarray(0, whole));
      carry = Buffer.from(all.subarray(whole)); // a copy: the caller uses its buffer again
    },
    /** Line of the first character outside ASCII; null: there is none, or the file is not valid UTF-8. */
    line: (): number | null => (isValid && !isPlain && carry.length === 0 ? line : null),
  };
}
