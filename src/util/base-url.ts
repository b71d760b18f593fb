import { isIPv4 } from 'node:net';

type BaseUrlCheck = { readonly url: string } | { readonly problem: string; readonly hint: string };

/**
 * The URL decides where the API key goes: refuses one in which a reader could see another host than a URL parser does, and
 * `http:` to other machines (not 127.0.0.0/8, `localhost`, `[::1]`). Host and path leave the parser as written.
 *
 * @returns `url` without a trailing slash, ready for `/v2/messages`; or a `problem` without the text, which may hold a password
 */
export function checkBaseUrl(text: string): BaseUrlCheck {
  const spelling = checkSpelling(text);
  if (spelling !== null) return spelling;

  const parts = PARTS.exec(text);
  const authority = parts?.[2] ?? '';
  const path = parts?.[3] ?? '';
  if (parts === null || authority === '') return no('The base URL is not a complete URL.', EXAMPLE);
  if (authority.includes('@'))
    return no('The base URL holds a user name or password.', 'Remove everything up to the @.');
  if (authority.includes('%')) {
    return no('The host of the base URL holds a %.', 'Write the host plainly; IPv6 zones cannot be used.');
  }
  if (!URL.canParse(text)) return no('The base URL cannot be parsed.', EXAMPLE);
  const url = new URL(text);
  return checkHost(url, authority) ?? checkPath(url, path) ?? { url: url.origin + url.pathname.replace(/\/$/, '') };
}

/** IPv6 also in brackets. Not names that begin like an address. `localhost` may resolve to either family. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || (host.startsWith('127.') && isIPv4(host));
}

function checkSpelling(text: string): BaseUrlCheck | null {
  if (text === '') return no('The base URL is empty.', EXAMPLE);
  if (text.length > MAX_LENGTH) return no('The base URL is too long.', `At most ${MAX_LENGTH} characters are allowed.`);
  if (!PRINTABLE.test(text)) {
    return no(
      'The base URL holds a space, a control character or a character outside ASCII.',
      'Write international host names in their xn-- form, and encode other characters of the path.',
    );
  }
  if (text.includes('\\')) return no('The base URL holds a backslash.', 'Write / instead.');
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return no('The base URL has no https:// in front.', EXAMPLE);
  if (scheme !== 'https' && scheme !== 'http') return no(`The base URL begins with ${scheme}:.`, EXAMPLE);
  if (text.includes('#')) return no('The base URL holds a fragment (#).', 'Remove the # and what follows it.');
  if (text.includes('?')) return no('The base URL holds a query (?).', 'Remove the ? and what follows it.');
  return null;
}

function checkHost(url: URL, authority: string): BaseUrlCheck | null {
  const written = HOST_AND_PORT.exec(authority.toLowerCase());
  const port = written?.[2];
  if (written === null || written[1] !== url.hostname) {
    return no('The host of the base URL is spelt in an unusual way.', `It means ${url.hostname}: write exactly that.`);
  }
  if (port !== undefined && (port !== String(Number(port)) || port === '0')) {
    return no(
      'The port of the base URL is not one that can be used.',
      'Write a number from 1 to 65535, without zeros in front.',
    );
  }
  if (url.hostname.endsWith('.')) return no('The host of the base URL ends with a dot.', 'Remove the dot.');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return no(
      'The base URL is plain http, so that the API key could be read on the way.',
      `Write https://${url.host}; plain http is for this machine only (127.0.0.1, localhost, [::1]).`,
    );
  }
  return null;
}

function checkPath(url: URL, path: string): BaseUrlCheck | null {
  if (path !== '' && path !== url.pathname) {
    return no('The path of the base URL is spelt in an unusual way.', `It means ${url.pathname}: write exactly that.`);
  }
  if (url.pathname.includes('//')) return no('The path of the base URL holds //.', 'Write one / only.');
  if (MESSAGES.test(url.pathname)) {
    return no('The base URL already ends with /v2/messages.', 'Remove it: handbill adds it to the base URL.');
  }
  return null;
}

function no(problem: string, hint: string): BaseUrlCheck {
  return { problem, hint };
}

const EXAMPLE = 'Write it in full, like https://api.example.com.';
const MAX_LENGTH = 2048;
const PRINTABLE = /^[\x21-\x7e]+$/;
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const PARTS = /^(https?):\/\/([^/]*)(\/.*)?$/i;
const HOST_AND_PORT = /^(\[[^\]]*\]|[^:[\]]+)(?::([0-9]+))?$/;
const MESSAGES = /\/v2\/messages\/?$/;
