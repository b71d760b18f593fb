import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Verdict } from '../../src/http/classify.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';
import { ANN, answered, BEN, DENIED, judge, REFUSED, stated, THREE, told } from './answers.ts';
import { wireOf } from './wire.ts';

const ACCOUNT = 'pending not-authorised';

function one(answer: unknown): string {
  return told(answered(answer, { recipients: [ANN] }))[0] ?? '';
}

describe('the body of a 2xx (D1a)', () => {
  golden(
    'an answer of one recipient says no where a part of it does, and halts unless it refuses the recipient',
    'http/denied-answers',
    (text) => answered(JSON.parse(text), { recipients: [ANN] }).map(stated),
  );

  it('says no in plain text too', () => {
    const wire = wireOf({ response: { accept: 'any' } });
    const read = (body: string) => told(judge({ body }, { wire, recipients: [ANN] }))[0];
    for (const body of ['ERROR:14', 'ERR 114 no route', 'Authentication failed', 'Ошибка'])
      expect(read(body)).toBe(DENIED);
    for (const body of ['OK', 'OK: 17', '17', 'queued', 'id=17']) expect(read(body)).toBe('accepted null');
  });

  it('means what the project says', () => {
    const wire = wireOf({ response: { recipientStatus: { accepted: ['1', 'Enfilado'], refused: ['nope'] } } });
    const read = (answer: unknown) => told(answered(answer, { wire, recipients: [ANN] }))[0];
    expect(read({ code: 1, status: 'ENFILADO' })).toBe('accepted null');
    expect(read({ code: '1', errors: 1 })).toBe('accepted null');
    expect(read({ id: 'm', status: 'Nope' })).toBe(REFUSED);
    expect(read({ id: 'm', status: 'rejected' })).toBe(REFUSED);
    expect(read({ id: 'm', code: 2 })).toBe(DENIED);
  });
});

describe('several recipients (D1a)', () => {
  const both = [ANN, BEN];
  const read = (answer: unknown) => told(answered(answer, { recipients: both }));
  it('are all in doubt where the answer as a whole says no', () => {
    for (const answer of [
      { success: false },
      { id: 'm', status: 'rejected' },
      { error: 'x', messages: both.map(({ to }) => ({ to })) },
      { id: 'm', messages: [] },
    ]) {
      expect(read(answer)).toEqual([DENIED, DENIED]);
    }
    expect(read({ code: 401 })).toEqual([ACCOUNT, ACCOUNT]);
    expect(read({ code: 401, messages: [{ to: ANN.to, id: '1' }] })).toEqual([DENIED, DENIED]);
  });

  it('are taken and refused each, where the whole answer says no because of the refused', () => {
    const messages = [
      { to: ANN.to, status: 'Accepted' },
      { to: BEN.to, status: 'Rejected', messageErrorCode: 304 },
    ];
    expect(read({ errorCode: 201, status: 'partially-accepted', messages })).toEqual(['accepted null', REFUSED]);
  });

  it('are in doubt where an entry that says no names no recipient', () => {
    expect(read([{ id: '1' }, { ErrorCode: 406, Message: 'inactive' }])).toEqual(['accepted 1', DENIED]);
  });
});

/** Names that say no when they are true, and names that say no when they are false. */
const WHEN_TRUE = [
  ...['rejected', 'isRejected', 'is_rejected', 'failed', 'hasFailed', 'has-been-refused', 'wasDenied', 'declined'],
  ...['blocked', 'isBlocked', 'messageRejected', 'recipient_blocked', 'deliveryFailed', 'sendingFailed', 'smsUnsent'],
  ...['notAccepted', 'isNotSent', 'unsuccessful', 'isInvalid', 'cancelled', 'isUnauthorized', 'blacklisted'],
];
const WHEN_FALSE = [
  ...['success', 'ok', 'accepted', 'isAccepted', 'is_accepted', 'messageAccepted', 'recipient_valid'],
  ...['isNumberValid', 'hasBeenSent', 'allowed', 'isAuthorised'],
];

