import { statSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { startChromium } from '../helpers/browser.ts';

/** What a page costs when it is opened. */
export interface PageFigures {
  readonly bytes: number;
  /** From the navigation to a list that can be used, the worst of the openings. */
  readonly openMs: number;
  /** From a key press to the hits being painted, of every search in every opening, ascending. */
  readonly searchMs: readonly number[];
  /** What scripts hold once everything is ready to be searched. */
  readonly heapBytes: number;
}

/** From one letter that nearly all rows have to numbers and words that no row has, and back to all rows. */
const TYPED = ['s', 'si', 'siob', 'siobhan', 'siobhan bath', 'a', 'a e', '07400 05', 'r-1', 'nobody', ''];

const OPENINGS = 3;

/** Opens the page of a preview in Chromium, and types into its search. */
export async function measurePage(file: string): Promise<PageFigures> {
  await using browser = await startChromium();
  const [opened, searched]: [number[], number[]] = [[], []];
  let heapBytes = 0;
  for (let n = 0; n < OPENINGS; n += 1) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    const page = await context.newPage();
    await page.goto(`file://${file}`, { waitUntil: 'commit' });
    await page.locator('#list[aria-busy=false] .hit[aria-selected=true]').waitFor();
    opened.push(await page.evaluate<number>('performance.now()'));
    for (const typed of TYPED) searched.push(await timeSearch(page, typed));
    heapBytes = Math.max(heapBytes, await heapOf(page));
    await context.close();
  }
  const searchMs = searched.toSorted((a, b) => a - b);
  return { bytes: statSync(file).size, openMs: Math.max(...opened), searchMs, heapBytes };
}

/** Measured inside the page: a way to the browser and back would be counted otherwise. */
async function timeSearch(page: Page, typed: string): Promise<number> {
  return await page.evaluate<number>(`(async () => {
    const next = () => new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { port1.close(); done(); };
      port2.postMessage(null);
    });
    const query = document.querySelector('#query');
    const list = document.querySelector('#list');
    const before = performance.now();
    query.value = ${JSON.stringify(typed)};
    query.dispatchEvent(new Event('input', { bubbles: true }));
    while (list.getAttribute('aria-busy') === 'true') await next();
    await new Promise((done) => requestAnimationFrame(done));
    await next();
    return performance.now() - before;
  })()`);
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
