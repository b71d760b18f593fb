import type { Browser, BrowserContext, Page } from 'playwright-core';
import { axeViolations } from '../helpers/browser.ts';

/** What a page costs when it is opened: the worst of the openings. */
export interface Opening {
  /** Of the page itself, uncompressed: it loads nothing else. */
  readonly bytes: number;
  /** From the navigation to the first text that is painted, as the browser has it. */
  readonly paintedMs: number;
  /** From the navigation until all of it is there. */
  readonly readyMs: number;
  /** What axe finds wrong, in light and in dark. */
  readonly violations: number;
}

const OPENINGS = 3;

/** Opens a page in light and in dark. @param ready - selector of what is there when all of it is */
export async function measureOpening(browser: Browser, url: string, ready: string): Promise<Opening> {
  let worst: Opening = { bytes: 0, paintedMs: 0, readyMs: 0, violations: 0 };
  for (let n = 0; n < OPENINGS; n += 1) {
    await using context = await open(browser, n % 2 === 0 ? 'light' : 'dark');
    const page = await context.newPage();
    const readyMs = await goTo(page, url, ready);
    const [bytes, paintedMs] = await page.evaluate<[number, number]>(`(async () => {
      const painted = () => performance.getEntriesByName('first-contentful-paint')[0];
      while (painted() === undefined) await new Promise(requestAnimationFrame);
      return [performance.getEntriesByType('navigation')[0].decodedBodySize, painted().startTime];
    })()`);
    const violations = n < 2 ? (await axeViolations(page)).length : 0;
    worst = {
      bytes: Math.max(worst.bytes, bytes),
      paintedMs: Math.max(worst.paintedMs, paintedMs),
      readyMs: Math.max(worst.readyMs, readyMs),
      violations: worst.violations + violations,
    };
  }
  return worst;
}

async function open(browser: Browser, colorScheme: 'light' | 'dark'): Promise<BrowserContext> {
  return await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme });
}

/** Returns how long it took in ms, as the page itself sees it: a way to the browser and back would be counted otherwise. */
async function goTo(page: Page, url: string, ready: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' });
  return await page.evaluate<number>(`(async () => {
    while (document.querySelector(${JSON.stringify(ready)}) === null) await new Promise(requestAnimationFrame);
    return performance.now();
  })()`);
}

/** What searches in the page of a preview cost. */
interface Searches {
  /** From a key press to the hits being painted, of every search in every opening, ascending. */
  readonly searchMs: readonly number[];
  /** What scripts hold once everything is ready to be searched. */
  readonly heapBytes: number;
}

/** From one letter that nearly all rows have to numbers and words that no row has, and back to all rows. */
const TYPED = ['s', 'si', 'siob', 'siobhan', 'siobhan bath', 'a', 'a e', '07400 05', 'r-1', 'nobody', ''];

/** Opens the page of a preview, and types into its search. */
export async function searchTimes(browser: Browser, url: string, ready: string): Promise<Searches> {
  const searched: number[] = [];
  let heapBytes = 0;
  for (let n = 0; n < OPENINGS; n += 1) {
    await using context = await open(browser, 'light');
    const page = await context.newPage();
    await goTo(page, url, ready);
    for (const typed of TYPED) searched.push(await timeSearch(page, typed));
    heapBytes = Math.max(heapBytes, await heapOf(page));
  }
  return { searchMs: searched.toSorted((a, b) => a - b), heapBytes };
}

/** Measured inside the page, as `goTo`. */
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
