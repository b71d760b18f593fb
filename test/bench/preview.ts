import { addWalk, type Bench } from './bench.ts';
import { writeCampaign, writeProject } from './project.ts';

/** Every decision and every request of a list, as JSON Lines. */
export async function measurePreview(bench: Bench): Promise<void> {
  const { rows } = bench.sizes;
  await writeProject(bench.folder, 'http://127.0.0.1:9');
  const campaign = await writeCampaign(bench.folder, rows);
  const usage = await bench.handbill(['preview', campaign, '--format', 'jsonl']);
  const walk = { id: 'preview', what: 'preview --format jsonl', count: rows, unit: 'row' };
  addWalk(bench, { ...walk, peakGoal: { atMost: 200 } }, usage);
}
