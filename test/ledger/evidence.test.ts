import { describe, expect, it } from 'vitest';
import type { InDoubtRow, Ledger } from '../../src/ledger/ledger.ts';
import type { ResultRecord, RunRecord } from '../../src/ledger/records.ts';
import type { DeliveryReport } from '../../src/model.ts';
import { createReference } from '../../src/plan/expand.ts';
import { resolveByReports, unreachedRows } from '../../src/send/deliveries.ts';
import { deliveryOf } from '../helpers/events.ts';
import { BY_MAIL, fellBack, onStep } from './fallbacks.ts';
import { amendedRun } from './given.ts';
import { givenOther } from './others.ts';
import { fates, givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, keyOf, NOON, resultOf, rows } from './values.ts';

const MINUTE = 60_000;
const WEBHOOK = { nowMs: NOON + MINUTE, source: 'webhook', environment: 'sandbox' };

const report = (state: DeliveryReport['state'], changes: Partial<DeliveryReport>): DeliveryReport =>
  deliveryOf({ state, atMs: NOON, ...changes });

const referenceOf = (row: number): string => createReference(HELLO, 'sms')(keyOf(row));

/** Two recipients: the first accepted as `m-0`, the second in doubt. */
function given(
  doubt: Parameters<typeof resultOf>[1] = {},
  { ledger = open(scratchPath()), atMs = NOON } = {},
): { ledger: Ledger; run: RunRecord } {
  const run = givenRun(ledger, rows(2));
  ledger.commit(run, [], [claimOf(0), claimOf(1)], atMs);
  const facts = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null, ...doubt } as const;
  ledger.commit(run, [resultOf(0, { messageId: 'm-0' }), resultOf(1, facts)], [], atMs);
  return { ledger, run };
}

function inDoubt(ledger: Ledger): readonly InDoubtRow[] {
  return [...ledger.events.inDoubt()].flat();
}

const FACTS = { messageId: 'm-9', note: 'reported sent', nowMs: NOON + MINUTE };

