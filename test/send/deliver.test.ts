import { describe, expect, it, vi } from 'vitest';
import { type Verdict, verdict } from '../../src/http/classify.ts';
import { createAnswerCheck, createAnswering } from '../../src/http/connection-answers.ts';
import type { ResultRecord, SentMessage } from '../../src/ledger/records.ts';
import type { Attempt } from '../../src/model.ts';
import { type Batch, judge, type SendContext, type SendTask } from '../../src/send/deliver.ts';
import { deliverBatch } from '../../src/send/deliver-shared.ts';
import type { TimedAnswer, TimedClaim } from '../../src/send/group-commit.ts';
import { createProgress } from '../../src/send/progress.ts';
import { attempt } from '../http/answers.ts';
import { wireOf } from '../http/wire.ts';

const [A, B, C] = [0, 1, 2].map((row) => ({
  decision: { row, line: row + 2, key: `k${row}`, recipient: {}, fallbacks: [], variant: null },
  message: { to: `+44770090010${row}`, text: 'Hi', channel: 'sms', sms: null },
  step: 0,
  used: [],
  before: 0,
})) as unknown as [SendTask, SendTask, SendTask];

interface World {
  /** The verdicts on each request; one list for each. */
  readonly verdicts?: readonly (readonly Verdict[])[];
  /** The answers to each claim; then all are claimed. */
  readonly claims?: readonly (readonly TimedAnswer[] | null)[];
  /** Whether a token is still good when the connection is open; then it is. */
  readonly tokens?: readonly boolean[];
  /** Failed attempts to connect. */
  readonly failures?: number;
  /** How often it is asked whether a recipient may be sent to until the window is closed. */
  readonly closesAfter?: number;
  readonly isUnreached?: boolean;
  /** Called with the name of each step. */
  readonly onStep?: (name: string, stop: () => void) => void;
}

/** Delivers one batch to an API whose answers are handed over as verdicts, and returns all that happened. */
async function delivered(batch: Batch, world: World) {
  const steps: string[] = [];
  const held: number[] = [];
  const paused: number[] = [];
  const requests: (readonly number[])[] = [];
  const records: Pick<ResultRecord, 'row' | 'step' | 'from' | 'state' | 'attempts'>[] = [];
  const claims = [...(world.claims ?? [])];
  const tokens = [...(world.tokens ?? [])];
  const stopping = new AbortController();
  const progress = createProgress();
  let failures = world.failures ?? 0;
  let asked = 0;
  let rows: readonly number[] = [];
  const step = (name: string): void => {
    steps.push(name);
    world.onStep?.(name, () => stopping.abort());
  };
  const context = {
    groupCommit: {
      async claim(requested: readonly TimedClaim[]) {
        step(`claim ${requested.map(({ row, attempts, byReport }) => `${row}:${attempts}${byReport ? 'r' : ''}`)}`);
        const answers = claims.length > 0 ? claims.shift() : requested.map(() => 'claimed' as const);
        rows = requested.flatMap(({ row }, i) => (answers?.[i] === 'claimed' ? [row] : []));
        return answers ?? null;
      },
      record({ row, step, from, state, attempts }: ResultRecord) {
        records.push({ row, step, from, state, attempts });
      },
      async written() {
        step('written');
      },
    },
    endpoint: {
      reserve: () => false,
      async ready() {
        step('connect');
        failures -= 1;
        return failures >= 0 ? attempt({ phase: 'P1', status: null }) : null;
      },
      release: () => step('release'),
      async post(): Promise<Attempt> {
        step('post');
        requests.push(rows);
        return attempt({ status: 429 });
      },
    },
    rateLimiter: {
      isFree: () => true,
      token: () => undefined,
      take: () => tokens.shift() ?? true,
      hold: (ms: number) => held.push(ms),
      isHeld: () => false,
      pause: async (ms: number) => {
        paused.push(ms);
      },
    },
    slowStart: { width: 1, accepted: () => undefined, throttled: () => undefined, retried: () => undefined },
    stop: { note: () => undefined, answered: () => undefined, fellBack: () => undefined },
    progress,
    wire: wireOf(),
    checkAnswer: () => world.verdicts?.[requests.length - 1] ?? [accepted],
    isAccepting: () => true,
    attempts: 3,
    expand: {
      one: (decision: { key: string }) => ({ body: '{}', reference: decision.key, form: {} }),
      many: (decisions: readonly { key: string }[]) => ({
        body: '{}',
        reference: 'r',
        addressees: decisions.map(({ key }) => ({ to: key, reference: key })),
      }),
    },
    fence: null,
    claimOf: ({ decision, step, before }: SendTask, made: number) => ({
      row: decision.row,
      step,
      to: decision.key,
      key: decision.key,
      attempts: before + made,
    }),
    costOf: () => null,
    isUnreached: () => world.isUnreached ?? true,
    closed() {
      asked += 1;
      return asked > (world.closesAfter ?? Number.POSITIVE_INFINITY) ? CLOSED : null;
    },
    aside: (row: number) => step(`aside ${row}`),
    now: () => 0,
    random: () => 0.5,
    stopped: stopping.signal,
  };
  await deliverBatch(batch, context as unknown as SendContext);
  return { steps, held, paused, requests, records, finished: progress.figures.finished };
}

