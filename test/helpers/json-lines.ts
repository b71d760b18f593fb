/** The values of JSON lines. */
export function jsonLines<T = ReturnType<typeof JSON.parse>>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
