import { describe, expect, test } from 'vitest';
import { createUntilReader } from '../../src/suppression/until.ts';

describe('until', () => {
  test.each<[label: string, timeZone: string, text: string, instant: string | null]>([
    ['a day counts to its end', 'UTC', '2027-01-31', '2027-02-01T00:00:00Z'],
    ['in that zone', 'America/New_York', '2027-01-31', '2027-02-01T05:00:00Z'],
    ['the day on which summer begins', 'Europe/London', '2027-03-28', '2027-03-28T23:00:00Z'],
    ['the day on which it ends', 'Europe/London', '2027-10-31', '2027-11-01T00:00:00Z'],
    ['a day that no midnight ends', 'America/Santiago', '2026-09-05', '2026-09-06T04:00:00Z'],
    ['an instant', 'America/New_York', '2027-01-31T09:00:00Z', '2027-01-31T09:00:00Z'],
    ['an instant with an offset', 'UTC', '2027-01-31T09:00:00+02:00', '2027-01-31T07:00:00Z'],
    ['a leap day', 'UTC', '2028-02-29', '2028-03-01T00:00:00Z'],
    ['no leap day', 'UTC', '2027-02-29', null],
    ['a month too many', 'Europe/London', '2027-13-01', null],
    ['another order', 'UTC', '31.01.2027', null],
    ['a word', 'UTC', 'tomorrow', null],
  ])('%s', (_, timeZone, text, instant) => {
    const read = createUntilReader(timeZone);
    // Twice: days are remembered.
    for (const found of [read(text), read(text)]) expect(found).toBe(instant === null ? null : Date.parse(instant));
  });
});
