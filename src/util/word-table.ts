/** Lists of words of a data file, in which a long one has several lines. */
export function wordTable<T extends Readonly<Record<string, string | readonly string[]>>>(table: T, between = ' ') {
  const lists = Object.entries(table).map(([name, lines]) => [
    name,
    [lines].flat().flatMap((line) => line.split(between)),
  ]);
  return Object.fromEntries(lists) as { readonly [Name in keyof T]: readonly string[] };
}
