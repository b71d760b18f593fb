import { parseExactly } from '../util/json.ts';

export type BodyForm = 'json' | 'json-lines' | 'form' | 'empty';

export interface BodyProblem {
  readonly kind: 'not-readable' | 'too-deep' | 'too-many-events';
  /** For the sender, without any content of the body. */
  readonly message: string;
  /** For the HTTP answer. */
  readonly status: 400 | 413;
}

interface ParsedBody {
  readonly form: BodyForm;
  readonly documents: readonly unknown[];
  /** Lines of JSON lines that cannot be read, unchanged. */
  readonly unreadable: readonly string[];
}

/** Depth of arrays and objects. The deepest known shape has 10 (WhatsApp); JSON.stringify ends at thousands. */
const MAX_DEPTH = 32;
/** Twilio sends some 30 fields. */
const MAX_FORM_FIELDS = 1_000;

/**
 * Parses a body: JSON in UTF-8 or UTF-16, with or without a byte order mark; JSON lines; a form as Twilio posts it. The
 * body shows its format; the sender's content type is ignored, because it is often wrong. Bytes that are not valid
 * UTF-8 are read as windows-1252, which has a character for every byte.
 */
export function parseBody(bytes: Uint8Array): ParsedBody | BodyProblem {
  const text = decode(bytes);
  const trimmed = text.trim();
  if (trimmed === '') return { form: 'empty', documents: [], unreadable: [] };
  const document = parseShallow(trimmed);
  if (document !== undefined) return { form: 'json', documents: [document], unreadable: [] };
  return parseLines(trimmed) ?? parseForm(trimmed) ?? (isTooDeep(trimmed) ? TOO_DEEP : NOT_READABLE);
}

/** Checks the nesting before it parses JSON; undefined for all other text. */
function parseShallow(text: string): unknown {
  return isTooDeep(text) ? undefined : parseExactly(text);
}

const TOO_DEEP: BodyProblem = {
  kind: 'too-deep',
  message: `The body is nested more deeply than ${MAX_DEPTH} levels.`,
  status: 400,
};

const NOT_READABLE: BodyProblem = {
  kind: 'not-readable',
  message: 'The body is neither JSON, nor JSON lines, nor a form.',
  status: 400,
};

/** Several lines, of which the first is JSON. A line that is not JSON is kept, and the others are read. */
function parseLines(text: string): ParsedBody | null {
  if (!/^[[{]/.test(text) || !text.includes('\n')) return null;
  const documents: unknown[] = [];
  const unreadable: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '') continue;
    const document = parseShallow(trimmed);
    if (document !== undefined) documents.push(document);
    else if (documents.length === 0) return null;
    else unreadable.push(trimmed);
  }
  return { form: 'json-lines', documents, unreadable };
}

/** The first of fields with one name counts. If a field contains only JSON, it is the document (`payload={...}`). */
function parseForm(text: string): ParsedBody | null {
  if (!FORM.test(text)) return null;
  const fields = Object.create(null) as Record<string, string>;
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name === '' || Object.hasOwn(fields, name)) continue;
    if (++count > MAX_FORM_FIELDS) return null;
    fields[name] = value;
  }
  const [only] = Object.values(fields);
  const inner = count === 1 && only !== undefined && /^\s*[[{]/.test(only) ? only : null;
  const document = inner === null ? undefined : parseShallow(inner);
  if (document !== undefined) return { form: 'form', documents: [document], unreadable: [] };
  return { form: 'form', documents: [fields], unreadable: [] };
}

/** Whether it is a form and nothing else, such as JSON. */
export function isForm(text: string): boolean {
  return FORM.test(text);
}

const FORM = /^[A-Za-z0-9_.%+[\]-]{1,200}=[^&\s<>{}"]*(?:&[^&\s<>{}"]*)*$/;

/** Brackets in strings do not count. Stops as soon as the answer is known. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i);
    else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return true;
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth--;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === BACKSLASH) i++;
    else if (unit === QUOTE) return i;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
