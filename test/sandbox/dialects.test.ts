import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { DialectName } from '../../src/sandbox/openapi.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { messageTo } from './message.ts';
import { type Answer, post, withSandbox } from './post.ts';

const JSON_TYPE = 'application/json';
const PROBLEM_TYPE = 'application/problem+json';
const ID = expect.stringMatching(/^sbx-[0-9a-f]{10}-\d+$/);
const numbers = (...endings: readonly string[]): string[] => endings.map((digits) => `+447700900${digits}`);
const rcs = (...endings: readonly string[]): unknown => ({ ...messageTo(...numbers(...endings)), channel: 'RCS' });

/** A sandbox that speaks a dialect, for the tests of a `describe`. */
function speaking(dialect: DialectName): { readonly post: (message: unknown, key?: string) => Promise<Answer> } {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ apiKey: 'test-key', dialect });
  });
  afterAll(() => sandbox.close());
  return { post: (message, key) => post(sandbox, message, key) };
}

describe('top-level', () => {
  const api = speaking('top-level');
  const violations = [{ property: 'recipients[1]', violation: expect.stringContaining('Android 4.4') }];

  test.each<[label: string, message: unknown, status: number, body: unknown]>([
    ['one recipient', messageTo(...numbers('123')), 202, { messageId: ID }],
    ['several recipients', messageTo(...numbers('123', '124')), 202, { messageId: ID }],
    ['a script of success', messageTo(...numbers('200')), 200, { messageId: ID }],
    ['a script of failure', messageTo(...numbers('404')), 404, { errorCode: 'E404', description: expect.any(String) }],
    [
      'a device',
      rcs('844'),
      422,
      {
        errorCode: 'E4221',
        description: expect.stringContaining('Android 4.4'),
        violations: [{ ...violations[0], property: 'recipients[0]' }],
      },
    ],
    [
      'a device among several',
      rcs('123', '844'),
      422,
      { errorCode: 'E4221', description: expect.any(String), violations },
    ],
    ['not JSON', '{', 400, { errorCode: 'E400', description: 'The body is not JSON.' }],
    [
      'not a message',
      messageTo('07700900123'),
      400,
      {
        errorCode: 'E400',
        description: expect.stringContaining('#/recipients/0/msisdn'),
        violations: [{ property: 'recipients[0].msisdn', violation: expect.stringContaining('pattern') }],
      },
    ],
  ])('%s', async (_label, message, status, body) => {
    const answer = await api.post(message);
    expect([answer.status, answer.type, answer.json]).toEqual([status, JSON_TYPE, body]);
  });

  it('another key', async () => {
    expect((await api.post(messageTo(...numbers('123')), 'wrong')).json).toMatchObject({ errorCode: 'E401' });
  });
});

describe('problem', () => {
  const api = speaking('problem');
  const section = (part: string): string => `https://tools.ietf.org/html/rfc9110#section-15.${part}`;
  const title = 'One or more validation errors occurred.';
  const detail = expect.any(String);

  test.each<[label: string, message: unknown, status: number, body: unknown]>([
    ['one recipient', messageTo(...numbers('123')), 201, { id: ID }],
    ['several recipients', messageTo(...numbers('123', '124')), 201, { id: ID }],
    ['a script of success', messageTo(...numbers('200')), 200, { id: ID }],
    ['a slow answer without an id', messageTo(...numbers('908')), 201, {}],
    [
      'a script of failure',
      messageTo(...numbers('409')),
      409,
      { type: section('5.10'), title: 'Conflict', status: 409, detail },
    ],
    [
      'a script of a status beyond RFC 9110',
      messageTo(...numbers('451')),
      451,
      { type: 'about:blank', title: 'Unavailable For Legal Reasons', status: 451, detail },
    ],
    [
      'a fault of the server',
      messageTo(...numbers('503')),
      503,
      { type: section('6.4'), title: 'Service Unavailable', status: 503, detail },
    ],
    [
      'a device',
      rcs('844'),
      404,
      {
        type: section('5.5'),
        title,
        status: 404,
        detail,
        errors: { 'Recipients[0]': [expect.stringContaining('Android 4.4')] },
      },
    ],
    [
      'a device among several',
      rcs('123', '844'),
      404,
      {
        type: section('5.5'),
        title,
        status: 404,
        detail,
        errors: { 'Recipients[1]': [expect.stringContaining('Android 4.4')] },
      },
    ],
    ['not JSON', '{', 400, { type: section('5.1'), title: 'Bad Request', status: 400, detail }],
    [
      'not an object',
      [],
      400,
      { type: section('5.1'), title, status: 400, detail, errors: { $: expect.arrayContaining(['must be object']) } },
    ],
    [
      'not a message',
      messageTo('x'),
      400,
      {
        type: section('5.1'),
        title,
        status: 400,
        detail,
        errors: { 'Recipients[0].Msisdn': [expect.stringContaining('pattern')] },
      },
    ],
  ])('%s', async (_label, message, status, body) => {
    const answer = await api.post(message);
    expect([answer.status, answer.type]).toEqual([status, status < 300 ? JSON_TYPE : PROBLEM_TYPE]);
    expect(answer.json).toEqual(body);
  });
});

