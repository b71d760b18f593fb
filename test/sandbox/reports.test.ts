import { beforeAll, describe, expect, it, test } from 'vitest';
import type { DeliveryState } from '../../src/model.ts';
import { foldDelivery } from '../../src/report/fold-delivery.ts';
import { ENDINGS } from '../../src/sandbox/endings.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { chanceFor } from '../../src/sandbox/reports.ts';
import { post } from './post.ts';
import { eventsOf, type Posted } from './receiver.ts';
import { messageWith, send, withWebhook } from './with-webhook.ts';

/** What events say, in few words: `sent`, or `"STOP" from +4477...`. */
function told(posts: readonly Posted[]): string[] {
  return eventsOf(posts).map((event) =>
    'text' in event && 'from' in event
      ? `${JSON.stringify(event['text'])} from ${event['from']}`
      : `${event['status']}`,
  );
}

/** The reports for each number that was sent to, in the order of posts. */
function toldAbout(posts: readonly Posted[], number: string): string[] {
  return told(posts.filter(({ text }) => text.includes(number.slice(-9))));
}

/** The endings with reports whose request is answered. */
const REPORTING = ENDINGS.filter(({ answer, reports }) => answer === undefined && reports !== undefined);

describe('endings with reports', () => {
  const N = '+447700900';
  const all: { sms: readonly Posted[]; rcs: readonly Posted[] } = { sms: [], rcs: [] };

  async function postsBy(channel: string): Promise<readonly Posted[]> {
    let posts: readonly Posted[] = [];
    await withWebhook({}, async (sandbox, receiver) => {
      const numbers = REPORTING.map(({ digits }) => `${N}${digits}`);
      await send(sandbox, channel, ...numbers);
      await sandbox.settled();
      posts = [...receiver.posts];
    });
    return posts;
  }

  beforeAll(async () => {
    all.sms = await postsBy('SMS');
    all.rcs = await postsBy('RCS');
  });
  test.each<[digits: string, channel: string, events: readonly string[]]>([
    ['600', 'SMS', ['queued', 'sent', 'delivered']],
    ['601', 'SMS', ['sent', 'delivered', 'read']],
    ['602', 'SMS', ['sent', 'failed']],
    ['603', 'SMS', ['sent', 'expired']],
    ['604', 'RCS', ['undeliverable']],
    ['604', 'SMS', ['sent', 'delivered']],
    ['605', 'SMS', ['sent', 'delivered', `"STOP" from ${N}605`]],
    ['606', 'SMS', ['sent', 'delivered', `"yes" from ${N}606`]],
    ['611', 'SMS', ['sent', 'failed', 'delivered']],
    ['612', 'SMS', ['rejected']],
    ['613', 'SMS', ['sent']],
    ['614', 'SMS', ['sent', 'delivered', '"STOP" from 447700900614']],
    ['616', 'SMS', ['sent', 'delivered', `"STOP" from ${N}616`, `"START" from ${N}616`]],
    ['618', 'SMS', ['sent', 'delivered', `"please don't stop" from ${N}618`]],
    ['619', 'SMS', ['undeliverable']],
    ['620', 'SMS', ['rejected']],
    ['621', 'SMS', ['sent', 'read']],
    ['624', 'SMS', []],
  ])('%s by %s: %j', (digits, channel, events) => {
    const posts = channel === 'SMS' ? all.sms : all.rcs;
    expect(toldAbout(posts, `+447700900${digits}`)).toEqual(events);
  });

  it('an early report is posted before the request is answered, and waits for a slow receiver', async () => {
    await withWebhook({ webhook: { shares: { early: 1 } } }, async (sandbox, receiver) => {
      let answered = false;
      let before = false;
      receiver.manner = (outgoing, n) => {
        setTimeout(() => {
          if (n === 1) before = !answered;
          outgoing.writeHead(200).end();
        }, 60);
      };
      const { json } = await send(sandbox, 'SMS', '+447911123607');
      answered = true;
      expect([before, eventsOf(receiver.posts)[0]]).toEqual([
        true,
        expect.objectContaining({ messageId: (json as { id: string }).id, status: 'delivered' }),
      ]);
    });
  });

  it('is answered although no receiver takes the early report', async () => {
    await withWebhook(
      { webhook: { shares: { early: 1 } }, manner: (outgoing) => outgoing.socket?.resetAndDestroy() },
      async (sandbox) => {
        await send(sandbox, 'SMS', '+447911123607');
      },
    );
  });

  it('610 loses the answer, and its reports know the reference', async () => {
    await withWebhook({}, async (sandbox, receiver) => {
      await expect(post(sandbox, messageWith('SMS', '+447700900610'))).rejects.toThrow();
      await sandbox.settled();
      expect(eventsOf(receiver.posts)).toMatchObject([
        { status: 'sent', metaData: { handbill: 'ref-610' } },
        { status: 'delivered', metaData: { handbill: 'ref-610' } },
      ]);
      expect(sandbox.received).toBe(1);
    });
  });

  it('a late report comes late', async () => {
    const webhook = { shares: { late: 1 }, delaysMs: { sent: 1, delivered: 1, late: 300 } };
    await withWebhook({ webhook }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', '+447911123622');
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(told(receiver.posts)).toEqual(['sent']);
      await sandbox.settled();
      expect(told(receiver.posts)).toEqual(['sent', 'delivered']);
    });
  });

  it('reordered reports say when each thing happened, whatever the order of posts', async () => {
    await withWebhook({ webhook: { shares: { reordered: 1 } } }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', '+447911123609');
      await sandbox.settled();
      expect(told(receiver.posts)).toEqual(['delivered', 'sent']);
      const [first, second] = eventsOf(receiver.posts);
      expect(Date.parse(String(first?.['timestamp']))).toBeGreaterThan(Date.parse(String(second?.['timestamp'])));
    });
  });

  test.each([
    ['an email address', { email: 'zoe+605@example.com' }, 'zoe+605@example.com'],
    ['a number without +', { msisdn: '447700900605' }, '447700900605'],
  ])('are chosen by %s', async (_label, recipient, from) => {
    await withWebhook({}, async (sandbox, receiver) => {
      await post(sandbox, { ...messageWith('SMS'), recipients: [recipient] });
      await sandbox.settled();
      expect(told(receiver.posts).at(-1)).toBe(`"STOP" from ${from}`);
    });
  });

  it('are not played by a number that may belong to a person, unless told so', async () => {
    for (const [scripts, last] of [
      ['reserved', 'delivered'],
      ['none', 'delivered'],
      ['all', '"STOP" from +447911123605'],
    ] as const) {
      await withWebhook({ sandbox: { scripts } }, async (sandbox, receiver) => {
        await send(sandbox, 'SMS', '+447911123605');
        await sandbox.settled();
        expect([scripts, told(receiver.posts).at(-1)]).toEqual([scripts, last]);
      });
    }
  });

  it('without a webhook are accepted, and nothing comes back', async () => {
    const { withSandbox } = await import('./post.ts');
    await withSandbox({}, async (sandbox) => {
      for (const { digits } of REPORTING) await send(sandbox, 'RCS', `+447700900${digits}`);
      await sandbox.settled();
      expect(sandbox.reports).toMatchObject({ webhook: null, events: 0, pending: 0 });
    });
  });
});

