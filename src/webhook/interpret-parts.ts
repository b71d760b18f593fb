import { hash } from 'node:crypto';
import { CHANNEL_TABLE, CHANNELS, type Channel } from '../content/channels.ts';
import type { DeliveryReport, DeliveryState, Reply, ReplyMeaning } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { follow, type Pointer } from '../util/json.ts';
import { causeOf, errorText, type OwnCodes, type SaidFault } from './faults.ts';
import { type CompiledFields, type Level, ownPointers, type Trace, takeField } from './fields.ts';
import { addressOf, idOf, stateOf, stateOfGroup, textOf, wordOf } from './states.ts';
import { readTime } from './times.ts';

type Direction = 'inbound' | 'outbound';

/** Facts from the names of an event: its `type`, its `event`, the key or the array that contains it. */
export interface Naming {
  readonly direction: Direction | null;
  /** A state that is the event's name, as in `message.delivered` or `SEEN`. */
  readonly state: { readonly state: DeliveryState; readonly word: string } | null;
}

export function namingOf(
  level: Level,
  fields: CompiledFields,
  own: ReadonlyMap<string, DeliveryState>,
  trace: Trace | null,
): Naming {
  let direction: Direction | null = null;
  let state: Naming['state'] = null;
  const look = (word: string | null, at: Level, pointer: Pointer): void => {
    if (word === null) return;
    const parts = word.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
    // Messages to us, or the state of our messages; a name that means neither, or both, does not count.
    const isInbound = INBOUND.test(parts);
    if (isInbound !== OUTBOUND.test(parts)) direction ??= isInbound ? 'inbound' : 'outbound';
    const known = state === null ? stateOf(word, own) : null;
    if (known === null || known === 'unknown') return;
    state = { state: known, word };
    trace?.('kind', at, pointer);
  };
  for (let at: Level | null = level; at !== null; at = at.parent) {
    for (const slot of fields.slots.kind) look(wordOf(at.slots[slot]), at, fields.pointers[slot] ?? []);
    look(at.name, at, []);
  }
  return { direction, state };
}

const INBOUND =
  /(?:^|[^a-z])(?:inbound|incoming|received|receiving|mo|(?<!out(?:going|bound)[_-])(?:reply|replies)|to[_-]app)(?![a-z])/;
const OUTBOUND =
  /(?:^|[^a-z])(?:outbound|outgoing|mt|to[_-]contact|deliver(?:y|ies)|dlr|receipts?|reports?|status(?:es)?|finalized)(?![a-z])/;

export interface SaidState {
  readonly state: DeliveryState;
  readonly word: string;
  readonly isKnown: boolean;
}

/**
 * The first known word for a state, else the first in a place for states (in an envelope: only if the project names
 * it).
 */
export function saidState(
  level: Level,
  fields: CompiledFields,
  own: ReadonlyMap<string, DeliveryState>,
  trace: Trace | null,
): SaidState | null {
  const read =
    (stateIn: (word: string) => DeliveryState | null, isKnown = true) =>
    (value: unknown): SaidState | null => {
      const word = wordOf(value);
      const state = word === null ? null : stateIn(word);
      return word === null || state === null ? null : { state, word, isKnown };
    };
  const known = read((word) => stateOf(word, own));
  const reach = ownPointers('status', fields) === undefined ? 'event' : 'all';
  return (
    takeField('status', level, fields, known, { reach, trace }) ??
    takeField('group', level, fields, read(stateOfGroup), { reach: 'event', trace }) ??
    takeField(
      'status',
      level,
      fields,
      read(() => 'unknown', false),
      { reach, trace },
    ) ??
    takeField('status', level, fields, known, { trace })
  );
}

/** Twilio has words for incoming messages where reports have their states. */
export function isReceived(said: SaidState): boolean {
  return !said.isKnown && /^receiv(?:ed|ing)$/i.test(said.word);
}

const TABLE: ReadonlyMap<string, Channel> = new Map(
  CHANNELS.flatMap((channel) => CHANNEL_TABLE[channel].reported.split(/\s+/).map((name) => [name, channel] as const)),
);

/** Words of providers for channels, folded: they come before the usual names. */
export function foldChannels(
  values: Iterable<readonly [value: string, channel: Channel]>,
): ReadonlyMap<string, Channel> {
  return new Map([...values].map(([value, channel]) => [foldName(value), channel]));
}

/** From names such as `SMS`, `VIBER_BM`, `sms.inbound` or `delivery_report_sms`; null for unknown names. */
function channelOf(name: string, own: ReadonlyMap<string, Channel>): Channel | null {
  const folded = foldName(name);
  const known = own.get(folded) ?? TABLE.get(folded);
  if (known !== undefined) return known;
  const parts = name.toLowerCase().split(/[-_.:\s]/);
  return TABLE.get(parts[0] ?? '') ?? TABLE.get(parts.at(-1) ?? '') ?? null;
}

