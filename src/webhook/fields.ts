import { EVENT_FIELDS, type EventField, type EventMapping } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { follow, isIndex, type Pointer, parsePointer } from '../util/json.ts';

/**
 * Where public APIs put the parts of an event, as JSON pointers of which the first with a usable value counts. Letter
 * case, `_` and `-` of names do not count, so `messageId` is `message_id` and `MessageId` too. `0` in a list of
 * recipients means each of its entries in turn. The names of the API itself come first.
 */

/** Parts that follow from others, without a name in handbill.yaml. */
const INNER_FIELDS = [
  ...EVENT_FIELDS,
  /** Names that give the kind of an event. */
  'kind',
  /** The recipient of our messages, in names that mean the recipient in reports and in replies. */
  'person',
  /** The recipient by an id of an address book, if no other field names the recipient. */
  'contact',
  /** Our own number, where only the envelope of a reply has it. */
  'ownNumber',
  /** A group of states by its number. */
  'group',
  /** Times that may be about something else: the sending, not the outcome. */
  'otherTime',
  /** Times whose name is a state. */
  'readTime',
  'deliveredTime',
  /** Ids that senders may choose, which may be a reference of ours. */
  'callback',
  /** Something whose presence is an error. */
  'fault',
  'code',
  'faultName',
  'permanent',
] as const satisfies readonly (EventField | string)[];
type InnerField = (typeof INNER_FIELDS)[number];

/** `/to/number` and its kind, for every name of something. */
function inside(names: readonly string[], inner: readonly string[]): string[] {
  return names.flatMap((name) => inner.map((part) => `/${name}/${part}`));
}

function at(...names: readonly string[]): string[] {
  return names.map((name) => `/${name}`);
}

const MESSAGE_IDS = ['messageId', 'messageUuid', 'messageSid', 'smsSid', 'smsMessageSid', 'smsId', 'msgId'];
const ADDRESSES = ['msisdn', 'phoneNumber', 'number', 'address/msisdn', 'address', 'email', 'identifierValue'];
/** Each entry of these makes a separate event. */
const RECIPIENT_LISTS: readonly string[] = ['/recipients', '/to'];

