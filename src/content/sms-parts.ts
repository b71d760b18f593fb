export type CharacterSet = 'auto' | 'gsm' | 'unicode';

export interface SmsFacts {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly parts: number;
  /** Septets for GSM-7, UTF-16 units for UCS-2. */
  readonly units: number;
}

/**
 * The default alphabet and its extension table (3GPP TS 23.038, 6.2.1 and 6.2.1.1), by their codes. 0x1B is the escape to the
 * extension table; 0x09 is the capital C with cedilla, as in the current standard.
 */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅå' +
  'Δ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ' +
  ' !"#¤%&\'()*+,-./' +
  '0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNO' +
  'PQRSTUVWXYZÄÖÑÜ§' +
  '¿abcdefghijklmno' +
  'pqrstuvwxyzäöñüà';

const ESCAPE = 0x1b;
/** Page break, and the characters that need the escape: two septets each. */
const EXTENSION = '\f^{}\\[~]|€';
/** Highest UTF-16 unit in the two tables, the euro sign: beyond it nothing is GSM. */
export const LAST_GSM_UNIT = 0x20ac;
/** 1, 2 (escape and character), or 0 for no GSM-7 character; up to `LAST_GSM_UNIT`. Counting is one load each. */
export const SEPTETS = new Uint8Array(LAST_GSM_UNIT + 1);
for (let i = 0; i < BASIC.length; i++) if (i !== ESCAPE) SEPTETS[BASIC.charCodeAt(i)] = 1;
for (let i = 0; i < EXTENSION.length; i++) SEPTETS[EXTENSION.charCodeAt(i)] = 2;

export const GSM_CHARACTERS: string = BASIC.replace('\u001b', '') + EXTENSION;

/** A part has 140 octets, 6 of them for an 8-bit reference. With a 16-bit reference, joined parts hold 152 and 66. */
export const PART_SIZES = {
  /** `single`: units of a message that fits into one part; `joined`: of each part of a longer one, without the header. */
  'GSM-7': { single: 160, joined: 153 },
  'UCS-2': { single: 70, joined: 67 },
} as const satisfies Readonly<Record<SmsFacts['encoding'], object>>;

/** The header that joins parts has one octet for their number. */
export const MAX_SMS_PARTS = 255;

/** Whether GSM-7 can carry every character of the text. */
export function isGsm(text: string): boolean {
  return gsmSeptets(text) >= 0;
}

/**
 * Counts as networks cut: they never split an escape pair or a surrogate pair. A text without any character is one part.
 * `auto` and `gsm` give GSM-7 if every character allows it, else UCS-2; `unicode` always UCS-2. Call `normaliseText` before.
 * `parts` may exceed `MAX_SMS_PARTS`.
 */
export function smsFacts(text: string, characterSet: CharacterSet): SmsFacts {
  const septets = characterSet === 'unicode' ? -1 : gsmSeptets(text);
  if (septets < 0) {
    const { single, joined } = PART_SIZES['UCS-2'];
    const parts = text.length <= single ? 1 : countParts(text, joined, ucsCut);
    return { encoding: 'UCS-2', parts, units: text.length };
  }
  return { encoding: 'GSM-7', parts: gsmParts(text, septets), units: septets };
}

/** In order; together they are the text. For GSM-7, `isGsm` must be true of the text. */
export function smsParts(text: string, encoding: SmsFacts['encoding']): readonly string[] {
  const { single, joined } = PART_SIZES[encoding];
  const cut = encoding === 'GSM-7' ? gsmCut : ucsCut;
  if (cut(text, 0, single) === text.length) return [text];
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = cut(text, at, joined);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** Septets of the text, or -1 when GSM-7 cannot carry it. */
function gsmSeptets(text: string): number {
  let septets = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > LAST_GSM_UNIT) return -1;
    const width = SEPTETS[unit] ?? 0;
    if (width === 0) return -1;
    septets += width;
  }
  return septets;
}

function gsmParts(text: string, septets: number): number {
  const { single, joined } = PART_SIZES['GSM-7'];
  if (septets <= single) return 1;
  // Without a character of two septets nothing can straddle a part.
  if (septets === text.length) return Math.ceil(septets / joined);
  return countParts(text, joined, gsmCut);
}

function countParts(text: string, size: number, cut: (text: string, from: number, size: number) => number): number {
  let parts = 0;
  for (let at = 0; at < text.length; parts++) at = cut(text, at, size);
  return parts;
}

function gsmCut(text: string, from: number, size: number): number {
  let room = size;
  let at = from;
  for (; at < text.length; at++) {
    room -= (SEPTETS[text.charCodeAt(at)] ?? 1) || 1;
    if (room < 0) break;
  }
  return at;
}

function ucsCut(text: string, from: number, size: number): number {
  const end = from + size;
  if (end >= text.length) return text.length;
  const [before, after] = [text.charCodeAt(end - 1), text.charCodeAt(end)];
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff ? end - 1 : end;
}
