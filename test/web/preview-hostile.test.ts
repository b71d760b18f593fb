import { cpSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, openWatched, sharedChromium } from '../helpers/browser.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { SCRIPTS } from '../security/payloads.ts';

let browser: Browser;
let project: TestProject;
/** Where a page would ask for something, if it did. */
let elsewhere: RawServer;
let payloads: readonly string[] = [];

const FOLDER = `<script>alert(1)<&script> ' " onload=alert(1)`;

beforeAll(async () => {
  elsewhere = await startRawServer();
  // NUL is refused in a list.
  payloads = SCRIPTS.map((text) => text.replaceAll('PORT', String(elsewhere.port)).replaceAll('\0', ''));
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = payloads.map(
    (text, i) => `+4474001${10_000 + i},u${i}@example.com,${cell(`${i} ${text}`)},${cell(text)}`,
  );
  const recipients = `recipients: { csv: people.csv, to: mail, key: name }`;
  project = createProject({
    [`${FOLDER}/campaign.yaml`]:
      'name: proof\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{{name}}} ü" }\nrecipients: { csv: people.csv, key: name }\nlimits: { maxRecipients: 5 }\n',
    [`${FOLDER}/people.csv`]: `msisdn,mail,name,<img src=x onerror=alert(3)>\n${rows.join('\n')}\n`,
    // HTML into which values go as they are, and that asks for everything by itself.
    'mail/campaign.yaml': `name: mail\nchannel: email\nfrom: Riverside\ncontent: { subject: Hello, html: page.html.hbs, text: "{{{name}}}" }\n${recipients}\n`,
    'mail/page.html.hbs': `<html><head><title>x</title>${payloads.join('\n')}</head><body background="http://127.0.0.1:${elsewhere.port}/b" onload="alert(2)">{{{name}}}<p style="background:u\\rl(http://127.0.0.1:${elsewhere.port}/c)">end of the letter</p><a href="http://127.0.0.1:${elsewhere.port}/link">a link</a><svg><image href="http://127.0.0.1:${elsewhere.port}/i"/></svg><picture><source srcset="http://127.0.0.1:${elsewhere.port}/s"><img alt="a robin" src="http://127.0.0.1:${elsewhere.port}/p" srcset="http://127.0.0.1:${elsewhere.port}/q 2x"></picture></body></html>`,
    'mail/people.csv': `msisdn,mail,name,x\n${rows.join('\n')}\n`,
    'looks/handbill.yaml': '',
  });
  // Without the ledger that `npm start` leaves.
  const filter = (path: string): boolean => !path.endsWith('.handbill');
  cpSync(join(import.meta.dirname, '..', '..', 'campaigns'), project.path('looks'), { recursive: true, filter });
  browser = await sharedChromium();
});
afterAll(async () => {
  await elsewhere.close();
  project[Symbol.dispose]();
});

async function previewOf(campaign: string, cwd = project.root): Promise<string> {
  const file = project.path(`${campaign.replaceAll(/\W+/g, '-')}.html`);
  const args = ['preview', campaign, '--format', 'html', '-o', file, '--ledger', project.path('no.db')];
  const { status, stdout, stderr } = await runHere(args, { cwd });
  expect([0, 2], stderr).toContain(status);
  expect(stdout).toBe('');
  return `file://${file}`;
}

async function settled(page: Page): Promise<void> {
  await page.locator('#list[aria-busy=false]').waitFor();
  await page.locator('#detail .row').waitFor();
}

