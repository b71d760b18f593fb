import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import { scheduleWords } from '../../src/schedule/words.ts';
import { axeViolations, openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import {
  ask,
  expectQuiet,
  NOW,
  numberOf,
  recordAll,
  recordRun,
  replyOf,
  reportOf,
  servePages,
  withLedger,
} from './serve-ledger.ts';

const campaignOf = (name: string, more = ''): string =>
  `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{first}}." }\nrecipients: ../people.csv\n${more}`;

let browser: Browser;
let project: TestProject;
beforeAll(async () => {
  browser = await sharedChromium();
});
beforeEach(() => {
  project = createProject({
    'handbill.yaml':
      'defaultCountry: GB\ntimeZone: Europe/London\nenvironments:\n  live: { baseUrl: "http://127.0.0.1:9", apiKey: { env: KEY }, budget: { max: 50, per: month } }\n',
    'campaigns/people.csv': 'msisdn,first\n+447400100000,Ann\n',
    'campaigns/daily/campaign.yaml': campaignOf('daily', 'schedule: { cron: 0 9 * * *, timeZone: Europe/London }\n'),
    'campaigns/later/campaign.yaml': campaignOf('later', 'schedule: { cron: 0 9 1 1 *, timeZone: Europe/London }\n'),
    'campaigns/by-hand/campaign.yaml': campaignOf('by-hand'),
  });
});
afterEach(() => project[Symbol.dispose]());

const ledgerPath = (): string => project.path('.handbill/ledger.db');
const textOf = (page: string): string => page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
const partOf = (page: string, id: string): string =>
  textOf(
    new RegExp(`<div id="${id}">[^]*?(?=<div id="(?:going|attention|next|budgets|runs)">|<p id="said")`).exec(
      page,
    )?.[0] ?? '',
  );

/** Three occurrences of `daily`, the second with doubts. */
function recordDaily(): readonly string[] {
  return withLedger(ledgerPath(), (ledger) =>
    [3, 2, 1].map((days) => {
      const occurrence = new Date(NOW - days * 86_400_000).toISOString().replace('.000', '');
      const rows = Array.from({ length: 12 }, (_, i) =>
        days === 2 && i < 2
          ? ({ state: 'in-doubt', reason: 'timeout' } as const)
          : days === 1 && i === 0
            ? ({ state: 'skipped', reason: 'suppressed' } as const)
            : { messageId: `d-${days}-${i}` },
      );
      return recordRun(ledger, { campaign: 'daily', occurrence, atMs: NOW - days * 86_400_000 }, rows).id;
    }),
  );
}

describe('the first page', () => {
  it('says before the first run what goes out next, and no more than the files say', async () => {
    await using pages = await servePages(project.root);
    const { text } = await ask(pages.port, '/');
    expect(partOf(text, 'next')).toContain('tomorrow 09:00 daily every day 09:00');
    expect(partOf(text, 'next')).not.toContain('later');
    expect(text).not.toContain('about');
    expect(partOf(text, 'attention').trim()).toBe('');
    expect(partOf(text, 'runs')).toContain('handbill send CAMPAIGN');
  });

  it('has one row for a campaign, with its newest run and the doubts of all', async () => {
    const [, , newest] = recordDaily();
    const spent = { environment: 'live', period: '2026-11', currency: 'EUR', spentMicros: 20_000_000 };
    withLedger(ledgerPath(), (ledger) => ledger.raiseSpent([spent], NOW));
    await using pages = await servePages(project.root);
    const { text } = await ask(pages.port, '/');
    expect(text.match(/<a class="latest"/g)).toHaveLength(1);
    expect(text).toContain(`<a class="latest" href="/runs/${newest}">`);
    expect(partOf(text, 'runs')).toContain('3 11 of 12 sent, 1 not sent (1 suppressed). 2');
    // The last time one of twelve was left out by a rule.
    expect(partOf(text, 'next')).toContain('tomorrow 09:00 daily about 11 people every day 09:00');
    expect(partOf(text, 'attention')).toContain('2 recipients in doubt in 1 run');
    expect(partOf(text, 'budgets')).toContain('Money Budget of live');
  });

  it('says by day what goes out in two weeks, and of what goes out every few minutes only the first', async () => {
    project.write('campaigns/twice/campaign.yaml', campaignOf('twice', 'schedule: { cron: "30 9,18 * * 1" }\n'));
    project.write('campaigns/often/campaign.yaml', campaignOf('often', 'schedule: { cron: "*/5 * * * *" }\n'));
    await using pages = await servePages(project.root);
    const { text } = await ask(pages.port, '/');
    const days = partOf(text, 'next').split('All of these days')[1] ?? '';
    expect(days).toMatch(
      /tomorrow 09:00 daily every day 09:00 Mon 23 Nov, 09:00 daily .* Mon 23 Nov, 09:30 , 18:30 twice /,
    );
    expect(days.match(/ daily /g)).toHaveLength(14);
    expect(days.match(/ twice /g)).toHaveLength(2);
    expect(days.match(/ often /g)).toHaveLength(1);
  });

  it('names an older run with people left beside a newer one', async () => {
    withLedger(ledgerPath(), (ledger) => {
      const run = (occurrence: string, atMs: number, state: 'pending' | 'accepted') =>
        recordRun(ledger, { campaign: 'daily', occurrence, atMs }, [{}, { state }]);
      run('2026-11-18', NOW - 3_000_000, 'accepted');
      run('2026-11-19', NOW - 2_000_000, 'pending');
      run('2026-11-20', NOW - 1_000_000, 'accepted');
    });
    await using pages = await servePages(project.root);
    const attention = partOf((await ask(pages.port, '/')).text, 'attention');
    expect(attention).toContain('daily (sandbox, 2026-11-19 ): ');
    expect(attention).not.toMatch(/2026-11-18|2026-11-20/);
  });

  it('adds up what each campaign cost in this month, without the sandbox', async () => {
    withLedger(ledgerPath(), (ledger) => {
      const month = (campaign: string, days: number, count: number, environment = 'live') => {
        const atMs = NOW - days * 86_400_000;
        const rows = Array.from({ length: count }, (_, i) => ({ messageId: `${campaign}-${days}-${i}` }));
        recordRun(ledger, { campaign, environment, occurrence: `d${days}`, atMs }, rows);
      };
      month('daily', 30, 500);
      month('daily', 3, 12);
      month('daily', 2, 13);
      month('by-hand', 1, 50);
      month('later', 1, 50, 'sandbox');
      recordRun(ledger, { campaign: 'gone', environment: 'live', isKilled: true }, [{}, { state: 'pending' }]);
    });
    await using pages = await servePages(project.root);
    expect(partOf((await ask(pages.port, '/')).text, 'budgets')).toMatch(
      /Runs that began in 2026-11: 3\.04\. .* by-hand 2\.00 daily 1\.00 gone 0\.04 $/,
    );
  });

  it('counts delivery reports in the bar of a campaign as in the words below it', async () => {
    recordAll(ledgerPath());
    await using pages = await servePages(project.root);
    const { text } = await ask(pages.port, '/');
    const bar = '1 delivered, 58 sent, 2 not delivered, 2 unclear, 1 not sent';
    expect(text).toContain(`role="img" aria-label="${bar}"`);
    expect(partOf(text, 'runs')).toContain(`${bar.replace('1 delivered', '1 of 64 delivered')} (1 duplicate)`);
  });

  it('names what a process left unfinished, also beside a later run of the campaign', async () => {
    withLedger(ledgerPath(), (ledger) => {
      recordRun(ledger, { campaign: 'by-hand', occurrence: 'first', isKilled: true }, [{}, { state: 'pending' }]);
    });
    await using pages = await servePages(project.root);
    expect(partOf((await ask(pages.port, '/')).text, 'attention')).toContain(
      'by-hand (sandbox, first ): Interrupted: no process sends it now.',
    );
    withLedger(ledgerPath(), (ledger) => {
      recordRun(ledger, { campaign: 'by-hand', occurrence: 'second', atMs: NOW + 9e6 }, [{}]);
    });
    expect(partOf((await ask(pages.port, '/')).text, 'attention')).toContain('by-hand (sandbox, first ): Interrupted');
  });

  it('says about when a run in progress ends, of those who are not left out', async () => {
    using _ = heldRun();
    await using pages = await servePages(project.root, { now: () => NOW + 61_000 });
    expect(partOf((await ask(pages.port, '/')).text, 'going')).toMatch(
      /by-hand sandbox · once 30 of 90 \(33\.3%\) about 09:03 0\.5 a second running/,
    );
  });

  it('filters by campaign and environment, and counts in its menu what waits for a person', async () => {
    recordAll(ledgerPath());
    recordDaily();
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/`, { locale: 'en-GB' });
    const { page } = watched;
    const menu = page.getByRole('navigation', { name: 'Pages' });
    expect((await menu.innerText()).replaceAll(/\s+/g, ' ')).toMatch(/In doubt 4 .*Replies 1 to review/);
    await page.getByLabel('Campaign or environment').fill('Dail');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.waitForURL(/q=Dail/);
    expect(await page.locator('#runs a.name').allTextContents()).toEqual(['daily']);
    await page.locator('#live[data-state=live]').waitFor();
    withLedger(ledgerPath(), (ledger) => {
      const reply = replyOf(numberOf(0), 'is that you?', 'review');
      ledger.events.record([reply], { nowMs: NOW + 99_000, source: 'webhook', environment: 'sandbox' });
    });
    await page.locator('#reply-count', { hasText: '2' }).waitFor();
    await page.goto(`${pages.base}/?q=none`);
    expect(await page.locator('#runs').innerText()).toContain('No campaign that was sent is called "none".');
    expectQuiet(watched, pages.base);
  });
});

describe('the page of a campaign', () => {
  it('compares its runs, and gives the next dates', async () => {
    const [first] = recordDaily();
    withLedger(ledgerPath(), (ledger) => {
      const reports = [reportOf('d-3-0', 'delivered'), reportOf('d-3-1', 'undeliverable')];
      ledger.events.record(reports, { nowMs: NOW, source: 'webhook', environment: 'sandbox' });
    });
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/`, { locale: 'en-GB' });
    const { page } = watched;
    await page.locator('#runs a.name').click();
    await page.locator('h1', { hasText: 'daily' }).waitFor();
    expect(await page.locator('#next li').first().innerText()).toBe('tomorrow 09:00');
    expect(await page.locator('#next li').count()).toBe(10);
    expect(await page.locator('#runs tbody tr').count()).toBe(3);
    const oldest = page.locator('#runs tbody tr').last();
    expect(await oldest.locator('a').getAttribute('href')).toBe(`/runs/${first}`);
    const cell = (title: string) => oldest.locator(`td[data-label="${title}"]`).textContent();
    expect(await Promise.all(['People', 'Delivered', 'Sent', 'Not delivered', 'Cost'].map(cell))).toEqual([
      '12',
      '1',
      '10',
      '1',
      '0.48',
    ]);
    await page.getByRole('link', { name: 'Preview' }).click();
    await page.waitForURL(/\/campaigns\/preview/);
  });

  it('exists for a file without runs, for runs without a file, and for nothing else', async () => {
    recordAll(ledgerPath());
    await using pages = await servePages(project.root);
    expect(textOf((await ask(pages.port, '/campaigns/by-hand')).text)).toContain('It was not sent yet.');
    expect(textOf((await ask(pages.port, '/campaigns/past')).text)).toContain(
      'No campaign file here has this name now.',
    );
    expect((await ask(pages.port, '/campaigns/none')).status).toBe(404);
    expect((await ask(pages.port, '/campaigns')).text).toContain('<a class="name" href="/campaigns/daily">');
  });
});

