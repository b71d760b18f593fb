import type { DeliveryReport, DeliveryState, EventMapping, Reply, UnreadEvent, WebhookEvent } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { follow, type Pointer, parsePointer } from '../util/json.ts';
import { faultOf, type SaidFault } from './faults.ts';
import { type CompiledFields, compileFields, type Level, openLevel, type Trace, takeField, turnTo } from './fields.ts';
import { type BodyForm, type BodyProblem, parseBody } from './interpret-body.ts';
import {
  type EventMeanings,
  foldChannels,
  isReceived,
  NAMES_OPT_OUT,
  type Naming,
  namesOptOut,
  namingOf,
  type Reading,
  readReply,
  readReport,
  type SaidState,
  saidState,
} from './interpret-parts.ts';
import { cutText, foldStates, textOf, wordOf } from './states.ts';

export interface Interpretation {
  readonly events: readonly WebhookEvent[];
  /** Why the whole body was refused: then there are no events. Empty if it was read. */
  readonly problems: readonly BodyProblem[];
  readonly form: BodyForm;
}

export interface Interpreter {
  /**
   * Reads the bytes of a body, or of one line of a file. Never throws.
   * @param reference - in the URL of the request, for an event that names none
   */
  interpret(body: Uint8Array, nowMs: number, reference?: string | null): Interpretation;
  /** Reads a parsed document, at most 32 levels deep. */
  interpretDocument(document: unknown, nowMs: number): Interpretation;
}

/** Receives how an event was read, to explain it. */
type Follow = (event: WebhookEvent, level: Level | null, found: readonly Found[]) => void;
export interface Found {
  readonly field: Parameters<Trace>[0];
  readonly level: Level;
  readonly pointer: Pointer;
}

/** Known shapes have some hundred events in 64 KiB. Above this, the whole body is refused (413): no part is lost. */
export const MAX_EVENTS = 1_000;
/** For an unreadable event, in UTF-16 units. */
const MAX_UNREAD = 64 * 1024;

/** The reader of a project's events; compiles the mapping once. */
export function createInterpreter(
  mapping: EventMapping,
  meanings: EventMeanings,
  { follow = null, maxEvents = MAX_EVENTS }: { readonly follow?: Follow | null; readonly maxEvents?: number } = {},
): Interpreter {
  const base: Reading = {
    fields: compileFields(mapping),
    states: foldStates(mapping.states),
    codes: [
      ['opted-out', new Set(mapping.optedOut.map(foldName))],
      ['unsupported-channel', new Set(mapping.unsupported.map(foldName))],
      ['gone', new Set(mapping.permanent.map(foldName))],
    ],
    optOut: {
      pointers: (mapping.optOut?.at ?? []).map(parsePointer),
      words: new Set((mapping.optOut?.words ?? []).map(foldName)),
    },
    reference: null,
    channels: foldChannels(meanings.channels),
    meanings,
  };

  const interpretAll = (
    documents: readonly unknown[],
    unreadable: readonly string[],
    form: BodyForm,
    nowMs: number,
    reading = base,
  ): Interpretation => {
    const events: WebhookEvent[] = [];
    let toRead = 0;
    for (const [i, document] of documents.entries()) {
      const at = documents.length === 1 ? [] : [String(i)];
      const search: Search = { fields: reading.fields, found: [], most: maxEvents, entries: 0 };
      // Events, each in its envelope: entries of its arrays, a wrapped object, else the document.
      collect(openLevel(document, reading.fields, { parent: null, pointer: at, name: null }), 0, search);
      const isTooLong = search.found.length > maxEvents || search.entries > maxEvents * ENTRIES_PER_EVENT;
      if (isTooLong) return tooMany(form, maxEvents);
      for (const level of search.found) {
        // No entry makes more than one event, and each costs time.
        toRead += countOf(level);
        if (toRead > maxEvents) return tooMany(form, maxEvents);
        readEvents(level, nowMs, reading, follow, events);
      }
    }
    if (events.length + unreadable.length > maxEvents) return tooMany(form, maxEvents);
    for (const line of unreadable) {
      const event = unread(line);
      events.push(event);
      follow?.(event, null, []);
    }
    return { events, problems: [], form };
  };

  return {
    interpret(body, nowMs, reference = null) {
      const parsed = parseBody(body);
      if ('kind' in parsed) return { events: [], problems: [parsed], form: 'empty' };
      return interpretAll(parsed.documents, parsed.unreadable, parsed.form, nowMs, { ...base, reference });
    },
    interpretDocument: (document, nowMs) => interpretAll([document], [], 'json', nowMs),
  };
}

function tooMany(form: BodyForm, maxEvents: number): Interpretation {
  const message = `The body holds more than ${maxEvents} events.`;
  return { events: [], problems: [{ kind: 'too-many-events', message, status: 413 }], form };
}

/** Each recipient that an event lists may be an event. */
function countOf({ list }: Level): number {
  return list?.entries.length ?? 1;
}