/** Read if no `fault` has it. */
const SHAPES: Readonly<Record<InnerField, readonly string[]>> = {
  reference: [
    ...at('reference', 'metaData/handbill'),
    ...at('recipients/0/metaData/handbill', 'recipients/0/reference', 'to/0/metaData/handbill'),
    ...at('recipient/metaData/handbill', 'message/metaData/handbill', 'message/reference', 'messageMetaData/handbill'),
  ],
  callback: at('clientRef', 'clientReference', 'callbackData', 'bizOpaqueCallbackData', 'customId', 'externalId'),
  messageId: [
    ...at('recipients/0/messageId', 'to/0/messageId'),
    ...at(...MESSAGE_IDS),
    ...at('message/id', 'uuid', 'sid', 'id', 'batchId', 'bulkId'),
  ],
  eventId: at('eventId', 'eventUuid', 'eventSid', 'notificationId', 'reportId', 'id'),
  inReplyTo: at(
    ...[
      'inReplyTo',
      'replyTo',
      'replyTo/messageId',
      'inReplyToId',
      'context/id',
      'context/messageId',
      'context/messageUuid',
    ],
    ...['originalRepliedMessageSid', 'originalMessageId', 'pairedMessageId', 'quotedMessageId'],
  ),
  status: [
    ...inside(['recipients/0', 'to/0'], ['status', 'status/name', 'deliveryStatus']),
    ...at('status', 'messageStatus', 'smsStatus', 'deliveryStatus', 'deliveryState', 'state'),
    ...inside(['status', 'deliveryStatus'], ['name', 'groupName', 'status', 'state', 'code', 'value']),
  ],
  group: at('status/groupId'),
  kind: at('eventType', 'event', 'type', 'direction', 'event/type', 'messageDirection', 'kind', 'topic'),
  timestamp: [
    ...inside(['recipients/0', 'to/0'], ['timestamp', 'doneAt', 'statusDatetime']),
    ...at('timestamp', 'seenAt', 'readAt', 'doneAt', 'deliveredAt', 'failedAt', 'occurredAt', 'eventTime'),
    ...at('statusDatetime', 'statusTime', 'statusAt', 'status/timestamp', 'messageTimestamp', 'time', 'datetime', 'at'),
    ...at('receivedAt', 'acceptTime', 'date'),
  ],
  repliedAt: [],
  otherTime: at('updatedAt', 'createdAt', 'createdDatetime', 'acceptedTime', 'sentAt'),
  readTime: at('seenAt', 'readAt'),
  deliveredTime: at('deliveredAt'),
  from: [
    ...inside(['from', 'sender', 'originator'], ADDRESSES),
    ...at('from', 'sender', 'originator', 'source', 'fromNumber', 'sender/contact/identifierValue'),
  ],
  person: [
    ...at('recipients/0/msisdn', 'to/0/msisdn', 'msisdn', 'recipient/msisdn', 'contact/msisdn'),
    ...at('channelIdentity/identity', 'waId'),
  ],
  to: [
    ...inside(['recipients/0', 'to/0'], [...ADDRESSES, 'to', 'recipient', 'destination']),
    ...inside(['to', 'recipient', 'destination', 'receiver'], [...ADDRESSES, 'to']),
    ...at(
      'receiver/contacts/0/identifierValue',
      'receiver/connector/identifierValue',
      'to/0',
      'recipients/0',
      'to',
      'destination',
      'recipient',
      'recipientId',
    ),
    ...at('receiver', 'phoneNumber', 'phone', 'mobile', 'number', 'email', 'address', 'toNumber'),
  ],
  contact: at('contactId', 'contact'),
  ownNumber: at('metadata/displayPhoneNumber', 'senderId'),
  text: [
    ...at('text', 'text/body', 'text/text', 'body', 'body/text', 'body/text/text', 'messageText', 'messageBody'),
    ...at('content', 'content/text', 'content/0/text', 'content/text/body', 'contactMessage/textMessage/text'),
    ...at('contactMessage/choiceResponseMessage/postbackData', 'button/text', 'interactive/buttonReply/title'),
    ...at('interactive/listReply/title', 'message/text', 'message/content/text', 'message', 'suggestionResponse/text'),
    ...at('image/caption', 'video/caption', 'document/caption'),
  ],
  channel: [
    ...at('channel', 'channelIdentity/channel', 'recipients/0/channel', 'to/0/channel', 'messagingProduct'),
    ...at('channelType', 'messageChannel', 'integrationType', 'channelPrefix', 'from/type', 'service', 'messageType'),
    ...at('type', 'event', 'eventType'),
  ],
  /** Its fields are found by names (`faults.ts`). */
  fault: at(
    ...['recipients/0/error', 'recipients/0/errors', 'to/0/error', 'to/0/errors'],
    ...['error', 'errors', 'failureReason', 'failure', 'reason'],
  ),
  error: at(
    ...['errorMessage', 'errorText', 'errorDescription', 'errorReason', 'errorDetail', 'failureMessage'],
    ...['status/description', 'statusDescription', 'statusMessage', 'statusReason', 'statusText'],
    ...['description', 'detail', 'title'],
  ),
  code: at('errorCode', 'errCode', 'statusErrorCode', 'errorId', 'failureCode', 'reasonCode', 'statusCode', 'code'),
  faultName: at('status/name', 'errorName', 'errorType'),
  permanent: at('permanent', 'isPermanent', 'isPermanentFailure'),
};

/**
 * Where the events of a body are: in arrays, of which every non-empty one counts; else in a wrapped object, if its
 * envelope is not an event itself. Each is read together with its envelope, and may contain others:
 * `entry[].changes[].value.statuses[]`.
 */
const ENVELOPES: readonly string[] = [
  ...at('results', 'events', 'data', 'entry', 'changes', 'statuses', 'messages', 'reports', 'deliveryReports'),
  ...at(
    'deliveries',
    'notifications',
    'replies',
    'items',
    'value',
    'payload',
    'event',
    'message',
    'messageDeliveryReport',
  ),
  ...at('deliveryReport', 'statusUpdate', 'inboundMessage', 'body', 'notification', 'report', 'reply'),
];

