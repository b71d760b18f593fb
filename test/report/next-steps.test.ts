import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { REASONS } from '../../src/http/classify.ts';
import { FELL_BACK } from '../../src/ledger/records.ts';
import { DEFER_REASONS, type Report, SKIP_REASONS } from '../../src/model.ts';
import { briefText } from '../../src/report/format-brief.ts';
import { nextSteps } from '../../src/report/next-steps.ts';
import { REASON_WORDS, reasonWords } from '../../src/report/reason-words.ts';
import { countOf, duration, instant, milliseconds, percent, period } from '../../src/report/words.ts';
import { PLAIN, SPLIT, TROUBLED } from './examples.ts';

const withTotals = (totals: Partial<Report['totals']>, rest: Partial<Report> = {}): Report => ({
  ...PLAIN,
  ...rest,
  totals: { ...PLAIN.totals, ...totals },
});

describe('nextSteps of a run that accepts approved plans only', () => {
  it('names the plan, and says what to do where it would have to be amended', () => {
    const failed = nextSteps(withTotals({ failed: 1 }, { environment: 'production' }), 'hello', 'a b.json');
    expect(failed.map(({ command }) => command)).toEqual([`handbill send --plan 'a b.json'`]);
    const again = nextSteps(withTotals({ failed: 1 }, { occurrence: '2026-11-25' }), 'hello', 'standing.json');
    expect(again.map(({ command }) => command)).toEqual(['handbill send --plan standing.json --occurrence 2026-11-25']);
    const waits = withTotals({ deferred: 1 }, { reasons: { deferred: { 'zone-unknown': 1 } } });
    const [step] = nextSteps(waits, 'hello', 'p.json').slice(-1);
    expect(step).toMatchObject({ command: null, text: expect.stringContaining('`exclude: [hello@once]`') });
    expect(step?.text).not.toContain(':.');
  });
});

describe('nextSteps offers what can be done now', () => {
  const paused = { environment: 'production', campaign: 'hello', reason: 'wrong', who: 'ann', since: PLAIN.startedAt };

  it('while it is paused, to resume comes first', () => {
    for (const rule of ['paused', 'canary'] as const) {
      const halt = { rule, message: 'hello has been paused since then.', next: 'End the pause, then send again.' };
      const report = withTotals({ pending: 2, rejected: 1 }, { state: 'halted', halt, paused });
      const [first, ...rest] = nextSteps(report, 'hello');
      expect(first).toEqual({
        text: 'Nothing is sent while hello in production is paused. This ends the pause:',
        command: 'handbill resume --env production --campaign hello',
      });
      expect(rest.filter(({ command }) => command?.startsWith('handbill send')).length).toBeGreaterThan(0);
      expect(rest.some(({ text }) => /has been paused/.test(text))).toBe(false);
    }
  });
  it('a pause that is over is no step', () => {
    const halt = { rule: 'paused', message: 'hello has been paused since then.', next: 'End the pause.' } as const;
    expect(nextSteps(withTotals({ pending: 2 }, { state: 'halted', halt }), 'hello')).toEqual([
      { text: '2 recipients still to be sent to. Running again continues with them:', command: 'handbill send hello' },
    ]);
  });
  it('nothing is sent again beside a process that is sending', () => {
    const refused = { rejected: 3, pending: 1, failed: 1, deferred: 1 };
    const reasons = { rejected: { 'unsupported-channel': 1, status: 2 } };
    const steps = nextSteps(withTotals(refused, { state: 'running', reasons, fallbacksDue: 1 }), 'hello');
    expect(steps.filter(({ command }) => command?.startsWith('handbill send'))).toEqual([]);
  });
});

