import { type Document, OpenAPIBackend } from 'openapi-backend';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { DIALECT_NAMES, type DialectName, describeDialect, readDescription } from '../../src/sandbox/openapi.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { SCENARIOS } from '../../src/sandbox/scenarios.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { type Answer, post, withSandbox } from './post.ts';

/** What a validator that others wrote has against requests and answers; nothing is an empty list. */
interface Inspector {
  readonly request: (body: unknown) => unknown[];
  readonly answer: (body: unknown, status: number) => unknown[];
}

/**
 * Over the description of one dialect, or the whole file. The validator reads answers of type application/json alone,
 * so that errors are under that type in its copy.
 */
async function inspectorOf(description: unknown, errorType: string): Promise<Inspector> {
  const copy = JSON.parse(JSON.stringify(description)) as { paths: { '/v2/messages': { post: Operation } } };
  for (const { content } of Object.values(copy.paths['/v2/messages'].post.responses)) {
    const problem = content?.[errorType];
    if (content !== undefined && problem !== undefined) content['application/json'] = problem;
  }
  // Quick: without comparing the description with OpenAPI 3.0, which is all that it knows for that; it is 3.1.
  const api = new OpenAPIBackend({ definition: copy as unknown as Document, quick: true });
  await api.init();
  const headers = { 'content-type': 'application/json', 'x-api-key': 'test-key' };
  return {
    request: (body) =>
      api.validateRequest({ method: 'post', path: '/v2/messages', headers, body }, 'sendMessage').errors ?? [],
    answer: (body, status) => api.validateResponse(body, 'sendMessage', status).errors ?? [],
  };
}

interface Operation {
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}

const ERROR_TYPES: Readonly<Record<DialectName, string>> = {
  default: 'application/problem+json',
  'top-level': 'application/json',
  'per-recipient': 'application/json',
  problem: 'application/problem+json',
};

type Example = { readonly value: unknown; readonly 'x-dialects'?: readonly DialectName[] };

/** The examples of the description, which are requests over every channel. */
function examplesOf(dialect: DialectName): (readonly [name: string, body: Record<string, unknown>])[] {
  const { paths } = describeDialect(dialect, 'http://127.0.0.1') as unknown as {
    paths: {
      '/v2/messages': { post: { requestBody: { content: Record<string, { examples: Record<string, Example> }> } } };
    };
  };
  const { examples = {} } = paths['/v2/messages'].post.requestBody.content['application/json'] ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name, value as Record<string, unknown>] as const);
}

function plus(dialect: DialectName): string {
  return dialect === 'per-recipient' ? '' : '+';
}

function to(dialect: DialectName, ...endings: readonly string[]): Record<string, unknown> {
  const recipients = endings.map((digits) => ({ msisdn: `${plus(dialect)}447700900${digits}` }));
  return { channel: 'RCS', body: { text: 'Hello Zoë' }, recipients };
}

describe.each(DIALECT_NAMES)('an independent validator of OpenAPI, dialect %s', (dialect) => {
  let sandbox: Sandbox;
  let inspector: Inspector;
  let whole: Inspector;
  beforeAll(async () => {
    inspector = await inspectorOf(describeDialect(dialect, 'http://127.0.0.1'), ERROR_TYPES[dialect]);
    whole = await inspectorOf(readDescription(), ERROR_TYPES[dialect]);
    sandbox = await startSandbox({ apiKey: 'test-key', dialect, maxRecipients: 3 });
  });
  afterAll(() => sandbox.close());

  /** Both descriptions agree with an answer. */
  function faultsOf({ json, status }: Answer): unknown[] {
    return [...inspector.answer(json, status), ...whole.answer(json, status)];
  }

  test.each(examplesOf(dialect))('takes the example %s, and its answer', async (_name, body) => {
    expect([inspector.request(body), whole.request(body)]).toEqual([[], []]);
    const answer = await post(sandbox, body);
    expect([answer.status < 300, faultsOf(answer)]).toEqual([true, []]);
  });

  const endings = SCENARIOS.filter(({ play }) => play.kind !== 'fault').map(({ digits }) => digits);
  test.each([...endings, '844', '908'])('takes the answer to a number that ends in %s', async (digits) => {
    for (const others of [[], ['123'], ['404', '844']]) {
      const body = to(dialect, digits, ...others);
      expect(inspector.request(body)).toEqual([]);
      const answer = await post(sandbox, body);
      if (answer.json === null || digits === '908') continue;
      expect([others, faultsOf(answer)]).toEqual([others, []]);
    }
  });

  test.each<[label: string, body: (message: Record<string, unknown>) => unknown]>([
    ['no object', () => []],
    ['no channel', ({ channel: _channel, ...rest }) => rest],
    ['an unknown field', (message) => ({ ...message, metadata: {} })],
    ['no recipients', ({ recipients: _recipients, ...rest }) => rest],
    ['no recipient', (message) => ({ ...message, recipients: [] })],
    ['a recipient without an address', (message) => ({ ...message, recipients: [{}] })],
    [
      'a recipient with two',
      (message) => ({ ...message, recipients: [{ msisdn: '447700900123', email: 'a@b.c', address: 'a@b.c' }] }),
    ],
    ['an address without a domain', (message) => ({ ...message, recipients: [{ email: 'zoe', address: 'zoe' }] })],
    ['a national number', (message) => ({ ...message, recipients: [{ msisdn: '07700900123' }] })],
    ['an empty text', (message) => ({ ...message, body: { text: '' } })],
    ['unknown rich content', (message) => ({ ...message, body: { text: 'x', content: { suggestion: [] } } })],
    [
      'a button without a label',
      (message) => ({ ...message, body: { text: 'x', content: { buttons: [{ reply: 'x' }] } } }),
    ],
    [
      'a contact without an id',
      ({ recipients: _recipients, ...rest }) => ({ ...rest, addressBook: { contacts: [{}] } }),
    ],
    ['a validity with Z', (message) => ({ ...message, validity: '2026-11-21T09:00:00.000Z' })],
  ])('refuses, as the sandbox does: %s', async (_label, change) => {
    const body = change(to(dialect, '123'));
    expect(inspector.request(body)).not.toEqual([]);
    const answer = await post(sandbox, body);
    expect([answer.status, faultsOf(answer)]).toEqual([dialect === 'default' ? 422 : 400, []]);
  });

  test.each<[label: string, status: number, body: unknown, key: string]>([
    ['another key', 401, to(dialect, '123'), 'wrong'],
    ['too many recipients', 413, to(dialect, '123', '124', '125', '126'), 'test-key'],
    ['not JSON', 400, '{', 'test-key'],
  ])('takes the answer to %s', async (_label, status, body, key) => {
    const answer = await post(sandbox, body, key);
    expect([answer.status, faultsOf(answer)]).toEqual([status, []]);
  });

  it('refuses the answers of the other dialects', async () => {
    for (const other of DIALECT_NAMES.filter((name) => name !== dialect)) {
      await withSandbox({ dialect: other }, async (another) => {
        for (const body of [to(other, '123', '124'), {}]) {
          const { json, status } = await post(another, body);
          expect([other, status, inspector.answer(json, status)]).not.toEqual([other, status, []]);
        }
      });
    }
  });

  it('shows the description that the sandbox gives out', async () => {
    const shown = await (await fetch(`${sandbox.url}/sandbox/openapi.json`)).json();
    expect(shown).toEqual(JSON.parse(JSON.stringify(describeDialect(dialect, sandbox.url))));
    expect(JSON.stringify(shown)).not.toContain('"x-dialects":');
  });
});
