import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { JwtScheme, SignatureScheme } from '../../src/model.ts';
import { createVerifier } from '../../src/webhook/verify.ts';

const KEY = 's3cret-of-the-webhook';
const NOW_MS = Date.parse('2026-11-27T10:00:00Z');
const IAT = NOW_MS / 1000;
const BODY = '{"status":"delivered"}';
const URL = 'https://hooks.example.com/in';

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function token(claims: object, { alg = 'HS256', key = KEY } = {}): string {
  const signed = `${encoded({ alg })}.${encoded(claims)}`;
  const hash = alg === 'HS512' ? 'sha512' : 'sha256';
  return `${signed}.${alg === 'none' ? '' : createHmac(hash, key).update(signed).digest('base64url')}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const JWT: JwtScheme = {
  kind: 'jwt',
  header: 'authorization',
  issuer: 'Other',
  payloadHash: 'payload_hash',
  urlHash: 'url_hash',
  url: URL,
  toleranceMs: 300_000,
};
const GOOD = { iss: 'Other', iat: IAT, payload_hash: sha256(BODY), url_hash: sha256(`${URL}?a=1`) };
const { payload_hash: _body, ...UNHASHED } = GOOD;
const { iat: _iat, ...UNDATED } = GOOD;

test.each<[label: string, written: string, body: string, expected: boolean]>([
  ['that is good', `Bearer ${token(GOOD)}`, BODY, true],
  ['with hashes in capitals', `Bearer ${token({ ...GOOD, payload_hash: sha256(BODY).toUpperCase() })}`, BODY, true],
  ['within the tolerance', `Bearer ${token({ ...GOOD, iat: IAT - 300 })}`, BODY, true],
  ['without a body and its hash', `Bearer ${token(UNHASHED)}`, '', true],
  ['without a hash of the body that came', `Bearer ${token(UNHASHED)}`, BODY, false],
  ['with the hash of another body', `Bearer ${token(GOOD)}`, `${BODY} `, false],
  ['with the hash of another URL', `Bearer ${token({ ...GOOD, url_hash: sha256(URL) })}`, BODY, false],
  ['without a hash of the URL', `Bearer ${token({ ...GOOD, url_hash: undefined })}`, BODY, false],
  ['without a time', `Bearer ${token(UNDATED)}`, BODY, false],
  ['that is too old', `Bearer ${token({ ...GOOD, iat: IAT - 301 })}`, BODY, false],
  ['that is over', `Bearer ${token({ ...GOOD, exp: IAT - 300 })}`, BODY, false],
  ['that begins later', `Bearer ${token({ ...GOOD, nbf: IAT + 301 })}`, BODY, false],
  ['of another issuer', `Bearer ${token({ ...GOOD, iss: 'Another' })}`, BODY, false],
  ['of another key', `Bearer ${token(GOOD, { key: 'another' })}`, BODY, false],
  ['without a signature', `Bearer ${token(GOOD, { alg: 'none' })}`, BODY, false],
  ['of another algorithm', `Bearer ${token(GOOD, { alg: 'HS512' })}`, BODY, false],
  ['without Bearer', token(GOOD), BODY, false],
  ['that is none', 'Bearer a.b.c', BODY, false],
])('a token %s', async (_label, authorization, body, expected) => {
  const proof = { headers: { authorization }, body: Buffer.from(body), segment: null, query: '?a=1' };
  expect((await createVerifier(JWT, ['an older secret', KEY])(proof, NOW_MS)).verified).toBe(expected);
});

test('the id of a token is its jti', async () => {
  const headers = { authorization: `Bearer ${token({ ...GOOD, jti: 'j-1' })}` };
  const proof = { headers, body: Buffer.from(BODY), segment: null, query: '?a=1' };
  expect(await createVerifier(JWT, [KEY])(proof, NOW_MS)).toEqual({ verified: true, id: 'j-1' });
});

const FORM: SignatureScheme = {
  kind: 'url-form',
  header: 'x-signature',
  algorithm: 'sha1',
  encoding: 'base64',
  prefix: '',
  signed: '{url}{form}',
  timestampHeader: null,
  idHeader: null,
  url: URL,
  toleranceMs: 300_000,
};

test.each<[label: string, signed: string, body: string, query: string, expected: boolean]>([
  ['in the order of names', `${URL}A1B2a3`, 'a=3&B=2&A=1', '', true],
  ['with characters that a URL escapes', `${URL}BodyZoë & Ana +1`, 'Body=Zo%C3%AB+%26+Ana%20%2B1', '', true],
  ['with values of one name', `${URL}A1A2`, 'A=2&A=1&A=2', '', true],
  ['with an empty value', `${URL}AB1`, 'B=1&A=', '', true],
  ['without fields, and with a query', `${URL}?a=1&b=%20`, '', '?a=1&b=%20', true],
  ['with a query', `${URL}?a=1A1`, 'A=1', '?a=1', true],
  ['with another query', `${URL}?a=1A1`, 'A=1', '?a=2', false],
  ['with another value', `${URL}A1`, 'A=2', '', false],
  ['of JSON that reads like it', `${URL}{"a":"1"}`, '{"a":"1"}', '', false],
])('a form %s', (_label, signed, body, query, expected) => {
  const signature = createHmac('sha1', KEY).update(signed).digest('base64');
  const proof = { headers: { 'x-signature': signature }, body: Buffer.from(body), segment: null, query };
  expect(createVerifier(FORM, [KEY])(proof, NOW_MS)).toMatchObject({ verified: expected });
});

test('an id behind a form cannot take its end', () => {
  const scheme = { ...FORM, signed: '{url}{form}.{id}', idHeader: 'x-id' };
  const signature = createHmac('sha1', KEY).update(`${URL}A1.B2.n`).digest('base64');
  const verified = (body: string, id: string) =>
    createVerifier(scheme, [KEY])(
      { headers: { 'x-signature': signature, 'x-id': id }, body: Buffer.from(body), segment: null, query: '' },
      NOW_MS,
    );
  expect(verified('A=1.B2', 'n')).toMatchObject({ verified: true, id: 'n' });
  expect(verified('A=1', 'B2.n')).toMatchObject({ verified: false });
});
