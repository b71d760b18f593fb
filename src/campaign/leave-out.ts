import { pointerTo } from '../util/json.ts';
import type { YamlFile } from './yaml.ts';
import type { Place } from './yaml-value.ts';

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The value without what was dropped; undefined for a list of which nothing is left, because an empty one is wrong too. */
export function without(value: unknown, pointer: string, dropped: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    const left = value.flatMap((item, i) => {
      const inner = `${pointer}/${i}`;
      const kept = dropped.has(inner) ? undefined : without(item, inner, dropped);
      return kept === undefined ? [] : [kept];
    });
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    const inner = pointer + pointerTo([key]);
    const kept = dropped.has(inner) ? undefined : without(item, inner, dropped);
    if (kept !== undefined) copy[key] = kept;
  }
  return copy;
}

/**
 * The file without the items of lists that were dropped, so that the others are counted in it as in what `without` leaves.
 * Everything else stays, dropped or not: something was written there.
 */
export function renumbered(yaml: YamlFile, dropped: ReadonlySet<string>): YamlFile {
  if (![...dropped].some((pointer) => /\/\d+$/.test(pointer))) return yaml;
  const places = new Map<string, Place>();
  const visit = (value: unknown, from: string, to: string): unknown => {
    const place = yaml.places.get(from);
    if (place !== undefined) places.set(to, place);
    if (Array.isArray(value)) {
      const items = value.map((item, i) => ({ item, from: `${from}/${i}` }));
      const left = items.filter((one) => !dropped.has(one.from));
      return (left.length === 0 ? items : left).map((one, i) => visit(one.item, one.from, `${to}/${i}`));
    }
    if (!isObject(value)) return value;
    const copy: Record<string, unknown> = Object.create(null);
    for (const [key, item] of Object.entries(value)) {
      const name = pointerTo([key]);
      copy[key] = visit(item, from + name, to + name);
    }
    return copy;
  };
  return { ...yaml, value: visit(yaml.value, '', ''), places };
}
