import { hash } from 'node:crypto';
import type { Channel, DeliveryReport, DeliveryState, Reply, ReplyMeaning } from '../model.ts';
import { causeOf } from './causes.ts';
import { type CompiledFields, type Level, ownPointers, type Trace, takeField } from './fields.ts';
import { channelOf } from './interpret-channel.ts';
import { errorText, type SaidFault } from './interpret-fault.ts';
import type { SaidState } from './interpret-kind.ts';
import { addressOf, idOf, textOf, wordOf } from './interpret-values.ts';
import { readTime } from './times.ts';

/** What a project's events are read with, beside its mapping. */
export interface EventMeanings {
  /** A number of any spelling as E.164, an email address as lists have it; null for what is neither. */
  readonly address: (written: string) => string | null;
  readonly meaningOf: (text: string) => ReplyMeaning;
  /** Values for channels that the environments have under `wire.channels`. */
  readonly channels: Iterable<readonly [value: string, channel: Channel]>;
  /** Names in `metaData` under which the environments let the reference travel (`wire.referenceName`). */
  readonly referenceNames: readonly string[];
}

/** A mapping with its meanings, made once for a project. */
export interface Reading {
  readonly fields: CompiledFields;
  readonly states: ReadonlyMap<string, DeliveryState>;
  readonly unsupported: ReadonlySet<string>;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly meanings: EventMeanings;
}

/** A report of a state; null where it names neither a message nor a recipient. */
export function readReport(
  level: Level,
  { state, word }: SaidState,
  fault: SaidFault | null,
  nowMs: number,
  reading: Reading,
  trace: Trace | null,
): DeliveryReport | null {
  const { fields } = reading;
  const ids = readIds(level, fields, trace);
  const isOwn = ownPointers('to', fields) !== undefined;
  const written =
    (isOwn ? null : takeField('person', level, fields, addressOf, { trace })) ??
    takeField('to', level, fields, addressOf, { trace }) ??
    (isOwn ? null : takeField('contact', level, fields, addressOf, { trace }));
  if (ids.reference === null && ids.messageId === null && written === null) return null;
  const { address, channel: byAddress } = readAddress(written, reading);
  const channel = readChannel(level, reading, trace) ?? byAddress;
  const isOnItsWay = state === 'queued' || state === 'sent' || state === 'delivered' || state === 'read';
  // What stands beside a state that is no failure describes the state, unless it is called an error.
  const said = fault !== null && (!isOnItsWay || fault.isPlain) ? fault : null;
  const text = takeField('text', level, fields, textOf, { reach: 'event', trace });
  const about = { state, isRcs: channel === 'rcs', unsupported: reading.unsupported };
  const names = [...(said?.names ?? []), ...(word === '' ? [] : [word])];
  return {
    kind: 'delivery',
    reference: ids.reference,
    messageId: ids.messageId,
    address,
    channel,
    state,
    word: word === '' ? null : word,
    cause: causeOf({ code: null, text: null, isPermanent: false, ...said, names }, about),
    error: said === null ? null : errorText(said),
    textHash: text === null || text === '' ? null : hash('sha256', text, 'hex'),
    atMs: readAt(level, nowMs, fields, trace),
    eventId: ids.eventId,
  };
}

/** A reply; null without a sender or a text. */
export function readReply(level: Level, nowMs: number, reading: Reading, trace: Trace | null): Reply | null {
  const { fields, meanings } = reading;
  const isOwn = ownPointers('from', fields) !== undefined;
  const written =
    takeField('from', level, fields, addressOf, { trace }) ??
    (isOwn ? null : takeField('person', level, fields, addressOf, { trace })) ??
    (isOwn ? null : takeField('contact', level, fields, addressOf, { trace }));
  // Some senders have several places for a text, and leave all but one empty.
  const text =
    takeField('text', level, fields, (value) => textOf(value) || null, { reach: 'event', trace }) ??
    takeField('text', level, fields, textOf, { reach: 'event', trace });
  if (written === null || text === null) return null;
  const { address, channel: byAddress } = readAddress(written, reading);
  const to =
    takeField('to', level, fields, addressOf, { trace }) ?? takeField('ownNumber', level, fields, addressOf, { trace });
  const { reference, messageId, eventId } = readIds(level, fields, trace);
  return {
    kind: 'reply',
    replyId: messageId ?? eventId,
    reference,
    messageId: takeField('inReplyTo', level, fields, idOf, { trace }),
    from: address ?? written,
    to: readAddress(to, reading).address,
    channel: readChannel(level, reading, trace) ?? byAddress,
    text,
    meaning: meanings.meaningOf(text),
    atMs: readAt(level, nowMs, fields, trace),
  };
}

function readIds(
  level: Level,
  fields: CompiledFields,
  trace: Trace | null,
): Pick<DeliveryReport, 'reference' | 'messageId' | 'eventId'> {
  const ours = (value: unknown): string | null => {
    const id = idOf(value);
    return id !== null && REFERENCE.test(id) ? id : null;
  };
  const reference =
    takeField('reference', level, fields, idOf, { trace }) ??
    (ownPointers('reference', fields) === undefined ? takeField('callback', level, fields, ours, { trace }) : null);
  const messageId = takeField('messageId', level, fields, idOf, { trace });
  const other = (value: unknown): string | null => {
    const id = idOf(value);
    return id === messageId ? null : id;
  };
  return { reference, messageId, eventId: takeField('eventId', level, fields, other, { trace }) };
}

/** The form of a reference of handbill. Senders may choose the ids at some pointers freely. */
const REFERENCE = /^[A-Za-z0-9_-]{22}$/;

/** `whatsapp:+447700900123` says the channel too. */
function readAddress(
  written: string | null,
  { meanings, channels }: Reading,
): { readonly address: string | null; readonly channel: Channel | null } {
  if (written === null) return { address: null, channel: null };
  const scheme = SCHEME.exec(written);
  const channel = scheme === null ? null : channelOf(scheme[1] ?? '', channels);
  const bare = scheme !== null && (channel !== null || scheme[1] === 'tel') ? written.slice(scheme[0].length) : written;
  return { address: meanings.address(bare) ?? bare, channel };
}

const SCHEME = /^([a-z]{2,20}):/;

function readChannel(level: Level, { fields, channels }: Reading, trace: Trace | null): Channel | null {
  const read = (value: unknown): Channel | null => {
    const word = wordOf(value);
    return word === null ? null : channelOf(word, channels);
  };
  return takeField('channel', level, fields, read, { trace });
}

function readAt(level: Level, nowMs: number, fields: CompiledFields, trace: Trace | null): number | null {
  const read = (value: unknown): number | null => readTime(value, nowMs);
  const at = takeField('timestamp', level, fields, read, { trace });
  if (at !== null || ownPointers('timestamp', fields) !== undefined) return at;
  return takeField('otherTime', level, fields, read, { trace });
}
