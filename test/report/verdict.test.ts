import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { DELIVERIES, OUTCOMES, type Report } from '../../src/model.ts';
import { ENDS, endOf, endsOf, totalsKey } from '../../src/report/ends.ts';
import { formatReport } from '../../src/report/formats.ts';
import { createFormats } from '../../src/report/locale.ts';
import { progressOf, verdictOf, verdictText } from '../../src/report/verdict.ts';
import { reportPage } from '../../src/web/report/report.ts';
import { collect, OPTIONS, PLAIN, RETURNED, TROUBLED } from './examples.ts';

const NONE = { accepted: 0, rejected: 0, failed: 0, skipped: 0, deferred: 0, inDoubt: 0, pending: 0 };

function reportWith(facts: Partial<Report>): Report {
  const report = { ...PLAIN, reasons: {}, ...facts };
  return { ...report, ends: endsOf(report) };
}

describe('ends', () => {
  it('have each recipient once, as each row by itself has it', () => {
    const row = fc.record({
      outcome: fc.constantFrom(...OUTCOMES),
      delivery: fc.option(fc.constantFrom(...DELIVERIES)),
      why: fc.option(fc.constantFrom('not-authorised', 'stopped')),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
        const totals = { ...NONE, recipients: rows.length };
        const pending: Record<string, number> = {};
        const all = rows.map((one) => ({
          ...one,
          reason: one.outcome === 'pending' && one.delivery === null ? one.why : null,
        }));
        for (const { outcome, reason } of all) {
          totals[totalsKey(outcome)] += 1;
          if (reason !== null) pending[reason] = (pending[reason] ?? 0) + 1;
        }
        const deliveries = rows.flatMap(({ outcome, delivery }) =>
          delivery === null ? [] : [{ variant: null, outcome, delivery, count: 1 }],
        );
        const ends = endsOf({ totals, reasons: { pending } }, deliveries);
        const expected = ENDS.map((end) => all.filter((one) => endOf(one) === end));
        expect(ENDS.map((end) => ends[end])).toEqual(expected.map(({ length }) => length));
      }),
    );
  });

  it('never go below zero, where the reports were read before the totals', () => {
    const totals = { ...NONE, accepted: 2, recipients: 2 };
    const early = [{ variant: null, outcome: 'in-doubt', delivery: 'delivered', count: 1 }] as const;
    expect(endsOf({ totals, reasons: {} }, early)).toMatchObject({ unclear: 0, delivered: 0, sent: 2 });
    const again = { totals: { ...NONE, pending: 1, recipients: 1 }, reasons: { pending: { resend: 1 } } };
    const late = [{ variant: null, outcome: 'pending', delivery: 'delivered', count: 1 }] as const;
    expect(endsOf(again, late)).toMatchObject({ waits: 0, notTried: 0, delivered: 1 });
  });

  test.each([
    ['rejected', 'delivered', 'delivered'],
    ['in-doubt', 'read', 'delivered'],
    ['in-doubt', 'expired', 'unclear'],
    ['accepted', 'opted-out', 'delivered'],
    ['accepted', 'expired', 'notDelivered'],
    ['accepted', 'sent', 'sent'],
    ['skipped', null, 'notSent'],
  ] as const)('%s, reported as %s: %s', (outcome, delivery, end) => {
    expect(endOf({ outcome, delivery })).toBe(end);
  });

  it('recipients that the API refuses for now wait; those that a stop left were not tried', () => {
    const reasons = { pending: { 'not-authorised': 1, stopped: 2 } };
    const report = { ...PLAIN, state: 'halted', totals: { ...NONE, recipients: 5, pending: 5 }, reasons } as const;
    expect(verdictOf(report).counts).toBe('1 of 5 waiting, 4 not tried yet.');
  });
});

it('a reason is in the row of its end; causes end without a full stop before the next one', async () => {
  const reasons = { pending: { stopped: 9, 'not-authorised': 1 } };
  const report = { ...PLAIN, state: 'halted', totals: { ...NONE, recipients: 10, pending: 10 }, reasons } as const;
  const { ends: _, ...shown } = report;
  const text = await collect(formatReport('text', shown, [], OPTIONS));
  expect(text).toMatch(/waiting +1 .* 1 not-authorised\n/);
  expect(text).toMatch(/not tried yet +9 .* 9 stopped\n/);
  expect(text).not.toMatch(/stopped, /);
  const causes = [
    { outcome: 'rejected', cause: 'HTTP 422: This is no address.', count: 2 },
    { outcome: 'rejected', cause: 'HTTP 404', count: 1 },
  ] as const;
  const short = await collect(formatReport('text', { ...shown, causes }, [], { ...OPTIONS, short: true }));
  expect(short).toContain('Causes: 2 HTTP 422: This is no address; 1 HTTP 404');
});

