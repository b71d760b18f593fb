import { describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../src/send/throttle.ts';
import type { Timers } from '../../src/send/timers.ts';

/** A clock that goes only when it is told to. */
function clock() {
  let now = 1000;
  const asleep: { readonly at: number; readonly wake: () => void }[] = [];
  const timers: Timers = {
    monotonicMs: () => now,
    sleep: (ms) => new Promise((wake) => asleep.push({ at: now + ms, wake })),
    soon: (work) => queueMicrotask(work),
    later: (_ms, work) => queueMicrotask(work),
  };
  return {
    timers,
    async to(ms: number) {
      for (;;) {
        asleep.sort((a, b) => a.at - b.at);
        const next = asleep[0];
        if (next === undefined || next.at > ms) break;
        asleep.shift();
        now = Math.max(now, next.at);
        next.wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = ms;
    },
  };
}

const never = new AbortController().signal;

describe('a turn is used when the request can go', () => {
  it('keeps to the rate when several connections come at once, long after their turns', async () => {
    const time = clock();
    const pace = createRateLimiter(2, never, time.timers);
    const turns = [pace.token(), pace.token(), pace.token()];
    await time.to(3000);
    await Promise.all(turns);
    expect([pace.take(), pace.take(), pace.take()]).toEqual([true, false, false]);
    await time.to(3481);
    expect([pace.take(), pace.take()]).toEqual([true, false]);
  });

  it('is not used while all requests are held back', async () => {
    const time = clock();
    const pace = createRateLimiter(null, never, time.timers);
    expect([pace.token(), pace.take()]).toEqual([undefined, true]);
    pace.hold(5000);
    expect(pace.take()).toBe(false);
    await time.to(6000);
    expect(pace.take()).toBe(true);
  });

  it('those who were held back go one after the other, not all at once (F5)', async () => {
    const time = clock();
    const pace = createRateLimiter(2, never, time.timers);
    const went: number[] = [];
    expect(pace.token()).toBeUndefined();
    for (let i = 0; i < 3; i++) void pace.token()?.then(() => went.push(time.timers.monotonicMs()));
    pace.hold(7000);
    await time.to(20_000);
    expect(went).toEqual([8000, 8500, 9000]);
  });

  it('goes on at a low rate although each connection takes its time', async () => {
    const time = clock();
    const pace = createRateLimiter(1 / 60, never, time.timers);
    const went: number[] = [];
    for (let i = 0; i < 3; i++) {
      const turn = pace.token();
      if (turn !== undefined) {
        await time.to(time.timers.monotonicMs() + 60_000);
        await turn;
      }
      await time.to(time.timers.monotonicMs() + 500);
      if (pace.take()) went.push(time.timers.monotonicMs());
    }
    expect(went.length).toBe(3);
  });
});
