import { describe, expect, it, test } from 'vitest';
import type { WireFile } from '../../src/campaign/written.ts';
import { isRecognised } from '../../src/http/classify.ts';
import type { Attempt } from '../../src/model.ts';
import { createRedactor } from '../../src/util/redact.ts';
import { ANN, answered, BEN, CAT, DENIED, DOUBT, judge, REFUSED, THREE, told, UNSUPPORTED } from './answers.ts';
import { rules, wireOf } from './wire.ts';

/** Answers of APIs that exist (DOMAIN 1.1), to three recipients, with default settings. */
const SHAPES: readonly [label: string, answer: unknown, says: readonly string[]][] = [
  ['no list', { id: 'm' }, ['accepted m', 'accepted m', 'accepted m']],
  ['no list and no id', { ok: true }, ['accepted null', 'accepted null', 'accepted null']],
  [
    'Infobip: a list with words in a group, numbers without +',
    {
      bulkId: 'b',
      messages: [
        { messageId: '1', destination: '447700900101', status: { groupId: 1, groupName: 'PENDING', id: 26 } },
        { messageId: '2', destination: '447700900102', status: { groupId: 5, groupName: 'REJECTED', id: 6 } },
        { messageId: '3', destination: '447700900103', status: { groupId: 1, groupName: 'PENDING', id: 26 } },
      ],
    },
    ['accepted 1', REFUSED, 'accepted 3'],
  ],
  [
    'Prelude: results with success and error',
    {
      results: [
        { phone_number: '+447700900103', success: true, message: { id: '3' } },
        { phone_number: '+447700900101', success: false, error: { code: 'invalid_number', message: 'No.' } },
        { phone_number: '+447700900102', success: true, message: { id: '2' } },
      ],
      error_count: 1,
      request_id: 'r',
    },
    [REFUSED, 'accepted 2', 'accepted 3'],
  ],
  [
    'MessageBird: items inside recipients, numbers as JSON numbers',
    {
      id: 'm',
      recipients: {
        totalSentCount: 3,
        items: [
          { recipient: 447700900101, status: 'sent' },
          { recipient: 447700900102, status: 'buffered' },
          { recipient: 447700900103, status: 'failed' },
        ],
      },
    },
    ['accepted m', 'accepted m', REFUSED],
  ],
  [
    'sent.dm: recipients inside data',
    { data: { recipients: THREE.map(({ to }, i) => ({ to, message_id: `m${i}` })) }, meta: { request_id: 'r' } },
    ['accepted m0', 'accepted m1', 'accepted m2'],
  ],
  [
    'CM.com: names with 00, an error code of zero',
    {
      details: 'Created',
      errorCode: 0,
      messages: THREE.map(({ to }) => ({ to: `00${to.slice(1)}`, status: 'Accepted', messageErrorCode: 0 })),
    },
    ['accepted null', 'accepted null', 'accepted null'],
  ],
  [
    'Vonage of old: a status of zero',
    { messages: THREE.map(({ to }, i) => ({ to: to.slice(1), 'message-id': `${i}`, status: '0' })) },
    ['accepted null', 'accepted null', 'accepted null'],
  ],
  [
    '207: entries with statuses of HTTP',
    {
      results: [
        { msisdn: ANN.to, id: '1', status: 202 },
        { msisdn: BEN.to, status: 422 },
        { msisdn: CAT.to, status: '503' },
      ],
    },
    ['accepted 1', DENIED, DENIED],
  ],
  [
    'accepted and rejected, apart',
    { accepted: [ANN.to, CAT.to], rejected: [BEN.to] },
    ['accepted null', REFUSED, 'accepted null'],
  ],
  [
    'accepted and rejected, apart, and one on neither list',
    { accepted: [ANN.to], rejected: [BEN.to] },
    ['accepted null', REFUSED, DOUBT],
  ],
  [
    'one that is on both lists',
    { accepted: [ANN.to, BEN.to, CAT.to], rejected: [BEN.to] },
    ['accepted null', DENIED, 'accepted null'],
  ],
  ['only the accepted', { id: 'm', accepted: [ANN.to, { to: BEN.to }] }, ['accepted m', 'accepted m', DOUBT]],
  [
    'a list of messages, and the refused apart',
    { messages: [{ to: ANN.to, id: '1' }], failedRecipients: [{ to: BEN.to, reason: 'Unknown.' }] },
    ['accepted 1', REFUSED, DOUBT],
  ],
];

