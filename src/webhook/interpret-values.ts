import { MAX_WORD } from './states.ts';

/** Longest id that is kept: the ledger and every report would carry it. */
const MAX_ID = 200;
/** RFC 5321: 64 before the @, 255 after it. */
const MAX_ADDRESS = 320;
const MAX_TEXT = 16_384;
const MAX_ERROR = 500;

/** An id as text; null for what is none. Ids have no control characters and no spaces around them. */
export function idOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text !== null && text.length <= MAX_ID ? text : null;
}

/** An address as it is written. */
export function addressOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text !== null && text.length <= MAX_ADDRESS ? text : null;
}

/** A word for a state or a kind, at most 100 characters of it. */
export function wordOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text === null ? null : cutText(text, MAX_WORD);
}

/** What somebody wrote, the empty text included. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return cutText(value, MAX_TEXT);
  return typeof value === 'number' ? String(value) : null;
}

/** The sentence of an error. */
export function errorOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim();
  return text === '' ? null : cutText(text, MAX_ERROR);
}

/** `0`, `000`, `OK`, `NO_ERROR`: ways to say that there is no error. */
export function isNoError(text: string): boolean {
  return NO_ERROR.test(text);
}

/** Never half a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

function scalarOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return text === '' || CONTROL.test(text) ? null : text;
}

const CONTROL = /\p{Cc}/u;
const NO_ERROR = /^(?:0+|ok|none|no[ _-]?errors?|success(?:ful)?|null|false)\.?$/i;
