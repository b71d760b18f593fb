import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import type { HmacScheme, Scheme } from '../../src/model.ts';
import { createVerifier } from '../../src/webhook/verify.ts';
import { anyText } from '../helpers/any-text.ts';
import { SECRET, STANDARD, signed } from './sender.ts';

/* The vector of Standard Webhooks. */
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const AT_MS = 1_614_265_330_000;
const BODY = '{"test": 2432232314}';
const VECTOR: IncomingHttpHeaders = {
  'webhook-id': ID,
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

function isVerified(
  headers: IncomingHttpHeaders,
  body: string | Buffer = BODY,
  { scheme = STANDARD, secrets = [SECRET], nowMs = AT_MS, segment = null as string | null } = {},
): boolean {
  const verdict = createVerifier(scheme, secrets)({ headers, body: Buffer.from(body), segment, query: '' }, nowMs);
  return 'verified' in verdict && verdict.verified;
}

describe('Standard Webhooks', () => {
  const good = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const other = `v1,${Buffer.alloc(32, 7).toString('base64')}`;

  test.each<[label: string, headers: IncomingHttpHeaders, expected: boolean]>([
    ['the vector', {}, true],
    ['several signatures, the good one among them', { 'webhook-signature': `${other} ${good} v2,decoy` }, true],
    ['the good one as another version', { 'webhook-signature': good.replace('v1', 'v2') }, false],
    ['the good one without a version', { 'webhook-signature': good.slice(3) }, false],
    ['only an asymmetric one', { 'webhook-signature': good.replace('v1', 'v1a') }, false],
    ['a wrong one', { 'webhook-signature': other }, false],
    ['a part of it', { 'webhook-signature': good.slice(0, 20) }, false],
    ['more than it', { 'webhook-signature': `${good}AAAA` }, false],
    ['an empty one', { 'webhook-signature': 'v1,' }, false],
    ['only a version', { 'webhook-signature': 'v1' }, false],
    ['nothing', { 'webhook-signature': '' }, false],
    ['spaces', { 'webhook-signature': '   ' }, false],
    ['a very long one', { 'webhook-signature': `v1,${'A'.repeat(10_000)}` }, false],
    ['ten thousand of them', { 'webhook-signature': `${`${other} `.repeat(300)}` }, false],
    ['no signature', { 'webhook-signature': undefined }, false],
    ['no id', { 'webhook-id': undefined }, false],
    ['an empty id', { 'webhook-id': '' }, false],
    ['another id', { 'webhook-id': 'msg_other' }, false],
    ['no timestamp', { 'webhook-timestamp': undefined }, false],
    ['another timestamp', { 'webhook-timestamp': '1614265331' }, false],
    ['a timestamp in words', { 'webhook-timestamp': 'now' }, false],
    ['a timestamp with something behind it', { 'webhook-timestamp': '1614265330x' }, false],
    ['a timestamp with a fraction', { 'webhook-timestamp': '1614265330.0' }, false],
    ['a negative timestamp', { 'webhook-timestamp': '-1614265330' }, false],
    ['a timestamp without end', { 'webhook-timestamp': '1'.repeat(400) }, false],
  ])('%s', (_label, headers, expected) => {
    expect(isVerified({ ...VECTOR, ...headers })).toBe(expected);
  });

  test.each([
    [-301_000, false],
    [-300_000, true],
    [-299_000, true],
    [0, true],
    [299_000, true],
    [300_000, true],
    [301_000, false],
  ])('a clock that is %d ms ahead', (aheadMs, expected) => {
    expect(isVerified(VECTOR, BODY, { nowMs: AT_MS + aheadMs })).toBe(expected);
  });

  test.each([
    ['with spaces less', '{"test":2432232314}'],
    ['with a byte more', `${BODY} `],
    ['with a byte order mark', `\uFEFF${BODY}`],
    ['empty', ''],
  ])('the body that was written again: %s', (_label, body) => {
    expect(isVerified(VECTOR, body)).toBe(false);
  });

  test('an empty body has a signature like any other', () => {
    expect(isVerified(signed('', { atMs: AT_MS }), '')).toBe(true);
  });

  test('bytes that are not UTF-8 count as they are', () => {
    const body = Buffer.from([0x7b, 0xff, 0x7d]);
    const headers = signed(body, { atMs: AT_MS });
    expect(isVerified(headers, body)).toBe(true);
    expect(isVerified(headers, Buffer.from([0x7b, 0xfe, 0x7d]))).toBe(false);
  });

  test('the secret is written with its prefix or without', () => {
    expect(isVerified(VECTOR, BODY, { secrets: [SECRET.slice('whsec_'.length)] })).toBe(true);
  });

  test('any of several secrets counts', () => {
    const another = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    expect(isVerified(VECTOR, BODY, { secrets: [another, SECRET] })).toBe(true);
    expect(isVerified(VECTOR, BODY, { secrets: [SECRET, another] })).toBe(true);
    expect(isVerified(VECTOR, BODY, { secrets: [another] })).toBe(false);
  });

  test('agrees with the library, for any secret, id and body', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        fc.string({ minLength: 1, maxLength: 40 }).filter((id) => /^[\x21-\x7e]+$/.test(id)),
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.integer({ min: 1, max: 4_000_000_000 }),
        (key, id, body, seconds) => {
          const secret = `whsec_${Buffer.from(key).toString('base64')}`;
          const signature = new Webhook(secret).sign(id, new Date(seconds * 1000), body);
          const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signature };
          const options = { secrets: [secret], nowMs: seconds * 1000 };
          expect(isVerified(headers, body, options)).toBe(true);
          expect(isVerified({ ...headers, 'webhook-id': `${id}x` }, body, options)).toBe(false);
          expect(isVerified(headers, `${body}x`, options)).toBe(false);
        },
      ),
    );
  });
});

