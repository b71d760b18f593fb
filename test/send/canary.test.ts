import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutcomeState, StepCount, Threshold } from '../../src/model.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions } from '../../src/operations/send-options.ts';
import { createCanary, createGate, STAYS_MS, stepEnds } from '../../src/send/canary.ts';
import { createProgress } from '../../src/send/progress.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';

const START = Date.UTC(2026, 10, 21, 9);
const GATE = { accepted: null, delivered: null, optedOut: null, waitMs: 0 };

/** Contacts with the tag 422 are refused by the sandbox. */
function project(rows: number, canary: string, refused: (row: number) => boolean = () => false, repeats = 0) {
  const list = Array.from({ length: rows }, (_, row) => `sandbox-${row}${refused(row) ? '+422' : ''}`);
  const lines = [...list.slice(0, 1), ...Array(repeats).fill(list[0]), ...list.slice(1)];
  return createProject({
    'hello/campaign.yaml': campaign(canary),
    'hello/people.csv': `id\n${lines.join('\n')}\n`,
  });
}

function campaign(canary: string): string {
  return `name: hello
channel: sms
from: Riverside
template: { text: "Hi" }
recipients: { csv: people.csv, contact: id }
send: { canary: ${canary} }
`;
}

const start = (here: TestProject, options: Partial<SendOptions> = {}) =>
  send('hello', { cwd: here.root, env: {}, now: () => START, random: () => 0, ...options });

describe('a canary', () => {
  it('whose first hundredth is refused too often leaves the other 99% without a request', async () => {
    // 6 of the first 100, spread over them.
    using here = project(1_000, '10%', (row) => row % 17 === 3);
    const { report, posted, exit } = await start(here);
    expect({ posted, exit, state: report.state }).toEqual({ posted: 100, exit: 5, state: 'halted' });
    expect(report.totals).toMatchObject({ accepted: 94, rejected: 6, pending: 900 });
    expect(report.halt).toMatchObject({
      rule: 'canary',
      message:
        'The gate of the canary is shut: 94% of the first 100 recipients were accepted (94); send.canary.gate.accepted asks for 95%.',
    });
    // The next start is told the same, and no recipient gets anything.
    const again = await start(here);
    expect(again).toMatchObject({ posted: 0, exit: 5, report: { state: 'halted', totals: { pending: 900 } } });
  });

  it('goes on where its gate is changed', async () => {
    using here = project(200, '{ steps: 50 }', (row) => row < 10);
    expect(await start(here)).toMatchObject({ posted: 50, exit: 5 });
    here.write('hello/campaign.yaml', campaign('{ steps: 50, gate: { accepted: 75% } }'));
    expect(await start(here, { allow: ['input-changed'] })).toMatchObject({
      posted: 150,
      exit: 3,
      report: { state: 'finished' },
    });
  });

  it('that every recipient accepts sends to all, step by step', async () => {
    using here = project(300, '[5, 10%, 50%]');
    const { report, posted, exit } = await start(here);
    expect({ posted, exit, state: report.state }).toEqual({ posted: 300, exit: 0, state: 'finished' });
  });

  it('does not count who is left out by a rule', async () => {
    using here = project(60, '10', () => false, 11);
    const { posted, report } = await start(here);
    expect(posted).toBe(60);
    expect(report.totals).toMatchObject({ accepted: 60, skipped: 11 });
  });

  it('that is shorter than its step has no gate', async () => {
    using here = project(10, '100', (row) => row === 1);
    expect(await start(here)).toMatchObject({ posted: 10, exit: 3, report: { state: 'finished' } });
  });

  it('with a long pause leaves the rest to a later start', async () => {
    using here = project(40, '{ steps: [10, 20], pause: 1h }');
    const first = await start(here);
    expect(first).toMatchObject({ posted: 10, exit: 0, report: { state: 'partial', totals: { deferred: 30 } } });
    expect(first.report.reasons).toEqual({ deferred: { 'canary-undecided': 30 } });
    const early = await start(here, { now: () => START + 44 * 60_000 });
    expect(early).toMatchObject({ posted: 0, report: { totals: { accepted: 10, deferred: 30 } } });
    const second = await start(here, { now: () => START + 61 * 60_000 });
    expect(second).toMatchObject({ posted: 10, report: { totals: { accepted: 20, deferred: 20 } } });
    const third = await start(here, { now: () => START + 122 * 60_000 });
    expect(third).toMatchObject({ posted: 20, report: { state: 'finished', totals: { accepted: 40 } } });
  });

  it.each([
    ['a day and a half', 36],
    ['a week', 7 * 24],
  ])('with a pause of %s is gone on with for a day after it', async (_, hours) => {
    using here = project(40, `{ steps: 10, pause: ${hours}h }`);
    const later = (late: number) => ({ now: () => START + (hours + late) * 3_600_000 });
    expect(await start(here)).toMatchObject({ posted: 10, report: { state: 'partial' } });
    expect(await start(here, later(-1))).toMatchObject({ posted: 0, report: { totals: { deferred: 30 } } });
    expect(await start(here, later(23))).toMatchObject({ posted: 30, report: { state: 'finished' } });
    using late = project(40, `{ steps: 10, pause: ${hours}h }`);
    expect(await start(late)).toMatchObject({ posted: 10 });
    await expect(start(late, later(25))).rejects.toMatchObject({ code: 'too-late' });
  });

  it('is interrupted in its pause in good order', async () => {
    using here = project(40, '{ steps: 10, pause: 10m }');
    const stop = new AbortController();
    const timer = setInterval(() => waits() && stop.abort(), 10);
    let waits = () => false;
    const { report, posted } = await start(here, {
      signal: stop.signal,
      onEvent(event) {
        if (event.kind === 'sending') waits = () => event.figures.waits?.why === 'canary';
      },
    });
    clearInterval(timer);
    expect({ posted, state: report.state }).toEqual({ posted: 10, state: 'interrupted' });
    expect(report.totals).toMatchObject({ accepted: 10, pending: 30 });
  });

  it('asks nothing of a run that went through its gate before', async () => {
    using here = project(60, '10', (row) => row > 20 && row < 40);
    expect(await start(here, { limit: 30 })).toMatchObject({ posted: 30 });
    expect(await start(here)).toMatchObject({ posted: 30, exit: 3, report: { state: 'finished' } });
  });
});

