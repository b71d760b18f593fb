import { expect, it } from 'vitest';
import { BY_MAIL, fellBack, onStep } from '../ledger/fallbacks.ts';
import { NOON } from '../ledger/values.ts';
import { numberOf } from '../oracle/scene.ts';
import { type Answer, type Asked, entries, type MessageApi, startMessageApi } from './message-api.ts';
import { FALLBACK, LATER, type Told, tell } from './tale.ts';

/** Who is hit; of the others each is accepted on the first step. */
const HIT = 1;
const ROWS = 4;
const CODE = { code: 'channel-not-supported', detail: 'no RCS here' };
const UNSUPPORTED: Answer = { status: 422, body: CODE, each: ['unsupported'] };

/** Answers the one who is hit, by channel: in turn, and the last again and again. */
function hitting(turns: Readonly<Record<string, readonly Answer[]>>, rows: readonly number[] = [HIT]) {
  const numbers = rows.map(numberOf);
  const seen = new Map<string, number>();
  return ({ channel, recipients: [one] }: Asked): Answer => {
    if (one === undefined || !numbers.includes(one.address)) return {};
    const turn = seen.get(one.reference) ?? 0;
    seen.set(one.reference, turn + 1);
    return turns[channel]?.[turn] ?? turns[channel]?.at(-1) ?? {};
  };
}

/** How often a recipient was sent to on each channel. */
function requestsOf({ asked }: MessageApi, row: number): Record<string, number> {
  const mine = asked.filter(({ recipients }) => recipients[0]?.address === numberOf(row));
  return Object.fromEntries(
    [...Map.groupBy(mine, ({ channel }) => channel)].map(([channel, all]) => [channel, all.length]),
  );
}

const refusal = (status: number, body: unknown = CODE): Answer => ({ status, body });
const inSuccess = (asked: Asked, more: object): Answer => ({
  body: { messages: entries(asked).map(({ to }) => ({ to, ...more })) },
  each: ['unsupported'],
});

interface Case {
  readonly what: string;
  readonly rcs: readonly (Answer | ((asked: Asked) => Answer))[];
  readonly sms?: readonly Answer[];
  /** What becomes of the one who is hit. */
  readonly tale: string;
  /** By channel; default: one on each that the tale is about. */
  readonly requests?: Readonly<Record<string, number>>;
  readonly rows?: readonly number[];
  readonly wire?: string;
  /** More lines of campaign.yaml; several doubts or waits need some. */
  readonly campaign?: string;
  readonly halt?: string;
}

