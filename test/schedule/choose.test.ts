import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { chooseDue, GRACE_MS, type KnownRun, waitsMs } from '../../src/schedule/choose.ts';
import { LATE_MS, occurrenceAt } from '../../src/schedule/occurrence.ts';
import { examples } from '../helpers/quick.ts';
import { CRONS, clock, INSTANTS, ZONES } from './clocks.ts';

const DAILY = '0 9 * * *';
const ms = (at: string): number => Date.parse(at);

function run(occurrence: string, more: Partial<KnownRun> = {}): KnownRun {
  const createdAtMs = ms(occurrence) + 3000;
  return { occurrence, state: 'finished', halt: null, createdAtMs, waitsUntilMs: null, isSame: true, ...more };
}

const THURSDAY = run('2026-11-19T09:00:00Z');
const FRIDAY = run('2026-11-20T09:00:00Z');

interface Look {
  readonly now: string;
  readonly looked?: string;
  readonly cron?: string;
  readonly missed?: 'catch-up' | 'skip';
  readonly runs?: readonly KnownRun[];
  readonly notAfter?: string;
  readonly waits?: number;
  readonly seen?: string;
  readonly isRemembered?: boolean;
  readonly asksCatchUp?: boolean;
}

/** What is chosen, in one line for each step: `send 2026-11-21T09:00:00Z`. */
function chosen({
  now,
  looked,
  cron = DAILY,
  missed = 'catch-up',
  runs = [],
  notAfter,
  waits = 0,
  ...more
}: Look): string[] {
  const { seen = '2026-01-01T00:00:00Z', isRemembered = false, asksCatchUp = false } = more;
  const steps = chooseDue(clock(cron), {
    schedule: { cron, at: null, timeZone: 'UTC', missed, asksCatchUp },
    notAfterMs: notAfter === undefined ? null : ms(notAfter),
    waitsMs: waits,
    nowMs: ms(now),
    lookedMs: ms(looked ?? now),
    seenMs: ms(seen),
    isRemembered,
    runs,
  });
  return steps.map(({ action, why, occurrence, missed: before }) =>
    [action, why, occurrence.slice(8, 16), before === null ? null : `missed ${before.count}`].filter(Boolean).join(' '),
  );
}

describe('a campaign that ran before', () => {
  it.each<[label: string, look: Look, expected: string[]]>([
    ['on time', { now: '2026-11-21T09:00:00Z', runs: [FRIDAY] }, ['send 21T09:00']],
    ['a millisecond early', { now: '2026-11-21T08:59:59.999Z', runs: [FRIDAY] }, []],
    ['again', { now: '2026-11-21T09:00:00.9Z', runs: [FRIDAY, run('2026-11-21T09:00:00Z')] }, []],
    ['five hours late', { now: '2026-11-21T14:00:00Z', runs: [FRIDAY] }, ['send 21T09:00']],
    [
      'five hours late, skipping',
      { now: '2026-11-21T14:00:00Z', runs: [FRIDAY], missed: 'skip' },
      ['miss late 21T09:00'],
    ],
    ['an hour late, skipping', { now: '2026-11-21T10:00:00Z', runs: [FRIDAY], missed: 'skip' }, ['send 21T09:00']],
    [
      'looked for in time, and its turn came late, skipping',
      { now: '2026-11-21T14:00:00Z', looked: '2026-11-21T09:00:01Z', runs: [FRIDAY], missed: 'skip' },
      ['send 21T09:00'],
    ],
    [
      'its turn came after the next instant',
      {
        now: '2026-11-21T12:00:30Z',
        looked: '2026-11-21T09:00:01Z',
        cron: '0 * * * *',
        runs: [run('2026-11-21T08:00:00Z')],
      },
      ['send 21T12:00 missed 3'],
    ],
    ['two missed', { now: '2026-11-21T09:01:00Z', runs: [run('2026-11-18T09:00:00Z')] }, ['send 21T09:00 missed 2']],
    [
      'a month missed: those of a week',
      { now: '2026-11-21T09:01:00Z', runs: [run('2026-10-21T09:00:00Z')] },
      ['send 21T09:00 missed 6'],
    ],
    [
      'many missed: only the latest',
      { now: '2026-11-21T12:10:00Z', cron: '0 * * * *', runs: [run('2026-11-21T08:00:00Z')] },
      ['send 21T12:00 missed 3'],
    ],
    [
      'more than a day late',
      { now: '2026-11-21T09:00:01Z', cron: '0 9 20 * *', runs: [THURSDAY] },
      ['miss late 20T09:00'],
    ],
    ['exactly a day late', { now: '2026-11-21T09:00:00Z', cron: '0 9 20 * *', runs: [THURSDAY] }, ['send 20T09:00']],
    ['after its end', { now: '2026-11-21T09:00:00Z', runs: [FRIDAY], notAfter: '2026-11-21T08:59:00Z' }, []],
    [
      'at its end',
      { now: '2026-11-21T09:05:00Z', runs: [FRIDAY], notAfter: '2026-11-21T09:00:00Z' },
      ['send 21T09:00'],
    ],
  ])('%s', (_label, look, expected) => {
    expect(chosen(look)).toEqual(expected);
  });
});

