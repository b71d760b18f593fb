import { expect, it } from 'vitest';
import type { Outcome, StepCount } from '../../src/model.ts';
import { createProject } from '../helpers/project.ts';
import { misbooked } from './accounts.ts';
import { type Ending, type Evidence, type StepEnding, violations } from './oracle.ts';
import { type Receipt, readReceipts } from './receipts.ts';

type One = Omit<Receipt, 'number'>;

const message = (reference: string, more: Partial<One> = {}): One => ({
  status: 202,
  id: `id of ${reference}`,
  text: '',
  reference,
  ...more,
});
const unsupported = (reference: string, more: Partial<One> = {}) =>
  message(reference, { status: 422, id: null, said: 'unsupported', ...more });
const shared = (reference: string, more: Partial<One> = {}) =>
  message(reference, { said: 'taken', recipients: 2, ...more });

const step = (reference: string, outcome: StepEnding['outcome'], more: Partial<StepEnding> = {}): StepEnding => ({
  reference,
  outcome,
  reason: null,
  httpStatus: outcome === 'accepted' ? 202 : null,
  messageId: outcome === 'accepted' ? `id of ${reference}` : null,
  ...more,
});
const fellBack = (reference: string, more: Partial<StepEnding> = {}) =>
  step(reference, 'rejected', { reason: 'fell-back', httpStatus: 422, ...more });

/** Anna with her steps, on line 2. */
function anna(...steps: readonly [StepEnding, ...StepEnding[]]): Ending {
  const last = steps.at(-1) ?? steps[0];
  return { line: 2, key: 'anna', ...last, ...(steps.length > 1 ? { steps } : {}) };
}
const ben = (own: StepEnding): Ending => ({ line: 3, key: 'ben', ...own });

function judged(endings: readonly Ending[], receipts: readonly One[], more: Partial<Evidence> = {}): string[] {
  const numbered = receipts.map((one, at) => ({ ...one, number: at + 1 }));
  return violations({ lines: endings.map(({ line }) => line), endings, receipts: numbered, ...more });
}

type Case = readonly [string, readonly Ending[], readonly One[], Partial<Evidence>?];

function complete([what, endings, receipts, more = {}]: Case) {
  return [what, endings, receipts, more] as const;
}
const both = [anna(step('a', 'accepted')), ben(step('b', 'accepted'))];

const REPORTED = { unreached: new Set(['a0']) };
const TAKEN: readonly One[] = [message('a0', { said: 'taken' }), message('a1')];
const reported = anna(fellBack('a0', { httpStatus: 202, byReport: true }), step('a1', 'accepted'));

const KEPT: readonly Case[] = [
  ['a fallback by report', [reported], TAKEN, REPORTED],
  [
    'a fallback that was accepted',
    [anna(fellBack('a0'), step('a1', 'accepted'))],
    [unsupported('a0'), message('a1')],
    { steps: 2 },
  ],
  [
    'a fallback in doubt',
    [anna(fellBack('a0'), step('a1', 'in-doubt'))],
    [unsupported('a0'), message('a1', { status: null })],
  ],
  ['a fallback that waits', [anna(fellBack('a0'), step('a1', 'pending'))], [unsupported('a0')]],
  [
    'nothing left to fall back to',
    [anna(fellBack('a0'), step('a1', 'rejected', { reason: 'unsupported-channel', httpStatus: 422 }))],
    [unsupported('a0'), unsupported('a1')],
    { steps: 2 },
  ],
  ['several recipients of one request', both, [shared('a'), shared('b')]],
  [
    'one of several refused in a 2xx',
    [anna(step('a', 'accepted')), ben(step('b', 'rejected', { reason: 'refused', httpStatus: 202 }))],
    [shared('a'), shared('b', { said: 'refused', id: null })],
  ],
  [
    'one of several fell back out of a 2xx',
    [anna(fellBack('a', { httpStatus: 202 }), step('a1', 'accepted')), ben(step('b', 'accepted'))],
    [shared('a', { said: 'unsupported' }), shared('b'), message('a1')],
  ],
  [
    'one of several who is not named',
    [anna(step('a', 'accepted')), ben(step('b', 'in-doubt'))],
    [shared('a'), shared('b', { said: 'unclear' })],
  ],
  [
    'a request that was too large, and its halves',
    both,
    [
      message('a', { status: 413, recipients: 2 }),
      message('b', { status: 413, recipients: 2 }),
      message('a'),
      message('b'),
    ],
  ],
  [
    'a request with an unknown recipient who cannot receive the channel, and its halves',
    both,
    [unsupported('a', { recipients: 2 }), unsupported('b', { recipients: 2 }), message('a'), message('b')],
  ],
];

