import { beforeAll, describe, expect, it, test } from 'vitest';
import { patternOf, startWalk, stepsOf } from './walkthrough.ts';

/** Guides that are followed from the first line to the last. */
const PAGES = ['first-sms.md', 'from-a-spreadsheet.md', 'from-mailmerge.md', 'from-a-script.md'];

/** Follows a page to its end. What is compared with the page comes afterwards, so that pages go side by side. */
async function follow(page: string): Promise<readonly string[]> {
  using walk = startWalk();
  const printed: string[] = [];
  for (const step of stepsOf(page)) printed.push((await walk.take(step)).replaceAll(walk.folder, '/srv/shop'));
  return printed;
}

const followed = new Map(PAGES.map((page) => [page, null as readonly string[] | null]));
beforeAll(async () => {
  await Promise.all(PAGES.map(async (page) => followed.set(page, await follow(page))));
});

describe.each(PAGES)('docs/%s', (page) => {
  const steps = stepsOf(page);

  it('has files and commands', () => {
    expect(steps.filter(({ kind }) => kind === 'file').length).toBeGreaterThan(1);
    expect(steps.filter(({ kind }) => kind === 'command').length).toBeGreaterThan(3);
  });

  const commands = steps.flatMap((step, index) =>
    step.kind === 'command' ? [[`$ ${step.command}`, index, step.shown] as const] : [],
  );
  test.each(commands)('%s', (_label, index, shown) => {
    expect(followed.get(page)?.[index]).toMatch(patternOf(shown));
  });
});

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
