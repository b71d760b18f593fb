import type { DeliveryState, EventField, WebhookEvent } from '../../model.ts';
import { pointerTo } from '../../util/json.ts';
import { stateOf } from '../../webhook/states.ts';
import { readTime } from '../../webhook/times.ts';
import type { Leaf } from './explain-leaves.ts';

/** What would help to read an event: sentences, and what to write under `webhook`. */
export interface Advice {
  readonly says: readonly string[];
  readonly fields: Readonly<Partial<Record<EventField, string>>>;
  readonly states: Readonly<Record<string, DeliveryState>>;
}

interface Clues {
  /** What the event holds and nothing has read, with pointers from the event. */
  readonly unused: readonly Leaf[];
  /** What was found of it, whatever became of it. */
  readonly found: ReadonlySet<string>;
  readonly address: (written: string) => string | null;
  readonly nowMs: number;
}

/** What is missing in an event, and which of the values that nothing has read looks like it. */
export function adviceOn(event: WebhookEvent, clues: Clues): Advice {
  if (event.kind === 'unread') return adviceOnUnread(clues);
  if (event.kind === 'reply') return event.atMs === null ? missing(['timestamp'], clues) : NOTHING;
  const wanted: EventField[] = [];
  if (event.reference === null && event.messageId === null) wanted.push('messageId');
  if (event.atMs === null) wanted.push('timestamp');
  const advice = missing(wanted, clues);
  if (event.state !== 'unknown' || event.word === null || /^unknown$/i.test(event.word)) return advice;
  const says = `Nobody knows the state "${event.word}": it counts as "unknown" until \`webhook.states\` says what it means.`;
  return { ...advice, says: [says, ...advice.says], states: { [event.word]: 'sent' } };
}

const NOTHING: Advice = { says: [], fields: {}, states: {} };

function adviceOnUnread(clues: Clues): Advice {
  const { found } = clues;
  const hasState = found.has('status') || found.has('kind') || found.has('group');
  if (found.has('text') && !found.has('from') && !found.has('person')) {
    return prepend('It holds a text, but nobody who wrote it.', missing(['from'], clues));
  }
  if (hasState) return prepend('It says a state, but of no message and nobody.', missing(['messageId', 'to'], clues));
  const sentence = 'It says neither what became of a message nor what somebody wrote.';
  const advice = missing(['status', 'messageId', 'to', 'timestamp'], clues);
  // Without a state it is no report, wherever its other parts are.
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
/** `destNumber`, `phone_no`: a number of a person, whatever it ends in. */
const PERSON_NAME = /dest|phone|mobile|msisdn|recipient|subscriber/i;
