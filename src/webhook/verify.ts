import { createHmac, createPublicKey, hash, verify as verifySignature } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JwtScheme, Scheme, SignatureScheme } from '../model.ts';
import { follow, parsePointer } from '../util/json.ts';
import { isOneOf, isSame } from '../util/secret.ts';
import { instantMs, unixMs } from '../util/time.ts';
import { isForm, parseBody } from './interpret-body.ts';
import { publicKeyBytes, standardKey } from './secrets.ts';
import { idOf } from './states.ts';

interface Proof {
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came: a body that was parsed and written again has another signature. */
  readonly body: Buffer;
  /** The segment of the URL behind the path. */
  readonly segment: string | null;
  /** As it came, from its `?` on; empty without one. */
  readonly query: string;
}

type Verdict =
  /** `id`: of the request, the same when it is sent again; null where the scheme has none. */
  | { readonly verified: true; readonly id: string | null }
  /** `reason` is for the log, without any content of the sender. */
  | { readonly verified: false; readonly reason: string };

/** Checks whether the sender knows a secret. Never throws, and takes the same time for a near miss as for a far one. */
export type Verifier = (proof: Proof, nowMs: number) => Verdict | Promise<Verdict>;

/** @param secrets from `readWebhookSecrets`; any of them counts */
export function createVerifier(scheme: Scheme, secrets: readonly string[]): Verifier {
  switch (scheme.kind) {
    case 'standard':
      return signatureVerifier(
        { ...STANDARD, ...scheme, kind: 'hmac' },
        keyedHashCheck(STANDARD, secrets.map(standardKey)),
      );
    case 'ed25519':
      return signatureVerifier(scheme, publicKeyCheck(secrets));
    case 'hmac':
    case 'url-form':
    case 'body-hmac':
      return signatureVerifier(scheme, keyedHashCheck(scheme, secrets));
    case 'jwt':
      return jwtVerifier(scheme, secrets);
    case 'basic':
      return basicVerifier(secrets);
    // RFC 6750.
    case 'bearer':
      return ({ headers }) => {
        const given = credentials(headers.authorization, 'bearer');
        return given === null ? NO_SECRET : verdict(isOneOf(given, secrets));
      };
    case 'path':
      return ({ segment }) => (segment === null ? NO_SECRET : verdict(isOneOf(segment, secrets)));
  }
}

/** For WWW-Authenticate of a 401 (RFC 9110, 15.5.2); null: the scheme has no name there. */
export function challengeOf(scheme: Scheme): string | null {
  if (scheme.kind === 'basic') return 'Basic realm="webhooks", charset="UTF-8"';
  return scheme.kind === 'bearer' || (scheme.kind === 'jwt' && scheme.header === 'authorization')
    ? 'Bearer realm="webhooks"'
    : null;
}

const NOT_SIGNED = { verified: false, reason: 'the headers of a signature are missing or malformed' } as const;
const OUT_OF_TIME = { verified: false, reason: 'the time of the signature is too far from the clock' } as const;
const WRONG_SIGNATURE = {
  verified: false,
  reason: 'the signature fits no secret of `webhook.secrets` (`handbill help webhooks`)',
} as const;

/**
 * Standard Webhooks, version v1, as a signature
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). Signatures of other
 * versions (`v1a`, `v2`) in the header are ignored.
 *
 * The hash is Node's and not that of the package `standardwebhooks`, with which the tests compare it. In the package 64
 * KiB take 3 ms instead of 0.04 (measured), which any caller could cause. The body goes through a string, in which
 * invalid UTF-8 is lost, and its clock cannot be passed in.
 */
const STANDARD = {
  kind: 'hmac',
  header: 'webhook-signature',
  algorithm: 'sha256',
  encoding: 'base64',
  prefix: 'v1,',
  signed: '{id}.{timestamp}.{body}',
  timestampHeader: 'webhook-timestamp',
  idHeader: 'webhook-id',
} as const;

/** No sender has more keys at once; each costs a comparison. */
const MOST_SIGNATURES = 20;

/**
 * A signature over the body, or over a string that is made of parts of the request, as `webhook` describes it.
 *
 * If the content comes before the id in that string, its end could be passed off as the beginning of an id: the
 * string, and so the signature, would be the same. A form that was cut off is still a form. So an id there consists of
 * letters, digits, `-` and `_` only, which cannot contain the separator. If the separator contains only such
 * characters, the content must be JSON, which cannot be cut.
 */
