import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openWatched, sharedChromium } from '../helpers/browser.ts';
import { createProject } from '../helpers/project.ts';
import { FULL, ROWS, writeReport } from './report-page.ts';
import { recordAll, recordRun, servePages, withLedger } from './serve-ledger.ts';
import { createSpring, list, previewSpring } from './spring.ts';

it('looks', async () => {
  const browser = await sharedChromium();
  const project = createProject({
    'handbill.yaml': 'defaultCountry: GB\ntimeZone: Europe/London\n',
    'campaigns/people.csv': 'msisdn,first\n+447400100000,Ann\n',
    'campaigns/autumn-newsletter/campaign.yaml':
      'name: autumn-newsletter\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{first}}." }\nrecipients: ../people.csv\nschedule: { cron: 0 9 * * 1-5, timeZone: Europe/London }\n',
  });
  const path = project.path('.handbill/ledger.db');
  const run = recordAll(path);
  withLedger(path, (ledger) => {
    const doubts = Array.from({ length: 12 }, () => ({ state: 'in-doubt', reason: 'no-response' }) as const);
    recordRun(ledger, { campaign: 'autumn-newsletter', occurrence: '2026-11-21T09:00:00Z' }, doubts);
  });
  await using pages = await servePages(project.root, { allowActions: true });
  const out = process.env['LOOK'] ?? '/tmp/look';
  mkdirSync(out, { recursive: true });
  const report = await writeReport(`${out}/report.html`, FULL, ROWS);
  const spring = createSpring(list());
  const preview = await previewSpring(spring);
  for (const width of [1440, 820, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      if (colorScheme === 'dark' && width !== 820) continue;
      await using watched = await openWatched(browser, pages.signInUrl ?? '', {
        viewport: { width, height: 900 },
        locale: 'en-GB',
        colorScheme,
      });
      const { page } = watched;
      const urls = [
        ['now', '/'],
        ['run', `/runs/${run}`],
        ['recipients', `/runs/${run}/recipients`],
        ['recipient', `/runs/${run}/recipients/1`],
        ['campaigns', '/campaigns'],
        ['campaign', '/campaigns/past'],
        ['replies', '/replies'],
        ['doubt', '/doubt'],
        ['suppressions', '/suppressions'],
      ] as const;
      for (const [name, to] of urls) {
        await page.goto(pages.base + to);
        await page.screenshot({ path: `${out}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
      for (const [name, url] of [
        ['report', report],
        ['preview', preview],
      ] as const) {
        await page.goto(url);
        if (name === 'preview') await page.locator('#detail .phone').first().waitFor();
        await page.screenshot({ path: `${out}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
      if (width === 1440) {
        await page.goto(report);
        await page.pdf({ path: `${out}/report.pdf`, preferCSSPageSize: true });
      }
    }
  }
  expect(run).not.toBe('');
}, 120_000);
