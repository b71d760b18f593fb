import { expect, it } from 'vitest';
import { type Verdict, verdict } from '../../src/http/classify.ts';
import type { Attempt } from '../../src/model.ts';
import type { Batch } from '../../src/send/batch.ts';
import { deliver, type SendContext } from '../../src/send/deliver.ts';
import { createProgress } from '../../src/send/progress.ts';
import { attempt } from '../http/answers.ts';
import { wireOf } from '../http/wire.ts';

const [A, B, C] = [0, 1, 2].map((row) => ({
  decision: { row, line: row + 2, key: `k${row}`, recipient: {} },
  message: { to: `+44770090010${row}`, text: 'Hi', channel: 'sms', sms: null },
  step: 0,
  used: [],
  before: 0,
})) as unknown as [Batch[0], Batch[0], Batch[0]];

/**
 * Delivers one batch to an API whose answers are handed over as verdicts, one list for each request. Returns for how long
 * all requests were held back, and which rows each request was for.
 */
async function delivered(batch: Batch, answers: readonly (readonly Verdict[])[]) {
  const held: number[] = [];
  const requests: (readonly number[])[] = [];
  let due: readonly number[] = [];
  const context = {
    groupCommit: {
      async claim(claims: readonly { readonly row: number }[]) {
        due = claims.map(({ row }) => row);
        return claims.map(() => 'claimed');
      },
      record: () => undefined,
      written: async () => undefined,
    },
    endpoint: {
      ready: () => null,
      release: () => undefined,
      async post(): Promise<Attempt> {
        requests.push(due);
        return attempt({ status: 429 });
      },
    },
    rateLimiter: {
      turn: () => undefined,
      take: () => true,
      hold: (ms: number) => held.push(ms),
      isHeld: () => false,
      pause: async () => undefined,
    },
    slowStart: { width: 1, accepted: () => undefined, throttled: () => undefined, retried: () => undefined },
    stop: { note: () => undefined, answered: () => undefined, fellBack: () => undefined },
    progress: createProgress(),
    wire: wireOf(),
    answers: { check: () => answers[requests.length - 1] ?? [] },
    onAnswer: null,
    isAccepting: () => true,
    attempts: 3,
    expand: {
      one: (decision: { key: string }) => ({ body: '{}', reference: decision.key, to: null }),
      many: (decisions: readonly { key: string }[]) => ({
        body: '{}',
        reference: 'r',
        addressees: decisions.map(({ key }) => ({ to: key, reference: key })),
      }),
    },
    fence: null,
    factsOf: () => null,
    costOf: () => null,
    hasBudget: false,
    capsOf: null,
    isUnreached: () => false,
    isLate: () => false,
    expire: () => undefined,
    window: null,
    aside: () => undefined,
    now: () => 0,
    random: () => 0,
    stopped: new AbortController().signal,
  };
  await deliver(batch, context as unknown as SendContext);
  return { held, requests };
}

const again = (retryAfterMs: number | null): Verdict =>
  verdict('pending', 'rate-limited', { again: true, retryAfterMs });
const accepted = verdict('accepted', null, {});
const split = verdict('pending', 'too-large', { split: true });

it('holds back for as long as the answer asks for one of several recipients, whatever it says of the next', async () => {
  const two = await delivered(
    [A, B],
    [
      [again(5_000), again(null)],
      [accepted, accepted],
    ],
  );
  expect(two).toEqual({
    held: [5_000],
    requests: [
      [0, 1],
      [0, 1],
    ],
  });
  const other = await delivered(
    [A, B, C],
    [
      [again(null), again(7_000), accepted],
      [accepted, accepted],
    ],
  );
  expect(other).toEqual({
    held: [7_000],
    requests: [
      [0, 1, 2],
      [0, 1],
    ],
  });
});

it('holds back before the part that follows', async () => {
  const { held, requests } = await delivered([A, B], [[again(5_000), split], [accepted], [accepted]]);
  expect(held).toEqual([5_000]);
  expect(requests[1]).toEqual([0]);
});