const CASES: readonly Case[] = [
  { what: 'unsupported, then 2xx', rcs: [UNSUPPORTED], tale: 'fell-back > accepted' },
  {
    what: 'unsupported, then silence',
    rcs: [UNSUPPORTED],
    sms: [{ instead: 'silence' }],
    tale: 'fell-back > in-doubt(timeout)',
    campaign: 'send: { timeout: 1s }',
    halt: 'doubt',
  },
  {
    what: 'unsupported, then a reset',
    rcs: [UNSUPPORTED],
    sms: [{ instead: 'reset' }],
    tale: 'fell-back > in-doubt(no-response)',
    halt: 'doubt',
  },
  { what: 'unsupported for all recipients', rcs: [UNSUPPORTED], rows: [0, 1, 2, 3], tale: 'fell-back > accepted' },
  {
    what: 'unsupported on the fallback as well',
    rcs: [UNSUPPORTED],
    sms: [UNSUPPORTED],
    tale: 'fell-back > rejected(unsupported-channel)',
  },
  { what: 'unsupported in a 2xx', rcs: [(asked) => inSuccess(asked, { error: CODE })], tale: 'fell-back > accepted' },
  {
    what: 'unsupported in a 2xx, of an entry with an id',
    rcs: [(asked) => inSuccess(asked, { id: 'm-no', status: 'rejected', code: 'channel-not-supported' })],
    tale: 'fell-back > accepted',
  },
  {
    what: 'unsupported as the first answer of a start',
    rcs: [{ ...UNSUPPORTED, status: 404 }],
    rows: [0],
    tale: 'fell-back > accepted',
  },
  {
    what: 'a first 404 that the project calls unsupported',
    rcs: [{ status: 404, body: '', each: ['unsupported'] }],
    rows: [0],
    wire: 'answers: [{ status: 404, then: unsupported }]',
    tale: 'fell-back > accepted',
  },
  {
    what: 'a first 404 without the code for unsupported',
    rcs: [refusal(404, { title: 'not found' })],
    rows: [0],
    tale: 'pending(wrong-address)',
    halt: 'wrong-address',
  },
  { what: 'a refusal of another kind', rcs: [refusal(400, { code: 'no' })], tale: 'rejected(status)' },
  { what: '500 with the code', rcs: [refusal(500)], tale: 'in-doubt(status)', halt: 'doubt' },
  { what: '408 with the code', rcs: [refusal(408)], tale: 'in-doubt(status)', halt: 'doubt' },
  { what: '429 with the code, then 2xx', rcs: [refusal(429), {}], tale: 'accepted', requests: { RCS: 2 } },
  { what: '401 with the code', rcs: [refusal(401)], tale: 'pending(not-authorised)', halt: 'not-authorised' },
  {
    what: 'unsupported in one list of a 2xx, taken in another',
    rcs: [
      (asked) => ({
        body: { messages: entries(asked), rejected: [{ to: asked.recipients[0]?.address, error: CODE }] },
        each: ['unclear'],
      }),
    ],
    tale: 'in-doubt(refused)',
    halt: 'refusals',
  },
  {
    what: 'unsupported, cut off in the middle',
    rcs: [{ status: 422, body: CODE, instead: 'half' }],
    tale: 'rejected(status)',
  },
  {
    what: 'unsupported, then 429 each time',
    rcs: [UNSUPPORTED],
    sms: [refusal(429)],
    tale: 'fell-back > pending(rate-limited)',
    requests: { RCS: 1, SMS: 3 },
  },
  {
    what: '429 twice, unsupported, 429 twice, then 2xx',
    rcs: [refusal(429), refusal(429), UNSUPPORTED],
    sms: [refusal(429), refusal(429), {}],
    tale: 'fell-back > accepted',
    requests: { RCS: 3, SMS: 3 },
  },
];