describe('a campaign that is new, or another one now', () => {
  const changed = run('2026-11-20T09:00:00Z', { isSame: false });
  it.each<[label: string, look: Look, expected: string[]]>([
    ['on time', { now: '2026-11-21T09:00:02Z' }, ['send 21T09:00']],
    ['an hour after its instant', { now: '2026-11-21T10:00:00Z' }, ['send 21T09:00']],
    ['later', { now: '2026-11-21T10:00:01Z' }, ['miss new 21T09:00']],
    ['days later', { now: '2026-11-24T09:00:00Z', cron: '0 9 20 * *' }, []],
    ['changed since, on time', { now: '2026-11-21T09:00:02Z', runs: [changed] }, ['send 21T09:00']],
    ['changed since, later', { now: '2026-11-21T10:00:01Z', runs: [changed] }, ['miss new 21T09:00']],
    [
      'tried out after the instant',
      { now: '2026-11-21T12:00:00Z', runs: [run('trial', { createdAtMs: ms('2026-11-21T11:00:00Z') })] },
      ['miss new 21T09:00'],
    ],
    [
      'tried out before it',
      {
        now: '2026-11-21T12:00:00Z',
        seen: '2026-11-21T07:00:00Z',
        runs: [run('trial', { createdAtMs: ms('2026-11-21T08:00:00Z') })],
      },
      ['send 21T09:00'],
    ],
  ])('%s', (_label, look, expected) => {
    expect(chosen(look)).toEqual(expected);
  });
});

describe('a schedule that was first seen lately', () => {
  const [now, seen] = ['2026-11-21T09:00:04Z', '2026-11-21T09:00:02Z'];
  it.each<[label: string, look: Look, expected: string[]]>([
    ['after the instant', { now, seen }, ['miss new 21T09:00']],
    ['after the instant, and another occurrence was sent before', { now, seen, runs: [FRIDAY] }, ['miss new 21T09:00']],
    ['after the instant, and the campaign asks to catch up', { now, seen, asksCatchUp: true }, ['send 21T09:00']],
    [
      'the same, more than an hour later',
      { now: '2026-11-21T10:30:00Z', seen, asksCatchUp: true },
      ['miss new 21T09:00'],
    ],
    ['in the same moment', { now, seen: '2026-11-21T09:00:00Z' }, ['send 21T09:00']],
    ['before it', { now, seen: '2026-11-21T08:59:00Z' }, ['send 21T09:00']],
    [
      'before it, and the machine was off',
      { now: '2026-11-21T15:00:00Z', seen: '2026-11-21T08:59:00Z', isRemembered: true },
      ['send 21T09:00'],
    ],
    [
      'before it, but the ledger is a new one',
      { now: '2026-11-21T15:00:00Z', seen: '2026-11-21T08:59:00Z' },
      ['miss new 21T09:00'],
    ],
    ['days ago: never meant', { now, cron: '0 9 19 * *', seen }, []],
    [
      'between two instants: those before it were not missed',
      { now: '2026-11-21T12:10:00Z', cron: '0 * * * *', seen: '2026-11-21T10:30:00Z', isRemembered: true },
      ['send 21T12:00 missed 1'],
    ],
  ])('%s', (_label, look, expected) => {
    expect(chosen(look)).toEqual(expected);
  });
});