const CLOSED = { decision: 'skip', reason: 'expired', detail: '' };
const again = (retryAfterMs: number | null): Verdict =>
  verdict('pending', 'rate-limited', { again: true, retryAfterMs });
const accepted = verdict('accepted', null, {});
const split = verdict('pending', 'too-large', { split: true });
const unsupported = verdict('rejected', 'unsupported-channel', {});

describe('one recipient', () => {
  it('is claimed on an open connection, then posted to, then recorded', async () => {
    const { steps, records, finished } = await delivered([A], {});
    expect(steps).toEqual(['connect', 'claim 0:0', 'post']);
    expect(records).toEqual([{ row: 0, step: 0, from: 'claimed', state: 'accepted', attempts: 1 }]);
    expect(finished.accepted).toBe(1);
  });

  it.each([
    { label: 'the token expired while the connection was opened', world: { tokens: [false] }, first: ['connect'] },
    {
      label: 'the API asked to wait meanwhile',
      world: { claims: [['held']] } as const,
      first: ['connect', 'claim 0:0'],
    },
    {
      label: 'the window closed, and another opened',
      world: { claims: [['closed']] } as const,
      first: ['connect', 'claim 0:0'],
    },
  ])('waits again, and no attempt is counted, when $label', async ({ world, first }) => {
    const { steps, records } = await delivered([A], world);
    expect(steps).toEqual([...first, 'release', 'connect', 'claim 0:0', 'post']);
    expect(records).toEqual([{ row: 0, step: 0, from: 'claimed', state: 'accepted', attempts: 1 }]);
  });

  it('counts a claim that was withdrawn as an attempt, by which the ledger knows the next one', async () => {
    const { steps, requests } = await delivered([A], { claims: [['withdrawn']] });
    expect(steps).toEqual(['connect', 'claim 0:0', 'release', 'connect', 'claim 0:1', 'post']);
    expect(requests).toHaveLength(1);
  });

  it('is set aside once its window is closed, when all that was recorded is on the disk (I1)', async () => {
    for (const answer of ['closed', 'withdrawn', 'held'] as const) {
      const { steps } = await delivered([A], { claims: [[answer]], closesAfter: 1 });
      expect(steps, answer).toEqual(['connect', 'claim 0:0', 'release', 'written', 'aside 0']);
    }
  });

  it('is set aside between two attempts to connect, and is not failed', async () => {
    const { steps, finished } = await delivered([A], { failures: 5, closesAfter: 1 });
    expect(steps).toEqual(['connect', 'written', 'aside 0']);
    expect(finished.failed).toBe(0);
  });

  it.each<[TimedAnswer, string | null]>([
    ['suppressed', 'skipped'],
    ['fenced', 'skipped'],
    ['frequency-cap', 'skipped'],
    ['follow-up-later', 'deferred'],
    ['taken', null],
    ['stopped', null],
    ['paused', null],
    ['over-budget', null],
  ])('is not posted to when the claim says %s, and its connection is released', async (answer, counted) => {
    const { steps, records, finished } = await delivered([A], { claims: [[answer]] });
    expect(steps).toEqual(['connect', 'claim 0:0', 'release']);
    expect(records).toEqual([]);
    expect(Object.entries(finished).flatMap(([name, count]) => (count > 0 ? [name] : []))).toEqual(
      counted === null ? [] : [counted],
    );
  });

  it('is not posted to when the ledger cannot be written (H1)', async () => {
    expect((await delivered([A], { claims: [null] })).steps).toEqual(['connect', 'claim 0:0', 'release']);
  });

  it('is left pending when the run stops while a connection is opened, and the connection is released', async () => {
    const { steps, records } = await delivered([A], {
      onStep: (name, stop) => {
        if (name === 'connect') stop();
      },
    });
    expect([steps, records]).toEqual([['connect', 'release'], []]);
  });

  it('is tried as often as the campaign says, each attempt recorded before the next', async () => {
    const { records, requests, finished } = await delivered([A], {
      verdicts: [[again(null)], [again(2000)], [again(null)]],
    });
    expect(requests).toHaveLength(3);
    expect(records.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['pending', 1],
      ['pending', 2],
      ['pending', 3],
    ]);
    expect(finished.pending).toBe(1);
  });

  it('holds back the run for as long as the API asks, and its own backoff on top (F5)', async () => {
    const { held, paused } = await delivered([A], { verdicts: [[again(2000)], [accepted]] });
    expect(paused).toEqual([250]);
    expect(held).toEqual([2250]);
  });

  it('is sent the fallback as another task, from the first attempt', async () => {
    const fallback = { channel: 'voice', to: '+44770090010', text: null, sms: null };
    const task = { ...A, decision: { ...A.decision, fallbacks: [fallback] } } as unknown as SendTask;
    const { steps, records } = await delivered([task], { verdicts: [[unsupported], [accepted]] });
    expect(steps).toEqual(['connect', 'claim 0:0', 'post', 'connect', 'claim 0:0', 'post']);
    expect(records.map(({ step, state }) => [step, state])).toEqual([
      [0, 'rejected'],
      [1, 'accepted'],
    ]);
  });
});

