import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, openWatched, sharedChromium, type Watched } from '../helpers/browser.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { QUICK } from '../helpers/quick.ts';
import { FULL, ROWS, writeReport } from './report-page.ts';
import { expectQuiet, recordAll, servePages } from './serve-ledger.ts';
import { createSpring, list, previewSpring } from './spring.ts';

/** A sample has the first of them, in the light scheme. */
const SCREENS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 320, height: 700 },
];
/** Between them and at the narrowest, pages have the parts of these two in other places. */
const HEARD = SCREENS.slice(0, 2).map(({ width }) => width);

let browser: Browser;
let project: TestProject;
beforeAll(async () => {
  browser = await sharedChromium();
  project = createSpring(list());
});
afterAll(() => project[Symbol.dispose]());

async function expectGood({ page }: Watched, what: string): Promise<void> {
  expect([what, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([what, true]);
  await expectHeard(page, what);
}

async function expectHeard(page: Page, what: string): Promise<void> {
  if (!HEARD.includes(page.viewportSize()?.width ?? 0)) return;
  expect([what, await axeViolations(page)]).toEqual([what, []]);
  if (QUICK) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  expect([what, 'dark', await axeViolations(page)]).toEqual([what, 'dark', []]);
  await page.emulateMedia({ colorScheme: null });
}

describe.each(QUICK ? SCREENS.slice(0, 1) : SCREENS)('%j', (viewport) => {
  const options: BrowserContextOptions = { viewport };

  it('every page of serve is as it should be for those who hear it or see it differently', async () => {
    using served = createProject({
      'handbill.yaml': 'defaultCountry: GB\n',
      'campaigns/hello/campaign.yaml':
        'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{first}}." }\nrecipients: people.csv\n',
      'campaigns/hello/people.csv': 'msisdn,first\n+447400100000,Ann\n',
    });
    const id = recordAll(served.path('.handbill/ledger.db'));
    await using pages = await servePages(served.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '', options);
    const run = `/runs/${id}`;
    const person = [`/people/${id}/1`, '/people?q=7700900001'];
    const rest = ['/doubt', '/replies', '/suppressions', '/campaigns', '/campaigns/past', '/campaigns/hello'];
    for (const path of ['/', run, `${run}/recipients`, `${run}/recipients/1`, `${run}/report`, ...person, ...rest]) {
      await watched.page.goto(pages.base + path);
      const menu = watched.page.getByRole('button', { name: 'Menu' });
      if (path === '/' && (await menu.isVisible())) await menu.click();
      await expectGood(watched, path);
    }
    await ask(watched.page, pages.base);
    expectQuiet(watched, pages.base);
  });

  it('the first screen of a preview shows a whole message and the figures', async () => {
    const url = await previewSpring(project);
    await using watched = await openWatched(browser, url, options);
    const { page } = watched;
    await page.locator('#list[aria-busy=false]').waitFor();
    await page.locator('#detail .phone').waitFor();
    const { width, height } = viewport;
    const phone = await page.locator('#detail .phone .bubble').boundingBox();
    const rows = await page.locator('#list').boundingBox();
    expect((phone?.y ?? height) + (phone?.height ?? 0)).toBeLessThan(height);
    expect((await page.locator('#figures > summary').boundingBox())?.y).toBeLessThan(200);
    // Beside the message, or below it.
    if (width > 1000) expect(rows?.y).toBeLessThan(phone?.y ?? 0);
    else expect(rows?.y).toBeGreaterThan(phone?.y ?? height);
    await expectGood(watched, 'folded');
    await page.locator('#figures > summary').click();
    await page.locator('#narrow > summary').click();
    await expectHeard(page, 'open');
    expect({ logged: watched.logged, requests: watched.requests }).toEqual({ logged: [], requests: [url] });
  });

  it('nothing is wrong with the page of a report, and it asks for nothing', async () => {
    const url = await writeReport(join(project.root, 'report.html'), FULL, ROWS);
    await using watched = await openWatched(browser, url, options);
    await expectGood(watched, 'report');
    expect({ logged: watched.logged, requests: watched.requests }).toEqual({ logged: [], requests: [url] });
    expect(await watched.page.locator('figure').count()).toBe(3);
    expect(await watched.page.locator('svg[role=img]').count()).toBe(2);
  });
});

/** Between the margins of the paper. */
const A4: BrowserContextOptions = { viewport: { width: 718, height: 1000 } };

it.each([A4, { ...A4, colorScheme: 'dark' as const }])('a preview on paper, from %j', async (options) => {
  const url = await previewSpring(project);
  await using watched = await openWatched(browser, url, options);
  const { page } = watched;
  await page.locator('#list[aria-busy=false]').waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('#browse').isVisible()).toBe(false);
  expect(await page.locator('#first .row').first().isVisible()).toBe(true);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await axeViolations(page)).toEqual([]);
});

/** The questions before something is changed. */
async function ask(page: Page, base: string): Promise<void> {
  await page.goto(`${base}/doubt`);
  await page.locator('input[name=line]').first().check();
  await page.getByRole('button', { name: 'The API has them' }).click();
  await page.getByRole('button', { name: 'Record as accepted' }).waitFor();
  await expectHeard(page, 'doubts');
  await page.goto(`${base}/suppressions`);
  await page.getByRole('button', { name: /^Remove/ }).click();
  await page.getByRole('button', { name: 'Take it off' }).waitFor();
  await expectHeard(page, 'suppressions');
}
