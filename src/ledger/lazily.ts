/** Makes each once, when it is first asked for. */
export function lazily<T>(make: (sql: string) => T): (sql: string) => T {
  const made = new Map<string, T>();
  return (sql) => {
    const found = made.get(sql) ?? make(sql);
    made.set(sql, found);
    return found;
  };
}