describe('the page of the coming days', () => {
  it('plays them for each environment, and shows those of one campaign', async () => {
    recordDaily();
    await using pages = await servePages(project.root, { now: () => NOW + 61_000 });
    const all = textOf(await untilPlayed(pages.port, '/ahead?env=sandbox'));
    expect(all).toContain('13 messages to sandbox, from Sat 21 Nov 09:01');
    expect(all.match(/\w+ \d+ (?:Nov|Dec) 09:00/g)).toHaveLength(13);
    expect(textOf(await untilPlayed(pages.port, '/ahead?env=live'))).toContain('cannot begin');
    expect(textOf(await untilPlayed(pages.port, '/ahead?env=sandbox&campaign=later'))).not.toContain('daily');
    expect((await ask(pages.port, '/ahead?env=none')).status).toBe(404);
  });
});

async function untilPlayed(port: number, path: string): Promise<string> {
  for (;;) {
    const { text } = await ask(port, path);
    if (!text.includes('are being played')) return text;
  }
}

it.each([1440, 820, 390])('both pages fit %i px, in light and dark', async (width) => {
  recordAll(ledgerPath());
  recordDaily();
  using _ = heldRun();
  await using pages = await servePages(project.root, { now: () => NOW + 61_000, allowActions: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = { width, height: 900 };
    await using watched = await openWatched(browser, pages.signInUrl ?? '', { viewport, colorScheme });
    const { page } = watched;
    for (const path of ['/', '/campaigns/daily', '/campaigns/past', '/ahead']) {
      await page.goto(pages.base + path);
      expect([path, await axeViolations(page)]).toEqual([path, []]);
      const wide =
        "[document.documentElement, ...document.querySelectorAll('.scroll')].every((one) => one.scrollWidth <= one.clientWidth)";
      expect([path, await page.evaluate(wide)]).toEqual([path, true]);
    }
  }
});

/** A run of 100 that this process holds: 30 of 90 are done, and 10 are left out. */
function heldRun(): Disposable {
  const rows = Array.from({ length: 100 }, (_, i) =>
    i < 30 ? {} : i < 40 ? ({ state: 'skipped', reason: 'suppressed' } as const) : ({ state: 'pending' } as const),
  );
  const run = withLedger(ledgerPath(), (ledger) => recordRun(ledger, { campaign: 'by-hand', isKilled: true }, rows));
  const lock = acquireRunLock(ledgerPath(), run);
  return { [Symbol.dispose]: () => lock?.release() };
}

it.each([
  ['0 9 * * 1-5', 'weekdays 09:00'],
  ['5 9,18 * * *', 'every day 09:05 and 18:05'],
  ['0 9 * * 1,4', 'Mon and Thu 09:00'],
  ['0 9 * * sun', 'Sun 09:00'],
  ['30 8 1 * *', 'day 1 of each month 08:30'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['7 * * * *', 'every day at 07 past each hour'],
  ['0 9 1 * 1', '0 9 1 * 1'],
  ['0 9 * 12 *', '0 9 * 12 *'],
  ['0 9 * * 1#2', '0 9 * * 1#2'],
  ['*/7 * * * *', '*/7 * * * *'],
  ['@daily', '@daily'],
])('%s in words: %s', (cron, words) => {
  expect(scheduleWords({ cron, at: null })).toBe(words);
});
