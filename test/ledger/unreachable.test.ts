import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger, Reach } from '../../src/ledger/ledger.ts';
import type { DeliveryReport, DeliveryState } from '../../src/model.ts';
import { deliveryOf } from '../helpers/events.ts';
import { fates, givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, keyOf, NOON, rows } from './values.ts';

const DAY = 86_400_000;
const RULE = { after: 3, withinMs: 180 * DAY, environments: ['sandbox', 'backup'] };

let eventIds = 0;

/** A report about a message to a row, so many days before noon; every one is another event. */
function report(row: number, state: DeliveryState, daysAgo: number, changes: Partial<DeliveryReport> = {}) {
  eventIds += 1;
  const isGone = state !== 'delivered' && state !== 'read';
  const ids = { messageId: `m-${eventIds}`, eventId: `e-${eventIds}`, address: keyOf(row) };
  const why = isGone ? { cause: 'gone', error: '30005' } : {};
  return deliveryOf({ ...ids, state, ...(why as Partial<DeliveryReport>), atMs: NOON - daysAgo * DAY, ...changes });
}

function record(ledger: Ledger, reports: readonly DeliveryReport[], environment = 'sandbox', nowMs = NOON): void {
  ledger.events.record(reports, { nowMs, source: 'webhook', environment });
}

/** The rows that are out of use at noon, and how often each failed. */
function failing(ledger: Ledger, rule = RULE, nowMs = NOON): Record<string, number> {
  const found = ledger.unreachable(rule, nowMs);
  expect(ledger.unreachable(rule, nowMs, [...found.keys(), keyOf(99)])).toEqual(found);
  return Object.fromEntries([...found].map(([address, { failures }]) => [address, failures]));
}

describe('an address that fails for good', () => {
  it('is out of use after so many messages, and says when the last one failed', () => {
    const ledger = open(scratchPath());
    record(ledger, [report(0, 'undeliverable', 20), report(0, 'failed', 10), report(1, 'rejected', 5)]);
    expect(failing(ledger)).toEqual({});
    record(ledger, [report(0, 'undeliverable', 1)]);
    expect(failing(ledger)).toEqual({ [keyOf(0)]: 3 });
    expect(ledger.unreachable(RULE, NOON).get(keyOf(0))?.lastAtMs).toBe(NOON - DAY);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({ [keyOf(0)]: 3, [keyOf(1)]: 1 });
  });

  it('counts no failure that may pass, and none whose state is not final or not known', () => {
    const ledger = open(scratchPath());
    record(ledger, [
      report(0, 'undeliverable', 3, { cause: null }),
      report(0, 'expired', 2, { cause: 'unsupported-channel' }),
      report(0, 'unknown', 1),
      report(0, 'undeliverable', 1, { address: null }),
    ]);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({});
  });

  it('counts a message once: the parts of a long SMS are no further messages', () => {
    const ledger = open(scratchPath());
    record(ledger, [
      report(0, 'undeliverable', 3, { reference: 'r-1' }),
      report(0, 'undeliverable', 3, { reference: 'r-1' }),
      report(0, 'undeliverable', 3, { messageId: 'same' }),
      report(0, 'failed', 2, { messageId: 'same' }),
      // The webhook gives the reference back, and an export names the id alone.
      report(0, 'undeliverable', 1, { messageId: 'both', reference: 'r-1' }),
      report(0, 'undeliverable', 1, { messageId: 'both' }),
    ]);
    expect(failing(ledger, { ...RULE, after: 2 })).toEqual({ [keyOf(0)]: 2 });
    expect(failing(ledger)).toEqual({});
  });

  it('counts two messages of two environments, although their ids are the same', () => {
    const ledger = open(scratchPath());
    const twice = [2, 1].map((ago) => report(0, 'undeliverable', ago, { messageId: `${ago}` }));
    record(ledger, twice);
    record(
      ledger,
      [report(0, 'undeliverable', 1, { messageId: '2' }), report(0, 'read', 5, { messageId: '1' })],
      'backup',
    );
    expect(failing(ledger)).toEqual({ [keyOf(0)]: 3 });
  });

  it('is in use again with a delivery, in whatever order the reports come', () => {
    const ledger = open(scratchPath());
    const reports = [30, 20, 10].map((ago) => report(0, 'undeliverable', ago));
    // It is of a time between the second and the third, and comes first.
    record(ledger, [report(0, 'delivered', 15), ...reports.toReversed()]);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({ [keyOf(0)]: 1 });
    record(ledger, [report(0, 'undeliverable', 5), report(0, 'undeliverable', 4)]);
    expect(failing(ledger)).toEqual({ [keyOf(0)]: 3 });
    record(ledger, [report(0, 'read', 1)]);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({});
  });

  it('does not count the failure of a message that another report says was delivered', () => {
    const ledger = open(scratchPath());
    record(ledger, [
      report(0, 'delivered', 3, { reference: 'r-1' }),
      report(0, 'undeliverable', 2, { reference: 'r-1' }),
      report(0, 'undeliverable', 1, { messageId: 'other' }),
      report(0, 'delivered', 4, { messageId: 'other' }),
    ]);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({});
  });

  it('is in use again when the failures are old enough', () => {
    const ledger = open(scratchPath());
    record(
      ledger,
      [180, 100, 50].map((ago) => report(0, 'undeliverable', ago)),
    );
    expect(failing(ledger, RULE, NOON - 1)).toEqual({ [keyOf(0)]: 3 });
    expect(failing(ledger)).toEqual({});
  });

  it('takes the time at which a report without one came in', () => {
    const ledger = open(scratchPath());
    record(ledger, [report(0, 'undeliverable', 0, { atMs: null })], 'sandbox', NOON - 2 * DAY);
    record(ledger, [report(0, 'delivered', 3)]);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({ [keyOf(0)]: 1 });
    record(ledger, [report(0, 'delivered', 1)]);
    expect(failing(ledger, { ...RULE, after: 1 })).toEqual({});
  });

  it('counts the reports of the environments that are asked about only', () => {
    const ledger = open(scratchPath());
    record(ledger, [report(0, 'undeliverable', 3), report(0, 'undeliverable', 2)]);
    record(ledger, [report(0, 'undeliverable', 1), report(1, 'undeliverable', 1)], 'backup');
    record(ledger, [report(0, 'delivered', 0), report(1, 'undeliverable', 1), report(1, 'failed', 0)], 'production');
    expect(failing(ledger)).toEqual({ [keyOf(0)]: 3 });
    record(ledger, [report(0, 'delivered', 0)], 'backup');
    expect(failing(ledger)).toEqual({});
  });

  it('is in use again when a person takes it off the list, until it fails as often once more', () => {
    const ledger = open(scratchPath());
    const three = (...ago: readonly number[]) => ago.map((days) => report(0, 'undeliverable', days));
    const old = three(3, 2, 1);
    record(ledger, old);
    expect(ledger.unsuppress(keyOf(0))).toBe(false);
    expect(failing(ledger)).toEqual({ [keyOf(0)]: 3 });
    expect(ledger.dismissFailures(keyOf(0), NOON)).toBe(true);
    expect(ledger.dismissFailures(keyOf(0), NOON)).toBe(false);
    record(ledger, old);
    // An export tells of these failures, and of others before them, in other words.
    record(ledger, three(5, 2), 'sandbox', NOON + DAY);
    expect(failing(ledger, { ...RULE, after: 1 }, NOON + DAY)).toEqual({});
    record(ledger, three(-1, -2, -3), 'sandbox', NOON + 3 * DAY);
    expect(failing(ledger, RULE, NOON + 3 * DAY)).toEqual({ [keyOf(0)]: 3 });
  });

  it('is found in the spelling of a list, and in that of a report', () => {
    const ledger = open(scratchPath());
    const named = (address: string) => report(0, 'undeliverable', 1, { address });
    record(ledger, [named('Jane@Example.com'), named('ben@example.com')]);
    const rule = { ...RULE, after: 1 };
    expect([...ledger.unreachable(rule, NOON).keys()]).toEqual(['jane@example.com', 'ben@example.com']);
    expect([...ledger.unreachable(rule, NOON, ['Jane@Example.com', 'jane@example.com']).keys()]).toEqual([
      'jane@example.com',
    ]);
  });
});