export interface EventMeanings {
  /** A number in any spelling as E.164, an email address as in lists; null for all other text. */
  readonly address: (written: string) => string | null;
  readonly meaningOf: (text: string) => ReplyMeaning;
  /** A reference as the ledger has it, of one as the provider gives it back. */
  readonly referenceOf: (text: string) => string;
  /** A message id as the answer of the API has it. */
  readonly messageIdOf: (text: string) => string;
  /** Words of the providers for channels. */
  readonly channels: Iterable<readonly [value: string, channel: Channel]>;
}

/** A mapping with its meanings, made once for a project. */
export interface Reading {
  readonly fields: CompiledFields;
  readonly states: ReadonlyMap<string, DeliveryState>;
  readonly codes: OwnCodes;
  readonly optOut: { readonly pointers: readonly Pointer[]; readonly words: ReadonlySet<string> };
  /** That the URL of the request has, for what names none. */
  readonly reference: string | null;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly meanings: EventMeanings;
}

/** Null if it names neither a message nor a recipient. */
export function readReport(
  level: Level,
  { state, word }: SaidState,
  fault: SaidFault | null,
  nowMs: number,
  reading: Reading,
  trace: Trace | null,
): DeliveryReport | null {
  const { fields } = reading;
  const ids = readIds(level, reading, trace);
  const isOwn = ownPointers('to', fields) !== undefined;
  const written =
    (isOwn ? null : takeField('person', level, fields, addressOf, { trace })) ??
    takeField('to', level, fields, addressOf, { trace }) ??
    (isOwn ? null : takeField('contact', level, fields, addressOf, { trace }));
  if (ids.reference === null && ids.messageId === null && written === null) return null;
  const { address, channel: byAddress } = readAddress(written, reading);
  const channel = readChannel(level, reading, trace) ?? byAddress;
  const isOnItsWay = state === 'queued' || state === 'sent' || state === 'delivered' || state === 'read';
  // A text beside a state that is not a failure describes the state, unless it is called an error.
  const said = fault !== null && (!isOnItsWay || fault.isPlain) ? fault : null;
  const text = takeField('text', level, fields, textOf, { reach: 'event', trace });
  const names = [...(said?.names ?? []), ...(word === '' ? [] : [word])];
  return {
    kind: 'delivery',
    reference: ids.reference,
    messageId: ids.messageId,
    address,
    channel,
    state,
    word: word === '' ? null : word,
    cause: optsOut(level, reading)
      ? 'opted-out'
      : causeOf({ code: null, text: null, isPermanent: false, ...said, names }, state, reading.codes),
    error: said === null ? null : errorText(said),
    textHash: text === null || text === '' ? null : hash('sha256', text, 'hex'),
    atMs: readAt(level, nowMs, fields, trace),
    eventId: ids.eventId,
  };
}

/** Null without a sender or a text. */
export function readReply(level: Level, nowMs: number, reading: Reading, trace: Trace | null): Reply | null {
  const { fields, meanings } = reading;
  const isOwn = ownPointers('from', fields) !== undefined;
  const written =
    takeField('from', level, fields, addressOf, { trace }) ??
    (isOwn ? null : takeField('person', level, fields, addressOf, { trace })) ??
    (isOwn ? null : takeField('contact', level, fields, addressOf, { trace }));
  // Some senders have several places for a text, and use only one.
  const text =
    takeField('text', level, fields, (value) => textOf(value) || null, { reach: 'event', trace }) ??
    takeField('text', level, fields, textOf, { reach: 'event', trace });
  if (written === null || text === null) return null;
  const isOptOut = optsOut(level, reading);
  const meaning = isOptOut ? 'opt-out' : meanings.meaningOf(text);
  // Else a provider tells about a recipient, and the sender may be ourselves.
  if (!isOptOut && namesOptOut(level, meaning === 'opt-out' ? COMPLAINT : NAMES_OPT_OUT)) return null;
  const { address, channel: byAddress } = readAddress(written, reading);
  const to =
    takeField('to', level, fields, addressOf, { trace }) ?? takeField('ownNumber', level, fields, addressOf, { trace });
  const { reference, messageId, eventId } = readIds(level, reading, trace);
  return {
    kind: 'reply',
    replyId: messageId ?? eventId,
    reference,
    messageId: takeField('inReplyTo', level, fields, messageIdIn(reading), { trace }),
    from: address ?? written,
    to: readAddress(to, reading).address,
    channel: readChannel(level, reading, trace) ?? byAddress,
    text,
    meaning,
    atMs: readAt(level, nowMs, fields, trace, 'repliedAt'),
  };
}

