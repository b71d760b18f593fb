import type { Outcome, Report, StepCount, StepOutcome } from '../../src/model.ts';
import type { ReportOptions } from '../../src/report/record.ts';
import { buildReport, type CameBack, type CampaignShape, type RunFacts } from '../../src/report/tally.ts';

/** Reports and outcomes that tests share. */

export const RUN: RunFacts = {
  run: 'spring-sale-1a2b3c4d',
  campaign: 'spring-sale',
  environment: 'production',
  occurrence: '2026-11-21T09:00:00Z',
  state: 'finished',
  halt: null,
  ledger: '/srv/campaigns/.handbill/ledger.db',
  startedAt: '2026-11-21T09:00:00.000Z',
  finishedAt: '2026-11-21T09:01:04.120Z',
};

export const count = (facts: Partial<StepCount>): StepCount => ({
  outcome: 'accepted',
  reason: null,
  encoding: 'GSM-7',
  count: 1,
  parts: 1,
  costMicros: null,
  variant: null,
  channel: 'sms',
  step: 0,
  fellBack: false,
  ...facts,
});

export const REQUESTS: Report['requests'] = {
  posted: 1240,
  retried: 6,
  perSecond: 19.373,
  latencyMs: { p50: 12.41, p95: 31.5, p99: 1204 },
};

export const TROUBLED: Report = buildReport(
  {
    ...RUN,
    state: 'halted',
    halt: {
      rule: 'doubt',
      message: 'Five requests in a row had no usable answer.',
      next: 'Check that the API is well, then run again.',
    },
  },
  [
    count({ count: 1100, parts: 1200, costMicros: 51_000_000 }),
    count({ encoding: 'UCS-2', count: 100, parts: 230, costMicros: 9_775_000 }),
    count({ outcome: 'in-doubt', reason: 'timeout', count: 4, parts: 4, costMicros: 170_000 }),
    count({ outcome: 'in-doubt', reason: 'no-response', count: 1, parts: 1, costMicros: 42_500 }),
    count({ outcome: 'rejected', reason: 'status', count: 12, parts: 12, costMicros: 510_000 }),
    count({ outcome: 'failed', reason: 'connect', count: 1 }),
    count({ outcome: 'skipped', reason: 'duplicate', encoding: null, count: 17, parts: 0 }),
    count({ outcome: 'skipped', reason: 'suppressed', count: 3, parts: 3 }),
    count({ outcome: 'pending', count: 762, parts: 800 }),
  ],
  REQUESTS,
  {
    cameBack: {
      deliveries: [
        { variant: null, outcome: 'accepted', delivery: 'delivered', count: 900 },
        { variant: null, outcome: 'accepted', delivery: 'undeliverable', count: 3 },
      ],
      unmatched: {},
      causes: [],
    },
  },
);

export const PLAIN: Report = buildReport(
  {
    ...RUN,
    run: 'hello-00c0ffee',
    campaign: 'hello',
    environment: 'sandbox',
    occurrence: 'once',
    finishedAt: '2026-11-21T09:00:00.840Z',
  },
  [count({ count: 3, parts: 3 }), count({ outcome: 'skipped', reason: 'duplicate' })],
  { posted: 3, retried: 0, perSecond: 3.57, latencyMs: { p50: 4.1, p95: 6.02, p99: 6.02 } },
);

/** A campaign on RCS with SMS as its fallback, and three variants of which no recipient got the last. */
export const SPLIT_CAMPAIGN: CampaignShape = {
  channel: 'rcs',
  variants: [{ name: 'B' }, { name: 'A' }, { name: 'C' }],
  fallbacks: [{ channel: 'sms' }],
};

const rcs = (facts: Partial<StepCount>) => count({ channel: 'rcs', encoding: null, parts: 0, ...facts });
const sms = (facts: Partial<StepCount>) => count({ step: 1, costMicros: 40_000, ...facts });

export const SPLIT_COUNTS: readonly StepCount[] = [
  rcs({ variant: 'A', count: 600, costMicros: 36_000_000 }),
  rcs({ variant: 'B', count: 640, costMicros: 38_400_000 }),
  rcs({ variant: 'A', outcome: 'rejected', reason: 'fell-back', count: 391, costMicros: 23_460_000, fellBack: true }),
  rcs({ variant: 'B', outcome: 'rejected', reason: 'fell-back', count: 352, costMicros: 21_120_000, fellBack: true }),
  rcs({ variant: 'A', outcome: 'rejected', reason: 'status', count: 9 }),
  rcs({ outcome: 'skipped', reason: 'holdout', count: 100 }),
  rcs({ outcome: 'deferred', reason: 'winner-undecided', count: 8000 }),
  sms({ variant: 'A', count: 300, parts: 310, costMicros: 12_400_000 }),
  sms({ variant: 'B', count: 350, parts: 350, costMicros: 14_000_000 }),
  sms({ variant: 'A', outcome: 'rejected', reason: 'status', count: 87, parts: 87, costMicros: 3_480_000 }),
  sms({ variant: 'B', outcome: 'in-doubt', reason: 'timeout', count: 2, parts: 2, costMicros: 80_000 }),
  sms({ variant: 'A', outcome: 'skipped', reason: 'suppressed', count: 4, parts: 4, costMicros: 160_000 }),
];

