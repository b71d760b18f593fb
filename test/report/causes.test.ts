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

  it('an id goes, the brackets around it stay', () => {
    const error = 'Blocked by policy 4.2 (ref 5f0c2c1e-33aa-4f1b-9a7e-1d2f3a4b5c6d) for <ann@example.com>.';
    const cause = 'HTTP 400: Blocked by policy 4.2 (ref …) for <…>.';
    expect(causeOf(outcome({ outcome: 'rejected', reason: 'status', httpStatus: 400, error }))).toBe(cause);
  });

  it('a doubt that was resolved is no cause, a report of a loss is one', () => {
    const resolved = { reason: 'resolved', httpStatus: 500, error: 'Internal error' } as const;
    expect(causeOf(outcome({ ...resolved, outcome: 'rejected' }))).toBeNull();
    expect(causeOf(outcome({ ...resolved, delivery: 'expired' }))).toBe('Internal error');
  });

  it('a status, and the code that came with it', () => {
    const refused = { outcome: 'rejected', reason: 'status', httpStatus: 400 } as const;
    expect(causeOf(outcome({ ...refused, error: '21211' }))).toBe('HTTP 400: 21211');
    expect(causeOf(outcome({ ...refused, error: 'ann@example.com' }))).toBe('HTTP 400');
  });

  it('of a message in doubt is in words, without the error of the connection', () => {
    const lost = { outcome: 'in-doubt', httpStatus: null, error: 'UND_ERR_SOCKET: other side closed' } as const;
    expect(causeOf(outcome({ ...lost, reason: 'no-response' }))).toBe('the connection was closed without an answer');
    expect(causeOf(outcome({ ...lost, reason: 'of-another-version' }))).toBe(
      'of-another-version: UND_ERR_SOCKET: other side closed',
    );
    const unposted = {
      outcome: 'failed',
      httpStatus: null,
      reason: 'connect',
      error: 'ECONNREFUSED: refused',
    } as const;
    expect(causeOf(outcome(unposted))).toBe('no connection to the API: ECONNREFUSED: refused');
  });
});
