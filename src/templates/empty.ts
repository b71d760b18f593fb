/** Empty, or white space only: what `default`, `{{#if}}` and required columns count as no value. */
export function isEmpty(value: string): boolean {
  // Most cells begin with a printable character; trim() is left for those that do not.
  return value.length === 0 || (value.charCodeAt(0) <= 32 || value.charCodeAt(0) >= 160 ? value.trim() === '' : false);
}