describe('hmac', () => {
  const secret = 'a secret of the provider, 1234';
  const base: HmacScheme = {
    kind: 'hmac',
    header: 'x-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: '',
    signed: '{body}',
    timestampHeader: null,
    idHeader: null,
    toleranceMs: 300_000,
  };
  const mac = (text: string, { algorithm = 'sha256', encoding = 'hex' as 'hex' | 'base64', key = secret } = {}) =>
    createHmac(algorithm, key).update(text).digest(encoding);
  const check = (scheme: Partial<HmacScheme>, headers: IncomingHttpHeaders, body: string | Buffer = BODY) =>
    isVerified(headers, body, { scheme: { ...base, ...scheme }, secrets: ['another secret', secret] });

  test.each<[label: string, scheme: Partial<HmacScheme>, headers: IncomingHttpHeaders]>([
    ['the body, in hex', {}, { 'x-signature': mac(BODY) }],
    ['in capitals', {}, { 'x-signature': mac(BODY).toUpperCase() }],
    ['with a prefix (Meta, GitHub)', { prefix: 'sha256=' }, { 'x-signature': `sha256=${mac(BODY)}` }],
    ['in base64', { encoding: 'base64' }, { 'x-signature': mac(BODY, { encoding: 'base64' }) }],
    [
      'in base64 without padding',
      { encoding: 'base64' },
      { 'x-signature': mac(BODY, { encoding: 'base64' }).replace('=', '') },
    ],
    [
      'in base64 of URLs',
      { encoding: 'base64', algorithm: 'sha512' },
      {
        'x-signature': mac(BODY, { encoding: 'base64', algorithm: 'sha512' }).replaceAll('+', '-').replaceAll('/', '_'),
      },
    ],
    ['with SHA-512', { algorithm: 'sha512' }, { 'x-signature': mac(BODY, { algorithm: 'sha512' }) }],
    ['with SHA-1', { algorithm: 'sha1' }, { 'x-signature': mac(BODY, { algorithm: 'sha1' }) }],
    [
      'with a time before it',
      { signed: '{timestamp}.{body}', timestampHeader: 'x-time' },
      { 'x-signature': mac(`1614265330.${BODY}`), 'x-time': '1614265330' },
    ],
    [
      'with a time in milliseconds',
      { signed: '{timestamp}|{body}', timestampHeader: 'x-time' },
      { 'x-signature': mac(`1614265330000|${BODY}`), 'x-time': '1614265330000' },
    ],
    [
      'with a time as ISO 8601',
      { signed: '{timestamp}{body}', timestampHeader: 'x-time' },
      { 'x-signature': mac(`2021-02-25T15:02:10Z${BODY}`), 'x-time': '2021-02-25T15:02:10Z' },
    ],
    [
      'with a nonce and a time behind it (Sinch)',
      { signed: '{body}.{id}.{timestamp}', timestampHeader: 'x-time', idHeader: 'x-nonce', encoding: 'base64' },
      {
        'x-signature': mac(`${BODY}.n-1_X.1614265330`, { encoding: 'base64' }),
        'x-time': '1614265330',
        'x-nonce': 'n-1_X',
      },
    ],
  ])('%s', (_label, scheme, headers) => {
    expect(check(scheme, headers)).toBe(true);
    expect(check(scheme, headers, `${BODY} `)).toBe(false);
    expect(check({ ...scheme, header: 'x-other' }, headers)).toBe(false);
  });

  test('a nonce before the body may hold what it likes', () => {
    const scheme = { signed: '{id}.{body}', idHeader: 'x-nonce' };
    expect(check(scheme, { 'x-signature': mac(`$&n.${BODY}`), 'x-nonce': '$&n' })).toBe(true);
  });

  test.each([
    ['{body}.{id}.{timestamp}', 'status=failed&to=447700900123.5'],
    ['{body}{id}{timestamp}', 'status=failed&to=447700900123'],
    ['{body}{id}{timestamp}', '{"status":"failed"}'],
    ['{body}-{timestamp}{id}', 'status=failed&note=12-34'],
  ])('a string with the body first, %s, cannot be cut anew: %s', (signed, body) => {
    const scheme = { signed, idHeader: 'x-nonce', timestampHeader: 'x-time' };
    const text = signed.replace('{body}', body).replace('{id}', 'n1').replace('{timestamp}', '1614265330');
    const taken: [string, string][] = [];
    for (let end = 0; end <= text.length; end += 1) {
      for (let from = end; from <= text.length; from += 1) {
        for (let to = from + 1; to <= text.length; to += 1) {
          const [cut, id] = [text.slice(0, end), text.slice(from, to)];
          if (signed.replace('{body}', cut).replace('{id}', id).replace('{timestamp}', '1614265330') !== text) continue;
          if (check(scheme, { 'x-signature': mac(text), 'x-nonce': id, 'x-time': '1614265330' }, cut))
            taken.push([cut, id]);
        }
      }
    }
    // A form whose end nothing parts from its id is not taken at all.
    const isParted = body.startsWith('{') || (!signed.includes('{body}{id}') && !signed.includes('{body}-'));
    expect(taken).toEqual(isParted ? [[body, 'n1']] : []);
  });

  const timed: Partial<HmacScheme> = { signed: '{timestamp}.{body}', timestampHeader: 'x-time' };
  test.each<[label: string, scheme: Partial<HmacScheme>, headers: IncomingHttpHeaders]>([
    ['no signature', {}, {}],
    ['an empty one', {}, { 'x-signature': '' }],
    ['only the prefix', { prefix: 'sha256=' }, { 'x-signature': 'sha256=' }],
    ['no prefix', { prefix: 'sha256=' }, { 'x-signature': mac(BODY) }],
    ['a part of it', {}, { 'x-signature': mac(BODY).slice(0, 32) }],
    ['that of another key', {}, { 'x-signature': mac(BODY, { key: 'x' }) }],
    ['no time', timed, { 'x-signature': mac(`.${BODY}`) }],
    ['a time that is none', timed, { 'x-signature': mac(`soon.${BODY}`), 'x-time': 'soon' }],
    ['a time 301 s ago', timed, { 'x-signature': mac(`1614265029.${BODY}`), 'x-time': '1614265029' }],
    ['a time 301 s ahead', timed, { 'x-signature': mac(`1614265631.${BODY}`), 'x-time': '1614265631' }],
    ['no id', { signed: '{id}{body}', idHeader: 'x-id' }, { 'x-signature': mac(BODY) }],
  ])('is refused: %s', (_label, scheme, headers) => {
    expect(check(scheme, headers)).toBe(false);
  });
});