/** An event, or one for each recipient that it lists. */
function readEvents(level: Level, nowMs: number, reading: Reading, follow: Follow | null, into: WebhookEvent[]): void {
  let isKept = false;
  for (let entry = 0; entry < countOf(level); entry++) {
    if (entry > 0) turnTo(entry, level);
    const found: Found[] = [];
    const trace: Trace | null =
      follow === null ? null : (field, at, pointer) => void found.push({ field, level: at, pointer });
    const read = readEvent(level, nowMs, reading, trace);
    // An unreadable event is kept as a whole, with all recipients, and so only once.
    if (read === null && (isKept || isEmptyEnvelope(level, reading.fields))) continue;
    isKept ||= read === null;
    const event = read ?? unread(level.value, namesOptOut(level));
    into.push(event);
    follow?.(event, level, found);
    if (event.kind === 'reply') return;
  }
}

/**
 * Which event it is, in this order:
 *
 * 1. a name or a state for incoming messages (`inbound`, `MO`, `received`): a reply;
 * 2. a known state, or an error: a report, also if it quotes a text;
 * 3. a name for delivery: a report;
 * 4. a sender and a text: a reply, also beside an unknown state (a STOP must not be lost);
 * 5. an unknown state, or a time whose name is one (`seenAt`): a report.
 *
 * A report that names neither a message nor a recipient is a reply if it has a sender and a text, unless a name means
 * delivery. A reply without sender or text is unreadable: null.
 */
function readEvent(level: Level, nowMs: number, reading: Reading, trace: Trace | null): DeliveryReport | Reply | null {
  const { fields, states } = reading;
  const naming = namingOf(level, fields, states, trace);
  const said = saidState(level, fields, states, trace);
  if (naming.direction === 'inbound' || (said !== null && isReceived(said))) {
    return readReply(level, nowMs, reading, trace);
  }
  const fault = faultOf(level, fields, trace);
  const state = stateSaid(level, fields, naming, said, fault);
  const report = (): DeliveryReport | null =>
    state === null ? null : readReport(level, state, fault, nowMs, reading, trace);
  const reply = (): Reply | null => (naming.direction === 'outbound' ? null : readReply(level, nowMs, reading, trace));
  const isClear = state !== null && (state.isKnown || fault?.isPlain === true);
  return isClear ? (report() ?? reply()) : (reply() ?? report());
}

/** The state of a report, from its most telling part. */
function stateSaid(
  level: Level,
  fields: CompiledFields,
  naming: Naming,
  said: SaidState | null,
  fault: SaidFault | null,
): SaidState | null {
  // Infobip puts `SEEN` into the name of an event whose state is that of its delivery.
  if (naming.state?.state === 'read' && (said === null || said.state === 'delivered')) {
    return { ...naming.state, isKnown: true };
  }
  if (said !== null) return said;
  if (naming.state !== null) return { ...naming.state, isKnown: true };
  const inTime = (field: 'readTime' | 'deliveredTime', state: DeliveryState): SaidState | null =>
    takeField(field, level, fields, wordOf, { reach: 'event' }) === null ? null : { state, word: '', isKnown: false };
  return (
    inTime('readTime', 'read') ??
    inTime('deliveredTime', 'delivered') ??
    (fault?.isPlain === true ? { state: 'failed', word: '', isKnown: false } : null)
  );
}

function unread(value: unknown, optsOut = false): UnreadEvent {
  const body = cutText(JSON.stringify(value) ?? 'null', MAX_UNREAD);
  return { kind: 'unread', body, ...(optsOut || NAMES_OPT_OUT.test(body) ? { optsOut: true } : {}) };
}

/** Depth of envelopes. WhatsApp has four. */
const MAX_LEVELS = 8;

/** Entries read for each event that a body may have: nested arrays have more entries than events. */
const ENTRIES_PER_EVENT = 4;

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

/** `{"MessageFailed": {...}}`: the name of the only key is the kind of event. */
function onlyKey(level: Level, fields: CompiledFields): Envelope | null {
  const keys = Object.keys(level.value as object);
  const [name] = keys;
  if (keys.length !== 1 || name === undefined || fields.ownEnvelopes.length > 0) return null;
  const held = (level.value as Readonly<Record<string, unknown>>)[name];
  return isObject(held) ? { pointer: [name], held } : null;
}

/** Whether it is an event by itself; then a wrapped object is a part of it. */
function saysSomething(level: Level, fields: CompiledFields): boolean {
  const isText = (value: unknown): string | null => textOf(value) || null;
  return (
    takeField('status', level, fields, wordOf, { reach: 'event' }) !== null ||
    takeField('text', level, fields, isText, { reach: 'event' }) !== null
  );
}

/**
 * Whether an unknown body need not be kept: an array without entries, or an envelope with one. The envelope may contain
 * only values that name neither a message nor a person, such as `{"results": [], "page": 1}`.
 */
function isEmptyEnvelope(level: Level, fields: CompiledFields): boolean {
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
