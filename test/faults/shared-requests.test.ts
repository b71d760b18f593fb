import { expect, it } from 'vitest';
import { until } from '../helpers/cli.ts';
import type { Said } from '../oracle/receipts.ts';
import { numberOf } from '../oracle/scene.ts';
import { type Answer, type Asked, entries, idAt, type MessageApi, startMessageApi } from './message-api.ts';
import { LATER, SHARED, type Told, tell } from './tale.ts';

const PER_REQUEST = 4;
const ROWS = 8;
/** In the second request at its second place. */
const HIT = 5;
const SEND = `send: { recipientsPerRequest: ${PER_REQUEST} }`;
/** Where only the time limit ends a request, it is short. */
const SOON = SEND.replace(' }', ', timeout: 1s }');
const WITH_FALLBACK = [
  'channel: rcs',
  'from: Riverside',
  'template: { text: "Hi everybody" }',
  'fallback: { channel: sms, from: Riverside, template: { text: "Hello" } }',
];
const CODE = { code: 'channel-not-supported' };
const UNSUPPORTED = (asked: Asked): Answer => ({
  status: 422,
  body: CODE,
  each: asked.recipients.map(() => 'unsupported'),
});

function isFor(asked: Asked, row: number): boolean {
  return asked.recipients.some(({ address }) => address === numberOf(row));
}

/** An answer with a list, made of the entries of those who are taken; `said` in the order of the request. */
function list(said: readonly Said[], make: (taken: ReturnType<typeof entries>, asked: Asked) => readonly unknown[]) {
  return (asked: Asked): Answer => ({ body: { messages: make(entries(asked), asked) }, each: said });
}

const TAKEN: readonly Said[] = ['taken', 'taken', 'taken', 'taken'];
const digits = (to: string) => to.slice(1);
const REFUSED = { error: { code: 'no', message: 'not you' } };

/** What becomes of the four of the second request, in list order; one word: the same of each. */
type Fates = string | readonly [string, string, string, string];

interface Case {
  readonly what: string;
  /** To the requests that hold a recipient of the second four; by turns, and the last again and again. */
  readonly answers: readonly ((asked: Asked) => Answer)[];
  readonly fates: Fates;
  /** Recipients of the requests to the second four, in order. */
  readonly sizes?: readonly number[];
  readonly halt?: string;
  readonly message?: readonly string[];
  /** The first four are hit and not the second. */
  readonly first?: true;
}