export const SPLIT: Report = buildReport({ ...RUN, state: 'partial' }, SPLIT_COUNTS, REQUESTS, {
  campaign: SPLIT_CAMPAIGN,
});

/** Delivery reports and replies of that run. */
export const CAME_BACK: CameBack = {
  deliveries: [
    { variant: 'A', outcome: 'accepted', delivery: 'delivered', count: 700 },
    { variant: 'A', outcome: 'accepted', delivery: 'read', count: 100 },
    { variant: 'A', outcome: 'accepted', delivery: 'undeliverable', count: 7 },
    { variant: 'B', outcome: 'accepted', delivery: 'delivered', count: 650 },
    { variant: 'B', outcome: 'accepted', delivery: 'read', count: 200 },
    { variant: 'B', outcome: 'accepted', delivery: 'replied', count: 12 },
    { variant: 'B', outcome: 'accepted', delivery: 'opted-out', count: 3 },
  ],
  unmatched: {},
  causes: [
    { outcome: 'rejected', cause: 'HTTP 422: Sender name not registered', count: 92 },
    { outcome: 'rejected', cause: 'HTTP 400: Absent subscriber', count: 4 },
    { outcome: 'in-doubt', cause: 'timeout', count: 2 },
  ],
  replies: { recipients: 15, review: 2 },
  fallbacksDue: 7,
};

export const RETURNED: Report = buildReport({ ...RUN, state: 'partial' }, SPLIT_COUNTS, REQUESTS, {
  campaign: SPLIT_CAMPAIGN,
  cameBack: CAME_BACK,
});

export const outcome = (facts: Partial<Outcome>): Outcome => ({
  row: 0,
  line: 2,
  key: '+447700900123',
  to: '+447700900123',
  channel: 'sms',
  variant: null,
  outcome: 'accepted',
  reason: null,
  attempts: 1,
  httpStatus: 202,
  messageId: 'm-1',
  error: null,
  parts: 1,
  encoding: 'GSM-7',
  cost: null,
  updatedAt: '2026-11-21T09:00:00.500Z',
  ...facts,
});

export const OUTCOMES_OF_ALL_KINDS: readonly Outcome[] = [
  outcome({}),
  outcome({
    row: 1,
    line: 3,
    key: 'anna@example.com',
    to: 'anna@example.com',
    channel: 'email',
    variant: 'b',
    messageId: null,
  }),
  outcome({
    row: 2,
    line: 4,
    outcome: 'rejected',
    reason: 'status',
    httpStatus: 400,
    messageId: null,
    error: '{"title":"msisdn is not valid"}',
  }),
  outcome({ row: 3, line: 5, outcome: 'in-doubt', reason: 'timeout', httpStatus: null, messageId: null }),
  outcome({ row: 4, line: 7, outcome: 'failed', reason: 'connect', attempts: 3, httpStatus: null, messageId: null }),
  outcome({
    row: 5,
    line: 8,
    outcome: 'skipped',
    reason: 'bad-row',
    key: null,
    to: null,
    attempts: 0,
    httpStatus: null,
    messageId: null,
  }),
  outcome({ row: 6, line: 9, outcome: 'pending', attempts: 0, httpStatus: null, messageId: null, updatedAt: null }),
];

/** A recipient who could not receive RCS, and got an SMS. */
export const FELL_BACK: Outcome = outcome({
  row: 7,
  line: 10,
  variant: 'A',
  messageId: 'm-7',
  cost: 0.04,
  steps: [
    step({
      channel: 'rcs',
      outcome: 'rejected',
      reason: 'fell-back',
      httpStatus: 422,
      error: '{"code":"CHANNEL_UNSUPPORTED"}',
    }),
    step({ messageId: 'm-7', parts: 1, encoding: 'GSM-7', cost: 0.04 }),
  ],
});

function step(facts: Partial<StepOutcome>): StepOutcome {
  return {
    to: '+447700900123',
    channel: 'sms',
    variant: 'A',
    outcome: 'accepted',
    reason: null,
    attempts: 1,
    httpStatus: 202,
    messageId: null,
    error: null,
    parts: null,
    encoding: null,
    cost: null,
    updatedAt: '2026-11-21T09:00:00.500Z',
    ...facts,
  };
}

export const OPTIONS: ReportOptions = {
  colour: false,
  width: 80,
  referenceOf: ({ key, channel }) => (key === null ? null : `ref-${channel}`),
};

export async function collect(chunks: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}
