import { describe, expect, it, test } from 'vitest';
import type { WireFile } from '../../src/campaign/written.ts';
import { isRecognised, type Verdict } from '../../src/http/classify.ts';
import type { Attempt } from '../../src/model.ts';
import { ANN, judge } from './answers.ts';
import { rules, wireOf } from './wire.ts';

const CODE = '{"code":"channel-not-supported","detail":"No RCS."}';

function one(facts: Partial<Attempt>, wire: WireFile = {}, firstAnswer = false): Verdict {
  const [verdict] = judge(facts, { wire: wireOf(wire), recipients: [ANN], firstAnswer });
  if (verdict === undefined) throw new Error('There is no verdict.');
  return verdict;
}

describe('a code in the answer', () => {
  test.each([
    ['the problem of RFC 9457', '{"type":"https://example.com/problems/channel-not-supported","title":"x"}'],
    ['a type with a fragment', '{"type":"https://example.com/errors#UNSUPPORTED_CHANNEL"}'],
    ['at the top', '{"code":"CHANNEL_NOT_SUPPORTED"}'],
    ['inside an error', '{"error":{"code":"channelNotSupported"}}'],
    ['instead of an error', '{"error":"rcs_not_enabled"}'],
    ['in a list of errors', '{"errors":[{"code":"RECIPIENT_INVALID_CHANNEL_IDENTITY"}]}'],
    ['of Infobip', '{"requestError":{"serviceException":{"messageId":"CHANNEL_NOT_SUPPORTED","text":"x"}}}'],
  ])('%s', (_label, body) => {
    const verdict = one({ status: 422, body });
    expect(verdict).toMatchObject({ outcome: 'rejected', reason: 'unsupported-channel', again: false, halt: null });
    expect(isRecognised(verdict)).toBe(true);
  });

  test.each([
    ['another code', '{"code":"invalid-number"}'],
    ['a code that is longer', '{"code":"channel-not-supported-yet"}'],
    ['a code elsewhere', '{"note":"channel-not-supported"}'],
    ['an object', '{"code":{"a":"channel-not-supported"}}'],
    ['a code of the prototype', '{"__proto__":{"code":"channel-not-supported"}}'],
    ['text', 'channel-not-supported'],
    ['nothing', ''],
    ['half of it', '{"code":"channel-not-supported"'],
  ])('is not %s', (_label, body) => {
    expect(one({ status: 422, body })).toMatchObject({ outcome: 'rejected', reason: 'status' });
  });

  it('keeps what the API said', () => {
    expect(one({ status: 400, body: CODE }).error).toBe('No RCS.');
  });

  it('counts with every status that refuses, and with no other', () => {
    const counted: number[] = [];
    for (let status = 300; status < 600; status += 1) {
      if (one({ status, body: CODE }, {}, true).reason === 'unsupported-channel') counted.push(status);
    }
    const never = [401, 402, 403, 407, 408, 425, 429, 499];
    expect(counted).toEqual(Array.from({ length: 100 }, (_, i) => 400 + i).filter((s) => !never.includes(s)));
  });

  it('counts inside a success, also where the project calls it a failure', () => {
    const body = '{"id":"m-1","error":{"code":"channel-not-supported","message":"No RCS."}}';
    for (const wire of [{}, { response: { failed: ['/error'] } }]) {
      expect(one({ body }, wire)).toMatchObject({
        outcome: 'rejected',
        reason: 'unsupported-channel',
        messageId: 'm-1',
        error: 'No RCS.',
      });
    }
  });
});

describe('rules of an environment', () => {
  const UNSUPPORTED = rules('status: 404, then: unsupported');

  it('a status says it too, before it says that the address is wrong', () => {
    expect(one({ status: 404 }, {}, true)).toMatchObject({ outcome: 'pending', halt: 'wrong-address' });
    expect(one({ status: 404 }, UNSUPPORTED, true)).toMatchObject({
      outcome: 'rejected',
      reason: 'unsupported-channel',
    });
    expect(one({ status: 404, body: '{"code":"other"}' }, UNSUPPORTED)).toMatchObject({
      reason: 'unsupported-channel',
    });
    expect(one({ status: 410 }, UNSUPPORTED, true)).toMatchObject({ outcome: 'pending', halt: 'wrong-address' });
  });

  it('the page of a web server is about no recipient', () => {
    const page = { status: 404, contentType: 'text/html', body: '<html>Not Found</html>' };
    for (const then of ['unsupported', 'refused', 'opted-out', 'accepted'] as const) {
      const wire = rules(`status: [200, 404], then: ${then}`);
      expect(one(page, wire, true)).toMatchObject({ outcome: 'pending', halt: 'wrong-address' });
      expect(one(page, wire)).toMatchObject({ outcome: 'rejected', reason: 'status' });
      expect(one({ ...page, status: 200 }, wire)).toMatchObject({ outcome: 'in-doubt', halt: 'not-the-api' });
    }
    expect(one({ ...page, status: 503 }, rules('status: 503, then: retry'))).toMatchObject({ again: true });
  });

  it('a status alone accepts no body that the API does not give', () => {
    const wire = rules('status: 202, then: accepted');
    expect(one({ status: 202, body: '' }, wire)).toMatchObject({ outcome: 'accepted' });
    for (const body of ['{"id":"m-1"', 'ERROR', 'Thank you']) {
      expect(one({ status: 202, body }, wire).outcome).toBe('in-doubt');
    }
  });

  it('codes come beside the usual ones, and a rule comes first', () => {
    const wire = rules('codeAt: /code, code: [1300], then: unsupported');
    expect(one({ status: 422, body: '{"code":1300}' }, wire).reason).toBe('unsupported-channel');
    expect(one({ status: 422, body: CODE }, wire).reason).toBe('unsupported-channel');
    const other = rules('codeAt: /code, code: [CHANNEL_NOT_SUPPORTED], then: refused');
    expect(one({ status: 422, body: CODE }, other).reason).toBe('refused');
  });

  it('a status is tried again only where a rule says that nothing was done', () => {
    const wire = rules('status: [404, 503], then: retry');
    const again = { outcome: 'pending', reason: 'rate-limited', again: true };
    expect(one({ status: 503, retryAfter: '7' }, wire)).toMatchObject({ ...again, retryAfterMs: 7_000 });
    expect(one({ status: 404 }, wire, true)).toMatchObject({ ...again, halt: null });
    expect(one({ status: 503 })).toMatchObject({ outcome: 'in-doubt', again: false });
    const isCut = { phase: 'P3', error: { code: 'ECONNRESET', message: 'm' } } as const;
    expect(one({ status: 503, ...isCut }, wire)).toMatchObject({ outcome: 'in-doubt', again: false });
    expect(one({ status: 503, phase: 'P2' }, wire)).toMatchObject({ outcome: 'in-doubt', again: false });
  });
});
