import process from 'node:process';
import { stringify } from 'yaml';
import type { ProjectReading } from '../../campaign/project.ts';
import { problem, refuse } from '../../errors.ts';
import type { DeliveryState, EventField, WebhookEvent } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { countryOf, interpreterOf, projectHere } from '../../operations/project.ts';
import { createReportedAddressReader } from '../../recipients/address.ts';
import { jsonText, safe, safeLine } from '../../util/escape.ts';
import { follow, type Pointer, pointerTo } from '../../util/json.ts';
import { displayPath, findFileAnywhere, readSmallFile } from '../../util/paths.ts';
import { cut, table } from '../../util/table.ts';
import { iso } from '../../util/time.ts';
import { type Level, spelled } from '../../webhook/fields.ts';
import type { Found, Interpretation } from '../../webhook/interpret.ts';
import { stateOf } from '../../webhook/states.ts';
import { readTime } from '../../webhook/times.ts';

/** A payload, and how it is read: nothing of it is stored. */
export interface Explanation {
  readonly version: 1;
  readonly file: string;
  readonly form: Interpretation['form'];
  /** Why the whole body is refused; null: it is read. */
  readonly problem: string | null;
  readonly events: readonly ExplainedEvent[];
  /** What to write into handbill.yaml, as far as it can be told; null: nothing. */
  readonly mapping: { readonly webhook: SuggestedMapping } | null;
}

interface ExplainedEvent {
  /** JSON pointer to the event in the body. */
  readonly at: string;
  readonly event: WebhookEvent;
  /** JSON pointers into the body, by the field that was read there. */
  readonly from: Readonly<Record<string, string>>;
  /** What the event holds and nothing has read. */
  readonly unused: readonly string[];
  readonly advice: readonly string[];
}

interface SuggestedMapping {
  readonly fields?: Readonly<Partial<Record<EventField, string>>>;
  readonly states?: Readonly<Record<string, DeliveryState>>;
}

/** A captured body of a file; bodies that come in have at most 64 KiB. */
const MAX_BYTES = 1024 * 1024;

/**
 * `handbill listen --explain`: opens no port and no ledger.
 *
 * @param file - path from the current folder, or `-` for standard input
 * @throws HandbillError exit 2: the file does not exist, or handbill.yaml is wrong
 */
export async function explainPayload(
  file: string,
  format: 'text' | 'json',
  context: Pick<CommandContext, 'cwd' | 'env' | 'now' | 'out' | 'width' | 'tableWidth'>,
): Promise<void> {
  const reading = await projectHere(context, undefined);
  const input =
    file === '-' ? { name: 'standard input', bytes: await readInput(MAX_BYTES) } : await open(file, context);
  const explained = explain(input, reading, context.now());
  await context.out(
    format === 'json' ? `${jsonText(explained, 2)}\n` : explanationText(explained, context.tableWidth ?? context.width),
  );
}

async function open(
  written: string,
  { cwd }: Pick<CommandContext, 'cwd'>,
): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const found = await findFileAnywhere(cwd, written);
  const read = 'fault' in found ? found : await readSmallFile(found.path, MAX_BYTES, written);
  if ('fault' in read) {
    const { code, message, hint } = read.fault;
    throw refuse(problem(code, message, hint === undefined ? {} : { hint }));
  }
  return { name: 'path' in found ? displayPath(found.path, cwd) : written, bytes: read.bytes };
}

/** How a body is read with the mapping of a project. */
function explain(
  input: { readonly name: string; readonly bytes: Uint8Array },
  reading: Pick<ProjectReading, 'project' | 'written'>,
  nowMs: number,
): Explanation {
  const address = createReportedAddressReader(countryOf(reading));
  const events: (ExplainedEvent & { readonly suggests: Advice })[] = [];
  const interpreter = interpreterOf(reading, {
    follow(event, level, found) {
      const from = sourcesOf(event, found);
      const used = new Set(Object.values(from));
      const at = level === null ? [] : pathOf(level);
      const all = level === null ? [] : leavesOf(level.value);
      const unused = all.filter(({ pointer }) => !isUsed(pointer, at, used));
      const clues = { unused, found: new Set(found.map(({ field }) => field)), address, nowMs };
      const suggests = adviceOn(event, clues);
      const shown = unused.map(({ pointer }) => pointerTo([...at, ...pointer]));
      events.push({ at: pointerTo(at), event, from, unused: shown, advice: suggests.says, suggests });
    },
  });
  const { form, problems } = interpreter.interpret(input.bytes, nowMs);
  const wrong = problems[0] ?? null;
  return {
    version: 1,
    file: input.name,
    form,
    problem: wrong?.message ?? null,
    events: wrong === null ? events.map(({ suggests, ...event }) => event) : [],
    mapping: wrong === null ? mappingOf(events.map(({ suggests }) => suggests)) : null,
  };
}

