import type { DeliveryState } from '../model.ts';
import type { Pointer } from '../util/pointer.ts';
import { type CompiledFields, type Level, ownPointers, type Trace, takeField } from './fields.ts';
import { wordOf } from './interpret-values.ts';
import { stateOf, stateOfGroup } from './states.ts';

export type Direction = 'inbound' | 'outbound';

/** What the names of an event say of it: its `type`, its `event`, the key or the array in which it stands. */
export interface Naming {
  readonly direction: Direction | null;
  /** A state that is the event's name, as in `message.delivered` or `SEEN`. */
  readonly state: { readonly state: DeliveryState; readonly word: string } | null;
}

/** Looks at the names of an event, then at those of what surrounds it. */
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
    direction ??= directionOf(word);
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

/**
 * Whether a name speaks of what people write to us, or of what became of what we wrote; null for neither, and for both.
 */
export function directionOf(word: string): Direction | null {
  const parts = word.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const inbound = INBOUND.test(parts);
  return inbound === OUTBOUND.test(parts) ? null : inbound ? 'inbound' : 'outbound';
}

const INBOUND = /(?:^|[^a-z])(?:inbound|incoming|received|receiving|mo|reply|replies|to[_-]app)(?![a-z])/;
const OUTBOUND =
  /(?:^|[^a-z])(?:outbound|outgoing|mt|to[_-]contact|deliver(?:y|ies)|dlr|receipts?|reports?|status(?:es)?|finalized)(?![a-z])/;

/** What an event says of its state itself. */
export interface SaidState {
  readonly state: DeliveryState;
  readonly word: string;
  /** Somebody knows the word. */
  readonly isKnown: boolean;
}

/**
 * The first word for a state that is known, else the first word that stands where one is. Of what surrounds an event
 * only words that are known count (an envelope has a `status` of its own), but where the project names the place.
 */
export function saidState(
  level: Level,
  fields: CompiledFields,
  own: ReadonlyMap<string, DeliveryState>,
  trace: Trace | null,
): SaidState | null {
  const known = (value: unknown): SaidState | null => {
    const word = wordOf(value);
    const state = word === null ? null : stateOf(word, own);
    return word === null || state === null ? null : { state, word, isKnown: true };
  };
  const reach = ownPointers('status', fields) === undefined ? 'event' : 'all';
  return (
    takeField('status', level, fields, known, { reach, trace }) ??
    takeField('group', level, fields, groupState, { reach: 'event', trace }) ??
    takeField('status', level, fields, unknownState, { reach, trace }) ??
    takeField('status', level, fields, known, { trace })
  );
}

function groupState(value: unknown): SaidState | null {
  const word = wordOf(value);
  const state = word === null ? null : stateOfGroup(word);
  return word === null || state === null ? null : { state, word, isKnown: true };
}

function unknownState(value: unknown): SaidState | null {
  const word = wordOf(value);
  return word === null ? null : { state: 'unknown', word, isKnown: false };
}

/** Words for the state of what people write: Twilio has them where reports have theirs. */
export function isReceived(said: SaidState): boolean {
  return !said.isKnown && /^receiv(?:ed|ing)$/i.test(said.word);
}