describe('a name that says no by true or false', () => {
  const put: readonly ((says: object) => unknown)[] = [
    (says) => ({ id: 'm', ...says }),
    (says) => ({ id: 'm', data: says }),
    (says) => ({ id: 'm', status: says }),
    (says) => ({ id: 'm', messages: [{ messageId: '1', ...says }] }),
  ];
  const sides = [
    ...WHEN_TRUE.map((name) => [name, true] as const),
    ...WHEN_FALSE.map((name) => [name, false] as const),
  ];

  test.each(sides)('%s: %s', (name, no) => {
    for (const place of put) {
      expect(one(place({ [name]: no })), JSON.stringify(place({ [name]: no }))).toBe(DENIED);
      expect(one(place({ [name]: !no })), JSON.stringify(place({ [name]: !no }))).toMatch(/^accepted /);
      expect(one(place({ [name]: null }))).toMatch(/^accepted /);
    }
    expect(one({ id: 'm', [name]: String(no) })).toBe(DENIED);
    expect(one({ id: 'm', [name]: String(!no) })).toMatch(/^accepted /);
  });

  it('is not read in an object that may be about anything', () => {
    for (const name of [
      'metaData',
      'template',
      'contact',
      'user',
      'number',
      'rcs',
      'dlr',
      'sender',
      'links',
      'rateLimit',
    ]) {
      expect(one({ id: 'm', [name]: { accepted: false, rejected: true } })).toMatch(/^accepted /);
      expect(one({ id: 'm', [name]: [{ sent: false, failed: true }] })).toMatch(/^accepted /);
    }
  });

  it('is not one that names a setting, a state of later, or a text', () => {
    for (const answer of [
      { delivered: false, read: false, scheduled: false, processed: false, isTest: true, isNew: true },
      { ignoreErrors: true, skipInvalid: true, trackingDisabled: true, notifyOnFailure: true, notification: true },
      { queued: 0, submitted: 0, allowed: '2026-11-29', optOut: true, blockedUntil: null, sender: { verified: false } },
      { status: 'sent', queued: false, dispatched: false, approved: false, submitted: false, throttled: true },
      { suppressed: 1, supported: false, expired: true, unsubscribed: true, reachable: false },
      {
        meta: { code: 'promo' },
        header: { code: 'X1' },
        hata: 'yok',
        erro: 'nenhum',
        fehler: 'keine',
        blade: 'fra-03',
      },
    ]) {
      expect(one({ id: 'm', ...answer })).toMatch(/^accepted /);
    }
  });
});

const no = fc.constantFrom<Readonly<Record<string, unknown>>>(
  { isRejected: true },
  { was_sent: false },
  { error: 'x' },
  { Errors: ['x'] },
  { success: false },
  { ok: 0 },
  { status: 'Failed' },
  { state: 'ERROR' },
  { result: 'NOK' },
  { code: 17 },
  { fault: {}, faultCode: 1 },
  { error_code: '30001' },
  { 'error-text': 'x' },
  { statusCode: 500 },
  { status: { name: 'REJECTED' } },
  { messages: [] },
);
const beside = fc.constantFrom<Readonly<Record<string, unknown>>>(
  {},
  { id: 'm' },
  { messageId: 'm', message: 'OK' },
  { requestId: 'r', warnings: [] },
  { meta: { page: 1 }, price: 0.1 },
);
const place = fc.constantFrom<(body: object) => unknown>(
  (body) => body,
  (body) => ({ data: body }),
  (body) => ({ id: 'm', response: body }),
  (body) => ({ result: body, success: true }),
  (body) => ({ messages: [body] }),
  (body) => ({ data: { recipients: [body] } }),
  (body) => [body],
);

it('no answer with a refusal in it is an acceptance, and only one about the account is sent again', () => {
  fc.assert(
    fc.property(no, beside, place, fc.integer({ min: 1, max: 3 }), fc.boolean(), (says, more, put, count, isAfter) => {
      const body = isAfter ? { ...more, ...says } : { ...says, ...more };
      const verdicts: readonly Verdict[] = answered(put(body), { recipients: THREE.slice(0, count) });
      for (const { outcome, halt, again, split } of verdicts) {
        expect(['rejected', 'in-doubt']).toContain(outcome);
        if (outcome === 'rejected') expect(halt).toBeNull();
        expect([again, split]).toEqual([false, false]);
      }
    }),
    { numRuns: examples(2_000) },
  );
});

it('a good answer stays one wherever it is, and however its names are written', () => {
  const spellings = fc.constantFrom<(name: string) => string>(
    (name) => name,
    (name) => name.toUpperCase(),
    (name) => name.charAt(0).toUpperCase() + name.slice(1),
    (name) => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase(),
  );
  const good = fc.constantFrom<Readonly<Record<string, unknown>>>(
    { error: null, status: 'Queued' },
    { errorCode: 0, success: true },
    { errors: [], state: 'PENDING' },
    { statusCode: 202, result: 'ok' },
  );
  fc.assert(
    fc.property(good, place, spellings, (says, put, spelt) => {
      const body = Object.fromEntries(Object.entries(says).map(([name, value]) => [spelt(name), value]));
      expect(one(put(body))).toMatch(/^accepted /);
    }),
    { numRuns: examples(500) },
  );
});
