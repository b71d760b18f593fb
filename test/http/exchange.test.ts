import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerHead } from '../../src/http/answer-parser.ts';
import { Exchange } from '../../src/http/exchange.ts';
import { Fault, toAttemptError } from '../../src/http/fault.ts';
import type { Attempt } from '../../src/model.ts';

/** An exchange whose hooks are called here as its lane calls them, in orders that no server can bring about. */
function start(startedAt = performance.now()): { exchange: Exchange; attempts: Attempt[] } {
  const attempts: Attempt[] = [];
  const exchange = new Exchange('{}', 'r', startedAt, 1_000, 65_536, (attempt) => attempts.push(attempt));
  return { exchange, attempts };
}

const HEAD: AnswerHead = { status: 202, contentType: null, contentEncoding: null, retryAfter: null };

describe('an exchange', () => {
  it('B10: refuses to be sent a second time, and the first start decides', () => {
    const { exchange, attempts } = start();
    expect(exchange.begin(performance.now())).toBeNull();
    const refused = exchange.begin(performance.now());
    expect(refused).toMatchObject({ code: 'HANDBILL_STARTED_TWICE' });
    exchange.fail(refused ?? new Error('never'));
    expect(attempts).toMatchObject([{ phase: 'P2', status: null, error: { code: 'HANDBILL_STARTED_TWICE' } }]);
  });

  it('refuses to be sent when its time is nearly up (rule 7)', () => {
    const { exchange, attempts } = start(5_000);
    expect(exchange.begin(5_750)).toMatchObject({ code: 'HANDBILL_TIMEOUT' });
    exchange.fail(new Fault('HANDBILL_TIMEOUT', 'x'));
    expect(attempts).toMatchObject([{ phase: 'P1' }]);
    expect(start(5_000).exchange.begin(5_749)).toBeNull();
  });

  it('refuses to be sent when it has ended before', () => {
    const { exchange, attempts } = start();
    exchange.fail(new Fault('HANDBILL_STOPPED', 'x'));
    expect(exchange.begin(performance.now())).toMatchObject({ code: 'HANDBILL_STOPPED' });
    expect(attempts).toMatchObject([{ phase: 'P1', error: { code: 'HANDBILL_STOPPED' } }]);
  });

  it('ends once, whatever comes later', () => {
    const { exchange, attempts } = start();
    exchange.begin(performance.now());
    exchange.head(HEAD);
    exchange.end();
    exchange.fail(new Error('late'));
    exchange.fail(new Fault('HANDBILL_TIMEOUT', 'late'));
    expect(attempts).toMatchObject([{ phase: 'P4', status: 202, error: null }]);
  });

  it('tells its carrier when it is ended from outside', () => {
    const { exchange, attempts } = start();
    const told: Exchange[] = [];
    exchange.carrier = { connection: null, settled: (one) => told.push(one) };
    exchange.begin(performance.now());
    exchange.fail(new Fault('HANDBILL_TIMEOUT', 'up'));
    expect([told, exchange.clean]).toEqual([[exchange], false]);
    expect(attempts).toMatchObject([{ phase: 'P2', error: { code: 'HANDBILL_TIMEOUT' } }]);
  });

  it('reads the same text however the body was cut', () => {
    const text = '{"id":"é-€-😀-\ufeff-x"} und Ähnliches: ü';
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 9 }), (places) => {
        const { exchange, attempts } = start();
        exchange.begin(performance.now());
        exchange.head(HEAD);
        const cuts = [0, ...places.toSorted((a, b) => a - b), bytes.length];
        for (const [i, cut] of cuts.entries()) {
          // As the parser does it: the bytes are others as soon as the call returns.
          const chunk = Buffer.from(bytes);
          exchange.data(chunk, cut, cuts[i + 1] ?? cut);
          chunk.fill(0);
        }
        exchange.end();
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
