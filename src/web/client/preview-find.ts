import { safeLine } from '../../util/escape.ts';
import type { Facets } from '../preview/about.ts';
import type { Rows } from './preview-data.ts';
import { parseQuery, search } from './preview-search.ts';

/**
 * How long a search may run before other work. Less than a key press may take, and more than 100,000 rows need: each
 * slice may cost a frame, which on a slow machine takes longer than the search.
 */
const SLICE_MS = 40;

/**
 * The rows that match, in list order. Works in slices, so that typing is never blocked.
 * @param accepted - by number of facets whether such rows are shown; null: all are
 * @param isWanted - called between slices
 * @returns null if the result is no longer wanted
 */
export async function findAll(
  rows: Rows,
  typed: string,
  accepted: Uint8Array | null,
  isWanted: () => boolean,
): Promise<Uint32Array<ArrayBuffer> | null> {
  const query = parseQuery(typed);
  const found = new Uint32Array(rows.count);
  let count = 0;
  let until = performance.now() + SLICE_MS;
  for (const block of rows.blocks) {
    for (const row of search(block, query, accepted)) {
      found[count] = block.first + row;
      count += 1;
    }
    if (performance.now() < until) continue;
    await turn();
    if (!isWanted()) return null;
    until = performance.now() + SLICE_MS;
  }
  return found.slice(0, count);
}

/** Yields to waiting work. A timer would wait 4 ms each time. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const FILTERS: readonly (readonly [name: string, label: string, of: (facets: Facets) => readonly string[]])[] = [
  ['decision', 'Decision', ({ decision }) => [decision]],
  ['reason', 'Reason', ({ reason }) => [reason]],
  ['variant', 'Variant', ({ variant }) => [variant]],
  [
    'warning',
    'Warning',
    ({ decision, warnings }) => (decision === 'send' && warnings.length === 0 ? [NONE] : warnings),
  ],
  ['channel', 'Channel', ({ channel }) => [channel]],
  ['country', 'Country', ({ country }) => [country]],
  ['encoding', 'Encoding', ({ encoding }) => [encoding]],
  ['parts', 'Parts', ({ parts }) => [parts === 0 ? '' : String(parts)]],
];

const NONE = 'none';

/** Offers filters only where rows differ, each value with its number of rows. */
export function createFilters(rows: Rows, place: HTMLElement, onChange: () => void) {
  const { facets } = rows.about;
  const counts = new Uint32Array(facets.length);
  for (const block of rows.blocks) for (const number of block.facets) counts[number] = (counts[number] ?? 0) + 1;
  const selects = FILTERS.flatMap(([name, label, of]) => {
    const values = new Map<string, number>();
    for (const [i, one] of facets.entries()) {
      for (const value of of(one)) values.set(value, (values.get(value) ?? 0) + (counts[i] ?? 0));
    }
    const rest = values.delete('') ? 1 : 0;
    if (values.size + rest < 2 || values.size === 0) return [];
    const select = selectOf(name, values, rows.number);
    place.append(labelled(label, select));
    select.addEventListener('change', onChange);
    return [{ name, select, of }];
  });
  return {
    chosen: (): Readonly<Record<string, string>> =>
      Object.fromEntries(selects.flatMap(({ name, select }) => (select.value === '' ? [] : [[name, select.value]]))),
    choose(values: Readonly<Record<string, string>>): void {
      for (const { name, select } of selects) {
        select.value = values[name] ?? '';
        // A value that no row has clears the filter.
        if (select.selectedIndex === -1) select.value = '';
      }
    },
    /** By number of facets whether its rows are shown; null: all are. */
    accepted(): Uint8Array | null {
      const asked = selects.filter(({ select }) => select.value !== '');
      if (asked.length === 0) return null;
      return Uint8Array.from(facets, (one) =>
        asked.every(({ select, of }) => of(one).includes(select.value)) ? 1 : 0,
      );
    },
  };
}

function selectOf(name: string, values: ReadonlyMap<string, number>, number: Rows['number']): HTMLSelectElement {
  const select = document.createElement('select');
  select.id = `filter-${name}`;
  select.append(new Option('all', ''));
  const sorted = [...values].sort(([a, n], [b, m]) => (name === 'parts' ? Number(a) - Number(b) : m - n));
  for (const [value, count] of sorted) select.append(new Option(`${safeLine(value)} (${number(count)})`, value));
  return select;
}

function labelled(text: string, select: HTMLSelectElement): HTMLElement {
  const label = document.createElement('label');
  label.className = 'field';
  label.htmlFor = select.id;
  const name = document.createElement('span');
  name.textContent = text;
  label.append(name, select);
  return label;
}
