import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Html, html } from '../../src/util/escape.ts';
import { clientScript } from '../../src/web/client-script.ts';
import { documentFrame } from '../../src/web/document.ts';
import { axeViolations, openWatched, sharedChromium } from '../helpers/browser.ts';

const HOSTILE = `</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"'&\``;

let browser: Browser;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'handbill-page-'));
  browser = await sharedChromium();
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: Html): string {
  const { head, foot } = documentFrame({ title: HOSTILE, script: clientScript('preview') });
  writeFileSync(join(folder, name), head + content.markup + foot);
  return `file://${join(folder, name)}`;
}

it('shows hostile text as text, asks for nothing, and runs only its own script', async () => {
  const url = write('hostile.html', html`<main><h1>${HOSTILE}</h1><p title="${HOSTILE}">here</p></main>`);
  await using watched = await openWatched(browser, url);
  expect(await watched.page.locator('h1').textContent()).toBe(HOSTILE);
  expect(await watched.page.title()).toBe(HOSTILE);
  expect(watched.dialogs).toEqual([]);
  expect(watched.logged).toEqual([]);
  expect(watched.requests).toEqual([url]);
  expect(await axeViolations(watched.page)).toEqual([]);
});

it('is refused by its policy what is not its own: the watch sees it', async () => {
  const markup = '<main><h1>x</h1><script>alert(1)</script><img alt="" src="http://127.0.0.1:9/x.png"></main>';
  const url = write('foreign.html', new Html(markup));
  await using watched = await openWatched(browser, url);
  expect(watched.dialogs).toEqual([]);
  expect(watched.logged.length).toBeGreaterThanOrEqual(2);
});

it('what axe finds is said', async () => {
  const url = write('bad.html', new Html('<main><h1>x</h1><img src="data:,"><button></button></main>'));
  await using watched = await openWatched(browser, url);
  expect((await axeViolations(watched.page)).join('\n')).toMatch(
    /image-alt[\s\S]*button-name|button-name[\s\S]*image-alt/,
  );
});
