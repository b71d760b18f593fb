import { describe, expect, test } from 'vitest';
import { instant } from '../../src/cli/shared/options.ts';

describe('--at', () => {
  const now = Date.UTC(2026, 10, 25, 9);
  const at = (text: string) => instant(text, () => now);

  test.each([
    ['2026-12-01T09:00:00Z', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T09:00:00+01:00', '2026-12-01T08:00:00.000Z'],
    ['+14d', '2026-12-09T09:00:00.000Z'],
    ['+90m', '2026-11-25T10:30:00.000Z'],
    ['+P1DT12H', '2026-11-26T21:00:00.000Z'],
  ])('%s is %s', (text, meant) => {
    expect(new Date(at(text)).toISOString()).toBe(meant);
  });

  test.each(['tomorrow', '14d', '+14', '+', '+-1d', '-1d', '2026-12-01', '+2026-12-01T09:00:00Z'])(
    '%j is refused',
    (text) => {
      expect(() => at(text)).toThrow('Write an instant with its offset');
    },
  );
});
