import type { Attempt, AttemptError, Wire } from '../model.ts';
import { find, fold, follow, isIndex, type Pointer, parseDigits, parseJson, parsePointer } from '../util/json.ts';

/** The wire settings with their pointers taken apart, made once for a run. */
export interface CompiledWire extends Wire {
  readonly pointers: {
    readonly messageId: readonly Pointer[];
    readonly error: readonly Pointer[];
    readonly failed: readonly Pointer[];
    /** Of the two above, those that do not lead into an entry: what is said of one recipient is not said of all. */
    readonly ofRequest: { readonly messageId: readonly Pointer[]; readonly failed: readonly Pointer[] };
    readonly lists: readonly Pointer[];
    readonly refusedLists: readonly Pointer[];
    readonly code: readonly Pointer[];
    /** Inside an entry of a list. */
    readonly entry: {
      readonly address: readonly Pointer[];
      readonly id: readonly Pointer[];
      readonly failed: readonly Pointer[];
      readonly error: readonly Pointer[];
      readonly status: readonly Pointer[];
    };
  };
  /** `unsupportedChannel.codes`, folded. */
  readonly unsupportedCodes: ReadonlySet<string>;
  /** `response.recipientStatus.refused`, folded. */
  readonly refusedWords: ReadonlySet<string>;
  /** Takes secrets out of what the API says, before it is cut to length: a cut key would pass unseen afterwards. */
  readonly redact: (text: string) => string;
}

/** @param redact see `CompiledWire`; default: nothing is taken out */
export function compilePointers(wire: Wire, redact: (text: string) => string = (text) => text): CompiledWire {
  const { response, unsupportedChannel } = wire;
  const messageId = response.messageId.map(parsePointer);
  const failed = response.failed.map(parsePointer);
  const lists = response.recipients.map(parsePointer);
  const isOfRequest = (pointer: Pointer): boolean => !lists.some((list) => leadsInto(list, pointer));
  return {
    ...wire,
    pointers: {
      messageId,
      error: response.error.map(parsePointer),
      failed,
      ofRequest: { messageId: messageId.filter(isOfRequest), failed: failed.filter(isOfRequest) },
      lists,
      refusedLists: response.refusedRecipients.map(parsePointer),
      code: unsupportedChannel.codeAt.map(parsePointer),
      entry: {
        address: response.recipientAddress.map(parsePointer),
        id: response.recipientId.map(parsePointer),
        failed: response.recipientFailed.map(parsePointer),
        error: response.recipientError.map(parsePointer),
        status: response.recipientStatus.at.map(parsePointer),
      },
    },
    unsupportedCodes: new Set(unsupportedChannel.codes.map(fold)),
    refusedWords: new Set(response.recipientStatus.refused.map(fold)),
    redact,
  };
}

/** Does a pointer lead into an entry of the list, as `/messages/0/id` does with `/messages`? */
function leadsInto(list: Pointer, pointer: Pointer): boolean {
  return isIndex(pointer[list.length] ?? '') && list.every((name, i) => name === pointer[i]);
}

/** What the body of a 2xx turns out to be. */
export type Answer =
  | { readonly kind: 'recognised'; readonly messageId: string | null }
  /** A refusal inside a 2xx (`wire.response.failed`, or the only entry of a list). */
  | (Refusal & { readonly kind: 'refused'; readonly messageId: string | null })
  | { readonly kind: 'html' | 'unrecognised'; readonly error: string | null };

/** What an answer says of a refusal. */
export interface Refusal {
  readonly error: string | null;
  /** It says that the recipient cannot receive the channel (`wire.unsupportedChannel.codes`). */
  readonly unsupported: boolean;
}

/** Most of what an API says that is kept, in bytes of UTF-8. */
const MAX_ERROR_BYTES = 2 * 1024;
/** Longer ids are ignored: the ledger and every report would carry them. */
const MAX_ID_LENGTH = 512;

/**
 * Reads the body of a 2xx to a request with one recipient. JSON or an empty body comes from the API, and so does plain
 * text with `accept: any` (failures.md, D1). HTML never does (failures.md, D2). Valid JSON is complete.
 */
export function readAnswer(attempt: Attempt, wire: CompiledWire): Answer {
  const read = readDocument(attempt, wire);
  if ('kind' in read) return read;
  const { document } = read;
  const id = idOf(document, attempt.body, wire);
  // An API that echoes the request could have the API key in its message id; the ledger must never hold the key.
  const messageId = id === null ? null : wire.redact(id);
  if (wire.pointers.failed.length > 0 && find(document, wire.pointers.failed, isSomething) !== undefined) {
    return { kind: 'refused', messageId, ...refusalOf(document, attempt.body, wire) };
  }
  // Most answers hold no list at all: 0.3 us instead of 1.0 us for each.
  const only = attempt.body.includes('[') ? onlyEntry(document, wire) : null;
  if (only?.said === 'refused') return { kind: 'refused', messageId, ...entryRefusal(only.entry, wire) };
  if (only?.said === 'unclear') return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
  if (messageId === null && wire.response.messageIdRequired) {
    return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
  }
  return { kind: 'recognised', messageId };
}

/**
 * The JSON of a 2xx. If the body is not JSON: whether the answer counts as the API's without it.
 *
 * @param reader - parses the body, and returns undefined if it is not JSON
 */
export function readDocument(
  attempt: Attempt,
  wire: CompiledWire,
  reader: (body: string) => unknown = parseJson,
): { readonly document: unknown } | Answer {
  if (attempt.error !== null) return { kind: 'unrecognised', error: describe(attempt.error) };
  const document = reader(attempt.body);
  if (document !== undefined) return { document };
  if (looksLikeHtml(attempt)) return { kind: 'html', error: cut(wire.redact(attempt.body)) };
  const plain = attempt.body.trim() === '' || wire.response.accept === 'any';
  if (plain && !wire.response.messageIdRequired) return { kind: 'recognised', messageId: null };
  return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
}

