import { expect, it } from 'vitest';
import { addFigures, createProgress } from '../../src/send/progress.ts';

it('the figures of a start keep what else the run has, and not how long an earlier start had to wait', () => {
  const kept = { winner: { variant: 'A' }, limitedUntilMs: 5, acceptedAt: ['one'], tag: 'spring' };
  const before = { ...kept, starts: 1, posted: 2, opensAtMs: 7, winnerAtMs: 8 };
  const progress = createProgress();
  progress.figures.posted = 3;
  const after = addFigures(before, progress, 4);
  expect(after).toMatchObject({ ...kept, starts: 2, posted: 5, activeMs: 4 });
  expect(Object.keys(after)).not.toContain('opensAtMs');
  expect(Object.keys(after)).not.toContain('winnerAtMs');
});
