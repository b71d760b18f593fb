import type { About } from './about.ts';
import table from './kinds.json' with { type: 'json' };

/**
 * A message as data: `nodeHtml` shows it as HTML on the server, and the script as elements in the browser. A kind is a
 * name of this table, so that no data ever names an element, an attribute or a class. `shown`: the message as the
 * recipient sees or hears it, beside the facts about the row; `frame`: the HTML of an email, its only child, in a frame
 * that may do nothing.
 */
export const KINDS = table satisfies Readonly<Record<string, { readonly tag: string; readonly style: string }>>;

/** Text, or an element with its content. Text is raw: the code that shows it must escape it. */
export type PreviewNode = string | readonly [kind: keyof typeof KINDS, ...children: PreviewNode[]];

/** The browser's data about one row, next to its columns and the bodies of its requests. */
export interface RowView {
  readonly head: PreviewNode;
  /** The message as the recipient sees or hears it; empty: there is none. */
  readonly shown: readonly PreviewNode[];
  /** Why there is none, and warnings. */
  readonly more: readonly PreviewNode[];
  /** A name for each, and its line `POST URL` by its number in `About`. */
  readonly requests: readonly (readonly [name: string, head: number])[];
}

/**
 * A whole row: the message, and below it the facts, the columns of the list and the requests.
 * @param beside - the message, or several to compare
 */
export function rowNode(
  view: RowView,
  bodies: readonly string[],
  { columns, heads }: Pick<About, 'columns' | 'heads'>,
  cells: readonly string[],
  beside: readonly PreviewNode[] = view.shown.length === 0 ? [] : [['shown', ...view.shown]],
): PreviewNode {
  const facts = factNodes(columns.map((name, i) => [name, cells[i] ?? '']));
  const list = cells.length === 0 ? [] : [['soft', 'Row of the list'] as const, ...facts];
  const requests = view.requests.map(([name, head], i) => {
    return ['fold', ['foldName', name], ['soft', heads[head] ?? ''], ['code', bodies[i] ?? '']] as const;
  });
  return ['row', view.head, ...beside, ['more', ...view.more, ...list, ...requests]];
}

/** Names and values; nothing where there are none. */
export function factNodes(pairs: readonly (readonly [name: string, value: string])[]): readonly PreviewNode[] {
  if (pairs.length === 0) return [];
  return [['facts', ...pairs.flatMap(([term, value]) => [['term', term] as const, ['value', value] as const])]];
}
