import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { classify, isRecognised, REASONS, type Verdict } from '../../src/http/classify.ts';
import type { Attempt, Phase } from '../../src/model.ts';
import { createRedactor } from '../../src/util/redact.ts';
import { golden } from '../helpers/golden.ts';
import { HALT_RULES } from '../helpers/halt-rules.ts';
import { examples } from '../helpers/quick.ts';
import { attempt, NOW, stated } from './answers.ts';
import { wireWith } from './wire.ts';

interface Circumstances {
  readonly wire?: ReturnType<typeof wireWith>;
  readonly firstAnswer?: boolean;
  readonly stopping?: boolean;
}

function judge(
  facts: Partial<Attempt>,
  { wire = wireWith(), firstAnswer = false, stopping = false }: Circumstances = {},
): Verdict {
  return classify(attempt(facts), { wire, firstAnswer, neverAccepted: firstAnswer, nowMs: NOW, stopping });
}

const BODIES = {
  json: { contentType: 'application/json', body: '{"id":"m-1","message":"words"}' },
  html: { contentType: 'text/html; charset=utf-8', body: '<!doctype html><p>Hello</p>' },
  empty: { contentType: null, body: '' },
} as const;

/**
 * What FAILURES says of each status, as lists of numbers. `!` after an outcome: it halts; `+`: it may be tried again.
 * A status in no list is the row's "other".
 */
const RULES: readonly [statuses: readonly number[], says: string][] = [
  [[307, 308], 'pending!'],
  [[300, 301, 302, 303, 304, 305, 306], 'in-doubt!'],
  [[401, 402, 403, 407], 'pending!'],
  [[408, 499], 'in-doubt'],
  [[425, 429], 'pending+'],
  [[501, 505], 'pending!'],
  [[511], 'in-doubt!'],
  [[600, 999], 'in-doubt'],
];

function expected(status: number, body: keyof typeof BODIES, firstAnswer: boolean): string {
  const rule = RULES.find(([statuses]) => statuses.includes(status));
  if (rule !== undefined) return rule[1];
  if (status < 300) return body === 'html' ? 'in-doubt!' : 'accepted';
  if (status < 400) return 'in-doubt!';
  if (status < 500) return firstAnswer && [404, 405, 410].includes(status) ? 'pending!' : 'rejected';
  return 'in-doubt';
}

function told(verdict: Verdict): string {
  return verdict.outcome + (verdict.halt === null ? '' : '!') + (verdict.again ? '+' : '');
}

describe('every status with every kind of body', () => {
  const statuses = [...Array.from({ length: 400 }, (_, i) => 200 + i), 600, 999];
  test.each([
    ['json', true],
    ['json', false],
    ['html', true],
    ['html', false],
    ['empty', true],
    ['empty', false],
  ] as const)('%s, first answer of a start: %s', (body, firstAnswer) => {
    const wrong = statuses
      .map((status) => {
        const is = told(judge({ status, ...BODIES[body] }, { firstAnswer }));
        return { status, is, should: expected(status, body, firstAnswer) };
      })
      .filter(({ is, should }) => is !== should);
    expect(wrong).toEqual([]);
  });

  test.each(statuses.filter((status) => status >= 300))('%i is the same with a body that broke off', (status) => {
    const whole = judge({ status, ...BODIES.json });
    const broken = judge({ status, phase: 'P3', error: { code: 'ECONNRESET', message: 'x' }, body: '{"id"' });
    expect(told(broken)).toBe(told(whole));
    expect(broken.reason).toBe(whole.reason);
  });
});

