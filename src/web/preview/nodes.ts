import type { About } from './about.ts';

/**
 * A message as data: `nodeHtml` shows it as HTML on the server, and the script as elements in the browser. A kind is a
 * name of this table, so that no data ever names an element, an attribute or a class.
 */
export const KINDS = {
  row: { tag: 'article', style: 'row' },
  head: { tag: 'header', style: 'row-head' },
  to: { tag: 'h3', style: 'row-to' },
  badge: { tag: 'span', style: 'badge' },
  /** The message as the recipient sees or hears it, and beside it the facts about the row. */
  shown: { tag: 'div', style: 'shown' },
  more: { tag: 'div', style: 'more' },
  compare: { tag: 'div', style: 'compare' },
  column: { tag: 'section', style: 'column' },
  p: { tag: 'p', style: '' },
  soft: { tag: 'p', style: 'soft' },
  warnings: { tag: 'ul', style: 'warnings' },
  item: { tag: 'li', style: '' },
  word: { tag: 'code', style: '' },
  step: { tag: 'section', style: 'message' },
  name: { tag: 'h4', style: 'step-name' },
  phone: { tag: 'div', style: 'phone' },
  sender: { tag: 'p', style: 'sender' },
  bubble: { tag: 'div', style: 'bubble' },
  text: { tag: 'div', style: 'text' },
  part: { tag: 'span', style: 'part' },
  cut: { tag: 'span', style: 'cut' },
  odd: { tag: 'mark', style: 'odd' },
  title: { tag: 'p', style: 'title' },
  foot: { tag: 'p', style: 'foot' },
  media: { tag: 'div', style: 'media' },
  mediaKind: { tag: 'span', style: 'media-kind' },
  address: { tag: 'span', style: 'address' },
  buttons: { tag: 'ul', style: 'offers' },
  button: { tag: 'li', style: 'offer' },
  label: { tag: 'span', style: 'label' },
  target: { tag: 'span', style: 'target' },
  cards: { tag: 'div', style: 'cards' },
  card: { tag: 'div', style: 'card' },
  sheet: { tag: 'div', style: 'sheet' },
  section: { tag: 'p', style: 'sheet-title' },
  options: { tag: 'ul', style: 'options' },
  option: { tag: 'li', style: 'option' },
  mail: { tag: 'div', style: 'mail' },
  facts: { tag: 'dl', style: 'facts' },
  term: { tag: 'dt', style: '' },
  value: { tag: 'dd', style: '' },
  sides: { tag: 'div', style: 'sides' },
  side: { tag: 'div', style: 'side' },
  plain: { tag: 'div', style: 'plain' },
  script: { tag: 'div', style: 'script' },
  fold: { tag: 'details', style: 'fold' },
  foldName: { tag: 'summary', style: '' },
  code: { tag: 'div', style: 'code' },
  /** The HTML of an email, its only child; shown in a frame that may do nothing. */
  frame: { tag: 'iframe', style: 'frame' },
} as const satisfies Readonly<Record<string, { readonly tag: string; readonly style: string }>>;

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