/** Whether the event says by a word of the provider that the person opts out. */
function optsOut(level: Level, { optOut: { pointers, words } }: Reading): boolean {
  const says = (at: Level | null): boolean =>
    at !== null &&
    (pointers.some((pointer) => words.has(foldName(String(follow(at.value, pointer))))) || says(at.parent));
  return pointers.length > 0 && says(level);
}

/** `"event":"unsubscribe"`, `"type":"email.complained"`, `"unsubscribed":true`, also as JSON in a text of an envelope. */
export const NAMES_OPT_OUT = namePattern(
  'unsub|opt(?:ed)?[-_]?out|complain|spam[-_ ]?(?:report|complaint)|subscriptionchange',
  '"unsubscribe(?:d|All)?\\\\*"\\s*:\\s*true',
);
/** An opt-out that no person writes to us. */
const COMPLAINT = namePattern('complain|spam[-_ ]?(?:report|complaint)');

function namePattern(words: string, ...others: readonly string[]): RegExp {
  const name = String.raw`"(?:event|action|status|(?:event|notification|record)?_?type)\\*"\s*:\s*\\*"[^"]*(?:${words})`;
  return new RegExp([name, ...others].join('|'), 'i');
}

/** Whether the event, or what holds it, has such a name; what lies deeper in it may be a text of a person. */
export function namesOptOut(level: Level | null, pattern = NAMES_OPT_OUT): boolean {
  if (level === null) return false;
  const own = Object.entries(level.value ?? {}).filter(([, inner]) => typeof inner !== 'object');
  return pattern.test(JSON.stringify(Object.fromEntries(own))) || namesOptOut(level.parent, pattern);
}

function messageIdIn({ meanings }: Reading): (value: unknown) => string | null {
  return (value) => {
    const id = idOf(value);
    return id === null ? null : meanings.messageIdOf(id);
  };
}

function readIds(
  level: Level,
  reading: Reading,
  trace: Trace | null,
): Pick<DeliveryReport, 'reference' | 'messageId' | 'eventId'> {
  const { fields, meanings } = reading;
  const reference = (value: unknown): string | null => {
    const id = idOf(value);
    return id === null ? null : meanings.referenceOf(id);
  };
  const ours = (value: unknown): string | null => {
    const id = reference(value);
    return id !== null && REFERENCE.test(id) ? id : null;
  };
  const own =
    takeField('reference', level, fields, reference, { trace }) ??
    (ownPointers('reference', fields) === undefined ? takeField('callback', level, fields, ours, { trace }) : null);
  const messageId = takeField('messageId', level, fields, messageIdIn(reading), { trace });
  const inUrl = ours(reading.reference);
  const other = (value: unknown): string | null => {
    const id = idOf(value);
    return id === messageId ? null : id;
  };
  return { reference: own ?? inUrl, messageId, eventId: takeField('eventId', level, fields, other, { trace }) };
}

/** The form of a reference of handbill. Senders may choose the ids at some pointers freely. */
const REFERENCE = /^[A-Za-z0-9_-]{22}$/;

/** `whatsapp:+447700900123` gives the channel too. */
function readAddress(written: string | null, { meanings, channels }: Reading) {
  if (written === null) return { address: null, channel: null };
  const scheme = /^([a-z]{2,20}):/.exec(written);
  const channel = scheme === null ? null : channelOf(scheme[1] ?? '', channels);
  const bare = scheme !== null && (channel !== null || scheme[1] === 'tel') ? written.slice(scheme[0].length) : written;
  return { address: meanings.address(bare) ?? bare, channel };
}

function readChannel(level: Level, { fields, channels }: Reading, trace: Trace | null): Channel | null {
  const read = (value: unknown): Channel | null => {
    const word = wordOf(value);
    return word === null ? null : channelOf(word, channels);
  };
  return takeField('channel', level, fields, read, { trace });
}

/** `first`: a place for the times of some events only, which counts before those of all. */
function readAt(
  level: Level,
  nowMs: number,
  fields: CompiledFields,
  trace: Trace | null,
  first: 'repliedAt' | 'timestamp' = 'timestamp',
): number | null {
  const read = (value: unknown): number | null => readTime(value, nowMs);
  const at = takeField(first, level, fields, read, { trace }) ?? takeField('timestamp', level, fields, read, { trace });
  if (at !== null || ownPointers('timestamp', fields) !== undefined) return at;
  return takeField('otherTime', level, fields, read, { trace });
}
