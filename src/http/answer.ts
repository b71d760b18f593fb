import { CODE_PLACES, UNSUPPORTED_CODES } from '../model/answer-words.ts';
import type { Attempt, AttemptError, Wire } from '../model.ts';
import { compileRules, holds } from '../providers/rules.ts';
import {
  find,
  fold,
  follow,
  isIndex,
  type Pointer,
  parseDigits,
  parseExactly,
  parseJson,
  parsePointer,
} from '../util/json.ts';
import { trimEnds } from '../util/trim.ts';
import {
  type Denial,
  denialOfStatus,
  deniesInText,
  mayHoldId,
  type ReadingOptions,
  type Statements,
  statementsOf,
  statementsOfEntry,
} from './denial.ts';

export type CompiledWire = ReturnType<typeof compilePointers>;

/** @param redact - takes secrets out of texts of the API before they are cut: a cut key would not be recognised */
export function compilePointers(wire: Wire, redact: (text: string) => string = (text) => text) {
  const { response } = wire;
  const messageId = response.messageId.map(parsePointer);
  const failed = response.failed.map(parsePointer);
  const lists = response.recipients.map(parsePointer);
  // `/messages/0/id` leads into `/messages`.
  const isOfRequest = (pointer: Pointer): boolean =>
    !lists.some((list) => isIndex(pointer[list.length] ?? '') && list.every((name, i) => name === pointer[i]));
  return {
    ...wire,
    pointers: {
      messageId,
      error: response.error.map(parsePointer),
      failed,
      /** Those pointers that do not lead into an entry: a statement about one recipient is not about all. */
      ofRequest: { messageId: messageId.filter(isOfRequest), failed: failed.filter(isOfRequest) },
      lists,
      refusedLists: response.refusedRecipients.map(parsePointer),
      entry: {
        address: response.recipientAddress.map(parsePointer),
        id: response.recipientId.map(parsePointer),
        failed: response.recipientFailed.map(parsePointer),
        error: response.recipientError.map(parsePointer),
        status: response.recipientStatus.at.map(parsePointer),
      },
    },
    /** First match first. */
    rules: compileRules(wire.answers),
    refusedWords: new Set(response.recipientStatus.refused.map(fold)) as ReadonlySet<string>,
    acceptedWords: new Set(response.recipientStatus.accepted.map(fold)) as ReadonlySet<string>,
    redact,
  };
}

/** The body as JSON, undefined if it is not. Ids of several recipients are read here, with all of their digits. */
export function parseAnswer({ body }: Attempt, recipients: readonly Addressee[]): unknown {
  return recipients.length > 1 ? parseExactly(body) : parseJson(body);
}

export type Answer =
  | { readonly kind: 'recognised'; readonly messageId: string | null }
  /** The recipient was refused: the answer refuses it by name (failures.md, D1a), or `wire.response.failed` does. */
  | (Refusal & { readonly kind: 'refused'; readonly messageId: string | null })
  /** A refusal that does not name the recipient; with `isAccount`, the key or the account is refused. */
  | (Denied & { readonly kind: 'denied' })
  | { readonly kind: 'html' | 'unrecognised'; readonly error: string | null };

export interface Denied {
  readonly isAccount: boolean;
  readonly messageId: string | null;
  readonly error: string | null;
  /** For example `/status is "error"`. */
  readonly field: string;
}

export interface Refusal {
  readonly error: string | null;
  /** The recipient cannot receive the channel (`UNSUPPORTED_CODES`). */
  readonly unsupported: boolean;
}

/** Kept of a text of the API, in bytes of UTF-8. */
const MAX_ERROR_BYTES = 2 * 1024;
/** Longer ids are ignored: the ledger and every report would carry them. */
const MAX_ID_LENGTH = 512;

/**
 * Reads the body of a 2xx to a request with one recipient. JSON or an empty body comes from the API, and so does plain
 * text with `accept: any` (failures.md, D1). HTML never does (failures.md, D2). Valid JSON is complete. A refusal in it
 * lowers the outcome (failures.md, D1a).
 * @param document - the body as JSON; undefined if it is not
 */
