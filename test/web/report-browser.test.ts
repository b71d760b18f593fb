import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import type { DeliveryReport, DeliveryState, Outcome, Reply, Report } from '../../src/model.ts';
import { handbillHere } from '../cli/in-process.ts';
import { openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { outcome } from '../report/examples.ts';
import { SCRIPTS } from '../security/payloads.ts';
import { FULL, ROWS, writeReport } from './report-page.ts';

const CAMPAIGN = `name: hello
channel: sms
from: Riverside
template: { text: "Hello {{name}}" }
recipients: { csv: people.csv, defaultCountry: GB }
`;
const PEOPLE = Array.from({ length: 40 }, (_, i) => `07700 9000${String(i % 39).padStart(2, '0')},P${i}`);

let browser: Browser;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'handbill-report-'));
  browser = await sharedChromium();
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = async (name: string, report: Report, outcomes: readonly Outcome[]): Promise<string> =>
  await writeReport(join(folder, name), report, outcomes);

it('is whole without scripts, and on paper: light, with every section and no control', async () => {
  const url = await write('full.html', FULL, ROWS);
  await using watched = await openWatched(browser, url, { javaScriptEnabled: false, colorScheme: 'dark' });
  const { page } = watched;
  await page.emulateMedia({ media: 'print', colorScheme: 'light' });
  const sections = ['What to do next', 'Outcomes', 'Over time', 'Variants', 'Deliveries', 'Replies', 'Channels'];
  for (const name of sections) expect(await page.getByRole('heading', { name, exact: true }).isVisible()).toBe(true);
  expect(await page.locator('summary:visible').count()).toBe(0);
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  expect(pdf.slice(0, 5)).toBe('%PDF-');
  expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g)?.length).toBe(2);
});

it('can be read by keyboard: what is folded is reached', async () => {
  const url = await write('full.html', FULL, ROWS);
  await using watched = await openWatched(browser, url, { viewport: { width: 390, height: 900 } });
  const { page } = watched;
  const reached: string[] = [];
  for (let i = 0; i < 16; i++) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.tagName'));
  }
  expect(reached.filter((name) => name === 'SUMMARY').length).toBeGreaterThanOrEqual(3);
});

it('shows hostile texts as text wherever texts can come from (S23)', async () => {
  expect(SCRIPTS.length).toBeGreaterThanOrEqual(30);
  const payload = SCRIPTS.join(' \u202e ');
  const hostile: Report = {
    ...FULL,
    ...{ run: payload, campaign: payload, environment: payload, occurrence: payload, ledger: payload },
    startedAt: payload,
    halt: { rule: 'doubt', message: payload, next: payload },
    reasons: { rejected: { [payload]: 12 } },
    sms: { ...FULL.sms, encodings: { [payload]: 2 } },
    deliveries: { [payload]: 3 },
    variants: (FULL.variants ?? []).map((variant) => ({ ...variant, name: payload })),
  };
  const rows = SCRIPTS.map((text, row) =>
    outcome({ row, line: row + 2, to: null, key: null, outcome: 'rejected', reason: text, error: text }),
  );
  const url = await write('hostile.html', hostile, rows);
  await using watched = await openWatched(browser, url);
  const { page } = watched;
  expect(watched.dialogs).toEqual([]);
  expect(watched.logged).toEqual([]);
  expect(watched.requests).toEqual([url]);
  expect(await page.locator('script, img, iframe, a, form, link, object, embed, base, input').count()).toBe(0);
  const said = await page.locator('section').filter({ hasText: 'Who did not get it' }).locator('td').allTextContents();
  for (const text of SCRIPTS.filter((one) => /^[\n -~]*$/.test(one))) expect(said).toContain(text);
  expect(await page.locator('h1').textContent()).toContain('\\u{202e}');
});

