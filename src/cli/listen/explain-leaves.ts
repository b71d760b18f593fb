import type { Pointer } from '../../util/pointer.ts';

/** A value that is no array and no object, and where it stands. */
export interface Leaf {
  readonly pointer: Pointer;
  readonly value: string | number | boolean;
}

/** More than somebody reads. */
const MOST = 200;
const MAX_DEPTH = 32;

/** What an event holds, without what is empty, in the order in which it stands there. */
export function leavesOf(value: unknown): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (inner: unknown, pointer: Pointer): void => {
    if (leaves.length >= MOST || pointer.length > MAX_DEPTH) return;
    if (typeof inner === 'object' && inner !== null) {
      for (const name of Object.keys(inner)) {
        if (leaves.length >= MOST) return;
        visit((inner as Readonly<Record<string, unknown>>)[name], [...pointer, name]);
      }
    } else if (typeof inner === 'string' ? inner.trim() !== '' : typeof inner === 'number' || inner === true) {
      leaves.push({ pointer, value: inner as Leaf['value'] });
    }
  };
  visit(value, []);
  return leaves;
}
