import { describe, expect, it, test } from 'vitest';
import { runId } from '../../src/ledger/runs.ts';
import { fates, givenRun, lookInto, open, scratchPath, thrown } from './scratch.ts';
import { claimOf, HELLO, loadRow, NOON, resultOf, rows } from './values.ts';

const INPUT = { role: 'campaign', file: 'hello.yaml', sha256: 'ab'.repeat(32) } as const;

describe('a new list', () => {
  it('is no run until its list is loaded', () => {
    const path = scratchPath();
    const ledger = open(path);
    const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    expect(draft).toMatchObject({ state: 'loading', rows: 0, starts: 0 });
    ledger.load(draft, rows(3));
    const other = open(path, { mode: 'read' });
    expect([other.runs(), other.findRun(HELLO), other.runById('hello')]).toEqual([[], null, []]);

    const run = ledger.finishLoad(draft, { inputs: [INPUT], identityHash: 'abc', nowMs: NOON + 5 });
    expect(run).toEqual({
      ...HELLO,
      id: runId(HELLO),
      number: draft.number,
      list: 1,
      channel: 'sms',
      state: 'partial',
      halt: null,
      inputs: [INPUT],
      identityHash: 'abc',
      createdAtMs: NOON + 5,
      startedAtMs: null,
      lastStartAtMs: null,
      finishedAtMs: null,
      starts: 0,
      rows: 3,
      winner: null,
      version: 1,
      versions: [{ inputs: [INPUT], commits: [], sinceMs: NOON + 5 }],
      commits: [],
      isCounted: true,
      purgedAtMs: null,
      closedAtMs: null,
      topic: null,
      postedFrom: null,
      name: HELLO.campaign,
      figures: null,
    });
    expect(other.findRun(HELLO)).toEqual(run);
    expect(other.runs()).toEqual([run]);
  });

  it('forgets what an earlier one left half loaded', () => {
    const path = scratchPath();
    const ledger = open(path);
    const left = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    ledger.load(left, rows(2));
    const run = givenRun(ledger, rows(1));
    expect(run.rows).toBe(1);
    expect(fates(ledger, run)).toEqual(['pending']);
    expect(lookInto(path, 'SELECT (SELECT count(*) FROM runs), count(*) FROM recipients')).toEqual([[1, 1]]);
  });

  it('can be discarded', () => {
    const ledger = open(scratchPath());
    const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    ledger.load(draft, rows(2));
    ledger.discardLoad(draft);
    expect(ledger.findRun(HELLO)).toBeNull();
    expect(() => ledger.load(draft, rows(1))).toThrow('no run');
  });

  it('refuses what makes no sense, whole', () => {
    const ledger = open(scratchPath());
    const draft = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    expect(() => ledger.load(draft, [loadRow(0), loadRow(1, { key: null })])).toThrow('no key');
    const twice = () => {
      ledger.load(draft, [loadRow(0), loadRow(0)]);
      // A shared ledger says so when it is asked next.
      ledger.runs();
    };
    expect(thrown(twice)).toMatchObject({ code: 'ledger-write', exit: 7 });
    expect(() => ledger.start(draft, NOON)).toThrow('not loaded');
    const run = ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON });
    expect(run.rows).toBe(0);
    expect(() => ledger.load(run, rows(1))).toThrow('is loaded');
    expect(() => ledger.discardLoad(run)).toThrow('is loaded');
    const again = ledger.beginLoad(HELLO, { channel: 'sms', nowMs: NOON });
    expect(thrown(() => ledger.finishLoad(again, { inputs: [], identityHash: '', nowMs: NOON }))).toMatchObject({
      exit: 7,
    });
  });
});

