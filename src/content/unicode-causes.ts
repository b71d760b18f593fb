import { LAST_GSM_UNIT, SEPTETS } from './gsm-alphabet.ts';

/** A character that GSM-7 does not have, and where it stands first. */
export interface UnicodeCause {
  readonly character: string;
  readonly codePoint: number;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

/**
 * The characters that force a text into UCS-2, each one once with its first place, in the order in which they appear.
 * Lines end at LF, CR or CR LF. Empty for a text that GSM-7 can carry.
 */
export function unicodeCauses(text: string): readonly UnicodeCause[] {
  const causes = new Map<number, UnicodeCause>();
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < text.length; i++) {
    const codePoint = text.codePointAt(i) ?? 0;
    if (!isGsmCodePoint(codePoint) && !causes.has(codePoint)) {
      causes.set(codePoint, { character: String.fromCodePoint(codePoint), codePoint, line, column: i - lineStart + 1 });
    }
    if (codePoint > 0xffff) i++;
    if (codePoint === LF || (codePoint === CR && text.charCodeAt(i + 1) !== LF)) {
      line++;
      lineStart = i + 1;
    }
  }
  return [...causes.values()];
}

function isGsmCodePoint(codePoint: number): boolean {
  return codePoint <= LAST_GSM_UNIT && SEPTETS[codePoint] !== 0;
}

const LF = 0x0a;
const CR = 0x0d;