const CASES: readonly Case[] = [
  { what: 'all accepted, each with an id', answers: [() => ({})], fates: 'accepted' },
  {
    what: 'partial acceptance, in another order',
    answers: [
      list(['taken', 'refused', 'taken', 'taken'], (all) =>
        all.map((entry, at) => (at === 1 ? { to: entry.to, ...REFUSED } : entry)).toReversed(),
      ),
    ],
    fates: ['accepted', 'rejected(refused)', 'accepted', 'accepted'],
  },
  {
    what: 'all refused in a 2xx',
    answers: [list(['refused', 'refused', 'refused', 'refused'], (all) => all.map(({ to }) => ({ to, ...REFUSED })))],
    fates: 'rejected(refused)',
  },
  {
    what: 'fewer results than recipients',
    answers: [list(['taken', 'unclear', 'taken', 'unclear'], (all) => all.filter((_, at) => at % 2 === 0))],
    fates: ['accepted', 'in-doubt(unrecognised)', 'accepted', 'in-doubt(unrecognised)'],
  },
  {
    what: 'numbers in four ways of writing',
    answers: [
      list(TAKEN, (all) =>
        all.map(({ to, id }, at) => {
          const ways = [
            digits(to),
            `00${digits(to)}`,
            Number(digits(to)),
            `${to.slice(0, 3)} ${to.slice(3, 7)} ${to.slice(7)}`,
          ];
          return { to: ways[at], id };
        }),
      ),
    ],
    fates: 'accepted',
  },
  {
    what: 'the same one twice, and another not at all',
    answers: [
      list(['taken', 'unclear', 'taken', 'taken'], (all) => all.map((entry, at) => (at === 1 ? all[0] : entry))),
    ],
    fates: ['accepted', 'in-doubt(unrecognised)', 'accepted', 'accepted'],
  },
  {
    what: 'the same one taken and refused',
    answers: [list(['unclear', 'taken', 'taken', 'taken'], (all) => [...all, { to: all[0]?.to, ...REFUSED }])],
    fates: ['in-doubt(refused)', 'accepted', 'accepted', 'accepted'],
    halt: 'refusals',
  },
  {
    what: 'results for strangers too',
    answers: [list(TAKEN, (all) => [{ to: '+447400999999', id: 'm-stranger' }, ...all])],
    fates: 'accepted',
  },
  {
    what: 'only results for unknown recipients',
    answers: [
      list(['unclear', 'unclear', 'unclear', 'unclear'], (all) =>
        all.map(({ id }, at) => ({ to: `+44740099999${at}`, id })),
      ),
    ],
    fates: 'in-doubt(mismatch)',
    halt: 'doubt',
  },
  {
    what: 'only results for unknown recipients, as the first answer',
    answers: [
      list(['unclear', 'unclear', 'unclear', 'unclear'], (all) =>
        all.map(({ id }, at) => ({ to: `+44740099999${at}`, id })),
      ),
    ],
    fates: 'in-doubt(mismatch)',
    halt: 'not-the-api',
    first: true,
  },
  {
    what: 'an entry whose status is a number above 400',
    answers: [
      list(['taken', 'taken', 'unclear', 'taken'], (all) =>
        all.map((entry, at) => (at === 2 ? { ...entry, status: 500 } : entry)),
      ),
    ],
    fates: ['accepted', 'accepted', 'in-doubt(refused)', 'accepted'],
    halt: 'refusals',
  },
  {
    what: 'a list of only the refused',
    answers: [
      ({ recipients }) => ({
        body: { rejected: [{ to: recipients[3]?.address, reason: 'not you' }] },
        each: ['taken', 'taken', 'taken', 'refused'],
        id: null,
      }),
    ],
    fates: ['accepted', 'accepted', 'accepted', 'rejected(refused)'],
  },
  {
    what: 'one id for the whole request',
    answers: [() => ({ body: { id: 'm-all' }, each: TAKEN, id: 'm-all' })],
    fates: 'accepted',
  },
  { what: 'no body at all', answers: [() => ({ body: '', each: TAKEN, id: null })], fates: 'accepted' },
  { what: 'no list at all, and no id', answers: [() => ({ body: {}, each: TAKEN, id: null })], fates: 'accepted' },
  {
    what: '2xx in plain text',
    answers: [() => ({ body: 'well done' })],
    fates: 'in-doubt(unrecognised)',
    halt: 'doubt',
  },
  {
    what: 'a login page',
    answers: [() => ({ body: '<!doctype html><title>Log in</title>', headers: { 'content-type': 'text/html' } })],
    fates: 'in-doubt(unrecognised)',
    halt: 'not-the-api',
  },
  { what: 'half of an answer', answers: [() => ({ instead: 'half' })], fates: 'in-doubt(unrecognised)', halt: 'doubt' },
  { what: 'silence', answers: [() => ({ instead: 'silence' })], fates: 'in-doubt(timeout)', halt: 'doubt' },
  { what: 'a reset', answers: [() => ({ instead: 'reset' })], fates: 'in-doubt(no-response)', halt: 'doubt' },
  { what: '500', answers: [() => ({ status: 500 })], fates: 'in-doubt(status)', halt: 'doubt' },
  { what: '400', answers: [() => ({ status: 400 })], fates: 'rejected(status)' },
  { what: '401', answers: [() => ({ status: 401 })], fates: 'pending(not-authorised)', halt: 'not-authorised' },
  {
    what: '404 as the first answer',
    answers: [() => ({ status: 404 })],
    fates: 'pending(wrong-address)',
    halt: 'wrong-address',
    first: true,
  },
  { what: '429 once for the batch', answers: [() => ({ status: 429 }), () => ({})], fates: 'accepted', sizes: [4, 4] },
  { what: '429 each time', answers: [() => ({ status: 429 })], fates: 'pending(rate-limited)', sizes: [4, 4, 4] },
  {
    what: '413 until the batch is small',
    answers: [({ recipients }) => (recipients.length > 2 ? { status: 413 } : {})],
    fates: 'accepted',
    sizes: [4, 2, 2],
  },
  {
    what: '413 for one',
    answers: [(asked) => (isFor(asked, HIT) ? { status: 413 } : {})],
    fates: ['accepted', 'rejected(status)', 'accepted', 'accepted'],
    sizes: [4, 2, 1, 1, 2],
  },
  {
    what: '413 for the batch, then silence to the first half',
    answers: [() => ({ status: 413 }), () => ({ instead: 'silence' }), () => ({})],
    fates: ['in-doubt(timeout)', 'in-doubt(timeout)', 'accepted', 'accepted'],
    sizes: [4, 2, 2],
  },
  {
    what: '422 because one cannot receive the channel',
    answers: [(asked) => (isFor(asked, HIT) ? UNSUPPORTED(asked) : {})],
    fates: ['accepted', 'rejected(unsupported-channel)', 'accepted', 'accepted'],
    sizes: [4, 2, 1, 1, 2],
  },
  {
    what: '422 because one cannot receive the channel, with a fallback',
    answers: [(asked) => (isFor(asked, HIT) && asked.channel === 'RCS' ? UNSUPPORTED(asked) : {})],
    fates: ['accepted', 'fell-back > accepted', 'accepted', 'accepted'],
    sizes: [4, 2, 1, 1, 1, 2],
    message: WITH_FALLBACK,
  },
  {
    what: 'two cannot receive the channel, says a 2xx, and have a fallback each',
    answers: [
      (asked) =>
        asked.channel === 'SMS'
          ? {}
          : list(['unsupported', 'taken', 'unsupported', 'taken'], (all) =>
              all.map((entry, at) => (at % 2 === 0 ? { to: entry.to, error: CODE } : entry)),
            )(asked),
    ],
    fates: ['fell-back > accepted', 'accepted', 'fell-back > accepted', 'accepted'],
    sizes: [4, 1, 1],
    message: WITH_FALLBACK,
  },
];

