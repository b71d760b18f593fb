import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { createRateLimiter, createSlowStart } from '../../src/send/throttle.ts';

const never = () => new AbortController().signal;

describe('pace', () => {
  it('lets all requests go at once without a rate', () => {
    const pace = createRateLimiter(null, never());
    expect(pace.token()).toBeUndefined();
    expect(pace.token()).toBeUndefined();
  });

  it('spreads turns over the time that the rate asks for', async () => {
    const pace = createRateLimiter(200, never());
    const began = performance.now();
    const turns = Array.from({ length: 61 }, () => pace.token() ?? Promise.resolve());
    await Promise.all(turns);
    // 60 intervals of 5 ms, less the 20 ms that a late turn may catch up; above that only the machine decides.
    expect(performance.now() - began).toBeGreaterThanOrEqual(275);
  });

  it('holds back all requests, with and without a rate', async () => {
    for (const rate of [null, 1000]) {
      const pace = createRateLimiter(rate, never());
      pace.hold(60);
      const began = performance.now();
      await Promise.all([pace.token(), pace.token(), pace.token()]);
      expect(performance.now() - began).toBeGreaterThanOrEqual(58);
    }
  });

  it('holds back those who were waiting for their turn already', async () => {
    const pace = createRateLimiter(50, never());
    const began = performance.now();
    const turns = [pace.token(), pace.token(), pace.token(), pace.token()];
    pace.hold(150);
    await turns[3];
    expect(performance.now() - began).toBeGreaterThanOrEqual(148);
  });

  it('wakes up when the run stops', async () => {
    const stopping = new AbortController();
    const pace = createRateLimiter(null, stopping.signal);
    pace.hold(60_000);
    const waiting = pace.token();
    expect(waiting).toBeInstanceOf(Promise);
    stopping.abort();
    await waiting;
    await pace.pause(60_000);
  });
});

describe('slowStart', () => {
  const slowStart = (concurrency: number) => {
    const widths: number[] = [];
    return { slowStart: createSlowStart(concurrency, (width) => widths.push(width)), widths };
  };

  it('keeps one request in flight until the first acceptance, then adds one with each', () => {
    const { slowStart: r, widths } = slowStart(4);
    expect(r.width).toBe(1);
    for (let i = 0; i < 10; i++) r.accepted();
    expect(widths).toEqual([2, 3, 4]);
  });

  it('halves after a 429, and then grows by one per round trip', () => {
    const { slowStart: r } = slowStart(16);
    for (let i = 0; i < 20; i++) r.accepted();
    r.throttled();
    expect(r.width).toBe(8);
    for (let i = 0; i < 7; i++) r.accepted();
    expect(r.width).toBe(8);
    r.accepted();
    expect(r.width).toBe(9);
    for (let i = 0; i < 10; i++) r.throttled();
    expect(r.width).toBe(1);
  });

  it('leaves one lane while retries are more than a tenth of the requests', () => {
    const { slowStart: r } = slowStart(16);
    for (let i = 0; i < 20; i++) r.accepted();
    r.retried(10, 50);
    expect(r.width).toBe(16);
    r.retried(11, 50);
    expect(r.width).toBe(1);
    r.accepted();
    expect(r.width).toBe(1);
    r.retried(11, 200);
    r.accepted();
    expect(r.width).toBe(2);
  });
});
