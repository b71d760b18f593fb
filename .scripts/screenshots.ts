/**
 * Makes docs/images/*.webp, the pictures of pages in the README and docs: sends a campaign of made-up people to the sandbox, which reports and
 * replies, and looks at the pages in a browser. Numbers are those that regulators keep free for films and books.
 * `npm run screenshots` writes them. `npm run screenshots -- FOLDER` writes every page into FOLDER instead, in four sizes, light and dark.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import type { Page } from 'playwright-core';
import { startChromium } from '../test/helpers/browser.ts';

const root = join(import.meta.dirname, '..');
const given = process.argv[2];
const images = given === undefined ? join(root, 'docs', 'images') : resolve(given);
const LISTEN_PORT = 40_911;

/** A picture: a page, what is done on it first, and whether the docs show it. */
interface Picture {
  readonly name: string;
  readonly url: string;
  readonly prepare?: (page: Page) => Promise<unknown>;
  readonly isInDocs?: true;
}

interface View {
  readonly suffix: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: 'light' | 'dark';
}

const DOCS: readonly View[] = [{ suffix: '', width: 1280, height: 900, colorScheme: 'light' }];
const ALL: readonly View[] = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [
    [1440, 900],
    [1280, 900],
    [820, 1180],
    [390, 844],
  ].map(([width = 0, height = 0]) => ({ suffix: `-${width}-${colorScheme}`, width, height, colorScheme })),
);

/** Ends of numbers that the sandbox refuses, and that it leaves in doubt. */
const REFUSED = ['400', '406', '409', '415', '422', '451'];
const DOUBTFUL = ['408', '503', '907'];

/** Area codes. */
const AREAS = [212, 213, 312, 415, 206, 305, 617, 702, 503, 512, 303, 404, 602, 713, 214, 216, 313, 314, 412];

const folder = mkdtempSync(join(tmpdir(), 'handbill-screenshots-'));
const folders = [folder];
const secret = `whsec_${randomBytes(24).toString('base64')}`;
const env = { ...process.env, HANDBILL_API_KEY: 'key-of-the-screenshots', HOOK: secret };
const running: ChildProcess[] = [];

try {
  mkdirSync(images, { recursive: true });
  writeProject(await startSandbox());
  // In doubt, rejected and failed recipients are part of the picture: any of these statuses is fine.
  const sent = ['send', 'autumn-fair', '--env', 'demo', '--yes'];
  for (const year of [2023, 2024, 2025]) {
    handbill(
      [...sent, '--occurrence', String(year), '--limit', String(400 * (year - 2022)), '--rate', '600/s'],
      [0, 3, 4],
    );
  }
  handbill([...sent, '--listen', String(LISTEN_PORT), '--listen-for', '20s'], [0, 3, 4]);
  handbill(['preview', 'autumn-fair', '--occurrence', 'next', '--format', 'html', '-o', 'preview.html'], [0]);
  handbill(['report', '--format', 'html', '-o', 'report.html', '--full'], [0]);
  await photograph(
    await startServe(folder, '--campaigns', 'autumn-fair'),
    given === undefined ? null : await startServe(writeEmptyProject()),
  );
} finally {
  for (const child of running) child.kill('SIGKILL');
  for (const one of folders) rmSync(one, { recursive: true, force: true });
}

