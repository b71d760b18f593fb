import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { startChromium } from '../helpers/browser.ts';
import { API_KEY, addWalk, type Bench, median } from './bench.ts';
import { writeReports } from './deliveries-project.ts';
import { CLI } from './measure.ts';
import { measureOpening, type Opening, searchTimes } from './pages-browser.ts';
import { writeCampaign, writeProject } from './project.ts';

/** As many as docs/preview.md speaks of. */
const ROWS = 100_000;

/** The pages of so many recipients: what it takes to make them, and how long a browser needs. */
export async function measurePages(bench: Bench): Promise<void> {
  const rows = Math.min(ROWS, bench.sizes.messages);
  await writeProject(bench.folder, 'http://127.0.0.1:9');
  await using browser = await startChromium();

  const campaign = await writeCampaign(bench.folder, rows);
  const preview = join(bench.folder, 'preview.html');
  const made = await bench.handbill(['preview', campaign, '--format', 'html', '-o', preview]);
  const walk = { id: 'page', what: 'preview --format html', count: rows, unit: 'row', peakGoal: { atMost: 200 } };
  addWalk(bench, walk, made);
  addOpening(bench, 'page', `preview of ${rows}`, await measureOpening(browser, `file://${preview}`, FIRST_MESSAGE));
  const { searchMs, heapBytes } = await searchTimes(browser, `file://${preview}`, FIRST_MESSAGE);
  const most = searchMs[Math.floor(searchMs.length * 0.95)] ?? Number.NaN;
  const [what, goal] = [`preview of ${rows}`, { atMost: 100 }];
  const searched = `${what}, median search painted after`;
  bench.add({ id: 'page-search', what: searched, value: median([...searchMs]), unit: 'ms', goal });
  bench.add({ id: 'page-search-p95', what: `${what}, 95% of searches painted within`, value: most, unit: 'ms', goal });
  bench.add({ id: 'page-heap', what: `${what}, memory of its script`, value: heapBytes / 1e6, unit: 'MB' });

  const ledger = ['--ledger', join(bench.folder, '.handbill', 'ledger.db')];
  await bench.handbill(['listen', '--quiet', '--from', await writeReports(bench.folder, rows), ...ledger]);
  const report = join(bench.folder, 'report.html');
  const ofReport = { ...walk, id: 'report-page', what: 'report --format html' };
  addWalk(bench, ofReport, await bench.handbill(['report', '--format', 'html', '-o', report, ...ledger]));
  addOpening(bench, 'report-page', `report of ${rows}`, await measureOpening(browser, `file://${report}`, 'h1'));

  await using serve = await startServe(bench.folder);
  const runs = await (await fetch(serve.url)).text();
  const run = new URL(/href="(\/runs\/[^"/]+)"/.exec(runs)?.[1] ?? '', serve.url).href;
  addOpening(bench, 'run-page', `run of ${rows} in serve`, await measureOpening(browser, run, '#causes table'));
  addOpening(
    bench,
    'rows-page',
    `its recipients, sorted`,
    await measureOpening(browser, `${run}/recipients?sort=outcome`, 'tbody tr'),
  );
}

/** The list can be used, and the message of the chosen recipient is there. */
const FIRST_MESSAGE = '#list[aria-busy=false] .hit[aria-selected=true]';

function addOpening(bench: Bench, id: string, what: string, { bytes, paintedMs, readyMs, violations }: Opening): void {
  bench.add({ id: `${id}-size`, what: `${what}, size`, value: bytes / 1e6, unit: 'MB' });
  bench.add({ id: `${id}-painted`, what: `${what}, first content painted after`, value: paintedMs, unit: 'ms' });
  const goal = { atMost: 2000 };
  bench.add({ id: `${id}-open`, what: `${what}, all of it there after`, value: readyMs, unit: 'ms', goal });
  const found = `${what}, violations that axe finds in light and dark`;
  bench.add({ id: `${id}-axe`, what: found, value: violations, unit: 'violations', goal: { atMost: 0 } });
}

/** `handbill serve` in a process of its own. */
async function startServe(folder: string): Promise<AsyncDisposable & { readonly url: string }> {
  const env = { ...process.env, HANDBILL_API_KEY: API_KEY };
  const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--open'], { cwd: folder, env });
  const stop = async (): Promise<void> => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  for await (const bytes of child.stdout) {
    const url = /http:\S+/.exec(String(bytes))?.[0];
    if (url !== undefined) return { url, [Symbol.asyncDispose]: stop };
  }
  throw new Error('handbill serve ended.');
}