export function readAnswer(
  attempt: Attempt,
  document: unknown,
  wire: CompiledWire,
  recipients: readonly Addressee[],
): Answer {
  const unread = readDocument(attempt, document, wire);
  if (unread !== null) return unread;
  const id = idOf(document, attempt, wire);
  // An API that echoes the request could have the API key in its message id; the ledger must never hold the key.
  const messageId = id === null ? null : wire.redact(id);
  if (wire.pointers.failed.length > 0 && find(document, wire.pointers.failed, isSomething) !== undefined) {
    return { kind: 'refused', messageId, ...refusalOf(document, attempt.body, wire) };
  }
  const found = statementsOfOne(document, attempt.body, wire);
  if (found.denial !== null) {
    const { entry, denial } = found;
    const refusal = entry === undefined ? refusalOf(document, attempt.body, wire) : entryRefusal(entry, wire);
    const isAlone = found.taken === null && denial.kind !== 'number';
    const isOwn = entry !== undefined && names(entry, recipients, wire);
    if (isAlone && (isOwn || denial.kind === 'recipient' || refusal.unsupported)) {
      return { kind: 'refused', messageId, ...refusal };
    }
    const isAccount = isAboutAccount(document, found) && messageId === null;
    return { kind: 'denied', isAccount, messageId, error: refusal.error, field: fieldOf(denial, wire) };
  }
  if (messageId === null && wire.response.messageIdRequired) {
    return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
  }
  return { kind: 'recognised', messageId };
}

/** Statements of an answer to one recipient, with its lists: every entry is about the recipient. */
export function statementsOfOne(document: unknown, body: string, wire: CompiledWire): Statements {
  const options = readingOptions(document, wire);
  // Most answers hold no list.
  if (!body.includes('[')) return statementsOf(document, options);
  const lists = entryListsOf(document, wire);
  const refusals = listsAt(document, wire.pointers.refusedLists);
  const found = statementsOf(document, { ...options, lists: new Set(lists), refusals: new Set(refusals) });
  for (const entry of lists.flat()) {
    const own = denialAtPlaces(entry, wire, options);
    if (own === null || found.denial?.kind === 'recipient') continue;
    found.denial = own;
    found.entry = entry;
  }
  return found;
}

/** Statements of an answer to several recipients as a whole, without its lists. */
export function statementsOfRequest(document: unknown, wire: CompiledWire, lists: readonly unknown[]): Statements {
  return statementsOf(document, { ...readingOptions(document, wire), skip: new Set(lists) });
}

function readingOptions(document: unknown, { acceptedWords, refusedWords, pointers }: CompiledWire): ReadingOptions {
  let holds: boolean | null = null;
  // The id of the request is in every answer, also in refusals.
  const isMessageId = (place: Pointer): boolean =>
    !fold(place.at(-1) ?? '').startsWith('request') && isId(follow(document, place));
  return {
    acceptedWords,
    refusedWords,
    hasId() {
      holds ??= mayHoldId(document) || pointers.messageId.some(isMessageId);
      return holds;
    },
  };
}

/** Whether the code of a whole answer refuses the key or the account, and nothing in it reports success. */
export function isAboutAccount(document: unknown, { denial, entry, success, taken }: Statements): boolean {
  if (denial?.kind !== 'account' || entry !== undefined) return false;
  return success === null && taken === null && !mayHoldId(document);
}

/** `/status is "error"`. Only short values are quoted, which hold no address and no text. */
export function fieldOf({ at, value }: Denial, wire: CompiledWire): string {
  const place = at === '' ? 'the whole of it' : `\`${wire.redact(at)}\``;
  if (Array.isArray(value) && value.length === 0) return `${place} is an empty list`;
  const isShort = typeof value !== 'object' && QUOTABLE.test(String(value));
  return isShort ? `${place} is ${JSON.stringify(value)}` : `${place} is there`;
}

const QUOTABLE = /^(?!.*[0-9]{6})[\p{L}\p{N}_. -]{1,40}$/u;

