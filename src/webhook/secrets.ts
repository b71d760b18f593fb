import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Receiver, Scheme } from '../model.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';

/** A fault as the rest of a sentence that begins with the secret; `weak`: it works, but can be guessed. */
type SecretFault = { readonly wrong: string; readonly hint: string } | { readonly weak: string };

/** Why a scheme cannot use a secret, without the secret. */
function secretFault(kind: Scheme['kind'], secret: string): SecretFault | null {
  if (secret === '') return { wrong: 'is empty', hint: HINTS[kind] };
  // Characters that a shell or a file adds would be part of the key, and make every signature wrong.
  if (secret.trim() !== secret) return { wrong: 'begins or ends with white space', hint: ONLY_THE_SECRET };
  return CHECKS[kind](secret);
}

/** The key of Standard Webhooks: base64, with or without `whsec_` before it. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/** Raw, as an ed25519 key is in base64. */
export function publicKeyBytes(secret: string): Buffer {
  return /^[A-Za-z0-9+/]{43}=?$/.test(secret) ? Buffer.from(secret, 'base64') : Buffer.alloc(0);
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
  hmac: keyFault,
  'url-form': keyFault,
  'body-hmac': keyFault,
  jwt: keyFault,
  ed25519(secret) {
    if (publicKeyBytes(secret).length === 32) return null;
    return { wrong: 'is not a public key of 32 bytes in base64', hint: HINTS.ed25519 };
  },
  basic(secret) {
    const colon = secret.indexOf(':');
    if (colon < 1 || colon === secret.length - 1) return { wrong: 'is not user:password', hint: HINTS.basic };
    return weakness(secret.slice(colon + 1), secret);
  },
  bearer(secret) {
    if (/^[\x21-\x7e]+$/.test(secret)) return weakness(secret, secret);
    return { wrong: 'has characters that are not allowed in a header', hint: HINTS.bearer };
  },
  path(secret) {
    const hint = HINTS.path;
    if (!/^[A-Za-z0-9._~-]+$/.test(secret)) return { wrong: 'has characters that mean something in a URL', hint };
    const bits = Math.floor(bitsOf(secret));
    return bits >= PATH_BITS ? null : { wrong: `has about ${bits} bits; a secret in a URL needs 128`, hint };
  },
};

function keyFault(secret: string): SecretFault | null {
  return weakness(secret, secret);
}

/** A secret in a URL must not be found by trying. */
const PATH_BITS = 128;

/** NIST SP 800-107, 5.3.2, requires as many bits as the wanted strength. */
const FEW_BYTES = 16;

function weakness(counted: string, secret: string): SecretFault | null {
  if (Buffer.byteLength(counted) >= FEW_BYTES && !isMonotonous(secret)) return null;
  return { weak: `has fewer than ${FEW_BYTES} bytes that could be random: who can guess it can report anything` };
}

/** Bits of a secret of such characters if they were drawn at random. */
function bitsOf(secret: string): number {
  if (isMonotonous(secret)) return 0;
  const signs = secret.replace(/[^A-Za-z0-9]/g, '');
  const any = (/\d/.test(signs) ? 10 : 0) + (/[a-z]/.test(signs) ? 26 : 0) + (/[A-Z]/.test(signs) ? 26 : 0);
  const alphabet = /^\d*$/.test(signs) ? 10 : /^(?:[\da-f]*|[\dA-F]*)$/.test(signs) ? 16 : any;
  return signs.length * Math.log2(alphabet);
}

/** Fewer than eight different characters: `aaaa...`, `12341234...`. */
function isMonotonous(secret: string): boolean {
  return new Set(secret).size < 8;
}

const KEY_HINT = 'Take the secret that the provider shows, or make one: openssl rand -hex 32.';

const HINTS: Readonly<Record<Scheme['kind'], string>> = {
  standard: 'Take the secret that the provider shows, whsec_..., or make one: openssl rand -base64 32.',
  hmac: KEY_HINT,
  'url-form': KEY_HINT,
  'body-hmac': KEY_HINT,
  jwt: KEY_HINT,
  ed25519: 'Take the public key that the provider shows, 44 characters that end with =.',
  basic: 'Write user:password, with a password from: openssl rand -hex 16.',
  bearer: 'Make one with: openssl rand -hex 32.',
  path: 'Make one with: openssl rand -hex 16.',
};

const WORDS: SecretWords = {
  name: 'secret of webhooks',
  missing: 'missing-webhook-secret',
  setting: 'secrets: [{ file: PATH }]',
  leaked: 'A person who has read it can send false reports: change it.',
};

/**
 * Reads all secrets of webhooks from their places in handbill.yaml, and checks whether the scheme can use them. No
 * message
 * ever contains one.
 * @param root the folder of relative paths
 * @returns secrets in the order of handbill.yaml; incomplete where a diagnostic is an error
 */
export async function readWebhookSecrets(
  {
    scheme,
    secrets: sources,
    verifyToken: token,
  }: Pick<Receiver, 'scheme' | 'secrets'> & Partial<Pick<Receiver, 'verifyToken'>>,
  env: Readonly<Record<string, string | undefined>>,
  root: string,
) {
  const secrets: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const source of sources) {
    const read = await readSecret(source, env, root, WORDS);
    if ('problem' in read) {
      diagnostics.push(read.problem);
      continue;
    }
    // A file is read byte by byte, as Latin-1, so that its bytes are kept.
    const secret = 'env' in source ? read.secret : Buffer.from(read.secret, 'latin1').toString('utf8');
    const fault = secretFault(scheme.kind, secret);
    const subject = `The secret of webhooks in ${read.place}`;
    if (fault !== null && 'wrong' in fault) {
      diagnostics.push(problem('invalid-webhook-secret', `${subject} ${fault.wrong}.`, { hint: fault.hint }));
    } else if (fault !== null) diagnostics.push(warning('weak-webhook', `${subject} ${fault.weak}.`));
    // One key may be spelled in several ways.
    secrets.push(scheme.kind === 'standard' ? standardKey(secret).toString('base64') : secret);
  }
  const read = token === undefined ? { secret: undefined } : await readSecret(token, env, root, WORDS);
  if ('problem' in read) diagnostics.push(read.problem);
  const verifyToken = 'secret' in read ? read.secret : undefined;
  const message = 'The secret is part of the URL, and URLs appear in the logs of proxies and of the sender.';
  const hint =
    'Use a signature if the sender can make one; else keep those logs private, and change the secret now and then.';
  if (scheme.kind === 'path') diagnostics.push(warning('weak-webhook', message, { hint }));
  return { secrets, verifyToken, diagnostics };
}
