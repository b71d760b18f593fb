import { describe, expect, test } from 'vitest';
import { isOneOf, isSame } from '../../src/util/secret.ts';
import { rememberIds } from '../../src/webhook/receive-request.ts';

describe('ids', () => {
  const body = (text: string) => Buffer.from(text);

  test('come again with the same body, never with another', () => {
    const ids = rememberIds(1000);
    expect(ids.isReused('a', body('1'), 0)).toBe(false);
    expect(ids.isReused('a', body('1'), 10)).toBe(false);
    expect(ids.isReused('a', body('2'), 20)).toBe(true);
    expect(ids.isReused('b', body('2'), 20)).toBe(false);
  });

  test.each([0, 1, 499, 999, 1000])('are known for twice the tolerance, whenever they came (%d)', (firstMs) => {
    const ids = rememberIds(1000);
    // Others keep the generations moving.
    for (let ms = 0; ms <= firstMs + 2000; ms += 50) {
      if (ms <= firstMs && firstMs < ms + 50) ids.isReused('a', body('1'), firstMs);
      ids.isReused(`other ${ms}`, body('x'), ms);
    }
    expect(ids.isReused('a', body('2'), firstMs + 2000)).toBe(true);
  });

  test('are forgotten after that', () => {
    const ids = rememberIds(1000);
    ids.isReused('a', body('1'), 0);
    for (let ms = 0; ms <= 5000; ms += 100) ids.isReused(`other ${ms}`, body('x'), ms);
    expect(ids.isReused('a', body('2'), 5000)).toBe(false);
  });

  test('a flood of them takes no more memory than three generations', () => {
    const ids = rememberIds(1000, 10);
    ids.isReused('first', body('1'), 0);
    for (let i = 0; i < 29; i++) ids.isReused(`flood ${i}`, body('x'), 0);
    expect(ids.isReused('first', body('2'), 0)).toBe(false);
    expect(ids.isReused('flood 28', body('y'), 0)).toBe(true);
  });
});

test.each([
  ['', '', true],
  ['a', 'a', true],
  ['a', 'b', false],
  ['a', '', false],
  ['a', 'aa', false],
  ['ä', 'a\u0308', false],
])('%j and %j', (a, b, expected) => {
  expect(isSame(a, b)).toBe(expected);
  expect(isOneOf(a, ['none', b])).toBe(expected);
  expect(isOneOf(Buffer.from(a), [Buffer.from(b), 'none'])).toBe(expected);
});