describe('the verdict', () => {
  const totals = { ...NONE, recipients: 10 };
  test.each<[Partial<Report>, string]>([
    [{ totals: { ...totals, accepted: 10 } }, 'Finished. 10 of 10 sent.'],
    [
      { totals: { ...totals, skipped: 10 }, reasons: { skipped: { suppressed: 9, duplicate: 1 } } },
      'Finished. Nothing was sent: 10 of 10 not sent (9 suppressed, 1 duplicate).',
    ],
    [{ totals: { ...totals, recipients: 0 } }, 'Finished. 0 recipients.'],
    [
      { state: 'running', totals: { ...totals, accepted: 3, skipped: 4, pending: 3 } },
      'Sending: 50.0% done. 3 of 10 sent, 4 not sent, 3 not tried yet.',
    ],
    [
      {
        state: 'halted',
        halt: { rule: 'refusals', message: '5 recipients were refused in this start.', next: '' },
        totals: { ...totals, accepted: 5, rejected: 5 },
        causes: [
          { outcome: 'rejected', cause: 'HTTP 422: Sender name not registered', count: 4 },
          { outcome: 'rejected', cause: 'HTTP 400', count: 1 },
        ],
      },
      'Halted: 5 recipients were refused in this start. 5 of 10 sent, 5 not delivered. Most frequent cause (4): HTTP 422: Sender name not registered.',
    ],
    [
      { state: 'interrupted', totals: { ...totals, pending: 10 } },
      'Interrupted: no process sends it now. 10 of 10 not tried yet.',
    ],
    [{ state: 'partial', totals: { ...totals, deferred: 10 } }, 'Not finished. 10 of 10 waiting.'],
    [
      {
        state: 'partial',
        paused: { environment: 'live', campaign: null, reason: 'wrong text', who: 'ana', since: PLAIN.startedAt },
        totals: { ...totals, pending: 10 },
      },
      'Not finished. live has been paused since 2026-11-21 09:00:00 UTC by ana: wrong text. 10 of 10 not tried yet.',
    ],
    [
      {
        state: 'halted',
        halt: { rule: 'refusals', message: 'The first 20 answers were all refusals.', next: '' },
        paused: { environment: 'live', campaign: null, reason: 'wrong text', who: 'ana', since: PLAIN.startedAt },
        totals: { ...totals, rejected: 10 },
        causes: [
          { outcome: 'rejected', cause: 'HTTP 404', count: 5 },
          { outcome: 'rejected', cause: 'HTTP 400', count: 5 },
        ],
      },
      'Halted: The first 20 answers were all refusals. live has been paused since 2026-11-21 09:00:00 UTC by ana: wrong text. 10 of 10 not delivered. One of 2 causes (5): HTTP 404.',
    ],
    [
      {
        state: 'halted',
        halt: { rule: 'not-authorised', message: 'The API refused the account or the key.', next: '' },
        totals: { ...totals, accepted: 4, rejected: 1, pending: 5 },
        causes: [{ outcome: 'rejected', cause: 'HTTP 404', count: 1 }],
      },
      'Halted: The API refused the account or the key. 4 of 10 sent, 1 not delivered, 5 not tried yet. Also refused (1): HTTP 404.',
    ],
    [
      {
        state: 'halted',
        halt: { rule: 'doubt', message: '5 recipients are in doubt.', next: '' },
        totals: { ...totals, accepted: 5, inDoubt: 5 },
        causes: [{ outcome: 'in-doubt', cause: 'no answer in time', count: 5 }],
      },
      'Halted: 5 recipients are in doubt. 5 of 10 sent, 5 unclear. Cause (5): no answer in time.',
    ],
    [
      {
        totals: { ...totals, accepted: 8, rejected: 2 },
        causes: [
          { outcome: 'rejected', cause: 'HTTP 404', count: 1 },
          { outcome: 'rejected', cause: 'HTTP 400', count: 1 },
        ],
      },
      'Finished. 8 of 10 sent, 2 not delivered.',
    ],
    [
      { closedAt: PLAIN.startedAt, totals: { ...totals, skipped: 10 }, reasons: { skipped: { closed: 10 } } },
      'Closed on 2026-11-21 09:00:00 UTC: it sends nothing more. Nothing was sent: 10 of 10 not sent (10 closed).',
    ],
  ])('%#: %s', (facts, expected) => {
    expect(verdictText(reportWith(facts))).toBe(expected);
  });

  test.each<[Partial<Report>, string]>([
    [{}, 'good'],
    [{ state: 'running' }, 'going'],
    [{ state: 'partial' }, 'open'],
    [{ state: 'interrupted' }, 'open'],
    [{ state: 'halted' }, 'bad'],
    [{ totals: { ...totals, inDoubt: 1 } }, 'bad'],
  ])('%o has the tone %s', (facts, tone) => {
    expect(verdictOf(reportWith(facts)).tone).toBe(tone);
  });

  it('without delivery reports says what the API took, and nothing of deliveries', () => {
    const { ends: _, ...unread } = reportWith({ totals: { ...totals, accepted: 7, rejected: 1, skipped: 2 } });
    expect(verdictText(unread)).toBe('Finished. The API took 7 of 8 messages.');
    const { ends: __, ...empty } = reportWith({ totals: { ...totals, skipped: 10 } });
    expect(verdictText(empty)).toBe('Finished.');
  });

  it('counts no recipient as progress that a rule leaves out', () => {
    expect(progressOf({ totals: { ...totals, accepted: 2, skipped: 4, pending: 3, deferred: 1 } })).toEqual([2, 6]);
  });

  it.each([
    ['in trouble', TROUBLED],
    ['with replies', RETURNED],
  ])('is the same in JSON, in text and on the page: a run %s', async (_, report) => {
    const { headline, counts } = verdictOf(report);
    expect(report.verdict).toContain(`${headline} ${counts}`);
    const flat = (text: string) => text.replaceAll(/\s+/g, ' ');
    const text = flat(await collect(formatReport('text', report, [], { ...OPTIONS, short: true })));
    const page = await collect(reportPage(report, [], { nowMs: Date.parse(report.startedAt) }));
    for (const sentence of [headline, counts]) {
      expect(text).toContain(sentence);
      expect(page).toContain(`<p>${sentence}</p>`);
    }
  });

  it('has figures as the project writes them', () => {
    expect(verdictOf(TROUBLED, createFormats('de-DE', 'Europe/Berlin')).counts).toContain('900 of 2.000 delivered');
  });
});