it.each(CASES)('$what (D1, D2, F1)', async ({ answers, fates, sizes = [4], halt = null, message = SHARED, first }) => {
  const hit = first === true ? [0, 1, 2, 3] : [4, 5, 6, 7];
  let turn = 0;
  const behave = (asked: Asked): Answer => {
    if (!hit.some((row) => isFor(asked, row))) return {};
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    return answer?.(asked) ?? {};
  };
  await using api = await startMessageApi(behave);
  const silent = JSON.stringify(fates).includes('timeout');
  using scene = tell(api, { rows: ROWS, message, campaign: silent ? SOON : SEND });
  const { report } = await scene.begin();
  const wanted = typeof fates === 'string' ? hit.map(() => fates) : fates;
  expect(hit.map((row) => scene.tale()[row])).toEqual(wanted);
  expect(report.halt?.rule ?? null).toBe(halt);
  const requests = api.asked.filter((asked) => hit.some((row) => isFor(asked, row)));
  expect(requests.map(({ recipients }) => recipients.length)).toEqual(sizes);
  expect(scene.objections()).toEqual([]);

  api.behave = () => ({});
  const before = scene.tale();
  const received = api.asked.flatMap(({ recipients }) => recipients).length;
  await scene.begin({ now: LATER });
  expect(scene.tale()).toEqual(before.map((one) => (one.startsWith('pending') ? 'accepted' : one)));
  const open = before.filter((one) => one.startsWith('pending')).length;
  expect(api.asked.flatMap(({ recipients }) => recipients).length - received).toBe(open);
  expect(scene.objections()).toEqual([]);
});

it('gives each its own id, whatever the order of the answer', async () => {
  await using api = await startMessageApi();
  api.behave = list(TAKEN, (all) => all.toReversed());
  using scene = tell(api, { rows: PER_REQUEST, message: SHARED, campaign: SEND });
  await scene.begin();
  const [asked] = api.asked;
  if (asked === undefined) throw new Error('nothing was received');
  expect(scene.endings().map(({ messageId }) => messageId)).toEqual(TAKEN.map((_, at) => idAt(asked, at)));
});

/** A scene of which the first request is held back until `meanwhile` is over. */
async function withMeanwhile(
  meanwhile: (scene: Told) => unknown,
  answer: Answer = {},
): Promise<{ api: MessageApi; scene: Told } & AsyncDisposable> {
  const api = await startMessageApi();
  const scene = tell(api, { rows: ROWS, message: SHARED, campaign: SEND });
  api.behave = ({ number }) => (number === 1 ? { ...answer, after: () => meanwhile(scene) } : {});
  return {
    api,
    scene,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      scene[Symbol.dispose]();
    },
  };
}

it.each([
  ['one', [HIT], [4, 3]],
  ['all but one', [4, 5, 7], [4, 1]],
  ['all of them', [4, 5, 6, 7], [4]],
])('%s of a request suppressed before its claims: only the others are sent to (K3)', async (_, rows, sizes) => {
  await using told = await withMeanwhile((scene) => rows.forEach((row) => void scene.suppress(numberOf(row))));
  const { api, scene } = told;
  await scene.begin();
  const skipped = rows.map(() => 'skipped(suppressed)');
  expect(rows.map((row) => scene.tale()[row])).toEqual(skipped);
  expect(scene.tale().filter((one) => one === 'accepted')).toHaveLength(ROWS - rows.length);
  expect(api.asked.map(({ recipients }) => recipients.length)).toEqual(sizes);
  expect(scene.objections()).toEqual([]);
});