/**
 * The reason that an answer other than 2xx gives: the text at the error pointers, else the beginning of the body, else
 * the error of the library. A code in the body, or a status that the project lists, says that the recipient cannot
 * receive the channel. The 404 page of a web server says nothing about recipients.
 */
export function readRefusal(attempt: Attempt, wire: CompiledWire): Refusal {
  const document = parseJson(attempt.body);
  const own = attempt.error === null ? null : describe(attempt.error);
  const byStatus = attempt.status !== null && wire.unsupportedChannel.statuses.includes(attempt.status);
  if (document === undefined) {
    return { error: cut(wire.redact(attempt.body)) ?? own, unsupported: byStatus && !looksLikeHtml(attempt) };
  }
  const { error, unsupported } = refusalOf(document, attempt.body, wire);
  return { error: error ?? own, unsupported: unsupported || byStatus };
}

/** What a whole answer says of a refusal. */
export function refusalOf(document: unknown, body: string, wire: CompiledWire): Refusal {
  const error = textAt(document, wire.pointers.error, wire) ?? cut(wire.redact(body));
  return { error, unsupported: saysUnsupported(document, wire) };
}

/** What an entry says of the refusal of its recipient. */
export function entryRefusal(entry: unknown, wire: CompiledWire): Refusal {
  const error = textAt(entry, wire.pointers.entry.error, wire) ?? cut(wire.redact(jsonOf(entry) ?? ''));
  return { error, unsupported: saysUnsupported(entry, wire) };
}

/** The error of a library as one line: `ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:4010`. */
export function describe(error: AttemptError): string | null {
  return cut(`${error.code}: ${error.message}`);
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

/** The first value that one of the pointers finds, as text. */
function textAt(document: unknown, pointers: readonly Pointer[], wire: CompiledWire): string | null {
  const found = find(document, pointers, isSomething);
  if (found === undefined) return null;
  const text = typeof found === 'string' ? found : jsonOf(found);
  return text === null ? null : cut(wire.redact(text));
}

/** Null for what is nested more deeply than JSON.stringify follows: some ten thousand levels, which JSON.parse takes. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/** The id at the first pointer that has one, in a document of `parseExactly`. */
export function idIn(document: unknown, pointers: readonly Pointer[], wire: CompiledWire): string | null {
  const id = find(document, pointers, isId);
  return id === undefined ? null : wire.redact(String(id));
}

function isId(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH);
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

const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml)/i;
const HTML_BODY = /^\ufeff?\s*(?:<!--|<!doctype\s+html|<html|<head|<body)/i;

/** What an entry of an answer says of its recipient. */
type Said = 'taken' | 'refused' | 'unclear';

/** The lists of an answer that hold an entry for each recipient. */
export function listsAt(document: unknown, pointers: readonly Pointer[]): readonly (readonly unknown[])[] {
  const lists: (readonly unknown[])[] = [];
  for (const pointer of pointers) {
    const value = follow(document, pointer);
    if (Array.isArray(value)) lists.push(value as readonly unknown[]);
  }
  return lists;
}

/**
 * A recipient with an entry was accepted, unless the entry holds an error or a word for a refusal. An entry with a
 * number that looks like an HTTP status of 4xx or 5xx is neither accepted nor refused: some APIs refuse with such a
 * number, and 5xx never proves that nothing was done.
 */
export function saidOf(entry: unknown, wire: CompiledWire): Said {
  const { failed, status } = wire.pointers.entry;
  if (find(entry, failed, isSomething) !== undefined) return 'refused';
  let said: Said = 'taken';
  for (const pointer of status) {
    const value = follow(entry, pointer);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    if (wire.refusedWords.has(fold(String(value)))) return 'refused';
    if (Number(value) >= 400 && Number(value) < 600) said = 'unclear';
  }
  return said;
}

/** What the answer to a request with one recipient says of it, where it holds a list with one entry; else null. */
function onlyEntry(document: unknown, wire: CompiledWire): { readonly said: Said; readonly entry: unknown } | null {
  let found: { readonly said: Said; readonly entry: unknown } | null = null;
  for (const [pointers, said] of [
    [wire.pointers.lists, null],
    [wire.pointers.refusedLists, 'refused'],
  ] as const) {
    for (const pointer of pointers) {
      const list = follow(document, pointer);
      if (!Array.isArray(list) || list.length !== 1) continue;
      const entry: unknown = list[0];
      const next = { said: said ?? saidOf(entry, wire), entry };
      // Two lists disagree: one repeats the request beside its result, or the format is unknown.
      found = found === null || found.said === next.said ? next : { said: 'unclear', entry };
    }
  }
  return found;
}

/** Does a value at one of the pointers say that the recipient cannot receive the channel? */
function saysUnsupported(document: unknown, wire: CompiledWire): boolean {
  if (wire.unsupportedCodes.size === 0) return false;
  return wire.pointers.code.some((pointer) => {
    const value = follow(document, pointer);
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    const text = String(value);
    // `type` of problem+json is a URI (RFC 9457): its last name is the code.
    return wire.unsupportedCodes.has(fold(text)) || wire.unsupportedCodes.has(fold(text.replace(/^.*[/#]/s, '')));
  });
}

/** Present, and not one of the ways to say "nothing": null, false, 0, and whatever is empty. */
export function isSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    for (const _ in value) return true;
    return false;
  }
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}