it.each(CASES)('$what (F1)', async ({ rcs, sms = [], tale, rows = [HIT], wire, campaign, halt = null, ...more }) => {
  const requests = more.requests ?? (tale.startsWith('fell-back') ? { RCS: 1, SMS: 1 } : { RCS: 1 });
  await using api = await startMessageApi();
  const behave = hitting({ RCS: rcs.map((answer) => (typeof answer === 'function' ? {} : answer)), SMS: sms }, rows);
  const [own] = rcs;
  api.behave = (asked) => {
    const answer = behave(asked);
    const isHit = rows.some((row) => numberOf(row) === asked.recipients[0]?.address);
    return typeof own === 'function' && isHit && asked.channel === 'RCS' ? own(asked) : answer;
  };
  using scene = tell(api, {
    rows: ROWS,
    message: FALLBACK,
    ...(campaign === undefined ? {} : { campaign }),
    ...(wire === undefined ? {} : { environment: `    wire: { ${wire} }` }),
  });
  const first = await scene.begin();
  expect(first.report.halt?.rule ?? null).toBe(halt);
  expect(rows.map((row) => scene.tale()[row])).toEqual(rows.map(() => tale));
  for (const row of rows) expect(requestsOf(api, row)).toEqual(requests);
  expect(scene.objections({ steps: 2 })).toEqual([]);

  api.behave = () => ({});
  const received = api.asked.length;
  const open = scene.tale().filter((one) => /pending|failed/.test(one)).length;
  await scene.begin({ now: LATER });
  expect(api.asked.length - received).toBe(open);
  const ends = tale.replace(/pending\(.*\)/, 'accepted');
  expect(scene.tale()).toEqual(Array.from({ length: ROWS }, (_, row) => (rows.includes(row) ? ends : 'accepted')));
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

/** Sends to a list with one recipient who cannot receive RCS; `between` is called when the API knows it, and before it says so. */
async function withBetween(
  between: (scene: Told) => unknown,
  more: Partial<Parameters<typeof tell>[1]> = {},
): Promise<{ api: MessageApi; scene: Told } & AsyncDisposable> {
  const api = await startMessageApi();
  const scene = tell(api, { rows: ROWS, message: FALLBACK, ...more });
  api.behave = hitting({ RCS: [{ ...UNSUPPORTED, after: () => between(scene) }] });
  return {
    api,
    scene,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      scene[Symbol.dispose]();
    },
  };
}

const MOBILE = '+447400999999';
const TO_MOBILE = FALLBACK.map((line) => line.replace('channel: sms', 'channel: sms, to: mobile'));

it('suppressed between the steps, the fallback does not go out (K3)', async () => {
  await using told = await withBetween((scene) => scene.suppress(numberOf(HIT)));
  const { api, scene } = told;
  expect((await scene.begin()).report.totals).toMatchObject({ accepted: ROWS - 1, skipped: 1 });
  expect(scene.tale()[HIT]).toBe('fell-back > skipped(suppressed)');
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1 });
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('it is the address of the fallback that may not be suppressed (K3)', async () => {
  await using told = await withBetween((scene) => scene.suppress(MOBILE), { message: TO_MOBILE });
  const { api, scene } = told;
  const list = Array.from({ length: ROWS }, (_, row) => `${numberOf(row)},Name ${row},${MOBILE}\n`);
  scene.write('people.csv', `msisdn,name,mobile\n${list.join('')}`);
  await scene.begin();
  expect(scene.tale()[HIT]).toBe('fell-back > skipped(suppressed)');
  expect(api.asked.filter(({ channel }) => channel === 'SMS')).toEqual([]);
  expect(scene.objections()).toEqual([]);
});

it('a row without an address for the fallback has none', async () => {
  await using told = await withBetween(() => undefined, { message: TO_MOBILE });
  const { api, scene } = told;
  const list = Array.from({ length: ROWS }, (_, row) => `${numberOf(row)},Name ${row},${row === HIT ? '' : MOBILE}\n`);
  scene.write('people.csv', `msisdn,name,mobile\n${list.join('')}`);
  await scene.begin();
  expect(scene.tale()[HIT]).toBe('rejected(unsupported-channel)');
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1 });
  expect(scene.objections()).toEqual([]);
});

/** A run that was interrupted between the steps of the one who is hit. */
async function interrupted(
  more: Partial<Parameters<typeof tell>[1]> = {},
): Promise<Awaited<ReturnType<typeof withBetween>>> {
  const stop = new AbortController();
  const told = await withBetween(() => stop.abort(), more);
  const { report } = await told.scene.begin({ signal: stop.signal });
  expect(report.state).toBe('interrupted');
  expect(told.scene.tale()).toEqual(['accepted', 'fell-back > pending', 'pending', 'pending']);
  expect(told.scene.objections({ steps: 2 })).toEqual([]);
  told.api.behave = () => ({});
  return told;
}

