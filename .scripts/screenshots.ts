/**
 * Makes docs/images/*.png, the pictures of pages in the README and docs: sends a campaign of made-up people to the sandbox, which reports and
 * replies, and looks at the pages in a browser. Numbers are those that regulators keep free for films and books.
 * `npm run screenshots` writes them.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Page } from 'playwright-core';
import { startChromium } from '../test/helpers/browser.ts';

const root = join(import.meta.dirname, '..');
const images = join(root, 'docs', 'images');
const VIEW = { width: 1280, height: 860 };
const LISTEN_PORT = 40_911;

const folder = mkdtempSync(join(tmpdir(), 'handbill-screenshots-'));
const secret = `whsec_${randomBytes(24).toString('base64')}`;
const env = { ...process.env, HANDBILL_API_KEY: 'key-of-the-screenshots', HOOK: secret };
const running: ChildProcess[] = [];

try {
  mkdirSync(images, { recursive: true });
  writeProject(await startSandbox());
  // In doubt, rejected and failed recipients are part of the picture: any of these statuses is fine.
  handbill(
    ['send', 'autumn-fair', '--env', 'demo', '--yes', '--listen', String(LISTEN_PORT), '--listen-for', '8s'],
    [0, 3, 4],
  );
  handbill(['preview', 'autumn-fair', '--occurrence', 'next', '--format', 'html', '-o', 'preview.html'], [0]);
  handbill(['report', '--format', 'html', '-o', 'report.html', '--full'], [0]);
  await photograph(await startServe());
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

function writeProject(baseUrl: string): void {
  mkdirSync(join(folder, 'autumn-fair'), { recursive: true });
  const files = {
    'handbill.yaml': `defaults:
  recipients: { defaultCountry: GB }
environments:
  demo: { baseUrl: "${baseUrl}", apiKey: { env: HANDBILL_API_KEY }, rate: 90/s }
webhook: { secrets: [{ env: HOOK }] }
defaultCountry: GB
`,
    'autumn-fair/campaign.yaml': `name: autumn-fair
channel: rcs
from: Riverside
content:
  card:
    title: Autumn fair, {{name}}
    description: "Bulbs, apple trees and cider on Saturday from 10 to 4. Your {{voucher}} % voucher is {{code}}."
    buttons:
      - { text: I am coming, reply: coming }
      - { text: Not this year, reply: no }
fallback:
  channel: sms
  template:
    text: "{{name}}, autumn fair on Saturday, 10 to 4. Your {{voucher}} % voucher: {{code}}. Riverside. STOP to opt out"
variants:
  - { name: plain, weight: 1 }
  - name: personal
    weight: 1
    content:
      card:
        title: "{{name}}, save Saturday"
        description: "We keep a {{voucher}} % voucher for you: {{code}}. Apple trees, bulbs and cider from 10 to 4."
        buttons:
          - { text: I am coming, reply: coming }
          - { text: Not this year, reply: no }
recipients: people.csv
`,
    'autumn-fair/people.csv': people(),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Made-up people with numbers that nobody has. */
function people(): string {
  const names = ['Aisha', 'Bjørn', 'Chloé', 'Dafydd', 'Eilidh', 'Françoise', 'Grzegorz', 'Harriet', 'İpek', 'José'];
  const numbers = [
    ...range(620, (n) => `+447700900${String(n + 200)}`),
    ...range(260, (n) => `+33639980${String(n + 100).padStart(3, '0')}`),
    ...range(100, (n) => `+12125550${n + 100}`),
    ...range(80, (n) => `+46701740${String(n + 610).padStart(3, '0')}`),
  ];
  const rows = numbers.map((number, at) => {
    const name = names[(at * 7) % names.length];
    return `${number},${name},${5 + (at % 3) * 5},FAIR-${(at * 7919).toString(36).toUpperCase().padStart(4, '0')}`;
  });
  return `${['msisdn,name,voucher,code', ...rows, rows[3] ?? ''].join('\n')}\n`;
}

function range(count: number, number: (n: number) => string): string[] {
  return Array.from({ length: count }, (_, n) => number(n));
}

async function startSandbox(): Promise<string> {
  const hook = ['--webhook', `http://127.0.0.1:${LISTEN_PORT}/webhooks`, '--webhook-secret-env', 'HOOK'];
  const shares = ['--deliver', '90%', '--undeliverable', '4%', '--expire', '2%', '--read', '60%', '--reply', '12%'];
  const pace = [
    '--stop',
    '2%',
    '--sent-after',
    '400',
    '--delivered-after',
    '1500',
    '--read-after',
    '2500',
    '--latency',
    '35',
  ];
  return await started(['sandbox', '--port', '0', '--quiet', '--scripts', 'none', ...hook, ...shares, ...pace]);
}

async function startServe(): Promise<string> {
  return await started(['serve', '--port', '0', '--campaigns', 'autumn-fair']);
}

/** Starts a command that serves, and waits for the address that it prints. */
async function started(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...args], { cwd: folder, env });
  running.push(child);
  let printed = '';
  return await new Promise((resolve, reject) => {
    child.stdout.on('data', (bytes) => {
      printed += String(bytes);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
      if (url !== null) resolve(url[0]);
    });
    child.on('exit', (status) => reject(new Error(`handbill ${args.join(' ')} ended with ${status}: ${printed}`)));
  });
}

function handbill(args: readonly string[], statuses: readonly number[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status === null || !statuses.includes(status)) {
    throw new Error(`handbill ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  }
}

async function photograph(serve: string): Promise<void> {
  await using browser = await startChromium();
  const shoot = async (name: string, url: string, prepare: (page: Page) => Promise<void> = async () => {}) => {
    const context = await browser.newContext({ viewport: VIEW, locale: 'en-GB', timezoneId: 'Europe/London' });
    const page = await context.newPage();
    await page.goto(url);
    await prepare(page);
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(images, `${name}.png`) });
    await context.close();
  };
  await shoot('preview', `file://${join(folder, 'preview.html')}`, async (page) => {
    await page.locator('#messages').evaluate((section) => section.scrollIntoView());
    await page.locator('#list').press('ArrowDown');
    await page.locator('#list').press('ArrowDown');
  });
  await shoot('report', `file://${join(folder, 'report.html')}`);
  await shoot('serve', serve);
  const runs = `${serve}/`;
  await shoot('serve-run', runs, async (page) => {
    await page.locator('main a[href*="/runs/"]').first().click();
    await page.waitForLoadState('load');
  });
}
