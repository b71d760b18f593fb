import { describe, expect, it } from 'vitest';
import { causeOf } from '../../src/report/causes.ts';
import { outcome } from './examples.ts';

describe('why a message failed', () => {
  it.each([
    ['the words of a delivery report', 'Absent subscriber 447700900001', 'Absent subscriber …'],
    ['its code, after its state', '30005', 'undeliverable: 30005'],
    ['its state, where it says an id alone', '447700900001', 'undeliverable'],
    ['its state, where it says nothing', null, 'undeliverable'],
  ])('%s', (_label, error, cause) => {
    expect(causeOf(outcome({ delivery: 'undeliverable', error }))).toBe(cause);
  });

  it('a status, and the code that came with it', () => {
    const refused = { outcome: 'rejected', reason: 'status', httpStatus: 400 } as const;
    expect(causeOf(outcome({ ...refused, error: '21211' }))).toBe('HTTP 400: 21211');
    expect(causeOf(outcome({ ...refused, error: 'ann@example.com' }))).toBe('HTTP 400');
  });
});
