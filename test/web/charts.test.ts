import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { OUTCOMES } from '../../src/model.ts';
import { createFormats, PLAIN } from '../../src/report/locale.ts';
import { type Html, html } from '../../src/util/escape.ts';
import { barChart, shareChart, TONES } from '../../src/web/charts/chart.ts';
import { lineChart } from '../../src/web/charts/plot.ts';
import { documentFrame } from '../../src/web/document.ts';
import { axeViolations, FONTS, openWatched, sharedChromium, startChromium } from '../helpers/browser.ts';
import { SCRIPTS } from '../security/payloads.ts';

const START = Date.UTC(2026, 10, 21, 9);
const HOUR = 3_600_000;
const LONG = 'United Kingdom of Great Britain and Northern Ireland';
const points = (count: number, stepMs: number, y: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => ({ x: START + i * stepMs, y: y(i) }));
const bars = (count: number) => Array.from({ length: count }, (_, i) => ({ label: `Land ${i}`, value: i * 1000 }));

const over = (title: string, count: number, stepMs: number, most: number) =>
  lineChart(
    title,
    `All about ${title}.`,
    [{ name: 'accepted', tone: 'accepted', points: points(count, stepMs, (i) => (most * (i + 1)) / count) }],
    PLAIN,
  );

const CHARTS: Readonly<Record<string, Html>> = {
  bars: barChart(
    'bars',
    [{ label: LONG, value: 1_234_567 }, { label: 'W'.repeat(60), value: 99_999 }, ...bars(20)],
    PLAIN,
  ),
  'one bar': barChart('one bar', [{ label: 'all', value: 0 }], PLAIN),
  parts: shareChart(
    'parts',
    OUTCOMES.map((label, i) => ({ label, value: 10 ** (6 - i), tone: label })),
    PLAIN,
  ),
  'a minute': over('a minute', 64, 1_000, 90),
  'two seconds': over('two seconds', 2, 1_000, 3),
  'a moment': over('a moment', 1, 1_000, 1_000_000),
  'an hour': over('an hour', 60, 60_000, 123_456),
  'three days': over('three days', 72, HOUR, 4),
  'two months': over('two months', 60, 24 * HOUR, 9_999),
  'three years': over('three years', 36, 30 * 24 * HOUR, 10_000),
  several: lineChart(
    'several',
    'All about several.',
    ['delivered', 'read', 'replied', 'opted out', LONG].map((name, k) => ({
      name,
      tone: TONES[k] ?? 'plain',
      points: points(60, HOUR, (i) => (i * 2_000) / (k + 1)),
    })),
    PLAIN,
  ),
};

let browser: Browser;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'handbill-charts-'));
  browser = await sharedChromium();
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, charts: readonly Html[]): string {
  const { head, foot } = documentFrame({ title: name });
  const page = html`<main><h1>${name}</h1><div class="charts">${charts}</div></main>`;
  writeFileSync(join(folder, name), head + page.markup + foot);
  return `file://${join(folder, name)}`;
}

/** Pairs of texts of one chart that touch, and texts that leave the window, or their drawing on the right. */
async function collisions(page: Page): Promise<readonly string[]> {
  return await page.evaluate(`[...document.querySelectorAll('figure')].flatMap((figure) => {
    const title = figure.querySelector('figcaption').textContent;
    const boxes = [...figure.querySelectorAll('text, figcaption, li, li > span, li > b, summary')]
      .map((element) => ({
        text: element.textContent,
        box: element.getBoundingClientRect(),
        end: element.closest('svg')?.getBoundingClientRect().right ?? innerWidth,
      }))
      .filter(({ box }) => box.width > 0);
    const apart = (a, b) =>
      a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    return boxes.flatMap(({ text, box, end }, i) => [
      ...(box.left < 0 || box.right > Math.min(innerWidth, end + 1) ? [title + ': "' + text + '" leaves the window'] : []),
      ...boxes.slice(i + 1)
        .filter((other) => !apart(box, other.box) && !text.includes(other.text))
        .map((other) => title + ': "' + text + '" touches "' + other.text + '"'),
    ]);
  })`);
}