describe('what reports are about', () => {
  it('knows the id that the answer gave to each of several recipients, and none for those who were refused', async () => {
    await withWebhook({}, async (sandbox, receiver) => {
      const { json } = await send(sandbox, 'RCS', '+447700900123', '+447700900844', '+447700900602');
      await sandbox.settled();
      const ids = (json as { recipients: { id?: string; msisdn: string }[] }).recipients;
      const said = eventsOf(receiver.posts).map(({ messageId, to, status }) => `${messageId} ${to} ${status}`);
      expect(said.toSorted()).toEqual([
        `${ids[0]?.id} +447700900123 delivered`,
        `${ids[0]?.id} +447700900123 sent`,
        `${ids[2]?.id} +447700900602 failed`,
        `${ids[2]?.id} +447700900602 sent`,
      ]);
    });
  });

  it('there is no report of a refusal, a failure, a lost connection, or a page of another server', async () => {
    await withWebhook({}, async (sandbox) => {
      for (const digits of ['404', '429', '500', '901', '904', '907']) {
        await post(sandbox, messageWith('SMS', `+447700900${digits}`)).catch(() => null);
      }
      expect([sandbox.received, sandbox.reports.events]).toEqual([6, 0]);
    });
  });

  it('reports come of what was taken although its answer has no id that could be read', async () => {
    await withWebhook({}, async (sandbox, receiver) => {
      const endings = ['200', '204', '905', '906', '908', '909'];
      for (const digits of endings) {
        await post(sandbox, messageWith('SMS', `+447700900${digits}`)).catch(() => null);
      }
      await sandbox.settled();
      expect(sandbox.reports.ends).toEqual({ delivered: endings.length });
      for (const digits of endings) {
        const own = eventsOf(receiver.posts.filter(({ text }) => text.includes(`ref-${digits}`)));
        expect(own).toMatchObject([
          { status: 'sent', messageId: expect.stringMatching(/^sbx-/), metaData: { handbill: `ref-${digits}` } },
          { status: 'delivered' },
        ]);
      }
    });
  });

  it('gives back the metaData of the message and of the recipient', async () => {
    await withWebhook({ webhook: { shares: { sent: 0 } }, sandbox: { now: () => 0 } }, async (sandbox, receiver) => {
      const message = { ...messageWith('SMS', '+447700900123'), metaData: { campaign: 'x' }, body: { text: 'Hello' } };
      const { json } = await post(sandbox, message);
      await sandbox.settled();
      const { id } = json as { id: string };
      const timestamp = expect.stringMatching(/^1970-01-01T00:00:00\.\d{3}Z$/);
      const about = { messageId: id, status: 'delivered', timestamp, to: '+447700900123', channel: 'SMS' };
      expect(eventsOf(receiver.posts)).toEqual([{ ...about, metaData: { campaign: 'x', handbill: 'ref-123' } }]);
    });
  });
});