describe('the fallback that a report asks for', () => {
  const byReport = [{ messageId: 'm', reference: 'r' }] as unknown as readonly SentMessage[];
  const reported: SendTask = { ...A, step: 1, byReport };

  it('is claimed with the step before, and recorded from then on', async () => {
    const { steps, records } = await delivered([reported], { verdicts: [[again(null)], [accepted]] });
    expect(steps).toEqual(['connect', 'claim 0:0r', 'post', 'connect', 'claim 0:1', 'post']);
    expect(records.map(({ step, state, attempts }) => [step, state, attempts])).toEqual([
      [1, 'pending', 1],
      [1, 'accepted', 2],
    ]);
  });

  it('is not sent when a later report says that the message was delivered', async () => {
    const { steps } = await delivered([reported], { isUnreached: false });
    expect(steps).toEqual(['connect', 'release']);
  });

  it('leaves the accepted message as it is when no connection opens, or its window is closed', async () => {
    const down = await delivered([reported], { failures: 3 });
    expect([down.steps, down.records]).toEqual([['connect', 'connect', 'connect'], []]);
    const closed = await delivered([reported], { closesAfter: 0 });
    expect([closed.steps, closed.records]).toEqual([[], []]);
  });

  it('is a task like any other once its claim was withdrawn', async () => {
    const { steps } = await delivered([reported], { claims: [['withdrawn']] });
    expect(steps).toEqual(['connect', 'claim 0:0r', 'release', 'connect', 'claim 0:1', 'post']);
  });
});

