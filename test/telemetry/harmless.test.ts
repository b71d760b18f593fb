import { expect, test } from 'vitest';
import type { Plan } from '../../src/plan/plan.ts';
import type { RunSpan } from '../../src/telemetry/otel.ts';
import { type OtelParts, watchSend } from '../../src/telemetry/send.ts';

/** Everything that is asked of it fails. */
const broken = new Proxy({} as OtelParts['span'] & RunSpan & OtelParts['instruments'], {
  get: () => () => {
    throw new Error('broken');
  },
});

test('what follows a start may fail in every way: requests are made, and nothing is thrown', async () => {
  const otel: OtelParts = {
    span: {
      ...broken,
      end: () => undefined,
      part: broken.part,
      run: () => ({ end: broken.end, request: broken.request }),
    },
    instruments: broken,
  };
  const watch = watchSend({ log: null, otel, metrics: null, now: () => 0 }, 'hello', 'production');
  const campaign = { name: 'hello', channel: 'sms', fallbacks: [] };
  const plan = { campaign, occurrence: 'once', environment: { url: 'http://127.0.0.1:9/v2/messages' } };
  watch.planned(plan as unknown as Plan);
  watch.checking();
  const ledger = {
    path: '/none',
    steps: () => {
      throw new Error('no ledger');
    },
  };
  const run = { id: 'hello-1', starts: 0 } as Parameters<typeof watch.round>[1];
  const round = watch.round(ledger, run, 1);
  const attempt = {
    phase: 'P4',
    status: 202,
    error: null,
    contentType: null,
    retryAfter: null,
    body: '',
    latencyMs: 1,
  } as const;
  const endpoint = round.endpoint({
    ready: async () => null,
    release: () => undefined,
    post: async () => attempt,
  });
  expect(await endpoint.post('{}', 'r')).toBe(attempt);
  const result = { row: 0, step: 0, from: 'claimed', state: 'accepted', reason: null } as const;
  round.onCommitted?.([{ ...result, attempts: 1, httpStatus: 202, messageId: null, error: null }], []);
  round.ended(null);
  // A ledger that cannot be read: this round is not followed.
  const second = watch.round(ledger, { ...run, starts: 1 }, null);
  expect(second.onCommitted).toBeNull();
  watch.close();
});