function writeProject(baseUrl: string): void {
  mkdirSync(join(folder, 'autumn-fair'), { recursive: true });
  const files = {
    'handbill.yaml': `defaults:
  recipients: { defaultCountry: US }
environments:
  demo:
    baseUrl: "${baseUrl}"
    apiKey: { env: HANDBILL_API_KEY }
    rate: 150/s
    webhook: { secrets: [{ env: HOOK }] }
defaultCountry: US
timeZone: America/New_York
prices: prices.csv
suppressions: optouts.csv
`,
    'prices.csv':
      'country,channel,price,currency\nUS,sms,0.0079,USD\n*,sms,0.0900,USD\nUS,rcs,0.0120,USD\n*,rcs,0.0600,USD\n',
    'autumn-fair/campaign.yaml': `name: autumn-fair
channel: rcs
from: Riverside
content:
  card:
    title: Autumn fair, {{name}}
    description: "Bulbs, apple trees and cider on Saturday from 10 to 4. Your {{voucher}}% voucher is {{code}}."
    buttons:
      - { text: I am coming, reply: coming }
      - { text: Not this year, reply: no }
fallback:
  channel: sms
  from: "+12125550199"
  template:
    text: "{{name}}, autumn fair on Saturday, 10 to 4. Your {{voucher}}% voucher: {{code}}. Riverside. STOP to opt out"
variants:
  - { name: plain, weight: 1 }
  - name: personal
    weight: 1
    content:
      card:
        title: "{{name}}, save Saturday"
        description: "We keep a {{voucher}}% voucher for you: {{code}}. Apple trees, bulbs and cider from 10 to 4."
        buttons:
          - { text: I am coming, reply: coming }
          - { text: Not this year, reply: no }
recipients: people.csv
`,
    'autumn-fair/people.csv': people(),
    'optouts.csv': `msisdn,reason\n${numbers()
      .filter((_, at) => at % 53 === 7)
      .map((number) => `${number},STOP by SMS`)
      .join('\n')}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Made-up people. */
function people(): string {
  const names = ['Aisha', 'Bjørn', 'Chloé', 'Dafydd', 'Eilidh', 'Françoise', 'Grzegorz', 'Harriet', 'İpek', 'José'];
  const rows = numbers().map((number, at) => {
    const name = names[(at * 7) % names.length];
    return `${number},${name},${5 + (at % 3) * 5},FAIR-${(at * 7919).toString(36).toUpperCase().padStart(4, '0')}`;
  });
  return `${['msisdn,name,voucher,code', ...rows, rows[3] ?? '', rows[90] ?? '', rows[700] ?? ''].join('\n')}\n`;
}

/** Numbers that no person has: 555-0100 to 555-0199 of each area, and French ones whose last digits the sandbox plays. */
function numbers(): readonly string[] {
  const american = AREAS.flatMap((area) => range(100, (n) => `+1${area}5550${100 + n}`));
  const french = range(6, (block) => [
    ...REFUSED.map((end) => `+3363998${block}${end}`),
    ...(block < 2 ? DOUBTFUL : []).map((end) => `+3363998${block}${end}`),
    ...range(9, (n) => `+3363998${block}02${n}`),
  ]).flat();
  const all = [...american, ...french].slice(0, 2_000 - 3);
  // Mixed, and the same each time.
  return all.map((_, at) => all[(at * 787) % all.length] ?? '');
}

function range<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

async function startSandbox(): Promise<string> {
  const hook = ['--webhook', `http://127.0.0.1:${LISTEN_PORT}/webhooks`, '--webhook-secret-env', 'HOOK'];
  const shares = ['--deliver', '90%', '--undeliverable', '4%', '--expire', '2%', '--read', '60%', '--reply', '12%'];
  const pace = ['--stop', '2%', '--sent-after', '400', '--delivered-after', '1500', '--read-after', '2500'];
  const answers = ['--latency', '35', '--scripts', 'all', '--devices', 'phones.csv'];
  const old = numbers().filter((number, at) => at % 7 === 3 && !REFUSED.includes(number.slice(-3)));
  writeFileSync(join(folder, 'phones.csv'), `msisdn,device\n${old.map((number) => `${number},ios 17.6\n`).join('')}`);
  return await started(['sandbox', '--port', '0', '--quiet', ...answers, ...hook, ...shares, ...pace]);
}

async function startServe(cwd: string, ...more: readonly string[]): Promise<string> {
  return await started(['serve', '--port', '0', '--allow-actions', ...more], 'login\\?token=[\\w-]+', cwd);
}

/** Where nothing was sent yet. */
function writeEmptyProject(): string {
  const empty = mkdtempSync(join(tmpdir(), 'handbill-empty-'));
  folders.push(empty);
  writeFileSync(join(empty, 'handbill.yaml'), 'timeZone: America/New_York\n');
  return empty;
}

/** Starts a command that serves, and waits for the address that it prints. */
async function started(args: readonly string[], path = '', cwd = folder): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...args], { cwd, env });
  running.push(child);
  const wanted = new RegExp(`http://127\\.0\\.0\\.1:\\d+/?${path}(?=\\s)`);
  let printed = '';
  return await new Promise((resolve, reject) => {
    child.stdout.on('data', (bytes) => {
      printed += String(bytes);
      const url = wanted.exec(printed);
      if (url !== null) resolve(url[0]);
    });
    child.on('exit', (status) => reject(new Error(`handbill ${args.join(' ')} ended with ${status}: ${printed}`)));
  });
}

function handbill(args: readonly string[], statuses: readonly number[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status === null || !statuses.includes(status)) {
    throw new Error(`handbill ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  }
  return stdout;
}

async function photograph(signIn: string, emptySignIn: string | null): Promise<void> {
  await using browser = await startChromium();
  const serve = new URL(signIn).origin;
  const run = `${serve}/runs/${newestRun()}`;
  const pictures: Picture[] = [
    { name: 'preview', url: `file://${join(folder, 'preview.html')}`, isInDocs: true },
    { name: 'report', url: `file://${join(folder, 'report.html')}`, isInDocs: true },
    { name: 'serve', url: `${serve}/` },
    { name: 'serve-run', url: run, isInDocs: true },
    { name: 'serve-recipients', url: `${run}/recipients` },
    { name: 'serve-recipient', url: `${run}/recipients/17` },
    { name: 'serve-doubt', url: `${serve}/doubt` },
    { name: 'serve-replies', url: `${serve}/replies` },
    { name: 'serve-suppressions', url: `${serve}/suppressions` },
    { name: 'serve-campaigns', url: `${serve}/campaigns` },
    ...emptyPictures(emptySignIn),
  ];
  const views = given === undefined ? DOCS : ALL;
  for (const { suffix, width, height, colorScheme } of views) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'America/New_York',
      hasTouch: width < 500,
    });
    const page = await context.newPage();
    await page.goto(signIn);
    if (emptySignIn !== null) await page.goto(emptySignIn);
    for (const { name, url, prepare, isInDocs } of pictures) {
      if (given === undefined && isInDocs !== true) continue;
      await page.goto(url);
      await prepare?.(page);
      await page.waitForTimeout(500);
      await save(page, `${name}${suffix}`);
    }
    await context.close();
  }
}

function emptyPictures(signIn: string | null): readonly Picture[] {
  if (signIn === null) return [];
  const pages = ['', 'doubt', 'replies', 'suppressions', 'campaigns'];
  return pages.map((page) => ({ name: `empty-${page || 'serve'}`, url: new URL(`/${page}`, signIn).href }));
}

function newestRun(): string {
  const { runs } = JSON.parse(handbill(['runs', '--format', 'json'], [0])) as { runs: { run: string }[] };
  return runs[0]?.run ?? '';
}

/** WebP, of which a page is a third of a PNG. */
async function save(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  writeFileSync(join(images, `${name}.webp`), Buffer.from(data, 'base64'));
  await session.detach();
}
