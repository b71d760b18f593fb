import { createHmac } from 'node:crypto';
import type { HmacScheme } from '../model.ts';
import type { Verifier } from './proof.ts';
import { isOneOf } from './same.ts';
import { isWithin, NOT_SIGNED, OUT_OF_TIME, timestampMs } from './verify-time.ts';

/** A keyed hash over the body, or over a string with the body in it, as `webhook.hmac` describes it. */
export function hmacVerifier(scheme: HmacScheme, secrets: readonly string[]): Verifier {
  const { algorithm, encoding, prefix, toleranceMs } = scheme;
  const parts = scheme.signed.split(/(\{(?:body|timestamp|id)\})/);
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