describe('finding', () => {
  test('ids tell runs apart by environment, campaign and occurrence, and fit file names', () => {
    const identities = ['sandbox', 'production'].flatMap((environment) =>
      ['a', 'b-c'].flatMap((campaign) =>
        ['once', '2026-11-21T09:00:00Z'].map((occurrence) => ({ environment, campaign, occurrence })),
      ),
    );
    const ids = identities.map(runId);
    expect(new Set(ids).size).toBe(identities.length);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]+-[0-9a-f]{8}$/);
    expect(runId(HELLO)).toBe(runId({ ...HELLO }));
  });

  test('by id and by campaign, oldest first', () => {
    const ledger = open(scratchPath());
    const runs = ['once', 'twice'].map((occurrence) => {
      const draft = ledger.beginLoad({ ...HELLO, occurrence }, { channel: 'sms', nowMs: NOON });
      return ledger.finishLoad(draft, { inputs: [], identityHash: '', nowMs: NOON });
    });
    expect(ledger.runById('hello')).toEqual(runs);
    expect(ledger.runById(runs[1]?.id ?? '')).toEqual([runs[1]]);
    expect(ledger.runById('other')).toEqual([]);
    const { name, occurrence } = runs[1] ?? {};
    expect(ledger.runById(`${name}@${occurrence}`)).toEqual([runs[1]]);
    expect(ledger.runById(`${name}@never`)).toEqual([]);
    const other = ledger.beginLoad({ ...HELLO, environment: 'staging' }, { channel: 'sms', nowMs: NOON });
    ledger.finishLoad(other, { inputs: [], identityHash: '', nowMs: NOON });
    ledger.beginLoad({ ...HELLO, occurrence: 'loading' }, { channel: 'sms', nowMs: NOON });
    expect(ledger.runsOf(HELLO)).toEqual(runs);
    expect(ledger.runsOf({ ...HELLO, campaign: 'other' })).toEqual([]);
    expect(ledger.findRun({ ...HELLO, environment: 'production' })).toBeNull();
  });

  test('who holds it', () => {
    const ledger = open(scratchPath());
    expect(ledger.lockOwner(HELLO)).toBeNull();
    ledger.setLockOwner(HELLO, { pid: 1, host: 'one', sinceMs: NOON });
    ledger.setLockOwner(HELLO, { pid: 2, host: 'two', sinceMs: NOON + 1 });
    expect(ledger.lockOwner(HELLO)).toEqual({ pid: 2, host: 'two', sinceMs: NOON + 1 });
    ledger.setLockOwner(HELLO, null);
    expect(ledger.lockOwner(HELLO)).toBeNull();
  });
});

describe('starts', () => {
  it('counts them, keeps the first, and takes up what can be tried again', () => {
    const ledger = open(scratchPath());
    const list = [...rows(5), loadRow(5, { state: 'deferred' }), loadRow(6, { state: 'skipped', reason: 'duplicate' })];
    const run = givenRun(ledger, list);
    ledger.commit(run, [], [0, 1, 2, 3].map(claimOf), NOON + 10);
    ledger.commit(
      run,
      [
        resultOf(0),
        resultOf(1, { state: 'failed', reason: 'connect', httpStatus: null, messageId: null }),
        resultOf(2, { state: 'rejected', reason: 'status', httpStatus: 400 }),
      ],
      [],
      NOON + 20,
    );
    const halt = { rule: 'throttled', message: 'Wait.', next: 'Run it again.' } as const;
    const halted = ledger.finish(run, { state: 'halted', halt, figures: { posted: 3 }, nowMs: NOON + 30 });
    expect(halted).toMatchObject({ state: 'halted', halt, figures: { posted: 3 }, finishedAtMs: NOON + 30 });
    expect(fates(ledger, run)).toEqual([
      'accepted',
      'failed(connect)',
      'rejected(status)',
      'in-doubt(crash)',
      'pending',
      'pending',
      'skipped(duplicate)',
    ]);

    const second = ledger.start(run, NOON + 40);
    expect(second.recovered).toBe(1);
    expect(second.run).toMatchObject({
      state: 'running',
      halt: null,
      starts: 2,
      startedAtMs: NOON,
      lastStartAtMs: NOON + 40,
      finishedAtMs: null,
      figures: { posted: 3 },
    });
    expect(fates(ledger, run)).toEqual([
      'accepted',
      'pending',
      'rejected(status)',
      'in-doubt(crash)',
      'pending',
      'pending',
      'skipped(duplicate)',
    ]);
    const doubt = [...ledger.outcomes(run)].flat()[3];
    expect(doubt).toMatchObject({ attempts: 1, updatedAt: new Date(NOON + 40).toISOString() });
    expect(ledger.pending(run, -1, 10).map(({ row, attempts }) => [row, attempts])).toMatchObject([
      [1, 1],
      [4, 0],
      [5, 0],
    ]);
    expect(ledger.start(run, NOON + 50).recovered).toBe(0);

    expect(ledger.reopenRejected(run)).toBe(1);
    expect(ledger.pending(run, 1, 1)).toMatchObject([{ row: 2, step: 0, key: claimOf(2).key, attempts: 1 }]);
    expect(ledger.commit(run, [], [claimOf(2)], NOON + 60)).toEqual(['claimed']);
  });
});

