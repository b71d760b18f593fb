import type { Rows } from './preview-data.ts';
import { parseQuery, search } from './preview-search.ts';

/**
 * How long a search goes on before whatever else waits has its turn. Below what a key press may take, and above what
 * 100,000 rows need: each turn may cost a frame, which on a slow machine takes longer than the search.
 */
const SLICE_MS = 40;

/**
 * The rows that fit, in list order. Works in slices, so that typing is never held up.
 *
 * @param typed - what was typed
 * @param accepted - by number of facets whether such rows are shown; null: all are
 * @param isWanted - asked between slices
 * @returns null where nobody wants them any more
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
  for (const { first, facets, searched } of rows.blocks) {
    const here: number[] = [];
    search(searched(), query, (row) => accepted === null || accepted[facets[row] ?? 0] === 1, here);
    for (const row of here) {
      found[count] = first + row;
      count += 1;
    }
    if (performance.now() < until) continue;
    await turn();
    if (!isWanted()) return null;
    until = performance.now() + SLICE_MS;
  }
  return found.slice(0, count);
}

/** Lets what waits go first. A timer would wait 4 ms each time. */
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
