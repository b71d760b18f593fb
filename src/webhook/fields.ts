import type { EventField, EventMapping } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import { follow, isIndex, type Pointer, parsePointer } from '../util/pointer.ts';
import { ENVELOPES, INNER_FIELDS, type InnerField, RECIPIENT_LISTS, SHAPES } from './shapes.ts';
import { foldName } from './states.ts';

/**
 * The pointers of a mapping as one tree of names, made once for a project: an event is walked once, and only where the
 * tree leads. Everything that is found lands in a slot of its own, so that neither the order of keys nor the number of
 * pointers changes what is read.
 */
export interface CompiledFields {
  readonly tree: Node;
  /** Pointer of each slot, as `shapes.ts` writes it. */
  readonly pointers: readonly Pointer[];
  readonly slots: Readonly<Record<InnerField, readonly number[]>>;
  /** Of the fields that the project names itself: they take the place of the usual ones. */
  readonly own: Readonly<Partial<Record<EventField, readonly Pointer[]>>>;
  /** Slots of the usual envelopes; none where the project names its own. */
  readonly envelopes: readonly number[];
  readonly ownEnvelopes: readonly Pointer[];
  /** The slot of a bare `id`, which in an envelope is the envelope's. */
  readonly bareId: number;
}

interface Node {
  /** As the pointers write it: of two names that fold to the same, this one counts. */
  readonly name: string;
  slot: number;
  readonly children: Map<string, Node>;
  /** Names that were met, so that each is folded once; bounded, because senders choose them. */
  readonly met: Map<string, Node | null>;
  /** Its entries are recipients, each of which makes an event. */
  isList: boolean;
}

/** An object, or another value, in what surrounds it. */
export interface Level {
  readonly value: unknown;
  /** What stands at each pointer of the tree. */
  readonly slots: unknown[];
  /** What surrounds it; null: nothing does. */
  readonly parent: Level | null;
  /** Where it is in that: a pointer with an index at its end for an entry of an array. */
  readonly pointer: Pointer;
  /** The last name of the pointer that led here. */
  readonly name: string | null;
  /** Its list of several recipients. */
  list: { readonly node: Node; readonly entries: readonly unknown[] } | null;
  /** The entry of that list that is being read. */
  entry: number;
}

/** @param referenceNames names in `metaData` under which the environments let the reference travel */
export function compileFields(mapping: EventMapping, referenceNames: readonly string[] = []): CompiledFields {
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
  const renamed = referenceNames.filter((name) => name !== REFERENCE);
  const inMetaData = SHAPES.reference.filter((pointer) => pointer.endsWith(`/${REFERENCE}`));
  slots['reference']?.unshift(
    ...renamed.flatMap((name) => inMetaData.map((pointer) => slotOf(renamedPointer(pointer, name)))),
  );
  const envelopes = ENVELOPES.map(slotOf);
  const bareId = slotOf('/id');
  for (const list of RECIPIENT_LISTS) childOf(tree, list.slice(1)).isList = true;
  const named = Object.entries(mapping.fields).map(([field, written]) => [field, written.map(parsePointer)]);
  return {
    tree,
    pointers,
    slots: slots as Record<InnerField, number[]>,
    own: Object.fromEntries(named) as Partial<Record<EventField, Pointer[]>>,
    envelopes: mapping.events === null ? envelopes : [],
    ownEnvelopes: (mapping.events ?? []).map(parsePointer),
    bareId,
  };
}

const REFERENCE = 'handbill';

function renamedPointer(pointer: string, name: string): string {
  return pointer.slice(0, -REFERENCE.length) + pointerTo([name]).slice(1);
}

/** Walks a value once, and holds what stands at the pointers. */
export function openLevel(
  value: unknown,
  fields: CompiledFields,
  place: Pick<Level, 'parent' | 'pointer' | 'name'>,
): Level {
  const level: Level = { value, slots: new Array(fields.pointers.length), ...place, list: null, entry: 0 };
  walk(value, fields.tree, level);
  return level;
}

/** Reads another entry of the list of recipients: what the first one said is gone. */
export function turnTo(entry: number, level: Level): void {
  if (level.list === null) return;
  level.entry = entry;
  const inner = level.list.node.children.get('0');
  if (inner === undefined) return;
  clear(inner, level.slots);
  walk(level.list.entries[entry], inner, level);
}

/** What a field is found at: for the explanation. */
export type Trace = (field: InnerField, level: Level, pointer: Pointer) => void;

/**
 * The first usable value of a field: in the event, else in what surrounds it.
 *
 * @param read - null for what is not usable
 * @param reach - `event`: what surrounds it does not count
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

/** The `id` of an envelope is never a message's; it is the event's where it wraps that event alone. */
function isOwnId(field: InnerField, at: Level, level: Level): boolean {
  if (at === level) return true;
  for (let inner: Level | null = level; inner !== null && inner !== at; inner = inner.parent) {
    if (isIndex(inner.pointer.at(-1) ?? '')) return false;
  }
  return field !== 'messageId';
}

/** Pointers of the project's own, if it names any. */
export function ownPointers(field: InnerField, { own }: CompiledFields): readonly Pointer[] | undefined {
  return Object.hasOwn(own, field) ? own[field as EventField] : undefined;
}

/** `0` right after the list stands for the entry that is being read. */
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
    walkArray(value as readonly unknown[], node, level);
    return;
  }
  // Of names that fold to the same, one counts, and the same in whatever order they come.
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

function walkArray(entries: readonly unknown[], node: Node, level: Level): void {
  if (entries.length === 0) return;
  const first = node.children.get('0');
  if (first === undefined) return;
  if (node.isList && entries.length > 1 && (level.list === null || node.name < level.list.node.name)) {
    level.list = { node, entries };
  }
  walk(entries[0], first, level);
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

/** A longer name is none of ours. */
const MAX_NAME = 64;
const MAX_MET = 256;
