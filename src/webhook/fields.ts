import type { EventField, EventMapping } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { follow, isIndex, isMapping, type Pointer, parsePointer } from '../util/json.ts';
import { wordTable } from '../util/word-table.ts';
import table from './event-fields.json' with { type: 'json' };

/**
 * Where public APIs put the parts of an event, as JSON pointers of which the first with a usable value counts. Letter
 * case, `_` and `-` of names do not count, so `messageId` is `message_id` and `MessageId` too. `0` in a list of
 * recipients means each of its entries in turn. The names of the API itself come first.
 *
 * `envelopes` is where the events of a body are: in arrays, of which every non-empty one counts; else in a wrapped object,
 * if its envelope is not an event itself. Each is read together with its envelope, and may contain others:
 * `entry[].changes[].value.statuses[]`.
 */

const { addresses, envelopes: ENVELOPES } = wordTable({ addresses: table.addresses, envelopes: table.envelopes });
const FIELDS = wordTable(table.fields) satisfies Readonly<Record<EventField, readonly string[]>>;

/**
 * Fields of events, and parts that follow from others and have no name in handbill.yaml:
 *
 * - `kind`: names that give the kind of an event; `group`: a group of states by its number.
 * - `person`: the recipient of our messages, in names that mean the recipient in reports and in replies; `contact`: by an
 *   id of an address book, if no other field names the recipient; `ownNumber`: ours, where only the envelope of a reply
 *   has it.
 * - `otherTime` may be about something else: the sending, not the outcome; `readTime`, `deliveredTime`: their name is a
 *   state.
 * - `callback`: ids that senders may choose, which may be a reference of ours.
 * - `fault`: something whose presence is an error. Its fields are found by names (`faults.ts`); `error`, `code`,
 *   `faultName` and `permanent` are read where no `fault` has them.
 */
type InnerField = keyof typeof FIELDS;

/** As JSON pointers; `@address` is each name of an address. */
function pointersOf(names: readonly string[]): readonly string[] {
  return names.flatMap((name) =>
    name.endsWith('@address') ? addresses.map((address) => `/${name.replace('@address', address)}`) : [`/${name}`],
  );
}

/** Each entry of these makes a separate event. */
const RECIPIENT_LISTS: readonly string[] = ['/recipients', '/to'];

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
  const slots = Object.fromEntries(
    Object.entries(FIELDS).map(([field, names]) => [field, pointersOf(names).map(slotOf)]),
  );
  const envelopes = pointersOf(ENVELOPES).map(slotOf);
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
    const other = names[i] ?? '';
    if (i === -1) {
      nodes.push(child);
      names.push(name);
    } else if (name === child.name || (other !== child.name && name < other)) names[i] = name;
  }
  for (let i = 0; i < nodes.length; i++) {
    const child = nodes[i];
    if (child !== undefined) walk((value as Readonly<Record<string, unknown>>)[names[i] ?? ''], child, level);
  }
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
    const keys = isMapping(at) && !Object.hasOwn(at, name) ? Object.keys(at).sort() : [];
    const own = keys.find((key) => foldName(key) === foldName(name)) ?? name;
    names.push(own);
    at = follow(at, [own]);
  }
  return names;
}