/**
 * The pointers of a mapping as one tree of names, made once for a project: an event is walked once, and only along the
 * tree. Every value goes into a separate slot, so neither the order of keys nor the number of pointers changes the
 * result.
 */
export type CompiledFields = ReturnType<typeof compileFields>;

interface Node {
  /** As in the pointers: of two names that fold to the same, this one counts. */
  readonly name: string;
  slot: number;
  readonly children: Map<string, Node>;
  /** Names so far, so that each is folded once; bounded, because senders choose them. */
  readonly met: Map<string, Node | null>;
  /** Each entry is a recipient, and makes an event. */
  isList: boolean;
}

/** An object, or another value, within its envelope. */
export interface Level {
  readonly value: unknown;
  readonly slots: unknown[];
  readonly parent: Level | null;
  /** Its place there, with an index at the end for an entry of an array. */
  readonly pointer: Pointer;
  /** The last name of that pointer. */
  readonly name: string | null;
  /** Its list of several recipients. */
  list: { readonly node: Node; readonly entries: readonly unknown[] } | null;
  entry: number;
}

export function compileFields(mapping: EventMapping) {
  const tree = newNode('');
  const pointers: Pointer[] = [];
  const slotOf = (pointer: string): number => {
    let node = tree;
    const names = parsePointer(pointer);
    for (const name of names) node = childOf(node, name);
    if (node.slot === -1) node.slot = pointers.push(names) - 1;
    return node.slot;
  };
  const slots = Object.fromEntries(INNER_FIELDS.map((field) => [field, SHAPES[field].map(slotOf)]));
  const envelopes = ENVELOPES.map(slotOf);
  const bareId = slotOf('/id');
  for (const list of RECIPIENT_LISTS) childOf(tree, list.slice(1)).isList = true;
  const named = Object.entries(mapping.fields).map(([field, written]) => [field, written.map(parsePointer)]);
  return {
    tree,
    pointers,
    slots: slots as Record<InnerField, number[]>,
    /** Pointers that the project names replace the usual ones. */
    own: Object.fromEntries(named) as Partial<Record<EventField, Pointer[]>>,
    /** Slots of the usual envelopes; none where the project names others. */
    envelopes: mapping.events === null ? envelopes : [],
    ownEnvelopes: (mapping.events ?? []).map(parsePointer),
    /** The slot of a bare `id`, which in an envelope is the envelope's. */
    bareId,
  };
}

/** Walks a value once, and keeps the values at the pointers. */
export function openLevel(
  value: unknown,
  fields: CompiledFields,
  place: Pick<Level, 'parent' | 'pointer' | 'name'>,
): Level {
  const level: Level = { value, slots: new Array(fields.pointers.length), ...place, list: null, entry: 0 };
  walk(value, fields.tree, level);
  return level;
}

/** Reads another entry of the list of recipients, and drops the values of the one before. */
export function turnTo(entry: number, level: Level): void {
  if (level.list === null) return;
  level.entry = entry;
  const inner = level.list.node.children.get('0');
  if (inner === undefined) return;
  clear(inner, level.slots);
  walk(level.list.entries[entry], inner, level);
}

/** Receives where a field was found, for the explanation. */
export type Trace = (field: InnerField, level: Level, pointer: Pointer) => void;

/**
 * The first usable value of a field: in the event, else in its envelope.
 * @param read - null for an unusable value
 * @param reach - `event`: the envelope does not count
 */
export function takeField<T>(
  field: InnerField,
  level: Level,
  fields: CompiledFields,
  read: (value: unknown) => T | null,
  { reach = 'all', trace = null }: { readonly reach?: 'all' | 'event'; readonly trace?: Trace | null } = {},
): T | null {
  const own = ownPointers(field, fields);
  const last = reach === 'event' ? level.parent : null;
  for (let at: Level | null = level; at !== null && at !== last; at = at.parent) {
    if (own !== undefined) {
      for (const pointer of own) {
        const here = inEntry(pointer, at);
        const taken = read(follow(at.value, here));
        if (taken === null) continue;
        trace?.(field, at, here);
        return taken;
      }
      continue;
    }
    for (const slot of fields.slots[field]) {
      const value = at.slots[slot];
      if (value === undefined || (slot === fields.bareId && !isOwnId(field, at, level))) continue;
      const taken = read(value);
      if (taken === null) continue;
      trace?.(field, at, inEntry(fields.pointers[slot] ?? [], at));
      return taken;
    }
  }
  return null;
}

