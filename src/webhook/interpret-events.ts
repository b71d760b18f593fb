import { follow, type Pointer } from '../util/pointer.ts';
import { type CompiledFields, type Level, openLevel, takeField } from './fields.ts';
import { textOf, wordOf } from './interpret-values.ts';

/** Most envelopes in each other. WhatsApp has four. */
const MAX_LEVELS = 8;

/** Entries that are looked at for each event that a body may have: arrays in arrays have more than there are events. */
const ENTRIES_PER_EVENT = 4;

/**
 * The events of a document, each in what surrounds it: the entries of the arrays that its envelopes hold, what one
 * object wraps, else the document itself. Null where there are more than `most`.
 */
export function eventsIn(document: unknown, fields: CompiledFields, most: number, at: Pointer = []): Level[] | null {
  const search: Search = { fields, found: [], most, entries: 0 };
  collect(openLevel(document, fields, { parent: null, pointer: at, name: null }), 0, search);
  return search.found.length > most || search.entries > most * ENTRIES_PER_EVENT ? null : search.found;
}

interface Search {
  readonly fields: CompiledFields;
  readonly found: Level[];
  readonly most: number;
  entries: number;
}

function collect(level: Level, depth: number, search: Search): void {
  const { found, most } = search;
  const inner = depth < MAX_LEVELS ? innerOf(level, search) : [];
  for (const one of inner) {
    collect(one, depth + 1, search);
    if (found.length > most) return;
  }
  if (inner.length === 0) found.push(level);
}

function innerOf(level: Level, search: Search): readonly Level[] {
  const { value } = level;
  const { fields } = search;
  if (Array.isArray(value)) return entriesOf(value, [], level.name, level, search);
  if (!isObject(value)) return [];
  const lists: Level[] = [];
  let wrapped: Envelope | null = null;
  for (const envelope of envelopesOf(level, fields)) {
    const { pointer, held } = envelope;
    if (!Array.isArray(held)) wrapped ??= envelope;
    else for (const one of entriesOf(held, pointer, pointer.at(-1) ?? null, level, search)) lists.push(one);
  }
  if (lists.length > 0) return lists;
  if (saysSomething(level, fields)) return [];
  wrapped ??= onlyKey(level, fields);
  if (wrapped === null) return [];
  const { pointer, held } = wrapped;
  return [openLevel(held, fields, { parent: level, pointer, name: pointer.at(-1) ?? null })];
}

/** None where there are too many, so that a body costs no more than its events may. */
function entriesOf(
  entries: readonly unknown[],
  pointer: Pointer,
  name: string | null,
  parent: Level,
  search: Search,
): readonly Level[] {
  search.entries += entries.length;
  if (search.entries > search.most * ENTRIES_PER_EVENT) return [];
  return entries.map((entry, i) => openLevel(entry, search.fields, { parent, pointer: [...pointer, String(i)], name }));
}

interface Envelope {
  readonly pointer: Pointer;
  readonly held: unknown;
}

function envelopesOf(level: Level, fields: CompiledFields): readonly Envelope[] {
  const envelopes: Envelope[] = [];
  for (const pointer of fields.ownEnvelopes) {
    const held = follow(level.value, pointer);
    if (isObject(held)) envelopes.push({ pointer, held });
  }
  for (const slot of fields.envelopes) {
    const held = level.slots[slot];
    if (isObject(held)) envelopes.push({ pointer: fields.pointers[slot] ?? [], held });
  }
  return envelopes;
}

/** `{"MessageFailed": {...}}`: the name of the only key says what it is. */
function onlyKey(level: Level, fields: CompiledFields): Envelope | null {
  const keys = Object.keys(level.value as object);
  const [name] = keys;
  if (keys.length !== 1 || name === undefined || fields.ownEnvelopes.length > 0) return null;
  const held = (level.value as Readonly<Record<string, unknown>>)[name];
  return isObject(held) ? { pointer: [name], held } : null;
}

/** Is it an event by itself? Then what it wraps is a part of it. */
function saysSomething(level: Level, fields: CompiledFields): boolean {
  const isText = (value: unknown): string | null => textOf(value) || null;
  return (
    takeField('status', level, fields, wordOf, { reach: 'event' }) !== null ||
    takeField('text', level, fields, isText, { reach: 'event' }) !== null
  );
}

/**
 * Whether what nobody understands need not be kept: an array without entries, or an envelope with one and with nothing
 * else in it than values that name no message and nobody, such as `{"results": [], "page": 1}`.
 */
export function isEmptyEnvelope(level: Level, fields: CompiledFields): boolean {
  if (!isObject(level.value)) return false;
  if (Array.isArray(level.value)) return level.value.length === 0;
  if (!envelopesOf(level, fields).some(({ held }) => Array.isArray(held) && held.length === 0)) return false;
  if (Object.values(level.value).some((value) => isObject(value) && Object.keys(value).length > 0)) return false;
  const says = (field: 'messageId' | 'reference' | 'person' | 'from' | 'to'): boolean =>
    takeField(field, level, fields, wordOf, { reach: 'event' }) !== null;
  return !saysSomething(level, fields) && !(['messageId', 'reference', 'person', 'from', 'to'] as const).some(says);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