describe('a canary beside other rules', () => {
  /** Numbers, of which every other one is in California; the one that ends in 422 is refused. */
  const people = (lines: string, refused = -1) =>
    createProject({
      'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }
recipients: { csv: people.csv, to: number, timeZone: zone }\n${lines}\n`,
      'hello/people.csv': `number,zone\n${Array.from(
        { length: 40 },
        (_, i) =>
          `+447700900${i === refused ? 422 : 100 + i},${i % 2 === 0 ? 'America/Los_Angeles' : 'Europe/London'}\n`,
      ).join('')}`,
    });

  it('ends a step in the middle of a request that several recipients share', async () => {
    const steps = 'steps: [10, 25], gate: { accepted: 99% }';
    using here = people(`send: { recipientsPerRequest: 7, canary: { ${steps} } }`, 12);
    // 7 and 3; then 7, 7 and 1.
    expect(await start(here)).toMatchObject({
      posted: 5,
      exit: 5,
      report: { totals: { accepted: 24, rejected: 1, pending: 15 } },
    });
  });

  it('ends a step with the recipients who are awake, and pauses from when they were sent to', async () => {
    using here = people('send: { canary: { steps: [10, 30], pause: 1h }, window: { from: "08:00", to: "20:00" } }');
    const found: string[] = [];
    // At 09:00 in London it is 01:00 in California, where the window opens at 16:00 UTC.
    for (const hours of [0, 1.01, 2, 7.5, 8, 9]) {
      const { posted, report } = await start(here, { now: () => START + hours * 3_600_000 });
      const { 'outside-window': asleep = 0, 'canary-undecided': paused = 0 } = report.reasons['deferred'] ?? {};
      found.push([posted, asleep, paused, report.opensAt?.slice(11, 16) ?? report.state].join(' '));
    }
    expect(found).toEqual([
      '10 20 10 10:00',
      '10 20 0 16:00',
      '0 20 0 16:00',
      '10 0 10 17:30',
      '0 0 10 17:30',
      '10 0 0 finished',
    ]);
  });
});

describe('its key', () => {
  it.each([
    ['0%', 'invalid-value'],
    ['100%', 'invalid-value'],
    ['0', 'invalid-value'],
    ['[10, 10]', 'invalid-value'],
    ['[10%, 5%]', 'invalid-value'],
    ['[]', 'invalid-value'],
    ['{ pause: 1h }', 'missing-key'],
    ['{ steps: 1, pause: 8d }', 'invalid-value'],
    ['{ steps: 1, gate: { accepted: 101% } }', 'invalid-value'],
    ['sometimes', 'invalid-value'],
  ])('%s is refused', async (canary, code) => {
    using here = project(2, canary);
    await expect(start(here)).rejects.toMatchObject({ code, exit: 2 });
  });
});

describe('steps', () => {
  it.each<[string, Threshold[], number, number[]]>([
    ['counts and shares', [{ count: 100 }, { share: 0.01 }, { share: 0.1 }], 50_000, [100, 500, 5_000]],
    ['in the order that the list makes of them', [{ count: 100 }, { share: 0.01 }], 1_000, [10, 100]],
    ['of an empty list', [{ share: 0.5 }], 0, [1]],
    ['that meet', [{ count: 10 }, { share: 0.1 }], 100, [10]],
    ['of shares that no double holds', [{ share: 0.07 }, { share: 0.55 }], 100, [7, 55]],
  ])('%s', (_, steps, rows, ends) => {
    expect(stepEnds(steps, rows)).toEqual(ends);
  });

  const count = (outcome: OutcomeState, many: number): StepCount => ({
    outcome,
    reason: null,
    encoding: null,
    variant: null,
    channel: 'sms',
    step: 0,
    count: many,
    parts: 0,
    costMicros: null,
    fellBack: false,
  });

  it.each([
    [0.55, 100, 55],
    [0.07, 100, 7],
    [0.95, 40, 38],
    [0.291, 1_000, 291],
    [1, 3, 3],
  ])(
    'have a gate of %d that is open for %d of which %d were accepted, and not for one less',
    (least, all, accepted) => {
      const judge = (many: number) =>
        createCanary(
          { steps: [{ count: all }], pauseMs: 0, gate: { ...GATE, accepted: least } },
          [count('accepted', many), count('rejected', all - many)],
          createProgress().figures,
        ).judge();
      expect(judge(accepted)).toBeNull();
      expect(judge(accepted - 1)).toContain('were accepted');
    },
  );

  it('let no recipient beyond a gate that has not decided, however starts and outcomes follow each other', () => {
    const outcome = fc.constantFrom<OutcomeState>('accepted', 'rejected', 'in-doubt', 'skipped');
    fc.assert(
      fc.property(
        fc.array(outcome, { minLength: 1, maxLength: 60 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 4 }),
        (outcomes, ends, stops) => {
          const steps = ends.toSorted((a, b) => a - b).map((n) => ({ count: n }));
          let done = 0;
          for (const until of [...stops, outcomes.length]) {
            const before = (['accepted', 'rejected', 'in-doubt', 'skipped'] as const).map((word) =>
              count(word, outcomes.slice(0, done).filter((o) => o === word).length),
            );
            const { figures } = createProgress();
            const canary = createCanary(
              { steps, pauseMs: 0, gate: { ...GATE, accepted: 0.9 } },
              [...before, count('pending', outcomes.length - done)],
              figures,
            );
            while (done < Math.min(until, outcomes.length)) {
              const so = outcomes.slice(0, done);
              const tried = so.filter((o) => o !== 'skipped').length;
              if (canary.room() <= 0) {
                canary.finish();
                if (canary.room() > 0) continue;
                expect(ends).toContain(tried);
                const accepted = so.filter((o) => o === 'accepted').length;
                expect(canary.judge() === null).toBe(accepted >= 0.9 * tried);
                if (canary.judge() !== null) return;
                canary.pass();
                continue;
              }
              // No recipient is put where a gate lies between them and the last judgement.
              expect(ends.filter((end) => end <= tried).every((end) => open(outcomes, end))).toBe(true);
              canary.put(1);
              figures.finished[outcomes[done] ?? 'pending'] += 1;
              done += 1;
            }
          }
        },
      ),
      { numRuns: examples(500) },
    );
  });

  /** The gate after so many that were tried was open. */
  function open(outcomes: readonly OutcomeState[], end: number): boolean {
    const tried = outcomes.filter((o) => o !== 'skipped').slice(0, end);
    return tried.filter((o) => o === 'accepted').length >= 0.9 * end;
  }
});

describe('its pause', () => {
  const gate = (pauseMs: number, stays: boolean, slept: number[], said: number[] = []) => {
    const progress = createProgress();
    const canary = { steps: [{ count: 1 }], pauseMs, gate: GATE };
    const steps = createCanary(canary, [], progress.figures);
    progress.figures.posted += 1;
    steps.put(1);
    progress.finished('accepted');
    return createGate({
      steps,
      pauseMs,
      lastClaimMs: null,
      stays,
      onEvent: (event) => void (event.kind === 'waits' && said.push(event.untilMs - START)),
      progress,
      stop: { shut: () => undefined },
      now: () => START,
      timers: { sleep: async (ms) => void slept.push(ms) },
      stopped: new AbortController().signal,
    });
  };

  it.each([
    ['is waited for', STAYS_MS, false, true, [STAYS_MS]],
    ['is left to the next start where it is long', STAYS_MS + 1, false, false, []],
    ['is waited for all the same with --wait', 10 * STAYS_MS, true, true, [10 * STAYS_MS]],
  ])('%s', async (_, pauseMs, stays, goesOn, expected) => {
    const slept: number[] = [];
    const said: number[] = [];
    expect(await gate(pauseMs, stays, slept, said).turn()).toBe(goesOn);
    expect(slept).toEqual(expected);
    expect(said).toEqual(goesOn && pauseMs > STAYS_MS ? [pauseMs] : []);
  });
});