/** Read itself, or as a part of an object that was read, such as an error. */
function isUsed(pointer: Pointer, at: Pointer, used: ReadonlySet<string>): boolean {
  return pointer.some((_, i) => used.has(pointerTo([...at, ...pointer.slice(0, i + 1)])));
}

/** What the advice about all events comes to; null for nothing. */
function mappingOf(all: readonly Advice[]): Explanation['mapping'] {
  const fields: Partial<Record<EventField, string>> = {};
  const states: Record<string, DeliveryState> = {};
  for (const advice of all) {
    for (const [field, pointer] of Object.entries(advice.fields)) fields[field as EventField] ??= pointer;
    for (const [word, state] of Object.entries(advice.states)) states[word.toLowerCase()] ??= state;
  }
  const webhook = {
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(Object.keys(states).length === 0 ? {} : { states }),
  };
  return Object.keys(webhook).length === 0 ? null : { webhook };
}

/** Where each part of an event was read, by its name in the event; places that were read but not used are left out. */
function sourcesOf(event: WebhookEvent, found: readonly Found[]): Readonly<Record<string, string>> {
  const sources: Record<string, string> = {};
  if (event.kind === 'unread') return sources;
  for (const { field, level, pointer } of found) {
    const part = PARTS[event.kind][field];
    if (part === undefined || Object.hasOwn(sources, part) || !isTaken(event, part)) continue;
    const own = spelled(level.value, pointer);
    if (part === 'state' && event.kind === 'delivery' && !saysWord(event.word, level, own)) continue;
    sources[part] = pointerTo([...pathOf(level), ...own]);
  }
  return sources;
}

function isTaken(event: WebhookEvent, part: string): boolean {
  return (event as unknown as Readonly<Record<string, unknown>>)[part] !== null;
}

function saysWord(word: string | null, level: Level, pointer: Pointer): boolean {
  const value = pointer.length === 0 ? level.name : follow(level.value, pointer);
  return word === null || String(value).trim().startsWith(word);
}

/** What the fields of a mapping are in a report, and in a reply. */
const PARTS: Readonly<Record<'delivery' | 'reply', Readonly<Partial<Record<Found['field'], string>>>>> = {
  delivery: {
    reference: 'reference',
    callback: 'reference',
    messageId: 'messageId',
    eventId: 'eventId',
    status: 'state',
    group: 'state',
    kind: 'state',
    readTime: 'state',
    deliveredTime: 'state',
    person: 'address',
    to: 'address',
    contact: 'address',
    channel: 'channel',
    fault: 'error',
    error: 'error',
    code: 'error',
    text: 'textHash',
    timestamp: 'atMs',
    otherTime: 'atMs',
  },
  reply: {
    reference: 'reference',
    callback: 'reference',
    messageId: 'replyId',
    eventId: 'replyId',
    inReplyTo: 'messageId',
    from: 'from',
    person: 'from',
    contact: 'from',
    to: 'to',
    ownNumber: 'to',
    channel: 'channel',
    text: 'text',
    timestamp: 'atMs',
    otherTime: 'atMs',
  },
};

/** Where a level is in the body, as the body spells it. */
function pathOf(level: Level): Pointer {
  if (level.parent === null) return level.pointer;
  return [...pathOf(level.parent), ...spelled(level.parent.value, level.pointer)];
}

/** A value that is neither an array nor an object, and its path. */
interface Leaf {
  readonly pointer: Pointer;
  readonly value: string | number | boolean;
}

/** More than a person reads. */
const MOST = 200;
const MAX_DEPTH = 32;

/** The values of an event in their order, without empty ones. */
function leavesOf(value: unknown): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (inner: unknown, pointer: Pointer): void => {
    if (leaves.length >= MOST || pointer.length > MAX_DEPTH) return;
    if (typeof inner === 'object' && inner !== null) {
      for (const name of Object.keys(inner)) {
        if (leaves.length >= MOST) return;
        visit((inner as Readonly<Record<string, unknown>>)[name], [...pointer, name]);
      }
    } else if (typeof inner === 'string' ? inner.trim() !== '' : typeof inner === 'number' || inner === true) {
      leaves.push({ pointer, value: inner as Leaf['value'] });
    }
  };
  visit(value, []);
  return leaves;
}