describe('a claim', () => {
  /** As a start makes it. */
  const asking = (ledger: Ledger): Reach => {
    let found: ReadonlyMap<string, unknown> = new Map();
    return {
      ...ledger.reach(HELLO, { exclude: [], sinceMs: null }),
      unreachable: {
        ask: (addresses, nowMs) => {
          found = ledger.unreachable(RULE, nowMs, addresses);
        },
        has: (to) => found.has(to),
      },
    };
  };

  it('asks what another process was told since the list was read', () => {
    const path = scratchPath();
    const [mine, theirs] = [open(path), open(path)];
    const run = givenRun(mine, rows(3));
    const reach = asking(mine);
    record(
      theirs,
      [3, 2, 1].map((ago) => report(1, 'undeliverable', ago)),
    );
    const claims = [claimOf(0), claimOf(1)];
    expect(mine.commit(run, [], claims, NOON, { reach })).toEqual(['claimed', 'unreachable']);
    record(theirs, [report(1, 'delivered', 0)]);
    expect(mine.commit(run, [], [claimOf(1), claimOf(2)], NOON, { reach })).toEqual(['taken', 'claimed']);
    expect(fates(mine, run)).toEqual([expect.any(String), 'skipped(unreachable)', expect.any(String)]);
  });
});

it('equals what is worked out one report after another, in any order', () => {
  const state = fc.constantFrom<DeliveryState>('delivered', 'undeliverable', 'failed', 'unknown', 'read', 'expired');
  const event = fc.record({
    row: fc.integer({ min: 0, max: 2 }),
    state,
    ago: fc.integer({ min: 0, max: 12 }),
    message: fc.integer({ min: 0, max: 8 }),
    isPermanent: fc.boolean(),
    environment: fc.constantFrom('sandbox', 'backup', 'production'),
  });
  const nameOf = ({ message, environment }: { message: number; environment: string }) => `${environment} ${message}`;
  fc.assert(
    fc.property(fc.array(event, { maxLength: 25 }), fc.integer({ min: 1, max: 3 }), (events, after) => {
      const ledger = open(scratchPath());
      for (const { row, state, ago, message, isPermanent, environment } of events) {
        const cause = isPermanent && state !== 'delivered' && state !== 'read' ? 'gone' : null;
        record(ledger, [report(row, state, ago, { messageId: `${row}-${message}`, cause })], environment);
      }
      const rule = { after, withinMs: 10 * DAY, environments: ['sandbox', 'backup'] };
      const expected: Record<string, number> = {};
      for (const row of [0, 1, 2]) {
        const own = events.filter((one) => one.row === row && one.environment !== 'production');
        const arrived = own.filter((one) => one.state === 'delivered' || one.state === 'read');
        const failed = own.filter(
          (one) =>
            one.isPermanent &&
            (one.state === 'undeliverable' || one.state === 'failed' || one.state === 'expired') &&
            one.ago < 10 &&
            !arrived.some(({ ago, ...other }) => ago <= one.ago || nameOf(other) === nameOf(one)),
        );
        const count = new Set(failed.map(nameOf)).size;
        if (count >= after) expected[keyOf(row)] = count;
      }
      expect(failing(ledger, rule)).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});
