import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type {
  ClaimBudget,
  ClaimRequest,
  ClaimRules,
  ResultRecord,
  RunIdentity,
  RunRecord,
} from '../../src/ledger/records.ts';
import { startedRun } from './given.ts';
import { fates, givenRun, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, NOON, resultOf, rows } from './values.ts';

const COST = 40_000;
/** A claim without a result reads as a doubt. */
const CLAIMED = 'in-doubt(crash)';
const DAY = 86_400_000;

/** Rules of a process that knows a budget of so many messages a day. */
function rulesFor(messages: number, changes: Partial<ClaimBudget> = {}): ClaimRules {
  const periodOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const budget = { currency: 'EUR', maxMicros: messages * COST, periodOf, ...changes };
  return { isListed: () => false, hasher: null, budget };
}

function costing(row: number, changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...claimOf(row), costMicros: COST, ...changes };
}

/** Messages that are counted as spent on a day. */
function spent(ledger: Ledger, day = '2026-11-21'): number {
  return ledger.spent({ environment: HELLO.environment, period: day, currency: 'EUR' }) / COST;
}

/** A run of another campaign, or of another environment. */
function otherRun(ledger: Ledger, changes: Partial<RunIdentity>): RunRecord {
  return startedRun(ledger, rows(10), changes);
}

const TRY_AGAIN: Partial<ResultRecord> = { state: 'pending', reason: 'rate-limited', httpStatus: 429, messageId: null };

describe('a claim', () => {
  it('adds its cost, and is refused where the budget has no room; its row stays as it is (A7)', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(5));
    const rules = rulesFor(3);
    expect(ledger.commit(run, [], [costing(0), costing(1)], NOON, rules)).toEqual(['claimed', 'claimed']);
    expect(spent(ledger)).toBe(2);
    expect(ledger.commit(run, [], [costing(2), costing(3), costing(4)], NOON, rules)).toEqual([
      'claimed',
      'over-budget',
      'over-budget',
    ]);
    expect(fates(ledger, run)).toEqual([CLAIMED, CLAIMED, CLAIMED, 'pending', 'pending']);
    expect(spent(ledger)).toBe(3);
    expect(ledger.commit(run, [resultOf(0), resultOf(1), resultOf(2)], [costing(3)], NOON, rules)).toEqual([
      'over-budget',
    ]);
    expect(fates(ledger, run)).toEqual(['accepted', 'accepted', 'accepted', 'pending', 'pending']);
    expect(spent(ledger)).toBe(3);
  });

  it('costs what its message costs, to the last micro-unit', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const rules = rulesFor(2);
    expect(ledger.commit(run, [], [costing(0, { costMicros: 2 * COST - 1 })], NOON, rules)).toEqual(['claimed']);
    expect(ledger.commit(run, [], [costing(1, { costMicros: 2 })], NOON, rules)).toEqual(['over-budget']);
    expect(ledger.commit(run, [], [costing(1, { costMicros: 1 })], NOON, rules)).toEqual(['claimed']);
    expect(ledger.commit(run, [], [costing(2, { costMicros: 0 })], NOON, rules)).toEqual(['claimed']);
    expect(spent(ledger)).toBe(2);
  });

  it('has no room without a cost', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const claims = [costing(0, { costMicros: null }), claimOf(1)];
    expect(ledger.commit(run, [], claims, NOON, rulesFor(3))).toEqual(['over-budget', 'over-budget']);
    expect(fates(ledger, run)).toEqual(['pending', 'pending']);
  });

  it('that is not granted costs nothing', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const rules = rulesFor(3);
    ledger.suppress(claimOf(0).to, { reason: null, untilMs: null, source: 'user', nowMs: NOON });
    ledger.commit(run, [], [costing(1)], NOON, rules);
    const answers = ledger.commit(run, [], [costing(0), costing(1), costing(2)], NOON, rules);
    expect(answers).toEqual(['suppressed', 'taken', 'claimed']);
    expect(spent(ledger)).toBe(2);
  });

  it('while it is paused costs nothing', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [costing(0)], NOON, rulesFor(3));
    ledger.pause({ environment: HELLO.environment, campaign: null }, { reason: 'x', who: 'ann', nowMs: NOON });
    expect(ledger.commit(run, [resultOf(0, TRY_AGAIN)], [costing(1)], NOON, rulesFor(3))).toEqual(['paused']);
    expect(spent(ledger)).toBe(0);
  });

  it('of a later step adds its own cost, and the step that fell back costs nothing', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    const rules = rulesFor(3);
    const facts = { channel: 'rcs', variant: null, parts: null, encoding: null, costMicros: 2 * COST } as const;
    ledger.commit(run, [], [costing(0)], NOON, rules);
    const next = { ...facts, to: claimOf(0).to };
    const fell = resultOf(0, { state: 'rejected', reason: 'unsupported-channel', messageId: null, next });
    expect(ledger.commit(run, [fell], [], NOON, rules)).toEqual([]);
    expect(spent(ledger)).toBe(0);
    const claim = costing(0, { step: 1, facts, costMicros: 2 * COST });
    expect(ledger.commit(run, [], [claim], NOON, rules)).toEqual(['claimed']);
    expect(spent(ledger)).toBe(2);
  });

  it('without a budget counts nothing', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
    expect(ledger.spentIn(HELLO.environment, '2026-11-21')).toEqual([]);
    expect(ledger.spentHere()).toEqual([]);
  });
});