describe('several recipients', () => {
  it('holds back for as long as the answer asks for one of several recipients, whatever it says of the next', async () => {
    const two = await delivered([A, B], {
      verdicts: [
        [again(5_000), again(null)],
        [accepted, accepted],
      ],
    });
    expect(two).toMatchObject({
      held: [5_250],
      requests: [
        [0, 1],
        [0, 1],
      ],
    });
    const other = await delivered([A, B, C], {
      verdicts: [
        [again(null), again(7_000), accepted],
        [accepted, accepted],
      ],
    });
    expect(other).toMatchObject({
      held: [7_250],
      requests: [
        [0, 1, 2],
        [0, 1],
      ],
    });
  });

  it('holds back before the part that follows', async () => {
    const { held, requests } = await delivered([A, B], { verdicts: [[again(5_000), split], [accepted], [accepted]] });
    expect(held).toEqual([5_250]);
    expect(requests[1]).toEqual([0]);
  });

  it('halves a request that is too large, and counts it as an attempt of each', async () => {
    const { requests, steps } = await delivered([A, B, C], {
      verdicts: [[split, split, split], [accepted, accepted], [accepted]],
    });
    expect(requests).toEqual([[0, 1, 2], [0, 1], [2]]);
    expect(steps.filter((name) => name.startsWith('claim'))).toEqual([
      'claim 0:0,1:0,2:0',
      'claim 0:1,1:1',
      'claim 2:1',
    ]);
  });

  it('posts to those whose claim is granted, and then tries those whose window had closed', async () => {
    const { requests, steps } = await delivered([A, B, C], { claims: [['closed', 'claimed', 'withdrawn']] });
    expect(requests).toEqual([[1], [0], [2]]);
    expect(steps.filter((name) => name.startsWith('claim'))).toEqual(['claim 0:0,1:0,2:0', 'claim 0:0', 'claim 2:1']);
  });

  it('waits again with all of them while the API asks to wait', async () => {
    const { requests, steps } = await delivered([A, B], {
      claims: [['held', 'held']],
      verdicts: [[accepted, accepted]],
    });
    expect(requests).toEqual([[0, 1]]);
    expect(steps).toEqual(['connect', 'claim 0:0,1:0', 'release', 'connect', 'claim 0:0,1:0', 'post']);
  });

  it('posts nothing when no claim is granted', async () => {
    const { steps } = await delivered([A, B], { claims: [['suppressed', 'taken']] });
    expect(steps).toEqual(['connect', 'claim 0:0,1:0', 'release']);
  });
});

it.each([
  { label: 'a 2xx', status: 202, body: '{"id":"m1","to":"+447700900100"}' },
  { label: 'a refusal', status: 400, body: '{"error":"no such number","to":"+447700900100"}' },
])('parses the body of $label once, for its verdict and for the address that it names', ({ status, body }) => {
  const connection = createAnswering(() => undefined);
  const context = {
    progress: createProgress(),
    checkAnswer: createAnswerCheck(wireOf(), () => undefined),
    wire: wireOf(),
    isAccepting: () => true,
    slowStart: { accepted: () => undefined },
    stop: { answered: () => undefined },
    now: () => 0,
    stopped: new AbortController().signal,
  };
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const facts = attempt({ status, body, connection } as unknown as Partial<Attempt>);
    judge(facts, [{ to: '+447700900100', reference: 'r' }], context as unknown as SendContext);
    expect(parse.mock.calls.filter(([text]) => text === body)).toHaveLength(1);
  } finally {
    parse.mockRestore();
  }
});