describe('nextSteps of a run that was halted, with recipients left', () => {
  const halt = { rule: 'canary', message: 'The canary failed.', next: 'Mend it.' } as const;
  const halted = (totals: Partial<Report['totals']>): Report => withTotals(totals, { state: 'halted', halt });
  const left = '2 recipients still to be sent to.';

  it('does not say again how to go on, which the step of the halt says', () => {
    const commands = nextSteps(halted({ pending: 2 }), 'hello').map(({ command }) => command);
    expect(commands).toEqual(['handbill send hello --allow input-changed']);
  });
  it('offers no command twice', () => {
    const busy = withTotals(
      { pending: 3, rejected: 1 },
      { state: 'partial', reasons: { pending: { 'rate-limited': 2 } }, opensAt: '2026-11-21T09:15:00.000Z' },
    );
    expect(nextSteps(busy, 'hello').slice(1)).toEqual([
      { text: '1 recipient still to be sent to. Running again continues with them:', command: 'handbill send hello' },
      {
        text: 'The API was too busy for 2 recipients, who wait until 2026-11-21 09:15 UTC. Run it again after that, as above.',
        command: null,
      },
    ]);
    const commands = nextSteps(halted({ pending: 2, rejected: 1 }), 'hello').flatMap(({ command }) => command ?? []);
    expect(new Set(commands).size).toBe(commands.length);
  });
  it('amends where a row is probably the cause, and says what to do with an approved plan', () => {
    const next = 'Take it out, and send again with --allow input-changed.';
    const one = { rule: 'not-authorised', message: 'Refused.', next, at: { file: 'people.csv', line: 8 } } as const;
    const report = withTotals({ accepted: 7, pending: 2 }, { state: 'halted', halt: one });
    expect(nextSteps(report, 'hello')[0]?.command).toBe('handbill send hello --allow input-changed');
    const [planned] = nextSteps(report, 'hello', 'p.json');
    expect(planned).toMatchObject({ command: null, text: expect.stringContaining('`exclude: [hello@once]`') });
  });
  it('says nothing of a command where none continues', () => {
    const last = nextSteps(halted({ pending: 2 }), 'hello', 'p.json').at(-1);
    expect(last).toEqual({ text: left, command: null });
  });
});