describe('runs that are not finished', () => {
  const now = '2026-11-20T10:00:00Z';
  const friday = (more: Partial<KnownRun>) => run('2026-11-20T09:00:00Z', more);
  it.each<[label: string, look: Look, expected: string[]]>([
    ['partial', { now, runs: [friday({ state: 'partial' })] }, ['continue 20T09:00']],
    ['interrupted', { now, runs: [friday({ state: 'interrupted' })] }, ['continue 20T09:00']],
    ['running', { now, runs: [friday({ state: 'running' })] }, ['leave running 20T09:00']],
    ['the API was down', { now, runs: [friday({ state: 'halted', halt: 'api-down' })] }, ['continue 20T09:00']],
    ['throttled', { now, runs: [friday({ state: 'halted', halt: 'throttled' })] }, ['continue 20T09:00']],
    [
      'the key was refused',
      { now, runs: [friday({ state: 'halted', halt: 'not-authorised' })] },
      ['leave halted 20T09:00'],
    ],
    ['doubts', { now, runs: [friday({ state: 'halted', halt: 'doubt' })] }, ['leave halted 20T09:00']],
    [
      'a day later',
      { now: '2026-11-21T09:00:00.001Z', runs: [friday({ state: 'partial' })] },
      ['leave late 20T09:00', 'send 21T09:00'],
    ],
    [
      'more than a week after that',
      { now: '2026-11-28T09:00:00.001Z', runs: [friday({ state: 'partial' })] },
      ['send 28T09:00 missed 6'],
    ],
    [
      'the next instant too, in order',
      { now: '2026-11-20T10:00:00Z', cron: '0 * * * *', runs: [friday({ state: 'partial' })] },
      ['continue 20T09:00', 'send 20T10:00'],
    ],
    [
      'the next instant too, skipping',
      { now: '2026-11-20T10:00:00Z', cron: '0 * * * *', missed: 'skip', runs: [friday({ state: 'partial' })] },
      ['leave superseded 20T09:00', 'send 20T10:00'],
    ],
    [
      'the latest, skipping, late',
      { now, missed: 'skip', runs: [friday({ state: 'partial' })] },
      ['continue 20T09:00'],
    ],
    [
      'days later, waiting for a window',
      { now: '2026-11-23T09:00:00.001Z', waits: 13 * LATE_MS, runs: [friday({ state: 'partial' })] },
      ['continue 20T09:00', 'send 23T09:00 missed 2'],
    ],
    [
      'weeks later, waiting for a window',
      { now: '2026-12-04T09:00:01Z', waits: 13 * LATE_MS, runs: [friday({ state: 'partial' })] },
      ['leave late 20T09:00', 'send 04T09:00 missed 6'],
    ],
    [
      'a day later, in the pause of a canary',
      { now: '2026-11-21T15:00:00Z', cron: '0 9 20 * *', waits: 48 * 3_600_000, runs: [friday({ state: 'partial' })] },
      ['continue 20T09:00'],
    ],
    ['another name', { now, runs: [friday({}), run('trial', { state: 'partial', createdAtMs: 0 })] }, []],
  ])('%s', (_label, look, expected) => {
    expect(chosen(look)).toEqual(expected);
  });
});

