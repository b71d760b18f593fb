import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createLatency, readLatency } from '../../src/report/latency.ts';

const fill = (values: readonly number[]) => {
  const latency = createLatency();
  for (const value of values) latency.add(value);
  return latency;
};

const latencies = fc.array(fc.double({ min: 0.02, max: 600_000, noNaN: true }), { minLength: 1, maxLength: 300 });

describe('percentiles', () => {
  it('are within 2% of the exact ones', () => {
    fc.assert(
      fc.property(latencies, fc.integer({ min: 0, max: 100 }), (values, p) => {
        const sorted = values.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil((p / 100) * sorted.length)) - 1] ?? 0;
        const found = fill(values).percentile(p);
        expect(Math.abs(found - exact) / exact).toBeLessThan(0.02);
        expect(found).toBeGreaterThanOrEqual(sorted[0] ?? 0);
        expect(found).toBeLessThanOrEqual(sorted.at(-1) ?? 0);
      }),
    );
  });
  it('are 0 without a request, and exact for a single one', () => {
    expect(createLatency().figures()).toEqual({ p50: 0, p95: 0, p99: 0 });
    expect(fill([12.345]).figures()).toEqual({ p50: 12.35, p95: 12.35, p99: 12.35 });
  });
  it('leave out what is not a latency, and hold what is off the scale', () => {
    const latency = fill([Number.NaN, -1, Number.POSITIVE_INFINITY, 0, 1e12]);
    expect(latency.count).toBe(2);
    expect(latency.percentile(50)).toBeLessThanOrEqual(0.02);
    expect(latency.percentile(100)).toBeGreaterThan(80_000_000);
  });
});

describe('over several starts', () => {
  it('saved, stored as JSON and merged is the same as measured at once', () => {
    fc.assert(
      fc.property(latencies, latencies, (first, second) => {
        const saved = readLatency(JSON.parse(JSON.stringify(fill(first).save())));
        const continued = createLatency(saved);
        for (const value of second) continued.add(value);
        expect(continued.save()).toEqual(fill([...first, ...second]).save());
        expect(continued.count).toBe(first.length + second.length);
      }),
    );
  });
  it('merging nothing changes nothing', () => {
    const latency = fill([1, 2, 3]);
    const before = latency.save();
    latency.merge(createLatency().save());
    expect(latency.save()).toEqual(before);
  });
  it('is small', () => {
    const latency = createLatency();
    for (let i = 0; i < 100_000; i++) latency.add(5 + (i % 400));
    expect(JSON.stringify(latency.save()).length).toBeLessThan(4096);
  });
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['another version', { version: 2, minMs: 0, maxMs: 0, buckets: [] }],
    ['a bucket that is none', { version: 1, minMs: 0, maxMs: 1, buckets: [[100_000, 1]] }],
    ['a broken pair', { version: 1, minMs: 0, maxMs: 1, buckets: [[1]] }],
    ['a count below one', { version: 1, minMs: 0, maxMs: 1, buckets: [[1, -5]] }],
    ['no figures', { version: 1 }],
  ])('%s is not read', (_label, json) => {
    expect(readLatency(json)).toBeNull();
  });
});