describe('nextSteps', () => {
  it('has nothing to say after a run without trouble', () => {
    expect(nextSteps(PLAIN, 'hello')).toEqual([]);
  });
  test.each<[label: string, report: Report, command: string, says: RegExp]>([
    ['in doubt', withTotals({ inDoubt: 1 }), 'handbill doubt list hello-00c0ffee', /does not send it again by itself/],
    ['rejected', withTotals({ rejected: 2 }), 'handbill send hello --retry rejected', /refused 2 recipients/],
    ['failed', withTotals({ failed: 1 }), 'handbill send hello', /Nothing was sent to 1 recipient:/],
    [
      'not reached',
      { ...PLAIN, fallbacksDue: 2 },
      'handbill send hello',
      /did not reach 2 recipients.*sends them the fallb/,
    ],
    [
      'replies to read',
      { ...PLAIN, replies: { recipients: 4, review: 1 } },
      'handbill replies review',
      /^1 reply may mean to opt out, and waits for review:/,
    ],
    ['pending', withTotals({ pending: 1 }), 'handbill send hello', /1 recipient still/],
    ['deferred', withTotals({ deferred: 3 }), 'handbill send hello', /3 recipients deferred/],
    [
      'pending, still running',
      withTotals({ pending: 1 }, { state: 'running' }),
      'handbill report hello-00c0ffee',
      /goes on/,
    ],
    [
      'another environment and occurrence',
      withTotals({ failed: 1 }, { environment: 'production', occurrence: '2026-11-21T09:00:00Z' }),
      'handbill send hello --env production --occurrence 2026-11-21T09:00:00Z',
      /./,
    ],
  ])('%s', (_label, report, command, says) => {
    const steps = nextSteps(report, 'hello');
    expect(steps).toHaveLength(1);
    expect(steps[0]?.command).toBe(command);
    expect(steps[0]?.text).toMatch(says);
  });
  test.each<[label: string, report: Report, steps: readonly (readonly [command: string | null, says: RegExp])[]]>([
    [
      'who waits for the winner',
      withTotals({ deferred: 3 }, { state: 'partial', reasons: { deferred: { 'winner-undecided': 3 } } }),
      [['handbill send hello --winner NAME', /^3 recipients wait .* say its name, and it goes to the others:$/]],
    ],
    [
      'who waits for one of these',
      { ...SPLIT, totals: { ...PLAIN.totals, deferred: 1 }, reasons: { deferred: { 'winner-undecided': 1 } } },
      [
        [
          'handbill send hello --env production --occurrence 2026-11-21T09:00:00Z --winner NAME',
          /^1 recipient waits .* its name \(B, A, C\), and it goes to that one:$/,
        ],
      ],
    ],
    [
      'who waits, and who is left',
      withTotals({ deferred: 5, pending: 1 }, { reasons: { deferred: { 'winner-undecided': 3 } } }),
      [
        ['handbill send hello', /^1 recipient still to be sent to. 2 recipients deferred to a later time. Running/],
        ['handbill send hello --winner NAME', /^3 recipients wait/],
      ],
    ],
    [
      'the pause of a canary',
      withTotals(
        { deferred: 3 },
        { state: 'partial', opensAt: '2026-11-21T10:00:00.001Z', reasons: { deferred: { 'canary-undecided': 3 } } },
      ),
      [
        [
          'handbill send hello',
          /^3 recipients wait until the canary goes on, at 2026-11-21 10:01 UTC at the latest. Run/,
        ],
      ],
    ],
    [
      'the pause of a canary, and windows',
      withTotals(
        { deferred: 4 },
        {
          state: 'partial',
          opensAt: '2026-11-21T10:00:00.000Z',
          reasons: { deferred: { 'canary-undecided': 3, 'outside-window': 1 } },
        },
      ),
      [
        [
          'handbill send hello',
          /^4 recipients wait until .* the canary goes on, the first at 2026-11-21 10:00 UTC. Run/,
        ],
      ],
    ],
    [
      'a gate that is shut',
      withTotals({ pending: 3 }, { state: 'halted', halt: { rule: 'canary', message: 'Shut.', next: 'Change it.' } }),
      [['handbill send hello --allow input-changed', /^Change it.$/]],
    ],
    [
      'a test that goes on',
      withTotals({ deferred: 3 }, { state: 'running', reasons: { deferred: { 'winner-undecided': 3 } } }),
      [],
    ],
    [
      'who cannot receive the channel',
      withTotals({ rejected: 5 }, { reasons: { rejected: { 'unsupported-channel': 5 } } }),
      [
        [
          'handbill send hello --retry rejected --allow input-changed',
          /^5 recipients cannot receive the channel. A `fallback` to another/,
        ],
      ],
    ],
    [
      'who cannot receive the fallback either',
      withTotals({ rejected: 1 }, { steps: SPLIT.steps ?? [], reasons: { rejected: { 'unsupported-channel': 1 } } }),
      [
        [
          'handbill send hello --retry rejected --allow input-changed',
          /^1 recipient cannot receive any of the channels. A /,
        ],
      ],
    ],
    [
      'those who had opted out, beside one who was refused',
      withTotals({ rejected: 3 }, { reasons: { rejected: { 'opted-out': 2, refused: 1 } } }),
      [['handbill send hello --retry rejected', /^The API refused 1 recipient\./]],
    ],
    ['opt-outs alone', withTotals({ rejected: 2 }, { reasons: { rejected: { 'opted-out': 2 } } }), []],
    [
      'some of those who were refused',
      withTotals({ rejected: 5 }, { reasons: { rejected: { 'unsupported-channel': 3, status: 2 } } }),
      [
        ['handbill send hello --retry rejected', /^The API refused 2 recipients/],
        ['handbill send hello --retry rejected --allow input-changed', /^3 recipients cannot receive/],
      ],
    ],
    [
      'a halt by doubts of a test: no other recipient is left to send to',
      {
        ...TROUBLED,
        campaign: 'hello',
        occurrence: 'once',
        environment: 'sandbox',
        totals: { ...PLAIN.totals, deferred: 3 },
        reasons: { deferred: { 'winner-undecided': 3 } },
      },
      [['handbill send hello --winner NAME', /^3 recipients wait/]],
    ],
  ])('%s', (_label, report, expected) => {
    const steps = nextSteps(report, 'hello');
    expect(steps.map(({ command }) => command)).toEqual(expected.map(([command]) => command));
    for (const [index, [, says]] of expected.entries()) expect(steps[index]?.text).toMatch(says);
  });
  it('begins with what to do about a halt, whose reason the verdict has', () => {
    const steps = nextSteps(TROUBLED, 'spring-sale');
    expect(steps.map(({ command }) => command?.split(' ')[1] ?? null)).toEqual(['send', 'doubt', 'send']);
    expect(steps[0]?.text).toBe(TROUBLED.halt?.next);
  });
  it('forgets a halt by doubts once they are resolved, but for sending on', () => {
    const resolved = { ...TROUBLED, totals: { ...TROUBLED.totals, inDoubt: 0, rejected: 0 } };
    const steps = nextSteps(resolved, 'spring-sale');
    expect(steps[0]?.text).toContain('All of them are resolved');
    expect(steps[0]?.command).toContain('handbill send spring-sale');
    expect(steps[0]?.text).not.toContain('Five requests');
    const other = {
      ...resolved,
      halt: { rule: 'throttled', message: 'The API asks to wait.', next: 'Wait.' } as const,
    };
    expect(nextSteps(other, 'spring-sale')[0]?.text).toBe('Wait.');
  });
  it('does not send again where a halt by doubts has left nothing else', () => {
    const only = { ...TROUBLED, totals: { ...TROUBLED.totals, rejected: 0, failed: 0, pending: 0 } };
    const steps = nextSteps(only, 'spring-sale');
    expect(steps.map(({ command }) => command)).toEqual([`handbill doubt list ${TROUBLED.run}`]);
  });
  test.each(["it's here", 'a b', '$(touch x)', '`x`', 'a;b', 'ü', '*', '-x', '"', "'"])(
    'a shell takes %j as one word',
    (word) => {
      const [step] = nextSteps(withTotals({ failed: 1 }, { occurrence: word }), word);
      const script = `handbill() { printf '%s\\n' "$@"; }; ${step?.command}`;
      const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
      expect(printed.split('\n')).toEqual(['send', word, '--occurrence', word, '']);
    },
  );
});