describe('a result', () => {
  it.each([
    ['pending', TRY_AGAIN, 0],
    ['rejected', { state: 'rejected', reason: 'status', httpStatus: 400, messageId: null }, 0],
    ['failed', { state: 'failed', reason: 'connect', httpStatus: null, messageId: null }, 0],
    ['accepted', {}, 1],
    ['in doubt', { state: 'in-doubt', reason: 'timeout', httpStatus: null, messageId: null }, 1],
  ] as const)('%s: the message costs what the API may charge', (_, changes, messages) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    ledger.commit(run, [], [costing(0)], NOON, rulesFor(1));
    ledger.commit(run, [resultOf(0, changes)], [], NOON, rulesFor(1));
    expect(spent(ledger)).toBe(messages);
    const answer = messages === 0 ? 'claimed' : 'over-budget';
    expect(ledger.commit(run, [], [costing(1)], NOON, rulesFor(1))).toEqual([answer]);
  });

  it('gives back once, and every attempt counts once', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    const rules = rulesFor(1);
    for (let attempts = 0; attempts < 3; attempts += 1) {
      expect(ledger.commit(run, [], [costing(0, { attempts })], NOON, rules)).toEqual(['claimed']);
      expect(spent(ledger)).toBe(1);
      const result = resultOf(0, { ...TRY_AGAIN, attempts: attempts + 1 });
      ledger.commit(run, [result], [], NOON, rules);
      expect(spent(ledger)).toBe(0);
      ledger.commit(run, [result], [], NOON, rules);
      expect(spent(ledger)).toBe(0);
    }
  });

  it('gives back in the transaction of the next claim', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const rules = rulesFor(1);
    ledger.commit(run, [], [costing(0)], NOON, rules);
    expect(ledger.commit(run, [resultOf(0, TRY_AGAIN)], [costing(1)], NOON, rules)).toEqual(['claimed']);
    expect(spent(ledger)).toBe(1);
  });

  it('gives back to the period of its claim, and a new period begins at nothing', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    const rules = rulesFor(1);
    ledger.commit(run, [], [costing(0)], NOON, rules);
    expect(ledger.commit(run, [], [costing(1)], NOON + DAY, rules)).toEqual(['claimed']);
    expect([spent(ledger), spent(ledger, '2026-11-22')]).toEqual([1, 1]);
    const answers = ledger.commit(run, [resultOf(0, TRY_AGAIN)], [costing(2)], NOON + DAY, rules);
    expect(answers).toEqual(['over-budget']);
    expect([spent(ledger), spent(ledger, '2026-11-22')]).toEqual([0, 1]);
  });

  it('of a process that is gone gives nothing back: its claims may have been sent', () => {
    const path = scratchPath();
    const first = open(path);
    const run = givenRun(first, rows(2));
    first.commit(run, [], [costing(0)], NOON, rulesFor(2));
    const second = open(path);
    const again = second.start(run, NOON).run;
    expect(fates(second, again)).toEqual([CLAIMED, 'pending']);
    expect(spent(second)).toBe(1);
    // The answer comes late, to the process that lost the run.
    first.commit(run, [resultOf(0, { state: 'rejected', reason: 'status', messageId: null })], [], NOON, rulesFor(2));
    expect(spent(second)).toBe(1);
  });
});

describe('several processes', () => {
  it('never spend more together than the budget allows', () => {
    const path = scratchPath();
    const processes = [0, 1, 2].map((n) => {
      const ledger = open(path);
      return { ledger, run: otherRun(ledger, { campaign: `hello-${n}` }) };
    });
    let granted = 0;
    for (let row = 0; row < 10; row += 1) {
      for (const { ledger, run } of processes) {
        const [answer] = ledger.commit(run, [], [costing(row)], NOON, rulesFor(17));
        if (answer === 'claimed') granted += 1;
      }
    }
    expect([granted, spent(open(path))]).toEqual([17, 17]);
  });

  it('environments and currencies have counters of their own', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const other = otherRun(ledger, { environment: 'other' });
    ledger.commit(run, [], [costing(0)], NOON, rulesFor(1));
    expect(ledger.commit(other, [], [costing(0)], NOON, rulesFor(1))).toEqual(['claimed']);
    expect(ledger.commit(run, [], [costing(1)], NOON, rulesFor(1, { currency: 'GBP' }))).toEqual(['claimed']);
    expect(ledger.spentIn(HELLO.environment, '2026-11-21')).toEqual([
      { environment: 'sandbox', period: '2026-11-21', currency: 'EUR', spentMicros: COST },
      { environment: 'sandbox', period: '2026-11-21', currency: 'GBP', spentMicros: COST },
    ]);
  });

  it('another server that lacks the last commits is told what was spent (J6)', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(3));
    ledger.commit(run, [], [costing(0), costing(1)], NOON, rulesFor(3));
    const known = ledger.spentHere();
    expect(known.map(({ spentMicros }) => spentMicros / COST)).toEqual([2]);
    const replica = open(scratchPath());
    givenRun(replica, rows(3));
    replica.raiseSpent(known, NOON);
    expect(spent(replica)).toBe(2);
    replica.raiseSpent(
      known.map((one) => ({ ...one, spentMicros: COST })),
      NOON,
    );
    expect(spent(replica)).toBe(2);
  });
});

it('a claim that cannot be written does not count', () => {
  const ledger = open(scratchPath());
  const run: RunRecord = givenRun(ledger, rows(1));
  const wrong = costing(0, { key: '+440000000000', to: '+440000000000' });
  expect(() => ledger.commit(run, [], [costing(0), wrong], NOON, rulesFor(3))).toThrow('is not the recipient');
  expect([spent(ledger), fates(ledger, run)]).toEqual([0, ['pending']]);
});
