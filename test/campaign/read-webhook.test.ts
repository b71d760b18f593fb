import { describe, expect, test } from 'vitest';
import { readWebhook } from '../../src/campaign/read-webhook.ts';
import { checkProject } from '../../src/campaign/validate.ts';
import type { ProjectFile } from '../../src/campaign/written.ts';
import { readYaml } from '../../src/campaign/yaml.ts';
import { type Diagnostic, problem } from '../../src/errors.ts';

/** What handbill.yaml comes to, and what is wrong with it. */
function read(text: string) {
  const { yaml, diagnostics } = readYaml(Buffer.from(text), 'handbill.yaml');
  const checked = yaml === null ? null : checkProject(yaml);
  const found: Diagnostic[] = [...diagnostics, ...(checked?.diagnostics ?? [])];
  const written: ProjectFile = checked?.value ?? {};
  const { receiver } = readWebhook(written.webhook, '/project', (pointer, { code, message, hint }) => {
    found.push(problem(code, `${pointer}: ${message}`, hint === undefined ? {} : { hint }));
    return null;
  });
  return { receiver, found };
}

const SECRETS = 'secrets: [{ env: HANDBILL_WEBHOOK_SECRET }]';

describe('webhook', () => {
  test('only secrets are needed for Standard Webhooks at /webhooks', () => {
    expect(read(`webhook: { ${SECRETS} }\n`)).toEqual({
      receiver: {
        path: '/webhooks',
        scheme: { kind: 'standard', toleranceMs: 300_000 },
        secrets: [{ env: 'HANDBILL_WEBHOOK_SECRET' }],
      },
      found: [],
    });
  });

  test('a file of a secret is relative to handbill.yaml, or anywhere', () => {
    const { receiver } = read('webhook: { scheme: bearer, secrets: [{ file: s/a }, { file: /run/b }, { env: C }] }\n');
    expect(receiver?.secrets).toEqual([{ file: '/project/s/a' }, { file: '/run/b' }, { env: 'C' }]);
  });

  test('an hmac is described as far as it differs', () => {
    const { receiver, found } = read(
      `webhook: { ${SECRETS}, scheme: hmac, tolerance: 30s, hmac: { header: X-Sign, prefix: sha256=, signed: "{id}.{timestamp}.{body}", timestampHeader: X-Time, idHeader: X-Id } }\n`,
    );
    expect(found).toEqual([]);
    expect(receiver?.scheme).toEqual({
      kind: 'hmac',
      header: 'x-sign',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: 'sha256=',
      signed: '{id}.{timestamp}.{body}',
      timestampHeader: 'x-time',
      idHeader: 'x-id',
      toleranceMs: 30_000,
    });
  });

  test.each(['', 'webhook: {}\n'])('nothing is received where nothing is said: %j', (text) => {
    expect(read(`timeZone: UTC\n${text}`)).toEqual({ receiver: null, found: [] });
  });

  test.each<[label: string, webhook: string, code: string, message: RegExp]>([
    ['no secrets', '{ path: /x }', 'missing-key', /"secrets" is missing/],
    ['an empty list of them', '{ secrets: [] }', 'invalid-value', /empty list/],
    ['a secret that is not a list', '{ secrets: { env: A } }', 'wrong-type', /must be a list/],
    ['a path without a slash', `{ ${SECRETS}, path: x }`, 'invalid-value', /path/],
    ['a path that ends in one', `{ ${SECRETS}, path: /x/ }`, 'invalid-value', /path/],
    ['a scheme that is none', `{ ${SECRETS}, scheme: jwt }`, 'invalid-value', /scheme/],
    ['hmac without its mapping', `{ ${SECRETS}, scheme: hmac }`, 'missing-key', /"hmac" is missing/],
    ['hmac without a header', `{ ${SECRETS}, scheme: hmac, hmac: {} }`, 'missing-key', /header/],
    ['a mapping of another scheme', `{ ${SECRETS}, hmac: { header: X } }`, 'invalid-value', /scheme is another/],
    ['a tolerance that nothing has', `{ ${SECRETS}, scheme: basic, tolerance: 5m }`, 'invalid-value', /tolerance/],
    ['a tolerance of a day', `{ ${SECRETS}, tolerance: 1d }`, 'invalid-value', /to an hour/],
    ['no body', `{ ${SECRETS}, scheme: hmac, hmac: { header: X, signed: x } }`, 'invalid-value', /hold \{body\}/],
    [
      'an unknown part',
      `{ ${SECRETS}, scheme: hmac, hmac: { header: X, signed: "{url}{body}" } }`,
      'invalid-value',
      /url/,
    ],
    [
      'a time that is not signed',
      `{ ${SECRETS}, scheme: hmac, hmac: { header: X, timestampHeader: Y } }`,
      'invalid-value',
      /not signed/,
    ],
    [
      'a time that no header holds',
      `{ ${SECRETS}, scheme: hmac, hmac: { header: X, signed: "{timestamp}{body}" } }`,
      'invalid-value',
      /not named/,
    ],
  ])('%s', (_label, webhook, code, message) => {
    const { receiver, found } = read(`webhook: ${webhook}\n`);
    expect(found.map((one) => one.code)).toEqual([code]);
    expect(found[0]?.message).toMatch(message);
    expect(receiver === null || code !== 'missing-key').toBe(true);
  });

  test.each([
    'secrets: SEKRET-1',
    'secrets: [SEKRET-1]',
    'secrets:\n    - SEKRET-1',
    'secrets: [{ env: SEKRET-1 }]',
    `secrets: [{ env: A }, { env: ${'a1'.repeat(32)} }]`,
    'secrets: [{ value: SEKRET-1 }]',
    'secrets: [[SEKRET-1]]',
    'secret: SEKRET-1',
    'token: SEKRET-1',
    'secrets: "SEKRET-1',
  ])('a literal secret is an error that does not repeat it: %s', (line) => {
    const { found } = read(`webhook:\n  scheme: bearer\n  ${line}\n  colour: red\n`);
    expect(found.length).toBeGreaterThan(0);
    const shown = found.map((one) => `${one.message} ${one.hint} ${one.source}`).join('\n');
    expect(shown).not.toMatch(/SEKRET|a1a1a1/);
  });

  test('a committed secret must be replaced', () => {
    const { found } = read('webhook: { secrets: [SEKRET-1] }\n');
    expect(found[0]).toMatchObject({ code: 'literal-key', hint: expect.stringMatching(/committed must be replaced/) });
  });
});

