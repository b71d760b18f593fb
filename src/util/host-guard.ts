import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';

/** Whether the host is this machine only. `localhost` may resolve to either family. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (host.startsWith('127.') && isIPv4(host));
}

const HOST_HEADER = /^(?<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i;

/**
 * Whether a request was meant for these pages. A page on the web can have its own name resolved to this machine (DNS
 * rebinding), and then read what is served here. The `Host` header shows it.
 *
 * @param names under which other machines may ask
 */
export function isKnownHost(header: string | undefined, names: readonly string[]): boolean {
  const host = HOST_HEADER.exec(header ?? '')
    ?.groups?.['host']?.toLowerCase()
    .replace(/^\[|\]$/g, '');
  // Not an address or port: the address of the request could not be read.
  if (host === undefined || !URL.canParse(`http://${header}`)) return false;
  return isLoopback(host) || names.some((name) => name.toLowerCase() === host);
}

/**
 * Whether a form was sent by one of these pages, according to the browser. Browsers send `Origin: null` for forms of a
 * page without a referrer, such as these; `Sec-Fetch-Site` is missing if the connection is not trustworthy. If both are
 * missing, the cookie decides, which no other site can have sent, and the token in the form.
 */
export function isOwnForm(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin, host } = headers;
  if (origin === undefined || origin === `http://${host}`) return true;
  return origin === 'null';
}

/**
 * Whether a page of another site (also one on another port of this machine) sends this request in the background: as a
 * picture, a script or a frame. Such a page cannot read the answer, but it can measure how long a search takes, and
 * keep the server busy. Following a link is allowed.
 */
export function isForeignPart(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-dest': destination } = headers;
  return (site === 'cross-site' || site === 'same-site') && destination !== 'document';
}
