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