describe('the schedule of a campaign', () => {
  const daily = { schedule: '["0 9 * * *","UTC"]', seenMs: NOON - 1 };

  it('keeps the time at which it was first seen, in each environment, until another one takes its place', () => {
    const ledger = open(scratchPath());
    expect(ledger.scheduleOf(HELLO)).toBeNull();
    ledger.seeSchedules([[HELLO, daily]]);
    ledger.seeSchedules([[HELLO, { ...daily, seenMs: NOON + 5 }]]);
    expect(ledger.scheduleOf(HELLO)).toEqual(daily);
    expect(ledger.scheduleOf({ ...HELLO, environment: 'elsewhere' })).toBeNull();
    const hourly = { schedule: '["0 * * * *","UTC"]', seenMs: NOON + 9 };
    ledger.seeSchedules([[HELLO, hourly]]);
    expect(ledger.scheduleOf(HELLO)).toEqual(hourly);
    ledger.close();
  });
});

describe('the campaigns that were sent', () => {
  const of = (id: string, name: string, file = `${id}.yaml`) => ({ id, name, file });
  const never = () => null;

  it('are known by the name and the file of their last start, the last one first', () => {
    const path = scratchPath();
    const ledger = open(path);
    const run = givenRun(ledger, rows(1));
    expect(run.name).toBe(HELLO.campaign);
    for (const one of [of(HELLO.campaign, 'welcome'), of('b', 'b'), of('b', 'bee', 'moved.yaml')])
      expect(ledger.rememberCampaign(one, never)).toBeNull();
    expect(open(path).campaigns()).toEqual([of('b', 'bee', 'moved.yaml'), of(HELLO.campaign, 'welcome')]);
    ledger.rememberCampaign(of(HELLO.campaign, 'welcome'), never);
    expect(ledger.campaigns().map(({ id }) => id)).toEqual([HELLO.campaign, 'b']);
    expect(ledger.findRun(HELLO)?.name).toBe('welcome');
    expect(ledger.runById('welcome')).toHaveLength(1);
    expect(ledger.runById(HELLO.campaign)).toHaveLength(0);
  });

  it('stay as they are where the answer is no', () => {
    const ledger = open(scratchPath());
    ledger.rememberCampaign(of('a', 'a'), never);
    const seen: string[] = [];
    const refusal = (known: readonly { readonly id: string }[]): string => {
      seen.push(...known.map(({ id }) => id));
      return 'no';
    };
    expect(ledger.rememberCampaign(of('b', 'a'), refusal)).toBe('no');
    expect(seen).toEqual(['a']);
    expect(ledger.campaigns()).toEqual([of('a', 'a')]);
  });
});