/** Null if the whole body of a 2xx is JSON, which has to be read; else whether the answer counts as the API's. */
export function readDocument(attempt: Attempt, document: unknown, wire: CompiledWire): Answer | null {
  if (attempt.error !== null) return { kind: 'unrecognised', error: describe(attempt.error) };
  if (document !== undefined) return null;
  if (looksLikeHtml(attempt)) return { kind: 'html', error: cut(wire.redact(attempt.body)) };
  const plain = attempt.body.trim() === '' || wire.response.accept === 'any';
  if (plain && deniesInText(attempt.body, readingOptions(undefined, wire))) {
    const error = cut(wire.redact(attempt.body));
    return { kind: 'denied', isAccount: false, messageId: null, error, field: 'its text is a refusal' };
  }
  const id = plain ? headerIdOf(attempt, wire) : null;
  if (plain && (id !== null || !wire.response.messageIdRequired)) return { kind: 'recognised', messageId: id };
  return { kind: 'unrecognised', error: cut(wire.redact(attempt.body)) };
}

/**
 * The reason in an answer other than 2xx: the text at the error pointers, else the beginning of the body, else the
 * error of the library. A code in the body means that the recipient cannot receive the channel.
 */
export function readRefusal(attempt: Attempt, document: unknown, wire: CompiledWire): Refusal {
  const own = attempt.error === null ? null : describe(attempt.error);
  const { error, unsupported } = refusalOf(document, attempt.body, wire);
  return { error: error ?? own, unsupported };
}

export function refusalOf(document: unknown, body: string, wire: CompiledWire): Refusal {
  const error = textAt(document, wire.pointers.error, wire) ?? cut(wire.redact(body));
  return { error, unsupported: saysUnsupported(document) };
}

/** The refusal of the recipient of an entry. */
export function entryRefusal(entry: unknown, wire: CompiledWire): Refusal {
  const error = textAt(entry, wire.pointers.entry.error, wire) ?? cut(wire.redact(jsonOf(entry) ?? ''));
  return { error, unsupported: saysUnsupported(entry) };
}

/** As one line: `ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:4010`. */
export function describe(error: AttemptError): string | null {
  return cut(`${error.code}: ${error.message}`);
}

/** The id of a recipient's message: in its entry, else in the answer, but for the entry of another recipient. */
export function messageIdIn(
  document: unknown,
  entry: unknown,
  attempt: Attempt,
  wire: CompiledWire,
  isShared: boolean,
): string | null {
  const own = entry === undefined ? null : idIn(entry, wire.pointers.entry.id, wire);
  if (own !== null) return own;
  const id = idOf(document, attempt, wire, isShared ? wire.pointers.ofRequest.messageId : wire.pointers.messageId);
  return id === null ? null : wire.redact(id);
}

function idOf(
  document: unknown,
  attempt: Attempt,
  wire: CompiledWire,
  places: readonly Pointer[] = wire.pointers.messageId,
): string | null {
  const id = find(document, places, isId);
  if (typeof id === 'string') return trimEnds(id, wire.response.trimId);
  if (typeof id !== 'number') return headerIdOf(attempt, wire);
  if (Number.isSafeInteger(id)) return String(id);
  // Digits that a double cannot hold: read from the text, or the id would be another one.
  const exact = find(parseDigits(attempt.body), places, isId);
  return typeof exact === 'string' ? exact : String(id);
}

/** The id of the whole answer where a header has it. */
export function headerIdOf({ headerId = null }: Attempt, wire: CompiledWire): string | null {
  return isId(headerId) ? wire.redact(trimEnds(String(headerId), wire.response.trimId)) : null;
}

function textAt(document: unknown, pointers: readonly Pointer[], wire: CompiledWire): string | null {
  const found = find(document, pointers, isSomething);
  if (found === undefined) return null;
  const text = typeof found === 'string' ? found : jsonOf(found);
  return text === null ? null : cut(wire.redact(text));
}

/** Null if nested more deeply than JSON.stringify follows: some ten thousand levels, which JSON.parse takes. */
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
  return id === undefined ? null : wire.redact(trimEnds(String(id), wire.response.trimId));
}

function isId(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value.length <= MAX_ID_LENGTH);
}

