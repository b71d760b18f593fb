import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { HmacScheme, Scheme } from '../../src/model.ts';
import { readWebhookSecrets } from '../../src/webhook/secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'handbill-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HMAC: HmacScheme = {
  kind: 'hmac',
  header: 'x',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  signed: '{body}',
  timestampHeader: null,
  idHeader: null,
  toleranceMs: 1,
};
const SCHEMES: Readonly<Record<Scheme['kind'], Scheme>> = {
  standard: { kind: 'standard', toleranceMs: 1 },
  hmac: HMAC,
  ed25519: { ...HMAC, kind: 'ed25519' },
  'url-form': { ...HMAC, kind: 'url-form' },
  'body-hmac': { ...HMAC, kind: 'body-hmac' },
  jwt: {
    kind: 'jwt',
    header: 'authorization',
    issuer: undefined,
    payloadHash: 'payload_hash',
    urlHash: undefined,
    url: undefined,
    toleranceMs: 1,
  },
  basic: { kind: 'basic' },
  bearer: { kind: 'bearer' },
  path: { kind: 'path' },
};

async function codes(kind: Scheme['kind'], secret: string) {
  const read = await readWebhookSecrets({ scheme: SCHEMES[kind], secrets: [{ env: 'S' }] }, { S: secret }, folder);
  const shown = read.diagnostics.map((one) => `${one.message} ${one.hint}`).join();
  if (secret.length > 12) expect(shown).not.toContain(secret);
  return read.diagnostics.map((one) => `${one.severity} ${one.code}`);
}

const INVALID = 'error invalid-webhook-secret';
const WEAK = 'warning weak-webhook';
const HEX = '0123456789abcdef0123456789abcdef';
const b64 = (bytes: number) => Buffer.alloc(bytes, 'random?!').toString('base64');

describe('a secret', () => {
  test.each<[label: string, kind: Scheme['kind'], secret: string, expected: readonly string[]]>([
    ['with its prefix', 'standard', `whsec_${b64(24)}`, []],
    ['without it', 'standard', b64(64), []],
    ['without padding', 'standard', b64(32).replace('=', ''), []],
    ['of 23 bytes', 'standard', b64(23), [INVALID]],
    ['of 65 bytes', 'standard', b64(65), [INVALID]],
    ['that is its prefix', 'standard', 'whsec_', [INVALID]],
    ['that is not base64', 'standard', 'not base64, but long enough to be', [INVALID]],
    ['of another kind of signature', 'standard', `whsk_${b64(32)}`, [INVALID]],
    ['of any text', 'hmac', 'the secret of a provider', []],
    ['with a line break behind it', 'hmac', 'the secret of a provider\n', [INVALID]],
    ['with a space before it', 'basic', ` user:${HEX}`, [INVALID]],
    ['of white space', 'hmac', '   ', [INVALID]],
    ['that is short', 'hmac', 'topsecret', [WEAK]],
    ['that is one letter', 'bearer', 'a'.repeat(32), [WEAK]],
    ['with a space', 'bearer', 'two words that are long', [INVALID]],
    ['with a password', 'basic', `user:${HEX}`, []],
    ['with a short password', 'basic', 'a-very-long-user-name:short', [WEAK]],
    ['without a password', 'basic', 'user:', [INVALID]],
    ['without a user', 'basic', ':password', [INVALID]],
    ['of 128 bits in hex', 'path', HEX, [WEAK]],
    ['of 124 bits', 'path', HEX.slice(1), [INVALID, WEAK]],
    ['of 22 letters and digits', 'path', 'aB3dE5gH7jK9mN1pQ3sT5v', [WEAK]],
    ['of 38 digits', 'path', '12345678901234567890123456789012345678', [INVALID, WEAK]],
    ['of 39 digits', 'path', '123456789012345678901234567890123456789', [WEAK]],
    ['that repeats itself', 'path', 'abc'.repeat(20), [INVALID, WEAK]],
    ['with a slash', 'path', `${HEX}/x`, [INVALID, WEAK]],
  ])('%s (%s)', async (_label, kind, secret, expected) => {
    expect(await codes(kind, secret)).toEqual(expected);
  });

  test('that is not there is said for each', async () => {
    const secrets = [{ env: 'A' }, { env: 'B' }, { file: 'none' }];
    const { diagnostics } = await readWebhookSecrets({ scheme: SCHEMES.bearer, secrets }, { B: HEX }, folder);
    expect(diagnostics.map((one) => one.code)).toEqual(['missing-webhook-secret', 'missing-webhook-secret']);
  });

  test('comes from a private file, as UTF-8', async () => {
    writeFileSync(join(folder, 'good'), 'user:pässwörd-0123456789\n', { mode: 0o600 });
    writeFileSync(join(folder, 'open'), HEX, { mode: 0o644 });
    const read = (file: string) => readWebhookSecrets({ scheme: SCHEMES.basic, secrets: [{ file }] }, {}, folder);
    expect(await read('good')).toEqual({ secrets: ['user:pässwörd-0123456789'], diagnostics: [] });
    expect((await read('open')).diagnostics.map((one) => one.code)).toEqual(['key-file-permissions']);
  });

  test('that is empty is refused', async () => {
    writeFileSync(join(folder, 'empty'), '\n', { mode: 0o600 });
    const secrets = [{ file: 'empty' }];
    const { diagnostics } = await readWebhookSecrets({ scheme: SCHEMES.hmac, secrets }, {}, folder);
    expect(diagnostics.map((one) => one.code)).toEqual(['invalid-webhook-secret']);
  });
});
