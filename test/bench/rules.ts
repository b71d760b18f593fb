import { addWalk, type Bench, inTurn } from './bench.ts';
import type { Usage } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';
import { RULES_AT_MS, SUPPRESSION_KEY, writeRules } from './rules-project.ts';

const REPEATS = 2;

/** The same list with and without every rule, in turn. */
export async function measureRules(bench: Bench): Promise<void> {
  const { rows } = bench.sizes;
  await writeProject(bench.folder, 'http://127.0.0.1:9');
  const plain = await writeCampaign(bench.folder, rows);
  const ruled = await writeRules(bench.folder, plain, rows);
  const at = ['--format', 'jsonl', '--at', new Date(RULES_AT_MS).toISOString()];
  const preview = (name: string): Promise<Usage> =>
    bench.handbill(['preview', name, '--env', 'local', ...at], {
      env: { HANDBILL_SUPPRESSION_KEY: SUPPRESSION_KEY },
    });
  const { without, all } = await inTurn(REPEATS, { without: () => preview(plain), all: () => preview(ruled) });
  const least = (usages: readonly Usage[]): number => Math.min(...usages.map(({ cpuUs }) => cpuUs));
  const walk = { id: 'rules', what: 'preview with every rule', count: rows, unit: 'row' };
  addWalk(bench, { ...walk, peakGoal: { atMost: 200 } }, all[0] as Usage);
  bench.add({
    id: 'rules-above-plain',
    what: 'every rule, above the same list without',
    value: (least(all) - least(without)) / rows,
    unit: 'us CPU per row',
    goal: { atMost: 6 },
  });
}