/** What would help to read an event: sentences, and what to write under `webhook`. */
interface Advice {
  readonly says: readonly string[];
  readonly fields: Readonly<Partial<Record<EventField, string>>>;
  readonly states: Readonly<Record<string, DeliveryState>>;
}

interface Clues {
  /** What the event holds and nothing has read, with pointers from the event. */
  readonly unused: readonly Leaf[];
  /** The fields that were found, whatever the event became. */
  readonly found: ReadonlySet<string>;
  readonly address: (written: string) => string | null;
  readonly nowMs: number;
}

/** What is missing in an event, and which of the values that nothing has read looks like it. */
function adviceOn(event: WebhookEvent, clues: Clues): Advice {
  if (event.kind === 'unread') return adviceOnUnread(clues);
  if (event.kind === 'reply') return event.atMs === null ? missing(['timestamp'], clues) : NOTHING;
  const wanted: EventField[] = [];
  if (event.reference === null && event.messageId === null) wanted.push('messageId');
  if (event.atMs === null) wanted.push('timestamp');
  const advice = missing(wanted, clues);
  if (event.state !== 'unknown' || event.word === null || /^unknown$/i.test(event.word)) return advice;
  const says = `The state "${event.word}" is unknown: it counts as "unknown" until \`webhook.states\` says what it means.`;
  return { ...advice, says: [says, ...advice.says], states: { [event.word]: 'sent' } };
}

const NOTHING: Advice = { says: [], fields: {}, states: {} };

function adviceOnUnread(clues: Clues): Advice {
  const { found } = clues;
  const hasState = found.has('status') || found.has('kind') || found.has('group');
  if (found.has('text') && !found.has('from') && !found.has('person')) {
    return prepend('It holds a text, but no sender.', missing(['from'], clues));
  }
  if (hasState)
    return prepend('It says a state, but names neither message nor recipient.', missing(['messageId', 'to'], clues));
  const sentence = 'It is neither a delivery report nor a reply.';
  const advice = missing(['status', 'messageId', 'to', 'timestamp'], clues);
  // Without a state it is not a report, wherever its other parts are.
  const isReport = advice.fields.status !== undefined && (advice.fields.messageId ?? advice.fields.to) !== undefined;
  return prepend(sentence, isReport ? { ...advice, says: [] } : NOTHING);
}

function prepend(sentence: string, advice: Advice): Advice {
  return { ...advice, says: [sentence, ...advice.says] };
}

function missing(fields: readonly EventField[], clues: Clues): Advice {
  const named: Partial<Record<EventField, string>> = {};
  const says: string[] = [];
  const left = new Set(clues.unused);
  for (const field of fields) {
    const leaf = [...left].find((one) => looksLike(field, one, clues));
    if (leaf !== undefined) {
      named[field] = pointerTo(leaf.pointer);
      left.delete(leaf);
    } else if (field === 'messageId') {
      says.push('Nothing in it looks like the id of a message: it is joined to what was sent by its address alone.');
    } else if (field === 'timestamp') says.push('It does not say when it happened.');
  }
  return { says, fields: named, states: {} };
}

function looksLike(field: EventField, { pointer, value }: Leaf, { address, nowMs }: Clues): boolean {
  const name = pointer.at(-1) ?? '';
  if (field === 'timestamp') return readTime(value, nowMs) !== null;
  if (typeof value === 'boolean') return false;
  const text = String(value);
  if (field === 'status') return stateOf(text, new Map()) !== null || STATE_NAME.test(name);
  if (field === 'messageId') return ID_NAME.test(name) && !PERSON_NAME.test(name) && text.length >= 3;
  if (field === 'from' || field === 'to') return address(text) !== null;
  return false;
}

const STATE_NAME = /(?:status|phase|outcome|result)$/i;
const ID_NAME = /(?:id|ident(?:ifier)?|uuid|ref(?:erence)?|num(?:ber)?|no|key)$/i;
/** `destNumber`, `phone_no`: a number of a person, whatever the end of the name. */
const PERSON_NAME = /dest|phone|mobile|msisdn|recipient|subscriber/i;

const FORMS = { json: 'JSON', 'json-lines': 'JSON lines', form: 'a form', empty: 'empty' } as const;
/** The most events, and the most unused values, in the text. The rest is counted, and is in the JSON. */
const MOST_EVENTS = 20;
const MOST_UNUSED = 8;
/** The width of a value: its path matters more. */
const MOST_COLUMNS = 40;

