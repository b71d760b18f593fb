import { describe, expect, test } from 'vitest';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { readWebhook } from '../../src/campaign/read-webhook.ts';
import { checkFile } from '../../src/campaign/validate.ts';
import type { ProviderFile, WebhookFile } from '../../src/campaign/written.ts';
import { readYaml } from '../../src/campaign/yaml.ts';
import { type Diagnostic, problem } from '../../src/errors.ts';
import { diagnosticLines, golden } from '../helpers/golden.ts';
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

golden(
  'handbill names what is wrong with webhooks at its place, and shows no secret',
  'campaign/webhooks',
  async (input, label) => {
    const isProject = label.startsWith('handbill.yaml');
    const lines = isProject
      ? (await projectOf(input)).lines
      : diagnosticLines(read(`${input}\n`).found, 'handbill.yaml');
    return lines.map((line) => line.replace(/SEKRET|a1a1a1/, 'THE SECRET'));
  },
);

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
    lines: diagnosticLines(diagnostics, 'handbill.yaml'),
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
});

describe('a secret of two environments', () => {
  const API = 'baseUrl: "https://api.example.com", apiKey: { env: KEY }';
  const of = (name: string, secrets: string, more = '') =>
    `  ${name}: { ${name === 'sandbox' ? '' : `${API}, `}webhook: { secrets: [${secrets}]${more} } }\n`;

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
