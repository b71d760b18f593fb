import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pauseSending } from '../../src/operations/pause.ts';
import { axeViolations, openWatched, sharedChromium } from '../helpers/browser.ts';
import { startCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { accepting, answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { SCRIPTS } from '../security/payloads.ts';
import {
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

const HELLO = {
  'handbill.yaml': 'defaultCountry: GB\n',
  'campaigns/hello/campaign.yaml':
    'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{first}}." }\nrecipients: people.csv\nsend: { rate: 100/s }\n',
};

const KEY = { HANDBILL_TEST_KEY: 'key-for-tests-only' };
const environmentAt = ({ url }: RawServer): string =>
  `environments:\n  api: { baseUrl: "${url.replace('/v2/messages', '')}", apiKey: { env: HANDBILL_TEST_KEY } }\n`;

let browser: Browser;
let project: TestProject;
beforeAll(async () => {
  browser = await sharedChromium();
});
beforeEach(() => {
  const people = Array.from({ length: 60 }, (_, i) => `+4474001${String(i).padStart(5, '0')},Ann\n`);
  project = createProject({ ...HELLO, 'campaigns/hello/people.csv': `msisdn,first\n${people.join('')}` });
});
afterEach(() => project[Symbol.dispose]());

describe('while something is sent', () => {
  it('a run appears, goes on and ends in an open page, without a reload', async () => {
    // Half of them are answered only when the page has shown that the others were.
    const gate = Promise.withResolvers<void>();
    const accept = accepting();
    const server = await startRawServer({
      behaviour: (request) =>
        void (server.requests.length > 30 ? gate.promise : Promise.resolve()).then(() => accept(request)),
    });
    project.write('handbill.yaml', `defaultCountry: GB\n${environmentAt(server)}`);
    await using pages = await servePages(project.root, { now: Date.now });
    await using watched = await openWatched(browser, `${pages.base}/`);
    const { page } = watched;
    await page.evaluate('globalThis.isSamePage = true');
    expect(await page.locator('.empty').innerText()).toContain('No run yet');
    const send = startCli(['send', 'hello', '--env', 'api', '--yes'], { cwd: project.root, env: KEY });
    await page.locator('#runs a.name', { hasText: 'hello' }).waitFor();
    await page.locator('#runs .state', { hasText: 'running' }).waitFor();
    await page.evaluate(`(() => {
      globalThis.seen = new Set();
      const look = () => seen.add(document.querySelector('#runs td div .soft')?.textContent);
      look();
      new MutationObserver(look).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
    })()`);
    gate.resolve();
    await page.locator('#runs .state', { hasText: 'finished' }).waitFor();
    // How often is up to the machine.
    expect(await page.evaluate<number>('seen.size')).toBeGreaterThan(1);
    expect((await send.done).status).toBe(0);
    await server.close();
    await page.getByText('60 of 60 sent').waitFor();
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
    await page.locator('#runs a.latest').click();
    await page.locator('h1', { hasText: 'hello' }).waitFor();
    expectQuiet(watched, pages.base);
  });

  it('what is typed, chosen and opened stays, and so does the focus', async () => {
    recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '');
    const { page } = watched;
    await page.goto(`${pages.base}/doubt`);
    await page.getByLabel('Note, kept permanently').fill('half a note');
    await page.locator('input[name=line]').first().check();
    await page.getByLabel('Note, kept permanently').focus();
    await page.locator('#live[data-state=live]').waitFor();
    withLedger(project.path('.handbill/ledger.db'), (ledger) =>
      recordRun(ledger, { campaign: 'newer', atMs: NOW + 9e6 }, [{ state: 'in-doubt', reason: 'timeout' }]),
    );
    await page.locator('h2', { hasText: 'newer' }).waitFor();
    const note = page.getByLabel('Note, kept permanently').last();
    expect(await note.inputValue()).toBe('half a note');
    expect(await page.evaluate<string>('document.activeElement.value')).toBe('half a note');
    expect(await page.locator('input[name=line]').nth(1).isChecked()).toBe(true);
    expectQuiet(watched, pages.base);
  });

  it('it is said that the process has ended, and a page that was open goes on with the next', async () => {
    recordAll(project.path('.handbill/ledger.db'));
    const pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/`);
    await watched.page.locator('#live[data-state=live]').waitFor();
    await pages.close();
    await watched.page.getByText('Connecting again').waitFor();
    await using _next = await servePages(project.root, { port: pages.port });
    await watched.page.locator('#live[data-state=live]').waitFor();
  });
});

describe('a reader', () => {
  it('gets everywhere by keyboard', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}/recipients`);
    const { page } = watched;
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.id');
    await press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await press('Enter', 'Tab', 'Tab', 'Tab');
    expect(await focused()).toBe('q');
    await page.keyboard.type('07700 900 062');
    await press('Enter');
    await page.waitForURL(/q=07700/);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByLabel('Name, number, line, key or message id').focus();
    // Fields, buttons, and the only row.
    for (let i = 0; i < 24 && (await focused()) !== numberOf(62); i++) await press('Tab');
    await press('Enter');
    await page.waitForURL(/recipients\/62/);
    expect(await page.locator('h1').textContent()).toBe(numberOf(62));
    expect(await page.locator('main').innerText()).toContain('no such number');
    expectQuiet(watched, pages.base);
  });

  it('filters, and goes on to the next page', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}`);
    const { page } = watched;
    await page.getByRole('link', { name: 'Recipients', exact: true }).click();
    await page.getByRole('link', { name: 'Next page' }).click();
    expect(await page.locator('tbody tr').count()).toBe(14);
    const outcomes = page.getByRole('navigation', { name: 'Outcome' });
    expect(await outcomes.getByRole('link').allTextContents()).toEqual([
      'all 64',
      'accepted 60',
      'rejected 1',
      'skipped 1',
      'in-doubt 2',
    ]);
    await outcomes.getByRole('link', { name: 'in-doubt 2' }).click();
    await page.waitForURL(/outcome=in-doubt/);
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(await page.locator('caption').textContent()).toContain('2 recipients');
    expect(await outcomes.locator('[aria-current]').textContent()).toBe('in-doubt 2');
    // The other filters keep it, and then the numbers of the whole run would mislead.
    await page.getByLabel('Delivery').selectOption('none');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/outcome=in-doubt.*delivery=none/);
    expect(await outcomes.locator('[aria-current]').textContent()).toBe('in-doubt');
    expect(await page.locator('tbody tr').count()).toBe(2);
    expectQuiet(watched, pages.base);
  });

  it('without JavaScript reads, searches and acts', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '', { javaScriptEnabled: false });
    const { page } = watched;
    await page.locator('#runs a.latest').click();
    expect(await page.locator('noscript').textContent()).toContain('reload it');
    await page.goto(`${pages.base}/runs/${id}/recipients`);
    await page.getByLabel('Line, key').fill('m-7');
    await page.getByRole('button', { name: 'Search' }).click();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.goto(`${pages.base}/doubt`);
    await page.locator('input[name=line]').first().check();
    await page.getByRole('button', { name: 'The API has them' }).click();
    await page.getByRole('button', { name: 'Record as accepted' }).click();
    await page.getByText('1 recipient recorded as accepted.').waitFor();
    await page.goto(`${pages.base}/suppressions`);
    await page.getByLabel('Number, email address, contact:ID or hash').fill('07700 900 044');
    await page.getByRole('button', { name: 'Suppress' }).click();
    await page.getByRole('button', { name: `Remove ${numberOf(44)}` }).click();
    await page.getByRole('button', { name: 'Take it off' }).click();
    await page.getByText('is off the list.').waitFor();
    await page.goto(`${pages.base}/replies?meaning=review`);
    await page.getByRole('button', { name: /^Opt out/ }).click();
    await page.getByText('1 address suppressed since.').waitFor();
    expectQuiet(watched, pages.base);
  });

  it('opens the preview of a campaign and the report of a run', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/campaigns`);
    const { page } = watched;
    await page.getByRole('link', { name: 'Preview' }).click();
    await page.getByText('Hello Ann.').first().waitFor();
    await page.getByRole('link', { name: 'Back to handbill serve' }).click();
    await page.waitForURL(`${pages.base}/campaigns`);
    await pauseSending({ cwd: project.root, env: {}, environment: 'sandbox', reason: 'Wrong list', by: 'jane' });
    await page.goto(`${pages.base}/runs/${id}/report`);
    expect(await page.title()).toContain('handbill report');
    const banner = await page.locator('body > .notice').innerText();
    expect(banner).toContain('by jane: Wrong list. In a terminal: handbill resume');
    expect(banner).not.toContain('UTC');
    await page.getByRole('link', { name: 'Back to handbill serve' }).click();
    await page.waitForURL(`${pages.base}/runs/${id}`);
    expectQuiet(watched, pages.base);
  });
});

