import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { Reply } from '../../src/model.ts';
import { openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject } from '../helpers/project.ts';
import { NOW, numberOf, recordRun, replyOf, servePages, withLedger } from './serve-ledger.ts';

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

/** Counts keys, and the pages that are loaded. */
function watchedLoads(page: Page): {
  press(key: string): Promise<void>;
  readonly keys: number;
  readonly loads: number;
} {
  let [keys, loads] = [0, 0];
  page.on('load', () => {
    loads += 1;
  });
  return {
    async press(key) {
      keys += 1;
      await page.keyboard.press(key);
    },
    get keys() {
      return keys;
    },
    get loads() {
      return loads;
    },
  };
}

const meaningsIn = (path: string) =>
  withLedger(path, (ledger) => {
    const counts = new Map<string, number>();
    for (const { review } of [...ledger.events.replies()].flat()) {
      const meaning = review?.meaning ?? 'unread';
      counts.set(meaning, (counts.get(meaning) ?? 0) + 1);
    }
    return Object.fromEntries(counts);
  });

async function openReplies(replies: readonly Reply[]) {
  const project = createProject({ 'handbill.yaml': '' });
  const path = project.path('.handbill/ledger.db');
  withLedger(path, (ledger) => {
    recordRun(ledger, { campaign: 'hello' }, [{}]);
    ledger.events.record(replies, { nowMs: NOW, source: 'webhook', environment: 'sandbox' });
  });
  const pages = await servePages(project.root, { allowActions: true });
  const watched = await openWatched(browser, pages.signInUrl ?? '', { viewport: { width: 1280, height: 900 } });
  return {
    path,
    page: watched.page,
    watched,
    async [Symbol.asyncDispose]() {
      await watched[Symbol.asyncDispose]();
      await pages.close();
      project[Symbol.dispose]();
    },
  };
}

test('88 replies are read with 88 keys, and no page is loaded', async () => {
  const group = Array.from({ length: 88 }, (_, i) => replyOf(numberOf(i), `What about day ${i}?`, 'review'));
  await using opened = await openReplies(group);
  const { page, path } = opened;
  await page.clock.install();
  await page.getByRole('link', { name: /^Replies \d+ to review/ }).click();
  await page.locator('tr:has(:focus)').waitFor();
  const by = watchedLoads(page);
  for (let i = 0; i < 88; i++) await by.press(['o', 'a', 'i'][i % 3] ?? '');
  expect(await page.locator('tbody tr:visible').count()).toBe(0);
  // Nothing is recorded while it can be taken back.
  expect(meaningsIn(path)).toEqual({ unread: 88 });
  await page.clock.fastForward(11_000);
  await page.getByText('No reply waits to be read.').waitFor();
  expect(meaningsIn(path)).toEqual({ 'opt-out': 30, answer: 29, 'opt-in': 29 });
  expect([by.keys, by.loads]).toEqual([88, 0]);
  expect(opened.watched.logged).toEqual([]);
});

test('who asked a question is seen after two clicks', async () => {
  await using opened = await openReplies([
    replyOf(numberOf(0), 'Yes', 'answer'),
    replyOf(numberOf(1), 'When?', 'answer'),
    replyOf(numberOf(2), 'متى؟', 'review'),
    replyOf(numberOf(3), 'いつですか？', 'opt-out'),
  ]);
  const { page } = opened;
  const by = counted();
  await by.click(page.getByRole('link', { name: /^Replies \d+ to review/ }));
  await by.click(page.getByRole('link', { name: 'Questions 3' }));
  await page.getByText('When?').waitFor();
  expect(await page.locator('tbody tr').count()).toBe(3);
  expect(by.clicks).toBe(2);
});

test('who did not get it, and why, is a list with its CSV after two clicks', async () => {
  using project = createProject({ 'handbill.yaml': '' });
  const refused = { state: 'rejected', reason: 'status', error: 'Sender name Riverside is not registered' } as const;
  withLedger(project.path('.handbill/ledger.db'), (ledger) =>
    recordRun(ledger, { campaign: 'hello' }, [{}, refused, {}, refused]),
  );
  await using pages = await servePages(project.root);
  await using watched = await openWatched(browser, pages.url, { viewport: { width: 1280, height: 900 } });
  const { page } = watched;
  const by = counted();
  await by.click(page.getByRole('row', { name: /hello/ }).getByRole('link', { name: '2', exact: true }));
  await page.locator('tbody').getByText('Sender name Riverside').first().waitFor();
  expect(await page.locator('tbody tr').count()).toBe(2);
  const saved = page.waitForEvent('download');
  await by.click(page.getByRole('link', { name: 'CSV' }));
  const lines = readFileSync(await (await saved).path(), 'utf8')
    .trim()
    .split(/\r?\n/);
  expect(lines).toHaveLength(3);
  expect(lines.slice(1).every((line) => line.includes('Sender name Riverside is not registered'))).toBe(true);
  expect(by.clicks).toBe(2);
});
