import { expect, it } from 'vitest';
import { createAssigner } from '../../src/plan/assign.ts';
import { numberOf } from '../oracle/scene.ts';
import { type Answer, type Asked, type MessageApi, startMessageApi } from './message-api.ts';
import { type Told, tell } from './tale.ts';

const ROWS = 40;
const SPLIT = { seed: 'proof', holdout: 0.1, test: 0.5, winner: null, decides: null };
const MESSAGE = [
  'channel: rcs',
  'from: Riverside',
  'variants:',
  '  - { name: A, template: { text: "Text of A" } }',
  '  - { name: B, template: { text: "Text of B" } }',
  'holdout: 10%',
  'test: 50%',
  'fallback: { channel: sms, from: Riverside, template: { text: "Text of the fallback" } }',
];

/** Who is meant to get what, by the row. */
const assign = createAssigner(
  [
    { name: 'A', weight: 1 },
    { name: 'B', weight: 1 },
  ],
  SPLIT,
);
const MEANT = Array.from({ length: ROWS }, (_, row) => {
  const { kind, ...rest } = assign(numberOf(row));
  return kind === 'variant' && 'index' in rest ? (['A', 'B'][rest.index] ?? kind) : kind;
});
const WAITING = 'deferred(winner-undecided)';
const HELD = 'skipped(holdout)';
const DURING_THE_TEST = MEANT.map((meant) => ({ holdout: HELD, undecided: WAITING })[meant] ?? 'accepted');
const AFTERWARDS = MEANT.map((meant) => (meant === 'holdout' ? HELD : 'accepted'));

/** The text that each row got by RCS; null for who got none. */
function textsOf(scene: Told): (string | null)[] {
  const texts = new Map(scene.evidence().receipts.map(({ reference, text }) => [reference, text]));
  return scene.endings().map(({ reference, steps }) => {
    const text = texts.get(steps?.[0]?.reference ?? reference) ?? null;
    return text === null ? null : (/"text":"Text of ([^"]*)"/.exec(text)?.[1] ?? text);
  });
}

const meantWith = (winner: string) =>
  MEANT.map((meant) => (meant === 'holdout' ? null : meant === 'undecided' ? winner : meant));

const isMixed = (counts: readonly string[]) => new Set(counts).size === 4;

it('has a recipient of every kind', () => {
  expect(isMixed(MEANT)).toBe(true);
});

async function tested(more: Partial<Parameters<typeof tell>[1]> = {}, behave: MessageApi['behave'] = () => ({})) {
  const api = await startMessageApi(behave);
  const scene = tell(api, { rows: ROWS, message: MESSAGE, ...more });
  const { report } = await scene.begin({ concurrency: 4 });
  expect(report.state).toBe('partial');
  return {
    api,
    scene,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      scene[Symbol.dispose]();
    },
  };
}

