import type { JsonObject } from '../model.ts';
import { mappingOf } from './check-values.ts';

/** Characters of an address in a header: a line has at most 998 octets (RFC 5322), and an address cannot be folded. */
export const MAX_UNSUBSCRIBE_URL = 900;

/**
 * The headers by which mail programs unsubscribe (RFC 2369, RFC 8058), from content that was rendered and checked; none
 * where it does not say how. The provider has to sign them (DKIM); with `oneClick` the address must act on a POST
 * without cookies, login or redirect, and must not act on a GET, which link scanners send.
 */
export function unsubscribeHeaders(content: JsonObject): Readonly<Record<string, string>> {
  const { url, mailto, oneClick } = mappingOf(content['unsubscribe']);
  const page = typeof url === 'string' ? unsubscribeUrl(url) : null;
  const targets: string[] = [];
  if (page !== null) targets.push(`<${page}>`);
  if (typeof mailto === 'string' && isMailtoTarget(mailto)) targets.push(`<mailto:${mailto.replace(/^mailto:/i, '')}>`);
  if (targets.length === 0) return NONE;
  const list = targets.join(', ');
  if (oneClick !== true || page === null) return { 'List-Unsubscribe': list };
  return { 'List-Unsubscribe': list, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** The address as it may stand in a header, in ASCII without spaces or angle brackets; null where it may not. */
export function unsubscribeUrl(text: string): string | null {
  // The parser would drop line breaks and tabs, and what was written would not be what is sent.
  if (/[\s\p{Cc}]/u.test(text)) return null;
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  return url.href.length > MAX_UNSUBSCRIBE_URL ? null : url.href.replaceAll('<', '%3C').replaceAll('>', '%3E');
}

/** One email address, with or without `mailto:`, and possibly `?subject=...`. */
export function isMailtoTarget(text: string): boolean {
  return (
    text.length <= MAX_UNSUBSCRIBE_URL &&
    /^(?:mailto:)?[!#-+\-.\d/:;=A-Z^-~]+@[A-Za-z\d.-]+(?:\?[!#-;=?-~]*)?$/i.test(text)
  );
}

const NONE: Readonly<Record<string, string>> = Object.freeze({});
