import type { ListSpec, Row } from '../model.ts';
import { openList } from './read.ts';

/**
 * The cells of a list by the place of their row, in list order: an outcome holds none, and a decision only those of
 * recipients who get a message.
 * @throws HandbillError as `openList`
 */
export async function openCells(spec: ListSpec, options: Parameters<typeof openList>[1] = {}) {
  const list = await openList(spec, options);
  const batches = list.rows();
  let rows: readonly Row[] = [];
  let at = 0;
  return {
    columns: list.columns,
    /** Reads up to these rows, and drops those before them. */
    async between(first: number, last: number): Promise<void> {
      // Drops skipped rows before this one.
      while (at < rows.length && (rows[at]?.row ?? first) < first) at += 1;
      while ((rows.at(-1)?.row ?? -1) < last) {
        const next = await batches.next();
        if (next.done === true) return;
        if ((next.value.at(-1)?.row ?? -1) < first) continue;
        rows = at >= rows.length ? next.value : [...rows.slice(at), ...next.value];
        at = 0;
      }
    },
    /** Null if the row is missing, or could not be read. Call it in list order. */
    of(row: number, line: number): readonly string[] | null {
      let found = rows[at];
      while (found !== undefined && found.row < row) {
        at += 1;
        found = rows[at];
      }
      // If the list was changed meanwhile, another recipient is in this row.
      return found?.row === row && found.line === line ? found.values : null;
    },
    async close(): Promise<void> {
      await batches.return(undefined);
      await list.close();
    },
  };
}