describe('a run', () => {
  it('says how far its messages came, and what needs attention before the rest', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}`);
    const { page } = watched;
    const legend = await page.locator('#totals .legend li').allTextContents();
    expect(legend.map((text) => text.replace(/ \(.*| \d+\.\d% /g, ' ').trim())).toEqual([
      '1 delivered',
      '58 sent',
      '2 not delivered',
      '2 unclear',
      '1 not sent',
    ]);
    const outcomes = await page.locator('#why table').first().locator('tbody th').allTextContents();
    expect(outcomes).toEqual([
      'in-doubt',
      'no-response',
      'timeout',
      'rejected',
      'status',
      'skipped',
      'duplicate',
      'accepted',
    ]);
    await page.keyboard.press('/');
    await page.keyboard.type('07700 900 062');
    await page.keyboard.press('Enter');
    await page.waitForURL(/recipients\?q=07700/);
    expect(await page.locator('tbody tr').count()).toBe(1);
    expectQuiet(watched, pages.base);
  });

  it('has its failures by cause, each with a link to the recipients that it is the cause of', async () => {
    const id = withLedger(project.path('.handbill/ledger.db'), (ledger) => {
      const refused = (error: string, httpStatus = 400) =>
        ({ state: 'rejected', reason: 'status', error, httpStatus }) as const;
      const run = recordRun(ledger, { campaign: 'past' }, [
        {},
        {},
        refused('no such number'),
        refused(`no number ${numberOf(3)}`),
        refused('no number +447700900999'),
        refused('no such number', 451),
        { state: 'in-doubt', reason: 'timeout' },
      ]);
      const report = { ...reportOf('m-1', 'undeliverable'), error: 'absent-subscriber: switched off' };
      ledger.events.record([report], { nowMs: NOW + 9_000, source: 'webhook', environment: 'sandbox' });
      return run.id;
    });
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}`);
    const { page } = watched;
    const rows = page.locator('#causes tbody tr');
    await rows.first().waitFor();
    const cells = await rows.evaluateAll((all) =>
      all.map((row) => [...row.children].slice(0, 3).map(({ textContent }) => textContent)),
    );
    expect(cells[0]).toEqual(['HTTP 400: no number …', 'not delivered', '2']);
    expect(cells.slice(1).toSorted()).toEqual([
      ['HTTP 400: no such number', 'not delivered', '1'],
      ['HTTP 451: no such number', 'not delivered', '1'],
      ['absent-subscriber: switched off', 'not delivered', '1'],
      ['no answer in time', 'unclear', '1'],
    ]);
    const linesOf = async (cause: string) => {
      await page.goto(`${pages.base}/runs/${id}`);
      await page.locator('#causes').getByRole('link', { name: cause }).click();
      await page.waitForURL(/cause=/);
      return await page.locator('tbody td[data-label=Line]').allTextContents();
    };
    expect(await linesOf('HTTP 400: no number …')).toEqual(['5', '6']);
    expect(await page.getByLabel('Cause').inputValue()).toBe('HTTP 400: no number …');
    expect(await linesOf('absent-subscriber: switched off')).toEqual(['3']);
    expect(await linesOf('no answer in time')).toEqual(['8']);
    expectQuiet(watched, pages.base);
  });

  it('is paused and resumed after a question, by buttons on its page', async () => {
    const path = project.path('.handbill/ledger.db');
    const over = recordAll(path);
    const { id } = withLedger(path, (ledger) => recordRun(ledger, { campaign: 'going' }, [{}, { state: 'pending' }]));
    await using pages = await servePages(project.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '');
    const { page } = watched;
    await page.goto(`${pages.base}/runs/${over}`);
    expect(await page.getByRole('button', { name: /^Pause/ }).count()).toBe(0);
    await page.goto(`${pages.base}/runs/${id}`);
    await page.getByRole('button', { name: 'Pause going in sandbox' }).click();
    await page.getByLabel(/^Reason/).fill('wrong price');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('alert').getByText('wrong price').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('status').getByText('is resumed').waitFor();
    expectQuiet(watched, pages.base);
  });
});

