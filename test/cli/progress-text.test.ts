import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { progressText, type Shown, shownOf } from '../../src/cli/shared/progress.ts';
import { charsFor } from '../../src/cli/shared/terminal-chars.ts';
import { createFormats, PLAIN } from '../../src/report/locale.ts';
import { createProgress } from '../../src/send/progress.ts';
import { displayWidth } from '../../src/util/table.ts';

const ASCII = charsFor({}, 'linux');
const UNICODE = charsFor({ LANG: 'C.UTF-8' }, 'linux');
const LIST: Shown = { label: 'Checking', done: 12_000_000, total: 30_000_000, unit: 'bytes' };

describe('the line of progress', () => {
  test.each([
    [200, 'Checking  ━━━━━━━━━───────────────  12 of 30 MB  (40%)  4.0 MB/s  5 s left'],
    [59, 'Checking  12 of 30 MB  (40%)  4.0 MB/s  5 s left'],
    [36, '12 of 30 MB  (40%)  5 s left'],
    [19, '(40%)  5 s left'],
    [8, '(40%)'],
  ])('%i columns wide', (width, line) => {
    expect(progressText(LIST, 4_000_000, { width, chars: UNICODE })).toBe(line);
  });
  it('is drawn in ASCII where the terminal has no more', () => {
    const line = progressText(LIST, 4_000_000, { width: 79, chars: ASCII });
    expect(line).toMatch(/^Checking {2}#+-+ {2}12 of 30 MB/);
    expect(line).toMatch(/^[\x20-\x7e]*$/);
  });
  it('says what is known where the size is not', () => {
    const shown: Shown = { label: 'Report', done: 4000, total: 0, unit: 'rows' };
    expect(progressText(shown, 1000, { width: 79, chars: ASCII })).toBe('Report  4,000 rows  1,000 rows/s');
    expect(progressText({ ...shown, done: 0 }, 0, { width: 79, chars: ASCII })).toBe('Report');
  });
  it('a send says what became of them, and until when it waits', () => {
    const { figures, finished } = createProgress();
    figures.toDo = 5000;
    for (let i = 0; i < 1200; i++) finished(i < 1190 ? 'accepted' : 'rejected');
    expect(progressText(shownOf(figures, PLAIN), 350, { width: 99, chars: ASCII })).toBe(
      '#####-------------------  1,200 of 5,000  (24%)  350/s  15 s left  1,190 ok  10 no',
    );
    figures.waits = { why: 'canary', untilMs: 0 };
    const inParis = shownOf(figures, createFormats(null, 'Europe/Paris'));
    expect(progressText(inParis, 0, { width: 79, chars: ASCII })).toContain('waits until 01:00 (canary)');
  });
  it('keeps its bar at 80 columns, whatever the figures', () => {
    const { figures, finished } = createProgress();
    figures.toDo = 1_204_000;
    for (const [state, count] of [
      ['accepted', 9720],
      ['rejected', 1730],
      ['failed', 12],
      ['in-doubt', 3],
    ] as const)
      for (let i = 0; i < count; i++) finished(state);
    const line = progressText(shownOf(figures, PLAIN), 3500, { width: 79, chars: UNICODE });
    expect(line).toMatch(/^[━─]{10,24} {2}11,465 of 1,204,000 {2}\(0%\) {2}3,500\/s {2}6 min left/);
    const narrower = { ...shownOf(figures, PLAIN), total: 120_000 };
    expect(progressText(narrower, 350, { width: 79, chars: UNICODE })).toMatch(/^[━─]{10,24} .* left {2}9,720 ok/);
  });
  it('has no megabytes of a list that has not one', () => {
    const small: Shown = { ...LIST, done: 400_000, total: 900_000 };
    expect(progressText(small, 100_000, { width: 79, chars: ASCII })).toBe(
      'Checking  ##########--------------  (44%)  5 s left',
    );
  });
  it('is never wider than the terminal', () => {
    const shown = fc.record({
      done: fc.nat(2e9),
      total: fc.nat(2e9),
      unit: fc.constantFrom('bytes' as const, 'rows' as const, null),
      label: fc.constantFrom('Checking', 'Preview'),
      more: fc.array(fc.constantFrom('accepted 1,190', 'in-doubt 3'), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(
        shown,
        fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
        fc.integer({ min: 1, max: 220 }),
        (a, b, width) => {
          for (const chars of [ASCII, UNICODE]) {
            expect(displayWidth(progressText(a, b, { width, chars }))).toBeLessThanOrEqual(width);
          }
        },
      ),
    );
  });
});