describe('answers of APIs (D1)', () => {
  test.each(SHAPES)('%s', (_label, answer, says) => {
    expect(told(answered(answer))).toEqual(says);
  });

  test.each(SHAPES)('%s: the order of the entries says nothing', (_label, answer, says) => {
    const turned = JSON.parse(JSON.stringify(answer), (_key, value) =>
      Array.isArray(value) ? value.reverse() : value,
    );
    expect(told(answered(turned))).toEqual(says);
  });
});

describe('what an answer leaves open (D2)', () => {
  const entry = ({ to }: { to: string }, more: object = {}): object => ({ to, ...more });
  const CASES: readonly [label: string, answer: unknown, says: readonly string[]][] = [
    [
      'a recipient is missing',
      { recipients: [entry(ANN, { id: '1' }), entry(CAT, { id: '3' })] },
      ['accepted 1', DOUBT, 'accepted 3'],
    ],
    ['an empty list', { id: 'm', recipients: [] }, [DENIED, DENIED, DENIED]],
    ['an empty list of the refused', { id: 'm', rejected: [] }, ['accepted m', 'accepted m', 'accepted m']],
    [
      'entries without addresses, one for each',
      { messages: [{ id: '1' }, { id: '2', error: 'no' }, { id: '3' }] },
      ['accepted 1', DENIED, 'accepted 3'],
    ],
    ['entries without addresses, fewer', { messages: [{ id: '1' }, { id: '2' }] }, [DOUBT, DOUBT, DOUBT]],
    [
      'entries that name strangers, one for each',
      { messages: ['+1', '+447700900998', '+447700900999'].map((to) => ({ to, id: '1' })) },
      [DOUBT, DOUBT, DOUBT],
    ],
    ['texts that are addresses of strangers', { data: ['1234567', '2345678', '3456789'] }, [DOUBT, DOUBT, DOUBT]],
    [
      'taken and refused in one list',
      { recipients: [entry(ANN, { id: '1' }), entry(ANN, { error: 'no' }), entry(BEN), entry(CAT)] },
      [DENIED, 'accepted null', 'accepted null'],
    ],
    [
      'taken twice',
      { recipients: [entry(ANN, { id: '1' }), entry(ANN, { id: '9' }), entry(BEN), entry(CAT)] },
      ['accepted 1', 'accepted null', 'accepted null'],
    ],
    [
      'refused twice',
      { recipients: [entry(ANN, { error: 'first' }), entry(ANN, { error: 'second' }), entry(BEN), entry(CAT)] },
      [REFUSED, 'accepted null', 'accepted null'],
    ],
    [
      'the request repeated beside its results',
      { recipients: THREE.map((one) => entry(one)), results: [entry(ANN, { id: '1' }), entry(BEN, { error: 'no' })] },
      ['accepted 1', DENIED, DOUBT],
    ],
    [
      'a list of something else beside the one that counts',
      { data: [{ page: 1 }], results: THREE.map((one, i) => entry(one, { id: `${i}` })) },
      ['accepted 0', 'accepted 1', 'accepted 2'],
    ],
    ['the refused are strangers', { id: 'm', rejected: ['+447700900999'] }, [DOUBT, DOUBT, DOUBT]],
    [
      'taken by name, and refused strangers',
      { messages: THREE.map((one, i) => entry(one, { id: `${i}` })), rejected: ['x'] },
      ['accepted 0', 'accepted 1', 'accepted 2'],
    ],
    [
      'a list where one is not an object',
      { messages: [null, 7, 'text', [entry(ANN)], entry(BEN, { id: '2' })] },
      [DOUBT, 'accepted 2', DOUBT],
    ],
    [
      'lists that are objects',
      { recipients: { a: 1 }, messages: {} },
      ['accepted null', 'accepted null', 'accepted null'],
    ],
  ];
  test.each(CASES)('%s', (_label, answer, says) => {
    expect(told(answered(answer))).toEqual(says);
  });

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
  const CASES: readonly [label: string, wire: WireFile, answer: unknown, says: readonly string[]][] = [
    [
      'an id of the first entry is the id of every entry',
      { response: { messageId: ['/messages/0/ref'] } },
      { messages: THREE.map(({ to }, i) => ({ to, ref: `m${i}`, id: 'other' })) },
      ['accepted m0', 'accepted m1', 'accepted m2'],
    ],
    [
      'who lacks the id that is required is in doubt',
      { response: { messageId: ['/messages/0/ref'] } },
      { messages: [{ to: ANN.to, ref: 'm' }, { to: BEN.to }, { to: CAT.to, error: 'no' }] },
      ['accepted m', DOUBT, REFUSED],
    ],
    [
      'an id that is required, of the request',
      { response: { messageId: ['/batch'] } },
      { batch: 'b', messages: THREE.map(({ to }) => ({ to })) },
      ['accepted b', 'accepted b', 'accepted b'],
    ],
    ['no id of the request', { response: { messageId: ['/batch'] } }, { id: 'x' }, [DOUBT, DOUBT, DOUBT]],
    [
      'a failure of the first entry is its own',
      { response: { failed: ['/messages/0/fault'] } },
      { messages: [{ to: ANN.to, fault: 'no' }, { to: BEN.to }, { to: CAT.to, fault: 'no' }] },
      [REFUSED, 'accepted null', REFUSED],
    ],
    ['a failure of the request', { response: { failed: ['/fault'] } }, { fault: 'no' }, [REFUSED, REFUSED, REFUSED]],
    [
      'a failure of the request that its entries contradict',
      { response: { failed: ['/fault'] } },
      { fault: 'some', messages: [{ to: ANN.to }, { to: BEN.to, error: 'no' }] },
      [DOUBT, REFUSED, DOUBT],
    ],
    [
      'other names for everything',
      {
        response: {
          recipients: ['/answer/people'],
          recipientAddress: ['/who/tel'],
          recipientId: ['/what'],
          recipientStatus: { at: ['/how'], refused: ['no_way'] },
        },
      },
      {
        answer: {
          people: [
            { who: { tel: ANN.to }, what: 1, how: 'failed' },
            { who: { tel: BEN.to }, what: 2, how: 'No-Way' },
            { who: { tel: CAT.to }, what: '12345678901234567890', how: 'yes' },
          ],
        },
      },
      ['accepted 1', REFUSED, 'accepted 12345678901234567890'],
    ],
  ];
  test.each(CASES)('%s', (_label, wire, answer, says) => {
    expect(told(answered(answer, { wire: wireOf(wire) }))).toEqual(says);
  });

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

describe('one recipient', () => {
  const CASES: readonly [label: string, answer: unknown, says: string][] = [
    ['an entry', { messages: [{ id: '1', to: ANN.to }] }, 'accepted 1'],
    ['an entry that is refused', { bulkId: 'b', messages: [{ id: '1', status: { groupName: 'REJECTED' } }] }, REFUSED],
    ['an entry with an error', { results: [{ success: false, error: { code: 'x' } }] }, DENIED],
    ['an entry without the channel', { messages: [{ error: { code: 'channel-not-supported' } }] }, UNSUPPORTED],
    ['an entry with a status of HTTP', { results: [{ status: 503 }] }, DENIED],
    ['entries that say no', { id: 'm', items: [{ error: 'x' }, { error: 'y' }] }, DENIED],
    ['a list of the refused', { rejected: [ANN.to] }, REFUSED],
    ['two lists that disagree', { recipients: [{ to: ANN.to }], rejected: [ANN.to] }, DENIED],
    ['an error next to it', { id: 'm', error: 'x', status: 'failed' }, REFUSED],
    ['no list', { id: 'm', messages: 'none', data: null }, 'accepted m'],
  ];
  test.each(CASES)('%s', (_label, answer, says) => {
    expect(told(answered(answer, { recipients: [ANN] }))).toEqual([says]);
  });
});
