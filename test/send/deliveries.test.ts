import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELIVERY_STATES, type DeliveryReport } from '../../src/model.ts';
import { createReference } from '../../src/plan/expand.ts';
import { foldDelivery } from '../../src/report/fold-delivery.ts';
import { feedbackOf, messageOf, openDeliveries } from '../../src/send/deliveries.ts';
import { deliveryOf } from '../helpers/events.ts';
import { BY_MAIL, fellBack } from '../ledger/fallbacks.ts';
import { givenRun, open, scratchPath } from '../ledger/scratch.ts';
import { claimOf, HELLO, keyOf, NOON, resultOf, rows } from '../ledger/values.ts';

const report = (changes: Partial<DeliveryReport>): DeliveryReport => deliveryOf({ atMs: NOON, ...changes });

/** Four accepted messages with the ids `m-0` to `m-3`, and a fifth that was skipped. */
function given() {
  const ledger = open(scratchPath());
  const run = givenRun(ledger, rows(5));
  const four = [0, 1, 2, 3];
  ledger.commit(run, [], four.map(claimOf), NOON);
  const results = four.map((row) => resultOf(row, { state: 'accepted', messageId: row === 3 ? null : `m-${row}` }));
  ledger.commit(run, results, [], NOON);
  ledger.skip(run, [{ row: 4, step: 0, reason: 'suppressed' }], NOON);
  return { ledger, run };
}

const WEBHOOK = { nowMs: NOON + 1, source: 'webhook', environment: 'sandbox' };