describe('in a browser', () => {
  describe.each(Object.keys(FONTS) as (keyof typeof FONTS)[])('with %s', (fonts) => {
    let drawn: Browser;
    beforeAll(async () => {
      drawn = await startChromium(fonts);
    });
    afterAll(async () => await drawn.close());

    it('is what the text is drawn with', async () => {
      await using watched = await openWatched(drawn, write('font.html', Object.values(CHARTS)));
      const session = await watched.page.context().newCDPSession(watched.page);
      await session.send('DOM.enable');
      await session.send('CSS.enable');
      const { root } = await session.send('DOM.getDocument');
      const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'figcaption' });
      const { fonts: used } = await session.send('CSS.getPlatformFontsForNode', { nodeId });
      expect(used.map(({ familyName }) => familyName)).toEqual([fonts]);
    });

    test.each([320, 390, 800, 1200])('%i px: no text touches another, and none leaves the window', async (width) => {
      const url = write('all.html', Object.values(CHARTS));
      await using watched = await openWatched(drawn, url, { viewport: { width, height: 900 } });
      expect(await watched.page.locator('figure').count()).toBe(Object.keys(CHARTS).length);
      expect(await collisions(watched.page)).toEqual([]);
      expect(await watched.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    });
  });

  test.each([
    [320, 'light'],
    [390, 'dark'],
    [1200, 'dark'],
  ] as const)(
    '%i px, %s: no text touches another, none leaves the window, axe finds nothing',
    async (width, scheme) => {
      const url = write('all.html', Object.values(CHARTS));
      const viewport = { width, height: 900 };
      await using watched = await openWatched(browser, url, { viewport, colorScheme: scheme });
      expect(await watched.page.locator('figure').count()).toBe(Object.keys(CHARTS).length);
      expect(await collisions(watched.page)).toEqual([]);
      expect(await watched.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await axeViolations(watched.page)).toEqual([]);
      expect(watched.logged).toEqual([]);
      expect(watched.requests).toEqual([url]);
    },
  );

  it('is seen when texts touch', async () => {
    const crowded = html`<figure><figcaption>x</figcaption><svg><text x="10" y="20">one</text><text x="12" y="20">two</text><text x="5000" y="20">three</text></svg></figure>`;
    await using watched = await openWatched(browser, write('crowded.html', [crowded]));
    expect((await collisions(watched.page)).join('\n')).toMatch(/"one" touches "two"/);
  });

  it('has a colour for each tone with enough contrast to the page, in light and in dark', async () => {
    const parts = TONES.map((tone) => ({ label: tone, value: 1, tone }));
    const url = write('tones.html', [shareChart('tones', parts, PLAIN)]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await using watched = await openWatched(browser, url, { colorScheme });
      const [paper = '', ...tones] = await watched.page.evaluate<string[]>(`[
        getComputedStyle(document.body).backgroundColor,
        ...[...document.querySelectorAll('rect.fill')].map((element) => getComputedStyle(element).fill),
      ]`);
      expect(tones).toHaveLength(TONES.length);
      // WCAG 1.4.11: what graphics are made of.
      for (const tone of tones) expect(contrast(paper, tone)).toBeGreaterThanOrEqual(3);
    }
  });

  it('names each plot, describes it, and has its figures in a table that opens; bars have theirs beside them', async () => {
    await using watched = await openWatched(browser, write('named.html', Object.values(CHARTS)));
    const { page } = watched;
    for (const title of Object.keys(CHARTS)) {
      const drawing = page.getByRole('img', { name: title, exact: true });
      const figure = page
        .locator('figure')
        .filter({ has: page.locator('figcaption', { hasText: title }) })
        .first();
      if ((await drawing.count()) === 0) {
        expect(await figure.locator('li b').first().isVisible(), title).toBe(true);
        continue;
      }
      expect(await drawing.locator('> desc').textContent()).toBe(`All about ${title}.`);
      const own = page.locator('figure').filter({ has: drawing });
      expect(await own.locator('table').isVisible()).toBe(false);
      await own.locator('summary').press('Enter');
      expect(await own.locator('table').isVisible()).toBe(true);
    }
  });

  it('shows hostile texts as text', async () => {
    const charts = SCRIPTS.flatMap((payload) => hostile(payload));
    await using watched = await openWatched(browser, write('hostile.html', charts));
    expect(watched.dialogs).toEqual([]);
    expect(watched.logged).toEqual([]);
    expect(watched.requests).toHaveLength(1);
    const elements = await watched.page.evaluate<string[]>(
      `[...new Set([...document.querySelectorAll('body *')].map(({ tagName }) => tagName.toLowerCase()))]`,
    );
    const own =
      'main h1 div figure figcaption svg title desc g rect line path text ul li b span details summary table thead tbody tr th td p';
    expect(elements.filter((name) => !own.split(' ').includes(name))).toEqual([]);
    const texts = await watched.page.locator('figcaption').allTextContents();
    for (const payload of SCRIPTS.filter((text) => /^[ -~]+$/.test(text))) expect(texts).toContain(payload);
  });
});

