import { escapeMarkup } from '../util/escape.ts';
import type { Json, JsonObject } from '../util/json.ts';
import { mappingOf } from './check-values.ts';

/**
 * The preheader is hidden text at the beginning of the HTML, and an email without a text gets that of its HTML.
 *
 * @param tree - content as it was rendered and checked; `html` is the HTML itself
 * @param text - undefined if the campaign has none
 * @returns no text for an email of pictures
 */
export function emailContent(tree: JsonObject, text: string | undefined, textOfHtml: (html: string) => string) {
  const { html, preheader } = tree;
  const content: Record<string, Json> = {};
  for (const [key, value] of Object.entries(tree)) {
    if (key !== 'preheader' && key !== 'unsubscribe') content[key] = value;
  }
  if (typeof html !== 'string') return { content, text };
  if (typeof preheader === 'string') content['html'] = withPreheader(html, preheader);
  return { content, text: text ?? (textOfHtml(html) || undefined) };
}

/** Inboxes show the preheader after the subject; invisible characters push what follows out of sight. */
export function withPreheader(html: string, preheader: string): string {
  if (!/\S/.test(preheader)) return html;
  const at = bodyStart(html);
  const padding = PAD.repeat(Math.max(0, PADDED_LENGTH - preheader.length));
  return `${html.slice(0, at)}<div style="${HIDDEN}">${escapeMarkup(preheader)}${padding}</div>${html.slice(at)}`;
}

/** Longer than what any inbox shows: 130 characters and some for narrow ones. */
const PADDED_LENGTH = 150;
const PAD = '&zwnj;&nbsp;';
const HIDDEN =
  'display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all';

/** 0 without a body. Linear in the length. */
function bodyStart(html: string): number {
  const mark = /<!--|<body(?=[\s>/])/gi;
  for (let found = mark.exec(html); found !== null; found = mark.exec(html)) {
    if (found[0] !== '<!--') return Math.max(0, tagEnd(html, mark.lastIndex));
    const end = html.indexOf('-->', mark.lastIndex);
    if (end < 0) return 0;
    mark.lastIndex = end + 3;
  }
  return 0;
}

/** After the `>` of a tag, but for those in the values of attributes; -1 without one. */
export function tagEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const character = html.charAt(at);
    if (character === '>') return at + 1;
    if (character === '"' || character === "'") {
      at = html.indexOf(character, at + 1);
      if (at < 0) return -1;
    }
  }
  return -1;
}

/** Characters of an address in a header: a line has at most 998 octets (RFC 5322), and an address cannot be folded. */
export const MAX_UNSUBSCRIBE_URL = 900;

/**
 * RFC 2369 and RFC 8058, from checked content; none without `unsubscribe`. The provider has to sign them (DKIM). With
 * `oneClick` the address must act on a POST without cookies, login or redirect, and not on a GET of a link scanner.
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

/** In ASCII without spaces or angle brackets; null: not allowed in a header. */
export function unsubscribeUrl(text: string): string | null {
  // The parser would drop line breaks and tabs, so another address than the written one would be sent.
  if (/[\s\p{Cc}]/u.test(text)) return null;
  // It would leave out the part of the path before it: a value of a column may be just that.
  if (/[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i.test(text)) return null;
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
