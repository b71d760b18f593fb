import { readFileSync, statSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openWatched, sharedChromium, type Watched } from '../helpers/browser.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { CAMPAIGN, createSpring, KEY, list, PREVIEW, previewSpring } from './spring.ts';

interface JsonRow {
  readonly line: number;
  readonly key: string | null;
  readonly to: string | null;
  readonly decision: string;
  readonly reason: string | null;
  readonly variant: string | null;
  readonly encoding: string | null;
  readonly parts: number | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

let browser: Browser;
/** One page for all tests that need no other: a browser takes half a second for each context. */
let watched: Watched;
let project: TestProject;
let url = '';
let rows: readonly JsonRow[] = [];
let cells: readonly (readonly string[])[] = [];

beforeAll(async () => {
  const people = list();
  project = createSpring(people);
  url = await previewSpring(project);
  const lines = await runHere([...PREVIEW, '--format', 'jsonl'], { cwd: project.root, env: { HANDBILL_API_KEY: KEY } });
  rows = lines.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  cells = people
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.replaceAll('"', '').split(','));
  browser = await sharedChromium();
  watched = await openWatched(browser, url, { viewport: { width: 1200, height: 900 } });
});
afterEach(() => expect({ logged: watched.logged, dialogs: watched.dialogs }).toEqual({ logged: [], dialogs: [] }));
afterAll(async () => {
  await watched[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

async function open(hash = ''): Promise<Page> {
  const { page } = watched;
  // An address that differs in its end alone would not be opened again.
  await page.goto('about:blank');
  await page.goto(url + hash);
  await settled(page);
  return page;
}

async function settled(page: Page): Promise<void> {
  await page.locator('#list[aria-busy=false]').waitFor();
}

async function type(page: Page, text: string): Promise<string> {
  await page.locator('#query').fill(text);
  await settled(page);
  return await countOf(page);
}

async function countOf(page: Page): Promise<string> {
  return (await page.locator('#count').textContent()) ?? '';
}

/** The number of the chosen person: below the name, where there is one. */
async function chosen(page: Page): Promise<string> {
  const hit = page.locator('[role=option][aria-selected=true]');
  const texts = await hit.locator('.hit-to, .hit-sub bdi').allTextContents();
  return texts.find((text) => /^(?:\+|not given)/.test(text)) ?? texts[0] ?? '';
}

async function focused(page: Page): Promise<string> {
  return await page.evaluate<string>('document.activeElement.id');
}

function said(count: number): string {
  return count === rows.length ? '600 rows' : `${count} of 600 rows`;
}

describe('a file of its own', () => {
  it('asks for nothing, and only its owner can read it', async () => {
    await using own = await openWatched(browser, url);
    await settled(own.page);
    expect(own.requests).toEqual([url]);
    expect({ logged: own.logged, dialogs: own.dialogs }).toEqual({ logged: [], dialogs: [] });
    expect(statSync(project.path('spring.html')).mode & 0o777).toBe(0o600);
    const policy = await own.page.locator('meta[http-equiv]').getAttribute('content');
    expect(policy).toMatch(/^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/]{43}='$/);
  });

  it('shows Arabic from right to left, and a date behind an Arabic name as it is', async () => {
    using other = createProject({
      'spring/campaign.yaml':
        'name: spring\nchannel: sms\nfrom: Riverside\ntemplate: { text: "{{name}} Hi" }\nrecipients: people.csv\n',
      'spring/people.csv': 'msisdn,name,day\n+447400100000,عائشة,2026-12-05\n',
    });
    await runHere(['preview', 'spring', '--format', 'html', '-o', 'p.html'], { cwd: other.root });
    await using own = await openWatched(browser, `file://${other.path('p.html')}`);
    await settled(own.page);
    const fromLeft = async (within: string, words: readonly string[]) => {
      const places = await own.page.evaluate<number[]>(`${JSON.stringify(words)}.map((word) => {
        const walk = document.createTreeWalker(document.querySelector('${within}'), NodeFilter.SHOW_TEXT);
        while (!walk.nextNode()?.data.includes(word)) if (walk.currentNode === null) throw new Error(word);
        const range = document.createRange();
        const at = walk.currentNode.data.lastIndexOf(word);
        range.setStart(walk.currentNode, at);
        range.setEnd(walk.currentNode, at + word.length);
        return range.getBoundingClientRect().left;
      })`);
      return words.toSorted((a, b) => (places[words.indexOf(a)] ?? 0) - (places[words.indexOf(b)] ?? 0));
    };
    expect(await fromLeft('.hit-sub', ['2026', '12', '05'])).toEqual(['2026', '12', '05']);
    expect(await fromLeft('.bubble', ['ع', 'Hi'])).toEqual(['Hi', 'ع']);
  });

  it('calls people by their names, in bold, with the number small below; without a name the number is bold', async () => {
    using other = createProject({
      'spring/campaign.yaml':
        'name: spring\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: people.csv, display: "{{#if last_name}}{{last_name}}, {{first_name}}{{/if}}" }\n',
      'spring/people.csv':
        'msisdn,first_name,last_name,town\n+447400100000,Mair,Llewellyn,Newport\n+447400100001,,,Bath\n',
    });
    await runHere(['preview', 'spring', '--format', 'html', '-o', 'p.html'], { cwd: other.root });
    await using own = await openWatched(browser, `file://${other.path('p.html')}`);
    await settled(own.page);
    expect(await own.page.locator('.hit').allInnerTexts()).toEqual([
      'Llewellyn, Mair\n+447400100000 · Newport\n1 part',
      '+447400100001\nBath\n1 part',
    ]);
    expect(await own.page.locator('#detail .row-to').innerText()).toBe('Llewellyn, Mair');
    expect(await own.page.locator('#detail .row-head .soft').innerText()).toBe('+447400100000 · line 2');
  });

  it('does not hold the key, nor a path of this machine', () => {
    const page = readFileSync(project.path('spring.html'), 'utf8');
    expect(page).not.toContain(KEY);
    expect(page).not.toContain(project.root);
  });

  it('is the same on stdout', async () => {
    const args = ['preview', 'spring', '--env', 'live', '--allow', 'invalid-rows', '--at', '2026-11-21T09:00:00Z'];
    const { stdout, status } = await runHere([...args, '--format', 'html'], { cwd: project.root });
    expect(status).toBe(0);
    expect(stdout).toBe(readFileSync(project.path('spring.html'), 'utf8'));
  });

  it('holds the rows that were asked for, and figures of all', async () => {
    const args = [
      'preview',
      'spring',
      '--allow',
      'invalid-rows',
      '--format',
      'html',
      '-o',
      'few.html',
      '--limit',
      '30',
    ];
    await runHere(args, { cwd: project.root });
    await using few = await openWatched(browser, `file://${project.path('few.html')}`);
    await settled(few.page);
    expect(await countOf(few.page)).toBe('30 rows');
    expect(await few.page.locator('main').innerText()).toContain('This page holds 30 of the 600 rows.');
    expect(await few.page.locator('#figures > summary').innerText()).toContain('of 600 recipients');
    // Of the rows that are not there it is not known which have warnings.
    expect(await few.page.locator('#figures > summary').innerText()).not.toContain('rows with');
  });
});

describe('what is seen', () => {
  it('one line of figures, and what becomes of the rows when it is opened', async () => {
    const page = await open();
    const line = page.locator('#figures > summary');
    const [send, parts] = [rows.filter(({ decision }) => decision === 'send'), /[\d,]+ parts/];
    expect(await line.innerText()).toMatch(new RegExp(`${send.length}\\s+of 600 recipients\\s+2\\s+skipped`));
    expect(await line.innerText()).toMatch(parts);
    const warned = send.filter(({ warnings }) => warnings.length > 0).length;
    expect(await line.innerText()).toContain(`${warned} rows with warnings`);
    expect(await page.locator('.chart').first().isVisible()).toBe(false);
    await line.click();
    expect(await page.locator('.chart').first().isVisible()).toBe(true);
    const text = await page.locator('main').innerText();
    expect(text).toContain('spring');
    expect(text).toContain('POST https://api.example.com/v2/messages');
    expect(text).toMatch(/skipped\s+1 invalid-address, 1 duplicate|skipped\s+1 duplicate, 1 invalid-address/);
    expect(await page.locator('.chart').count()).toBeGreaterThanOrEqual(4);
  });

  it('a message with its parts and the characters that made it Unicode, and the bytes of its request', async () => {
    const row = rows.find(({ variant, encoding }) => variant === 'long' && encoding === 'UCS-2');
    const page = await open(`#line=${row?.line}`);
    const detail = page.locator('#detail');
    await detail.locator('.message').waitFor();
    expect(await detail.locator('.step-name').textContent()).toMatch(/^SMS · UCS-2 · 2 parts · \d+ units$/);
    expect(await detail.locator('.cut').allTextContents()).toEqual(['end of part 1']);
    expect((await detail.locator('.odd').first().textContent()) ?? '').toMatch(/^[áŁë李雷Å]+$/);
    expect(await detail.locator('.warnings li').first().textContent()).toContain(row?.warnings[0]?.message);
    await detail.locator('summary', { hasText: 'Request' }).click();
    const { stdout } = await runHere(
      [
        'preview',
        'spring',
        '--env',
        'live',
        '--at',
        '2026-11-21T09:00:00Z',
        '--format',
        'jsonl',
        '--line',
        String(row?.line),
        '--allow',
        'invalid-rows',
      ],
      { cwd: project.root },
    );
    const body = await detail.locator('.code').textContent();
    expect(body).not.toBe('');
    expect(stdout).toContain(`"body":${body}}`);
  });

  it('a recipient who is left out, with the reason and the row', async () => {
    const page = await open();
    expect(await type(page, 'not given')).toBe(said(1));
    const detail = page.locator('#detail');
    await detail.getByText('invalid-address').waitFor();
    expect(await detail.innerText()).toContain('The number "not given" (column "msisdn") is not a phone number.');
    expect(await detail.locator('dd').allTextContents()).toEqual(['not given', 'C-7', '李雷', 'Bristol']);
  });
});

describe('search and filters', () => {
  it('give the rows that a reading of the list one row at a time gives', async () => {
    const page = await open();
    const plain = (text: string): string =>
      text
        .normalize('NFKD')
        .replaceAll(/\p{Mn}/gu, '')
        .toLowerCase()
        .replaceAll('ł', 'l');
    const random = ((seed: number) => () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    })(7);
    for (let n = 0; n < 40; n += 1) {
      const at = Math.floor(random() * rows.length);
      const fields = [rows[at]?.to ?? '', ...(cells[at] ?? [])];
      const field = fields[Math.floor(random() * fields.length)] ?? '';
      const from = Math.floor(random() * field.length);
      const word = [...field].slice(from, from + 1 + Math.floor(random() * 6)).join('');
      // What people put between digits is another test's.
      const typed =
        `${/^[+\d\s]*$/.test(word) ? plain(field.slice(0, 3)) : word} ${random() < 0.3 ? 'bath' : ''}`.trim();
      if (/^[\d+\s]*$/.test(typed)) continue;
      const words = plain(typed).split(/\s+/);
      const expected = rows.filter((row, i) => {
        const all = [row.to ?? '', ...(cells[i] ?? [])].map(plain);
        return words.every((one) => all.some((value) => value.includes(one)));
      });
      expect(await type(page, typed), typed).toBe(said(expected.length));
      const who = expected.length === 0 ? null : await chosen(page);
      if (who !== null)
        expect(
          expected.map(({ to }) => to ?? 'not given'),
          typed,
        ).toContain(who);
    }
  });

  it('of numbers in any spelling, of lines and of several words', async () => {
    const page = await open();
    for (const [typed, count] of [
      ['07400 100 123', 1],
      ['+44 7400 100123', 1],
      ['0044 7400 100123', 1],
      ['07400100123', 1],
      ['line 17', 1],
      ['siobhan bath', 25],
      ['no recipient', 0],
    ] as const) {
      expect(await type(page, typed), typed).toBe(said(count));
    }
    expect(await page.locator('#detail').innerText()).toBe('No match.');
  });

  it('together, and the count is said to those who do not see it', async () => {
    const page = await open();
    await page.locator('#narrow > summary').click();
    await page.locator('#filter-variant').selectOption('short');
    await page.locator('#filter-encoding').selectOption('UCS-2');
    await settled(page);
    const fits = (row: JsonRow): boolean => row.variant === 'short' && row.encoding === 'UCS-2';
    expect(await countOf(page)).toBe(said(rows.filter(fits).length));
    const expected = rows.filter((row, i) => fits(row) && cells[i]?.[2] === 'Zoë').length;
    expect(await type(page, 'zoe')).toBe(said(expected));
    expect(await page.locator('#count').getAttribute('aria-live')).toBe('polite');
    await page.locator('#filter-variant').selectOption('');
    await page.locator('#filter-encoding').selectOption('');
    await page.locator('#query').fill('');
    for (const [filter, value, fit] of [
      ['decision', 'skip', (row: JsonRow) => row.decision === 'skip'],
      ['reason', 'duplicate', (row: JsonRow) => row.reason === 'duplicate'],
      ['warning', 'unicode-message', (row: JsonRow) => row.warnings.some(({ code }) => code === 'unicode-message')],
    ] as const) {
      await page.locator(`#filter-${filter}`).selectOption(value);
      await settled(page);
      expect(await countOf(page), filter).toBe(said(rows.filter(fit).length));
      await page.locator(`#filter-${filter}`).selectOption('');
    }
  });
});

describe('keys', () => {
  it('step through the list, and to and from the search', async () => {
    const page = await open();
    const line = async (): Promise<string> => (await page.locator('#detail .row-head .soft').textContent()) ?? '';
    const press = async (key: string, expected: string): Promise<void> => {
      await page.keyboard.press(key);
      await expect.poll(line, { message: key }).toMatch(new RegExp(`\\b${expected}\\b`));
    };
    await page.locator('#list').focus();
    await press('ArrowDown', 'line 3');
    await press('j', 'line 4');
    await press('k', 'line 3');
    await press('ArrowUp', 'line 2');
    await press('ArrowUp', 'line 2');
    await press('ArrowRight', 'line 3');
    await press('ArrowLeft', 'line 2');
    await press('End', 'line 601');
    await press('ArrowDown', 'line 601');
    await press('Home', 'line 2');
    await press('PageDown', 'line 1\\d');
    await press('PageUp', 'line 2');
    // The attribute goes while the list is drawn again.
    const active = await page.locator('#list[aria-activedescendant]').getAttribute('aria-activedescendant');
    expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('/');
    await page.keyboard.type('priya');
    await settled(page);
    expect(await countOf(page)).toBe(said(75));
    await page.keyboard.press('ArrowDown');
    await press('j', 'line 12');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('detail');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('list');
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await settled(page);
    expect(await countOf(page)).toBe(said(600));
    expect(await line()).toMatch(/\bline 12\b/);
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('list');
    await page.keyboard.press('?');
    expect(await page.locator('#help dl').isVisible()).toBe(true);
    await page.keyboard.press('?');
    expect(await page.locator('#help dl').isVisible()).toBe(false);
  });

  it('only what is in sight is in the page, and the chosen one', async () => {
    const page = await open();
    expect(await page.locator('[role=option]').count()).toBeLessThan(60);
    await page.locator('#list').evaluate((box) => box.scrollTo(0, 20_000));
    await page.locator('[role=option]', { hasText: '+447400100360' }).waitFor();
    expect(await page.locator('[role=option]').count()).toBeLessThan(60);
    expect(await page.locator('[role=option][aria-selected=true]').getAttribute('aria-posinset')).toBe('1');
    await page.locator('[role=option]', { hasText: '+447400100360' }).click();
    await page.locator('#detail .row-head', { hasText: '+447400100360' }).waitFor();
  });
});

describe('the address', () => {
  it('keeps search, filters and who is chosen', async () => {
    const page = await open();
    await type(page, 'zoë å');
    await page.locator('#narrow > summary').click();
    await page.locator('#filter-decision').selectOption('send');
    await settled(page);
    await page.locator('#list').focus();
    // The address follows a moment later.
    const address = (): string => new URL(page.url()).hash;
    const whole = /^#q=zo%C3%AB\+%C3%A5&decision=send&line=\d+$/;
    await expect.poll(address).toMatch(whole);
    const first = address();
    await page.keyboard.press('ArrowDown');
    await expect.poll(address).not.toBe(first);
    const [hash, count, who] = [address(), await countOf(page), await chosen(page)];
    expect(hash).toMatch(whole);
    await open(hash);
    expect([await countOf(page), await chosen(page)]).toEqual([count, who]);
    expect(await page.locator('#query').inputValue()).toBe('zoë å');
    expect(await page.locator('#filter-decision').isVisible()).toBe(true);
    await page.evaluate("location.hash = '#line=5'");
    await expect.poll(() => chosen(page)).toBe('+447400100003');
  });

  it('does no harm, whatever it is', async () => {
    for (const hash of [
      '#line=99999',
      '#line=x',
      '#decision=%3Cimg%20src=x%3E',
      '#q=%00&variant=nobody',
      '#%E0%A4%A',
    ]) {
      const page = await open(hash);
      expect(await countOf(page), hash).toMatch(/rows$/);
    }
  });
});

describe('the first screen', () => {
  it('begins with a recipient who gets a message, where the first is left out', async () => {
    const page = await open();
    await type(page, '07400 10000');
    await page.locator('#narrow > summary').click();
    await page.goto('about:blank');
    using other = createProject({
      'spring/campaign.yaml': CAMPAIGN,
      'spring/people.csv': 'msisdn,customer,name,town\nnot given,A,Ann,Bath\n07400 100001,B,Ben,Bath\n',
    });
    await runHere(['preview', 'spring', '--allow', 'invalid-rows', '--format', 'html', '-o', 'p.html'], {
      cwd: other.root,
    });
    await page.goto(`file://${other.path('p.html')}`);
    await settled(page);
    expect(await chosen(page)).toBe('+447400100001');
  });
});

describe('what is worth looking at', () => {
  const to = async (page: Page, button: string): Promise<string> => {
    await page.getByRole('button', { name: button }).click();
    await settled(page);
    return await chosen(page);
  };

  it('is a button away: the longest message and the first warning, also when a search leaves them out', async () => {
    const page = await open('#q=no+such');
    const warned = rows.find(({ warnings }) => warnings.length > 0);
    expect(await to(page, 'First warning')).toBe(warned?.to);
    expect(await page.locator('#query').inputValue()).toBe('');
    await to(page, 'Longest');
    const most = Math.max(...rows.map(({ parts }) => parts ?? 0));
    await expect.poll(() => page.locator('#detail .step-name').textContent()).toContain(`${most} parts`);
    // Without prices no message is the most expensive.
    expect(await page.getByRole('button', { name: 'Most expensive' }).isVisible()).toBe(false);
  });

  it('is the most expensive message where there are prices', async () => {
    using other = createProject({
      'handbill.yaml': 'prices: prices.csv\n',
      'prices.csv': 'country,channel,price,currency\nGB,sms,0.04,GBP\nFR,sms,0.09,GBP\n',
      'spring/campaign.yaml': CAMPAIGN,
      'spring/people.csv':
        'msisdn,customer,name,town\n07400 100001,A,Ann,Bath\n+33612345678,B,Ben,Bath\n07400 100002,C,Cyd,Bath\n',
    });
    await runHere(['preview', 'spring', '--format', 'html', '-o', 'p.html'], { cwd: other.root });
    await using own = await openWatched(browser, `file://${other.path('p.html')}`);
    await settled(own.page);
    expect(await to(own.page, 'Most expensive')).toBe('+33612345678');
    expect(await own.page.locator('#figures > summary').innerText()).toMatch(/0\.\d\d GBP/);
  });

  it('is written as the project says: figures, money, dates and counts', async () => {
    const people = Array.from({ length: 1_200 }, (_, i) => `+447400${String(100_000 + i)},c${i},Ann,Bath\n`);
    using other = createProject({
      'handbill.yaml': 'locale: de-DE\ntimeZone: Europe/Berlin\nprices: prices.csv\n',
      'prices.csv': 'country,channel,price,currency\n*,sms,1.25,EUR\n',
      'spring/campaign.yaml': CAMPAIGN,
      'spring/people.csv': `msisdn,customer,name,town\n${people.join('')}`,
    });
    await runHere(['preview', 'spring', '--format', 'html', '-o', 'p.html'], { cwd: other.root });
    await using own = await openWatched(browser, `file://${other.path('p.html')}`);
    await settled(own.page);
    const figures = (await own.page.locator('#figures > summary').innerText()).replace(/\s+/g, ' ');
    expect(figures).toContain('1.200 recipients');
    expect(figures).toMatch(/\d\.\d{3},\d\d €/);
    expect(await own.page.locator('#count').textContent()).toBe('1.200 rows');
    expect(await own.page.locator('#place').textContent()).toBe('1 of 1.200');
    await own.page.locator('#figures > summary').click();
    expect(await own.page.locator('#figures .chart').first().textContent()).toMatch(/1\.200 100\s%/);
  });

  it('is every variant beside the others, each as one recipient gets it', async () => {
    const page = await open('#line=20');
    const own = rows.find(({ line }) => line === 20)?.variant;
    await page.getByRole('button', { name: 'Compare variants' }).click();
    const columns = page.locator('#detail .column');
    await expect.poll(() => columns.locator('.step-name').first().textContent()).toBe('long');
    expect(await columns.count()).toBe(2);
    for (const [i, variant] of ['long', 'short'].entries()) {
      const text = (await columns.nth(i).innerText()).replaceAll(/\s+/g, ' ');
      const line = Number(/line (\d+)/.exec(text)?.[1] ?? 20);
      expect(rows.find((row) => row.line === line)?.variant, text).toBe(variant);
      expect(text.includes('this recipient')).toBe(variant === own);
      expect(text).toContain(variant === 'long' ? 'come and see us' : 'is open. Riverside');
    }
    await expect.poll(() => new URL(page.url()).hash).toContain('compare=1');
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('#detail .row-head .soft').textContent()).toContain('line 21');
    expect(await columns.count()).toBe(2);
    await page.getByRole('button', { name: 'Compare variants' }).click();
    await expect.poll(() => columns.count()).toBe(0);
  });

  it('is the next one by a swipe, and by the buttons', async () => {
    await using own = await openWatched(browser, url, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const { page } = own;
    await settled(page);
    const swipe = async (across: number, down: number): Promise<void> => {
      const session = await page.context().newCDPSession(page);
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x: number, y: number) =>
        session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
      await touch('touchStart', 200, 420);
      for (const part of [0.5, 1]) await touch('touchMove', 200 + across * part, 420 + down * part);
      await touch('touchEnd', 0, 0);
      await session.detach();
    };
    const place = () => page.locator('#place').textContent();
    expect(await place()).toBe('1 of 600');
    await swipe(-120, 8);
    await expect.poll(place).toBe('2 of 600');
    await swipe(120, -8);
    await expect.poll(place).toBe('1 of 600');
    expect(await page.getByRole('button', { name: 'Previous recipient' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Next recipient' }).click();
    expect(await place()).toBe('2 of 600');
    // Mostly down, or a little: reading, no swipe.
    await swipe(-70, 60);
    await swipe(-20, 0);
    expect(await place()).toBe('2 of 600');
    expect(own.logged).toEqual([]);
  });
});

it('without JavaScript: the figures, the charts and the first 20 messages', async () => {
  await using plain = await openWatched(browser, url, { javaScriptEnabled: false });
  const { page } = plain;
  expect(await page.locator('#first .row').count()).toBe(20);
  expect(await page.locator('.chart').count()).toBeGreaterThanOrEqual(4);
  const text = await page.locator('main').innerText();
  expect(text).toContain('The first 20 of 600 rows.');
  expect(text).toContain('+447400100000');
  expect(text).toContain('is not a phone number');
  expect(await page.locator('#browse').isVisible()).toBe(false);
});

it.each([
  ['recipients: p.csv', /<b>1<\/b>\s+recipient</],
  ['recipients: p.csv\nsuppressions: p.csv', /<b>0<\/b>\s+of 1 recipient</],
])('counts one recipient in the singular: %s', async (keys, expected) => {
  using one = createProject({
    'c.yaml': `name: c\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n${keys}\n`,
    'p.csv': 'msisdn\n+447400123456\n',
  });
  await runHere(['preview', 'c.yaml', '--format', 'html', '-o', 'one.html'], { cwd: one.root });
  expect(readFileSync(one.path('one.html'), 'utf8')).toMatch(expected);
});