describe('the table of recipients', () => {
  it('has who did not get it in two clicks, with the records of the report as CSV', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}`);
    const { page } = watched;
    await page.locator('#totals').getByRole('link', { name: 'unclear' }).click();
    await page.waitForURL(/end=unclear/);
    expect(await page.locator('tbody tr').count()).toBe(2);
    const link = page.getByRole('link', { name: 'CSV' });
    const answer = await fetch(new URL((await link.getAttribute('href')) ?? '', pages.base));
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...records] = (await answer.text()).trimEnd().split('\n');
    expect(head).toMatch(/^"line",/);
    expect(records.map((record) => record.split(',')[0]?.replaceAll('"', ''))).toEqual(
      await page.locator('tbody td[data-label=Line]').allTextContents(),
    );
  });

  it('keeps the column that it is sorted by, and puts those without a value last in both orders', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}/recipients?sort=delivery`);
    const { page } = watched;
    for (const now of ['ascending', 'descending']) {
      await page.locator(`th[aria-sort=${now}]`, { hasText: 'Delivery' }).waitFor();
      const first = page.locator('tbody tr').first().locator('td[data-label=Delivery]');
      expect(await first.textContent()).not.toBe('');
      if (now === 'ascending') await page.locator('thead').getByRole('link', { name: 'Delivery' }).click();
    }
  });

  it('is sorted by its headings, one way and the other, page by page and with filters', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}/recipients`);
    const { page } = watched;
    const lines = async () => (await page.locator('tbody td[data-label=Line]').allTextContents()).map(Number);
    const sort = async (name: string, now: string) => {
      await page.locator('thead').getByRole('link', { name }).click();
      await page.locator(`th[aria-sort=${now}]`, { hasText: name }).waitFor();
    };
    await sort('Outcome', 'ascending');
    expect((await lines()).slice(0, 5)).toEqual([63, 62, 64, 65, 2]);
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.waitForURL(/page=1/);
    expect(await lines()).toHaveLength(14);
    await sort('Line', 'ascending');
    await sort('Line', 'descending');
    expect((await lines()).slice(0, 3)).toEqual([65, 64, 63]);
    await page.getByLabel('Variant').selectOption('b');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/variant=b/);
    expect((await lines()).slice(0, 3)).toEqual([61, 59, 57]);
    expect(await page.locator('caption').textContent()).toBe('30 recipients. Sorted by line.');
    expectQuiet(watched, pages.base);
  });

  it('is sorted at any length, as far as a person pages', async () => {
    const id = withLedger(
      project.path('.handbill/ledger.db'),
      (ledger) =>
        recordRun(
          ledger,
          { campaign: 'long' },
          Array.from({ length: 50_001 }, () => ({})),
        ).id,
    );
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}/recipients?sort=-line`);
    const { page } = watched;
    const first = page.locator('tbody td[data-label=Line]').first();
    expect(await first.textContent()).toBe('50,002');
    expect(await page.locator('caption').textContent()).toContain('50,001 recipients. Sorted by line.');
    const sortable = await page.locator('thead a').allTextContents();
    expect(sortable).toEqual(['Recipient', 'Line', 'Outcome', 'Attempts', 'Last change']);
    await page.goto(`${pages.base}/runs/${id}/recipients?sort=delivery`);
    expect(await page.locator('caption').textContent()).toContain('cannot be sorted by delivery');
    expect(await first.textContent()).toBe('2');
    await page.goto(`${pages.base}/runs/${id}/recipients?sort=-line&page=199`);
    expect(await first.textContent()).toBe('40,052');
    expect(await page.locator('main').innerText()).toContain('A sorted list ends after 10,000 rows.');
    expect(await page.getByRole('link', { name: 'Next page' }).count()).toBe(0);
  });
});