function signatureVerifier(scheme: SignatureScheme, isGenuine: Check): Verifier {
  const { encoding, prefix, signed, toleranceMs } = scheme;
  const parts = signed.split(/(\{(?:body|form|url|timestamp|id)\})/);
  const [content, idAt] = [signed.search(/\{(?:body|form)\}/), signed.indexOf('{id}')];
  // Null: the content is not before the id. A time has a fixed form, whose characters do not separate it from an id.
  const between =
    content === -1 || idAt < content
      ? null
      : signed.slice(content + '{body}'.length, idAt).replaceAll('{timestamp}', '');
  return (proof, nowMs) => {
    const { body } = proof;
    if (scheme.kind === 'url-form' && body.length > 0 && !isForm(body.toString('latin1'))) return NO_FORM;
    const valueAt = placesIn(proof);
    const given = valueAt(scheme.header);
    const timestamp = valueAt(scheme.timestampHeader);
    const id = valueAt(scheme.idHeader);
    const signatures = signaturesIn(given ?? '', prefix).map((one) => inOneForm(one, encoding));
    if (signatures.length === 0) return NOT_SIGNED;
    if (scheme.idHeader !== null && id === null) return NOT_SIGNED;
    if (scheme.timestampHeader !== null) {
      const isUnix = /^\d{1,15}(?:\.\d{1,9})?$/.test(timestamp ?? '');
      const timeMs = isUnix ? unixMs(Number(timestamp)) : instantMs(timestamp ?? '');
      if (timeMs === null) return NOT_SIGNED;
      if (Math.abs(nowMs - timeMs) > toleranceMs) return OUT_OF_TIME;
    }
    if (between !== null && id !== null) {
      if (!PLAIN_ID.test(id)) return NO_PLAIN_ID;
      if (PLAIN_OR_NONE.test(between) && !/[}\]]\s*$/.test(body.toString('latin1', Math.max(0, body.length - 64))))
        return CUTTABLE;
    }
    const text = Buffer.concat(
      parts.map((part) => {
        if (part === '{body}') return body;
        if (part === '{form}') return formOf(scheme, proof);
        if (part === '{url}') return Buffer.from(publicUrl(scheme, proof));
        // Node reads headers as Latin-1: this restores the bytes.
        if (part === '{timestamp}') return Buffer.from(timestamp ?? '', 'latin1');
        return part === '{id}' ? Buffer.from(id ?? '', 'latin1') : Buffer.from(part, 'utf8');
      }),
    );
    if (!isGenuine(text, signatures)) return WRONG_SIGNATURE;
    // Where time and id are all that is signed, nothing parts them: another cut of the two must not be another id.
    return { verified: true, id: content !== -1 ? id : text.toString('latin1') };
  };
}

type Check = (text: Buffer, signatures: readonly string[]) => boolean;

function keyedHashCheck(
  { algorithm, encoding }: Pick<SignatureScheme, 'algorithm' | 'encoding'>,
  keys: readonly (string | Buffer)[],
): Check {
  return (text, signatures) => {
    const expected = keys.map((key) => createHmac(algorithm, key).update(text).digest(encoding));
    return signatures.filter((one) => isOneOf(one, expected)).length > 0;
  };
}

function publicKeyCheck(secrets: readonly string[]): Check {
  const keys = secrets.map((secret) => {
    const x = publicKeyBytes(secret).toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  });
  return (text, [signature = '']) => {
    const bytes = Buffer.from(signature, /^[0-9a-f]{128}$/.test(signature) ? 'hex' : 'base64');
    return keys.some((key) => verifySignature(null, text, key, bytes));
  };
}

/** Values of headers, and of JSON pointers into the body, which is parsed where one is asked for. */
function placesIn({ headers, body }: Proof): (place: string | null) => string | null {
  let document: unknown;
  return (place) => {
    if (place?.startsWith('/') !== true) {
      const value = place === null ? undefined : headers[place];
      return typeof value === 'string' && value !== '' ? value : null;
    }
    if (document === undefined) {
      const parsed = parseBody(body);
      document = 'kind' in parsed ? null : (parsed.documents[0] ?? null);
    }
    return idOf(follow(document, parsePointer(place)));
  };
}

/** Some senders list a signature for each of their keys, with a comma or, where the prefix has one, a blank between. */
function signaturesIn(given: string, prefix: string): readonly string[] {
  const between = !prefix.includes(',') ? /, */ : prefix.includes(' ') ? null : ' ';
  const listed = between === null ? [given] : given.split(between, MOST_SIGNATURES);
  return listed.flatMap((one) =>
    one.length > prefix.length && one.startsWith(prefix) ? [one.slice(prefix.length)] : [],
  );
}

function publicUrl({ url = '' }: Pick<SignatureScheme, 'url'>, { query }: Proof): string {
  return url.replace(/\?.*$/s, '') + query;
}