describe('secrets that are sent', () => {
  const basic = (text: string | Buffer) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  test.each<[label: string, kind: 'basic' | 'bearer', headers: IncomingHttpHeaders, expected: boolean]>([
    ['user and password', 'basic', basic('user:passwörd'), true],
    [
      'in another case',
      'basic',
      { authorization: basic('user:passwörd').authorization.replace('Basic', 'BASIC') },
      true,
    ],
    ['a wrong password', 'basic', basic('user:password'), false],
    ['no password', 'basic', basic('user'), false],
    ['a longer one', 'basic', basic('user:passwörd!'), false],
    ['nothing', 'basic', {}, false],
    ['no base64', 'basic', { authorization: 'Basic ***' }, false],
    ['a token instead', 'basic', { authorization: 'Bearer user:passwörd' }, false],
    ['a token', 'bearer', { authorization: 'Bearer t0ken' }, true],
    ['a token, in lower case', 'bearer', { authorization: 'bearer  t0ken' }, true],
    ['a wrong token', 'bearer', { authorization: 'Bearer t0kem' }, false],
    ['a token with more behind it', 'bearer', { authorization: 'Bearer t0ken x' }, false],
    ['an empty token', 'bearer', { authorization: 'Bearer ' }, false],
    ['a bare token', 'bearer', { authorization: 't0ken' }, false],
  ])('%s', (_label, kind, headers, expected) => {
    const secrets = ['old', kind === 'basic' ? 'user:passwörd' : 't0ken'];
    expect(isVerified(headers, BODY, { scheme: { kind }, secrets })).toBe(expected);
  });

  test.each([
    ['the secret', 'f00dfacef00dface', true],
    ['another', 'f00dfacef00dfacf', false],
    ['a part of it', 'f00d', false],
    ['nothing', '', false],
    ['no segment', null, false],
  ])('in the path: %s', (_label, segment, expected) => {
    const scheme: Scheme = { kind: 'path' };
    expect(isVerified({}, BODY, { scheme, secrets: ['f00dfacef00dface'], segment })).toBe(expected);
  });
});

test('nothing that is sent makes it throw', () => {
  const schemes: readonly (readonly [Scheme, string])[] = [
    [STANDARD, SECRET],
    [{ kind: 'basic' }, 'a:b'],
    [{ kind: 'bearer' }, 'token'],
    [{ kind: 'path' }, randomBytes(16).toString('hex')],
  ];
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'authorization'];
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), anyText(10, true)),
      fc.uint8Array(),
      fc.option(fc.string()),
      (headers, body, segment) => {
        for (const [scheme, secret] of schemes) {
          expect(isVerified(headers, Buffer.from(body), { scheme, secrets: [secret], segment })).toBe(false);
        }
      },
    ),
  );
});
