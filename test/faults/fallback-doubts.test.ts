import { expect, it } from 'vitest';
import { listDoubts, type ResolveDoubtsOptions, resolveDoubts } from '../../src/operations/doubt.ts';
import { numberOf } from '../oracle/scene.ts';
import { type Answer, startMessageApi } from './message-api.ts';
import { FALLBACK, SHARED, type Told, tell } from './tale.ts';

const UNSUPPORTED: Answer = { status: 422, body: { code: 'channel-not-supported' }, each: ['unsupported'] };

function resolve(scene: Told, options: Pick<ResolveDoubtsOptions, 'verdict'> & Partial<ResolveDoubtsOptions>) {
  const given = { cwd: scene.root, env: {}, now: Date.now, by: 'test', confirm: async () => true };
  return resolveDoubts('proof', { ...given, all: true, ...options });
}

/** One row whose fallback was received, and of which nothing more is known. */
async function inDoubt() {
  const api = await startMessageApi(({ channel }) => (channel === 'RCS' ? UNSUPPORTED : { instead: 'reset' }));
  const scene = tell(api, { rows: 1, message: FALLBACK });
  await scene.begin();
  expect(scene.tale()).toEqual(['fell-back > in-doubt(no-response)']);
  api.behave = () => ({});
  return {
    api,
    scene,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      scene[Symbol.dispose]();
    },
  };
}

it('shows the step that is in doubt, with its own channel and reference', async () => {
  await using told = await inDoubt();
  const { scene } = told;
  const doubts = await listDoubts({ cwd: scene.root, env: {}, now: Date.now });
  const [, second] = scene.endings()[0]?.steps ?? [];
  expect(doubts).toMatchObject([
    { step: 1, channel: 'sms', reference: second?.reference, to: numberOf(0), attempts: 1 },
  ]);
});

it('--resend sends the step that is in doubt again, and not the one that fell back (J5)', async () => {
  await using told = await inDoubt();
  const { api, scene } = told;
  expect((await scene.begin()).posted).toBe(0);
  await resolve(scene, { verdict: 'resend', acceptDuplicates: true });
  expect(scene.tale()).toEqual(['fell-back > pending(resend)']);
  expect((await scene.begin()).posted).toBe(1);
  expect(scene.tale()).toEqual(['fell-back > accepted']);
  expect(api.asked.map(({ channel }) => channel)).toEqual(['RCS', 'SMS', 'SMS']);
  const reference = scene.endings()[0]?.reference ?? '';
  expect(scene.objections({ steps: 2, askedAgain: new Map([[reference, 1]]) })).toEqual([]);
  expect(scene.objections({ steps: 2 })).not.toEqual([]);
});

it.each(['accepted', 'rejected'] as const)('a fallback that is resolved as %s is final', async (verdict) => {
  await using told = await inDoubt();
  const { api, scene } = told;
  await resolve(scene, { verdict });
  expect(scene.tale()).toEqual([`fell-back > ${verdict}(resolved)`]);
  expect(await scene.begin()).toMatchObject({ posted: 0, report: { state: 'finished', totals: { [verdict]: 1 } } });
  expect(api.asked).toHaveLength(2);
});

it('of a request in doubt, those who are named are sent to again, together', async () => {
  await using api = await startMessageApi(() => ({ instead: 'reset' }));
  using scene = tell(api, { rows: 4, message: SHARED, campaign: 'send: { recipientsPerRequest: 4 }' });
  await scene.begin();
  expect(scene.tale()).toEqual(Array(4).fill('in-doubt(no-response)'));
  api.behave = () => ({});
  await resolve(scene, { verdict: 'resend', acceptDuplicates: true, all: false, lines: [3, 5] });
  await scene.begin();
  expect(api.asked.map(({ recipients }) => recipients.map(({ address }) => address))).toEqual([
    [0, 1, 2, 3].map(numberOf),
    [1, 3].map(numberOf),
  ]);
  const doubt = 'in-doubt(no-response)';
  expect(scene.tale()).toEqual([doubt, 'accepted', doubt, 'accepted']);
  const again = scene.endings().filter(({ outcome }) => outcome === 'accepted');
  expect(scene.objections({ askedAgain: new Map(again.map(({ reference }) => [reference ?? '', 1])) })).toEqual([]);
});
