import { hash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { axeViolations, openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { ask, NOW, numberOf, recordRun, replyOf, reportOf, servePages, signIn, withLedger } from './serve-ledger.ts';

/** Replies as an inbox: found, read and decided about. */

const LIST = `msisdn,first_name,last_name
${numberOf(0)},Mair,Llewellyn
${numberOf(1)},José,García
${numberOf(2)},Zoë,Ahmed
`;
const SHORT = 'Who is this?';

let project: TestProject;
let path: string;
beforeEach(() => {
  project = createProject({
    'handbill.yaml': 'defaultCountry: GB\n',
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{first_name}}." }\nrecipients: people.csv\n',
    'campaigns/hello/people.csv': LIST,
  });
  path = project.path('.handbill/ledger.db');
  withLedger(path, (ledger) => {
    const sha256 = hash('sha256', LIST, 'hex');
    const inputs = [{ role: 'recipients', file: 'campaigns/hello/people.csv', sha256 }] as const;
    recordRun(ledger, { campaign: 'hello', inputs }, [
      {},
      { state: 'in-doubt', reason: 'timeout' },
      { state: 'in-doubt', reason: 'no-response' },
    ]);
    recordRun(ledger, { campaign: 'other', atMs: NOW + 5_000 }, [{ to: numberOf(7), key: '7' }]);
  });
  return () => project[Symbol.dispose]();
});

function receive(
  ...replies: readonly (readonly [from: number, text: string, meaning: 'review' | 'answer' | 'opt-out'])[]
) {
  withLedger(path, (ledger) => {
    const all = replies.map(([from, text, meaning]) => ({
      ...replyOf(numberOf(from), text, meaning),
      atMs: NOW + 50_000,
    }));
    ledger.events.record(all, { nowMs: NOW + 60_000, source: 'webhook', environment: 'sandbox' });
  });
}

function join(): void {
  withLedger(path, (ledger) => {
    const facts = { now: () => NOW + 120_000, startLifts: false, stopEnds: 'everything' as const };
    for (const _ of ledger.events.joinReplies({ ...facts, referencesOf: () => () => 'none' }));
  });
}

const entered = () =>
  withLedger(path, (ledger) =>
    [...ledger.events.replies()].flat().map(({ number, review }) => `${number} ${review?.meaning ?? '-'}`),
  );
const textsIn = (text: string) => [...text.matchAll(/<p class="quote">([^<]*)</g)].map(([, found]) => found);
const tabsIn = (text: string) =>
  [...text.matchAll(/<a href="\/replies[^>]+>([^<]+) <b>([^<]+)</g)].map((one) => one.slice(1));

it('are found by tab, campaign, words, name and number, and each tab has its count', async () => {
  receive([0, 'Diolch!', 'answer'], [1, 'A qué hora?', 'answer'], [7, 'stop it', 'review'], [8, 'STOP', 'opt-out']);
  await using pages = await servePages(project.root);
  const page = async (query: string) => (await ask(pages.port, `/replies?${query}`)).text;
  expect(await page('')).toContain('not looked up yet');
  join();
  expect(tabsIn(await page(''))).toEqual([
    ['To read', '1'],
    ['All', '4'],
    ['Opted out', '1'],
    ['Questions', '1'],
  ]);
  expect(textsIn(await page(''))).toEqual(['stop it']);
  expect(textsIn(await page('meaning=questions'))).toEqual(['A qué hora?']);
  expect(textsIn(await page('meaning=opt-out'))).toEqual(['STOP']);
  expect(await page('meaning=opt-out')).toContain('no known message');
  expect(textsIn(await page('meaning=all&campaign=hello'))).toEqual(['A qué hora?', 'Diolch!']);
  expect(tabsIn(await page('meaning=all&campaign=hello'))[1]).toEqual(['All', '2']);
  for (const [q, found] of [
    ['que hora', ['A qué hora?']],
    ['garcia', ['A qué hora?']],
    ['jose hora', ['A qué hora?']],
    ['07700 900000', ['Diolch!']],
    ['900007', ['stop it']],
    ['nothing', []],
  ] as const) {
    expect([q, textsIn(await page(`meaning=all&q=${encodeURIComponent(q)}`))]).toEqual([q, found]);
  }
});

it('a search without hits says so, and keeps the counts of the tabs', async () => {
  receive([0, 'hm', 'review'], [1, 'why', 'review']);
  join();
  await using pages = await servePages(project.root);
  const page = async (query: string) => (await ask(pages.port, `/replies?${query}`)).text;
  for (const query of ['q=%25', 'campaign=other']) {
    expect(await page(query)).toContain('<p>No reply to read is like that.</p></div>');
  }
  expect(tabsIn(await page('q=%25'))[0]).toEqual(['To read', '2']);
  expect(await page('meaning=opt-out&q=%25')).toContain('<p>No reply is like that.</p>');
  expect(await page('campaign=nope')).toContain('No campaign that was sent is called &quot;nope&quot;.');
  expect(await page('meaning=opt-out')).toContain('<code>handbill listen</code> receives replies');
});

it('the row of a text counts people and campaigns, not replies', async () => {
  receive(
    [0, SHORT, 'review'],
    [0, `${SHORT} `, 'review'],
    [8, 'hm', 'review'],
    [1, 'hm ', 'review'],
    [7, ' hm', 'review'],
  );
  join();
  await using pages = await servePages(project.root, { allowActions: true });
  const known = await signIn(pages);
  const { text } = await ask(pages.port, '/replies', { headers: { cookie: known.cookie } });
  const [hm = '', short = ''] = text.split('<tr id="reply-').slice(1);
  expect(short).toContain('× 2');
  expect(short).not.toMatch(/and \d other/);
  expect(hm).toContain('and 2 others');
  expect(hm).toContain('and 1 other<');
});

it('with the same text are one row, and what is recorded of them is said first', async () => {
  receive([0, SHORT, 'review'], [1, `${SHORT} `, 'review'], [7, SHORT, 'review'], [8, 'Who?', 'review']);
  join();
  await using pages = await servePages(project.root, { allowActions: true });
  const known = await signIn(pages);
  const headers = { cookie: known.cookie };
  const page = (await ask(pages.port, '/replies', { headers })).text;
  expect(textsIn(page)).toEqual(['Who?', SHORT]);
  expect(page).toContain('× 3');
  const post = (more: string) =>
    ask(pages.port, '/replies', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: `csrf=${encodeURIComponent(known.csrf)}&id=1&id=2&id=3&as=opt-out${more}`,
    });
  const question = (await post('')).text;
  expect(question).toContain('Record 3 replies as opt-out?');
  for (const who of [`José García, ${numberOf(1)}`, `Mair Llewellyn, ${numberOf(0)}`, numberOf(7)]) {
    expect(question).toContain(`<li>${who}</li>`);
  }
  expect(question).toContain('Their addresses are suppressed, for everything.');
  // The menu has its counts there too.
  expect(question).toContain('<div id="reply-count">4');
  expect(question).toContain('<div id="doubt-count">2');
  expect(entered()).toEqual(['4 -', '3 -', '2 -', '1 -']);
  expect((await post('&sure=yes&back=/replies')).headers.location).toBe('/replies');
  expect(entered()).toEqual(['4 -', '3 opt-out', '2 opt-out', '1 opt-out']);
});

it('the recipients of an end are counted, without lines between them, in the colour of the end', async () => {
  const run = withLedger(path, (ledger) => {
    const sent = Array.from({ length: 60 }, (_, i) => (i === 0 ? { state: 'rejected' as const } : {}));
    const { id } = recordRun(ledger, { campaign: 'ends' }, sent);
    const lost = [9, 30].map((row) => ({ ...reportOf(`m-${row}`, 'undeliverable'), atMs: NOW + 50_000 }));
    ledger.events.record(lost, { nowMs: NOW + 60_000, source: 'webhook', environment: 'sandbox' });
    return id;
  });
  await using pages = await servePages(project.root);
  const page = async (query: string) => (await ask(pages.port, `/runs/${run}/recipients?${query}`)).text;
  expect(await page('')).toContain('<caption>60 recipients. Lines 2 to 51 of the list.');
  const lost = await page('end=notDelivered');
  expect(lost).toContain('<caption>3 recipients. In the order of the list.');
  expect(lost.match(/tone-rejected" aria-hidden="true"><\/span>not delivered/g)).toHaveLength(3);
  await ask(pages.port, `/runs/${run}`);
  expect(await page('end=sent')).toContain('<caption>57 recipients. In the order of the list.');
});

it('no page leads elsewhere after a decision', async () => {
  receive([0, 'hm', 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  const known = await signIn(pages);
  for (const back of ['https://example.com', '//example.com', '/replies?a\r\nX-Y: z', '/doubt']) {
    const body = new URLSearchParams({ csrf: known.csrf, id: '1', as: 'answer', back }).toString();
    const headers = { cookie: known.cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const done = await ask(pages.port, '/replies', { method: 'POST', headers, body });
    expect([back, done.headers.location]).toEqual([back, '/replies']);
  }
});

it('the same search finds recipients in doubt, and the CSV has the references', async () => {
  await using pages = await servePages(project.root, { allowActions: true });
  const known = await signIn(pages);
  const see = async (at: string) => (await ask(pages.port, at, { headers: { cookie: known.cookie } })).text;
  const found = async (q: string) =>
    [...(await see(`/doubt?q=${encodeURIComponent(q)}`)).matchAll(/value="(\d+)" data-cause/g)].map(([, line]) => line);
  for (const [q, lines] of [
    ['garcia', ['3']],
    ['07700 900002', ['4']],
    ['ahmed zoe', ['4']],
    ['Llewellyn', []],
  ] as const) {
    expect([q, await found(q)]).toEqual([q, lines]);
  }
  expect(await see('/doubt?q=nothing')).toContain('No recipient in doubt is like that.');
  const csv = /href="(\/runs\/[^"]+\/doubt\.csv)"/.exec(await see('/doubt'))?.[1] ?? '';
  const { headers, text } = await ask(pages.port, csv, { headers: { cookie: known.cookie } });
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head, ...lines] = text.trim().split('\n');
  expect(head?.split(',')).toContain('"reference"');
  expect(lines.map((line) => line.includes('"hello"'))).toEqual([true, true]);
});

it('doubts are chosen by cause without JavaScript', async () => {
  await using pages = await servePages(project.root, { allowActions: true });
  const options = { javaScriptEnabled: false };
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '', options);
  const { page } = watched;
  await page.goto(`${pages.base}/doubt`);
  await page.getByRole('button', { name: '1 × the connection was closed without an answer' }).click();
  expect(page.url()).not.toContain(`csrf`);
  expect(await page.locator('input[name=line]:checked').count()).toBe(1);
  await page.getByRole('button', { name: 'Choose all 2' }).click();
  expect(await page.locator('input[name=line]:checked').count()).toBe(2);
  await page.getByRole('button', { name: 'The API has them' }).click();
  await page.getByRole('button', { name: 'Record as accepted' }).click();
  await page.getByText('2 recipients recorded as accepted.').waitFor();
});

const rows = (page: Page) => page.locator('tbody tr:visible');

it('a decision is taken back within ten seconds, and recorded after them', async () => {
  receive([0, 'one', 'review'], [1, 'two', 'review'], [2, 'three', 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '');
  const { page } = watched;
  await page.clock.install();
  await page.goto(`${pages.base}/replies`);
  await page.keyboard.press('o');
  expect(await page.locator('tr:focus-within .quote').innerText()).toBe('two');
  await page.getByRole('button', { name: /^Answer from .*reply 2/ }).click();
  expect(await page.locator('tr:focus-within .quote').innerText()).toBe('one');
  expect(await axeViolations(page)).toEqual([]);
  // A live update keeps what has left away.
  receive([7, 'four', 'review']);
  await page.getByText('four').waitFor();
  expect(await rows(page).locator('.quote').allInnerTexts()).toEqual(['four', 'one']);
  await page.keyboard.press('u');
  await page.getByRole('button', { name: 'Undo' }).click();
  expect(await rows(page).locator('.quote').allInnerTexts()).toEqual(['four', 'three', 'two', 'one']);
  await page.clock.fastForward(20_000);
  expect(await page.locator('#decided').innerText()).toContain('Undone: Opt out');
  expect(entered()).toEqual(['4 -', '3 -', '2 -', '1 -']);
  await page.keyboard.press('i');
  await page.clock.fastForward(9_000);
  expect(entered()).toEqual(['4 -', '3 -', '2 -', '1 -']);
  await page.clock.fastForward(2_000);
  await page.getByText('The reply is entered as opt-in.').waitFor();
  expect(entered()).toEqual(['4 -', '3 opt-in', '2 -', '1 -']);
  expect(watched.logged).toEqual([]);
});

it('a page that is left records what was decided, and not what was undone', async () => {
  receive([0, 'one', 'review'], [1, 'two', 'review'], [2, 'three', 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '');
  const { page } = watched;
  await page.goto(`${pages.base}/replies`);
  for (const key of ['o', 'a', 'u']) await page.keyboard.press(key);
  await page.getByRole('link', { name: 'Suppressions' }).click();
  await expect.poll(entered, { timeout: 30_000 }).toEqual(['3 opt-out', '2 -', '1 -']);
  await page.goto(`${pages.base}/replies`);
  await page.keyboard.press('a');
  await page.close({ runBeforeUnload: true });
  await expect.poll(entered, { timeout: 30_000 }).toEqual(['3 opt-out', '2 answer', '1 -']);
});

it('a decision that cannot be recorded brings its reply back, and says so', async () => {
  receive([0, 'one', 'review'], [1, 'two', 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '');
  const { page } = watched;
  await page.clock.install();
  await page.goto(`${pages.base}/replies`);
  await page.context().clearCookies();
  await page.keyboard.press('o');
  expect(await rows(page).count()).toBe(1);
  await page.clock.fastForward(11_000);
  await page.getByText('Not recorded, reload the page: Opt out').waitFor();
  expect(await rows(page).count()).toBe(2);
  expect(entered()).toEqual(['2 -', '1 -']);
});

it('a decision gives way to that of another person, and the row leaves', async () => {
  receive([0, 'one', 'review'], [1, 'two', 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '');
  const { page } = watched;
  await page.clock.install();
  await page.goto(`${pages.base}/replies`);
  await page.keyboard.press('o');
  withLedger(path, (ledger) =>
    ledger.events.reviewReplies([2], { meaning: 'answer', who: 'jane', atMs: NOW + 61_000 }, { startLifts: false }),
  );
  await page.clock.fastForward(11_000);
  await page.getByText('jane entered it as answer meanwhile; nothing was changed.').waitFor();
  expect(await rows(page).locator('.quote').allInnerTexts()).toEqual(['one']);
  expect(entered()).toEqual(['2 answer', '1 -']);
  expect(withLedger(path, (ledger) => [...ledger.suppressions()])).toEqual([]);
});

it('the key of a row with several replies leads to the question', async () => {
  receive([0, SHORT, 'review'], [1, SHORT, 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '');
  const { page } = watched;
  await page.goto(`${pages.base}/replies`);
  await page.keyboard.press('o');
  await page.getByRole('heading', { name: 'Record 2 replies as opt-out?' }).waitFor();
  expect(await axeViolations(page)).toEqual([]);
  expect(entered()).toEqual(['2 -', '1 -']);
});

it('are decided about without JavaScript', async () => {
  receive([0, SHORT, 'review'], [1, SHORT, 'review'], [2, 'bye', 'review']);
  await using pages = await servePages(project.root, { allowActions: true });
  const options = { javaScriptEnabled: false };
  await using watched = await openWatched(await sharedChromium(), pages.signInUrl ?? '', options);
  const { page } = watched;
  await page.goto(`${pages.base}/replies?q=${encodeURIComponent('who is')}`);
  await page.getByRole('button', { name: 'Opt out for 2 replies' }).click();
  await page.getByRole('button', { name: 'Record as opt-out' }).click();
  await page.getByText('2 replies are entered as opt-out. 2 addresses suppressed since.').waitFor();
  expect(page.url()).toContain('q=who');
  await page.goto(`${pages.base}/replies`);
  await page.getByRole('button', { name: /^Answer/ }).click();
  await page.getByText('The reply is entered as answer.').waitFor();
  expect(entered()).toEqual(['3 answer', '2 opt-out', '1 opt-out']);
});
