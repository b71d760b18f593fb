import type { Code } from '../errors.ts';
import { isList, isMapping, type Json, type JsonObject, parsePointer } from '../util/json.ts';

export interface ContentProblem {
  readonly code: Code;
  readonly severity: 'error' | 'warning';
  /** JSON pointer into the content; `/text` is the text of the message. */
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** @param text - null: not known here (it contains expressions, or the provider has it); undefined: there is none */
export type ContentCheck = (content: JsonObject, text: string | null | undefined) => readonly ContentProblem[];

/** Values that are null are not known yet and cannot be wrong. */
export type Findings = { readonly channel: string; readonly problems: ContentProblem[] };

const adding =
  (code: Code, severity: ContentProblem['severity']) =>
  ({ problems }: Findings, pointer: string, message: string, hint?: string): void => {
    problems.push({ code, severity, pointer, message, hint });
  };

export const invalid = adding('content-invalid', 'error');
export const overLimit = adding('content-limit', 'error');
export const advise = adding('content-advice', 'warning');

/** `max` is in characters. */
export function checkLength(found: Findings, pointer: string, value: Json | undefined, max: number): void {
  // A text has at least as many units as characters: hardly any is ever counted.
  if (typeof value !== 'string' || value.length <= max) return;
  const length = charactersIn(value);
  if (length <= max) return;
  overLimit(
    found,
    pointer,
    `${nameOf(pointer)} has ${length} characters; ${found.channel} takes at most ${max}.`,
    `Shorten it by ${length - max}.`,
  );
}

export function checkFilled(found: Findings, pointer: string, value: Json | undefined): void {
  if (typeof value !== 'string' || /\S/.test(value)) return;
  invalid(found, pointer, `${nameOf(pointer)} is empty.`, 'Give it a text in every row.');
}

export function checkLabel(found: Findings, pointer: string, value: Json | undefined, max: number): void {
  checkFilled(found, pointer, value);
  checkLength(found, pointer, value, max);
  if (typeof value !== 'string' || !/[\n\r\t]/.test(value)) return;
  invalid(found, pointer, `${nameOf(pointer)} has a line break or a tab.`, 'Write it on one line.');
}

/** Points at the first one too many. */
export function checkCount(found: Findings, pointer: string, count: number, max: number, items: string): void {
  if (count <= max) return;
  overLimit(found, `${pointer}/${max}`, `There are ${count} ${items}; ${found.channel} takes at most ${max}.`);
}

/** @param alone - what to write for a single card */
export function checkCards(
  found: Findings,
  cards: readonly JsonObject[],
  { minCards, maxCards }: { readonly minCards: number; readonly maxCards: number },
  alone: string,
  check: (card: JsonObject, pointer: string, index: number) => void,
): void {
  if (cards.length < minCards) {
    const message = `A carousel has ${minCards} to ${maxCards} cards, but there is ${cards.length} here.`;
    overLimit(found, '/cards', message, alone);
  }
  checkCount(found, '/cards', cards.length, maxCards, 'cards');
  for (const [i, card] of cards.entries()) check(card, `/cards/${i}`, i);
}

/** Reports the later one of two. `pointerOf`: of the value at an index. */
export function checkUnique(
  found: Findings,
  values: readonly (Json | undefined)[],
  pointerOf: (index: number) => string,
): void {
  for (const [index, value] of values.entries()) {
    if (typeof value !== 'string') continue;
    const first = values.indexOf(value);
    if (first === index) continue;
    const message = `${nameOf(pointerOf(index))} is the same as ${nameOf(pointerOf(first))}.`;
    invalid(found, pointerOf(index), message, 'Give each one its own, so that you can tell answers apart.');
  }
}

/** Not blank, or not known yet. */
export function hasText(text: string | null | undefined): boolean {
  return text === null || (text !== undefined && /\S/.test(text));
}

/** Characters as limits count them: Unicode code points, so that an emoji of one is one. */
export function charactersIn(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) !== 0xd800 || (text.charCodeAt(i + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    i++;
  }
  return text.length - pairs;
}

export function mappingOf(value: Json | undefined): JsonObject {
  return isMapping(value) ? value : NO_KEYS;
}

export function mappingsOf(value: Json | undefined): readonly JsonObject[] {
  if (value === undefined || value === null || !isList(value)) return NO_ITEMS;
  // The schema allows only mappings, so the list is used as it is.
  return value.every(isMapping) ? value : value.map(mappingOf);
}

/** A value as text; empty if it is not known. */
export function shownText(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** `/buttons/2/text` as people write it: `"buttons[2].text"`. The text of the message has no key. */
export function nameOf(pointer: string): string {
  if (pointer === '/text') return 'The text';
  const path = parsePointer(pointer).map((segment, i) =>
    /^\d+$/.test(segment) ? `[${segment}]` : `${i > 0 ? '.' : ''}${segment}`,
  );
  return `"${path.join('')}"`;
}

const NO_KEYS: JsonObject = Object.freeze({});
const NO_ITEMS: readonly JsonObject[] = Object.freeze([]);