/** For a terminal: each event with where its parts were found, then what to write into handbill.yaml. */
function explanationText({ file, form, problem, events, mapping }: Explanation, width: number): string {
  if (problem !== null) return `${safeLine(file)} is refused: ${problem}\n`;
  const count = `${events.length} ${events.length === 1 ? 'event' : 'events'}`;
  const parts = [`${safeLine(file)} is ${FORMS[form]}, with ${events.length === 0 ? 'no event' : count} in it.\n`];
  events.slice(0, MOST_EVENTS).forEach((event, i) => void parts.push(eventText(event, i + 1, width)));
  if (events.length > MOST_EVENTS) {
    parts.push(`... and ${events.length - MOST_EVENTS} more: \`--format json\` shows all.\n`);
  }
  if (mapping !== null) {
    parts.push(`This in handbill.yaml may help; check what it means:\n\n${indent(safe(stringify(mapping)))}`);
  }
  return parts.join('\n');
}

function eventText({ at, event, from, unused, advice }: ExplainedEvent, number: number, width: number): string {
  const title = `${number}. ${titleOf(event, at === '' ? '' : ` at ${safeLine(at)}`)}\n`;
  const rows = partsOf(event).map(([part, value]) => [NAMES[part] ?? part, value, within(from[part] ?? '', at)]);
  const body = rows.length === 0 ? '' : table(rows, [{}, {}, {}], { width, indent: 3 });
  const shown = unused
    .slice(0, MOST_UNUSED)
    .map((pointer) => safeLine(within(pointer, at)))
    .join(', ');
  const more = unused.length > MOST_UNUSED ? ` and ${unused.length - MOST_UNUSED} more` : '';
  const rest = unused.length === 0 ? '' : `   not read: ${shown}${more}\n`;
  return `${title}${body}${rest}${advice.map((sentence) => `   ${safeLine(sentence)}\n`).join('')}`;
}

/** A pointer from the event, as a mapping has it; what surrounds the event has its pointer from the body. */
function within(pointer: string, at: string): string {
  if (at === '' || pointer === '') return pointer;
  if (pointer === at) return '(its name)';
  return pointer.startsWith(`${at}/`) ? pointer.slice(at.length) : `${pointer} (around it)`;
}

function titleOf(event: WebhookEvent, place: string): string {
  if (event.kind === 'unread') return `Not understood${place}`;
  if (event.kind === 'reply') return `A reply${place}: ${MEANINGS[event.meaning]}`;
  const cause = event.cause === null ? '' : `, ${CAUSES[event.cause]}`;
  return `A delivery report${place}: ${event.state}${cause}`;
}

const MEANINGS = {
  'opt-out': 'it opts out',
  'opt-in': 'it opts in',
  review: 'it waits for review',
  answer: 'an answer',
} as const;

const CAUSES = {
  'unsupported-channel': 'the channel cannot reach this person',
  gone: 'the address is gone',
  'opted-out': 'this person opted out',
} as const;

/** Parts by the names under which `from` has their places, with the state as it was written. */
function partsOf(event: WebhookEvent): readonly (readonly [part: string, value: string])[] {
  if (event.kind === 'unread') return [];
  const { kind: _, ...rest } = event;
  const shown: Readonly<Record<string, unknown>> =
    event.kind === 'delivery'
      ? { ...rest, state: stateText(event), word: null, cause: null }
      : { ...rest, meaning: null };
  return Object.entries(shown).flatMap(([part, value]) => {
    if (value === null) return [];
    const said = part === 'atMs' ? iso(Number(value)) : cut(String(value), MOST_COLUMNS);
    return [[part, said] as const];
  });
}

/** The names of `webhook.fields` for parts that have another name in the model of events. */
const NAMES: Readonly<Record<string, string>> = { address: 'to', atMs: 'timestamp' };

function stateText({ state, word }: Extract<WebhookEvent, { kind: 'delivery' }>): string {
  return word === null ? state : `${state} ("${word}")`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/**
 * All of standard input.
 *
 * @throws HandbillError exit 2: there is more than `maxBytes`
 */
async function readInput(maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of process.stdin) {
    const bytes = piece as Uint8Array;
    length += bytes.length;
    if (length > maxBytes) {
      throw refuse(problem('file-too-large', `Standard input holds more than ${maxBytes / 1024 / 1024} MiB.`));
    }
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}
