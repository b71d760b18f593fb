import type { ListSpec, Row } from '../model.ts';
import { openList } from '../recipients/read.ts';

/** The cells of rows, in list order. */
export interface Values {
  /** Reads on until these rows are there, and forgets those before them. */
  between(first: number, last: number): Promise<void>;
  /** The cells of a row that was read; empty for one that is not there, or could not be read. Asked in list order. */
  of(row: number, line: number): readonly string[];
  close(): Promise<void>;
}

const NONE: readonly string[] = [];

/**
 * Decisions hold the cells of those alone who are sent to, because a run needs no others. Whoever looks for somebody
 * mostly asks why they are left out: so the list is read once more, beside the decisions.
 *
 * @throws HandbillError as `openList`
 */
export async function openValues(spec: ListSpec): Promise<Values> {
  const list = await openList(spec);
  const batches = list.rows();
  let rows: readonly Row[] = [];
  let at = 0;
  return {
    async between(first, last) {
      // Not every row is asked for: what nobody asked for would stay.
      while (at < rows.length && (rows[at]?.row ?? first) < first) at += 1;
      while ((rows.at(-1)?.row ?? -1) < last) {
        const next = await batches.next();
        if (next.done === true) return;
        if ((next.value.at(-1)?.row ?? -1) < first) continue;
        rows = at >= rows.length ? next.value : [...rows.slice(at), ...next.value];
        at = 0;
      }
    },
    of(row, line) {
      let found = rows[at];
      while (found !== undefined && found.row < row) {
        at += 1;
        found = rows[at];
      }
      // A list that was changed meanwhile has somebody else there.
      return found?.row === row && found.line === line ? (found.values ?? NONE) : NONE;
    },
    async close() {
      await batches.return(undefined);
      await list.close();
    },
  };
}
