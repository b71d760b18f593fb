import { checkBaseUrl } from '../util/base-url.ts';
import { piecesOf } from './text.ts';

type Named = Readonly<Record<string, string>>;

/** In the place of a secret, where people see it. */
export const HIDDEN = '***';

/**
 * Fills in a URL of a provider file. Values are encoded, so that each stays in its place.
 * @param baseUrl - takes the place of `{baseUrl}`, or else of scheme, host and port; null: none
 * @param secrets - default: the URL is for people, so it hides them
 * @param places - values by the whole name of a placeholder: `since.date`, `page`
 */
export function fillUrl(
  text: string,
  vars: Named,
  baseUrl: string | null,
  secrets: Named = {},
  places: Named = {},
): string {
  const filled = (piecesOf(text) ?? [text])
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      const [kind, key = ''] = piece.name.split(/\.(.*)/s);
      if (kind === 'baseUrl') return baseUrl ?? '';
      const own = kind === 'secret' ? (secrets[key] ?? HIDDEN) : (places[piece.name] ?? vars[key]);
      const instead = piece.instead?.replace(/^var\.(.+)$/, (_, name: string) => vars[name] ?? '');
      return encodeURIComponent(own ?? instead ?? '');
    })
    .join('');
  if (baseUrl === null || needsBaseUrl(text)) return filled;
  const { pathname, search } = new URL(filled);
  return `${new URL(baseUrl).origin}${pathname}${search}`;
}

/** Placeholders of URLs that reports are fetched from: three days before the last fetch, and counts. */
export const FETCH_VALUES: readonly string[] = ['since.date', 'since.instant', 'since.unix', 'page', 'offset'];

export function needsBaseUrl(text: string): boolean {
  return text.includes('{baseUrl}');
}

/** Scheme, host and port of a URL of a provider file, with their placeholders; or `{baseUrl}`. */
export function originOf(text: string): string {
  return /^(?:[^:/]+:\/\/)?[^/?#]*/.exec(text)?.[0] ?? '';
}

/** Why requests cannot be posted to a URL of a provider file, whatever its values are; null: they can. */
export function checkUrl(text: string): { readonly problem: string; readonly hint: string } | null {
  const start = originOf(text);
  if (text.includes('{baseUrl}') && (start !== '{baseUrl}' || text.lastIndexOf('{baseUrl}') > 0)) {
    return { problem: '{baseUrl} is only at the start of a URL.', hint: 'For example: "{baseUrl}/send"' };
  }
  const url = text.replace('{baseUrl}', 'https://api.example.com').replaceAll(/\{[^{}]*\}/g, 'x');
  const origin = checkBaseUrl(originOf(url));
  if ('problem' in origin) {
    return { problem: origin.problem.replace('base URL', 'URL'), hint: origin.hint.replace('base URL', 'URL') };
  }
  const rest = url.slice(originOf(url).length);
  const { pathname, search } = new URL(url);
  if (rest === '' || rest === pathname + search) return null;
  return {
    problem: 'The path of the URL is spelt in an unusual way.',
    hint: `It means ${pathname}${search}: write that.`,
  };
}
