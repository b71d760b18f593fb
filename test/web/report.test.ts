import { execFileSync } from 'node:child_process';
import { describe, expect, it, test } from 'vitest';
import type { Outcome, Report } from '../../src/model.ts';
import { REASON_WORDS, reasonAdvice } from '../../src/report/reason-words.ts';
import { LISTED_RECIPIENTS } from '../../src/web/report/recipients.ts';
import { type ReportPageOptions, reportPage } from '../../src/web/report/report.ts';
import {
  collect,
  FELL_BACK,
  OUTCOMES_OF_ALL_KINDS,
  outcome,
  PLAIN,
  RETURNED,
  RUN,
  SPLIT,
  TROUBLED,
} from '../report/examples.ts';

const START = Date.parse(RUN.startedAt);
const OPTIONS: ReportPageOptions = { nowMs: START + 3_600_000 };
const page = (report: Report, outcomes: readonly Outcome[], options: Partial<ReportPageOptions> = {}) =>
  collect(reportPage(report, [outcomes], { ...OPTIONS, ...options }));
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

/** What is in the part of the page with this heading. */
function part(text: string, heading: string): string {
  const from = text.indexOf(`<h2>${heading}</h2>`);
  return from < 0 ? '' : text.slice(from, text.indexOf('</section>', from));
}

