import { addWalk, type Bench } from './bench.ts';
import { writeCampaign, writeProject } from './project.ts';

/** Reads, addresses, templates, parts and rules of a whole list. */
export async function measureValidate(bench: Bench): Promise<void> {
  const { rows } = bench.sizes;
  await writeProject(bench.folder, 'http://127.0.0.1:9');
  const campaign = await writeCampaign(bench.folder, rows);
  const walk = { id: 'validate', what: 'validate', count: rows, unit: 'row' };
  addWalk(
    bench,
    { ...walk, cpuGoal: { atMost: 8 }, peakGoal: { atMost: 200 } },
    await bench.handbill(['validate', campaign]),
  );
}