/** Names and values in the order of names, each pair once. */
function formOf(
  { beforeForm: [without = '', behindQuery = ''] = [] }: SignatureScheme,
  { body, query }: Proof,
): Buffer {
  const pairs = [...new URLSearchParams(body.toString('utf8'))].map(([name, value]) => ({ name, value }));
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  pairs.sort((a, b) => order(a.name, b.name) || order(a.value, b.value));
  const fields = new Set(pairs.map(({ name, value }) => name + value));
  const mark = fields.size === 0 ? '' : query === '' ? without : behindQuery;
  return Buffer.from(mark + [...fields].join(''));
}

/**
 * A JSON Web Token with hashes of the body, and of the URL. The package is loaded for the first request, because few
 * senders make tokens.
 */
function jwtVerifier(scheme: JwtScheme, secrets: readonly string[]): Verifier {
  const { header, issuer, payloadHash, urlHash, toleranceMs } = scheme;
  const keys = secrets.map((secret) => Buffer.from(secret, 'utf8'));
  return async (proof, nowMs) => {
    const { headers, body } = proof;
    const value = header === 'authorization' ? credentials(headers.authorization, 'bearer') : headers[header];
    if (typeof value !== 'string' || value === '') return NOT_SIGNED;
    const { jwtVerify, errors } = await import('jose');
    const options = {
      algorithms: ['HS256'],
      currentDate: new Date(nowMs),
      clockTolerance: toleranceMs / 1000,
      // From `iat`, which is then required.
      maxTokenAge: 0,
      ...(issuer === undefined ? {} : { issuer }),
    };
    const checks = keys.map((key) => jwtVerify(value, key, options));
    let claims: Readonly<Record<string, unknown>> | null = null;
    let isLate = false;
    for (const check of await Promise.allSettled(checks)) {
      if (check.status === 'fulfilled') claims ??= check.value.payload;
      else {
        // `nbf` or `iat` is ahead of the clock: the signature was checked before.
        const claim = check.reason instanceof Error && 'claim' in check.reason ? check.reason.claim : null;
        isLate ||= check.reason instanceof errors.JWTExpired || claim === 'nbf' || claim === 'iat';
      }
    }
    if (claims === null) return isLate ? OUT_OF_TIME : WRONG_SIGNATURE;
    const holds = (name: string, content: string | Buffer): boolean =>
      isSame(String(claims[name]).toLowerCase(), hash('sha256', content, 'hex'));
    const isBody = claims[payloadHash] === undefined ? body.length === 0 : holds(payloadHash, body);
    const isUrl = urlHash === undefined || holds(urlHash, publicUrl(scheme, proof));
    if (!isBody || !isUrl) return WRONG_SIGNATURE;
    return { verified: true, id: idOf(claims['jti']) };
  };
}

const PLAIN_ID = /^[A-Za-z0-9_-]+$/;
const PLAIN_OR_NONE = /^[A-Za-z0-9_-]*$/;

const NO_PLAIN_ID = {
  verified: false,
  reason: 'its id has other characters than letters, digits, - and _, and the body is signed before it',
} as const;
const NO_FORM = { verified: false, reason: 'its body is not a form' } as const;
const CUTTABLE = {
  verified: false,
  reason: 'nothing parts its body from its id where they are signed, and the body is no JSON',
} as const;

/** Some senders write hex digits in capitals, or base64 without its padding or with the signs of URLs. */
function inOneForm(signature: string, encoding: 'hex' | 'base64'): string {
  if (encoding === 'hex') return signature.toLowerCase();
  const plain = signature
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  return plain + '='.repeat((4 - (plain.length % 4)) % 4);
}

/* Schemes that send the secret itself: without a time, so a copied request can be sent again. */

/** RFC 7617. */
function basicVerifier(secrets: readonly string[]): Verifier {
  const expected = secrets.map((secret) => Buffer.from(secret, 'utf8'));
  return ({ headers }) => {
    const given = credentials(headers.authorization, 'basic');
    return given === null ? NO_SECRET : verdict(isOneOf(Buffer.from(given, 'base64'), expected));
  };
}

/** The part after the name of the scheme, which may be written in any case. */
function credentials(header: string | undefined, scheme: string): string | null {
  const [name = '', value = '', ...more] = (header ?? '').trim().split(/ +/, 3);
  return name.toLowerCase() === scheme && value !== '' && more.length === 0 ? value : null;
}

function verdict(matches: boolean): Verdict {
  return matches ? { verified: true, id: null } : WRONG_SECRET;
}

const NO_SECRET = { verified: false, reason: 'the request holds no secret' } as const;
const WRONG_SECRET = {
  verified: false,
  reason: 'the secret is none of `webhook.secrets` (`handbill help webhooks`)',
} as const;