interface Rehearsal {
  readonly counts: Sandbox['reports'];
  readonly events: Record<string, unknown>[];
}

describe('chance', () => {
  const SHARES = {
    queued: 0.3,
    sent: 0.9,
    delivered: 0.7,
    expired: 0.05,
    failed: 0.1,
    undeliverable: 0.05,
    rejected: 0.05,
    read: 0.5,
    reply: 0.2,
    stop: 0.1,
    start: 0.5,
    respelled: 0.5,
    doubled: 0.1,
    reordered: 0.2,
    early: 0.1,
    late: 0.1,
  };
  const NUMBERS = Array.from({ length: 400 }, (_, i) => `+4479111${String(10_000 + i)}`);

  async function rehearse(seed: number, numbers: readonly string[]): Promise<Rehearsal> {
    const delaysMs = { sent: 2, delivered: 5, read: 5, reply: 5, late: 30 };
    const webhook = { shares: SHARES, seed, batch: 50, delaysMs };
    let found: Rehearsal | undefined;
    await withWebhook({ webhook, sandbox: { now: () => 0 } }, async (sandbox, receiver) => {
      await send(sandbox, 'SMS', ...numbers);
      await sandbox.settled();
      found = { counts: sandbox.reports, events: eventsOf(receiver.posts) };
    });
    if (found === undefined) throw new Error('nothing came back');
    return found;
  }

  /** Everything that was told, but for the ids of the sandbox and the order. */
  const saidBy = ({ events }: Rehearsal): string[] =>
    events.map(({ messageId: _, ...event }) => JSON.stringify(event)).toSorted();

  it('tells each the same story in whatever order they are sent to, and another one with another seed', async () => {
    const first = await rehearse(7, NUMBERS);
    const again = await rehearse(7, NUMBERS.toReversed());
    expect(saidBy(again)).toEqual(saidBy(first));
    expect(saidBy(await rehearse(8, NUMBERS))).not.toEqual(saidBy(first));
  });

  it('keeps to the shares, and its counts are what the events fold to', async () => {
    const { counts, events } = await rehearse(1, NUMBERS);
    expect(counts).toMatchObject({ events: events.length, acknowledged: events.length, pending: 0, givenUp: 0 });
    const states = new Map<string, { state: DeliveryState }[]>();
    for (const { messageId, status } of events) {
      if (messageId === undefined) continue;
      const own = states.get(String(messageId)) ?? [];
      states.set(String(messageId), [...own, { state: status as DeliveryState }]);
    }
    const folded: Record<string, number> = {};
    for (const facts of states.values()) {
      const rest = { word: null, cause: null, error: null, channel: null, atMs: 0, receivedAtMs: 0 };
      const { state } = foldDelivery(facts.map((fact) => ({ ...rest, ...fact }))) ?? { state: 'none' };
      folded[state] = (folded[state] ?? 0) + 1;
    }
    const { none = 0, ...ends } = counts.ends;
    expect(folded).toEqual(ends);
    expect(none + states.size).toBe(NUMBERS.length);
    const share = (count: number | undefined): number => (count ?? 0) / NUMBERS.length;
    expect(share(ends['delivered'])).toBeCloseTo(0.35, 1);
    expect(share(ends['read'])).toBeCloseTo(0.35, 1);
    expect(share(ends['failed'])).toBeCloseTo(0.1, 1);
    expect(share(counts.replies)).toBeCloseTo(0.7 * 0.35, 1);
    expect(events.length).toBeGreaterThan(new Set(events.map((event) => JSON.stringify(event))).size);
  });
});

it('chance is the same for the same seed and subject, another for others, and evenly spread', () => {
  const draw = (seed: number, about: string): number[] => Array.from({ length: 5 }, chanceFor(seed, about));
  expect(draw(1, 'a')).toEqual(draw(1, 'a'));
  expect(draw(1, 'a')).not.toEqual(draw(2, 'a'));
  expect(draw(1, 'a')).not.toEqual(draw(1, 'b'));
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i += 1) {
    const drawn = chanceFor(1, String(i))();
    expect(drawn >= 0 && drawn < 1).toBe(true);
    tenths[Math.floor(drawn * 10)] = (tenths[Math.floor(drawn * 10)] ?? 0) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
