/**
 * Hides values after `apiKey:` and the like, user name and password of an address, and passwords among its parameters,
 * as one `•` per character, so that lines and columns stay. Works on text, because a malformed file is shown too.
 */
export function hideKeys(text: string): string {
  if (!KEY.test(text) && !/@|password/i.test(text)) return text;
  let depth: number | null = null;
  let nextToo = false;
  const lines = text.split('\n').map((line) => {
    const indent = line.search(/\S/);
    if (indent === -1) return line;
    // The value continues on lines that are indented more; after a bare `apiKey:`, on the next line in any case.
    const inside = nextToo || (depth !== null && indent > depth);
    nextToo = false;
    if (inside) return dots(line);
    const match = KEY.exec(line);
    depth = match === null ? null : indent;
    if (match === null) return line;
    const end = match.index + match[0].length;
    nextToo = line.slice(end).trim() === '';
    return line.slice(0, end) + dots(line.slice(end));
  });
  const hide = (_all: string, before: string, secret: string): string => before + dots(secret);
  return lines.join('\n').replace(CREDENTIALS, hide).replace(PARAMETERS, hide);
}

/** One dot per character; blanks and line breaks stay. */
export function dots(text: string): string {
  return text.replace(/[^\s]/g, '•');
}

const KEY = /(?:(?:api|suppression)[-_ ]?key|authorization|secret|token|password)\w{0,20}["']?[ \t]{0,20}[:=]/i;
const PARAMETERS = /([?&](?:ssl)?password=)([^&#\s"']{1,1000})/gi;
const CREDENTIALS = /(:\/\/)([^/\s@"']{1,1000}@)/g;
