import { describe, expect, test } from 'vitest';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { readWebhook } from '../../src/campaign/read-webhook.ts';
import { checkFile } from '../../src/campaign/validate.ts';
import type { ProviderFile, WebhookFile } from '../../src/campaign/written.ts';
import { readYaml } from '../../src/campaign/yaml.ts';
import { type Diagnostic, problem } from '../../src/errors.ts';
import { createProject } from '../helpers/project.ts';

/** What handbill.yaml with this under an environment comes to, and what is wrong with it. */
function read(webhook: string) {
  const text = `environments:\n  sandbox:\n${webhook.replace(/^/gm, '    ')}\n    rate: 1/s\n`;
  const { yaml, diagnostics } = readYaml(Buffer.from(text), 'handbill.yaml');
  const checked = yaml === null ? null : checkFile('project', yaml);
  const found: Diagnostic[] = [...diagnostics, ...(checked?.diagnostics ?? [])];
  const written = checked?.value.environments?.['sandbox']?.webhook ?? {};
  const { receiver } = readWebhook(written, {}, '/project', (path, code, message, hint) => {
    found.push(problem(code, `${path}: ${message}`, { hint }));
    return null;
  });
  return { receiver, found };
}

const SECRETS = 'secrets: [{ env: HANDBILL_WEBHOOK_SECRET }]';