export function looksLikeHtml(attempt: Attempt): boolean {
  const typed = attempt.contentType !== null && HTML_TYPE.test(attempt.contentType);
  return (typed && attempt.body.trim() !== '') || HTML_BODY.test(attempt.body);
}

/** At most 2 KiB, never half a character; null for nothing. */
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

/** Lists that hold an entry for each recipient. */
export function listsAt(document: unknown, pointers: readonly Pointer[]): readonly (readonly unknown[])[] {
  const lists: (readonly unknown[])[] = [];
  for (const pointer of pointers) {
    const value = follow(document, pointer);
    if (Array.isArray(value)) lists.push(value as readonly unknown[]);
  }
  return lists;
}

/** Lists of entries: those at the places of the project, and the document itself if it is a list. */
export function entryListsOf(document: unknown, wire: CompiledWire): readonly (readonly unknown[])[] {
  return Array.isArray(document) ? [document as readonly unknown[]] : listsAt(document, wire.pointers.lists);
}

/** Why an entry about one of several recipients is no acceptance. */
export function denialOfEntry(entry: unknown, wire: CompiledWire, hasId: boolean): Denial | null {
  const { acceptedWords, refusedWords } = wire;
  const options = { acceptedWords, refusedWords, hasId: (): boolean => hasId || mayHoldId(entry) };
  return denialAtPlaces(entry, wire, options) ?? statementsOfEntry(entry, options).denial;
}

function denialAtPlaces(entry: unknown, { pointers }: CompiledWire, options: ReadingOptions): Denial | null {
  const { failed, status } = pointers.entry;
  for (const place of failed) {
    const value = follow(entry, place);
    if (isSomething(value)) return { at: `/${place.join('/')}`, value, kind: 'recipient' };
  }
  for (const place of status) {
    const denial = denialOfStatus(follow(entry, place), `/${place.join('/')}`, options);
    if (denial !== null) return denial;
  }
  return null;
}

/** Whether a code means that the recipient cannot receive the channel. */
function saysUnsupported(document: unknown): boolean {
  return PLACES_OF_CODES.some((place) => {
    const value = follow(document, place);
    return typeof value === 'string' && holds(UNSUPPORTED, value);
  });
}

const PLACES_OF_CODES = CODE_PLACES.map(parsePointer);
const UNSUPPORTED: ReadonlySet<string> = new Set(UNSUPPORTED_CODES);

/** Not one of the values for "nothing": null, false, 0, or empty. */
export function isSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    for (const _ in value) return true;
    return false;
  }
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

export interface Addressee {
  /** An E.164 number with `+`, an email address, or the id of a contact. */
  readonly to: string;
  readonly reference: string;
}

export type Directory = ReturnType<typeof createDirectory>;

/** How deep a reference may be inside an entry: in `recipient.metaData.handbill` it is three deep. */
const REFERENCE_DEPTH = 5;

/**
 * Indexes the recipients of a request. APIs repeat numbers without `+`, with `00`, with spaces or as JSON numbers, and
 * email addresses in lower case. Ids of contacts are compared unchanged, because `0012` and `12` are two people.
 */
export function createDirectory(recipients: readonly Addressee[], wire: CompiledWire) {
  const references = new Map(recipients.map(({ reference }, position) => [reference, position]));
  const index = Map.groupBy(recipients.keys(), (position) => keyOf(recipients[position]?.to ?? ''));
  // Two addresses that differ only by letter case look the same if the API has lower-cased them.
  const lowerCased = new Map<string, string | null>();
  for (const { to } of recipients) {
    const lower = to.toLowerCase();
    const isFirst = !lowerCased.has(lower) || lowerCased.get(lower) === keyOf(to);
    lowerCased.set(lower, isFirst ? keyOf(to) : null);
  }
  const byText = (text: string): readonly number[] => {
    const found = index.get(text) ?? index.get(writtenKeyOf(text));
    if (found !== undefined || !text.includes('@')) return found ?? [];
    return index.get(lowerCased.get(text.toLowerCase()) ?? '') ?? [];
  };
  return {
    /** By a reference anywhere in the entry. */
    byReference: (entry: unknown) => referenceIn(entry, references, REFERENCE_DEPTH),
    /** Several if recipients share the address, none if no recipient has it. */
    byAddress(entry: unknown): readonly number[] {
      for (const address of addressesIn(entry, wire)) {
        const found = byText(address.trim().replace(SCHEME, ''));
        if (found.length > 0) return found;
      }
      return [];
    },
    /** All recipients with the address of this one, itself included; rarely more than one. */
    sharing: (position: number): readonly number[] => index.get(keyOf(recipients[position]?.to ?? '')) ?? [],
  };
}