describe('a recipient', () => {
  const send = async () => {
    const sent = startCli(['send', 'hello', '--limit', '3'], { cwd: project.root });
    expect((await sent.done).status).toBe(0);
  };

  it('shows the text that was sent, and what happened in its order', async () => {
    await send();
    await using pages = await servePages(project.root, { now: Date.now });
    await using watched = await openWatched(browser, `${pages.base}/`);
    const { page } = watched;
    await page.locator('#runs a.latest').click();
    await page.getByRole('link', { name: 'Recipients', exact: true }).click();
    await page.locator('tbody a').first().click();
    const said = page.getByRole('region', { name: 'What was sent' });
    expect(await said.locator('.bubble').innerText()).toBe('Hello Ann.');
    expect(await page.locator('.timeline li').first().innerText()).toMatch(/^accepted HTTP 20\d/);
    expect(await axeViolations(page)).toEqual([]);
    expectQuiet(watched, pages.base);
    // Another text, or another list, is not what was sent.
    for (const [file, text] of [
      ['campaigns/hello/people.csv', 'msisdn,first\n+447400100000,Bob\n'],
      ['campaigns/hello/campaign.yaml', HELLO['campaigns/hello/campaign.yaml'].replace('Hello', 'Goodbye')],
    ] as const) {
      project.write(file, text);
      await using other = await servePages(project.root, { now: Date.now });
      await page.goto(other.base + new URL(page.url()).pathname);
      await page.getByText('The text cannot be shown').waitFor();
      expect(await page.locator('main').innerText()).not.toMatch(/Goodbye|Bob/);
    }
  });

  it('shows every attempt, also those of an earlier start, and what each of them was told', async () => {
    const answers = [
      answer(429, '{"error":{"message":"slow down"}}', { 'retry-after': '0' }),
      answer(422, '{"error":{"message":"out for lunch"}}'),
      answer(202, '{"id":"m-1"}'),
    ];
    const server = await startRawServer({ behaviour: (request) => answers.shift()?.(request) });
    project.write('handbill.yaml', `defaultCountry: GB\n${environmentAt(server)}`);
    project.write('campaigns/hello/people.csv', 'msisdn,first\n+447400100000,Ann\n');
    const campaign = HELLO['campaigns/hello/campaign.yaml'].replace('rate: 100/s', 'attempts: 2');
    project.write('campaigns/hello/campaign.yaml', campaign);
    const send = async (...more: string[]) => {
      const args = ['send', 'hello', '--env', 'api', '--yes', ...more];
      return await startCli(args, { cwd: project.root, env: KEY }).done;
    };
    expect((await send()).status).toBe(3);
    expect((await send('--retry', 'rejected')).status).toBe(0);
    await server.close();
    await using pages = await servePages(project.root, { now: Date.now });
    await using watched = await openWatched(browser, `${pages.base}/`);
    const { page } = watched;
    await page.locator('#runs a.latest').click();
    await page.getByRole('link', { name: 'Recipients', exact: true }).click();
    await page.locator('tbody a').first().click();
    await page.locator('.timeline').waitFor();
    const moments = (await page.locator('.timeline li').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    expect(moments).toEqual([
      expect.stringMatching(/^Attempt 1: to be tried again HTTP 429 · .*slow down · took [\d,]+ ms/),
      expect.stringMatching(/^Attempt 2: rejected HTTP 422 · .*out for lunch · took [\d,]+ ms/),
      expect.stringMatching(/^accepted after 3 attempts · HTTP 202/),
    ]);
    expect(await axeViolations(page)).toEqual([]);
  });

  it('has reports and doubts that ended in one story', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '');
    const { page } = watched;
    const moments = async (row: number) => {
      await page.goto(`${pages.base}/runs/${id}/recipients/${row}`);
      return await page.locator('.timeline li b').allTextContents();
    };
    expect((await moments(1)).toSorted()).toEqual(['accepted', 'undeliverable']);
    expect(await moments(63)).toEqual([]);
    await page.goto(`${pages.base}/doubt`);
    await page.locator('input[name=line]').first().check();
    await page.getByLabel('Note, kept permanently').fill('asked by phone');
    await page.getByRole('button', { name: 'The API has them' }).click();
    await page.getByRole('button', { name: 'Record as accepted' }).click();
    await page.getByText('1 recipient recorded').waitFor();
    expect((await moments(60)).toSorted()).toEqual(['Attempt 1: in doubt', 'Recorded as accepted', 'accepted']);
    expect(await page.locator('.timeline .quote').innerText()).toBe('asked by phone');
  });
});

