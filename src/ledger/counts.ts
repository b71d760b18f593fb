import type { Channel, StepCount } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import { type Fate, fateOf, fellBackBy, madeFrom, shown } from './reading.ts';
import { FELL_BACK, type RunRecord } from './records.ts';
import type { RunStore } from './runs.ts';

export type CountStore = ReturnType<typeof countStore>;

export function countStore(connection: Connection, runs: RunStore) {
  const firstRow = connection.query(
    `SELECT state, reason, encoding, variant, channel, version, by_report FROM recipients WHERE list = ? AND step = 0 ORDER BY row LIMIT 1`,
  );
  // To group a million rows takes 0.7 s, to count them 0.15 s: rows like the first, nearly all, are only counted.
  const groups = connection.query(
    `SELECT ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, count(*), sum(parts), sum(cost_micros) FROM recipients
      WHERE list = ?1 AND step = 0 AND state = ?2 AND reason IS NOT DISTINCT FROM ?3
      AND encoding IS NOT DISTINCT FROM ?4 AND variant IS NOT DISTINCT FROM ?5 AND channel IS NOT DISTINCT FROM ?6
      AND version IS NOT DISTINCT FROM ?7 AND by_report = ?8
    UNION ALL
    SELECT state, reason, encoding, variant, channel, version, by_report, step, count(*), sum(parts), sum(cost_micros) FROM recipients
      WHERE list = ?1 AND (step <> 0 OR state <> ?2 OR reason IS DISTINCT FROM ?3
      OR encoding IS DISTINCT FROM ?4 OR variant IS DISTINCT FROM ?5 OR channel IS DISTINCT FROM ?6
      OR version IS DISTINCT FROM ?7 OR by_report <> ?8)
      GROUP BY step, state, reason, encoding, variant, channel, version, 7 ORDER BY 8, 1, 2, 3, 4, 5, 6, 7`,
  );
  const kept = connection.query('SELECT counts FROM runs WHERE number = ?');
  const setKept = connection.statement('UPDATE runs SET counts = ? WHERE number = ?');

  const scan = (list: number, channel: Channel, claimed: Fate): StepCount[] => {
    const like = firstRow.get(list);
    if (like === undefined) return [];
    const counted: readonly (readonly Value[])[] = groups.all(list, ...like);
    // By now, no row may match any more.
    return counted
      .filter((row) => Number(row[8]) > 0)
      .map((row) => ({
        ...shown(row[0], row[1], claimed),
        encoding: row[2] as StepCount['encoding'],
        variant: row[3] as string | null,
        channel: (row[4] ?? channel) as Channel,
        ...madeFrom(row[0], row[5]),
        ...fellBackBy(row[6]),
        step: Number(row[7]),
        count: Number(row[8]),
        parts: Number(row[9] ?? 0),
        costMicros: row[10] === null ? null : Number(row[10]),
        fellBack: row[0] === 'rejected' && row[1] === FELL_BACK,
      }));
  };

  return {
    /** From the kept counts, or else by counting. `claimed` is the outcome of a claimed row. */
    count(run: RunRecord, claimed: (state: RunRecord['state']) => Fate): StepCount[] {
      const { list, state } = runs.listOf(run);
      const [text] = kept.get(run.number) ?? [];
      return typeof text === 'string' ? JSON.parse(text) : scan(list, run.channel, claimed(state));
    },
    /**
     * Keeps the counts of a run with no open row: call it in the transaction that ends the run. The trigger
     * `recipients_counts` deletes them with the next change of a row, so kept counts are always true.
     */
    keep(number: number): void {
      if (typeof kept.get(number)?.[0] === 'string') return;
      const { list, channel } = runs.record(number);
      const counts = scan(list, channel, fateOf(true));
      if (counts.every(({ outcome }) => outcome !== 'pending' && outcome !== 'deferred')) {
        setKept(JSON.stringify(counts), number);
      }
    },
  };
}
