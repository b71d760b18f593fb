/** What stands in the place of a secret. */
export const REDACTED = '[key]';

/** A piece of an encoded secret that is shorter could stand in any text by chance. */
const SHORTEST_PIECE = 8;

/**
 * Makes a function that replaces secrets in text from outside (an API may echo the key in its error body) by `[key]`:
 * as they are, URL-encoded, in base64 and base64url at any place of the encoded bytes, as JSON writes them (also where
 * a library escapes more than it must, as .NET does with `+`), and escaped for HTML. For every such text on its way to
 * the output or the ledger.
 *
 * @param secrets empty ones are ignored
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf));
  if (forms.size === 0) return (text) => text;
  // The longest first: a padded form must not leave its padding behind.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g');
  return (text) => text.replace(pattern, REDACTED);
}

function formsOf(secret: string): readonly string[] {
  const percent = encodeURIComponent(secret);
  return [
    secret,
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    percent.replaceAll('%20', '+'),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    ...unicodeForms(secret),
    escapeHtml(secret, '&#39;'),
    escapeHtml(secret, '&#x27;'),
    ...base64Forms(secret),
  ];
}

/** Everything but letters and digits by its number, or only what JSON libraries escape for the sake of HTML. */
function unicodeForms(secret: string): readonly string[] {
  const escaped = (pattern: RegExp, upper: boolean): string =>
    JSON.stringify(secret)
      .slice(1, -1)
      .replace(pattern, (c) => {
        const hex = c.charCodeAt(0).toString(16).padStart(4, '0');
        return `\\u${upper ? hex.toUpperCase() : hex}`;
      });
  return [/[+<>&'`]/g, /[+/<>&'`]/g].flatMap((pattern) => [escaped(pattern, true), escaped(pattern, false)]);
}

/**
 * The secrets of an environment: the values of variables whose names say that they are one. Short values are left out,
 * because they could be a word of any text (the key of the sandbox is `sandbox`).
 */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const named = Object.entries(env).filter(([name]) => SECRET_NAME.test(name));
  return named.flatMap(([, value]) => (value === undefined || value.length < SHORTEST_SECRET ? [] : [value]));
}

const SECRET_NAME = /(?:^|_)(?:(?:API)?KEY|TOKEN|SECRET|PASSWORD)$/i;
const SHORTEST_SECRET = 12;

/**
 * Base64 of the secret alone, and the part of it that is the same wherever the secret stands in longer text
 * (`user:secret`): three bytes become four characters, so there are three ways, whose ends depend on the neighbours.
 */
function base64Forms(secret: string): readonly string[] {
  const whole = Buffer.from(secret).toString('base64');
  const pieces = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]);
    const from = shift === 0 ? 0 : shift + 1;
    return bytes.toString('base64').slice(from, Math.floor((bytes.length * 8) / 6));
  });
  const standard = [whole, whole.replace(/=+$/, ''), ...pieces.filter((piece) => piece.length >= SHORTEST_PIECE)];
  return standard.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function escapeHtml(text: string, apostrophe: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
