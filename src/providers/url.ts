import { piecesOf } from './text.ts';

/**
 * Fills in a URL of a provider file. Values are encoded, so that each stays in its place.
 * @param baseUrl - takes the place of `{baseUrl}`, or else of scheme, host and port; null: none
 */
export function fillUrl(text: string, vars: Readonly<Record<string, string>>, baseUrl: string | null): string {
  const filled = (piecesOf(text) ?? [text])
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      return piece.name === 'baseUrl'
        ? (baseUrl ?? '')
        : encodeURIComponent(vars[piece.name.replace(/^var\./, '')] ?? '');
    })
    .join('');
  if (baseUrl === null || needsBaseUrl(text)) return filled;
  const { pathname, search } = new URL(filled);
  return `${new URL(baseUrl).origin}${pathname}${search}`;
}

export function needsBaseUrl(text: string): boolean {
  return text.includes('{baseUrl}');
}

/** Scheme, host and port of a URL of a provider file, with their placeholders; or `{baseUrl}`. */
export function originOf(text: string): string {
  return /^(?:[^:/]+:\/\/)?[^/?#]*/.exec(text)?.[0] ?? '';
}
