import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes longest begins first, so that no worker is left alone with it at the end. Vitest goes by what the last run
 * took; in a clean clone it goes by the size of files, which for these says nothing.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return at === -1 ? LONGEST.length : at;
}

/** More than a twentieth of the whole each, in `npm test` or in the whole sets. */
const LONGEST = [
  'test/faults/behaviours.test.ts',
  'test/kills/kills.test.ts',
  'test/faults/statuses.test.ts',
  'test/disk/system-calls.test.ts',
  'test/disk/errors.test.ts',
  'test/simulate/several/several.test.ts',
  'test/simulate/simulate.test.ts',
];
