import { isList, isMapping, type Json } from '../util/json.ts';
import type { RequestFile } from './provider.ts';
import { piecesOf } from './text.ts';
import { isKnownName } from './values.ts';

/** The values that a request places, by name: `from`, `validity`, `content.header.image`. */
export interface Placed {
  readonly whole: ReadonlySet<string>;
  /** Their items alone: of `$each: variables.body`. */
  readonly items: ReadonlySet<string>;
}

export function placedBy({ body }: RequestFile): Placed {
  const whole = new Set<string>();
  const items = new Set<string>();
  const visit = (tree: Json): void => {
    if (typeof tree === 'string') {
      for (const { name, instead } of (piecesOf(tree) ?? []).filter((piece) => typeof piece !== 'string')) {
        whole.add(plain(name));
        if (instead !== null && isKnownName(instead)) whole.add(plain(instead));
      }
    } else if (isList(tree)) tree.forEach(visit);
    else if (isMapping(tree)) {
      for (const [key, inner] of Object.entries(tree)) {
        if ((key === '$each' || key === '$join') && typeof inner === 'string') items.add(plain(inner));
        else [key, inner].forEach(visit);
      }
    }
  };
  visit('json' in body ? body.json : body.form);
  return { whole, items };
}

/** A value that has several spellings is placed by any of them. */
function plain(name: string): string {
  if (name === 'metaData.own') return 'recipientMetaData';
  if (name.startsWith('validity.')) return 'validity';
  if (name === 'from.msisdn') return 'from';
  // They are no part of `{content}`.
  return name.replace(/^content\.headers/, 'headers').replace(/^variables\.json$/, 'variables');
}

/** The names of what a request leaves out of a value: `content.footer`; empty: nothing is lost. */
export function leftOut({ whole, items }: Placed, name: string, value: unknown): readonly string[] {
  const above = (known: string): boolean => name.startsWith(`${known}.`);
  if (whole.has(name) || [...whole, ...items].some(above)) return [];
  const isGroup = typeof value === 'object' && value !== null;
  const entries = isGroup ? Object.entries(value) : [];
  if (isGroup && entries.length === 0) return [];
  const isInside = items.has(name) || [...whole, ...items].some((known) => known.startsWith(`${name}.`));
  return isGroup && isInside
    ? entries.flatMap(([key, inner]) => leftOut({ whole, items }, `${name}.${key}`, inner))
    : [name];
}
