import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import type { SandboxReports } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { WebhookOptions } from '../../src/sandbox/webhook.ts';
import { withSandbox } from './post.ts';
import { eventsOf, MANNERS } from './receiver.ts';
import { QUICK, send, withWebhook } from './with-webhook.ts';

const ONE = { shares: { sent: 0 }, timeoutMs: 300 };
const NUMBER = '+447911123456';

describe('a post that is not answered 200 is repeated', () => {
  test.concurrent.each<[manner: keyof typeof MANNERS, answer: string]>([
    ['500 first', '500'],
    ['accepts with 202 first', '202'],
    ['says 204 first', '204'],
    ['redirects first', '307'],
    ['resets first', 'none'],
    ['is silent first', 'none'],
    ['drips its first answer', '500'],
    ['speaks no HTTP first', 'none'],
  ])('to a receiver that %s', async (manner, answer) => {
    // Only where no answer comes may the time run out, however busy the machine is.
    const timeoutMs = /silent|drips/.test(manner) ? 2_000 : 60_000;
    await withWebhook({ webhook: { ...ONE, timeoutMs }, manner: MANNERS[manner] }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', NUMBER);
      await sandbox.settled();
      expect(receiver.posts.map(({ text }) => text)).toEqual([receiver.posts[0]?.text, receiver.posts[0]?.text]);
      expect(receiver.posts.map(({ path }) => path)).toEqual(['/webhooks', '/webhooks']);
      expect(sandbox.reports).toMatchObject({
        events: 1,
        acknowledged: 1,
        givenUp: 0,
        pending: 0,
        posts: 2,
        retried: 1,
        answers: { [answer]: 1, 200: 1 },
      });
    });
  });

  it('until the waits are used up', async () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    await withWebhook({ webhook: ONE, sandbox: { log }, manner: MANNERS['fails always'] }, async (sandbox) => {
      await send(sandbox, 'SMS', NUMBER);
      await sandbox.settled();
      expect(sandbox.reports).toMatchObject({ acknowledged: 0, givenUp: 1, pending: 0, posts: 3, retried: 2 });
      expect(lines.slice(1)).toEqual([
        'webhook: an event, attempt 1: answered 503, again in 5 ms',
        'webhook: an event, attempt 2: answered 503, again in 10 ms',
        'webhook: an event, attempt 3: answered 503, given up',
      ]);
    });
  });

  it('also where no receiver listens', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`;
    gone.close();
    await once(gone, 'close');
    await withWebhook({ webhook: { ...ONE, url } }, async (sandbox) => {
      await send(sandbox, 'SMS', NUMBER);
      await sandbox.settled();
      expect(sandbox.reports).toMatchObject({ givenUp: 1, posts: 3, answers: { none: 3 } });
    });
  });

  test.each<keyof typeof MANNERS>(['well', 'closes each connection', 'says a lot'])(
    'but not to a receiver that answers 200: %s',
    async (manner) => {
      await withWebhook({ webhook: ONE, manner: MANNERS[manner] }, async (sandbox, receiver) => {
        for (let i = 0; i < 3; i += 1) {
          await send(sandbox, 'SMS', NUMBER);
          await sandbox.settled();
        }
        expect(sandbox.reports).toMatchObject({ acknowledged: 3, posts: 3, retried: 0 });
        const connections = new Set(receiver.posts.map(({ fromPort }) => fromPort)).size;
        expect([manner, connections]).toEqual([manner, manner === 'well' ? 1 : connections]);
      });
    },
  );
});

const NUMBERS = Array.from({ length: 60 }, (_, i) => `+4479111235${String(i).padStart(2, '0')}`);

describe('how much at once', () => {
  it('never more posts than it may, all of them in the end', async () => {
    const webhook = { atOnce: 3, delaysMs: { sent: 1, delivered: 1 } };
    await withWebhook({ webhook, manner: MANNERS.slow }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', ...NUMBERS.slice(0, 10));
      await sandbox.settled();
      expect([receiver.mostAtOnce, receiver.posts.length]).toEqual([3, 20]);
    });
  });

  it('several events in one post, and never more than asked for', async () => {
    await withWebhook({ webhook: { batch: 25 } }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', ...NUMBERS);
      await sandbox.settled();
      const sizes = receiver.posts.map((posted) => eventsOf([posted]).length);
      expect([Math.max(...sizes), eventsOf(receiver.posts).length]).toEqual([25, 120]);
      // Where the clock parts the first event from the others, it is a post of its own, in the form of one.
      expect(receiver.posts[sizes.indexOf(25)]?.json).toEqual({ events: expect.any(Array) });
    });
  });

  it('a batch is repeated as it was', async () => {
    await withWebhook({ webhook: { batch: 100 }, manner: MANNERS['500 first'] }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', ...NUMBERS);
      await sandbox.settled();
      expect(receiver.posts.filter(({ text }) => text === receiver.posts[0]?.text)).toHaveLength(2);
      expect(sandbox.reports).toMatchObject({ events: 120, acknowledged: 120, retried: 1 });
    });
  });

  it('what would wait above the limit is dropped, whole stories of it, and counted', async () => {
    await withWebhook({ webhook: { maxWaiting: 50 } }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', ...NUMBERS);
      expect(sandbox.reports).toMatchObject({ events: 50, pending: 50, dropped: 70, ends: { delivered: 25 } });
      await sandbox.settled();
      expect(receiver.posts).toHaveLength(50);
      await send(sandbox, 'SMS', NUMBER);
      expect(sandbox.reports).toMatchObject({ events: 52, dropped: 70 });
    });
  });
});

describe('close', () => {
  it('stops at once, posts nothing after it, and releases all who wait', async () => {
    await withWebhook(
      { webhook: { delaysMs: { ...QUICK, sent: 100 }, shares: { early: 1 } }, manner: () => {} },
      async (sandbox, receiver) => {
        const early = send(sandbox, 'SMS', ...NUMBERS).catch(() => 'cut');
        const settled = sandbox.settled();
        while (receiver.posts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        const start = performance.now();
        await sandbox.close();
        expect(performance.now() - start).toBeLessThan(5_000);
        await settled;
        expect(await early).toBe('cut');
        const { length } = receiver.posts;
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(receiver.posts).toHaveLength(length);
        await sandbox.settled();
      },
    );
  });
});

describe('GET /sandbox/reports', () => {
  it('says what was posted and what waits', async () => {
    await withWebhook({ webhook: { ...ONE, secret: 'hidden00' } }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', NUMBER);
      const counts = async (): Promise<SandboxReports> =>
        (await (await fetch(`${sandbox.url}/sandbox/reports`)).json()) as SandboxReports;
      const before = await counts();
      while ((await counts()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await counts()).toEqual({
        webhook: receiver.url,
        events: 1,
        pending: 0,
        acknowledged: 1,
        givenUp: 0,
        dropped: 0,
        posts: 1,
        retried: 0,
        answers: { 200: 1 },
        ends: { delivered: 1 },
        replies: 0,
      });
      expect(before.events).toBe(1);
      const text = await (await fetch(`${sandbox.url}/sandbox`)).text();
      expect(JSON.parse(text)).toMatchObject({ reports: { webhook: receiver.url, acknowledged: 1 } });
      expect(text).not.toContain('hidden');
    });
  });

  it('says nothing came back without a webhook, and takes only GET', async () => {
    await withSandbox({}, async (sandbox) => {
      expect(await (await fetch(`${sandbox.url}/sandbox/reports`)).json()).toMatchObject({ webhook: null, pending: 0 });
      expect((await fetch(`${sandbox.url}/sandbox/reports`, { method: 'POST' })).status).toBe(405);
    });
  });
});

describe('is refused before anything starts', () => {
  const url = 'http://127.0.0.1:4011/webhooks';
  test.each<[label: string, webhook: WebhookOptions, message: RegExp]>([
    ['another machine', { url: 'http://example.com/webhooks' }, /posts to this machine only/],
    ['a name that looks like this machine', { url: 'http://127.0.0.1.example.com/' }, /this machine only/],
    ['all addresses', { url: 'http://0.0.0.0:4011/' }, /this machine only/],
    ['a network', { url: 'http://10.0.0.1/' }, /this machine only/],
    ['another protocol', { url: 'https://127.0.0.1/' }, /by http:/],
    ['no URL', { url: '127.0.0.1:4011' }, /by http:/],
    ['a password in the URL', { url: 'http://a:b@127.0.0.1/' }, /without user and password/],
    ['a secret that is not base64', { url, secret: 'whsec_!!!' }, /base64/],
    ['an empty secret', { url, secret: 'whsec_' }, /base64/],
    ['a share of more than all', { url, shares: { late: 1.5 } }, /share late/],
    ['no share', { url, shares: { late: Number.NaN } }, /share late/],
    ['ends of more than all', { url, shares: { delivered: 0.9, failed: 0.2 } }, /sum up/],
    ['more than all without delivered', { url, shares: { expired: 0.9, failed: 0.2 } }, /sum up/],
    ['replies of more than all', { url, shares: { stop: 0.9, reply: 0.2 } }, /reply and stop/],
  ])('%s', async (_label, webhook, message) => {
    const error: unknown = await startSandbox({ apiKey: 'test-key', webhook }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(HandbillError);
    expect([(error as HandbillError).exit, (error as HandbillError).message]).toEqual([
      2,
      expect.stringMatching(message),
    ]);
    expect(
      (error as HandbillError).diagnostics.every(
        ({ hint = null, message: words }) => hint !== null || /share \w+ must/.test(words),
      ),
    ).toBe(true);
    if (webhook.secret !== undefined && webhook.secret.length > 6) {
      expect(JSON.stringify((error as HandbillError).diagnostics)).not.toContain(webhook.secret);
    }
  });
});