it.each([
  ['was answered', {}, 'accepted'],
  ['was too large', { status: 413 }, 'pending(too-large)'],
  ['was answered 429', { status: 429 }, 'pending(rate-limited)'],
] as const)(
  'interrupted while a request %s: nothing more is sent, and the next start goes on (I2)',
  async (_, answer, fate) => {
    const stop = new AbortController();
    await using told = await withMeanwhile(() => stop.abort(), answer);
    const { api, scene } = told;
    await scene.begin({ signal: stop.signal });
    const [one, two] = [Array(4).fill(fate), Array(4).fill('pending')];
    expect(scene.tale()).toEqual([...one, ...two]);
    expect(api.asked).toHaveLength(1);
    expect(scene.objections()).toEqual([]);
    await scene.begin();
    expect(scene.tale()).toEqual([
      ...(fate.startsWith('pending') ? Array(4).fill('accepted') : one),
      ...Array(4).fill('accepted'),
    ]);
    expect(scene.objections()).toEqual([]);
  },
);

it('aborted in flight, every recipient of the request is in doubt (I3)', async () => {
  const [stop, abort] = [new AbortController(), new AbortController()];
  await using told = await withMeanwhile(() => {
    stop.abort();
    abort.abort();
  });
  const { api, scene } = told;
  await scene.begin({ signal: stop.signal, cutSignal: abort.signal });
  expect(scene.tale()).toEqual([...Array(4).fill('in-doubt(stopped)'), ...Array(4).fill('pending')]);
  expect(scene.objections()).toEqual([]);
  await scene.begin();
  expect(api.asked.map(({ recipients }) => recipients.length)).toEqual([4, 4]);
  expect(scene.objections()).toEqual([]);
});

it('--limit counts recipients, and a request is never larger than what is left', async () => {
  await using api = await startMessageApi();
  using scene = tell(api, { rows: ROWS, message: SHARED, campaign: SEND });
  await scene.begin({ limit: 6 });
  expect(api.asked.map(({ recipients }) => recipients.length)).toEqual([4, 2]);
  expect(scene.tale()).toEqual([...Array(6).fill('accepted'), 'pending', 'pending']);
  expect(scene.objections()).toEqual([]);
});

it('--retry rejected sends again only to those of a request who were refused', async () => {
  await using api = await startMessageApi();
  using scene = tell(api, { rows: PER_REQUEST, message: SHARED, campaign: SEND });
  api.behave = list(['refused', 'taken', 'refused', 'taken'], (all) =>
    all.map((entry, at) => (at % 2 === 0 ? { to: entry.to, ...REFUSED } : entry)),
  );
  await scene.begin();
  const refused = scene.endings().filter(({ outcome }) => outcome === 'rejected');
  api.behave = () => ({});
  await scene.begin({ retry: 'rejected' });
  expect(api.asked[1]?.recipients.map(({ address }) => address)).toEqual([numberOf(0), numberOf(2)]);
  expect(scene.tale()).toEqual(Array(4).fill('accepted'));
  const askedAgain = new Map(refused.map(({ reference }) => [reference ?? '', 1]));
  expect(scene.objections({ askedAgain })).toEqual([]);
});

it('several at a time: every recipient is in one request, and each request is full', async () => {
  await using api = await startMessageApi();
  using scene = tell(api, { rows: 42, message: SHARED, campaign: SEND });
  await scene.begin({ concurrency: 4 });
  expect(api.asked.map(({ recipients }) => recipients.length).toSorted((a, b) => a - b)).toEqual([
    2,
    ...Array(10).fill(4),
  ]);
  expect(scene.objections()).toEqual([]);
});

it('counts a repeated request once, for all its recipients: it costs no connections', async () => {
  await using api = await startMessageApi(({ number }) => (number === 1 ? { status: 429 } : {}));
  using scene = tell(api, { rows: 24, message: SHARED, campaign: 'send: { recipientsPerRequest: 12, timeout: 1s }' });
  const { report } = await scene.begin();
  expect(report).toMatchObject({ totals: { accepted: 24 }, requests: { posted: 3, retried: 1 } });
  expect(scene.objections()).toEqual([]);
});

it('an accepted request opens one more lane, for however many it is', async () => {
  let open = 0;
  let mostAtOnce = 0;
  let isFirstAnswered = false;
  await using api = await startMessageApi(({ number }) => ({
    after: async () => {
      if (number === 1 || isFirstAnswered) return;
      open += 1;
      await until('two are open', () => open >= 2);
      // Time for a third, which may not come.
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (!isFirstAnswered) mostAtOnce = open;
      isFirstAnswered = true;
    },
  }));
  using scene = tell(api, { rows: 40, message: SHARED, campaign: SEND });
  await scene.begin({ concurrency: 8 });
  expect(mostAtOnce).toBe(2);
  expect(scene.tale()).toEqual(Array(40).fill('accepted'));
});