it.each(KEPT.map(complete))('is content with: %s', (_, endings, receipts, more) => {
  expect(judged(endings, receipts, more)).toEqual([]);
});

const BROKEN: readonly Case[] = [
  ['a fallback by a report that never came', [reported], TAKEN],
  [
    'a fallback by report as if the message was refused',
    [anna(fellBack('a0'), step('a1', 'accepted'))],
    TAKEN,
    REPORTED,
  ],
  [
    'a fallback after a refusal of another kind',
    [anna(fellBack('a0', { httpStatus: 400 }), step('a1', 'accepted'))],
    [message('a0', { status: 400, id: null }), message('a1')],
  ],
  [
    'a fallback after silence',
    [anna(fellBack('a0'), step('a1', 'accepted'))],
    [message('a0', { status: null }), message('a1')],
  ],
  [
    'a fallback after an acceptance',
    [anna(fellBack('a0'), step('a1', 'accepted'))],
    [message('a0', { said: 'taken' }), message('a1')],
  ],
  ['a fallback before the refusal', [anna(fellBack('a0'), step('a1', 'accepted'))], [message('a1'), unsupported('a0')]],
  [
    'a fallback that was sent twice',
    [anna(fellBack('a0'), step('a1', 'accepted'))],
    [unsupported('a0'), message('a1'), message('a1')],
  ],
  ['the first step sent again', [anna(fellBack('a0'), step('a1', 'pending'))], [unsupported('a0'), unsupported('a0')]],
  [
    'a fallback that waits, but was received',
    [anna(fellBack('a0'), step('a1', 'pending'))],
    [unsupported('a0'), message('a1')],
  ],
  [
    'a fallback that the ledger does not know',
    [anna(step('a0', 'rejected', { reason: 'unsupported-channel', httpStatus: 422 }))],
    [unsupported('a0'), message('a1')],
  ],
  [
    'no fallback although there is one',
    [anna(step('a0', 'rejected', { reason: 'unsupported-channel', httpStatus: 422 }))],
    [unsupported('a0')],
    { steps: 2 },
  ],
  [
    'more steps than the campaign has',
    [anna(fellBack('a0'), step('a1', 'accepted'))],
    [unsupported('a0'), message('a1')],
    { steps: 1 },
  ],
  ['a last step that fell back', [anna(fellBack('a0'))], [unsupported('a0')]],
  [
    'a step in the middle that did not',
    [anna(step('a0', 'accepted'), step('a1', 'accepted'))],
    [message('a0'), message('a1')],
  ],
  ['accepted, but refused in the 2xx', both, [shared('a'), shared('b', { said: 'refused', id: 'id of b' })]],
  ['accepted, but not named in the 2xx', both, [shared('a'), shared('b', { said: 'unclear' })]],
  [
    'the id of another recipient of the request',
    [anna(step('a', 'accepted', { messageId: 'id of b' })), ben(step('b', 'accepted'))],
    [shared('a'), shared('b')],
  ],
  [
    'refused, but taken by the 2xx',
    [anna(step('a', 'rejected', { reason: 'refused', httpStatus: 202 })), ben(step('b', 'accepted'))],
    [shared('a'), shared('b')],
  ],
  [
    'in doubt, but refused in the 2xx',
    [anna(step('a', 'accepted')), ben(step('b', 'in-doubt', { reason: 'unrecognised' }))],
    [shared('a'), shared('b', { said: 'refused' })],
  ],
  [
    'a request without an answer, and its halves',
    both,
    [
      message('a', { status: null, recipients: 2 }),
      message('b', { status: null, recipients: 2 }),
      message('a'),
      message('b'),
    ],
  ],
  [
    'a request that was taken for one, and sent again for both',
    both,
    [shared('a'), shared('b', { said: 'refused' }), message('a'), message('b')],
  ],
  [
    '413 for a request of one, and again',
    [anna(step('a', 'accepted'))],
    [message('a', { status: 413, id: null }), message('a')],
  ],
];

