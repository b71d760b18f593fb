import { follow, type Pointer } from '../util/pointer.ts';
import { foldName } from './states.ts';

/** A pointer as the value itself spells it, where the names that lead there are written another way. */
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
