import { ANSWER_NAMES, ANSWER_WORDS } from '../model/answer-words.ts';
import { fold, isIndex } from '../util/json.ts';

/*
 * How the body of a 2xx refuses (failures.md, D1a). The names and words are closed lists, model/answer-words.ts. Fields
 * with these names count at the top, in envelopes, and in the entries of lists, but not in a repeated request.
 */

export interface Denial {
  /** JSON pointer of the field that refuses. */
  readonly at: string;
  readonly value: unknown;
  /** `recipient`: a listed word for a refusal. `account`: 401, 402 or 403. `number`: another 4xx or 5xx. */
  readonly kind: 'recipient' | 'account' | 'number' | 'other';
}

export interface Statements {
  denial: Denial | null;
  /** Place of a word for success. */
  success: string | null;
  /** Place of an entry without a denial. */
  taken: string | null;
  /** The entry with `denial`; absent: it is about the whole answer. */
  entry?: unknown;
}

export interface ReadingOptions {
  /** The words of the project, folded: `recipientStatus.accepted` and `.refused`. */
  readonly acceptedWords: ReadonlySet<string>;
  readonly refusedWords: ReadonlySet<string>;
  /** Whether the answer has a message id: then an unknown word is a state of the message, and means nothing. */
  readonly hasId: () => boolean;
  /** Lists that other code reads. */
  readonly skip?: ReadonlySet<unknown>;
  /** Lists with only refused recipients. */
  readonly refusals?: ReadonlySet<unknown>;
  /** Lists of entries under unusual names. */
  readonly lists?: ReadonlySet<unknown>;
}

/** Reads an answer. Keeps the most telling denial: of the recipient before the account, and that before others. */
export function statementsOf(document: unknown, options: ReadingOptions): Statements {
  const found: Statements = { denial: null, success: null, taken: null };
  if (Array.isArray(document)) {
    if (document.length === 0) note(found, { at: '', value: document, kind: 'other' });
    else if (options.skip?.has(document) !== true) readList(document, '', 0, options, found);
  } else if (typeof document === 'object' && document !== null) readObject(document, '', 0, options, found);
  else {
    const said = typeof document === 'string' ? judge(document.slice(0, MAX_TEXT), 'text', options) : null;
    const isNo = document === false || (typeof document === 'number' && document < 0);
    if (isNo || said === 'refused' || said === 'no') {
      note(found, { at: '', value: document, kind: said === 'refused' ? 'recipient' : 'other' });
    }
  }
  const texts: Denial[] = [];
  if (found.denial === null && found.success === null && isOnlyTexts(document, '', 0, texts)) {
    for (const text of texts) if (deniesInText(String(text.value), options)) note(found, text);
  }
  return found;
}

export function statementsOfEntry(entry: unknown, options: ReadingOptions): Statements {
  const found: Statements = { denial: null, success: null, taken: null };
  if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) {
    readObject(entry as object, '', 1, options, found);
  }
  return found;
}

/** At a place that the project names. If it names the words for a refusal as well, only these count. */
export function denialOfStatus(value: unknown, at: string, options: ReadingOptions): Denial | null {
  if (value === undefined || typeof value === 'object') return null;
  if (options.refusedWords.size > 0 && !options.refusedWords.has(fold(String(value)))) return null;
  const said = judge(value, 'status', options);
  if (said === null || said === 'yes') return null;
  return { at, value, kind: kindOf(said, value, 'status') };
}

export function deniesInText(text: string, options: ReadingOptions): boolean {
  const said = judge(text.slice(0, MAX_TEXT), 'text', options);
  return said === 'refused' || said === 'no';
}

/** `{ message: 'Insufficient balance' }`: no other field says what became of the message. */
function isOnlyTexts(value: unknown, path: string, depth: number, texts: Denial[]): boolean {
  return Object.entries(value ?? {}).every(([key, inner]: [string, unknown]) => {
    const at = `${path}/${key}`;
    if (typeof inner === 'object' && inner !== null)
      return depth < MAX_DEPTH && isOnlyTexts(inner, at, depth + 1, texts);
    if (TEXTS.has(fold(key))) texts.push({ at, value: inner, kind: 'other' });
    return TEXTS.has(fold(key)) || BESIDE_TEXTS.has(fold(key));
  });
}

const TEXTS: ReadonlySet<string> = new Set(ANSWER_NAMES.text);
const BESIDE_TEXTS: ReadonlySet<string> = new Set(ANSWER_NAMES.besideText);
const MAX_TEXT = 200;
const MAX_DEPTH = 4;