describe('webhook', () => {
  test('only secrets are needed for Standard Webhooks', () => {
    expect(read(`webhook: { ${SECRETS} }\n`)).toEqual({
      receiver: {
        scheme: { kind: 'standard', toleranceMs: 300_000 },
        secrets: [{ env: 'HANDBILL_WEBHOOK_SECRET' }],
        methods: ['POST'],
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

  test('settings go over those of the provider, key by key', () => {
    const file: NonNullable<ProviderFile['webhook']> = {
      scheme: 'hmac',
      hmac: { header: 'X-Sign', prefix: 'v1=' },
      answerWithinMs: 2000,
      events: ['/a'],
      fields: { status: '/a', to: '/b' },
      states: { 'HAND-OVER': 'delivered', DOWN: 'failed' },
      unsupported: [1],
      optOut: { at: '/event', words: ['left'] },
    };
    const own: WebhookFile = {
      secrets: [{ env: 'A' }],
      hmac: { header: 'X-Other' },
      fields: { status: ['/c'] },
      states: { hand_over: 'sent' },
      unsupported: ['2'],
    };
    const found: string[] = [];
    const reports = { permanent: [3], optedOut: ['4'] };
    const { receiver, mapping } = readWebhook(own, { webhook: file, reports }, '/project', (_path, _code, message) => {
      found.push(message);
      return null;
    });
    expect(found).toEqual([]);
    expect(receiver).toMatchObject({ scheme: { header: 'x-other', prefix: 'v1=' }, answerWithinMs: 2000 });
    expect(mapping).toEqual({
      events: ['/a'],
      fields: { status: ['/c'], to: ['/b'] },
      states: { hand_over: 'sent', DOWN: 'failed' },
      unsupported: ['1', '2'],
      permanent: ['3'],
      optedOut: ['4'],
      optOut: { at: ['/event'], words: ['left'] },
    });
  });

  test('another scheme leaves that of the provider out', () => {
    const file = { scheme: 'url-form', 'url-form': { header: 'X' } } as const;
    const own = { scheme: 'basic', secrets: [{ env: 'A' }] } as const;
    const { receiver } = readWebhook(own, { webhook: file }, '/project', () => null);
    expect(receiver?.scheme).toEqual({ kind: 'basic' });
  });

  test.each(['', 'webhook: {}\n'])('nothing is received where nothing is said: %j', (text) => {
    expect(read(text)).toEqual({ receiver: null, found: [] });
  });

  test.each<[label: string, webhook: string, code: string, message: RegExp]>([
    ['no secrets', '{ scheme: basic }', 'missing-key', /"secrets" is missing/],
    ['an empty list of them', '{ secrets: [] }', 'invalid-value', /empty list/],
    ['a secret that is not a list', '{ secrets: { env: A } }', 'wrong-type', /must be a list/],
    ['a path', `{ ${SECRETS}, path: /x }`, 'unknown-key', /"path" is not a key/],
    ['a scheme that is none', `{ ${SECRETS}, scheme: jwt2 }`, 'invalid-value', /scheme/],
    ['hmac without its mapping', `{ ${SECRETS}, scheme: hmac }`, 'missing-key', /"hmac" is missing/],
    ['hmac without a header', `{ ${SECRETS}, scheme: hmac, hmac: {} }`, 'missing-key', /header/],
    ['a mapping of another scheme', `{ ${SECRETS}, hmac: { header: X } }`, 'invalid-value', /scheme is another/],
    ['a tolerance that nothing has', `{ ${SECRETS}, scheme: basic, tolerance: 5m }`, 'invalid-value', /tolerance/],
    ['a tolerance of a day', `{ ${SECRETS}, tolerance: 1d }`, 'invalid-value', /to 1h/],
    ['no body', `{ ${SECRETS}, scheme: hmac, hmac: { header: X, signed: x } }`, 'invalid-value', /hold \{body\}/],
    [
      'an unknown part',
      `{ ${SECRETS}, scheme: hmac, hmac: { header: X, signed: "{path}{body}" } }`,
      'invalid-value',
      /path/,
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
    ['a GET that nothing signs', `{ ${SECRETS}, method: [GET] }`, 'invalid-value', /does not cover the URL/],
    [
      'a GET whose token has no hash of the URL',
      `{ ${SECRETS}, scheme: jwt, jwt: { payloadHash: h }, method: [GET, POST] }`,
      'invalid-value',
      /does not cover the URL/,
    ],
    [
      'a signature over a URL that is not known',
      `{ ${SECRETS}, scheme: url-form, url-form: { header: X } }`,
      'missing-key',
      /"url" is missing/,
    ],
    [
      'a token over a URL that is not known',
      `{ ${SECRETS}, scheme: jwt, jwt: { payloadHash: h, urlHash: u } }`,
      'missing-key',
      /"url" is missing/,
    ],
    [
      'a URL with a password',
      `{ ${SECRETS}, url: "https://a:b@example.com/" }`,
      'invalid-value',
      /webhook\.url" cannot be "https:\/\/…@example.com\/"/,
    ],
    [
      'a body where a form is signed',
      `{ ${SECRETS}, scheme: url-form, url-form: { header: X, signed: "{url}{body}" } }`,
      'invalid-value',
      /"\{body\}" is nothing/,
    ],
    ['a token of no handshake', `{ ${SECRETS}, verifyToken: { env: A } }`, 'invalid-value', /there is none/],
  ])('%s', (_label, webhook, code, message) => {
    const { receiver, found } = read(`webhook: ${webhook}\n`);
    expect(found.map((one) => one.code)).toEqual([code]);
    expect(found[0]?.message).toMatch(message);
    expect(receiver === null || code !== 'missing-key').toBe(true);
  });

  test.each([
    'secrets: SEKRET-1',
    'handshake: meta\n  verifyToken: SEKRET-1',
    'handshake: meta\n  verifyToken: { env: SEKRET-1 }',
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

test('a wrong URL that a signature covers is not missing too', async () => {
  const webhook = `{ ${SECRETS}, scheme: url-form, url-form: { header: X }, url: nonsense }`;
  const own = '{ baseUrl: https://api.example.com, apiKey: { env: KEY }';
  const { found } = await projectOf(`environments: { live: ${own}, webhook: ${webhook} } }\n`);
  expect(found).toMatchObject([{ code: 'invalid-value', message: expect.stringContaining('webhook.url" cannot be') }]);
});

/** What handbill.yaml comes to, and what is wrong with it. */
async function projectOf(text: string) {
  using files = createProject({ 'handbill.yaml': text });
  const { project, diagnostics } = await readProject(await findProject(files.root), { cwd: files.root });
  return {
    project,
    found: diagnostics.map(({ code, severity, message, hint }) => ({ code, severity, message, hint })),
  };
}

describe('webhook of a project', () => {
  test.each<[written: string, path: string, stopWords: readonly string[], startLifts: boolean, stopEnds: string]>([
    ['timeZone: UTC\n', '/webhooks', [], false, 'everything'],
    ['webhook: { path: /in, replies: {} }\n', '/in', [], false, 'everything'],
    [
      'webhook: { replies: { stopWords: [STOPNEWS, keine Werbung] } }\n',
      '/webhooks',
      ['STOPNEWS', 'keine Werbung'],
      false,
      'everything',
    ],
    ['webhook: { replies: { startLifts: true } }\n', '/webhooks', [], true, 'everything'],
    ['webhook: { replies: { stopEnds: topic } }\n', '/webhooks', [], false, 'topic'],
  ])('%j', async (written, path, stopWords, startLifts, stopEnds) => {
    const { project, found } = await projectOf(written);
    expect([project.webhook, found]).toEqual([{ path, replies: { stopWords, startLifts, stopEnds } }, []]);
  });

  test.each([
    // It would be found in every empty text.
    [
      'a word without a letter or digit',
      '{ replies: { stopWords: ["!!"] } }',
      /"webhook.replies.stopWords\[0\]" cannot be "!!"/,
    ],
    ['a path without a slash', '{ path: x }', /"webhook.path" cannot be "x"/],
    ['a path that ends in one', '{ path: /x/ }', /"webhook.path" cannot be "\/x\/"/],
  ])('refuses %s', async (_label, webhook, message) => {
    expect((await projectOf(`webhook: ${webhook}\n`)).found).toEqual([
      expect.objectContaining({ code: 'invalid-value', message: expect.stringMatching(message) }),
    ]);
  });

  test.each([
    `${SECRETS}`,
    'secrets: [SEKRET-1]',
    'scheme: hmac',
    'tolerance: 5m',
    'hmac: { header: X }',
    'events: [/results]',
    'fields: { status: /phase }',
    'states: { parked: sent }',
    'unsupported: [30]',
  ])('says where %j belongs', async (line) => {
    const { found } = await projectOf(`webhook: { ${line} }\n`);
    const key = line.split(':')[0];
    expect(found).toEqual([
      {
        code: 'unknown-key',
        severity: 'error',
        message: `"${key}" is not a key of "webhook".`,
        hint: 'It belongs under "environments.<name>.webhook".',
      },
    ]);
  });
});

describe('a secret of two environments', () => {
  const API = 'baseUrl: "https://api.example.com", apiKey: { env: KEY }';
  const of = (name: string, secrets: string, more = '') =>
    `  ${name}: { ${name === 'sandbox' ? '' : `${API}, `}webhook: { secrets: [${secrets}]${more} } }\n`;

  test.each([
    ['a variable', of('staging', '{ env: A }') + of('production', '{ env: B }, { env: A }')],
    [
      'a file, however it is written',
      of('staging', '{ file: s/a }') + of('production', '{ file: ./s/../s/a }', ', scheme: bearer'),
    ],
    ['that of the sandbox', of('sandbox', '{ env: A }') + of('production', '{ env: A }')],
    [
      'that of a stand-in',
      `${of('backup', '{ env: A }').replace('{', '{ standsInFor: production,')}${of('production', '{ env: A }')}`,
    ],
  ])('is warned of: %s', async (_label, environments) => {
    const { found } = await projectOf(`environments:\n${environments}`);
    expect(found).toEqual([
      expect.objectContaining({
        code: 'weak-webhook',
        severity: 'warning',
        message: expect.stringMatching(/has the same secret of webhooks as/),
      }),
    ]);
  });

  test('is not two secrets, nor none', async () => {
    const environments = of('staging', '{ env: A }, { env: A }') + of('production', '{ env: B }');
    expect((await projectOf(`environments:\n${environments}  third: { ${API} }\n`)).found).toEqual([]);
  });

  test('a stand-in has none of its original', async () => {
    const { project } = await projectOf(
      `environments:\n${of('production', '{ env: A }')}  backup: { ${API}, standsInFor: production }\n`,
    );
    expect(project.environments.get('backup')?.webhook.receiver).toBeNull();
  });
});
