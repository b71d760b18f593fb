import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { HmacScheme, Scheme } from '../model.ts';
import { isOneOf } from '../util/secret.ts';
import { instantMs, unixMs } from '../util/time.ts';
import { standardKey } from './secrets.ts';

interface Proof {
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came: a body that was parsed and written again has another signature. */
  readonly body: Buffer;
  /** The segment of the URL behind the path. */
  readonly segment: string | null;
}

type Verdict =
  /** `id`: of the request, the same when it is sent again; null where the scheme has none. */
  | { readonly verified: true; readonly id: string | null }
  /** `reason` is for the log, without any content of the sender. */
  | { readonly verified: false; readonly reason: string };

/** Checks whether the sender knows a secret. Never throws, and takes the same time for a near miss as for a far one. */
export type Verifier = (proof: Proof, nowMs: number) => Verdict;

/** @param secrets from `readWebhookSecrets`; any of them counts */
export function createVerifier(scheme: Scheme, secrets: readonly string[]): Verifier {
  switch (scheme.kind) {
    case 'standard':
      return standardVerifier(scheme.toleranceMs, secrets);
    case 'hmac':
      return hmacVerifier(scheme, secrets);
    case 'basic':
      return basicVerifier(secrets);
    case 'bearer':
      return bearerVerifier(secrets);
    case 'path':
      return pathVerifier(secrets);
  }
}

/** For WWW-Authenticate of a 401 (RFC 9110, 15.5.2); null: the scheme has no name there. */
export function challengeOf(scheme: Scheme): string | null {
  if (scheme.kind === 'basic') return 'Basic realm="webhooks", charset="UTF-8"';
  return scheme.kind === 'bearer' ? 'Bearer realm="webhooks"' : null;
}

const NOT_SIGNED = { verified: false, reason: 'the headers of a signature are missing or no such' } as const;
const OUT_OF_TIME = { verified: false, reason: 'the time of the signature is too far from the clock' } as const;
const WRONG_SIGNATURE = { verified: false, reason: 'the signature is not that of a secret of here' } as const;

/** Either way. */
function isWithin(timeMs: number, nowMs: number, toleranceMs: number): boolean {
  return Math.abs(nowMs - timeMs) <= toleranceMs;
}

/** Unix seconds (with a fraction or without), milliseconds, or ISO 8601; null for anything else. */
function timestampMs(text: string): number | null {
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? unixMs(Number(text)) : instantMs(text);
}

/**
 * Standard Webhooks, version v1: HMAC-SHA256 over `id.timestamp.body` in base64
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 *
 * The hash is Node's and not that of the package `standardwebhooks`, with which the tests compare it. In the package 64
 * KiB take 3 ms instead of 0.04 (measured), which any caller could cause. The body goes through a string, in which
 * invalid UTF-8 is lost, and its clock cannot be passed in.
 */
function standardVerifier(toleranceMs: number, secrets: readonly string[]): Verifier {
  const keys = secrets.map(standardKey);
  return ({ headers, body }, nowMs) => {
    const id = headers['webhook-id'];
    const timestamp = headers['webhook-timestamp'];
    const signatures = headers['webhook-signature'];
    if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string' || id === '') {
      return NOT_SIGNED;
    }
    if (!/^\d{1,12}$/.test(timestamp)) return NOT_SIGNED;
    // Before anything is hashed: an old request costs nothing.
    if (!isWithin(Number(timestamp) * 1000, nowMs, toleranceMs)) return OUT_OF_TIME;
    const given = signaturesOf(signatures);
    if (given.length === 0) return NOT_SIGNED;
    const expected = keys.map((key) =>
      createHmac('sha256', key).update(`${id}.${timestamp}.`, 'latin1').update(body).digest('base64'),
    );
    const matches = given.filter((one) => isOneOf(one, expected)).length > 0;
    return matches ? { verified: true, id } : WRONG_SIGNATURE;
  };
}

/** The header lists signatures, one for each key of the sender; other versions (`v1a`, `v2`) are ignored. */
function signaturesOf(header: string): readonly string[] {
  const listed = header.split(' ', MOST_SIGNATURES).map((one) => one.split(','));
  return listed.flatMap(([version, signature = '']) => (version === 'v1' && signature !== '' ? [signature] : []));
}

