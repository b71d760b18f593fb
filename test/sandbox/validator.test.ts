import { type Document, OpenAPIBackend } from 'openapi-backend';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ENDINGS } from '../../src/sandbox/endings.ts';
import { readDescription } from '../../src/sandbox/form.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { type Answer, post } from './post.ts';

/** What a validator that others wrote has against requests and answers; nothing is an empty list. */
interface Inspector {
  readonly request: (body: unknown) => unknown[];
  readonly answer: (body: unknown, status: number) => unknown[];
}

/** The validator reads answers of type application/json alone, so that errors are under that type in its copy. */
async function inspectorOf(): Promise<Inspector> {
  const copy = readDescription() as unknown as { paths: { '/v2/messages': { post: Operation } } };
  for (const { content } of Object.values(copy.paths['/v2/messages'].post.responses)) {
    const problem = content?.['application/problem+json'];
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

/** The examples of the description, which are requests over every channel. */
function examplesOf(): (readonly [name: string, body: Record<string, unknown>])[] {
  const { paths } = readDescription() as unknown as {
    paths: {
      '/v2/messages': {
        post: { requestBody: { content: Record<string, { examples: Record<string, { value: unknown }> }> } };
      };
    };
  };
  const { examples = {} } = paths['/v2/messages'].post.requestBody.content['application/json'] ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name, value as Record<string, unknown>] as const);
}

function to(...endings: readonly string[]): Record<string, unknown> {
  const recipients = endings.map((digits) => ({ msisdn: `+447700900${digits}` }));
  return { channel: 'RCS', body: { text: 'Hello Zoë' }, recipients };
}

describe('an independent validator of OpenAPI', () => {
  let sandbox: Sandbox;
  let inspector: Inspector;
  beforeAll(async () => {
    inspector = await inspectorOf();
    sandbox = await startSandbox({ apiKey: 'test-key', maxRecipients: 3 });
  });
  afterAll(() => sandbox.close());

  function faultsOf({ json, status }: Answer): unknown[] {
    return inspector.answer(json, status);
  }

  test.each(examplesOf())('takes the example %s, and its answer', async (_name, body) => {
    expect(inspector.request(body)).toEqual([]);
    const answer = await post(sandbox, body);
    expect([answer.status < 300, faultsOf(answer)]).toEqual([true, []]);
  });

  const endings = ENDINGS.filter(({ digits, answer }) => answer !== undefined && /^[2-5]/.test(digits));
  test.each([...endings.map(({ digits }) => digits), '844', '999'])(
    'takes the answer to a number that ends in %s',
    async (digits) => {
      for (const others of [[], ['123'], ['404', '844']]) {
        const body = to(digits, ...others);
        expect(inspector.request(body)).toEqual([]);
        const answer = await post(sandbox, body);
        if (answer.json === null) continue;
        expect([others, faultsOf(answer)]).toEqual([others, []]);
      }
    },
  );

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
    const body = change(to('123'));
    expect(inspector.request(body)).not.toEqual([]);
    const answer = await post(sandbox, body);
    expect([answer.status, faultsOf(answer)]).toEqual([422, []]);
  });

  test.each<[label: string, status: number, body: unknown, key: string]>([
    ['another key', 401, to('123'), 'wrong'],
    ['too many recipients', 413, to('123', '124', '125', '126'), 'test-key'],
    ['not JSON', 400, '{', 'test-key'],
  ])('takes the answer to %s', async (_label, status, body, key) => {
    const answer = await post(sandbox, body, key);
    expect([answer.status, faultsOf(answer)]).toEqual([status, []]);
  });

  it('shows the description that the sandbox gives out', async () => {
    const shown = await (await fetch(`${sandbox.url}/sandbox/openapi.json`)).json();
    expect(shown).toEqual({ ...readDescription(), servers: [{ url: sandbox.url }] });
  });
});