/** An envelope's `id` is never a message's; it is the event's if the envelope contains only this event. */
function isOwnId(field: InnerField, at: Level, level: Level): boolean {
  if (at === level) return true;
  for (let inner: Level | null = level; inner !== null && inner !== at; inner = inner.parent) {
    if (isIndex(inner.pointer.at(-1) ?? '')) return false;
  }
  return field !== 'messageId';
}

export function ownPointers(field: InnerField, { own }: CompiledFields): readonly Pointer[] | undefined {
  return Object.hasOwn(own, field) ? own[field as EventField] : undefined;
}

/** `0` right after the list means the current entry. */
function inEntry(pointer: Pointer, { list, entry }: Level): Pointer {
  if (list === null || entry === 0 || pointer[1] !== '0' || foldName(pointer[0] ?? '') !== foldName(list.node.name)) {
    return pointer;
  }
  return [pointer[0] ?? '', String(entry), ...pointer.slice(2)];
}

function walk(value: unknown, node: Node, level: Level): void {
  if (node.slot !== -1) level.slots[node.slot] = value;
  if (typeof value !== 'object' || value === null || node.children.size === 0) return;
  if (Array.isArray(value)) {
    const entries: readonly unknown[] = value;
    const first = node.children.get('0');
    if (entries.length === 0 || first === undefined) return;
    const isList = node.isList && entries.length > 1;
    if (isList && (level.list === null || node.name < level.list.node.name)) level.list = { node, entries };
    walk(entries[0], first, level);
    return;
  }
  // If names fold to the same, one counts, independent of their order.
  const nodes: Node[] = [];
  const names: string[] = [];
  for (const name of Object.keys(value)) {
    const child = namedChild(node, name);
    if (child === null) continue;
    const i = nodes.indexOf(child);
    if (i === -1) {
      nodes.push(child);
      names.push(name);
    } else if (comesFirst(name, names[i] ?? '', child)) {
      names[i] = name;
    }
  }
  for (let i = 0; i < nodes.length; i++) {
    const child = nodes[i];
    if (child !== undefined) walk((value as Readonly<Record<string, unknown>>)[names[i] ?? ''], child, level);
  }
}

function comesFirst(name: string, other: string, { name: usual }: Node): boolean {
  if (name === usual || other === usual) return name === usual;
  return name < other;
}

function namedChild(node: Node, name: string): Node | null {
  const met = node.met.get(name);
  if (met !== undefined) return met;
  if (name.length > MAX_NAME) return null;
  const child = node.children.get(foldName(name)) ?? null;
  if (node.met.size < MAX_MET) node.met.set(name, child);
  return child;
}

function clear(node: Node, slots: unknown[]): void {
  if (node.slot !== -1) slots[node.slot] = undefined;
  for (const child of node.children.values()) clear(child, slots);
}

function childOf(node: Node, name: string): Node {
  const folded = foldName(name);
  const known = node.children.get(folded);
  if (known !== undefined) return known;
  const child = newNode(name);
  node.children.set(folded, child);
  return child;
}

function newNode(name: string): Node {
  return { name, slot: -1, children: new Map(), met: new Map(), isList: false };
}

/** Longer names are not compared. */
const MAX_NAME = 64;
const MAX_MET = 256;

/** A pointer in the spelling of the value's names. */
export function spelled(value: unknown, pointer: Pointer): Pointer {
  const names: string[] = [];
  let at = value;
  for (const name of pointer) {
    const own = Array.isArray(at) || typeof at !== 'object' || at === null ? name : ownName(at, name);
    names.push(own);
    at = follow(at, [own]);
  }
  return names;
}

function ownName(value: object, name: string): string {
  if (Object.hasOwn(value, name)) return name;
  const folded = foldName(name);
  const alike = Object.keys(value).filter((key) => foldName(key) === folded);
  return alike.sort()[0] ?? name;
}
