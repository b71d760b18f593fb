import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Exchange } from '../../src/http/connection.ts';
import { createAnswering } from '../../src/http/connection-answers.ts';
import { Fault, toAttemptError } from '../../src/http/fault.ts';
import type { Attempt } from '../../src/model.ts';

/** An exchange whose hooks are called here as undici calls them, in orders that no server can bring about. */
function start(startedAt = performance.now()): { exchange: Exchange; attempts: Attempt[] } {
  const attempts: Attempt[] = [];
  const target = { path: '/v2/messages', contentType: 'application/json' };
  const posted = { body: '{}', reference: 'r', target, authorization: null };
  const exchange = new Exchange(posted, startedAt, 1_000, (attempt) => attempts.push(attempt));
  return { exchange, attempts };
}

const UP = { code: 'HANDBILL_TIMEOUT', message: 'x' };

describe('an exchange', () => {
  it('refuses to be sent a second time, and the first start decides (B10)', () => {
    const { exchange, attempts } = start();
    exchange.onRequestStart();
    expect(() => exchange.onRequestStart()).toThrow(expect.objectContaining({ code: 'HANDBILL_STARTED_TWICE' }));
    exchange.onResponseError(null, new Fault('HANDBILL_STARTED_TWICE', 'x'));
    expect(attempts).toMatchObject([{ phase: 'P2', status: null, error: { code: 'HANDBILL_STARTED_TWICE' } }]);
  });

  it('refuses to be sent when its time is nearly up (rule 7)', () => {
    const { exchange, attempts } = start(performance.now() - 750);
    expect(() => exchange.onRequestStart()).toThrow(expect.objectContaining({ code: 'HANDBILL_TIMEOUT' }));
    exchange.onResponseError(null, new Fault('HANDBILL_TIMEOUT', 'x'));
    expect(attempts).toMatchObject([{ phase: 'P1' }]);
  });

  it('refuses to be sent when it has ended before', () => {
    const { exchange, attempts } = start();
    exchange.fail({ code: 'HANDBILL_STOPPED', message: 'x' });
    expect(() => exchange.onRequestStart()).toThrow(expect.objectContaining({ code: 'HANDBILL_STOPPED' }));
    expect(attempts).toMatchObject([{ phase: 'P1', error: { code: 'HANDBILL_STOPPED' } }]);
  });

  it('ends once, whatever comes later', () => {
    const { exchange, attempts } = start();
    exchange.onRequestStart();
    exchange.onResponseStart(null, 202, {});
    exchange.onResponseEnd();
    exchange.onResponseError(null, new Error('late'));
    exchange.fail(UP);
    expect(attempts).toMatchObject([{ phase: 'P4', status: 202, error: null }]);
  });

  it('tells its carrier when it is ended from outside', () => {
    const { exchange, attempts } = start();
    const told: Exchange[] = [];
    exchange.carrier = {
      idHeader: null,
      answering: createAnswering(() => undefined),
      socketError: null,
      endedUnanswered() {},
      finished: (one) => told.push(one),
    };
    exchange.onRequestStart();
    exchange.fail(UP);
    expect([told, exchange.clean]).toEqual([[exchange], false]);
    expect(attempts).toMatchObject([{ phase: 'P2', error: { code: 'HANDBILL_TIMEOUT' } }]);
  });

  it('uses the first of two headers with the same name', () => {
    const { exchange, attempts } = start();
    exchange.onRequestStart();
    exchange.onResponseStart(null, 429, { 'retry-after': ['5', '7'] });
    exchange.onResponseEnd();
    expect(attempts).toMatchObject([{ retryAfter: '5', contentType: null }]);
  });

  it('reads the same text however the body was cut', () => {
    const text = '{"id":"é-€-😀-\ufeff-x"} und Ähnliches: ü';
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 9 }), (places) => {
        const { exchange, attempts } = start();
        exchange.onRequestStart();
        exchange.onResponseStart(null, 202, {});
        const cuts = [0, ...places.toSorted((a, b) => a - b), bytes.length];
        for (const [i, cut] of cuts.entries()) exchange.onResponseData(null, bytes.subarray(cut, cuts[i + 1] ?? cut));
        exchange.onResponseEnd();
        expect(attempts[0]?.body).toBe(text);
      }),
    );
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
