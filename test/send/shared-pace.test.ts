import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SharedTurns } from '../../src/ledger/connection.ts';
import { createSharedRateLimiter } from '../../src/send/throttle.ts';
import type { Timers } from '../../src/send/timers.ts';

/** Time that passes as soon as all wait for it. */
function createTime() {
  let nowMs = 1000;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const timers: Timers = {
    monotonicMs: () => nowMs,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ atMs: nowMs + Math.max(0, ms), wake });
      }),
    soon: (work) => void setImmediate(work),
    later: (ms, work) => void timers.sleep(ms, new AbortController().signal).then(work),
  };
  const passUntil = async (untilMs: number): Promise<void> => {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      sleepers.sort((a, b) => a.atMs - b.atMs);
      const [first] = sleepers;
      if (first === undefined || first.atMs > untilMs) break;
      sleepers.shift();
      nowMs = Math.max(nowMs, first.atMs);
      first.wake();
    }
    nowMs = untilMs;
  };
  return { timers, passUntil, now: () => nowMs };
}

/** As the ledger gives them out (postgres-connection.ts). */
function createYields(now: () => number, ratePerSecond: number): SharedTurns {
  let nextAt = 0;
  let heldUntil = 0;
  return {
    take(count) {
      const first = Math.max(nextAt, now() - 20, heldUntil);
      nextAt = first + (count * 1000) / ratePerSecond;
      return { inMs: first - now(), heldMs: heldUntil - now() };
    },
    hold(ms) {
      heldUntil = Math.max(heldUntil, now() + ms);
    },
  };
}

interface Sender {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly lanes: number;
  /** How long a request takes. */
  readonly latencyMs: number;
  /** Its own rate, if it is lower. */
  readonly ratePerSecond?: number;
}

/** When requests went, by all senders. */
async function play(ratePerSecond: number, senders: readonly Sender[], forMs: number): Promise<number[][]> {
  const { timers, passUntil, now } = createTime();
  const turns = createYields(now, ratePerSecond);
  const went = senders.map((): number[] => []);
  const begin = now();
  const send = async (sender: Sender, own: number[]): Promise<void> => {
    const stopping = new AbortController();
    await timers.sleep(sender.fromMs, stopping.signal);
    const given = { turns: [turns], sharedPerSecond: ratePerSecond, stopped: stopping.signal, timers };
    const pace = createSharedRateLimiter({ ...given, ratePerSecond: sender.ratePerSecond ?? ratePerSecond });
    void timers.sleep(sender.untilMs - sender.fromMs, stopping.signal).then(() => stopping.abort());
    const lane = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        await pace.token();
        if (stopping.signal.aborted) return;
        if (!pace.take()) continue;
        own.push(now() - begin);
        await timers.sleep(sender.latencyMs, stopping.signal);
      }
    };
    await Promise.all(Array.from({ length: sender.lanes }, lane));
  };
  for (const [i, sender] of senders.entries()) void send(sender, went[i] ?? []);
  await passUntil(begin + forMs);
  return went;
}

function inWindow(all: readonly number[], fromMs: number, untilMs: number): number {
  return all.filter((ms) => ms >= fromMs && ms < untilMs).length;
}

const BUSY = { lanes: 32, latencyMs: 10 };

describe('the rate of an environment, shared', () => {
  it.each([1, 2, 4, 8])('%i that send all the time reach it together, and no more', async (count) => {
    const senders = Array.from({ length: count }, () => ({ ...BUSY, fromMs: 0, untilMs: 30_000 }));
    const went = await play(400, senders, 30_000);
    const all = went.flat().sort((a, b) => a - b);
    expect(Math.abs(all.length - 12_000)).toBeLessThan(240);
    for (let from = 0; from < 29_000; from += 250) {
      expect(inWindow(all, from, from + 1000)).toBeLessThanOrEqual(420);
    }
    // No process is left with nothing.
    for (const own of went) expect(own.length).toBeGreaterThan(12_000 / count / 4);
  });

  it('joining and leaving change nothing about the sum', async () => {
    const moments = fc.record({
      fromMs: fc.integer({ min: 0, max: 8000 }),
      forMs: fc.integer({ min: 200, max: 12_000 }),
      lanes: fc.integer({ min: 1, max: 64 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(moments, { maxLength: 7 }),
        fc.integer({ min: 20, max: 2000 }),
        async (others, rate) => {
          const senders = others.map(({ fromMs, forMs, lanes }) => ({
            ...{ fromMs, lanes, latencyMs: 5 },
            untilMs: Math.min(20_000, fromMs + forMs),
          }));
          const went = await play(rate, [{ ...BUSY, fromMs: 0, untilMs: 20_000 }, ...senders], 20_000);
          const all = went.flat();
          expect(all.length).toBeLessThanOrEqual(rate * 20.05 + 2);
          expect(all.length).toBeGreaterThanOrEqual(rate * 20 * 0.98 - 2);
          for (let from = 0; from < 19_000; from += 500) {
            expect(inWindow(all, from, from + 1000)).toBeLessThanOrEqual(Math.ceil(rate * 1.05) + 1);
          }
        },
      ),
      { numRuns: 8 },
    );
  }, 120_000);

  it('one that waits for a slow API, or for its own rate, leaves the rest to the others', async () => {
    const slow = { fromMs: 0, untilMs: 20_000, lanes: 2, latencyMs: 500 };
    const low = { ...BUSY, fromMs: 0, untilMs: 20_000, ratePerSecond: 10 };
    const went = await play(200, [slow, low, { ...BUSY, fromMs: 0, untilMs: 20_000 }], 20_000);
    expect(went.flat().length).toBeGreaterThan(200 * 20 * 0.97);
    expect(went[0]?.length).toBeGreaterThan(60);
    // Its own rate is a bound: it also waits for the turns of all.
    expect(went[1]?.length).toBeGreaterThan(160);
    expect(went[1]?.length).toBeLessThan(205);
  });

  it('what the API asks one of them holds back all', async () => {
    const { timers, passUntil, now } = createTime();
    const turns = createYields(now, 100);
    const stopped = new AbortController().signal;
    const given = { turns: [turns], sharedPerSecond: 100, ratePerSecond: 100, stopped, timers };
    const [one, other] = [createSharedRateLimiter(given), createSharedRateLimiter(given)];
    const went: number[] = [];
    const begin = now();
    const lane = async (): Promise<void> => {
      for (;;) {
        await other.token();
        if (other.take()) went.push(now() - begin);
      }
    };
    void lane();
    await passUntil(begin + 2000);
    one.hold(5000);
    await passUntil(begin + 12_000);
    // What was taken before it was told: a block at most.
    expect(inWindow(went, 2060, 6990)).toBe(0);
    expect(inWindow(went, 7000, 12_000)).toBeGreaterThan(480);
  });

  it('a ledger that cannot be asked does not stop the run by itself, nor let it go faster', async () => {
    const { timers, passUntil, now } = createTime();
    const broken = () => {
      throw new Error('gone');
    };
    const given = { turns: [{ take: broken, hold: broken }], sharedPerSecond: 100, ratePerSecond: 100 };
    const pace = createSharedRateLimiter({ ...given, stopped: new AbortController().signal, timers });
    let count = 0;
    const begin = now();
    const lane = async (): Promise<void> => {
      for (;;) {
        await pace.token();
        if (pace.take()) count += 1;
      }
    };
    void lane();
    void lane();
    pace.hold(10);
    await passUntil(begin + 1000);
    expect(count).toBeGreaterThan(90);
    expect(count).toBeLessThanOrEqual(103);
  });
});
