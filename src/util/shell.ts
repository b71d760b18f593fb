/** One word for a POSIX shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*$/.test(text) ? text : quoted(text);
}

/** One word for a POSIX shell in quotes, also where it needs none. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
