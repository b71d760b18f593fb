import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/ledger/records.ts';
import type { Campaign } from '../../src/model.ts';
import type { RunEvent } from '../../src/send/event.ts';
import { createFollower } from '../../src/telemetry/follow.ts';
import type { Log } from '../../src/telemetry/log.ts';

const fail = (): never => {
  throw new Error('broken');
};

/** Everything that is asked of it fails. */
const broken = new Proxy({} as Log, { get: (_target, name) => (name === 'isDebug' ? true : fail) });

test('what follows a start may fail in every way, and nothing is thrown', () => {
  const campaign = { name: 'hello', channel: 'sms', fallbacks: [] } as unknown as Campaign;
  const environment = { name: 'production' } as Extract<RunEvent, { kind: 'planned' }>['plan']['environment'];
  const run = { id: 'hello-1', starts: 0 } as RunRecord;
  const result = { row: 0, step: 0, from: 'claimed', state: 'accepted', reason: null } as const;
  const events: readonly RunEvent[] = [
    { kind: 'begins', target: 'hello', environment: 'production' },
    { kind: 'planned', plan: { campaign, environment, occurrence: 'once' } },
    { kind: 'started', run, ledger: '/none', toDo: 1, commit: null },
    { kind: 'waits', untilMs: 0 },
    {
      kind: 'committed',
      results: [{ ...result, attempts: 1, httpStatus: 202, messageId: null, error: null }],
      claims: [],
    },
  ];
  let failed = 0;
  const all = new Proxy(broken, {
    get: (log, name) => {
      failed += 1;
      return log[name as keyof Log];
    },
  });
  const begins = new Proxy(all, { get: (log, name) => (name === 'write' ? () => undefined : log[name as keyof Log]) });
  for (const log of [all, begins]) {
    const follow = createFollower({ log, metrics: null, now: () => 0, note: fail, said: fail });
    for (const event of events) follow(event);
  }
  expect(failed).toBeGreaterThan(0);
});