describe('keys', () => {
  it('go to the search, through the rows and to their list, and leave alone who types', async () => {
    const id = recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/runs/${id}/recipients`);
    const { page } = watched;
    const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.id');
    await page.keyboard.press('j');
    expect(await focused()).toBe(numberOf(0));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await focused()).toBe(numberOf(1));
    await page.keyboard.press('/');
    expect(await focused()).toBe('q');
    await page.keyboard.type('j/k?');
    expect(await page.locator('#q').inputValue()).toBe('j/k?');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    expect(await page.locator('dialog').isVisible()).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    expect(await page.locator('dialog').isVisible()).toBe(false);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/recipients\/\d+$/);
    expectQuiet(watched, pages.base);
  });
});

describe('what is taken elsewhere', () => {
  it('is copied by a button, which says so', async () => {
    recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/doubt`);
    const { page } = watched;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.locator('.copied button').first();
    const reference = await page.locator('.copied code').first().textContent();
    await button.click();
    await expect.poll(() => button.textContent()).toMatch(/^Copied/);
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(reference);
    expect(await page.locator('#said').textContent()).toBe('Copied');
    expect(await axeViolations(page)).toEqual([]);
    await expect.poll(() => button.textContent(), { timeout: 5000 }).toMatch(/^Copy /);
    expectQuiet(watched, pages.base);
  });
});

