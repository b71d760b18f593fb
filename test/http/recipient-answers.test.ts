import { describe, expect, it, test } from 'vitest';
import { isRecognised } from '../../src/http/classify.ts';
import type { Attempt } from '../../src/model.ts';
import { createRedactor } from '../../src/util/redact.ts';
import { golden } from '../helpers/golden.ts';
import { ANN, answered, BEN, CAT, DENIED, DOUBT, judge, REFUSED, THREE, told, UNSUPPORTED } from './answers.ts';
import { rules, wireOf } from './wire.ts';

golden(
  'each recipient gets what an answer says of it, whatever the order of its entries',
  'http/recipient-answers',
  (input, label) => {
    const lines = input.split('\n').map((line) => JSON.parse(line));
    const recipients = label.startsWith('one: ') ? [ANN] : THREE;
    const wire = wireOf(lines.length === 1 ? {} : lines[0]);
    const answer = JSON.stringify(lines.at(-1));
    const turned = JSON.parse(answer, (_key, value) => (Array.isArray(value) ? value.reverse() : value));
    const [said, other] = [JSON.parse(answer), turned].map((one) =>
      told(answered(one, { recipients, wire })).join(', '),
    );
    return said === other ? [said] : [said, `turned: ${other}`];
  },
);

describe('what an answer leaves open (D2)', () => {
  const entry = ({ to }: { to: string }, more: object = {}): object => ({ to, ...more });
  it('two recipients with one address have an entry each, or one of them is in doubt', () => {
    const twins = [ANN, { to: ANN.to, reference: 'ref-twin' }];
    const two = { recipients: [entry(ANN, { id: '1' }), entry(ANN, { id: '2' })] };
    const one = { recipients: [entry(ANN, { id: '1' })] };
    const refused = { recipients: [entry(ANN, { error: 'no' })] };
    const mixed = { recipients: [entry(ANN, { id: '1' }), entry(ANN, { error: 'no' })] };
    expect(told(answered(two, { recipients: twins }))).toEqual(['accepted 1', 'accepted 2']);
    expect(told(answered(one, { recipients: twins }))).toEqual(['accepted 1', DOUBT]);
    expect(told(answered(refused, { recipients: twins }))).toEqual([REFUSED, REFUSED]);
    expect(told(answered(mixed, { recipients: twins }))).toEqual([DENIED, DENIED]);
  });

  it('halts where the first answer of a start is about no recipient', () => {
    const nobody = answered({ messages: [entry({ to: '+447700900999' })] }, { firstAnswer: true });
    expect(nobody.map(({ halt }) => halt)).toEqual(['not-the-api', 'not-the-api', 'not-the-api']);
    const somebody = answered({ messages: [entry(ANN, { error: 'no' })] }, { firstAnswer: true });
    expect(somebody.map(({ halt }) => halt)).toEqual([null, null, null]);
    expect(somebody.map(isRecognised)).toEqual([true, false, false]);
  });
});

describe('settings', () => {
  it('take plain text where the project says so', () => {
    const body = 'OK';
    expect(told(judge({ body }))).toEqual([DOUBT, DOUBT, DOUBT]);
    const wire = wireOf({ response: { accept: 'any' } });
    expect(told(judge({ body }, { wire }))).toEqual(['accepted null', 'accepted null', 'accepted null']);
  });

  it('keeps digits that a double cannot hold', () => {
    const body = `{"messages":[{"to":447700900101,"id":12345678901234567890},{"to":"${BEN.to}","id":1.5}]}`;
    expect(told(judge({ body }, { recipients: [ANN, BEN] }))).toEqual([
      'accepted 12345678901234567890',
      'accepted 1.5',
    ]);
  });

  it('gives each refusal its own text, redacted and cut', () => {
    const wire = wireOf({}, createRedactor(['SEKRET-0123456789']));
    const [a, b, c] = answered(
      {
        recipients: [
          { to: ANN.to, error: { code: 7, message: 'No such number.' } },
          { to: BEN.to, status: { groupName: 'REJECTED', description: 'SEKRET-0123456789 is blocked' } },
          { to: CAT.to, status: 'failed', extra: 'x'.repeat(5_000) },
        ],
      },
      { wire },
    );
    expect(a?.error).toBe('No such number.');
    expect(b?.error).not.toContain('SEKRET');
    expect(b?.error).toContain('is blocked');
    expect(Buffer.byteLength(c?.error ?? '')).toBe(2_048);
  });
});

