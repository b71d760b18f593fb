import { expect, it } from 'vitest';
import type { Batch } from '../../src/send/deliver.ts';
import { createPool } from '../../src/send/throttle.ts';

/** A pool whose deliveries the test ends. */
function open(onFailure: () => void = () => undefined) {
  const underWay: { batch: number; end: (error?: Error) => void }[] = [];
  const begun: number[] = [];
  const deliver = (batch: Batch): Promise<void> =>
    new Promise((resolve, reject) => {
      const number = Number(batch);
      begun.push(number);
      const end = (error?: Error): void => {
        underWay.splice(underWay.indexOf(one), 1);
        if (error === undefined) resolve();
        else reject(error);
      };
      const one = { batch: number, end };
      underWay.push(one);
    });
  const stopping = new AbortController();
  const pool = createPool(deliver, stopping.signal, onFailure);
  const put = (batch: number) => pool.put(batch as unknown as Batch);
  return { pool, put, underWay, begun, stop: () => stopping.abort() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('has as many deliveries under way as its width allows, in the order of the list, also when the width changes', async () => {
  const { pool, put, underWay, begun } = open();
  let width = 1;
  const producing = (async () => {
    for (let n = 0; n < 200; n++) await put(n);
    await pool.idle();
  })();
  for (let round = 0; begun.length < 200 || underWay.length > 0; round++) {
    await turn();
    // After it was made narrower, those under way end first.
    expect(underWay.length).toBeLessThanOrEqual(Math.max(width, 8));
    if (round % 5 === 4 && begun.length < 190) expect(underWay.length).toBeGreaterThanOrEqual(width);
    underWay[round % underWay.length]?.end();
    if (round % 20 === 0) {
      width = [1, 8, 3, 5][(round / 20) % 4] ?? 1;
      pool.setWidth(width);
    }
  }
  await producing;
  expect(begun).toEqual(Array.from({ length: 200 }, (_, n) => n));
});

it('starts one delivery after the other while its width is 1', async () => {
  const { pool, put, underWay, begun } = open();
  const room = put(0);
  await room;
  const full = put(1);
  await turn();
  expect(begun).toEqual([0]);
  underWay[0]?.end();
  await full;
  expect(begun).toEqual([0, 1]);
  underWay[0]?.end();
  await pool.idle();
});

it('keeps the first error, and goes on with what waits', async () => {
  let failures = 0;
  const { pool, put, underWay, begun } = open(() => {
    failures += 1;
  });
  await put(0);
  const full = put(1);
  underWay[0]?.end(new Error('first'));
  await full;
  underWay[0]?.end(new Error('second'));
  await pool.idle();
  expect([begun, failures, pool.failure?.message]).toEqual([[0, 1], 2, 'first']);
});

it('begins none of those that wait once the start is stopped', async () => {
  const { pool, put, underWay, begun, stop } = open();
  await put(0);
  const full = put(1);
  stop();
  underWay[0]?.end();
  await full;
  await pool.idle();
  expect(begun).toEqual([0]);
});