describe('reasons', () => {
  it.each([...SKIP_REASONS, ...DEFER_REASONS, ...REASONS, FELL_BACK, 'crash', 'resolved', 'resend'])(
    '%s has words, short enough for a terminal',
    (reason) => {
      expect(reasonWords(reason)).toMatch(/^.{5,60}$/);
    },
  );
  it('each has a row in the documentation, and no others do', () => {
    const page = readFileSync(new URL('../../docs/reference/outcomes.md', import.meta.url), 'utf8');
    const rows = page
      .slice(page.indexOf('## Reasons'), page.indexOf('## Steps'))
      .matchAll(/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| .+ \|$/gm);
    const named = [...rows].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '));
    expect(named.toSorted()).toEqual(Object.keys(REASON_WORDS).toSorted());
  });
  it('knows no others', () => {
    const known = new Set<string>([
      ...SKIP_REASONS,
      ...DEFER_REASONS,
      ...REASONS,
      FELL_BACK,
      'crash',
      'resolved',
      'resend',
    ]);
    expect(Object.keys(REASON_WORDS).filter((reason) => !known.has(reason))).toEqual([]);
    expect(reasonWords('toString')).toBe('');
    expect(reasonWords('of another version')).toBe('');
  });
});

describe('words', () => {
  test.each([
    [0, 10, '0%'],
    [10, 10, '100%'],
    [0, 0, '0%'],
    [1, 3, '33.3%'],
    [1, 1_000_000, '< 0.1%'],
    [999_999, 1_000_000, '99.9%'],
  ])('%i of %i is %s', (part, whole, text) => {
    expect(percent(part, whole)).toBe(text);
  });
  test.each([
    [0, '0.0 s'],
    [840, '0.8 s'],
    [9949, '9.9 s'],
    [9950, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min 0 s'],
    [185_000, '3 min 5 s'],
    [7_230_000, '2 h 0 min'],
  ])('%i ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
  test.each([
    [0.423, '0.42 ms'],
    [4, '4 ms'],
    [12.6, '13 ms'],
    [1204, '1.2 s'],
  ])('a latency of %d is %s', (ms, text) => {
    expect(milliseconds(ms)).toBe(text);
  });
  it('counts and dates', () => {
    expect(countOf(1, 'part')).toBe('1 part');
    expect(countOf(12_000, 'part')).toBe('12,000 parts');
    expect(instant('2026-11-21T09:00:00.999Z')).toBe('2026-11-21 09:00:00 UTC');
    expect(instant('soon')).toBe('soon');
    const begun = { ...PLAIN, startedAt: '2026-11-21T09:00:00Z', finishedAt: null };
    expect(period(begun)).toBe('Started 2026-11-21 09:00:00 UTC.');
    expect(period({ ...begun, finishedAt: '2026-11-21T08:00:00Z' })).toBe('Started 2026-11-21 09:00:00 UTC.');
    const ended = { ...begun, finishedAt: '2026-11-21T12:00:00Z' };
    expect(period(ended)).toBe('Started 2026-11-21 09:00:00 UTC, took 3 h 0 min.');
    const both = 'Started 2026-11-21 09:00:00 UTC, ended 2026-11-21 12:00:00 UTC';
    expect(period({ ...ended, activeMs: 120_000 })).toBe(`${both}, sending for 2 min 0 s.`);
    expect(period({ ...ended, requests: { ...PLAIN.requests, uncountedStarts: 1 } })).toBe(`${both}.`);
    expect(briefText({ ...ended, activeMs: 120_000 }, {})).toContain('finished in 2 min 0 s');
  });
});