describe('cannot receive the channel', () => {
  it('is said of one recipient among several', () => {
    const answer = {
      messages: [
        { to: ANN.to, id: '1', status: 'accepted' },
        { to: BEN.to, status: 'rejected', error: { code: 'CHANNEL_NOT_SUPPORTED', message: 'No RCS.' } },
        { to: CAT.to, status: 'rejected', error: { code: 'blocked' } },
      ],
    };
    const verdicts = answered(answer);
    expect(told(verdicts)).toEqual(['accepted 1', UNSUPPORTED, REFUSED]);
    expect(verdicts[1]?.error).toBe('No RCS.');
  });

  it('splits a request when it is said of all of it, because it may be about one', () => {
    for (const facts of [{ status: 404 }, { status: 422, body: '{"code":"channel-not-supported"}' }]) {
      const wire = wireOf(rules('status: 404, then: unsupported'));
      const verdicts = judge(facts, { wire, firstAnswer: true });
      expect(told(verdicts)).toEqual(Array(3).fill('pending unsupported-channel'));
      expect(verdicts.every(({ split, again, halt }) => split && !again && halt === null)).toBe(true);
    }
  });
});

describe('requests as a whole (F1)', () => {
  it('are split where they are too large', () => {
    const verdicts = judge({ status: 413 });
    expect(told(verdicts)).toEqual(Array(3).fill('pending too-large'));
    expect(verdicts.every(({ split, again }) => split && !again)).toBe(true);
    expect(verdicts.some(isRecognised)).toBe(false);
  });
  it('are not split where there is one recipient, or another status', () => {
    expect(judge({ status: 413 }, { recipients: [ANN] })[0]).toMatchObject({ outcome: 'rejected', split: false });
    expect(judge({ status: 422 })[0]).toMatchObject({ outcome: 'rejected', split: false });
    const wire = wireOf(rules('status: 422, then: refused'));
    expect(judge({ status: 422 }, { wire })[0]).toMatchObject({ outcome: 'pending', reason: 'too-large', split: true });
    expect(judge({ status: 422 }, { wire, recipients: [ANN] })[0]).toMatchObject({ reason: 'refused', split: false });
  });

  const same: readonly [label: string, facts: Partial<Attempt>][] = [
    ['nothing was sent', { phase: 'P1', status: null, error: { code: 'ECONNREFUSED', message: 'm' } }],
    ['no answer', { phase: 'P2', status: null, error: { code: 'ECONNRESET', message: 'm' } }],
    ['429', { status: 429, retryAfter: '7' }],
    ['401', { status: 401 }],
    ['500 with a list', { status: 500, body: JSON.stringify({ recipients: THREE }) }],
    ['400 with a list', { status: 400, body: JSON.stringify({ recipients: THREE }) }],
    ['a body that broke off', { phase: 'P3', error: { code: 'ECONNRESET', message: 'm' }, body: '{"recipients":[]}' }],
    ['HTML', { body: '<html>' }],
    ['half of JSON', { body: `{"recipients":[{"to":"${ANN.to}"}` }],
    ['nothing', { body: '' }],
  ];
  test.each(same)('say the same of all recipients: %s', (_label, facts) => {
    const [one] = judge(facts, { recipients: [ANN] });
    expect(judge(facts)).toEqual([one, one, one]);
  });
});
