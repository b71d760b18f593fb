import { describe, expect, it } from 'vitest';
import { Exchange } from '../../src/http/exchange.ts';
import { Fault, toAttemptError } from '../../src/http/fault.ts';
import type { Attempt } from '../../src/model.ts';

/** An exchange whose hooks are called here as undici calls them, in orders that no server can bring about. */
function start(startedAt = performance.now()): { exchange: Exchange; attempts: Attempt[] } {
  const attempts: Attempt[] = [];
  const exchange = new Exchange('{}', 'r', startedAt, 1_000, 65_536, (attempt) => attempts.push(attempt));
  return { exchange, attempts };
}

function controller(): {
  aborted: boolean;
  reason: Error | null;
  paused: boolean;
  abort(e: Error): void;
  pause(): void;
  resume(): void;
} {
  return {
    aborted: false,
    paused: false,
    reason: null,
    abort(error) {
      this.aborted = true;
      this.reason = error;
    },
    pause() {},
    resume() {},
  };
}

describe('an exchange', () => {
  it('B10: refuses to be sent a second time, and the first start decides', () => {
    const { exchange, attempts } = start();
    exchange.onRequestStart(controller());
    expect(() => exchange.onRequestStart(controller())).toThrow(
      expect.objectContaining({ code: 'HANDBILL_STARTED_TWICE' }),
    );
    exchange.onResponseError(null, new Fault('HANDBILL_STARTED_TWICE', 'x'));
    expect(attempts).toMatchObject([{ phase: 'P2', status: null, error: { code: 'HANDBILL_STARTED_TWICE' } }]);
  });

  it('refuses to be sent when its time was up before (rule 7)', () => {
    const { exchange, attempts } = start(performance.now() - 1_001);
    expect(() => exchange.onRequestStart(controller())).toThrow(expect.objectContaining({ code: 'HANDBILL_TIMEOUT' }));
    exchange.onResponseError(null, new Fault('HANDBILL_TIMEOUT', 'x'));
    expect(attempts).toMatchObject([{ phase: 'P1' }]);
  });

  it('refuses to be sent when it has ended before', () => {
    const { exchange, attempts } = start();
    exchange.stop(new Fault('HANDBILL_STOPPED', 'x'));
    expect(() => exchange.onRequestStart(controller())).toThrow(expect.objectContaining({ code: 'HANDBILL_STOPPED' }));
    expect(attempts).toMatchObject([{ phase: 'P1', error: { code: 'HANDBILL_STOPPED' } }]);
  });

  it('ends once, whatever comes later', () => {
    const { exchange, attempts } = start();
    const one = controller();
    exchange.onRequestStart(one);
    exchange.onResponseStart(one, 202, {});
    exchange.onResponseEnd();
    exchange.onResponseError(null, new Error('late'));
    exchange.stop(new Fault('HANDBILL_TIMEOUT', 'late'));
    expect(attempts).toMatchObject([{ phase: 'P4', status: 202, error: null }]);
  });

  it('aborts the request when it is ended from outside', () => {
    const { exchange, attempts } = start();
    const one = controller();
    exchange.onRequestStart(one);
    exchange.stop(new Fault('HANDBILL_TIMEOUT', 'up'));
    expect(one.aborted).toBe(true);
    expect(attempts).toMatchObject([{ phase: 'P2', error: { code: 'HANDBILL_TIMEOUT' } }]);
  });

  it('takes the first of headers that came twice', () => {
    const { exchange, attempts } = start();
    exchange.onRequestStart(controller());
    exchange.onResponseStart(null, 429, { 'retry-after': ['5', '7'] });
    exchange.onResponseEnd();
    expect(attempts).toMatchObject([{ retryAfter: '5', contentType: null }]);
  });
});

describe('an error as plain data', () => {
  it('has code and message, and nothing of the object', () => {
    const error = Object.assign(new Error('m'), { code: 'ECONNRESET', headers: { 'x-api-key': 'SEKRET' } });
    expect(toAttemptError(error)).toEqual({ code: 'ECONNRESET', message: 'm' });
    expect(toAttemptError(new TypeError('m'))).toEqual({ code: 'TypeError', message: 'm' });
    expect(toAttemptError('text')).toEqual({ code: 'UNKNOWN', message: 'text' });
  });

  it('takes the words of the first address where there are several', () => {
    const error = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1')], ''), {
      code: 'ECONNREFUSED',
    });
    expect(toAttemptError(error)).toEqual({ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED ::1' });
  });
});