it('interrupted between the steps, the next start sends only the fallback (I2)', async () => {
  await using told = await interrupted();
  const { api, scene } = told;
  expect((await scene.begin()).report.state).toBe('finished');
  expect(scene.tale()).toEqual(['accepted', 'fell-back > accepted', 'accepted', 'accepted']);
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1, SMS: 1 });
  expect(api.asked).toHaveLength(ROWS + 1);
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('the next start may be for a few, and a fallback is one of them (I2)', async () => {
  await using told = await interrupted();
  const { api, scene } = told;
  expect((await scene.begin({ limit: 1 })).posted).toBe(1);
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1, SMS: 1 });
  expect(scene.tale()).toEqual(['accepted', 'fell-back > accepted', 'pending', 'pending']);
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('amended between the steps, the fallback is the new one and the first step stays (J1)', async () => {
  await using told = await interrupted();
  const { api, scene } = told;
  scene.write(
    'campaign.yaml',
    scene.contents().get(scene.path('campaign.yaml'))?.toString().replace('Hello', 'Dear') ?? '',
  );
  await expect(scene.begin()).rejects.toMatchObject({ code: 'input-changed' });
  await scene.begin({ allow: ['input-changed'] });
  expect(scene.tale()).toEqual(['accepted', 'fell-back > accepted', 'accepted', 'accepted']);
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1, SMS: 1 });
  expect(
    scene
      .evidence()
      .receipts.map(({ text }) => text)
      .filter((text) => text.includes('Dear')),
  ).toHaveLength(1);
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('amended between the steps so that there is no fallback any more, it is skipped (J1)', async () => {
  await using told = await interrupted();
  const { api, scene } = told;
  const text = scene.contents().get(scene.path('campaign.yaml'))?.toString() ?? '';
  scene.write('campaign.yaml', text.replace(/^fallback.*$/m, ''));
  expect((await scene.begin({ allow: ['input-changed'] })).report.state).toBe('finished');
  expect(scene.tale()).toEqual(['accepted', 'fell-back > skipped(removed)', 'accepted', 'accepted']);
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1 });
  expect(scene.objections()).toEqual([]);
});

const APP = '{ channel: messaging-app, from: "+447700900100", template: { text: "App" } }';
const SMS = '{ channel: sms, from: Riverside, template: { text: "Hello {{name}}" } }';

it('fallbacks in another order by an amended campaign are each tried once, by channel (J1)', async () => {
  const message = FALLBACK.map((line) => (line.startsWith('fallback') ? `fallback: [${APP}, ${SMS}]` : line));
  const stop = new AbortController();
  await using told = await withBetween(() => undefined, { message });
  const { api, scene } = told;
  const refusing = { ...UNSUPPORTED, after: () => stop.abort() };
  api.behave = hitting({ RCS: [UNSUPPORTED], MessagingApp: [refusing] });
  await scene.begin({ signal: stop.signal });
  expect(scene.tale()[HIT]).toBe('fell-back > fell-back > pending');
  api.behave = () => ({});
  const text = scene.contents().get(scene.path('campaign.yaml'))?.toString() ?? '';
  scene.write('campaign.yaml', text.replace(/^fallback.*$/m, `fallback: [${SMS}, ${APP}]`));
  expect((await scene.begin({ allow: ['input-changed'] })).report.state).toBe('finished');
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1, MessagingApp: 1, SMS: 1 });
  expect(scene.tale()[HIT]).toBe('fell-back > fell-back > accepted');
});

it('a recipient who is taken off the list between the steps gets no fallback, and stays accounted for (J1)', async () => {
  await using told = await interrupted();
  const { api, scene } = told;
  const list = scene.contents().get(scene.path('people.csv'))?.toString() ?? '';
  scene.write('people.csv', list.replace(`${numberOf(HIT)},Name ${HIT}\n`, ''));
  await scene.begin({ allow: ['input-changed'] });
  expect(scene.tale().toSorted()).toEqual(['accepted', 'accepted', 'accepted', 'fell-back > skipped(removed)']);
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1 });
  // A recipient who is gone keeps a line that belongs to another one by now.
  expect(scene.objections({ endings: scene.endings().map((ending, at) => ({ ...ending, line: at + 2 })) })).toEqual([]);
});