it.each(BROKEN.map(complete))('objects to: %s', (_, endings, receipts, more) => {
  expect(judged(endings, receipts, more)).not.toEqual([]);
});

it('reads a receipt for each recipient of a request', () => {
  const text = '{"recipients":[{"metaData":{"handbill":"a"}},{"metaData":{"handbill":"b"}}]}';
  const one = '{"recipients":[{"metaData":{"handbill":"c"}}]}';
  const lines = [
    { number: 1, status: 202, id: null, text, each: [{ said: 'taken', id: 'm-1' }, { said: 'refused' }] },
    { number: 2, status: 202, id: 'm-2', text },
    { number: 3, status: null, id: null, text: one },
  ];
  using folder = createProject({ receipts: `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"num` });
  const read = readReceipts(folder.path('receipts'));
  expect(read.map(({ text: _, ...receipt }) => receipt)).toEqual([
    { number: 1, status: 202, id: 'm-1', reference: 'a', recipients: 2, said: 'taken' },
    { number: 1, status: 202, id: null, reference: 'b', recipients: 2, said: 'refused' },
    { number: 2, status: 202, id: 'm-2', reference: 'a', recipients: 2 },
    { number: 2, status: 202, id: 'm-2', reference: 'b', recipients: 2 },
    { number: 3, status: null, id: null, reference: 'c' },
  ]);
});

const count = (more: Partial<StepCount>): StepCount => ({
  outcome: 'accepted',
  reason: null,
  encoding: null,
  variant: null,
  channel: 'sms',
  step: 0,
  count: 1,
  parts: 0,
  costMicros: null,
  fellBack: false,
  ...more,
});
const first = count({ outcome: 'rejected', reason: 'fell-back', channel: 'rcs', costMicros: 20_000, fellBack: true });
const second = count({ step: 1, parts: 2, costMicros: 70_000 });
const OUTCOME: Outcome = {
  ...{ row: 0, line: 2, key: 'anna', to: 'anna', channel: 'sms', variant: null, outcome: 'accepted', reason: null },
  ...{
    attempts: 1,
    httpStatus: 202,
    messageId: 'm',
    error: null,
    parts: 2,
    encoding: 'GSM-7',
    cost: 0.07,
    updatedAt: null,
  },
};
const OUTCOMES: readonly Outcome[] = [
  {
    ...OUTCOME,
    steps: [{ ...OUTCOME, channel: 'rcs', outcome: 'rejected', reason: 'fell-back', parts: null, cost: 0.02 }, OUTCOME],
  },
];

it.each([
  ['sums that agree', [first, second], 1, true],
  ['a step that was not counted', [second], 1, false],
  ['parts of another number', [first, { ...second, parts: 1 }], 1, false],
  ['another cost', [{ ...first, costMicros: 0 }, second], 1, false],
  ['a recipient who is counted with every step', [first, second], 2, false],
  ['an accepted message that is counted as a refused one', [{ ...first, byReport: true }, second], 1, false],
] as const)('adds up every step: %s', (_, steps, rows, agree) => {
  const found = misbooked({ outcomes: OUTCOMES, steps, counts: steps.filter(({ fellBack }) => !fellBack), rows });
  expect(found.length === 0).toBe(agree);
});

it('objects to a fallback of another variant', () => {
  const [one] = OUTCOMES;
  if (one === undefined) throw new Error('there is one');
  const steps = one.steps?.map((step, at) => ({ ...step, variant: at === 0 ? 'A' : null })) ?? [];
  expect(misbooked({ outcomes: [{ ...one, steps }], steps: [first, second], counts: [second], rows: 1 })).toEqual([
    'row 0 has the variants A and ',
  ]);
});
