import type { Scheme } from '../model.ts';

/** What is wrong with a secret, as the rest of a sentence that begins with it; `weak`: it works, but can be guessed. */
export type SecretFault = { readonly wrong: string; readonly hint: string } | { readonly weak: string };

/** Says whether a scheme can use a secret. What it says never holds the secret. */
export function secretFault(kind: Scheme['kind'], secret: string): SecretFault | null {
  if (secret === '') return { wrong: 'is empty', hint: HINTS[kind] };
  // What a shell or a file left behind it would be a part of the key, and every signature a wrong one.
  if (secret.trim() !== secret) return { wrong: 'begins or ends with white space', hint: ONLY_THE_SECRET };
  return CHECKS[kind](secret);
}

/** The key of Standard Webhooks: base64, with `whsec_` before it or not. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

const ONLY_THE_SECRET = 'Write the secret and nothing else, with no line break behind it: printf instead of echo.';

const CHECKS: Readonly<Record<Scheme['kind'], (secret: string) => SecretFault | null>> = {
  standard(secret) {
    const hint = HINTS.standard;
    if (/^wh[ps]k_/.test(secret)) return { wrong: 'is a key of asymmetric signatures, which cannot be used', hint };
    const bare = secret.replace(/^whsec_/, '').replace(/={1,2}$/, '');
    if (!/^[A-Za-z0-9+/]*$/.test(bare) || bare.length % 4 === 1) return { wrong: 'is not base64', hint };
    const { length } = standardKey(secret);
    if (length >= 24 && length <= 64) return null;
    return { wrong: `has ${length} bytes; Standard Webhooks takes 24 to 64`, hint };
  },
  hmac: (secret) => weakness(secret, secret),
  basic(secret) {
    const colon = secret.indexOf(':');
    if (colon < 1 || colon === secret.length - 1) return { wrong: 'is not user:password', hint: HINTS.basic };
    return weakness(secret.slice(colon + 1), secret);
  },
  bearer(secret) {
    if (/^[\x21-\x7e]+$/.test(secret)) return weakness(secret, secret);
    return { wrong: 'has characters that cannot stand in a header', hint: HINTS.bearer };
  },
  path(secret) {
    const hint = HINTS.path;
    if (!/^[A-Za-z0-9._~-]+$/.test(secret)) return { wrong: 'has characters that mean something in a URL', hint };
    const bits = Math.floor(bitsOf(secret));
    return bits >= PATH_BITS ? null : { wrong: `has about ${bits} bits; a secret in a URL needs 128`, hint };
  },
};

/** SECURITY S29. */
const PATH_BITS = 128;

/** NIST SP 800-107, 5.3.2, asks for as many bits as the strength that is wanted. */
const FEW_BYTES = 16;

function weakness(counted: string, secret: string): SecretFault | null {
  if (Buffer.byteLength(counted) >= FEW_BYTES && !isMonotonous(secret)) return null;
  return { weak: `has fewer than ${FEW_BYTES} bytes that could be random: who can guess it can report anything` };
}

/** How many bits a secret of such characters has if they were drawn at random. */
function bitsOf(secret: string): number {
  if (isMonotonous(secret)) return 0;
  const signs = secret.replace(/[^A-Za-z0-9]/g, '');
  const alphabet = /^\d*$/.test(signs) ? 10 : /^(?:[\da-f]*|[\dA-F]*)$/.test(signs) ? 16 : lettersOf(signs);
  return signs.length * Math.log2(alphabet);
}

function lettersOf(signs: string): number {
  return (/\d/.test(signs) ? 10 : 0) + (/[a-z]/.test(signs) ? 26 : 0) + (/[A-Z]/.test(signs) ? 26 : 0);
}

/** Fewer than eight different characters: `aaaa...`, `12341234...`. */
function isMonotonous(secret: string): boolean {
  return new Set(secret).size < 8;
}

const HINTS: Readonly<Record<Scheme['kind'], string>> = {
  standard: 'Take the secret that the provider shows, whsec_..., or make one: openssl rand -base64 32.',
  hmac: 'Take the secret that the provider shows, or make one: openssl rand -hex 32.',
  basic: 'Write user:password, with a password from: openssl rand -hex 16.',
  bearer: 'Make one with: openssl rand -hex 32.',
  path: 'Make one with: openssl rand -hex 16.',
};
