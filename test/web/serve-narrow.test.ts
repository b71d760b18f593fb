import type { Browser, Page } from 'playwright-core';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { FULL, ROWS, writeReport } from './report-page.ts';
import { recordAll, recordRun, servePages, withLedger } from './serve-ledger.ts';

/** Tables where there is little room: whole words, nothing cut, nothing over the list. */

let browser: Browser;
let project: TestProject;
let run = '';
beforeAll(async () => {
  browser = await sharedChromium();
});
beforeEach(() => {
  project = createProject({
    'handbill.yaml': 'defaultCountry: GB\ntimeZone: Europe/London\n',
    'campaigns/people.csv': 'msisdn,first\n+447400100000,Ann\n',
    'campaigns/autumn-newsletter/campaign.yaml':
      'name: autumn-newsletter\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{first}}." }\nrecipients: ../people.csv\nschedule: { cron: 0 9 * * 1-5, timeZone: Europe/London }\n',
  });
  const path = project.path('.handbill/ledger.db');
  run = recordAll(path);
  withLedger(path, (ledger) => {
    const doubts = Array.from({ length: 12 }, () => ({ state: 'in-doubt', reason: 'no-response' }) as const);
    recordRun(ledger, { campaign: 'autumn-newsletter', occurrence: '2026-11-21T09:00:00Z' }, doubts);
  });
  return () => project[Symbol.dispose]();
});

/** Between the margins of the paper. */
const A4_PX = 718;

/** Boxes with a scroll bar, and words on more than one line; ids and addresses, shown as code, may break. */
const faultsOf = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const faults = [document.documentElement, ...document.querySelectorAll('.scroll')]
      .filter((box) => box.scrollWidth > box.clientWidth)
      .map((box) => 'scrolls: ' + box.textContent.trim().slice(0, 40));
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest('th,td,button') === null || text.parentElement.closest('code,.hidden') !== null) continue;
      for (const { index, 0: word } of text.data.matchAll(/[^\\s\\/-]+/g)) {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (range.getClientRects().length > 1) faults.push('broken: ' + word);
      }
    }
    return faults;
  })()`);

it.each([1440, 1180, 900, 820, 390, A4_PX])(
  'every page has whole words and nothing scrolls sideways at %i px',
  async (width) => {
    await using pages = await servePages(project.root, { allowActions: true });
    const viewport = { width, height: 900 };
    await using watched = await openWatched(browser, pages.signInUrl ?? '', { viewport, locale: 'en-GB' });
    const { page } = watched;
    if (width === A4_PX) await page.emulateMedia({ media: 'print' });
    const ofRun = ['', '/recipients', '/recipients?sort=delivery', '/report'].map((path) => `/runs/${run}${path}`);
    const lists = ['/', '/campaigns', '/suppressions', '/replies', '/doubt', '/campaigns/past', '/people?q=7700900001'];
    const report = await writeReport(project.path('report.html'), FULL, ROWS);
    const urls = [...[...lists, ...ofRun].map((path) => pages.base + path), report];
    for (const url of urls) {
      await page.goto(url);
      expect([url, await page.locator('.scroll').count()]).not.toEqual([url, 0]);
      expect([url, await faultsOf(page)]).toEqual([url, []]);
    }
    for (const path of [`/runs/${run}/recipients/1`, `/people/${run}/1`]) {
      await page.goto(pages.base + path);
      expect([path, await faultsOf(page)]).toEqual([path, []]);
    }
  },
);

it.each([820, 600])('a cause has more room than the number beside it at %i px', async (width) => {
  await using pages = await servePages(project.root);
  await using watched = await openWatched(browser, pages.base, { viewport: { width, height: 900 } });
  const { page } = watched;
  await page.goto(`${pages.base}/runs/${run}/recipients?end=notDelivered`);
  const widthOf = async (cell: string) =>
    (await page.locator(`tbody tr:first-child ${cell}`).boundingBox())?.width ?? 0;
  expect(await widthOf('[data-label=Outcome]')).toBeGreaterThan(await widthOf('th'));
});

it.each([
  [1280, 900, 'sticky'],
  [1280, 500, 'static'],
  [390, 844, 'static'],
])('the form of doubts at %i x %i px is %s', async (width, height, position) => {
  await using pages = await servePages(project.root, { allowActions: true });
  const viewport = { width, height };
  await using watched = await openWatched(browser, pages.signInUrl ?? '', { viewport });
  const { page } = watched;
  await page.goto(`${pages.base}/doubt`);
  const styleOf = (selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${name}`);
  expect(await styleOf('.chosen', 'position')).toBe(position);
  expect(await styleOf('.chosen legend', 'backgroundColor')).toBe('rgb(255, 255, 255)');
});

/** Links and buttons that a thumb can miss; those inside a sentence are as high as its line. */
const smallTargets = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll('a,button,input:not([type=hidden]),select,summary')]
    .filter((one) => one.checkVisibility() && one.closest('p:not(.actions),dd,li,.hidden,.skip') === null)
    .map((one) => [one.textContent.trim().slice(0, 30), one.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 1 && height < 24)
    .map(([text, { height }]) => text + ': ' + height)`);

it('on a phone every target is at least 24 px high, and a row opens wherever it is touched', async () => {
  await using pages = await servePages(project.root, { allowActions: true });
  const viewport = { width: 390, height: 844 };
  await using watched = await openWatched(browser, pages.signInUrl ?? '', { viewport, locale: 'en-GB' });
  const { page } = watched;
  const ofRun = [`/runs/${run}`, `/runs/${run}/recipients`, `/runs/${run}/recipients/1`];
  for (const path of [
    '/',
    '/people',
    '/campaigns',
    '/suppressions',
    '/replies',
    '/doubt',
    '/campaigns/past',
    ...ofRun,
  ]) {
    await page.goto(pages.base + path);
    expect([path, await smallTargets(page)]).toEqual([path, []]);
  }
  await page.goto(`${pages.base}/runs/${run}/recipients`);
  const row = page.locator('tbody tr').first();
  const { width = 0, height = 0 } = (await row.boundingBox()) ?? {};
  await row.click({ position: { x: width - 5, y: height - 5 } });
  await page.waitForURL(/\/recipients\/\d+$/);
});
