import { expect, it } from 'vitest';
import { send } from '../../src/operations/send.ts';
import type { SendOptions, SendResult } from '../../src/operations/send-options.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

const ROWS = 16;
const CONCURRENCY = 2;
const WAIT_MS = 1_000;

it.each([
  ['F5', 429, { accepted: ROWS, 'in-doubt': 0 }],
  ['G2', 503, { accepted: ROWS - 1, 'in-doubt': 1 }],
])('%s: %i with Retry-After holds back the whole run', async (_row, status, ends) => {
  const arrivals: number[] = [];
  await using api = await startApi((number) => {
    arrivals.push(performance.now());
    return number === 4 ? { status, headers: { 'Retry-After': String(WAIT_MS / 1000) } } : {};
  });
  using scene = createScene({ rows: ROWS, baseUrl: api.url, receipts: api.receipts });
  await sendAll(scene);
  const asked = arrivals[3] ?? 0;
  const meanwhile = arrivals.filter((at) => at > asked && at < asked + WAIT_MS);
  // Those that were on their way already.
  expect(meanwhile.length).toBeLessThan(CONCURRENCY);
  expect(arrivals.some((at) => at >= asked + WAIT_MS)).toBe(true);
  expect(scene.violations()).toEqual([]);
  const outcomes = scene.endings().map(({ outcome }) => outcome);
  for (const [outcome, count] of Object.entries(ends)) {
    expect(outcomes.filter((one) => one === outcome)).toHaveLength(count);
  }
});

it('three attempts for a recipient who is refused each time, and one for all others (F6)', async () => {
  await using api = await startApi((number) => (number > ROWS - 1 ? { status: 429 } : {}));
  using scene = createScene({ rows: ROWS, baseUrl: api.url, receipts: api.receipts });
  await sendAll(scene);
  expect(api.received()).toBe(ROWS - 1 + 3);
  expect(scene.violations()).toEqual([]);
  expect(scene.endings().filter(({ outcome }) => outcome !== 'accepted')).toMatchObject([
    { outcome: 'pending', reason: 'rate-limited', attempts: 3 },
  ]);
});

it.each([
  [null, 14, 16],
  ['600', 9, 11],
])(
  'who was refused each time waits as long as the API asked, with Retry-After %s: not %i minutes',
  async (...given) => {
    const [retryAfter, tooSoon, later] = given;
    const headers = retryAfter === null ? {} : { 'Retry-After': retryAfter };
    let isBusy = true;
    await using api = await startApi((number) => (isBusy && number > ROWS - 1 ? { status: 429, headers } : {}));
    using scene = createScene({
      rows: ROWS,
      baseUrl: api.url,
      receipts: api.receipts,
      campaign: 'send: { attempts: 1 }',
    });
    const first = await sendAll(scene);
    isBusy = false;
    expect([first.exit, first.report.state, first.report.totals.pending]).toEqual([3, 'partial', 1]);
    const began = Date.now();
    const second = await sendAll(scene, () => began + tooSoon * 60_000);
    expect([second.exit, api.received()]).toEqual([3, ROWS]);
    expect(scene.endings().at(-1)).toMatchObject({ outcome: 'pending', reason: 'rate-limited', httpStatus: 429 });
    const third = await sendAll(scene, () => began + later * 60_000);
    expect([third.exit, third.report.state, api.received()]).toEqual([0, 'finished', ROWS + 1]);
    expect(scene.violations({ starts: [0, ROWS, ROWS] })).toEqual([]);
  },
);

it('send --wait waits once for all that the API was too busy for, and posts to no others than --limit has taken', async () => {
  const MINUTE = 60_000;
  let nowMs = Date.now();
  const beganMs = nowMs;
  const waits: number[] = [];
  let isBusy = true;
  await using api = await startApi((number) => {
    nowMs += MINUTE;
    return isBusy && number > 1 ? { status: 429 } : {};
  });
  using scene = createScene({
    rows: ROWS,
    baseUrl: api.url,
    receipts: api.receipts,
    campaign: 'send: { attempts: 1 }',
  });
  const { report } = await sendAll(scene, () => nowMs, {
    concurrency: 1,
    limit: 3,
    wait: true,
    onEvent(event) {
      if (event.kind !== 'waits') return;
      waits.push(Math.round((event.untilMs - beganMs) / MINUTE));
      isBusy = false;
    },
    timers: {
      sleep: async (ms) => {
        nowMs += ms;
      },
    },
  });
  // The third answer came after three minutes, and an API that gives no time is asked again after 15.
  expect({ waits, accepted: report.totals.accepted }).toEqual({ waits: [18], accepted: 3 });
  expect(new Set(api.numbers()).size).toBe(3);
});

it('a start in which every answer is 429 is halted', async () => {
  await using api = await startApi(() => ({ status: 429 }));
  using scene = createScene({ rows: 2, baseUrl: api.url, receipts: api.receipts });
  const { report, exit } = await sendAll(scene);
  expect([exit, report.halt?.rule, report.totals.pending]).toEqual([5, 'throttled', 2]);
});

/** With the shortest waits. */
async function sendAll(
  scene: Scene,
  now: () => number = Date.now,
  options: Partial<SendOptions> = {},
): Promise<SendResult> {
  return await send('campaign.yaml', {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY },
    now,
    random: () => 0,
    environment: 'test',
    concurrency: CONCURRENCY,
    confirm: async () => true,
    ...options,
  });
}
