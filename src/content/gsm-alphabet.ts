/**
 * The GSM 7-bit default alphabet and its extension table (3GPP TS 23.038, sections 6.2.1 and 6.2.1.1), in the order
 * of their codes. Position 0x1B is the escape to the extension table and stands for no character of its own.
 * Position 0x09 is the capital C with cedilla, as the current standard has it; old maps give the small one.
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

/**
 * Septets that a UTF-16 unit takes in GSM-7: 1, 2 (escape and character), or 0 for what is not in the tables.
 * Only units up to `LAST_GSM_UNIT` may be looked up. 8 KiB, so that counting is one load per character.
 */
export const SEPTETS: Uint8Array = septetTable();

function septetTable(): Uint8Array {
  const table = new Uint8Array(LAST_GSM_UNIT + 1);
  for (let i = 0; i < BASIC.length; i++) if (i !== ESCAPE) table[BASIC.charCodeAt(i)] = 1;
  for (let i = 0; i < EXTENSION.length; i++) table[EXTENSION.charCodeAt(i)] = 2;
  return table;
}

/** Every character that GSM-7 can carry, as one string: for tests and for tables in the documentation. */
export const GSM_CHARACTERS: string = BASIC.replace('\u001b', '') + EXTENSION;