/** Whether an entry names a recipient, of this request or not: then its position in the list does not count. */
export function namesRecipient(entry: unknown, wire: CompiledWire): boolean {
  if (typeof entry === 'object') return addressesIn(entry, wire).length > 0;
  return NUMBER.test(String(entry)) || String(entry).includes('@');
}

/** Whether an address of an answer may be the recipient's. Case, spaces and a scheme do not count. */
export function isSameAddress(text: string, to: string): boolean {
  const written = text.trim().replace(SCHEME, '');
  return written === to || writtenKeyOf(written).toLowerCase() === to.toLowerCase() || isSameNumber(written, to);
}

/**
 * Whether an address of an answer is certainly another one. Only the last digits of numbers are compared: APIs repeat
 * them without a country code, or with the digits that some countries put behind it for mobile phones.
 */
export function isOtherAddress(text: string, to: string): boolean {
  const written = text.trim().replace(SCHEME, '');
  if (to.includes('@') !== written.includes('@')) return false;
  if (to.includes('@')) return EMAIL.test(written) && written.toLowerCase() !== to.toLowerCase();
  if (!NUMBER.test(written) || !to.startsWith('+')) return false;
  return digitsOf(written).length >= LAST_DIGITS && !isSameNumber(written, to);
}

function isSameNumber(text: string, to: string): boolean {
  const digits = NUMBER.test(text) && to.startsWith('+') ? digitsOf(text) : '';
  return digits.length >= LAST_DIGITS && digits.slice(-LAST_DIGITS) === to.slice(-LAST_DIGITS);
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, '');
}

const LAST_DIGITS = 7;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Values of an entry where an address is expected. An entry that is a text or a number is itself an address. */
export function addressesIn(entry: unknown, wire: CompiledWire): readonly string[] {
  const found = typeof entry === 'object' ? wire.pointers.entry.address.map((p) => follow(entry, p)) : [entry];
  return found.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
}

function referenceIn(value: unknown, references: ReadonlyMap<string, number>, depth: number): number | null {
  if (typeof value === 'string') return references.get(value) ?? null;
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  for (const inner of Object.values(value)) {
    const found = referenceIn(inner, references, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function keyOf(to: string): string {
  return to.includes('@') ? lowerDomain(to) : to;
}

/** The same key from an address as an API may write it. */
function writtenKeyOf(text: string): string {
  if (text.includes('@')) return lowerDomain(text);
  return NUMBER.test(text) ? `+${text.replace(/[^0-9]/g, '').replace(/^00/, '')}` : text;
}

function lowerDomain(email: string): string {
  const at = email.lastIndexOf('@');
  return email.slice(0, at) + email.slice(at).toLowerCase();
}

/** A telephone number in one of the usual notations. `(0)` inside is not accepted: whether it counts is a guess. */
const NUMBER = /^\+?[0-9](?!.*\(0\))[0-9 ().\u00a0-]{4,}$/;
/** `tel:+44...`, `mailto:ann@example.com`, and the names of channels that some APIs put in front. */
const SCHEME = /^[a-z][a-z-]{0,15}:/i;

export function names(entry: unknown, recipients: readonly Addressee[], wire: CompiledWire): boolean {
  const directory = createDirectory(recipients, wire);
  if (directory.byReference(entry) !== null || directory.byAddress(entry).length > 0) return true;
  // With one recipient a number is compared by its last digits: see `isSameAddress`.
  return addressesIn(entry, wire).some((text) => recipients.some(({ to }) => isSameAddress(text, to)));
}
