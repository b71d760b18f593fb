import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BRIEF_LENGTH, briefText } from '../../src/report/format-brief.ts';
import { buildReport } from '../../src/report/tally.ts';
import { safe } from '../../src/util/escape.ts';
import { count, PLAIN, REQUESTS, RETURNED, RUN, TROUBLED } from './examples.ts';

describe('two lines for a chat', () => {
  it('a run without anything left is one line', () => {
    expect(briefText(PLAIN, {})).toBe('hello (sandbox, once): finished in 0.8 s - 3 of 4 sent, 1 not sent\n');
  });
  it('says first what is most urgent, then the most frequent cause, then the next command', () => {
    expect(briefText(TROUBLED, {})).toBe(
      'spring-sale (production, 2026-11-21T09:00Z): halted (doubt) after 1 min 4 s - 900 of 2,000 delivered, ' +
        '5 unclear, 16 not delivered, 762 not tried yet\nnext: handbill report spring-sale-1a2b3c4d\n',
    );
    expect(briefText(RETURNED, {})).toContain('next: handbill doubt list spring-sale-1a2b3c4d\n');
  });
  test.each(['running', 'interrupted', 'partial'] as const)('a run that is %s', (state) => {
    const report = buildReport(
      { ...RUN, campaign: 'hello', occurrence: 'once', state, finishedAt: state === 'running' ? null : RUN.finishedAt },
      [count({ count: 2 }), count({ outcome: 'pending', count: 3 })],
      REQUESTS,
    );
    const said = {
      running: 'running',
      interrupted: 'interrupted after 1 min 4 s',
      partial: 'not finished after 1 min 4 s',
    };
    expect(briefText(report, {})).toMatch(
      `hello (production, once): ${said[state]} - 2 of 5 sent, 3 not tried yet\nnext: handbill `,
    );
  });
  it('cuts a cause that is longer than what is left', () => {
    const cause =
      'HTTP 422: Sender name Riverside is not registered for this destination, and was not registered before';
    const causes = [{ outcome: 'rejected', reason: 'refused', cause, count: 821 }] as const;
    const report = buildReport(RUN, [count({ outcome: 'rejected', reason: 'refused', count: 821 })], REQUESTS);
    const text = briefText({ ...report, campaign: 'hello', occurrence: 'once', causes }, {});
    expect(text.split('\n')[1]).toMatch(/^821 HTTP 422: Sender name Riverside .*\.{3}; next: handbill /);
    expect(text.length).toBeLessThanOrEqual(BRIEF_LENGTH);
  });
  it('is never longer, whatever the names and counts are', () => {
    const some = fc.nat(1e9);
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(name, name, name, fc.array(some, { minLength: 7, maxLength: 7 }), (campaign, environment, run, n) => {
        const totals = { accepted: 0, rejected: 0, failed: 0, skipped: 0, deferred: 0, inDoubt: 0, pending: 0 };
        const counted = Object.fromEntries(Object.keys(totals).map((key, i) => [key, n[i] ?? 0]));
        const all = n.reduce((sum, one) => sum + one, 0);
        const deliveries = { delivered: n[0] ?? 0, undeliverable: n[1] ?? 0, expired: n[2] ?? 0, failed: n[3] ?? 0 };
        const report = { ...TROUBLED, campaign, environment, run, deliveries };
        const text = briefText({ ...report, totals: { ...TROUBLED.totals, ...counted, recipients: all } }, {});
        expect(text.length).toBeLessThanOrEqual(BRIEF_LENGTH);
        expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
        expect(safe(text)).toBe(text);
        expect(text).toMatch(/ (?:delivered|sent)/);
      }),
    );
  });
});

it('the example of docs/terminal.md is what is printed', () => {
  const page = readFileSync(new URL('../../docs/terminal.md', import.meta.url), 'utf8');
  const [, shown] = /^\$ handbill report --format brief\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const report = buildReport(
    { ...RUN, run: 'hello-00c0ffee', campaign: 'hello', occurrence: 'once', finishedAt: '2026-11-21T09:02:10.000Z' },
    [
      count({ count: 4980 }),
      count({ outcome: 'rejected', reason: 'status', count: 12 }),
      count({ outcome: 'in-doubt', reason: 'timeout', count: 3 }),
      count({ outcome: 'skipped', reason: 'duplicate', count: 5 }),
    ],
    REQUESTS,
    {
      cameBack: {
        deliveries: [
          { variant: null, outcome: 'accepted', delivery: 'delivered', count: 4701 },
          { variant: null, outcome: 'accepted', delivery: 'failed', count: 20 },
        ],
        unmatched: {},
        causes: [],
      },
    },
  );
  expect(briefText(report, {})).toBe(shown);
});
