import type { DeliveryState } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { onDemand } from '../util/on-demand.ts';
import { wordTable } from '../util/word-table.ts';
import stateWords from './state-words.json' with { type: 'json' };

/**
 * Words of public APIs for the state of a message, folded as `foldName` does. `cancelled` is `rejected`: the message
 * will not be sent any more. A message of which only some parts arrived is not proven delivered, and is `sent`.
 */
const table = onDemand(
  (): ReadonlyMap<string, DeliveryState> =>
    new Map(
      (Object.entries(wordTable(stateWords)) as [DeliveryState, readonly string[]][]).flatMap(([state, words]) =>
        words.map((word) => [foldName(word), state] as const),
      ),
    ),
);

/** Groups of Infobip, which are numbers only in `status.groupId`. */
const GROUPS: ReadonlyMap<string, DeliveryState> = new Map([
  ['1', 'queued'],
  ['2', 'undeliverable'],
  ['3', 'delivered'],
  ['4', 'expired'],
  ['5', 'rejected'],
]);

export function foldStates(written: Readonly<Record<string, DeliveryState>>): ReadonlyMap<string, DeliveryState> {
  return new Map(Object.entries(written).map(([word, state]) => [foldName(word), state]));
}

/** Null if unknown. The project's words, then the table, then the last part of a name such as `message.delivered`. */
export function stateOf(word: string, own: ReadonlyMap<string, DeliveryState>): DeliveryState | null {
  if (word.length > MAX_WORD) return null;
  const folded = foldName(word);
  const known = own.get(folded) ?? table().get(folded);
  if (known !== undefined) return known;
  const last = /(?<=[.:/])[^.:/]+$/.exec(word)?.[0];
  return last === undefined ? null : (table().get(foldName(last)) ?? null);
}

export function stateOfGroup(group: string): DeliveryState | null {
  return GROUPS.get(group) ?? null;
}

/** A longer text is not a word. */
const MAX_WORD = 100;
/** A longer id would burden the ledger and every report. */
const MAX_ID = 200;
/** RFC 5321: 64 before the @, 255 after it. */
const MAX_ADDRESS = 320;
const MAX_TEXT = 16_384;
const MAX_ERROR = 500;

/** Null if it is no id. Ids have no control characters and no spaces around them. */
export function idOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text !== null && text.length <= MAX_ID ? text : null;
}

/** Unchanged. */
export function addressOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text !== null && text.length <= MAX_ADDRESS ? text : null;
}

/** A word for a state or a kind, at most 100 characters of it. */
export function wordOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text === null ? null : cutText(text, MAX_WORD);
}

/** A text that a person wrote, the empty one included. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return cutText(value, MAX_TEXT);
  return typeof value === 'number' ? String(value) : null;
}

export function errorOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim();
  return text === '' ? null : cutText(text, MAX_ERROR);
}

/** `0`, `000`, `OK`, `NO_ERROR`: values that mean no error. */
export function isNoError(text: string): boolean {
  return NO_ERROR.test(text);
}

/** Never half a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

function scalarOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return text === '' || CONTROL.test(text) ? null : text;
}

const CONTROL = /\p{Cc}/u;
const NO_ERROR = /^(?:0+|ok|none|no[ _-]?errors?|success(?:ful)?|null|false)\.?$/i;
