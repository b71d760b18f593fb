import { type Diagnostic, problem } from '../errors.ts';

/** Printable ASCII without the space: nothing that could begin another header (SECURITY S9). */
const HEADER_VALUE = /^[\x21-\x7e]+$/;

/** Whether the value can stand in a header. */
export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}

/**
 * Null when the value can stand in a header, else a diagnostic that names the header and never repeats the value.
 * @param name as people know it: `API key`, `x-api-key`
 */
export function checkHeaderValue(name: string, value: string): Diagnostic | null {
  if (isHeaderValue(value)) return null;
  const why = value === '' ? 'is empty' : 'has characters that cannot stand in a header';
  return problem('invalid-api-key', `${name} ${why}.`, {
    hint: 'Only printable ASCII without spaces is allowed; look for a newline or a space that was copied along.',
  });
}