describe('per-recipient', () => {
  const api = speaking('per-recipient');
  const PENDING = { groupName: 'PENDING', description: expect.any(String) };
  const REJECTED = { groupName: 'REJECTED', description: expect.any(String) };
  const to = (...recipients: readonly object[]): Record<string, unknown> => ({
    channel: 'SMS',
    body: { text: 'x' },
    recipients,
  });
  const number = (digits: string): object => ({ msisdn: `447700900${digits}`, metaData: { ref: `r-${digits}` } });

  test.each<[label: string, message: unknown, messages: unknown]>([
    ['one recipient', to(number('123')), [{ to: '447700900123', messageId: ID, status: PENDING }]],
    [
      'one that is refused',
      to(number('404')),
      [
        {
          to: '447700900404',
          messageId: ID,
          status: REJECTED,
          error: { code: 'NOT_FOUND', description: 'Scripted: Not Found.' },
        },
      ],
    ],
    [
      'a device',
      { ...to(number('844')), channel: 'WHATSAPP' },
      [{ to: '447700900844', messageId: ID, status: PENDING }],
    ],
    [
      'a device without the app',
      { ...to(number('800')), channel: 'WHATSAPP' },
      [
        {
          to: '447700900800',
          messageId: ID,
          status: REJECTED,
          error: { code: 'CHANNEL_NOT_SUPPORTED', description: expect.stringContaining('a feature phone') },
        },
      ],
    ],
    [
      'an email address',
      { ...to({ address: 'zoe@example.com' }), channel: 'EMAIL' },
      [{ to: 'zoe@example.com', messageId: ID, status: PENDING }],
    ],
    [
      'a contact',
      { channel: 'SMS', body: { text: 'x' }, addressBook: { contacts: [{ id: 'c1' }] } },
      [{ to: 'c1', messageId: ID, status: PENDING }],
    ],
    [
      'rich content',
      { ...to(number('123')), channel: 'RCS', body: { text: 'x', richContent: { suggestions: [] } } },
      [{ to: '447700900123', messageId: ID, status: PENDING }],
    ],
  ])('%s', async (_label, message, messages) => {
    const answer = await api.post(message);
    expect([answer.status, answer.type]).toEqual([200, JSON_TYPE]);
    expect(answer.json).toEqual({ bulkId: expect.stringMatching(/^bulk-sbx-/), messages });
  });

  it('several recipients, each with an id of its own', async () => {
    const { json } = await api.post(to(number('123'), number('422'), number('124')));
    const { messages } = json as { messages: { messageId: string; status: object }[] };
    expect(messages.map(({ status }) => status)).toEqual([PENDING, REJECTED, PENDING]);
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(3);
  });

  test.each<[label: string, path: string, message: unknown]>([
    ['a number with a plus', '/recipients/0/msisdn', messageTo('+447700900123')],
    ['a channel in other letters', '/channel', { ...to(number('123')), channel: 'Sms' }],
    ['the default name of a channel', '/channel', { ...to(number('123')), channel: 'MessagingApp' }],
    [
      'the default place of rich content',
      '/body',
      { ...to(number('123')), body: { text: 'x', content: { footer: 'y' } } },
    ],
    [
      'the default field of an email address',
      '/recipients/0',
      { ...to({ email: 'zoe@example.com' }), channel: 'EMAIL' },
    ],
    [
      'the default name of the reference',
      '/recipients/0/metaData',
      to({ msisdn: '447700900123', metaData: { handbill: 'x' } }),
    ],
  ])('does not take %s', async (_label, path, message) => {
    const answer = await api.post(message);
    expect([answer.status, answer.type]).toEqual([400, JSON_TYPE]);
    const { requestError } = answer.json as { requestError: { violations: { path: string }[] } };
    expect(requestError).toMatchObject({ code: 'BAD_REQUEST', text: expect.stringContaining('not a message') });
    expect(requestError.violations.map((violation) => violation.path)).toContain(path);
  });

  test.each([
    ['401', 401, 'UNAUTHORIZED'],
    ['503', 503, 'SERVICE_UNAVAILABLE'],
  ])('%s is an error of the whole request', async (digits, status, code) => {
    const answer = await api.post(to(number('123'), number(digits)));
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ requestError: { code, text: expect.any(String) } });
  });

  it('too many recipients', async () => {
    await withSandbox({ dialect: 'per-recipient', maxRecipients: 1 }, async (sandbox) => {
      const answer = await post(sandbox, to(number('123'), number('124')));
      expect([answer.status, answer.json]).toEqual([
        413,
        { requestError: { code: 'TOO_MANY_RECIPIENTS', text: expect.any(String) } },
      ]);
    });
  });

  it('counts a request as accepted only where a recipient was', async () => {
    await withSandbox({ dialect: 'per-recipient' }, async (sandbox) => {
      await post(sandbox, to(number('404')));
      await post(sandbox, to(number('404'), number('123')));
      const headers = { accept: JSON_TYPE };
      const counts = await (await fetch(`${sandbox.url}/sandbox`, { headers })).json();
      expect(counts).toMatchObject({ received: 2, accepted: 1, answers: { 200: 2 }, dialect: 'per-recipient' });
    });
  });
});

describe('a status is the one of the script, or the one of success', () => {
  test.each([
    ['default', 202],
    ['top-level', 202],
    ['per-recipient', 200],
    ['problem', 201],
  ] as const)('%s: %i', async (dialect, success) => {
    await withSandbox({ dialect }, async (sandbox) => {
      const to = (digits: string): object =>
        messageTo(dialect === 'per-recipient' ? `447700900${digits}` : `+447700900${digits}`);
      const statuses = [];
      for (const digits of ['123', '905', '909', '201', '204', '429', '429']) {
        statuses.push((await post(sandbox, to(digits))).status);
      }
      expect(statuses).toEqual([success, success, success, 201, 204, 429, success]);
    });
  });
});
