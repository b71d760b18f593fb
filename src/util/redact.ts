import { escapePattern } from './escape.ts';

const REDACTED = '[key]';
/** A shorter piece of an encoded secret could be in any text by chance. */
const SHORTEST_PIECE = 8;

/**
 * Replaces secrets by `[key]` in text from outside (an API may echo the key) on its way to the output or the ledger: as they
 * are, encoded for an address, JSON or HTML, and in base64, base64url and hexadecimal at any place of the encoded bytes.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  // The longest first, so that a secret that begins like another is replaced as a whole.
  const longestFirst = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => text;
  const patterns = longestFirst.flatMap((secret) => {
    const hex = Buffer.from(secret).toString('hex');
    // A padded form must not leave its padding behind.
    const encoded = [...base64Forms(secret), hex, hex.toUpperCase()].sort((a, b) => b.length - a.length);
    return [[...secret].map(signPattern).join(''), ...encoded.map(escapePattern)];
  });
  const pattern = new RegExp(patterns.join('|'), 'g');
  return (text) => text.replace(pattern, REDACTED);
}

/** A sign as it is, or as some encoder writes it: which ones they escape differs (.NET escapes `+`, Gson `=`). */
function signPattern(sign: string): string {
  if (/[A-Za-z0-9]/.test(sign)) return sign;
  const code = sign.charCodeAt(0);
  // No key can hold it: see http/credentials.ts.
  if (code > 0x7e) return escapePattern(sign);
  const bothCases = [...code.toString(16)].map((c) => (/[a-f]/.test(c) ? `[${c}${c.toUpperCase()}]` : c)).join('');
  const url = [`%${bothCases.padStart(2, '0')}`, ...(sign === ' ' ? ['\\+'] : [])];
  // JSON may be a text in JSON, which doubles the backslashes and adds one.
  const json = [`\\\\{1,7}u0{0,3}${bothCases}`, ...('"\\/'.includes(sign) ? [`\\\\{1,7}${escapePattern(sign)}`] : [])];
  const html = [`&#0{0,4}${code};`, `&#[xX]0{0,4}${bothCases};`, ...(ENTITIES.get(sign) ?? [])];
  return `(?:${[...url, ...json, ...html, escapePattern(sign)].join('|')})`;
}

const ENTITIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['&', ['&amp;']],
  ['<', ['&lt;']],
  ['>', ['&gt;']],
  ['"', ['&quot;']],
  ["'", ['&apos;']],
]);

/** Variables that are secrets by their names. Short values do not count: they could be in any text, as `sandbox`. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  // Errors name the file of a key. If the variable holds the key itself by mistake, they must not show it.
  const isPath = (name: string, value = ''): boolean =>
    name === 'HANDBILL_SIGNING_KEY' && !/\n|PRIVATE KEY/.test(value);
  const named = Object.entries(env).filter(([name, value]) => SECRET_NAME.test(name) && !isPath(name, value));
  return named.flatMap(([, value]) => (value === undefined || value.length < SHORTEST_SECRET ? [] : [value]));
}

const SECRET_NAME = /(?:^|_)(?:(?:API)?KEY|TOKEN|SECRET|PASSWORD)$/i;
const SHORTEST_SECRET = 12;

/**
 * Base64 of the secret, and the part of it that is the same wherever it is in longer text (`user:secret`): three bytes become
 * four characters, so there are three ways, whose ends depend on the bytes around.
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

/** For logs and terminal diagnostics: `+44•••••••0123`, `a•••@example.com`. Machine formats hold them as they are. */
export function mask(address: string): string {
  const at = address.lastIndexOf('@');
  if (at > 0) return `${address.slice(0, 1)}•••${address.slice(at)}`;
  if (address.length <= 6) return '•'.repeat(address.length);
  const head = address.startsWith('+') ? 3 : 2;
  return `${address.slice(0, head)}${'•'.repeat(Math.max(3, address.length - head - 4))}${address.slice(-4)}`;
}

/** Numbers with `+` or `00`, national ones, bare runs of 11 to 15 digits, and emails. Dates, times and amounts stay. */
export function maskText(text: string): string {
  return maskNumbers(text).replace(EMAIL, mask);
}

/** As `maskText`, and as long as before, so that a caret below it still points to its place. */
export function maskInPlace(text: string): string {
  return maskNumbers(text).replace(EMAIL, (email) => {
    const at = email.lastIndexOf('@');
    return `${email.slice(0, 1)}${'•'.repeat(Math.max(0, at - 1))}${email.slice(at)}`;
  });
}

/** As `maskText`, for numbers only. The text after a number stays in its column. */
export function maskNumbers(text: string): string {
  return /\d{3}/.test(text) ? text.replace(NUMBER, mask) : text;
}

// Not in the middle of a word, a path, an id or a decimal number.
const NUMBER =
  /(?<![\w@./+-]|\d:)(?:(?:\+|00)[ (]{0,2}[1-9](?:[ ()./-]{0,2}\d){6,14}|0(?:[ ()/-]{0,2}\d){8,12}|[1-9]\d{10,14})(?!\w|[.,:-]\d)/g;
// From the beginning of a word on, and bounded: else a long text without an `@` would be searched from each character.
const EMAIL = /(?<![^\s@<>"'(),:;])[^\s@<>"'(),:;]{1,254}@[^\s@<>"'(),:;]{0,253}[^\s@<>"'(),:;.]/g;
