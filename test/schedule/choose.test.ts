import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseDue, GRACE_MS, type KnownRun, waitsMs } from '../../src/schedule/choose.ts';
import { LATE_MS, occurrenceAt } from '../../src/schedule/occurrence.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';
import { CRONS, clock, INSTANTS, ZONES } from './clocks.ts';

const DAILY = '0 9 * * *';
const ms = (at: string): number => Date.parse(at);

function run(occurrence: string, more: Partial<KnownRun> = {}): KnownRun {
  const createdAtMs = ms(occurrence) + 3000;
  return { occurrence, state: 'finished', halt: null, createdAtMs, waitsUntilMs: null, isSame: true, ...more };
}

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

golden('what is due goes out once, and the answer names what is late', 'schedule/choose', (input) => {
  const { runs = [], ...look } = JSON.parse(input);
  return chosen({ ...look, runs: runs.map(({ occurrence, ...more }: KnownRun) => run(occurrence, more)) });
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