it.each([
  ['between the steps', false],
  ['before the start that would send the fallback', true],
])('`notAfter` passes %s: the fallback expires', async (_, apart) => {
  const notAfter = Date.now() + 3_600_000;
  let late = false;
  const now = () => Date.now() + (late ? 7_200_000 : 0);
  const stop = new AbortController();
  const between = (): void => {
    if (apart) stop.abort();
    else late = true;
  };
  const campaign = `send: { notAfter: "${new Date(notAfter).toISOString()}" }`;
  await using told = await withBetween(between, { campaign });
  const { api, scene } = told;
  const first = await scene.begin({ now, signal: stop.signal });
  expect(first.report.state).toBe(apart ? 'interrupted' : 'finished');
  late = true;
  const { report } = await scene.begin({ now });
  expect(report.state).toBe('finished');
  expect(scene.tale()).toEqual(['accepted', 'fell-back > skipped(expired)', 'skipped(expired)', 'skipped(expired)']);
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1 });
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('--retry rejected sends the fallback again, and never the step that fell back', async () => {
  await using api = await startMessageApi();
  api.behave = hitting({ RCS: [UNSUPPORTED], SMS: [refusal(400, { code: 'no' })] });
  using scene = tell(api, { rows: ROWS, message: FALLBACK });
  await scene.begin();
  expect(scene.tale()[HIT]).toBe('fell-back > rejected(status)');
  api.behave = () => ({});
  expect((await scene.begin({ retry: 'rejected' })).posted).toBe(1);
  expect(scene.tale()[HIT]).toBe('fell-back > accepted');
  expect(requestsOf(api, HIT)).toEqual({ RCS: 1, SMS: 2 });
  const asked = scene.endings()[HIT]?.reference ?? '';
  expect(scene.objections({ steps: 2, askedAgain: new Map([[asked, 1]]) })).toEqual([]);
});

it('--retry rejected with --limit leaves those beyond the limit as they were refused', async () => {
  await using api = await startMessageApi();
  const refused = [0, 1, 3, 5];
  api.behave = ({ channel, recipients: [one] }) => {
    const row = refused.find((at) => numberOf(at) === one?.address);
    if (row === undefined) return {};
    return row === HIT && channel === 'RCS' ? UNSUPPORTED : refusal(400, { code: 'no' });
  };
  using scene = tell(api, { rows: 6, message: FALLBACK });
  await scene.begin({ limit: 4 });
  const before = ['rejected(status)', 'fell-back > rejected(status)', 'accepted', 'rejected(status)'];
  expect(scene.tale()).toEqual([...before, 'pending', 'pending']);
  api.behave = () => ({});
  const asked = refused.slice(0, 3).map((row) => scene.endings()[row]?.reference ?? '');
  const askedAgain = new Map(asked.map((reference) => [reference, 1]));
  expect((await scene.begin({ retry: 'rejected', limit: 2 })).posted).toBe(2);
  const then = ['accepted', 'fell-back > accepted', 'accepted', 'rejected(status)', 'pending', 'pending'];
  expect(scene.tale()).toEqual(then);
  expect(scene.objections({ steps: 2, askedAgain })).toEqual([]);
  // Refused and pending recipients are one list, in its order.
  expect((await scene.begin({ retry: 'rejected', limit: 2 })).posted).toBe(2);
  expect(scene.tale()).toEqual(['accepted', 'fell-back > accepted', ...Array(3).fill('accepted'), 'pending']);
  expect(scene.objections({ steps: 2, askedAgain })).toEqual([]);
});

it('a start of which no recipient can receive the first step halts, and the next one goes on', async () => {
  await using api = await startMessageApi();
  const rows = Array.from({ length: 25 }, (_, row) => row);
  api.behave = hitting({ RCS: [UNSUPPORTED] }, rows);
  using scene = tell(api, { rows: rows.length, message: FALLBACK });
  const { report } = await scene.begin({ concurrency: 4 });
  expect(report.halt).toMatchObject({ rule: 'refusals' });
  expect(scene.tale().filter((one) => one.startsWith('fell-back')).length).toBeLessThan(20 + 4);
  expect(scene.objections({ steps: 2 })).toEqual([]);
  const second = await scene.begin({ concurrency: 4 });
  expect(second.report).toMatchObject({ halt: null, state: 'finished', totals: { accepted: 25 } });
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('of two processes that claim one fallback, one has it (J4)', () => {
  const { ledger, run } = fellBack(1, [0]);
  const claim = onStep(1, 0, BY_MAIL.to, { facts: BY_MAIL });
  expect(ledger.commit(run, [], [claim], NOON)).toEqual(['claimed']);
  expect(ledger.commit(run, [], [claim], NOON)).toEqual(['taken']);
});
