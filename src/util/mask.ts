/**
 * Hides most of an address, for logs and terminal diagnostics: `+44•••••••0123`, `a•••@example.com`.
 * Machine formats and reports that the user asked for hold addresses as they are.
 */
export function mask(address: string): string {
  const at = address.lastIndexOf('@');
  if (at > 0) return `${address.slice(0, 1)}•••${address.slice(at)}`;
  if (address.length <= 6) return '•'.repeat(address.length);
  const head = address.startsWith('+') ? 3 : 2;
  return `${address.slice(0, head)}${'•'.repeat(Math.max(3, address.length - head - 4))}${address.slice(-4)}`;
}

/**
 * Hides most of every number and email address in a text, before text from outside is printed on a terminal: numbers
 * with `+` or `00`, national ones, and bare runs of 11 to 15 digits. Dates, times and amounts stay.
 */
export function maskText(text: string): string {
  return maskNumbers(text).replace(EMAIL, mask);
}

/** As `maskText`, and as long as before, so that a caret below it still points to its place. */
export function maskInPlace(text: string): string {
  return maskNumbers(text).replace(EMAIL, (email) => {
    const at = email.lastIndexOf('@');
    return `${email.slice(0, 1)}${'•'.repeat(Math.max(0, at - 1))}${email.slice(at)}`;
  });
}

/** As `maskText`, for numbers only. The text after a number stays in its column. */
export function maskNumbers(text: string): string {
  return /\d{3}/.test(text) ? text.replace(NUMBER, mask) : text;
}

// Not in the middle of a word, a path, an id or a decimal number.
const NUMBER =
  /(?<![\w@./+-]|\d:)(?:(?:\+|00)[ (]{0,2}[1-9](?:[ ()./-]{0,2}\d){6,14}|0(?:[ ()/-]{0,2}\d){8,12}|[1-9]\d{10,14})(?!\w|[.,:-]\d)/g;
// From the beginning of a word on, and bounded: else a long text without an `@` would be searched from each character.
const EMAIL = /(?<![^\s@<>"'(),:;])[^\s@<>"'(),:;]{1,254}@[^\s@<>"'(),:;]{0,253}[^\s@<>"'(),:;.]/g;
