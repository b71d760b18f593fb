import { describe, expect, it, test } from 'vitest';
import type { WireFile } from '../../src/campaign/written.ts';
import { isRecognised, type Verdict } from '../../src/http/classify.ts';
import type { Attempt } from '../../src/model.ts';
import { ANN, judge } from './answers.ts';
import { wireOf } from './wire.ts';

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

describe('settings', () => {
  it('a status says it too, before it says that the address is wrong', () => {
    expect(one({ status: 404 }, {}, true)).toMatchObject({ outcome: 'pending', halt: 'wrong-address' });
    const wire = { unsupportedChannel: { statuses: [404] } };
    expect(one({ status: 404 }, wire, true)).toMatchObject({ outcome: 'rejected', reason: 'unsupported-channel' });
    expect(one({ status: 404, body: '{"code":"other"}' }, wire)).toMatchObject({ reason: 'unsupported-channel' });
    expect(one({ status: 410 }, wire, true)).toMatchObject({ outcome: 'pending', halt: 'wrong-address' });
  });

  it('a status with the page of a web server is about no recipient', () => {
    const page = { status: 404, contentType: 'text/html', body: '<html>Not Found</html>' };
    const wire = { unsupportedChannel: { statuses: [404] } };
    expect(one(page, wire, true)).toMatchObject({ outcome: 'pending', halt: 'wrong-address' });
    expect(one(page, wire)).toMatchObject({ outcome: 'rejected', reason: 'status' });
  });

  it('codes and places replace those of the default, each by itself', () => {
    const codes: WireFile = { unsupportedChannel: { codes: ['1300'] } };
    expect(one({ status: 422, body: '{"code":1300}' }, codes).reason).toBe('unsupported-channel');
    expect(one({ status: 422, body: CODE }, codes).reason).toBe('status');
    const places: WireFile = { unsupportedChannel: { codeAt: ['/why'] } };
    expect(one({ status: 422, body: '{"why":"CHANNEL_NOT_SUPPORTED"}' }, places).reason).toBe('unsupported-channel');
    expect(one({ status: 422, body: CODE }, places).reason).toBe('status');
    expect(one({ status: 422, body: CODE }, { unsupportedChannel: { codes: [] } }).reason).toBe('status');
  });

  it('a code comes before trying again', () => {
    const wire = { retryStatuses: [409] };
    expect(one({ status: 409 }, wire)).toMatchObject({ again: true });
    expect(one({ status: 409, body: CODE }, wire)).toMatchObject({ again: false, reason: 'unsupported-channel' });
  });
});
