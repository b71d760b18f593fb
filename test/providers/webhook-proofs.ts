import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';

/** How each API proves its webhooks, from its published description, without any function of handbill. */

export interface Sent {
  readonly method: 'GET' | 'POST';
  /** The public URL, with the query of the request. */
  readonly url: string;
  readonly body: string;
  readonly atMs: number;
}

export interface Proven {
  readonly headers: Readonly<Record<string, string>>;
  /** In place of the body. */
  readonly body?: string;
  /** Behind the path. */
  readonly segment?: string;
}

export interface Proof {
  readonly secret: string;
  /** `wrong`: with the secret of another account. */
  readonly prove: (sent: Sent, options?: { readonly wrong?: boolean; readonly id?: string }) => Proven;
  readonly covers: readonly ('body' | 'url' | 'time' | 'id')[];
}

const KEY = 's3cret-of-the-webhook';
const OTHER = 's3cret-of-another-account';
const PAIRS = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')] as const;

const sorted = (body: string): string =>
  [...new URLSearchParams(body)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}${value}`)
    .join('');
const seconds = (atMs: number): number => Math.floor(atMs / 1000);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function token(claims: object, key: string): string {
  const signed = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

const basic: Proof = {
  secret: `handbill:${KEY}`,
  prove: (_sent, { wrong = false } = {}) => {
    const user = `handbill:${wrong ? OTHER : KEY}`;
    return { headers: { authorization: `Basic ${Buffer.from(user).toString('base64')}` } };
  },
  covers: [],
};

const path: Proof = {
  secret: '0123456789abcdef0123456789abcdef',
  prove: (_sent, { wrong = false } = {}) => ({
    headers: {},
    segment: wrong ? '0123456789abcdef0123456789abcde0' : '0123456789abcdef0123456789abcdef',
  }),
  covers: [],
};

export const PROOFS: Readonly<Record<string, Proof>> = {
  // https://www.twilio.com/docs/usage/security: the URL, then names and values in the order of names.
  twilio: {
    secret: KEY,
    prove: ({ url, body }, { wrong = false } = {}) => ({
      headers: {
        'x-twilio-signature': createHmac('sha1', wrong ? OTHER : KEY)
          .update(url + sorted(body))
          .digest('base64'),
      },
    }),
    covers: ['body', 'url'],
  },
  // https://github.com/plivo/plivo-node lib/utils/v3Security.js
  plivo: {
    secret: KEY,
    prove: ({ url, body }, { wrong = false, id = sha256(url + body) } = {}) => {
      const text = body === '' ? url : url.includes('?') ? `${url}.${sorted(body)}` : `${url}?${sorted(body)}`;
      const key = wrong ? OTHER : KEY;
      const signature = createHmac('sha256', key).update(`${text}.${id}`).digest('base64');
      const another = createHmac('sha256', 'the main account').update(text).digest('base64');
      return {
        headers: { 'x-plivo-signature-v3': `${another},${signature}`, 'x-plivo-signature-v3-nonce': id },
      };
    },
    covers: ['body', 'url', 'id'],
  },
  // https://developers.telnyx.com/docs/messaging: ed25519 over timestamp|body.
  telnyx: {
    secret: String(PAIRS[0].publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')),
    prove: ({ body, atMs }, { wrong = false } = {}) => {
      const timestamp = String(seconds(atMs));
      const signature = sign(null, Buffer.from(`${timestamp}|${body}`), PAIRS[wrong ? 1 : 0].privateKey);
      return {
        headers: { 'telnyx-timestamp': timestamp, 'telnyx-signature-ed25519': signature.toString('base64') },
      };
    },
    covers: ['body', 'time'],
  },
  // https://documentation.mailgun.com: over timestamp and token, inside of the body.
  mailgun: {
    secret: KEY,
    prove: ({ body, atMs }, { wrong = false, id } = {}) => {
      const document = JSON.parse(body) as { signature: { token: string } };
      const timestamp = String(seconds(atMs));
      const nonce = id ?? document.signature.token;
      const signature = createHmac('sha256', wrong ? OTHER : KEY)
        .update(`${timestamp}${nonce}`)
        .digest('hex');
      return { headers: {}, body: JSON.stringify({ ...document, signature: { timestamp, token: nonce, signature } }) };
    },
    covers: ['time', 'id'],
  },
  // https://github.com/messagebird/messagebird-nodejs lib/webhook-signature-jwt.js
  messagebird: {
    secret: KEY,
    prove: ({ url, body, atMs }, { wrong = false, id = sha256(url + body) } = {}) => {
      const iat = seconds(atMs);
      const times = { iss: 'MessageBird', iat, nbf: iat, exp: iat + 60, jti: id };
      const hashes = { url_hash: sha256(url), ...(body === '' ? {} : { payload_hash: sha256(body) }) };
      return { headers: { 'messagebird-signature-jwt': token({ ...times, ...hashes }, wrong ? OTHER : KEY) } };
    },
    covers: ['body', 'url', 'time', 'id'],
  },
  // https://developer.vonage.com/en/getting-started/concepts/webhooks
  'vonage-messages': {
    secret: KEY,
    prove: ({ body, atMs }, { wrong = false, id = sha256(body) } = {}) => {
      const claims = { iss: 'Vonage', iat: seconds(atMs), jti: id, payload_hash: sha256(body), api_key: 'abcd0000' };
      return { headers: { authorization: `Bearer ${token(claims, wrong ? OTHER : KEY)}` } };
    },
    covers: ['body', 'time', 'id'],
  },
  // https://developers.facebook.com/docs/graph-api/webhooks
  'whatsapp-cloud': {
    secret: KEY,
    prove: ({ body }, { wrong = false } = {}) => ({
      headers: {
        'x-hub-signature-256': `sha256=${createHmac('sha256', wrong ? OTHER : KEY)
          .update(body)
          .digest('hex')}`,
      },
    }),
    covers: ['body'],
  },
  'govuk-notify': {
    secret: KEY,
    prove: (_sent, { wrong = false } = {}) => ({ headers: { authorization: `Bearer ${wrong ? OTHER : KEY}` } }),
    covers: [],
  },
  '46elks': basic,
  infobip: basic,
  sinch: basic,
  postmark: basic,
  cm: path,
  gatewayapi: path,
  'vonage-sms': path,
};