function readObject(object: object, path: string, depth: number, options: ReadingOptions, found: Statements): void {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(object);
  const isAlone = entries.filter(([, value]) => value !== null && value !== '').length === 1;
  for (const [key, value] of entries) {
    const names = namesOf(key);
    const at = `${path}/${key}`;
    if (typeof value !== 'object' || value === null) {
      // In a head, beside an id, a code may be one of anything: only a known one counts.
      const field = names.field === 'code' && HEAD.test(path) ? 'status' : names.field;
      if (field === null) noteFlag(value, names, at, found);
      else noteScalar(value, field, at, options, found);
      continue;
    }
    if (options.skip?.has(value) === true) continue;
    if (Array.isArray(value)) readArray(value, names, at, depth, options, found, isAlone);
    else if (names.field === 'error') noteError(value, at, options, found);
    else if (names.field === 'status' && !names.envelope) noteStatus(value, at, options, found);
    else if (names.field === 'status' || names.envelope || isAlone) {
      if (depth < MAX_DEPTH) readObject(value, at, depth + 1, options, found);
    }
  }
}

const HEAD = /\/(?:meta|header)$/i;

function noteFlag(value: unknown, { flag }: ReturnType<typeof namesOf>, at: string, found: Statements): void {
  if (flag === null) return;
  const folded = fold(String(value));
  if (flag.no.has(folded)) note(found, { at, value, kind: 'other' });
  else if (flag.yes.has(folded)) found.success ??= at;
}

function readArray(
  list: readonly unknown[],
  names: ReturnType<typeof namesOf>,
  at: string,
  depth: number,
  options: ReadingOptions,
  found: Statements,
  isAlone: boolean,
): void {
  if (options.refusals?.has(list) === true) {
    for (const [i, entry] of list.entries()) {
      found.entry ??= entry;
      note(found, { at: `${at}/${i}`, value: entry, kind: list.length === 1 ? 'recipient' : 'other' });
    }
  } else if (names.field === 'error') noteError(list, at, options, found);
  else if (list.length === 0) {
    if (names.list || names.field === 'success') note(found, { at, value: list, kind: 'other' });
  } else if (names.list || names.otherList || isAlone || options.lists?.has(list) === true) {
    if (depth < MAX_DEPTH) readList(list, at, depth, options, found);
  } else if (names.field === 'status') {
    for (const [i, one] of list.entries()) noteScalar(one, 'status', `${at}/${i}`, options, found);
  }
}

function readList(list: readonly unknown[], path: string, depth: number, options: ReadingOptions, found: Statements) {
  for (const [i, entry] of list.entries()) {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) continue;
    const own: Statements = { denial: null, success: null, taken: null };
    const at = `${path}/${i}`;
    readObject(entry as object, at, depth + 1, options, own);
    found.success ??= own.success;
    if (own.denial === null) found.taken ??= own.taken ?? at;
    else {
      if (own.taken !== null) found.taken ??= own.taken;
      if (note(found, own.denial)) found.entry = own.entry ?? entry;
    }
  }
}

type Field = 'error' | 'success' | 'status' | 'code' | 'type' | 'count';

function noteScalar(value: unknown, field: Field, at: string, options: ReadingOptions, found: Statements): void {
  const said = judge(value, field, options);
  if (said === 'yes') found.success ??= at;
  if (said === 'yes' || said === null) return;
  note(found, { at, value, kind: kindOf(said, value, field) });
}

function kindOf(said: 'refused' | 'no', value: unknown, field: Field): Denial['kind'] {
  if (said === 'refused') return 'recipient';
  const isCode = field === 'code' || field === 'status' || field === 'error';
  const number = isCode && (typeof value === 'number' || typeof value === 'string') ? Number(value) : Number.NaN;
  if (ACCOUNT.has(number)) return 'account';
  return number >= 400 && number < 600 ? 'number' : 'other';
}

/** An object or a list in the place of an error: a denial unless nothing in it is one. */
function noteError(value: object, at: string, options: ReadingOptions, found: Statements): void {
  const first = firstError(value, at, 'error', options, 0);
  if (first !== null) note(found, first);
}

function firstError(value: unknown, at: string, field: Field, options: ReadingOptions, depth: number): Denial | null {
  if (typeof value !== 'object' || value === null) {
    const said = judge(value, 'error', options);
    if (said !== 'no' && said !== 'refused') return null;
    const kind = kindOf('no', value, field);
    return { at, value, kind };
  }
  if (depth > MAX_DEPTH) return { at, value: null, kind: 'other' };
  let first: Denial | null = null;
  for (const [key, inner] of Object.entries(value)) {
    // Its code is the account's; a text beside it is not.
    const own = isIndex(key) ? field : (namesOf(key).field ?? 'type');
    const denial = firstError(inner, `${at}/${key}`, own, options, depth + 1);
    if (denial !== null && (first === null || denial.kind === 'account')) first = denial;
  }
  return first;
}

