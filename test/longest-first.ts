import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes longest begins first, so that no worker is left alone with it at the end. Vitest goes by what the last run
 * took; in a clean clone it goes by the size of files, which for these says nothing.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => byProject(a, b) || rank(a) - rank(b));
  }
}

/** A worker goes on with the next file of the same project; for one of another project a new process is started. */
function byProject(a: TestSpecification, b: TestSpecification): number {
  return Number(a.project.name === 'sample') - Number(b.project.name === 'sample');
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return at === -1 ? LONGEST.length : at;
}

/** The longest of `npm test`, then of the whole sets and of the samples: from 20 seconds, or one long test. */
const LONGEST = [
  'test/send/preview-is-send.test.ts',
  'test/cli/piped-list.test.ts',
  'test/approval/standing.test.ts',
  'test/web/preview.test.ts',
  'test/cli/due.test.ts',
  'test/cli/cli.test.ts',
  'test/send/follow-up.test.ts',
  'test/cli/pause.test.ts',
  'test/cli/doubt.test.ts',
  'test/e2e/campaigns.test.ts',
  'test/recipients/read.test.ts',
  'test/workers/rounds.test.ts',
  'test/workers/workers.test.ts',
  'test/e2e/shared-ledger.test.ts',
  'test/disk/power-loss.test.ts',
  'test/kills/shared.test.ts',
  'test/ledger/on-postgres-reach.test.ts',
  'test/ledger/on-postgres-runs.test.ts',
  'test/ledger/on-postgres-events.test.ts',
  'test/disk/full-disk.test.ts',
  'test/web/screens.test.ts',
  'test/workers/takeover.test.ts',
  'test/faults/behaviours.test.ts',
  'test/web/serve-pages.test.ts',
  'test/docs/recipes.test.ts',
  'test/simulate/simulate.test.ts',
  'test/simulate/several/several.test.ts',
  'test/kills/kills.test.ts',
];