describe('the first page', () => {
  it('shows who was skipped, and the next run without a reload', async () => {
    recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/`);
    const { page } = watched;
    await page.locator('#live[data-state=live]').waitFor();
    expect(await page.locator('td[data-label=People]').textContent()).toContain('1 not sent');
    withLedger(project.path('.handbill/ledger.db'), (ledger) =>
      recordRun(
        ledger,
        { campaign: 'longer', atMs: NOW + 20_000 },
        Array.from({ length: 6_000 }, () => ({})),
      ),
    );
    await page.locator('a.name', { hasText: 'longer' }).waitFor();
    await page.getByText('5,999 of 6,000 sent').waitFor();
    expectQuiet(watched, pages.base);
  });

  it('and every other page says the next command while it is empty', async () => {
    await using pages = await servePages(project.root);
    await using watched = await openWatched(browser, `${pages.base}/`);
    for (const [path, command] of [
      ['/', 'handbill send CAMPAIGN'],
      ['/doubt', 'handbill doubt list --resolved'],
      ['/replies', 'handbill listen'],
      ['/suppressions', 'handbill suppress add'],
    ] as const) {
      await watched.page.goto(pages.base + path);
      expect(await watched.page.locator('main').innerText(), path).toContain(command);
      expect(await watched.page.locator('nav').first().innerText(), path).toContain(
        'Read only: started without --allow-actions',
      );
    }
  });

  it('writes times as the project says, whatever the browser asks for', async () => {
    project.write('handbill.yaml', 'defaultCountry: GB\nlocale: de-DE\n');
    withLedger(project.path('.handbill/ledger.db'), (ledger) =>
      recordRun(
        ledger,
        { campaign: 'longer' },
        Array.from({ length: 6_000 }, () => ({})),
      ),
    );
    await using pages = await servePages(project.root, { timeZone: 'America/New_York' });
    await using watched = await openWatched(browser, `${pages.base}/`, { locale: 'fr-FR' });
    const start = watched.page.locator('td time').first();
    expect(await start.textContent()).toBe('04:00');
    expect(await start.getAttribute('title')).toBe('21.11.2026, 04:00:00 GMT-5');
    expect(await watched.page.locator('footer').innerText()).toContain('America/New_York');
    await watched.page.locator('#runs a.latest').click();
    expect(await watched.page.locator('#head').textContent()).toContain('Started 21.11.2026, 04:00:00 GMT-5');
  });
});

describe('every page', () => {
  it.each([390, 320])('has the other pages in a menu that needs no script: %i px wide', async (width) => {
    recordAll(project.path('.handbill/ledger.db'));
    await using pages = await servePages(project.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '', {
      javaScriptEnabled: false,
      viewport: { width, height: 700 },
    });
    const { page } = watched;
    expect((await page.locator('header.site').boundingBox())?.height).toBeLessThan(50);
    const link = page.getByRole('link', { name: 'Suppressions' });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'End actions' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await link.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    await page.locator('h1', { hasText: 'Suppressions' }).waitFor();
    expectQuiet(watched, pages.base);
  });

  it('shows hostile text as text', async () => {
    expect(SCRIPTS.length).toBeGreaterThanOrEqual(30);
    const id = withLedger(project.path('.handbill/ledger.db'), (ledger) => {
      const rows = SCRIPTS.map((text, i) => ({
        key: `${text} ${i}`,
        to: text,
        variant: text,
        state: 'in-doubt' as const,
        reason: text,
        error: text,
      }));
      const run = recordRun(
        ledger,
        { campaign: SCRIPTS[0] ?? '', environment: SCRIPTS[1] ?? '', occurrence: SCRIPTS[2] ?? '' },
        rows,
      );
      ledger.events.record(
        SCRIPTS.map((text) => replyOf(text, text, 'review')),
        { nowMs: NOW, source: 'webhook', environment: 'sandbox' },
      );
      for (const text of SCRIPTS) ledger.suppress(text, { reason: text, untilMs: null, source: text, nowMs: NOW });
      return run.id;
    });
    await using pages = await servePages(project.root, { allowActions: true });
    await using watched = await openWatched(browser, pages.signInUrl ?? '');
    const { page } = watched;
    const run = encodeURIComponent(id);
    const plain = SCRIPTS[11] ?? '';
    for (const path of [
      '/',
      `/runs/${run}`,
      `/runs/${run}/recipients`,
      `/runs/${run}/recipients/11`,
      '/doubt',
      '/replies',
      '/suppressions',
    ]) {
      await page.goto(pages.base + path);
      await page.locator('#live[data-state=live]').waitFor();
      expect([path, await page.locator('script').count()]).toEqual([path, 1]);
      expect([path, await page.locator('img,iframe,object,embed,video,base,math').count()]).toEqual([path, 0]);
      if (path !== '/' && path !== '/suppressions')
        expect([path, (await page.locator('main').innerText()).includes(plain)]).toEqual([path, true]);
    }
    // What comes later comes the same way.
    withLedger(project.path('.handbill/ledger.db'), (ledger) =>
      recordRun(ledger, { campaign: SCRIPTS[10] ?? '', atMs: NOW + 9e6 }, [{}]),
    );
    await page.goto(`${pages.base}/`);
    await page.locator('a.name').nth(1).waitFor();
    for (const query of SCRIPTS.slice(0, 12))
      await page.goto(
        `${pages.base}/runs/${run}/recipients?q=${encodeURIComponent(query)}&variant=${encodeURIComponent(query)}`,
      );
    expectQuiet(watched, pages.base);
  });
});
