/** What somebody is looking at, as the end of the address keeps it. */
export interface State {
  readonly query: string;
  /** Chosen values, by the name of what is filtered. */
  readonly filters: Readonly<Record<string, string>>;
  /** Line of the chosen row; null: the first one. */
  readonly line: number | null;
}

export function readState(hash: string, names: readonly string[]): State {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const line = Number(given.get('line') ?? '');
  const filters = names.flatMap((name) => {
    const value = given.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return {
    query: given.get('q') ?? '',
    filters: Object.fromEntries(filters),
    line: Number.isSafeInteger(line) && line > 0 ? line : null,
  };
}

export function writeState({ query, filters, line }: State): string {
  const given = new URLSearchParams();
  if (query !== '') given.set('q', query);
  for (const [name, value] of Object.entries(filters)) if (value !== '') given.set(name, value);
  if (line !== null) given.set('line', String(line));
  return given.size === 0 ? '' : `#${given.toString()}`;
}
