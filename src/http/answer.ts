import type { Attempt, AttemptError } from '../model.ts';
import { type CompiledWire, find } from './pointers.ts';

/** What the body of a 2xx turns out to be. */
export type Answer =
  | { readonly kind: 'recognised'; readonly messageId: string | null }
  /** A refusal inside a 2xx (`wire.response.failed`). */
  | { readonly kind: 'refused'; readonly messageId: string | null; readonly error: string | null }
  | { readonly kind: 'html' | 'unrecognised'; readonly error: string | null };

/** Most of what an API says that is kept, in bytes of UTF-8. */
export const MAX_ERROR_BYTES = 2 * 1024;
/** An id that is longer is none; the ledger and every report would carry it. */
const MAX_ID_LENGTH = 512;

/**
 * Reads the body of a 2xx: JSON or empty is the API's (D1), plain text as well with `accept: any`, HTML never is (D2).
 * JSON itself proves that it is whole.
 */
export function readAnswer(attempt: Attempt, wire: CompiledWire): Answer {
  if (attempt.error !== null) return { kind: 'unrecognised', error: describe(attempt.error) };
  const document = parse(attempt.body);
  if (document === undefined) {
    if (looksLikeHtml(attempt)) return { kind: 'html', error: cut(wire.redact(attempt.body)) };
    const plain = attempt.body.trim() === '' || wire.response.accept === 'any';
    if (plain && !wire.response.messageIdRequired) return { kind: 'recognised', messageId: null };
    return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
  }
  const id = idOf(document, attempt.body, wire);
  // S7: an API that answers with what it was sent could have the key in its id.
  const messageId = id === null ? null : wire.redact(id);
  if (wire.pointers.failed.length > 0 && find(document, wire.pointers.failed, isSomething) !== undefined) {
    return { kind: 'refused', messageId, error: textOf(document, attempt.body, wire) };
  }
  if (messageId === null && wire.response.messageIdRequired) {
    return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
  }
  return { kind: 'recognised', messageId };
}

/** What an answer says about itself: the text at the error pointers, else its beginning, else the error of the library. */
export function errorText(attempt: Attempt, wire: CompiledWire): string | null {
  const document = parse(attempt.body);
  const text = document === undefined ? cut(wire.redact(attempt.body)) : textOf(document, attempt.body, wire);
  return text ?? (attempt.error === null ? null : describe(attempt.error));
}

/** The error of a library as one line: `ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:4010`. */
export function describe(error: AttemptError): string | null {
  return cut(`${error.code}: ${error.message}`);
}

/** The JSON document, or undefined: JSON has no such value. */
function parse(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body.charCodeAt(0) === BYTE_ORDER_MARK ? body.slice(1) : body) as unknown;
  } catch {
    return undefined;
  }
}

function idOf(document: unknown, body: string, wire: CompiledWire): string | null {
  const id = find(document, wire.pointers.messageId, isId);
  if (typeof id === 'string') return id;
  if (typeof id !== 'number') return null;
  if (Number.isSafeInteger(id)) return String(id);
  // Digits that a double cannot hold: taken from the text, or the id would be another one.
  const exact = find(parseDigits(body), wire.pointers.messageId, isId);
  return typeof exact === 'string' ? exact : String(id);
}

/** The document with long numbers as the strings that they were written as. */
function parseDigits(body: string): unknown {
  return parse(body.replace(STRING_OR_LONG_NUMBER, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}

function textOf(document: unknown, body: string, wire: CompiledWire): string | null {
  const found = find(document, wire.pointers.error, isSomething);
  if (found === undefined) return cut(wire.redact(body));
  return cut(wire.redact(typeof found === 'string' ? found : JSON.stringify(found)));
}

function isId(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH);
}

/** Present, and not one of the ways to say "nothing": null, false, 0, and whatever is empty. */
function isSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    for (const _ in value) return true;
    return false;
  }
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

function looksLikeHtml(attempt: Attempt): boolean {
  const typed = attempt.contentType !== null && HTML_TYPE.test(attempt.contentType);
  return (typed && attempt.body.trim() !== '') || HTML_BODY.test(attempt.body);
}

/** At most 2 KiB of it, never a half character; null for nothing. */
export function cut(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  // A UTF-16 unit is at most three bytes.
  if (trimmed.length * 3 <= MAX_ERROR_BYTES) return trimmed;
  const { read } = new TextEncoder().encodeInto(trimmed, new Uint8Array(MAX_ERROR_BYTES));
  return trimmed.slice(0, read);
}

const BYTE_ORDER_MARK = 0xfeff;
const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml)/i;
const HTML_BODY = /^\ufeff?\s*(?:<!--|<!doctype\s+html|<html|<head|<body)/i;
const STRING_OR_LONG_NUMBER = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]{15,}/g;
