import { expect, it } from 'vitest';
import type { ClaimRequest } from '../../src/ledger/records.ts';
import type { SendDecision } from '../../src/model.ts';
import type { SendContext } from '../../src/send/deliver.ts';
import { deliver } from '../../src/send/deliver.ts';
import { claimInTime, createGroupCommit } from '../../src/send/group-commit.ts';
import { fates, givenRun, open, scratchPath } from '../ledger/scratch.ts';
import { claimOf, NOON, rows } from '../ledger/values.ts';

it('a claim that is written in the very turn of a stop is given back, in the ledger too (B9)', async () => {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(2));
  const stopping = new AbortController();
  const clock = { now: () => NOON, isHeld: () => false, isStopped: () => stopping.signal.aborted };
  const groupCommit = createGroupCommit(
    {
      commit: (results, claims) => claimInTime(claims, clock, (inTime) => ledger.commit(run, results, inTime, NOON)),
    },
    () => undefined,
  );
  const { to, key } = claimOf(0);
  let released = 0;
  const context = {
    groupCommit: {
      ...groupCommit,
      claim(requests: readonly ClaimRequest[]) {
        const claimed = groupCommit.claim(requests);
        stopping.abort();
        return claimed;
      },
    },
    endpoint: {
      reserve: () => true,
      ready: async () => null,
      post: () => Promise.reject(new Error('Nothing may be posted any more.')),
      release: () => {
        released += 1;
      },
    },
    rateLimiter: { isFree: () => true, token: () => undefined, take: () => true },
    expand: { one: () => ({ reference: 'r', body: '{}', form: { countsDown: false } }) },
    closed: () => null,
    claimOf: () => ({ ...claimOf(0), attempts: 0 }),
    progress: {},
    fence: null,
    attempts: 3,
    stopped: stopping.signal,
  } as unknown as SendContext;
  const decision = { decision: 'send', row: 0, step: 0, to, key, fallbacks: [] } as unknown as SendDecision;
  await deliver({ decision, message: decision, step: 0, used: [], before: 0 }, context);
  await groupCommit.flush();
  expect(fates(ledger, run)).toEqual(['pending(stopped)', 'pending']);
  expect(ledger.pending(run, -1, 10)).toHaveLength(2);
  expect(released).toBe(1);
});