describe('answers', () => {
  const CASES: readonly [
    label: string,
    facts: Partial<Attempt>,
    circumstances: Circumstances,
    verdict: Partial<Verdict>,
  ][] = [
    ['an id', { status: 202, body: '{"id":"m-1"}' }, {}, { outcome: 'accepted', messageId: 'm-1' }],
    ['an id at the second pointer', { status: 202, body: '{"id":null,"messageId":"m-2"}' }, {}, { messageId: 'm-2' }],
    ['an id that is a number', { status: 202, body: '{"id":17}' }, {}, { messageId: '17' }],
    [
      'an id with more digits than a double holds',
      { status: 202, body: '{"n":"1234567890123456789","id":12345678901234567890}' },
      {},
      { messageId: '12345678901234567890' },
    ],
    [
      'an id in a list',
      { status: 200, body: '{"messages":[{"id":"m-3"}]}' },
      { wire: wireWith({ messageId: ['/messages/0/id'] }) },
      { messageId: 'm-3' },
    ],
    ['no id', { status: 202, body: '{}' }, {}, { outcome: 'accepted', messageId: null }],
    [
      'an object where an id is looked for',
      { status: 202, body: '{"id":{"a":1}}' },
      {},
      { outcome: 'accepted', messageId: null },
    ],
    [
      'an id longer than any',
      { status: 202, body: `{"id":"${'x'.repeat(600)}"}` },
      {},
      { outcome: 'accepted', messageId: null },
    ],
    [
      'no id where one is required',
      { status: 202, body: '{"x":1}' },
      { wire: wireWith({ messageIdRequired: true }) },
      { outcome: 'in-doubt', reason: 'unrecognised', halt: null, error: '{"x":1}' },
    ],
    [
      'nothing where an id is required',
      { status: 202 },
      { wire: wireWith({ messageIdRequired: true }) },
      { outcome: 'in-doubt', reason: 'unrecognised' },
    ],
    ['white space only', { status: 202, body: ' \r\n' }, {}, { outcome: 'accepted' }],
    ['a byte order mark', { status: 202, body: '\ufeff{"id":"m-1"}' }, {}, { outcome: 'accepted', messageId: 'm-1' }],
    [
      'JSON that calls itself HTML',
      { status: 202, contentType: 'text/html', body: '{"id":"m-1"}' },
      {},
      { outcome: 'accepted', messageId: 'm-1' },
    ],
    [
      'HTML that calls itself JSON',
      { status: 200, contentType: 'application/json', body: ' <HTML>' },
      {},
      { outcome: 'in-doubt', halt: 'not-the-api' },
    ],
    [
      'plain text',
      { status: 200, contentType: 'text/plain', body: 'OK' },
      {},
      { outcome: 'in-doubt', halt: null, error: 'OK' },
    ],
    [
      'plain text as the first answer',
      { status: 200, body: 'OK' },
      { firstAnswer: true },
      { outcome: 'in-doubt', halt: 'not-the-api' },
    ],
    [
      'plain text with accept: any',
      { status: 200, body: 'OK' },
      { wire: wireWith({ accept: 'any' }), firstAnswer: true },
      { outcome: 'accepted', halt: null },
    ],
    [
      'HTML with accept: any',
      { status: 200, body: '<html>' },
      { wire: wireWith({ accept: 'any' }) },
      { outcome: 'in-doubt', halt: 'not-the-api' },
    ],
    [
      'a prototype in JSON',
      { status: 202, body: '{"__proto__":{"id":"EVIL","polluted":1}}' },
      {},
      { outcome: 'accepted', messageId: null },
    ],
    [
      'names of the prototype as pointers',
      { status: 202, body: '{}' },
      { wire: wireWith({ messageId: ['/constructor/name', '/__proto__', '/toString'] }) },
      { messageId: null },
    ],
    ['cut JSON', { status: 202, body: '{"id":"m-' }, {}, { outcome: 'in-doubt', reason: 'unrecognised' }],
    [
      'a body that broke off',
      { status: 202, phase: 'P3', error: { code: 'ECONNRESET', message: 'read' }, body: '{"id":"m-1"}' },
      { firstAnswer: true },
      { outcome: 'in-doubt', halt: 'not-the-api', error: 'ECONNRESET: read' },
    ],
    [
      'a body that we broke off',
      { status: 202, phase: 'P3', error: { code: 'HANDBILL_STOPPED', message: 'x' } },
      { firstAnswer: true, stopping: true },
      { outcome: 'in-doubt', halt: null },
    ],
    [
      'a refusal inside',
      { status: 200, body: '{"id":"m-1","status":"failed","error":{"message":"bad number"}}' },
      { wire: wireWith({ failed: ['/error'] }) },
      { outcome: 'rejected', reason: 'refused', messageId: 'm-1', error: 'bad number' },
    ],
    [
      'a refusal that only the prototype holds',
      { status: 200, body: '{}' },
      { wire: wireWith({ failed: ['/constructor', '/toString'] }) },
      { outcome: 'accepted' },
    ],
    [
      'an empty refusal inside',
      { status: 200, body: '{"error":{},"failures":[],"why":"","bad":false,"code":0,"x":null}' },
      { wire: wireWith({ failed: ['/error', '/failures', '/why', '/bad', '/code', '/x', '/absent'] }) },
      { outcome: 'accepted' },
    ],
  ];
  test.each(CASES)('%s', (_label, facts, circumstances, verdict) => {
    expect(judge(facts, circumstances)).toMatchObject(verdict);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

golden('an attempt has one verdict, and waits for as long as the API asks', 'http/classify', (input) => {
  const { firstAnswer, ...facts } = JSON.parse(input);
  return stated(judge({ status: null, ...facts }, { firstAnswer }));
});

describe('errors', () => {
  it('is not a failure of the recipient while the run stops (B9)', () => {
    expect(judge({ phase: 'P1', error: { code: 'ECONNREFUSED', message: 'm' } }, { stopping: true })).toMatchObject({
      outcome: 'pending',
    });
  });
});

describe('what the API says', () => {
  it('is cut to 2 KiB without half characters', () => {
    const { error } = judge({ status: 400, body: '😀'.repeat(2_000) });
    expect(error).toBe('😀'.repeat(512));
  });

  it('is redacted before it is cut, so that no half of a key is left', () => {
    const wire = wireWith({}, createRedactor(['SEKRET-0123456789']));
    const { error } = judge({ status: 400, body: `${'x'.repeat(2_040)}SEKRET-0123456789` }, { wire });
    expect(error).not.toContain('SEK');
  });
});

describe('whatever comes', () => {
  const anything = fc.record({
    phase: fc.constantFrom<Phase>('P1', 'P2', 'P3', 'P4'),
    status: fc.integer({ min: 200, max: 999 }),
    error: fc.option(fc.record({ code: fc.string(), message: fc.string() })),
    contentType: fc.option(fc.string()),
    retryAfter: fc.option(fc.oneof(fc.string(), fc.integer().map(String))),
    body: fc.oneof(fc.string(), fc.json()),
  });

  it('never lets one be sent again that may have been received', () => {
    fc.assert(
      fc.property(anything, fc.boolean(), fc.boolean(), (facts, firstAnswer, stopping) => {
        const early = facts.phase === 'P1' || facts.phase === 'P2';
        const verdict = judge(early ? { ...facts, status: null } : facts, { firstAnswer, stopping });
        if (verdict.again) expect(facts.phase === 'P1' || facts.status === 429 || facts.status === 425).toBe(true);
        if (facts.phase === 'P2') expect(verdict.outcome).toBe('in-doubt');
        if (verdict.outcome === 'failed') expect(facts.phase).toBe('P1');
        if (verdict.outcome === 'accepted') expect(facts.status).toBeLessThan(300);
        expect(verdict.reason === null || REASONS.includes(verdict.reason)).toBe(true);
        expect(verdict.halt === null || HALT_RULES.includes(verdict.halt)).toBe(true);
        expect(Buffer.byteLength(verdict.error ?? '')).toBeLessThanOrEqual(2_048);
        expect(verdict.reason ?? '').not.toMatch(/[0-9]/);
      }),
      { numRuns: examples(2_000) },
    );
  });

  it('is recognised as the API only when it decided about a recipient', () => {
    expect(isRecognised(judge({ status: 202, body: '{}' }))).toBe(true);
    expect(isRecognised(judge({ status: 422, body: '{}' }))).toBe(true);
    expect(isRecognised(judge({ status: 404 }, { firstAnswer: true }))).toBe(false);
    expect(isRecognised(judge({ status: 500 }))).toBe(false);
    expect(isRecognised(judge({ phase: 'P1', error: { code: 'ECONNREFUSED', message: '' } }))).toBe(false);
  });
});
