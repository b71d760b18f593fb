import { describe, expect, it, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { messageTo, type Received } from './message.ts';
import { post, withSandbox } from './post.ts';

const numbers = (...endings: readonly string[]): string[] => endings.map((digits) => `+447700900${digits}`);
const RCS = { channel: 'RCS' };

async function listed(sandbox: Sandbox): Promise<{ accepted: number; newest: Received }> {
  const { messages } = (await (await fetch(`${sandbox.url}/sandbox/messages`)).json()) as { messages: Received[] };
  const { accepted } = (await (await fetch(`${sandbox.url}/sandbox`)).json()) as { accepted: number };
  const [newest] = messages;
  if (newest === undefined) throw new Error('nothing was received');
  return { accepted, newest };
}

describe('each recipient is judged by itself', () => {
  it('those with a refusal of their own are rejected, the others are taken', async () => {
    await withSandbox({}, async (sandbox) => {
      const answer = await post(sandbox, { ...messageTo(...numbers('123', '404', '844', '422', '124')), ...RCS });
      const { id } = answer.json as { id: string };
      expect(answer.status).toBe(202);
      expect(answer.json).toEqual({
        id,
        status: 'partially-accepted',
        recipients: [
          { id: `${id}-1`, msisdn: '+447700900123', status: 'accepted' },
          { msisdn: '+447700900404', status: 'rejected', error: { code: 'not-found', detail: 'Scripted: Not Found.' } },
          {
            msisdn: '+447700900844',
            status: 'rejected',
            error: {
              code: 'channel-not-supported',
              detail: 'The recipient cannot receive RCS: the device is an Android 4.4.',
            },
          },
          {
            msisdn: '+447700900422',
            status: 'rejected',
            error: { code: 'unprocessable-entity', detail: 'Scripted: Unprocessable Entity.' },
          },
          { id: `${id}-5`, msisdn: '+447700900124', status: 'accepted' },
        ],
      });
      const { accepted, newest } = await listed(sandbox);
      expect(accepted).toBe(1);
      expect(newest).toMatchObject({ status: 202, id, scenario: null, refused: numbers('404', '844', '422') });
      expect(newest.to).toHaveLength(5);
    });
  });

  it('also where no recipient is left', async () => {
    await withSandbox({}, async (sandbox) => {
      const answer = await post(sandbox, { ...messageTo(...numbers('844', '404')), ...RCS });
      expect(answer.json).toMatchObject({
        status: 'rejected',
        recipients: [{ status: 'rejected' }, { status: 'rejected' }],
      });
      expect(await listed(sandbox)).toMatchObject({ accepted: 0, newest: { refused: numbers('844', '404') } });
    });
  });

  test.each([
    ['an email address', { email: 'zoe@example.com' }, 'email', 'accepted'],
    ['an email address with a tag', { email: 'zoe+404@example.com' }, 'email', 'rejected'],
    ['an email address that may be real', { email: 'zoe+404@example.com.au' }, 'email', 'accepted'],
  ])('%s', async (_label, recipient, field, status) => {
    await withSandbox({}, async (sandbox) => {
      const recipients = [recipient, { email: 'ada@example.org' }];
      const { json } = await post(sandbox, { channel: 'Email', body: { text: 'x' }, recipients });
      const [entry] = (json as { recipients: Record<string, unknown>[] }).recipients;
      expect([entry?.[field], entry?.['status']]).toEqual([recipient.email, status]);
    });
  });

  it('contacts too', async () => {
    await withSandbox({}, async (sandbox) => {
      const contacts = [{ id: 'c"1' }, { id: 'sandbox-7+404' }, { id: 'c7+404' }, { id: 'sandbox-8+801' }];
      const { json } = await post(sandbox, { channel: 'SMS', body: { text: 'x' }, addressBook: { contacts } });
      expect(json).toMatchObject({
        status: 'partially-accepted',
        recipients: [
          { contact: 'c"1', status: 'accepted' },
          { contact: 'sandbox-7+404', status: 'rejected', error: { code: 'not-found' } },
          { contact: 'c7+404', status: 'accepted' },
          { contact: 'sandbox-8+801', status: 'rejected', error: { code: 'channel-not-supported' } },
        ],
      });
    });
  });
});

describe('what is about the request answers for all', () => {
  test.each(['401', '402', '403', '407', '408', '413', '425', '429', '430', '499', '500', '503', '302'])(
    '%s among others',
    async (digits) => {
      await withSandbox({}, async (sandbox) => {
        const { status } = await post(sandbox, messageTo(...numbers('123', '404', digits)));
        expect(status).toBe(digits === '430' ? 429 : Number(digits));
      });
    },
  );

  it('is that of the first such recipient', async () => {
    await withSandbox({}, async (sandbox) => {
      expect((await post(sandbox, messageTo(...numbers('404', '503', '401')))).status).toBe(503);
    });
  });

  it('a script of success says who is refused nevertheless', async () => {
    await withSandbox({}, async (sandbox) => {
      const answer = await post(sandbox, messageTo(...numbers('201', '404')));
      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject({ status: 'partially-accepted', recipients: [{}, { status: 'rejected' }] });
      expect((await listed(sandbox)).newest).toMatchObject({ scenario: '201', refused: numbers('404') });
    });
  });

  it('a request that comes again after 429 is taken in the same parts', async () => {
    await withSandbox({}, async (sandbox) => {
      const message = messageTo(...numbers('433', '404', '123'));
      expect((await post(sandbox, message)).status).toBe(429);
      expect((await post(sandbox, message)).json).toMatchObject({ status: 'partially-accepted' });
    });
  });
});

describe('so many recipients and no more', () => {
  const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `+4479${String(10_000_000 + i)}`);

  test.each([
    ['1,000', {}, 1_000, 202],
    ['1,001', {}, 1_001, 413],
    ['three of three', { maxRecipients: 3 }, 3, 202],
    ['four of three', { maxRecipients: 3 }, 4, 413],
    ['one of one', { maxRecipients: 1 }, 1, 202],
    ['two of one', { maxRecipients: 1 }, 2, 413],
  ] as const)('%s: %o, %i, %i', async (_label, options, count, status) => {
    await withSandbox(options, async (sandbox) => {
      const answer = await post(sandbox, messageTo(...many(count)));
      expect(answer.status).toBe(status);
      if (status === 413) expect(answer.json).toMatchObject({ code: 'too-many-recipients' });
      else if (count > 1) expect((answer.json as { recipients: unknown[] }).recipients).toHaveLength(count);
    });
  });

  it('counts contacts', async () => {
    await withSandbox({ maxRecipients: 2 }, async (sandbox) => {
      const message = { ...messageTo('+447700900123'), addressBook: { contacts: [{ id: 'c1' }, { id: 'c2' }] } };
      expect((await post(sandbox, message)).status).toBe(413);
      expect((await listed(sandbox)).newest.to).toEqual(['+447700900123', 'c1', 'c2']);
    });
  });
});

it('the log shows the first three and how many were refused', async () => {
  const lines: string[] = [];
  await withSandbox({ log: (line) => lines.push(line) }, async (sandbox) => {
    await post(sandbox, messageTo(...numbers('123', '404', '124', '125', '126')));
  });
  expect(lines[0]).toMatch(/^#1 202 \S+0123, \S+0404, \S+0124 and 2 more \(1 refused\) sbx-/);
});

it('ten thousand tags cannot slow a request down', async () => {
  await withSandbox({}, async (sandbox) => {
    const contacts = [{ id: `sandbox${'a'.repeat(400_000)}` }, { id: `${'+1'.repeat(200_000)}` }];
    const start = performance.now();
    expect((await post(sandbox, { channel: 'SMS', body: { text: 'x' }, addressBook: { contacts } })).status).toBe(202);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