describe('delivery reports and replies of a run', () => {
  it('is joined by the id of the API, or by our reference', () => {
    const { ledger, run } = given();
    const reference = createReference(HELLO, 'sms')(keyOf(3));
    ledger.events.record(
      [
        report({ messageId: 'm-0' }),
        report({ messageId: 'm-0', state: 'sent' }),
        report({ messageId: 'm-1', state: 'failed', error: '1190 absent' }),
        report({ reference, state: 'read' }),
        report({ messageId: 'elsewhere' }),
      ],
      WEBHOOK,
    );
    const deliveries = openDeliveries(ledger, run);
    const joined = [...ledger.outcomes(run)].flatMap((batch) => deliveries?.join(batch) ?? []);
    expect(joined.map(({ delivery }) => delivery ?? null)).toEqual(['delivered', 'failed', null, 'read', null]);
    expect(joined.map(({ error }) => error)).toEqual([null, '1190 absent', null, null, null]);
    expect(feedbackOf(ledger, run).deliveries).toEqual([
      { variant: null, outcome: 'accepted', delivery: 'delivered', count: 1 },
      { variant: null, outcome: 'accepted', delivery: 'failed', count: 1 },
      { variant: null, outcome: 'accepted', delivery: 'read', count: 1 },
    ]);
  });

  it('reads no list where nothing was reported and no message went wrong', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const lists = (): number => {
      let read = 0;
      const outcomes: typeof ledger.outcomes = (...args) => {
        read += 1;
        return ledger.outcomes(...args);
      };
      feedbackOf({ ...ledger, outcomes }, run);
      return read;
    };
    ledger.commit(run, [], [claimOf(0)], NOON);
    ledger.commit(run, [resultOf(0, { messageId: 'a' })], [], NOON);
    expect(lists()).toBe(0);
    ledger.commit(run, [], [claimOf(1)], NOON);
    ledger.commit(run, [resultOf(1, { state: 'rejected', reason: 'status', messageId: null })], [], NOON);
    expect(lists()).toBe(1);
  });

  it('is of only one recipient where the API gave several one id, and the report says which', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const all = [0, 1, 2];
    ledger.commit(run, [], all.map(claimOf), NOON);
    ledger.commit(
      run,
      all.map((row) => resultOf(row, { state: 'accepted', messageId: 'shared' })),
      [],
      NOON,
    );
    const reference = createReference(HELLO, 'sms')(keyOf(1));
    ledger.events.record([report({ messageId: 'shared', reference, state: 'failed' })], WEBHOOK);
    ledger.events.record([report({ messageId: 'shared', state: 'sent' })], WEBHOOK);
    const deliveries = openDeliveries(ledger, run);
    const joined = [...ledger.outcomes(run)].flatMap((batch) => deliveries?.join(batch) ?? []);
    expect(joined.map(({ delivery }) => delivery)).toEqual(['sent', 'failed', 'sent']);
  });

  it('costs nothing where nothing came back', () => {
    const { ledger, run } = given();
    expect(openDeliveries(ledger, run)).toBeNull();
    expect(feedbackOf(ledger, run).deliveries).toEqual([]);
  });

  it('is shown as unmatched, by why, where it names a message and is not about it', () => {
    const { ledger, run } = given();
    const reference = createReference(HELLO, 'sms');
    const record = (environment: string, ...changes: Partial<DeliveryReport>[]) =>
      ledger.events.record(changes.map(report), { ...WEBHOOK, environment });
    record('staging', { messageId: 'm-0' }, { messageId: 'm-1', state: 'sent' });
    record('live', { messageId: 'm-0' });
    record(
      'sandbox',
      { messageId: 'm-0', reference: reference(keyOf(1)) },
      { messageId: 'm-1', address: keyOf(2) },
      { messageId: 'm-2', atMs: NOON - 301_000 },
      { messageId: 'm-2', atMs: NOON - 299_000, state: 'sent', address: keyOf(2) },
    );
    const deliveries = openDeliveries(ledger, run);
    const joined = [...ledger.outcomes(run)].flatMap((batch) => deliveries?.join(batch) ?? []);
    expect(joined.map(({ delivery }) => delivery ?? null)).toEqual([null, 'delivered', 'sent', null, null]);
    expect(feedbackOf(ledger, run).unmatched).toEqual({ environment: 3, address: 1, time: 1 });
  });

  it('of one who shares an id with others is not unmatched to those', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [claimOf(0), claimOf(1)], NOON);
    ledger.commit(run, [resultOf(0, { messageId: 'shared' }), resultOf(1, { messageId: 'shared' })], [], NOON);
    ledger.events.record([report({ messageId: 'shared', address: keyOf(1) })], WEBHOOK);
    expect(feedbackOf(ledger, run).deliveries).toEqual([
      { variant: null, outcome: 'accepted', delivery: 'delivered', count: 1 },
    ]);
  });

  it('of another environment is not that of this one, although the campaign has the same name', () => {
    const { ledger, run } = given();
    const reference = createReference({ ...HELLO, environment: 'live' }, 'sms')(keyOf(3));
    ledger.events.record([report({ reference })], WEBHOOK);
    expect(feedbackOf(ledger, run).deliveries).toEqual([]);
  });

  it('of each step is its own, and the last step counts for the recipient', () => {
    const { ledger, run } = fellBack(2, [0]);
    ledger.commit(run, [], [{ ...claimOf(0), step: 1, to: BY_MAIL.to }], NOON + 2000);
    ledger.commit(run, [{ ...resultOf(0), step: 1, messageId: 'mail-0' }], [], NOON + 3000);
    const first = createReference(HELLO, 'sms')(keyOf(0));
    const last = createReference(HELLO, 'email')(keyOf(0));
    ledger.events.record(
      [
        report({ reference: first, state: 'undeliverable' }),
        report({ reference: last, state: 'sent' }),
        report({ messageId: 'mail-0', state: 'expired' }),
        report({ messageId: 'mail-0', state: 'failed', atMs: NOON - 1 }),
      ],
      WEBHOOK,
    );
    const joined = [...ledger.outcomes(run)].flatMap((batch) => openDeliveries(ledger, run)?.join(batch) ?? []);
    expect(joined[0]?.steps?.map(({ delivery }) => delivery)).toEqual(['undeliverable', 'expired']);
    expect(joined.map(({ delivery }) => delivery ?? null)).toEqual(['expired', null]);
  });

  it('is, of many at once, what it is of each on its own', () => {
    const { ledger, run } = given();
    const referenceOf = createReference(HELLO, 'sms');
    const reports = fc.array(
      fc.record({
        row: fc.nat(4),
        by: fc.constantFrom('reference' as const, 'messageId' as const, 'both' as const, 'neither' as const),
        state: fc.constantFrom(...DELIVERY_STATES),
        atMs: fc.constantFrom(null, NOON, NOON + 1, NOON + 2, NOON - 3_600_000),
        environment: fc.constantFrom('sandbox', 'sandbox', 'live', ''),
        whose: fc.constantFrom(null, 0, 1, 2, 3),
      }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(reports, (drawn) => {
        for (const { row, by, state, atMs, environment, whose } of drawn) {
          const event = report({
            reference: by === 'reference' || by === 'both' ? referenceOf(keyOf(row)) : null,
            messageId: by === 'messageId' || by === 'both' ? `m-${row}` : null,
            address: whose === null ? null : keyOf(whose),
            state,
            atMs,
          });
          ledger.events.record([event], { ...WEBHOOK, environment });
        }
        const outcomes = [...ledger.outcomes(run)].flat();
        const joined = openDeliveries(ledger, run)?.join(outcomes) ?? [];
        const alone = outcomes.map((outcome) => {
          const message = messageOf(run, referenceOf, outcome.key ?? '', outcome);
          return outcome.outcome === 'skipped' ? null : (foldDelivery(ledger.events.reportsOf(message))?.state ?? null);
        });
        expect(joined.map(({ delivery }) => delivery ?? null)).toEqual(alone);
      }),
      { numRuns: 40 },
    );
  });
});
