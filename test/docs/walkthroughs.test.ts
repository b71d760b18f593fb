import { describe, expect, test } from 'vitest';
import { describeWalks, patternOf } from './walkthrough.ts';

/** Guides that are followed from the first line to the last. */
const PAGES = ['first-sms.md', 'from-a-spreadsheet.md', 'from-mailmerge.md', 'from-a-script.md'];

describeWalks(PAGES);

describe('what is shown', () => {
  test.each<[shown: string, printed: string, same: boolean]>([
    ['ok\n', 'ok\n', true],
    ['ok\n', 'ok\nmore\n', false],
    ['a\n...\nz\n', 'a\nb\nc\nz\n', true],
    ['a\n...\n', 'a\n', true],
    ['took … s\n', 'took 0.4 s\n', true],
    ['took … s\n', 'took 0.4\ns\n', false],
    ['', '', true],
    ['', 'something\n', false],
    ['a.b\n', 'axb\n', false],
  ])('%j for %j: %s', (shown, printed, same) => {
    expect(patternOf(shown).test(printed)).toBe(same);
  });
});