it('sends only to the test, and to no other recipient until a winner is named (A2)', async () => {
  await using told = await tested();
  const { api, scene } = told;
  expect(scene.tale()).toEqual(DURING_THE_TEST);
  const received = api.asked.length;
  for (const options of [{}, { retry: 'rejected' }, { allow: ['input-changed'] }] as const) {
    expect(await scene.begin(options)).toMatchObject({ posted: 0, started: false });
    expect(scene.tale()).toEqual(DURING_THE_TEST);
  }
  expect(api.asked).toHaveLength(received);
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('a winner that was named once is the winner of every later start', async () => {
  await using told = await tested();
  const { scene } = told;
  expect((await scene.begin({ winner: 'B', limit: 3 })).posted).toBe(3);
  expect((await scene.begin({ limit: 3 })).posted).toBe(3);
  const { report } = await scene.begin({ concurrency: 4 });
  expect(report.state).toBe('finished');
  expect(scene.tale()).toEqual(AFTERWARDS);
  expect(textsOf(scene)).toEqual(meantWith('B'));
  const variants = scene.endings().map((ending) => (ending as { variant?: string | null }).variant);
  expect(variants).toEqual(meantWith('B'));
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('a winner that another start names is for those who still wait', async () => {
  await using told = await tested();
  const { scene } = told;
  await scene.begin({ winner: 'B', limit: 3 });
  const before = textsOf(scene);
  await scene.begin({ winner: 'A', concurrency: 4 });
  expect(scene.tale()).toEqual(AFTERWARDS);
  expect(textsOf(scene)).toEqual(meantWith('A').map((text, row) => before[row] ?? text));
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('new rows of an amended list are in the test, wait or are held out as the others', async () => {
  await using told = await tested();
  const { api, scene } = told;
  const list = scene.contents().get(scene.path('people.csv'))?.toString() ?? '';
  const added = Array.from({ length: 20 }, (_, i) => numberOf(1000 + i));
  scene.write('people.csv', `${list}${added.map((number) => `${number},Late\n`).join('')}`);
  const received = api.asked.length;
  const lines = Array.from({ length: ROWS + added.length }, (_, row) => row + 2);
  await scene.begin({ allow: ['input-changed'], concurrency: 4 });
  const fates = added.map((number) => {
    const { kind } = assign(number);
    return kind === 'holdout' ? HELD : kind === 'undecided' ? WAITING : 'accepted';
  });
  expect(scene.tale()).toEqual([...DURING_THE_TEST, ...fates]);
  expect(api.asked.length - received).toBe(fates.filter((fate) => fate === 'accepted').length);
  await scene.begin({ winner: 'A', concurrency: 4 });
  expect(scene.tale().filter((one) => one !== 'accepted' && one !== HELD)).toEqual([]);
  expect(scene.objections({ lines, steps: 2 })).toEqual([]);
});

it('interrupted in the test, those left of it get their variant, with or without a winner', async () => {
  const stop = new AbortController();
  await using told = await tested();
  const { api, scene } = told;
  // Another occurrence would be another run; so the test is one of a list that has grown.
  const list = scene.contents().get(scene.path('people.csv'))?.toString() ?? '';
  const added = Array.from({ length: 20 }, (_, i) => numberOf(1000 + i));
  scene.write('people.csv', `${list}${added.map((number) => `${number},Late\n`).join('')}`);
  const received = api.asked.length;
  api.behave = ({ number }) => (number === received + 2 ? { after: () => stop.abort() } : {});
  await scene.begin({ allow: ['input-changed'], signal: stop.signal });
  expect(scene.tale()).toContain('pending');
  await scene.begin({ winner: 'A', concurrency: 4 });
  const meant = added.map((number) => {
    const one = assign(number);
    return one.kind === 'holdout' ? null : one.kind === 'variant' ? (['A', 'B'][one.index] ?? null) : 'A';
  });
  expect(textsOf(scene)).toEqual([...meantWith('A'), ...meant]);
  const lines = Array.from({ length: ROWS + added.length }, (_, row) => row + 2);
  expect(scene.objections({ lines, steps: 2 })).toEqual([]);
});

const OWN_FALLBACKS = MESSAGE.map((line) =>
  line.replace(/(Text of ([AB])" }) }$/, '$1, fallback: { channel: sms, template: { text: "Fallback of $2" } } }'),
);

it('a recipient who fell back stays with the variant of the first step, whichever wins later', async () => {
  const stop = new AbortController();
  await using told = await tested({ message: OWN_FALLBACKS });
  const { api, scene } = told;
  api.behave = ({ recipients }) => ({
    ...{ status: 422, body: CODE, each: recipients.map(() => 'unsupported') },
    after: () => stop.abort(),
  });
  await scene.begin({ winner: 'B', signal: stop.signal });
  const row = scene.tale().indexOf('fell-back > pending');
  expect(MEANT[row]).toBe('undecided');
  api.behave = () => ({});
  await scene.begin({ winner: 'A', limit: 1 });
  expect(scene.tale()[row]).toBe('fell-back > accepted');
  expect(scene.endings()[row]).toMatchObject({ variant: 'B', steps: [{ variant: 'B' }, { variant: 'B' }] });
  expect(
    scene
      .evidence()
      .receipts.filter(({ text }) => text.includes('Fallback of'))
      .map(({ text }) => /Fallback of ./.exec(text)?.[0]),
  ).toEqual(['Fallback of B']);
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

const CODE = { code: 'channel-not-supported' };
const withoutRcs = ({ channel, recipients }: Asked): Answer =>
  channel === 'RCS' && recipients.some(({ address }) => Number(address) % 3 === 0)
    ? { status: 422, body: CODE, each: recipients.map(() => 'unsupported') }
    : {};

it('in shared requests, with fallbacks: one variant in each request, and each row accounted for', async () => {
  await using told = await tested({ campaign: 'send: { recipientsPerRequest: 4 }' }, withoutRcs);
  const { api, scene } = told;
  expect(scene.tale().map((one) => one.replace('fell-back > ', ''))).toEqual(DURING_THE_TEST);
  await scene.begin({ winner: 'B', concurrency: 2 });
  expect(scene.tale().map((one) => one.replace('fell-back > ', ''))).toEqual(AFTERWARDS);
  expect(scene.tale()).toContain('fell-back > accepted');
  expect(textsOf(scene)).toEqual(meantWith('B'));
  expect(api.asked.some(({ recipients }) => recipients.length > 1)).toBe(true);
  expect(scene.objections({ steps: 2 })).toEqual([]);
});

it('an amended campaign that has lost the winner is refused until another one is named (J1)', async () => {
  await using told = await tested();
  const { scene } = told;
  await scene.begin({ winner: 'B', limit: 1 });
  const text = scene.contents().get(scene.path('campaign.yaml'))?.toString() ?? '';
  scene.write('campaign.yaml', text.replace('name: B', 'name: C'));
  const posted = scene.evidence().receipts.length;
  await expect(scene.begin({ allow: ['input-changed'] })).rejects.toMatchObject({
    exit: 2,
    diagnostics: [{ code: 'usage', message: expect.stringContaining('"B"'), hint: expect.stringContaining('A, C') }],
  });
  expect(scene.evidence().receipts).toHaveLength(posted);
  expect((await scene.begin({ allow: ['input-changed'], winner: 'C' })).report.state).toBe('finished');
});