describe('a doubt that a report ends (K2)', () => {
  it('is accepted with the id of the report, and history says by what', () => {
    const { ledger, run } = given();
    ledger.events.record([report('sent', { reference: referenceOf(1), messageId: 'm-9' })], WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(1);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted(resolved)']);
    expect([...ledger.resolutions(run)].flat()).toMatchObject([
      { key: keyOf(1), verdict: 'accepted', resolvedBy: 'report', messageId: 'm-9', note: 'reported sent' },
    ]);
    expect(resolveByReports(ledger, NOON)).toBe(0);
  });

  it('is taken by one of two who looked at it at the same time', () => {
    const { ledger, run } = given();
    const [seen] = inDoubt(ledger);
    if (seen === undefined) throw new Error('a recipient is in doubt');
    const resolved = [...ledger.doubts(run)].flat();
    const order = { verdict: 'accepted', messageId: 'm-8', who: 'anna', note: null, nowMs: NOON } as const;
    ledger.resolve(run, resolved, order);
    expect(ledger.events.resolve(seen, FACTS)).toBe(false);
    expect([...ledger.resolutions(run)].flat()).toHaveLength(1);
    expect([...ledger.outcomes(run)].flat()[1]).toMatchObject({ outcome: 'accepted', messageId: 'm-8' });
  });

  it('is of that attempt: a later one is another doubt', () => {
    const { ledger } = given();
    const [seen] = inDoubt(ledger);
    if (seen === undefined) throw new Error('a recipient is in doubt');
    expect(ledger.events.resolve({ ...seen, attempts: seen.attempts + 1 }, FACTS)).toBe(false);
    expect(ledger.events.resolve({ ...seen, key: keyOf(0) }, FACTS)).toBe(false);
    expect(ledger.events.resolve(seen, FACTS)).toBe(true);
  });

  it('spares a recipient who was to be sent to again the second message', () => {
    const { ledger, run } = given();
    const order = { verdict: 'resend', messageId: null, who: 'anna', note: null, nowMs: NOON } as const;
    ledger.resolve(run, [...ledger.doubts(run)].flat(), order);
    expect(fates(ledger, run)).toEqual(['accepted', 'pending(resend)']);
    ledger.events.record([report('delivered', { reference: referenceOf(1) })], WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(1);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted(resolved)']);
    expect(ledger.commit(ledger.start(run, NOON).run, [], [claimOf(1)], NOON)).toEqual(['taken']);
  });

  const second: [string, Partial<ResultRecord>][] = [
    ['the API was too busy for', { state: 'pending', reason: 'rate-limited', httpStatus: 429 }],
    ['did not reach the API', { state: 'failed', reason: 'connect', httpStatus: null }],
  ];
  it.each(second)('spares a recipient the second message that %s', (_, facts) => {
    const { ledger, run } = given();
    const order = { verdict: 'resend', messageId: null, who: 'anna', note: null, nowMs: NOON } as const;
    ledger.resolve(run, [...ledger.doubts(run)].flat(), order);
    const again = ledger.start(run, NOON + 10 * MINUTE).run;
    ledger.commit(again, [], [claimOf(1)], NOON + 10 * MINUTE);
    ledger.commit(again, [resultOf(1, { messageId: null, attempts: 2, ...facts })], [], NOON + 10 * MINUTE);
    ledger.finish(again, { state: 'partial', halt: null, figures: null, nowMs: NOON + 11 * MINUTE });
    ledger.start(again, NOON + 20 * MINUTE);
    ledger.events.record([report('delivered', { reference: referenceOf(1) })], WEBHOOK);
    expect(resolveByReports(ledger, NOON + 20 * MINUTE)).toBe(1);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted(resolved)']);
  });

  const amendments: [string, DeliveryReport['state'], Partial<DeliveryReport>, string][] = [
    ['names our reference', 'delivered', { reference: referenceOf(1) }, 'sandbox'],
    ['came in for a stand-in', 'delivered', { reference: referenceOf(1) }, 'backup'],
    ['quotes the text', 'sent', { messageId: 'm-9', address: keyOf(1), textHash: 'a'.repeat(64) }, 'sandbox'],
  ];
  it.each(amendments)(
    'spares a recipient the second message after the list was amended: it %s',
    (_, state, facts, environment) => {
      const ledger = open(scratchPath());
      const run = ledger.start(givenRun(ledger, rows(2), { start: false }), NOON, null, environment).run;
      ledger.commit(run, [], [claimOf(1)], NOON);
      const doubt = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;
      ledger.commit(run, [resultOf(1, { ...doubt, textHash: 'a'.repeat(64) })], [], NOON);
      const order = { verdict: 'resend', messageId: null, who: 'anna', note: null, nowMs: NOON } as const;
      ledger.resolve(run, [...ledger.doubts(run)].flat(), order);
      const after = amendedRun(ledger, run, rows(3));
      ledger.events.record([report(state, facts)], { ...WEBHOOK, environment });
      expect(resolveByReports(ledger, NOON)).toBe(1);
      expect(fates(ledger, after)).toEqual(['pending', 'accepted(resolved)', 'pending']);
    },
  );

  it('spares a recipient the second message of a fallback after the list was amended', () => {
    const { ledger, run } = fellBack(1, [0]);
    ledger.commit(run, [], [onStep(1, 0, BY_MAIL.to)], NOON);
    const doubt = { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null } as const;
    ledger.commit(run, [resultOf(0, { step: 1, ...doubt })], [], NOON);
    const order = { verdict: 'resend', messageId: null, who: 'anna', note: null, nowMs: NOON } as const;
    ledger.resolve(run, [...ledger.doubts(run)].flat(), order);
    const after = amendedRun(ledger, run, rows(2));
    ledger.events.record([report('sent', { reference: createReference(HELLO, 'email')(keyOf(0)) })], WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(1);
    expect(fates(ledger, after)).toEqual(['accepted(resolved)', 'pending']);
  });

  it('is not that of another environment, although campaign and person have the same names', () => {
    const { ledger, run } = given();
    const elsewhere = createReference({ ...HELLO, environment: 'live' }, 'sms')(keyOf(1));
    ledger.events.record([report('delivered', { reference: elsewhere })], WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(0);
    expect(fates(ledger, run)).toEqual(['accepted', 'in-doubt(no-response)']);
  });

  it('ends the run with it, whatever halted that', () => {
    const { ledger, run } = given();
    const halt = { rule: 'doubt', message: 'too many', next: 'look' } as const;
    ledger.finish(run, { state: 'halted', halt, figures: null, nowMs: NOON });
    ledger.events.record([report('delivered', { reference: referenceOf(1) })], WEBHOOK);
    resolveByReports(ledger, NOON);
    expect(ledger.findRun(HELLO)).toMatchObject({ state: 'finished', halt: null });
  });
});

describe('a report about one of several in doubt', () => {
  it.each<[string, readonly Parameters<typeof resultOf>[]]>([
    ['in doubt', [[2, { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null }]]],
    ['to be sent to', []],
  ])('does not end the run while a recipient is %s', (_, results) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const doubt = resultOf(1, { state: 'in-doubt', reason: 'no-response', httpStatus: null, messageId: null });
    ledger.commit(run, [], [claimOf(0), claimOf(1), ...results.map(([row]) => claimOf(row))], NOON);
    ledger.commit(run, [resultOf(0), doubt, ...results.map((facts) => resultOf(...facts))], [], NOON);
    const halt = { rule: 'doubt', message: 'too many', next: 'look' } as const;
    ledger.finish(run, { state: 'halted', halt, figures: null, nowMs: NOON });
    ledger.events.record([report('delivered', { reference: referenceOf(1) })], WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(1);
    expect(ledger.findRun(HELLO)).toMatchObject({ state: 'halted', halt });
  });
});

describe('a report that quotes the text', () => {
  const TEXT = 'a'.repeat(64);
  const quoting = (changes: Partial<DeliveryReport> = {}) =>
    report('delivered', { messageId: 'm-9', address: keyOf(1), textHash: TEXT, ...changes });

  it.each<[string, readonly DeliveryReport[], number]>([
    ['ends the doubt', [quoting()], 1],
    ['twice of one message, too', [quoting(), quoting({ state: 'sent' })], 1],
    ['of two messages ends none', [quoting(), quoting({ messageId: 'm-8' })], 0],
    ['of a message without an id ends none', [quoting({ messageId: null })], 0],
    ['long before it was sent ends none', [quoting({ atMs: NOON - 10 * MINUTE })], 0],
  ])('%s', (_, reports, count) => {
    const { ledger } = given({ textHash: TEXT });
    ledger.events.record(reports, WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(count);
  });

  it.each<[string, boolean, number, number]>([
    ['whose id is unknown', false, 60, 0],
    ['whose id is known', true, 60, 1],
    ['so long ago that no report can come any more', false, 80 * 60, 1],
  ])('ends no doubt where another message to the same address may be meant: %s', (_, hasId, minutes, count) => {
    const ledger = open(scratchPath());
    const run = givenOther(ledger, rows(2));
    ledger.commit(run, [], [claimOf(1)], NOON);
    ledger.commit(run, [resultOf(1, { messageId: hasId ? 'm-7' : null })], [], NOON);
    const atMs = NOON + minutes * MINUTE;
    given({ textHash: TEXT }, { ledger, atMs });
    ledger.events.record([quoting({ atMs: atMs + 2 * MINUTE })], { ...WEBHOOK, nowMs: atMs + 3 * MINUTE });
    expect(resolveByReports(ledger, NOON)).toBe(count);
  });
});

/** A campaign with a fallback, and without an end. */
const RCS = {
  fallbacks: [{ channel: 'rcs' }],
  send: { notAfterMs: null },
  validity: null,
  recipients: { each: null },
} as unknown as Parameters<typeof unreachedRows>[2];

describe('a report of another environment, address or time', () => {
  const due = (ledger: Ledger, run: RunRecord) => [...unreachedRows(ledger, run, RCS, NOON)].map(({ row }) => row);
  const own = { messageId: 'm-0', address: keyOf(0) };

  it.each<[string, string, Partial<DeliveryReport>, readonly number[]]>([
    ['as it should be', 'sandbox', own, [0]],
    ['for another environment', 'live', own, []],
    ['for another environment, with our reference', 'live', { ...own, reference: referenceOf(0) }, []],
    ['that names another recipient', 'sandbox', { ...own, address: keyOf(1) }, []],
    [
      'that names another recipient, with our reference',
      'sandbox',
      { reference: referenceOf(0), address: keyOf(1) },
      [],
    ],
    ['that names an email address', 'sandbox', { ...own, address: 'ann@example.com' }, []],
    ['that names the id of a contact, who may be any recipient', 'sandbox', { ...own, address: 'contact-7' }, [0]],
    ['with the reference of another message', 'sandbox', { ...own, reference: referenceOf(1) }, []],
    ['an hour before the message', 'sandbox', { ...own, atMs: NOON - 60 * MINUTE }, []],
    ['an hour before the message, with our reference', 'sandbox', { reference: referenceOf(0), atMs: NOON - 1e7 }, []],
    ['a little before, by another clock', 'sandbox', { ...own, atMs: NOON - 5 * MINUTE }, [0]],
  ])('makes a fallback due only where all of it agrees: %s', (_, environment, changes, expected) => {
    const { ledger, run } = given();
    ledger.events.record([report('undeliverable', changes)], { ...WEBHOOK, environment });
    expect(due(ledger, run)).toEqual(expected);
  });

  it.each<[string, string, Partial<DeliveryReport>, number]>([
    ['as it should be', 'sandbox', {}, 1],
    ['for another environment', 'live', {}, 0],
    ['that names another recipient', 'sandbox', { address: keyOf(0) }, 0],
    ['before the message', 'sandbox', { atMs: NOON - 60 * MINUTE }, 0],
  ])('ends no doubt about a message whose id is known: %s', (_, environment, changes, count) => {
    const { ledger } = given({ messageId: 'm-1' });
    ledger.events.record([report('delivered', { messageId: 'm-1', ...changes })], { ...WEBHOOK, environment });
    expect(resolveByReports(ledger, NOON)).toBe(count);
  });

  it('that quotes the text ends no doubt, and does not block the one that does', () => {
    const text = 'a'.repeat(64);
    const { ledger } = given({ textHash: text });
    const quoting = report('delivered', { messageId: 'm-9', address: keyOf(1), textHash: text });
    ledger.events.record([quoting, { ...quoting, messageId: 'm-0' }], { ...WEBHOOK, environment: 'live' });
    expect(resolveByReports(ledger, NOON)).toBe(0);
    ledger.events.record([quoting], WEBHOOK);
    expect(resolveByReports(ledger, NOON)).toBe(1);
  });

  it('is held beside the same words for this one, and a purge of one leaves the other', () => {
    const { ledger, run } = given();
    const said = report('delivered', { messageId: 'm-0' });
    for (const environment of ['sandbox', 'live', 'sandbox']) {
      ledger.events.record([said], { ...WEBHOOK, environment });
    }
    expect(ledger.events.counts().reports).toBe(2);
    ledger.purge.keepDeliveries(run, [{ row: 0, step: 0, delivery: 'delivered', reference: null, messageId: 'm-0' }]);
    const left = ledger.events.reportsNaming({ reference: null, messageId: 'm-0' });
    expect(left.map(({ environment }) => environment)).toEqual(['live']);
  });
});

describe('a report that a message was not delivered', () => {
  const due = (ledger: Ledger, run: RunRecord) => [...unreachedRows(ledger, run, RCS, NOON)].map(({ row }) => row);
  const claim = { ...claimOf(0), step: 1, attempts: 0, byReport: true } as const;
  const facts = { channel: 'rcs', variant: null, parts: null, encoding: null, costMicros: null } as const;

  it('is about one recipient of a request, where all of them have one id and it names whose it is', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [claimOf(0), claimOf(1)], NOON);
    ledger.commit(run, [resultOf(0, { messageId: 'm-1' }), resultOf(1, { messageId: 'm-1' })], [], NOON);
    ledger.events.record([report('undeliverable', { messageId: 'm-1', reference: referenceOf(1) })], WEBHOOK);
    expect(due(ledger, run)).toEqual([1]);
  });

  it('lets the message fall back in the move that claims the fallback', () => {
    const { ledger, run } = given();
    expect(ledger.commit(run, [], [{ ...claim, facts }], NOON)).toEqual(['claimed']);
    expect(ledger.commit(run, [], [{ ...claim, facts }], NOON)).toEqual(['taken']);
    expect([...ledger.outcomes(run)].flat()[0]?.steps).toMatchObject([
      { channel: 'sms', outcome: 'rejected', reason: 'fell-back' },
      { channel: 'rcs' },
    ]);
  });

  it('leaves it as it was where the person opted out before the claim (K3)', () => {
    const { ledger, run } = given();
    ledger.suppress(keyOf(0), { reason: null, untilMs: NOON + MINUTE, source: 'user', nowMs: NOON });
    expect(ledger.commit(run, [], [{ ...claim, facts }], NOON)).toEqual(['suppressed']);
    expect(fates(ledger, run)[0]).toBe('accepted');
  });

  it('makes no recipient due who opted out permanently', () => {
    const { ledger, run } = given();
    ledger.events.record([report('undeliverable', { messageId: 'm-0' })], WEBHOOK);
    expect(due(ledger, run)).toEqual([0]);
    ledger.suppress(keyOf(0), { reason: null, untilMs: null, source: 'user', nowMs: NOON });
    expect(due(ledger, run)).toEqual([]);
  });
});
