/** How often each kind of event happened. */
export interface Coverage {
  count(kind: string, times?: number): void;
  readonly counts: ReadonlyMap<string, number>;
}

export function createCoverage(): Coverage {
  const counts = new Map<string, number>();
  return {
    count: (kind, times = 1) => counts.set(kind, (counts.get(kind) ?? 0) + times),
    counts,
  };
}

/** As a table with one kind per line. */
export function coverageTable(counts: ReadonlyMap<string, number>): string {
  const rows = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([kind, count]) => `${String(count).padStart(10)}  ${kind}\n`).join('');
}
