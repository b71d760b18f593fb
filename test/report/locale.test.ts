import { describe, expect, it, test } from 'vitest';
import { formatReport, PRINT_FORMATS, type ReportFormat } from '../../src/report/formats.ts';
import { createFormats, exactMoney, PLAIN } from '../../src/report/locale.ts';
import type { ReportOptions } from '../../src/report/record.ts';
import { reportPage } from '../../src/web/report/report.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';
import { campaign, list } from '../library/project.ts';
import { collect, OPTIONS, OUTCOMES_OF_ALL_KINDS, TROUBLED } from './examples.ts';

const REPORT_FORMATS = PRINT_FORMATS.filter((format) => format !== 'html');

/** Intl writes narrow and unbreakable spaces. */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f]/g, ' ');
}

async function reportAs(format: ReportFormat, options: Partial<ReportOptions>): Promise<string> {
  return await collect(formatReport(format, TROUBLED, [OUTCOMES_OF_ALL_KINDS], { ...OPTIONS, ...options }));
}

const german = createFormats('de-DE', 'Europe/Berlin');

describe('in German', () => {
  test.each<[written: string, expected: string]>([
    [german.number(1240), '1.240'],
    [german.count(1, 'part'), '1 part'],
    [german.count(1240, 'reply', 'replies'), '1.240 replies'],
    [german.percent(0, 10), '0 %'],
    [german.percent(1, 3), '33,3 %'],
    [german.percent(1, 1_000_000), '0,1 %'],
    [german.percent(999_999, 1_000_000), '99,9 %'],
    [german.percent(5, 5), '100 %'],
    [german.percent(0, 0), '0 %'],
    [german.money(1234.5, 'EUR'), '1.234,50 €'],
    [german.money(0.0425, 'EUR'), '0,04 €'],
    [german.money(0.004, 'EUR'), 'under 0,01 €'],
    [german.money(1234.5, 'JPY'), '1.235 ¥'],
    [german.money(1.5, 'KWD'), '1,500 KWD'],
    [german.money(2, null), '2,00'],
    [german.moneyRange(12.42, 27.17, 'EUR'), '12,42–27,17 €'],
    [german.moneyRange(12.421, 12.424, 'EUR'), '12,42 €'],
    [german.rate(8.26), '8,3'],
    [german.left(36.4 * 60_000, Date.UTC(2026, 10, 21, 12, 46)), 'about 36 min, until 14:22'],
    [german.milliseconds(0.42), '0,42 ms'],
    [german.milliseconds(1204), '1,2 s'],
    [german.milliseconds(12), '12 ms'],
    [german.duration(900), '0,9 s'],
    [german.duration(64_120), '1 min 4 s'],
    [german.instant('2026-11-21T09:00:00.000Z'), '21.11.2026, 10:00:00 MEZ'],
    [german.instant('once'), 'once'],
  ])('%s', (written, expected) => {
    expect(plain(written)).toBe(expected);
  });
});

it('without a locale has plain figures, and times in the zone of the project', () => {
  expect(createFormats(null, 'UTC')).toBe(PLAIN);
  const berlin = createFormats(null, 'Europe/Berlin');
  expect(berlin.money(1234.5, 'EUR')).toBe('1,234.50 EUR');
  expect(berlin.instant('2026-11-21T23:30:00.000Z')).toBe('2026-11-22 00:30:00 CET');
  expect(berlin.instant('2026-07-21T09:00:00Z')).toBe('2026-07-21 11:00:00 CEST');
  expect(createFormats(null, 'America/New_York').instant('2026-07-21T09:00:00Z')).toBe('2026-07-21 05:00:00 GMT-4');
  expect(berlin.instant('once')).toBe('once');
  expect(berlin.left(36.4 * 60_000, Date.UTC(2026, 10, 21, 12, 46))).toBe('about 36 min, until 14:22');
});

describe('without a locale', () => {
  test.each<[written: string, expected: string]>([
    [PLAIN.money(1069.2419, 'EUR'), '1,069.24 EUR'],
    [PLAIN.money(0.009, 'EUR'), 'under 0.01 EUR'],
    [PLAIN.money(0, 'EUR'), '0.00 EUR'],
    [PLAIN.money(3.1, null), '3.10'],
    [PLAIN.money(1500, 'JPY'), '1,500 JPY'],
    [PLAIN.moneyRange(12.42, 1027.17, 'EUR'), '12.42 to 1,027.17 EUR'],
    [exactMoney(1000.00042, 'EUR'), '1,000.00042 EUR'],
    [PLAIN.left(20_000, 0), 'about 20 s, until 00:00 UTC'],
    [PLAIN.left(130 * 60_000, 0), 'about 2 h 10 min, until 02:10 UTC'],
  ])('%s', (written, expected) => {
    expect(written).toBe(expected);
  });
});

describe('a report in the locale of its project', () => {
  it('has all figures and times of its text in it', async () => {
    const text = plain(await reportAs('text', { currency: 'EUR', formats: german }));
    for (const one of ['1.435', '21.11.2026, 10:00:00 MEZ', '1.240', '19,4/s', '€']) expect(text).toContain(one);
    expect(text).not.toMatch(/\d,\d{3}\b/);
    expect(text).not.toContain('UTC');
  });

  it('has them on its page', async () => {
    const options = { nowMs: Date.parse(TROUBLED.startedAt), currency: 'EUR', formats: german };
    const page = await collect(reportPage(TROUBLED, [OUTCOMES_OF_ALL_KINDS], options));
    const body = plain(page.slice(page.indexOf('<main')));
    for (const one of ['1.200', '21.11.2026, 10:00:00 MEZ', '1.240', '19,4', '€']) expect(body).toContain(one);
    expect(body).not.toMatch(/>[^<]*\d,\d{3}\b(?! ?[€%])[^<]*</);
  });

  it('has them in its two lines for a chat, with spaces of ASCII', async () => {
    expect(await reportAs('brief', { formats: german })).toContain('900 of 2.000 delivered');
    const french = createFormats('fr-FR', 'Europe/Paris');
    expect(await reportAs('brief', { formats: french })).toContain('900 of 2 000 delivered');
  });

  test.each(REPORT_FORMATS.filter((format) => format !== 'text' && format !== 'brief'))(
    '%s never changes',
    async (format) => {
      expect(await reportAs(format, { formats: german })).toBe(await reportAs(format, {}));
    },
  );

  it('is that of handbill.yaml, for send and for report', async () => {
    using project = createProject({
      ...campaign('hello', 1),
      'campaigns/hello/people.csv': list(1234),
      'handbill.yaml': 'locale: de-AT\ntimeZone: Europe/Vienna\n',
    });
    const sent = await handbillHere(project.root, ['send', 'hello']);
    const shown = await handbillHere(project.root, ['report', 'hello']);
    for (const { out, err } of [sent, shown])
      expect(plain(out), err).toMatch(/1[. ]?234 (?:of 1[. ]?234 )?sent|sent +1[. ]?234 +100 %/);
    const json = await handbillHere(project.root, ['report', 'hello', '--format', 'json']);
    expect((JSON.parse(json.out) as { totals: { accepted: number } }).totals.accepted).toBe(1234);
  });
});