function hostile(payload: string): readonly Html[] {
  const line = (tone: 'one' | 'two') => ({ name: payload, tone, points: points(3, HOUR, (i) => i) });
  const part = { label: payload, value: 1, tone: 'one' as const };
  return [
    barChart(payload, [part], PLAIN),
    shareChart(payload, [part], PLAIN),
    lineChart(payload, payload, [line('one'), line('two')], PLAIN),
  ];
}

describe('as markup', () => {
  test.each(Object.entries(CHARTS))(
    '%s: no id, no style attribute, no address, no figure that is none',
    (_name, chart) => {
      expect(chart.markup).not.toMatch(/\s(?:id|style|href|src|on\w+)=|url\(|NaN|Infinity|undefined/);
    },
  );

  it('folds away bars after the first ten, and keeps all of them', () => {
    const { markup } = barChart('x', bars(40), PLAIN);
    expect(markup.match(/class="rail"/g)).toHaveLength(40);
    expect(markup.split('<details>')[0]?.match(/class="rail"/g)).toHaveLength(10);
    expect(markup).toContain('<summary>30 more</summary>');
  });

  it('has no line between two recipients', () => {
    const series = [{ name: 'x', tone: 'one' as const, points: points(3, HOUR, (i) => i) }];
    const { markup } = lineChart('x', 'All about x.', series, PLAIN);
    const lines = [...markup.matchAll(/x="-8" [^>]*text-anchor="end">([^<]+)</g)].map(([, text]) => text);
    expect(lines).toEqual(['0', '1', '2']);
  });
});

describe('a chart over time', () => {
  const labels = (locale: string, timeZone: string, fromMs: number, toMs: number) => {
    const series = [{ name: 'x', tone: 'one' as const, points: [fromMs, toMs].map((x, y) => ({ x, y: y * 1_500 })) }];
    const { markup } = lineChart('x', 'All about x.', series, createFormats(locale, timeZone));
    return [...markup.matchAll(/<text class="figure"[^>]*>([^<]+)</g)].map(([, text]) => text);
  };

  it.each([
    ['de-DE', 'Europe/Berlin', START, START + 2 * HOUR, '10:30'],
    ['en-US', 'America/New_York', START, START + 2 * HOUR, '05:00 AM'],
    // Midnight there is not midnight in UTC.
    ['en-GB', 'Asia/Kolkata', START, START + 72 * HOUR, '23 Nov'],
    // An hour comes twice: the clocks go back at 03:00.
    ['en-GB', 'Europe/Berlin', Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 9, 25, 6), '06:00'],
  ])('has round times of its zone, as its locale writes them: %s, %s', (locale, timeZone, from, to, expected) => {
    expect(labels(locale, timeZone, from, to)).toContain(expected);
  });

  it('has figures as its locale writes them', () => {
    expect(labels('de-DE', 'UTC', START, START + HOUR)).toContain('1.500');
    expect(labels('en-GB', 'UTC', START, START + HOUR)).toContain('1,500');
  });
});

/** WCAG's ratio of two colours written `rgb(r, g, b)`. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string): number => {
    const [r = 0, g = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
