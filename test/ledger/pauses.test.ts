import { describe, expect, it } from 'vitest';
import { fates, givenRun, lookInto, open, scratchPath } from './scratch.ts';
import { claimOf, HELLO, NOON, resultOf, rows } from './values.ts';

const { environment, campaign } = HELLO;
const ALL = { environment, campaign: null };
const BY = { reason: 'wrong prices', who: 'ann@ops-1', nowMs: NOON };

describe('while it is paused', () => {
  it.each([
    ['the environment', ALL],
    ['the campaign', { environment, campaign }],
  ])('%s: nothing is claimed, results are recorded, and nothing else changes (A6)', (_, scope) => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(3));
    expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
    expect(open(path).pause(scope, BY)).toBeNull();
    expect(ledger.commit(run, [resultOf(0)], [claimOf(1), claimOf(2)], NOON)).toEqual(['paused', 'paused']);
    expect(fates(ledger, run)).toEqual(['accepted', 'pending', 'pending']);
    expect(open(path).resume(scope, { who: 'bo@ops-2', nowMs: NOON })?.who).toBe('ann@ops-1');
    expect(ledger.commit(run, [], [claimOf(1), claimOf(2)], NOON)).toEqual(['claimed', 'claimed']);
  });

  it('claims of steps and by reports are refused too', () => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(2));
    const facts = { channel: 'sms', variant: 'a', parts: 1, encoding: 'GSM-7', costMicros: null } as const;
    ledger.pause(ALL, BY);
    const claims = [
      { ...claimOf(0), facts },
      { ...claimOf(1), step: 1, byReport: true },
    ];
    expect(ledger.commit(run, [], claims, NOON)).toEqual(['paused', 'paused']);
  });

  it.each([
    ['another environment', { environment: 'other', campaign: null }],
    ['another campaign', { environment, campaign: 'other' }],
    ['this campaign elsewhere', { environment: 'other', campaign }],
  ])('%s: is sent to', (_, scope) => {
    const ledger = open(scratchPath());
    const run = givenRun(ledger, rows(1));
    ledger.pause(scope, BY);
    expect(ledger.pauseOf(run)).toBeNull();
    expect(ledger.commit(run, [], [claimOf(0)], NOON)).toEqual(['claimed']);
  });
});

it('the first pause stays, and each is ended by itself', () => {
  const ledger = open(scratchPath());
  ledger.pause({ environment, campaign }, BY);
  const first = { ...BY, environment, id: campaign, campaign, pausedAtMs: NOON };
  const { nowMs: _, ...shown } = first;
  expect(ledger.pause({ environment, campaign }, { ...BY, reason: 'other', who: 'bo' })).toEqual(shown);
  expect(ledger.pause(ALL, { ...BY, reason: 'all' })).toBeNull();
  expect(ledger.pauseOf({ environment, campaign })?.reason).toBe('all');
  expect(ledger.resume(ALL, BY)?.campaign).toBeNull();
  expect(ledger.resume(ALL, BY)).toBeNull();
  expect(ledger.pauses()).toEqual([shown]);
});

it('who ended it stays in the ledger', () => {
  const path = scratchPath();
  const ledger = open(path);
  ledger.pause(ALL, BY);
  ledger.resume(ALL, { who: 'bo@ops-2', nowMs: NOON });
  ledger.pause(ALL, BY);
  const found = lookInto(path, 'SELECT who, resumed_by FROM pauses ORDER BY number');
  expect(found).toEqual([
    ['ann@ops-1', 'bo@ops-2'],
    ['ann@ops-1', null],
  ]);
});