/** `status: { groupName, name, code }`: words decide, and a number only where no word is known. */
function noteStatus(value: object, at: string, options: ReadingOptions, found: Statements): void {
  let success: string | null = null;
  let number: Denial | null = null;
  for (const [key, inner] of Object.entries(value)) {
    const named = namesOf(key);
    const { field, inStatus } = named;
    const place = `${at}/${key}`;
    if (typeof inner === 'object' && inner !== null) {
      if (field === 'error') noteError(inner as object, place, options, found);
      continue;
    }
    if (field === null && !inStatus) {
      noteFlag(inner, named, place, found);
      continue;
    }
    const own = inStatus || field === null ? 'status' : field;
    const said = judge(inner, own, options);
    if (said === 'yes') success ??= place;
    if (said === null || said === 'yes') continue;
    const denial: Denial = { at: place, value: inner, kind: kindOf(said, inner, own) };
    const isNumber = typeof inner === 'number' || (typeof inner === 'string' && NUMBER.test(inner.trim()));
    if (own === 'error' || !isNumber) note(found, denial);
    else number ??= denial;
  }
  found.success ??= success;
  if (number !== null && success === null) note(found, number);
}

const RANK: Readonly<Record<Denial['kind'], number>> = { recipient: 3, account: 2, number: 1, other: 1 };

/** Returns whether it keeps this denial. */
function note(found: Statements, denial: Denial): boolean {
  if (found.denial !== null && RANK[found.denial.kind] >= RANK[denial.kind]) return false;
  found.denial = denial;
  return true;
}

const ACCOUNT: ReadonlySet<number> = new Set([401, 402, 403]);
const NUMBER = /^[+-]?[0-9]+(?:\.[0-9]+)?$/;
/** `0`, `000`, `0x0000`, `ER-00`, `E000000`. */
const ZERO = /^(?:[a-z]{1,3}[-_ ]?|0x)?0+(?:\.0+)?$/i;
/** Letters for true and false. */
const LETTERS: Readonly<Record<string, 'yes' | 'no'>> = { y: 'yes', t: 'yes', on: 'yes', n: 'no', f: 'no' };

type Said = 'yes' | 'refused' | 'no' | null;

/** The meaning of one value. An unknown word refuses, unless it is a state beside the id of a message. */
function judge(value: unknown, field: Field | 'text', options: ReadingOptions): Said {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return field === 'error' ? (value ? 'no' : null) : value ? 'yes' : 'no';
  const text = String(value).trim();
  const folded = fold(text);
  if (NOTHING.has(folded)) return null;
  if (options.acceptedWords.has(folded)) return 'yes';
  if (options.refusedWords.has(folded)) return 'refused';
  if (NUMBER.test(text) || ZERO.test(text)) return field === 'text' ? null : judgeNumber(text, field);
  if (field === 'success' && LETTERS[folded] !== undefined) return LETTERS[folded];
  if (field === 'error' && (NO_ERROR.has(folded) || URL_LIKE.test(text))) return null;
  const known = text.length > MAX_TEXT ? null : wordSays(text);
  switch (field) {
    case 'error':
      return known === 'yes' && folded !== 'true' && folded !== 'yes' ? null : 'no';
    case 'type':
      return known === 'refused' || ERROR_TYPES.has(folded) ? (known ?? 'no') : null;
    case 'success':
      return known === null || known === 'yes' ? 'yes' : 'no';
    case 'count':
    case 'text':
      return known === 'yes' || field === 'count' ? null : known;
    case 'code':
      return known ?? 'no';
    default:
      return known ?? (options.hasId() ? null : 'no');
  }
}

/** Empty values, and values for "no error". */
const NOTHING: ReadonlySet<string> = new Set(['', 'null', 'nil', 'undefined', 'n/a']);
const NO_ERROR: ReadonlySet<string> = new Set(ANSWER_NAMES.noError);
const ERROR_TYPES: ReadonlySet<string> = new Set(['error', 'errors', 'fail', 'failure', 'fault', 'exception']);
const URL_LIKE = /^https?:\/\//i;

function judgeNumber(text: string, field: Field): Said {
  const isZero = ZERO.test(text);
  const number = Number(text);
  if (field === 'error') return isZero ? null : 'no';
  if (field === 'success') return number > 0 ? 'yes' : 'no';
  if (field === 'count') return isZero ? 'no' : null;
  if (field === 'type') return null;
  return isZero || (number >= 200 && number < 300) || (field === 'status' && STARTED.has(number)) ? 'yes' : 'no';
}

