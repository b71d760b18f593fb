import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
];

/** A page in a real browser, and everything else that it did. */
export interface Watched extends AsyncDisposable {
  readonly page: Page;
  /** What it wrote to the console, refusals by its content security policy among them, and errors that were not caught. */
  readonly logged: readonly string[];
  /** Addresses of everything that it asked for, itself first. */
  readonly requests: readonly string[];
  /** Texts of dialogs (`alert` and the like). */
  readonly dialogs: readonly string[];
}

/** Sets of fonts that come as packages: a layout that holds with both does not depend on what a machine happens to have. */
export const FONTS = {
  /** Wider than nearly all others. */
  'DejaVu Sans': 'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
  /** Taller lines than nearly all others. */
  'Noto Sans': '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
} as const;

let shared: Promise<Browser> | undefined;

/** Chromium with the fonts of the machine: one for all files that a worker runs, and it ends with the worker. */
export async function sharedChromium(): Promise<Browser> {
  shared ??= startChromium();
  return await shared;
}

/**
 * Starts Chromium without a window: the installed one, else the one that comes as a package. Never left out in silence.
 *
 * @param fonts - the set whose fonts are all that it has. Default: those of the machine
 */
export async function startChromium(fonts?: keyof typeof FONTS): Promise<Browser & AsyncDisposable> {
  const installed = INSTALLED.find((path) => existsSync(path));
  const { executablePath, args } = installed === undefined ? await packed() : { executablePath: installed, args: [] };
  const flags = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const env = fonts === undefined ? {} : { env: { ...definedEnv(), FONTCONFIG_FILE: fontConfig(fonts) } };
  return await chromium.launch({ executablePath, args: [...args, ...flags], headless: true, ...env });
}

/** A configuration of fontconfig that knows the fonts of one set, under every name. */
function fontConfig(fonts: keyof typeof FONTS): string {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-fonts-'));
  const file = createRequire(import.meta.url).resolve(FONTS[fonts]);
  const bold = join(dirname(dirname(file)), '700Bold');
  const folders = [dirname(file), ...(existsSync(bold) ? [bold] : [])].map((path) => `<dir>${path}</dir>`).join('');
  const always = `<match><edit name="family" mode="assign" binding="strong"><string>${fonts}</string></edit></match>`;
  const config = join(folder, 'fonts.conf');
  writeFileSync(config, `<fontconfig>${folders}<cachedir>${folder}</cachedir>${always}</fontconfig>\n`);
  return config;
}

function definedEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

async function packed(): Promise<{ executablePath: string; args: string[] }> {
  const { default: packedChromium } = await import('@sparticuz/chromium');
  // In one process the browser ends when its first context is closed.
  const args = packedChromium.args.filter((arg) => arg !== '--single-process');
  return { executablePath: await packedChromium.executablePath(), args };
}

/** Opens an address (`file://` or `http://`) in a context of its own, and writes down what the page does. */
export async function openWatched(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const logged: string[] = [];
  const requests: string[] = [];
  const dialogs: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  page.on('pageerror', (error) => logged.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.accept().catch(() => undefined);
  });
  await page.goto(url, { waitUntil: 'load' });
  return { page, logged, requests, dialogs, [Symbol.asyncDispose]: async () => await context.close() };
}

/**
 * What axe finds wrong with a page, one line each; empty is good. Rules of WCAG 2.2 A and AA and best practice. Its
 * script is put into the page from outside, past the content security policy.
 */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  const session = await page.context().newCDPSession(page);
  const { readFileSync } = await import('node:fs');
  await session.send('Runtime.evaluate', { expression: readFileSync(path, 'utf8') });
  const expression = `axe.run(document, { iframes: false }).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => id + ': ' + help + ' at ' + target.join(' '))))`;
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'axe failed');
  return result.value as string[];
}
