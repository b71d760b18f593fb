import { join } from 'node:path';
import { addWalk, type Bench, median } from './bench.ts';
import { measurePage } from './preview-page-browser.ts';
import { writeCampaign, writeProject } from './project.ts';

/** As many as docs/preview.md speaks of. */
const ROWS = 100_000;

/** A page of so many messages: what it takes to make it, and how long a browser needs. */
export async function measurePreviewPage(bench: Bench): Promise<void> {
  const rows = Math.min(ROWS, bench.sizes.messages);
  await writeProject(bench.folder, 'http://127.0.0.1:9');
  const campaign = await writeCampaign(bench.folder, rows);
  const file = join(bench.folder, 'preview.html');
  const made = await bench.handbill(['preview', campaign, '--format', 'html', '-o', file]);
  const walk = { id: 'page', what: 'preview --format html', count: rows, unit: 'row', peakGoal: { atMost: 200 } };
  addWalk(bench, walk, made);
  const { bytes, openMs, searchMs, heapBytes } = await measurePage(file);
  const what = `page of ${rows} rows`;
  const most = searchMs[Math.floor(searchMs.length * 0.95)] ?? Number.NaN;
  const goal = { atMost: 100 };
  bench.add({ id: 'page-size', what: `${what}, size`, value: bytes / 1e6, unit: 'MB' });
  const opened = { id: 'page-open', what: `${what}, opened within`, value: openMs, unit: 'ms' };
  bench.add({ ...opened, goal: { atMost: 2000 } });
  const searched = `${what}, median search painted after`;
  bench.add({ id: 'page-search', what: searched, value: median([...searchMs]), unit: 'ms', goal });
  bench.add({ id: 'page-search-p95', what: `${what}, 95 % of searches painted within`, value: most, unit: 'ms', goal });
  bench.add({ id: 'page-heap', what: `${what}, memory of its script`, value: heapBytes / 1e6, unit: 'MB' });
}
