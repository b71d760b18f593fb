import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELIVERY_CAUSES, DELIVERY_STATES, type DeliveryState } from '../../src/model.ts';
import { type DeliveryFact, foldDelivery, foldStates } from '../../src/report/fold-delivery.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

function fact(state: DeliveryState, changes: Partial<DeliveryFact> = {}): DeliveryFact {
  return { state, word: state, cause: null, error: null, channel: null, atMs: NOON, ...changes };
}

const facts = fc.array(
  fc.record({
    state: fc.constantFrom(...DELIVERY_STATES),
    word: fc.constantFrom(null, 'a', 'b'),
    cause: fc.constantFrom(null, ...DELIVERY_CAUSES),
    error: fc.constantFrom(null, '1300'),
    channel: fc.constantFrom(null, 'sms' as const, 'rcs' as const),
    atMs: fc.constantFrom(null, NOON - 1, NOON, NOON + 1),
  }),
  { maxLength: 8 },
);

describe('the state of a message', () => {
  it.each<[string, DeliveryFact[], DeliveryState]>([
    ['one report', [fact('sent')], 'sent'],
    ['delivered, then sent', [fact('delivered'), fact('sent', { atMs: NOON + 9 })], 'delivered'],
    ['read without delivered', [fact('queued'), fact('read')], 'read'],
    ['failed, then sent', [fact('failed'), fact('sent', { atMs: NOON + 9 })], 'failed'],
    ['failed, and delivered after all', [fact('failed'), fact('delivered', { atMs: NOON + 9 })], 'delivered'],
    ['two ends: the last', [fact('expired', { atMs: NOON + 9 }), fact('failed')], 'expired'],
    ['an unknown word, then queued', [fact('unknown', { word: 'BUFFERED' }), fact('queued')], 'queued'],
    ['only an unknown word', [fact('unknown', { word: 'BUFFERED' })], 'unknown'],
  ])('%s', (_, given, state) => {
    expect(foldDelivery(given)?.state).toBe(state);
  });

  it('follows only from the states, unless several ends compete', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const said = given.reduce((bits, { state }) => bits | (1 << DELIVERY_STATES.indexOf(state)), 0);
        const folded = foldStates(said);
        const exact = foldDelivery(given)?.state ?? null;
        if (folded === 'several-ends') expect(['expired', 'undeliverable', 'failed', 'rejected']).toContain(exact);
        else expect(folded).toBe(exact);
      }),
      { numRuns: 2000 },
    );
    const ends = ['expired', 'failed'] as const;
    const both = ends.reduce((bits, state) => bits | (1 << DELIVERY_STATES.indexOf(state)), 0);
    expect([foldStates(both), foldStates(0)]).toEqual(['several-ends', null]);
  });

  it('is none without a report', () => {
    expect(foldDelivery([])).toBeNull();
  });

  it('was reached when it was first reported, however often', () => {
    const later = fact('delivered', { atMs: NOON + 60_000 });
    expect(foldDelivery([later, fact('delivered'), later])?.atMs).toBe(NOON);
  });

  it('is the same in any order, and however often each report comes', () => {
    fc.assert(
      fc.property(facts, fc.array(fc.nat(), { maxLength: 20 }), fc.infiniteStream(fc.nat()), (given, again, order) => {
        const repeated = [...given, ...again.flatMap((n) => given[n % Math.max(given.length, 1)] ?? [])];
        const shuffled = repeated
          .map((one) => ({ one, at: order.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ one }) => one);
        expect(foldDelivery(shuffled)).toEqual(foldDelivery(given));
      }),
      { numRuns: 2000 },
    );
  });
});