/** No sender has more keys at once; each costs a comparison. */
const MOST_SIGNATURES = 20;

/**
 * A keyed hash over the body, or over a string with the body in it, as `webhook.hmac` describes it.
 *
 * If the body comes before the id in that string, the end of a body could be passed off as the beginning of an id: the
 * string, and so the signature, would be the same. A form that was cut off is still a form. So an id there consists of
 * letters, digits, `-` and `_` only, which cannot contain the separator. If the separator contains only such
 * characters, the body must be JSON, which cannot be cut.
 */
function hmacVerifier(scheme: HmacScheme, secrets: readonly string[]): Verifier {
  const { algorithm, encoding, prefix, toleranceMs } = scheme;
  const parts = scheme.signed.split(/(\{(?:body|timestamp|id)\})/);
  const between = betweenBodyAndId(scheme.signed);
  const keys = secrets.map((secret) => Buffer.from(secret, 'utf8'));
  return ({ headers, body }, nowMs) => {
    const header = (name: string | null): string | null => {
      const value = name === null ? undefined : headers[name];
      return typeof value === 'string' && value !== '' ? value : null;
    };
    const given = header(scheme.header);
    const timestamp = header(scheme.timestampHeader);
    const id = header(scheme.idHeader);
    if (given === null || !given.startsWith(prefix)) return NOT_SIGNED;
    if (scheme.idHeader !== null && id === null) return NOT_SIGNED;
    if (scheme.timestampHeader !== null) {
      const timeMs = timestamp === null ? null : timestampMs(timestamp);
      if (timeMs === null) return NOT_SIGNED;
      if (!isWithin(timeMs, nowMs, toleranceMs)) return OUT_OF_TIME;
    }
    if (between !== null && id !== null) {
      if (!PLAIN_ID.test(id)) return NO_PLAIN_ID;
      if (PLAIN_OR_NONE.test(between) && !/[}\]]\s*$/.test(body.toString('latin1', Math.max(0, body.length - 64))))
        return CUTTABLE;
    }
    const expected = keys.map((key) => {
      const hmac = createHmac(algorithm, key);
      for (const part of parts) {
        if (part === '{body}') hmac.update(body);
        // Node reads headers as Latin-1: this restores the bytes.
        else if (part === '{timestamp}') hmac.update(timestamp ?? '', 'latin1');
        else if (part === '{id}') hmac.update(id ?? '', 'latin1');
        else hmac.update(part, 'utf8');
      }
      return hmac.digest(encoding);
    });
    return isOneOf(inOneForm(given.slice(prefix.length), encoding), expected)
      ? { verified: true, id }
      : WRONG_SIGNATURE;
  };
}

/** The separator between the end of the body and the beginning of the id; null if the body does not come before it. */
function betweenBodyAndId(signed: string): string | null {
  const [body, id] = [signed.indexOf('{body}'), signed.indexOf('{id}')];
  if (body === -1 || id < body) return null;
  // A time has a fixed form, whose characters do not separate it from an id.
  return signed.slice(body + '{body}'.length, id).replaceAll('{timestamp}', '');
}

const PLAIN_ID = /^[A-Za-z0-9_-]+$/;
const PLAIN_OR_NONE = /^[A-Za-z0-9_-]*$/;

const NO_PLAIN_ID = {
  verified: false,
  reason: 'its id has other characters than letters, digits, - and _, and the body is signed before it',
} as const;
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

/** RFC 6750. */
function bearerVerifier(secrets: readonly string[]): Verifier {
  return ({ headers }) => {
    const given = credentials(headers.authorization, 'bearer');
    return given === null ? NO_SECRET : verdict(isOneOf(given, secrets));
  };
}

function pathVerifier(secrets: readonly string[]): Verifier {
  return ({ segment }) => (segment === null ? NO_SECRET : verdict(isOneOf(segment, secrets)));
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
const WRONG_SECRET = { verified: false, reason: 'the secret is not one of here' } as const;
