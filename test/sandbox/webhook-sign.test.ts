import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { sign } from '../../src/sandbox/reporter.ts';
import { createVerifier } from '../../src/webhook/verify.ts';
import { MANNERS } from './receiver.ts';
import { send, withWebhook } from './with-webhook.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

it('a receiver takes what the sandbox signs, and not with another secret', async () => {
  await withWebhook({ webhook: { secret: SECRET } }, async (sandbox, receiver) => {
    await send(sandbox, 'SMS', '+447700900605');
    await sandbox.settled();
    expect(receiver.posts).toHaveLength(3);
    for (const { headers, text } of receiver.posts) {
      const proof = { headers, body: Buffer.from(text), segment: null, query: '' };
      const verdictWith = (secret: string) =>
        createVerifier({ kind: 'standard', toleranceMs: 300_000 }, [secret])(proof, Date.now());
      expect(verdictWith(SECRET)).toMatchObject({ verified: true });
      expect(verdictWith(Buffer.alloc(32, 8).toString('base64'))).toMatchObject({ verified: false });
    }
  });
});

it('the vector of the specification', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(sign(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, '{"test": 2432232314}')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it.each(['{"name":"Siobhán €"}', '', '\u{1f600}'.repeat(1_000)])(
  'the library of the specification takes it: %#',
  (body) => {
    const headers = sign(SECRET, 'msg-1', Date.now(), body);
    expect(() => new Webhook(SECRET).verify(body, headers, { jsonParse: false })).not.toThrow();
    expect(() => new Webhook(SECRET).verify(`${body} `, headers, { jsonParse: false })).toThrow();
  },
);

it('a repeated post has its old id, and a time and a signature of its own', async () => {
  let nowMs = Date.UTC(2026, 10, 21, 9);
  const now = (): number => {
    nowMs += 1_000;
    return nowMs;
  };
  const webhook = { secret: SECRET, shares: { sent: 0 } } as const;
  await withWebhook({ webhook, sandbox: { now }, manner: MANNERS['500 first'] }, async (sandbox, receiver) => {
    await send(sandbox, 'SMS', '+447911123456');
    await sandbox.settled();
    const [first, second] = receiver.posts.map(({ headers }) => headers);
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(Number(second?.['webhook-timestamp'])).toBeGreaterThan(Number(first?.['webhook-timestamp']));
    expect(second?.['webhook-signature']).not.toBe(first?.['webhook-signature']);
  });
});

it('every post has an id that no other start gives', async () => {
  const ids = new Set<unknown>();
  for (let start = 0; start < 2; start += 1) {
    await withWebhook({ webhook: { secret: SECRET, shares: { doubled: 1 } } }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', '+447911123123');
      await sandbox.settled();
      for (const { headers } of receiver.posts) ids.add(headers['webhook-id']);
    });
  }
  expect(ids.size).toBe(8);
});

it('nothing is signed where nothing is asked for', async () => {
  await withWebhook({}, async (sandbox, receiver) => {
    await send(sandbox, 'SMS', '+447700900613');
    await sandbox.settled();
    expect(Object.keys(receiver.posts[0]?.headers ?? {}).toSorted()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
    ]);
  });
});
