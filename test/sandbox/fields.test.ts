import { describe, expect, it, test } from 'vitest';
import { messageTo } from './message.ts';
import { post, withSandbox } from './post.ts';

describe('any fields', () => {
  test.each<[label: string, recipient: object, to: string, status: number]>([
    ['another field', { mobile: '447911123001' }, '447911123001', 202],
    ['another form of the number', { msisdn: '00447700900123' }, '00447700900123', 202],
    ['a script in it', { phone: '00447700900404' }, '00447700900404', 404],
    ['a device in it', { number: '447700900844' }, '447700900844', 422],
    ['an email address', { contact: { kind: 'x' }, mail: 'zoe@example.com' }, 'zoe@example.com', 202],
    ['no address at all', { position: 1 }, '', 202],
  ])('%s', async (_label, recipient, to, status) => {
    await withSandbox({ fields: 'any' }, async (sandbox) => {
      const message = { channel: 'RCS', payload: { rich: [] }, recipients: [recipient], tracking: 'x' };
      expect((await post(sandbox, message)).status).toBe(status);
      const { messages } = (await (await fetch(`${sandbox.url}/sandbox/messages`)).json()) as { messages: unknown[] };
      expect(messages).toMatchObject([{ to: [to] }]);
    });
  });

  test.each([
    ['no channel', { recipients: [{ msisdn: '1' }] }],
    ['no recipients', { channel: 'SMS' }],
    ['recipients that are none', { channel: 'SMS', recipients: ['x'] }],
    ['contacts without ids', { channel: 'SMS', addressBook: { contacts: [{}] } }],
  ])('but still a message: %s', async (_label, message) => {
    await withSandbox({ fields: 'any' }, async (sandbox) => {
      expect((await post(sandbox, message)).status).toBe(422);
    });
  });

  it('are refused as a rule', async () => {
    await withSandbox({}, async (sandbox) => {
      expect((await post(sandbox, { ...messageTo('+447911123001'), tracking: 'x' })).status).toBe(422);
    });
  });
});
