import { expect, test } from 'vitest';
import type { Plan } from '../../src/plan/plan.ts';
import type { Log } from '../../src/telemetry/log.ts';
import { watchSend } from '../../src/telemetry/send.ts';

/** Everything that is asked of it fails. */
const broken = new Proxy({} as Log, {
  get: (_target, name) =>
    name === 'isDebug'
      ? true
      : () => {
          throw new Error('broken');
        },
});

test('what follows a start may fail in every way, and nothing is thrown', () => {
  const watch = watchSend({ log: broken, metrics: null, now: () => 0 }, 'hello', 'production');
  const campaign = { name: 'hello', channel: 'sms', fallbacks: [] };
  watch.planned({ campaign, occurrence: 'once' } as unknown as Plan);
  const run = { id: 'hello-1', starts: 0 } as Parameters<typeof watch.round>[1];
  // Its log cannot say that the run begins: this round is not followed.
  expect(watch.round({ path: '/none' }, run, 1)).toBeNull();
  watch.waits(0);
  const attempts = watchSend(
    {
      log: new Proxy(broken, { get: (log, name) => (name === 'write' ? () => undefined : log[name as keyof Log]) }),
      metrics: null,
      now: () => 0,
    },
    'hello',
    'production',
  ).round({ path: '/none' }, run, 1);
  const result = { row: 0, step: 0, from: 'claimed', state: 'accepted', reason: null } as const;
  expect(attempts).not.toBeNull();
  attempts?.([{ ...result, attempts: 1, httpStatus: 202, messageId: null, error: null }], []);
});
