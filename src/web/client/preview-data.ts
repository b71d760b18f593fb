import { fold } from '../../util/fold.ts';
import type { About } from '../preview/about.ts';
import { applyDelta, type Delta, FIELD_END, ROW_END, tokensOf } from '../preview/delta.ts';
import type { RowView } from '../preview/nodes.ts';
import type { Searched } from './preview-search.ts';

export type Rows = Awaited<ReturnType<typeof readRows>>;

/** Reads the index out of the page, and empties its elements to free memory. */
export async function readRows(page: Document) {
  const about = JSON.parse(page.getElementById('about')?.textContent ?? '{}') as About;
  const elements = [...page.querySelectorAll<HTMLScriptElement>('script.index')];
  const blocks = await Promise.all(
    elements.map(async (element) => {
      const text = await inflate(element.textContent ?? '');
      element.remove();
      return blockOf(Number(element.dataset['first']), text);
    }),
  );
  const last = blocks.at(-1);
  const count = last === undefined ? 0 : last.first + last.lines.length;
  // All but the last are as long as the first.
  const blockAt = (row: number) => blocks[Math.floor(row / (blocks[0]?.lines.length ?? 1))];
  const valueAt = (of: 'lines' | 'facets', row: number): number => {
    const block = blockAt(row);
    return block?.[of][row - block.first] ?? 0;
  };
  return {
    about,
    count,
    blocks,
    number: new Intl.NumberFormat(about.locale).format,
    line: (row: number) => valueAt('lines', row),
    /** The number of the row's combination of filter values. */
    facets: (row: number) => valueAt('facets', row),
    /** Address, key (empty where it is the address), other searched text, label, then the cells. */
    fields: (row: number): readonly string[] => blockAt(row)?.fields(row) ?? [],
    view: createViews(page),
  };
}

/** Some thousand rows in list order. */
function blockOf(first: number, text: string) {
  const end = text.indexOf('\n');
  const numbers = JSON.parse(text.slice(0, end)) as { readonly lines: number[]; readonly facets: number[] };
  const lines = new Uint32Array(numbers.lines.length);
  let line = 0;
  for (const [i, step] of numbers.lines.entries()) {
    line += step;
    lines[i] = line;
  }
  const fields = text.slice(end + 1);
  let rows: readonly string[] | null = null;
  let searched: Searched | null = null;
  return {
    first,
    lines,
    facets: Uint32Array.from(numbers.facets),
    fields(row: number): readonly string[] {
      rows ??= fields.split(ROW_END);
      return (rows[row - first] ?? '').split(FIELD_END);
    },
    searched(): Searched {
      searched ??= searchedOf(fields, lines);
      return searched;
    },
  };
}

function searchedOf(fields: string, lines: Uint32Array): Searched {
  const folded = fold(fields);
  const starts = new Uint32Array(lines.length + 1);
  let at = 0;
  for (let row = 1; row < lines.length; row++) {
    at = folded.indexOf(ROW_END, at) + 1;
    starts[row] = at;
  }
  starts[lines.length] = folded.length;
  return { folded, starts, lines };
}

const KEPT = 4;

function createViews(page: Document) {
  const blocks = [...page.querySelectorAll<HTMLScriptElement>('script.views')].map((element) => ({
    first: Number(element.dataset['first']),
    element,
  }));
  const kept = new Map<number, Promise<readonly string[]>>();
  const unpacked = (index: number): Promise<readonly string[]> => {
    let block = kept.get(index);
    kept.delete(index);
    block ??= inflate(blocks[index]?.element.textContent ?? '').then((text) => text.split(ROW_END));
    kept.set(index, block);
    for (const old of kept.keys()) if (kept.size > KEPT) kept.delete(old);
    return block;
  };
  return async (row: number): Promise<RowView & { readonly bodies: readonly string[] }> => {
    const index = blocks.findLastIndex(({ first }) => first <= row);
    const texts = await unpacked(index);
    const [head = '', ...bodies] = whole(texts, row - (blocks[index]?.first ?? 0)).split('\n');
    return { ...(JSON.parse(head) as RowView), bodies };
  };
}

/** A long text is stored as its difference from another one of its block. */
function whole(texts: readonly string[], position: number): string {
  const text = texts[position] ?? '';
  if (!text.startsWith('=')) return text;
  const [base, ...delta] = JSON.parse(text.slice(1)) as [number, ...Delta];
  return applyDelta(delta, tokensOf(texts[base] ?? ''));
}

async function inflate(base64: string): Promise<string> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return await new Response(stream).text();
}
