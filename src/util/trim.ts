/** Without the characters that a provider puts around an id, such as `<` and `>`. */
export function trimEnds(text: string, characters: string): string {
  let [start, end] = [0, text.length];
  while (start < end && characters.includes(text[start] ?? '')) start += 1;
  while (end > start && characters.includes(text[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}