describe('webhook.replies', () => {
  const repliesOf = (text: string) => {
    const { yaml } = readYaml(Buffer.from(text), 'handbill.yaml');
    const checked = yaml === null ? null : checkProject(yaml);
    const { replies } = readWebhook(checked?.value?.webhook, '/project', () => null);
    return { replies, found: checked?.diagnostics.map(({ message }) => message) };
  };

  test.each<[written: string, stopWords: readonly string[], startLifts: boolean, stopEnds: string]>([
    ['timeZone: UTC\n', [], false, 'everything'],
    ['webhook: { replies: {} }\n', [], false, 'everything'],
    [
      'webhook: { replies: { stopWords: [STOPNEWS, keine Werbung] } }\n',
      ['STOPNEWS', 'keine Werbung'],
      false,
      'everything',
    ],
    ['webhook: { replies: { startLifts: true } }\n', [], true, 'everything'],
    ['webhook: { replies: { stopEnds: topic } }\n', [], false, 'topic'],
  ])('%j', (written, stopWords, startLifts, stopEnds) => {
    expect(repliesOf(written)).toEqual({ replies: { stopWords, startLifts, stopEnds }, found: [] });
  });

  test('a word without a letter or digit is refused, for it would be found in every empty text', () => {
    expect(repliesOf('webhook: { replies: { stopWords: ["!!"] } }\n').found).toEqual([
      '"webhook.replies.stopWords[0]" cannot be "!!".',
    ]);
  });
});
