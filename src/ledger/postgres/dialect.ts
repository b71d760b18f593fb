/**
 * The SQL of the stores as PostgreSQL takes it: parameters by number, no hints for SQLite's planner, and temporary tables
 * in their own schema. The stores keep to what both databases have in common otherwise.
 */
export function toPostgres(sql: string): string {
  let next = 0;
  return (
    sql
      .replaceAll(/ INDEXED BY \w+/g, '')
      // With a condition it is a join like any other; SQLite takes the word for the order in which it is to look.
      .replaceAll(/CROSS JOIN (\S+ AS \w+)(\s+ON)/g, 'JOIN $1$2')
      .replaceAll(/\bmain\./g, '')
      .replaceAll(/\btemp\./g, 'pg_temp.')
      .replaceAll(/\bWITHOUT ROWID\b/g, '')
      .replaceAll(/\bINTEGER\b/g, 'BIGINT')
      // PostgreSQL has to know what a parameter is, and by this alone it does not.
      .replaceAll(/\?(\d+) IS NULL/g, 'CAST(?$1 AS TEXT) IS NULL')
      .replaceAll(/'[^']*'|\?(\d*)/g, (found, number?: string) => {
        if (found.startsWith("'")) return found;
        return `$${number === undefined || number === '' ? ++next : number}`;
      })
  );
}
