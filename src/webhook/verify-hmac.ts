import { createHmac } from 'node:crypto';
import type { HmacScheme } from '../model.ts';
import type { Verifier } from './proof.ts';
import { isOneOf } from './same.ts';
import { isWithin, NOT_SIGNED, OUT_OF_TIME, timestampMs } from './verify-time.ts';

/**
 * A keyed hash over the body, or over a string with the body in it, as `webhook.hmac` describes it.
 *
 * Where the body comes before the id in that string, the end of a body could be passed off as the beginning of an id: the
 * string, and so the signature, would be the same. A form that was cut off is still a form. So an id there consists of
 * letters, digits, `-` and `_` only, which cannot hold what stands between the two. Where nothing stands between them
 * that an id could not hold, the body must be JSON, which cannot be cut.
 */
export function hmacVerifier(scheme: HmacScheme, secrets: readonly string[]): Verifier {
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
        // Node reads headers as Latin-1: so they become the bytes that came.
        else if (part === '{timestamp}') hmac.update(timestamp ?? '', 'latin1');
        else if (part === '{id}') hmac.update(id ?? '', 'latin1');
        else hmac.update(part, 'utf8');
      }
      return hmac.digest(encoding);
    });
    return isOneOf(inOneForm(given.slice(prefix.length), encoding), expected) ? { verified: true, id } : WRONG;
  };
}

/** What stands between the end of the body and the beginning of the id; null where the body does not come before it. */
function betweenBodyAndId(signed: string): string | null {
  const [body, id] = [signed.indexOf('{body}'), signed.indexOf('{id}')];
  if (body === -1 || id < body) return null;
  // A time has a form of its own, whose signs are none that separate.
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

const WRONG = { verified: false, reason: 'the signature is not that of a secret of here' } as const;