describe('values that would run', () => {
  it('are text, each of them, in a page that stays silent', async () => {
    const url = await previewOf(`${FOLDER}/campaign.yaml`);
    await using watched = await openWatched(browser, url);
    const { page } = watched;
    await settled(page);
    await page.locator('#list').focus();
    for (const [i, payload] of payloads.entries()) {
      await page.locator('#detail .row-head .soft', { hasText: new RegExp(`key ${i} `) }).waitFor();
      const text = (await page.locator('#detail').textContent()) ?? '';
      // Once in the message, once in the row.
      expect(text.split(payload).length, payload).toBeGreaterThanOrEqual(3);
      await page.keyboard.press('ArrowDown');
    }
    expect(await page.locator('main h1').textContent()).toBe('proof');
    expect(await page.locator('.stop').textContent()).toContain(FOLDER);
    await page.locator('#query').fill('<script');
    await page.locator('#list[aria-busy=false]').waitFor();
    expect(await page.locator('#count').textContent()).toMatch(/^1\d of 40 rows$/);
    expect({ logged: [...new Set(watched.logged)], dialogs: watched.dialogs, requests: watched.requests }).toEqual({
      logged: [],
      dialogs: [],
      requests: [url],
    });
    expect(elsewhere.connections).toBe(0);
  });

  it('are text without JavaScript too', async () => {
    const url = await previewOf(`${FOLDER}/campaign.yaml`);
    await using watched = await openWatched(browser, url, { javaScriptEnabled: false });
    const text = (await watched.page.locator('#first').textContent()) ?? '';
    for (const payload of payloads.slice(0, 20)) expect(text).toContain(payload);
    expect({ logged: watched.logged, requests: watched.requests }).toEqual({ logged: [], requests: [url] });
  });

  it('do nothing in an email that consists of them', async () => {
    const url = await previewOf('mail');
    await using watched = await openWatched(browser, url);
    const { page } = watched;
    await settled(page);
    await page.locator('#list').focus();
    // All of them are in the head of each letter; one after the other is in its middle.
    for (const i of payloads.keys()) {
      if (process.env['HANDBILL_FULL'] !== '1' && i > 9) break;
      await page.locator('#detail .row-head .soft', { hasText: new RegExp(`key ${i} `) }).waitFor();
      const frame = page.locator('#detail iframe');
      expect(await frame.getAttribute('sandbox')).toBe('');
      const inside = page.frameLocator('#detail iframe').locator('body');
      await inside.waitFor();
      await page.keyboard.press('ArrowDown');
    }
    expect({ logged: [...new Set(watched.logged)], dialogs: watched.dialogs, requests: watched.requests }).toEqual({
      logged: [],
      dialogs: [],
      requests: [url],
    });
    expect(elsewhere.connections).toBe(0);
  });
});

/** What is looked at of each channel, and how wide and in which colours the window is. */
const LOOKS: readonly (readonly [name: string, look: string, texts: readonly string[]])[] = [
  ['booking', 'dark 390', ['Your garden talk', 'Choose a time', "10 o'clock", 'with Priya', 'Reply STOP to opt out']],
  ['invitation', 'light 1200', ['Winter market', 'Save the date', 'Riverside, Bath (51.3811, -2.359)']],
  ['reminder', 'dark 1200', ['Spoken 2 times, in en-GB, by Emma, about 36 seconds:', "Hello Mrs O'Brien."]],
  ['newsletter', 'light 390', ['Siobhán, what to do in the garden in December', '(one click)', 'Read the calendar [']],
  ['delivery', 'dark 390', ['order-on-its-way', 'body.name', 'If that cannot be received:', 'SMS · UCS-2 · 1 part']],
  ['marketing', 'light 1200', ['winner-undecided', 'Maybe variant friendly:', 'end of part 1']],
];

it.each(LOOKS)('%s, %s: what the recipient sees, as text', async (name, look, texts) => {
  const url = await previewOf(name, project.path('looks'));
  const [colorScheme, width] = [look.startsWith('dark') ? 'dark' : 'light', Number(look.split(' ')[1])] as const;
  await using watched = await openWatched(browser, url, { colorScheme, viewport: { width, height: 800 } });
  const { page } = watched;
  await settled(page);
  const shown = await page.locator('#detail').innerText();
  for (const text of texts) expect(shown).toContain(text);
  for (const fold of await page.locator('#detail summary, .help summary').all()) await fold.click();
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(await axeViolations(page)).toEqual([]);
  expect(watched.logged).toEqual([]);
  if (name !== 'newsletter') return;
  const frame = page.frameLocator('#detail iframe');
  expect(await frame.locator('.handbill-picture').textContent()).toBe('Picture: A robin on a spade');
  expect(await frame.locator('body').innerText()).toContain('Frost is good for parsnips');
  expect(await frame.locator('[href], [src]').count()).toBe(0);
});