describe('the page', () => {
  it.each([
    ['in trouble', TROUBLED],
    ['with steps and variants', SPLIT],
    ['about which something came back', RETURNED],
    ['without trouble', PLAIN],
  ])('of a run %s closes every element that it opens, and asks for nothing', async (_label, report) => {
    const text = await page(report, [...OUTCOMES_OF_ALL_KINDS, FELL_BACK]);
    const open: string[] = [];
    for (const [, slash, name = '', own] of text.matchAll(/<(\/?)([a-z0-9]+)(?:"[^"]*"|[^>"])*?(\/?)>/g)) {
      if (name === 'meta' || name === 'br' || own === '/') continue;
      if (slash === '') open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
    expect(text).toContain('content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;">');
    expect(text).not.toMatch(/<script|<link|<img|<iframe|<form|<a[ >]|\bhref|\bsrc=|url\(|@import|\s(?:on\w+|style)=/i);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('lists who did not get it by cause, without what a rule left out, and says how many more there are', async () => {
    const waiting = Array.from({ length: 20 }, (_, row) => outcome({ row, line: row + 20_000, outcome: 'pending' }));
    const refused = Array.from({ length: 1_500 }, (_, row) =>
      outcome({ row, line: row + 2, outcome: 'rejected', reason: 'status', error: 'no such sender' }),
    );
    const doubtful = outcome({ row: 1500, to: '+447700900999', outcome: 'in-doubt', reason: 'timeout' });
    const skipped = outcome({ line: 9998, outcome: 'skipped', reason: 'holdout' });
    const text = await page(TROUBLED, [...waiting, skipped, doubtful, ...refused, outcome({ line: 9999 })]);
    const listed = part(text, 'Who did not get it');
    expect(listed.match(/<tr><th scope="row" class="n">\d+<\/th><td data-label="Recipient">\+/g)).toHaveLength(
      LISTED_RECIPIENTS,
    );
    const causes = [...listed.matchAll(/<details><summary>(.*?) <b>(\d+)/g)].map(([, cause, count]) => [cause, count]);
    expect(causes).toEqual([
      ['HTTP 202: no such sender', '999'],
      ['HTTP 202', '1'],
    ]);
    expect(listed).toContain('1,500 not delivered, 1 unclear (may have it: no usable answer came), by cause');
    expect(listed).toContain('the first 1,000 are shown, 501 more are in handbill report');
    expect(listed).not.toMatch(/9999|9998|20000/);
  });

  it('lists by the end of a message: a report of arrival decides, and a cause is not needed', async () => {
    const text = await page(TROUBLED, [
      outcome({ line: 8001, outcome: 'in-doubt', reason: 'timeout', delivery: 'delivered' }),
      outcome({ line: 8002, outcome: 'rejected', httpStatus: null, reason: null, error: null }),
      outcome({ line: 8003, delivery: 'expired' }),
    ]);
    const listed = part(text, 'Who did not get it');
    expect(listed.match(/\b800\d\b/g)).toEqual(['8002', '8003']);
    expect(listed).toContain('2 not delivered, by cause');
  });

  it('has no table of recipients when all were accepted', async () => {
    expect(await page(PLAIN, [outcome({})])).not.toContain('Who did not get it');
  });

  it('masks addresses, also in what the API said, unless it is asked for them (S34)', async () => {
    const refused = [
      outcome({ outcome: 'rejected', reason: 'status', error: 'no +44 7700 900123 here, nor ann@example.com' }),
      outcome({ outcome: 'rejected', reason: 'status', to: null, key: 'anna@example.com' }),
    ];
    const masked = await page(TROUBLED, refused);
    expect(masked).not.toMatch(/7700 ?900123|ann@|anna@/);
    expect(masked).toContain('+44••••••0123');
    expect(masked).toContain('Addresses are masked.');
    const whole = await page(TROUBLED, refused, { addresses: 'whole' });
    for (const text of ['+447700900123', '+44 7700 900123', 'ann@example.com', 'anna@example.com']) {
      expect(whole).toContain(text);
    }
    expect(whole).not.toContain('Addresses are masked.');
  });

  it('counts all recipients, and lists those who are chosen', async () => {
    const refused = [2, 3].map((line) => outcome({ line, outcome: 'rejected', reason: 'status' }));
    const accepted = Array.from({ length: 10 }, (_, i) => outcome({ line: i + 4, updatedAt: at(i) }));
    const text = await page(TROUBLED, [...refused, ...accepted], { isListed: ({ line }) => line === 3 });
    expect(part(text, 'Who did not get it')).toContain(
      '<p class="soft">1 not delivered, by cause and by line of the list.',
    );
    expect(part(text, 'Over time')).toContain('In the end: accepted 10.');
  });
});

describe('how far the messages came', () => {
  it('is one bar of the ends, with a legend in words for people', async () => {
    const ends = { delivered: 800, sent: 90, notDelivered: 45, unclear: 10, notSent: 50, waits: 0, notTried: 5 };
    const totals = { ...PLAIN.totals, recipients: 1_000 };
    const text = await page({ ...PLAIN, totals, ends }, []);
    const legend = text.slice(text.indexOf('class="legend"'), text.indexOf('</ul>'));
    expect([...legend.matchAll(/<li>.*?<\/li>/g)].map(([one]) => one.replace(/<[^>]+>/g, ''))).toEqual([
      '800 80.0% delivered',
      '90 9.0% sent (no final delivery report yet)',
      '45 4.5% not delivered (refused, not posted, or reported as lost)',
      '10 1.0% unclear (may have it: no usable answer came)',
      '50 5.0% not sent (left out by a rule)',
      '5 0.5% not tried yet',
    ]);
  });

  it('is the same for each variant and for each channel', async () => {
    const rows = [
      outcome({ row: 0, channel: 'rcs', delivery: 'read' }),
      outcome({ row: 1, channel: 'sms', delivery: 'delivered' }),
      outcome({ row: 2, channel: 'sms', delivery: 'opted-out' }),
      outcome({ row: 3, channel: 'sms', delivery: 'expired' }),
    ];
    const text = await page(SPLIT, rows);
    const cells = (heading: string, name: string) =>
      [...part(text, heading).matchAll(/<td class="n" data-label="([^"]+)">(?:<span>)?([\d,]+|-)/g)].flatMap(
        ([, of, count = '']) => (of === name && count !== '-' ? [Number(count.replaceAll(',', ''))] : []),
      );
    const [variant] = SPLIT.variants ?? [];
    const { name = '', recipients = 0, accepted = 0, rejected = 0, inDoubt = 0 } = variant ?? {};
    expect(cells('Variants', name).slice(0, 3)).toEqual([recipients, accepted + rejected + inDoubt, accepted]);
    for (const step of SPLIT.steps ?? []) {
      // No report says of an SMS that it was read: there is no figure then, rather than 0.
      const back = step.channel === 'sms' ? [2, 0, 1] : step.channel === 'rcs' ? [1, 1, 0, 0] : [0, 0, 0];
      expect(cells('Channels', step.channel).slice(0, 2 + back.length), step.channel).toEqual([
        step.attempted,
        step.accepted,
        ...back,
      ]);
    }
  });
});

describe('over time', () => {
  test.each([
    ['seconds', 64],
    ['a run of minutes', 600],
    ['a run of hours', 3 * 3_600],
    ['a run of days', 4 * 86_400],
  ])('ends with all who were accepted: %s', async (_label, seconds) => {
    const accepted = Array.from({ length: 500 }, (_, i) => outcome({ row: i, updatedAt: at((i * seconds) / 499) }));
    const rows = [
      ...part(await page(PLAIN, accepted), 'Over time').matchAll(/ UTC<\/th><td class="n"[^>]*>([\d,]+)</g),
    ].map(([, count]) => Number(count?.replaceAll(',', '')));
    expect(rows.at(-1)).toBe(500);
    expect(rows.toSorted((a, b) => a - b)).toEqual(rows);
  });

  it('is absent where nothing happened', async () => {
    expect(part(await page(PLAIN, []), 'Over time')).toBe('');
  });
});

describe('delivery reports and replies', () => {
  it('is counted at the time that was said, within the run and the present', async () => {
    const rows = Array.from({ length: 6 }, (_, row) => outcome({ row, delivery: 'delivered' }));
    const times = [START - 9e9, START, START + 60_000, START + 120_000, START + 9e12, START + 60_000];
    const text = await page(RETURNED, rows, {
      timesOf: ({ row }) => ({ arrived: times[row] ?? null, read: null, replied: null, 'did not arrive': null }),
    });
    const shown = part(text, 'Over time');
    expect(shown).toMatch(/In the end: (?:accepted 6, )?arrived 6\./);
    expect(shown).toMatch(/10:0\d:00 UTC<\/th>(?:<td class="n"[^>]*>6<\/td>)?<td class="n"[^>]*>6</);
    expect(shown).not.toMatch(/20[013-9]\d-/);
  });

  it('has replies by what they mean, and none of their words', async () => {
    const replies = { 'opt-out': 3, review: 2, 'opt-in': 1, answer: 1_009 };
    const shown = part(await page(RETURNED, [], { replies }), 'Replies');
    expect(shown).toContain('15 recipients replied, and 2 replies wait for review.');
    expect(shown).toContain('1,015 replies');
    expect(shown).toContain('<span>want no more messages</span> <b>3</b>');
    expect(part(await page(SPLIT, []), 'Replies')).toBe('');
  });
});

describe('reasons', () => {
  it('each says what to do', () => {
    for (const { advice } of Object.values(REASON_WORDS)) expect(advice).toMatch(/^[A-Z][^\n]{8,110}\.$/);
    expect(reasonAdvice('toString', 'rejected')).toBe('');
    expect(reasonAdvice('of another version', 'rejected')).toBe('');
    expect(reasonAdvice('status', 'rejected')).toContain('--retry rejected');
    expect(reasonAdvice('status', 'in-doubt')).toContain('handbill doubt resolve');
  });

  it('have their count, their meaning and what to do, the most urgent first', async () => {
    const shown = part(await page(TROUBLED, []), 'Outcomes');
    const rows = [...shown.matchAll(/<tr class="part"><th scope="row">([a-z-]+)<\/th><td class="n"[^>]*>(\d+)</g)];
    expect(rows.map(([, reason, count]) => [reason, Number(count)])).toEqual([
      ['timeout', 4],
      ['no-response', 1],
      ['status', 12],
      ['connect', 1],
      ['duplicate', 17],
      ['suppressed', 3],
    ]);
    expect(shown).toContain('Find out from the provider, then <code>handbill doubt resolve</code>.');
  });
});

it('1,000,000 outcomes need a heap of 32 MB', () => {
  const script = new URL('../fixtures/pages/stream-report.ts', import.meta.url).pathname;
  const printed = execFileSync(process.execPath, ['--max-old-space-size=32', script, '1000000'], { encoding: 'utf8' });
  const { characters } = JSON.parse(printed);
  expect(characters).toBeGreaterThan(200_000);
  expect(characters).toBeLessThan(2_000_000);
});