/** Statuses before 200: processed, sent, queued. */
const STARTED: ReadonlySet<number> = new Set([100, 101, 102]);

/** APIs use few words and names. */
function remembering<T>(read: (text: string) => T): (text: string) => T {
  const remembered = new Map<string, T>();
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const said = read(text);
    if (remembered.size < MOST_REMEMBERED) remembered.set(text, said);
    return said;
  };
}

const MOST_REMEMBERED = 500;

/** A listed word alone, else the words in it: one that refuses decides. */
const wordSays = remembering((text): Said => {
  const plain = withoutMarks(text);
  const whole = fold(plain);
  if (REFUSED.isWhole(whole)) return 'refused';
  if (SUCCESS.isWhole(whole)) return 'yes';
  const words = plain
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/\bnot yet\b|\bno errors?\b/g, ' ')
    .split(/[^\p{L}\p{N}]+/u);
  if (ERROR.isWhole(whole) || words.some(ERROR.has)) return 'no';
  return words.some(SUCCESS.has) ? 'yes' : null;
});

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ı', 'i');
}

/** Words in scripts without spaces between words are found inside others. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

function wordList(words: readonly string[]) {
  const plain = words.map(withoutMarks);
  const stems = plain.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1));
  const whole = new Set(plain.filter((word) => !word.endsWith('*')));
  const inside = [...whole].filter((word) => UNSPACED.test(word));
  return {
    /** Not for words of which only the beginning is listed. */
    isWhole: (word: string): boolean => whole.has(word),
    has: (word: string): boolean =>
      whole.has(word) || stems.some((stem) => word.startsWith(stem)) || inside.some((part) => word.includes(part)),
  };
}

const SUCCESS = wordList(ANSWER_WORDS.success);
const REFUSED = wordList(ANSWER_WORDS.refused);
const ERROR = wordList(ANSWER_WORDS.error);

const FIELDS = (['success', 'status', 'code', 'type', 'count', 'error'] as const).map(
  (field) => [field, wordList(ANSWER_NAMES[field])] as const,
);
const IN_STATUS = wordList(ANSWER_NAMES.inStatus);
const LISTS = wordList(ANSWER_NAMES.list);
const OTHER_LISTS = wordList(ANSWER_NAMES.otherList);
const ENVELOPES = wordList(ANSWER_NAMES.envelope);

// No numbers: under these names they may be counts.
const TRUE: ReadonlySet<string> = new Set(['true', 'yes', 'y', 't']);
const FALSE: ReadonlySet<string> = new Set(['false', 'no', 'n', 'f']);
const NEVER: ReadonlySet<string> = new Set();
const WHEN_TRUE = { no: TRUE, yes: NEVER };
const WHEN_FALSE = { no: FALSE, yes: TRUE };
const SUBJECT = new RegExp(`^(?:${ANSWER_NAMES.subject.join('|')})*`);

/** For a name that says no by being true or false: the values for each, folded. `hasBeenRejected`, `isNotAccepted`. */
function flagOf(folded: string) {
  const name = folded.replace(SUBJECT, '');
  if (ANSWER_NAMES.whenTrue.includes(name)) return WHEN_TRUE;
  if (ANSWER_NAMES.whenFalse.includes(name)) return WHEN_FALSE;
  return ANSWER_NAMES.whenFalse.includes(name.replace(/^(?:not|un)/, '')) ? WHEN_TRUE : null;
}

const namesOf = remembering((key) => {
  const name = fold(key);
  return {
    field: FIELDS.find(([, list]) => list.has(name))?.[0] ?? null,
    flag: flagOf(name),
    inStatus: IN_STATUS.has(name),
    list: LISTS.has(name),
    otherList: OTHER_LISTS.has(name),
    envelope: ENVELOPES.has(name),
  };
});

/** Whether a document has a field that may be the id of a message, by the usual names. */
export function mayHoldId(document: unknown, depth = 0): boolean {
  if (typeof document !== 'object' || document === null || depth > MAX_DEPTH) return false;
  return Object.entries(document).some(([key, value]) => {
    if (typeof value === 'object') return mayHoldId(value, depth + 1);
    return ID_NAME.test(fold(key)) && value !== '' && value !== 0 && value !== false;
  });
}

const ID_NAME = /^(?:_?id|ids|sid|uuid|guid|mid|(?:sms|msg|message|batch|bulk|delivery|api).*(?:id|ids|uuid|sid))$/;