test('a campaign that may wait for a window and for pauses waits for both', () => {
  const canary = {
    steps: [{ count: 1 }, { share: 0.1 }],
    pauseMs: 3_600_000,
    gate: { accepted: null, delivered: null, optedOut: null, waitMs: 0 },
  };
  expect(waitsMs({ window: null, canary: null })).toBe(0);
  expect(waitsMs({ window: null, canary })).toBe(2 * 3_600_000);
});

describe('whatever the expression, and however often it is looked', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 30 * 3_600_000 }), { minLength: 1, maxLength: 60 });
  const policy = fc.constantFrom('catch-up' as const, 'skip' as const);

  /** Looks again and again; everything that is sent is in the ledger from then on. */
  function simulate(
    { cron, timeZone, missed, seenMs }: { cron: string; timeZone: string; missed: 'catch-up' | 'skip'; seenMs: number },
    instants: readonly number[],
  ) {
    const ticking = clock(cron, timeZone);
    const runs: KnownRun[] = [];
    const sent: { readonly occurrence: string; readonly nowMs: number }[] = [];
    for (const nowMs of instants) {
      const facts = {
        schedule: { cron, at: null, timeZone, missed, asksCatchUp: false },
        notAfterMs: null,
        waitsMs: 0,
        nowMs,
        lookedMs: nowMs,
        seenMs,
        isRemembered: true,
        runs,
      };
      const steps = chooseDue(ticking, facts).filter(({ action }) => action === 'send');
      expect(steps.length).toBeLessThanOrEqual(1);
      for (const { occurrence } of steps) {
        sent.push({ occurrence, nowMs });
        runs.push(run(occurrence, { createdAtMs: nowMs }));
      }
    }
    return sent;
  }

  test('each occurrence is sent at most once, never early and never too late', () => {
    fc.assert(
      fc.property(CRONS, ZONES, policy, INSTANTS, gaps, (cron, zone, missed, from, steps) => {
        let at = from;
        const instants = steps.map((step) => {
          at += step;
          return at;
        });
        const sent = simulate({ cron, timeZone: zone, missed, seenMs: from }, instants);
        const { latest } = clock(cron, zone);
        expect(new Set(sent.map(({ occurrence }) => occurrence)).size).toBe(sent.length);
        for (const { occurrence, nowMs } of sent) {
          const late = nowMs - ms(occurrence);
          expect(late).toBeGreaterThanOrEqual(0);
          expect(ms(occurrence)).toBeGreaterThanOrEqual(from);
          expect(late).toBeLessThanOrEqual(missed === 'skip' ? GRACE_MS : LATE_MS);
          expect(latest(ms(occurrence))).toBe(ms(occurrence));
        }
      }),
      { numRuns: examples(200) },
    );
  });

  test('looked at often enough, each occurrence is sent exactly once', () => {
    const often = fc.array(fc.integer({ min: 1, max: GRACE_MS }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(CRONS, ZONES, policy, INSTANTS, often, (cron, zone, missed, from, jitter) => {
        const { next } = clock(cron, zone);
        const due: number[] = [];
        for (let at = next(from); at !== null && due.length < 11; at = next(at)) due.push(at);
        // Once between each two, at some moment; and whenever else.
        const looked = due.slice(0, 10);
        const instants = looked.flatMap((at, i) => {
          const room = Math.min((due[i + 1] ?? at + GRACE_MS) - at - 1, GRACE_MS);
          const first = at + Math.min(jitter[i % jitter.length] ?? 0, room);
          return [first, Math.min(first + 1, at + room)];
        });
        const sent = simulate({ cron, timeZone: zone, missed, seenMs: from }, instants);
        expect(sent.map(({ occurrence }) => occurrence)).toEqual(looked.map(occurrenceAt));
      }),
      { numRuns: examples(200) },
    );
  });
});