describe('of a real run', () => {
  let project: TestProject;
  let json: Report;
  beforeAll(async () => {
    project = createProject({
      'handbill.yaml': '',
      'hello/campaign.yaml': CAMPAIGN,
      'hello/people.csv': `msisdn,name\n${PEOPLE.join('\n')}\n`,
    });
    const run = async (...args: readonly string[]) => await handbillHere(project.root, args);
    expect((await run('send', 'hello')).status).toBe(0);
    const records = (await run('report', '--format', 'jsonl')).out.trimEnd().split('\n');
    const ids: (string | null)[] = records.map((line) => JSON.parse(line).messageId);
    const states: DeliveryState[] = ['delivered', 'delivered', 'read', 'undeliverable'];
    const events = ids.slice(0, 20).flatMap((id, i) => (id === null ? [] : [said(id, states[i % 4] ?? 'sent', i)]));
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: Date.now() });
    const replies = ids.slice(0, 3).map((id, i) => reply(id, i));
    ledger.events.record([...events, ...replies], { nowMs: Date.now(), source: 'webhook', environment: 'sandbox' });
    ledger.close();
    json = JSON.parse((await run('report', '--format', 'json')).out);
    expect(await run('report', '--format', 'html', '-o', 'report.html', '-q')).toMatchObject({ status: 0, err: '' });
  });
  afterAll(() => project?.[Symbol.dispose]());

  it('has the figures of its json, and what is drawn adds up to them', async () => {
    await using watched = await openWatched(browser, `file://${project.path('report.html')}`);
    const { page } = watched;
    const figures = async (table: Locator, column: number): Promise<Record<string, number>> => {
      const rows = await table.locator('tbody tr').all();
      const cells = await Promise.all(
        rows.map(async (row) => [
          await row.locator('th').textContent(),
          await row.locator('td').nth(column).textContent(),
        ]),
      );
      return Object.fromEntries(cells.map(([name, cell]) => [name, Number(cell?.replaceAll(',', ''))]));
    };
    const { recipients, inDoubt, ...others } = json.totals;
    const table = (heading: string) =>
      page.locator('section').filter({ has: page.locator('h2', { hasText: heading }) });
    const outcomes = await figures(table('Outcomes'), 0);
    const totals = Object.entries({ ...others, 'in-doubt': inDoubt }).filter(([, count]) => count > 0);
    expect(outcomes).toEqual({ ...Object.fromEntries(totals), ...json.reasons['skipped'] });
    expect(totals.reduce((all, [, count]) => all + count, 0)).toBe(recipients);
    const { nothing, ...came } = await figures(table('Deliveries'), 0);
    expect(came).toEqual(json.deliveries);
    expect(nothing).toBe(json.totals.accepted - Object.values(came).reduce((a, b) => a + b));

    const chart = page.locator('figure').filter({ hasText: 'had come so far' });
    const last = await chart.locator('tbody tr').last().locator('td').allTextContents();
    const of = (...words: readonly string[]) => words.reduce((sum, word) => sum + (json.deliveries[word] ?? 0), 0);
    const answered = of('replied', 'opted-out');
    expect(answered).toBeGreaterThan(0);
    expect(last.map(Number)).toEqual([
      json.totals.accepted,
      of('delivered', 'read') + answered,
      of('read') + answered,
      answered,
      of('undeliverable'),
    ]);
    const legend = await page.locator('.legend').first().locator('b').allTextContents();
    expect(legend.map(Number)).toEqual(Object.values(json.ends ?? {}).filter((count) => count > 0));
    expect(await page.locator('.head + .soft').innerText()).toMatch(/Started .*, took /);
  });

  it('holds no whole number, no text of a reply, and has them with --full (S34)', async () => {
    const page = await handbillHere(project.root, ['report', '--format', 'html']);
    expect(page.out).not.toMatch(/7700 ?900\d{3}|leave me alone/);
    expect(page.out).toContain('+44••••••');
    const full = await handbillHere(project.root, ['report', '--format', 'html', '--full']);
    expect(full.out).toMatch(/\+447700900\d{3}/);
    expect(full.out).not.toContain('leave me alone');
    const text = await handbillHere(project.root, ['report', '--full']);
    expect(text).toMatchObject({ status: 2, out: '' });
    expect(text.err).toContain('--full is not for --format text');
  });
});

function said(messageId: string, state: DeliveryState, i: number): DeliveryReport {
  const nothing = {
    reference: null,
    address: null,
    channel: null,
    cause: null,
    error: null,
    word: null,
    textHash: null,
  };
  return { kind: 'delivery', ...nothing, messageId, state, atMs: Date.now() + i * 1_000, eventId: null };
}

function reply(messageId: string | null, i: number): Reply {
  const from = `+4477009000${String(i).padStart(2, '0')}`;
  const text = i === 0 ? 'STOP' : 'leave me alone';
  const meaning = i === 0 ? 'opt-out' : 'answer';
  return {
    kind: 'reply',
    replyId: `r${i}`,
    reference: null,
    messageId,
    from,
    to: null,
    channel: 'sms',
    text,
    meaning,
    atMs: Date.now(),
  };
}
