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

/** The longest of `npm test`, and more than a twentieth each of the whole sets. */
const LONGEST = [
  'test/faults/behaviours.test.ts',
  'test/e2e/came-back.test.ts',
  'test/web/serve-pages.test.ts',
  'test/faults/connections.test.ts',
  'test/e2e/campaigns.test.ts',
  'test/cli/doubt.test.ts',
  'test/kills/kills.test.ts',
  'test/faults/statuses.test.ts',
  'test/disk/system-calls.test.ts',
  'test/disk/errors.test.ts',
  'test/simulate/several/several.test.ts',
  'test/simulate/simulate.test.ts',
];
