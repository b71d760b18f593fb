import type { Browser, Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject } from '../helpers/project.ts';
import { recordRun, servePages, withLedger } from './serve-ledger.ts';

/** How many clicks from the first page a person needs for a task: counted, so that they do not become more. */
let browser: Browser;
beforeAll(async () => {
  browser = await sharedChromium();
});

function counted(): { click(target: Locator): Promise<void>; readonly clicks: number } {
  let clicks = 0;
  return {
    async click(target) {
      clicks += 1;
      await target.click();
    },
    get clicks() {
      return clicks;
    },
  };
}

const boxes = (page: Page) => page.locator('input[name=line]');

test('twelve doubts with one cause are resolved in four clicks', async () => {
  using project = createProject({ 'handbill.yaml': '' });
  const path = project.path('.handbill/ledger.db');
  const of = (count: number, reason: string) =>
    Array.from({ length: count }, () => ({ state: 'in-doubt', reason }) as const);
  withLedger(path, (ledger) =>
    recordRun(ledger, { campaign: 'hello' }, [...of(12, 'no-response'), ...of(5, 'timeout')]),
  );
  await using pages = await servePages(project.root, { allowActions: true });
  await using watched = await openWatched(browser, pages.signInUrl ?? '', { viewport: { width: 1280, height: 900 } });
  const { page } = watched;
  const by = counted();
  await by.click(page.getByRole('link', { name: /^In doubt/ }));
  await by.click(page.getByRole('button', { name: '12 × the connection was closed without an answer' }));
  await page.getByText('(12 chosen)').waitFor();
  await by.click(page.getByRole('button', { name: 'The API has them' }));
  await by.click(page.getByRole('button', { name: 'Record as accepted' }));
  await page.getByText('5 recipients in doubt').first().waitFor();
  expect(by.clicks).toBe(4);
  expect(withLedger(path, (ledger) => ledger.runs().map((run) => [...ledger.doubts(run)].flat().length))).toEqual([5]);

  // All at once, none of them, and with Shift those between two.
  const all = page.getByRole('button', { name: 'Choose all 5' });
  await all.click();
  expect(await page.locator('input[name=line]:checked').count()).toBe(5);
  await all.click();
  expect(await page.locator('input[name=line]:checked').count()).toBe(0);
  await boxes(page).nth(3).click();
  await boxes(page)
    .nth(1)
    .click({ modifiers: ['Shift'] });
  expect(await page.locator('input[name=line]:checked').count()).toBe(3);
});
