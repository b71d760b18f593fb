import { find, fold, follow, type Pointer } from '../util/pointer.ts';
import type { CompiledWire } from './pointers.ts';

/** What an entry of an answer says of its recipient. */
export type Said = 'taken' | 'refused' | 'unclear';

/** The lists of an answer that hold an entry for each recipient. */
export function listsAt(document: unknown, pointers: readonly Pointer[]): readonly (readonly unknown[])[] {
  const lists: (readonly unknown[])[] = [];
  for (const pointer of pointers) {
    const value = follow(document, pointer);
    if (Array.isArray(value)) lists.push(value as readonly unknown[]);
  }
  return lists;
}

/**
 * Whoever has an entry was taken, unless it holds an error or a word for a refusal. A number that looks like an HTTP
 * status of 4xx or 5xx is neither: some APIs refuse with it, and 5xx never says that nothing was done.
 */
export function saidOf(entry: unknown, wire: CompiledWire): Said {
  const { failed, status } = wire.pointers.entry;
  if (find(entry, failed, isSomething) !== undefined) return 'refused';
  let said: Said = 'taken';
  for (const pointer of status) {
    const value = follow(entry, pointer);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    if (wire.refusedWords.has(fold(String(value)))) return 'refused';
    if (Number(value) >= 400 && Number(value) < 600) said = 'unclear';
  }
  return said;
}

/** What the answer to a request with one recipient says of it, where it holds a list with one entry; else null. */
export function onlyEntry(
  document: unknown,
  wire: CompiledWire,
): { readonly said: Said; readonly entry: unknown } | null {
  let found: { readonly said: Said; readonly entry: unknown } | null = null;
  for (const [pointers, said] of [
    [wire.pointers.lists, null],
    [wire.pointers.refusedLists, 'refused'],
  ] as const) {
    for (const pointer of pointers) {
      const list = follow(document, pointer);
      if (!Array.isArray(list) || list.length !== 1) continue;
      const entry: unknown = list[0];
      const next = { said: said ?? saidOf(entry, wire), entry };
      // Two lists that do not say the same: the request repeated beside its result, or something never seen.
      found = found === null || found.said === next.said ? next : { said: 'unclear', entry };
    }
  }
  return found;
}

/** Does what stands at one of the pointers say that the recipient cannot receive the channel? */
export function saysUnsupported(document: unknown, wire: CompiledWire): boolean {
  if (wire.unsupportedCodes.size === 0) return false;
  return wire.pointers.code.some((pointer) => {
    const value = follow(document, pointer);
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    const text = String(value);
    // `type` of problem+json is a URI (RFC 9457): its last name is the code.
    return wire.unsupportedCodes.has(fold(text)) || wire.unsupportedCodes.has(fold(text.replace(/^.*[/#]/s, '')));
  });
}

/** Present, and not one of the ways to say "nothing": null, false, 0, and whatever is empty. */
export function isSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    for (const _ in value) return true;
    return false;
  }
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}
