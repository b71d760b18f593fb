import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readTime } from '../../src/webhook/times.ts';
import { AT, NOW } from './reading.ts';

it.each<[value: unknown, ms: number]>([
  ['2026-11-21T09:00:00Z', AT],
  ['2026-11-21T09:00:00z', AT],
  ['2026-11-21t09:00Z', AT],
  ['2026-11-21T09:00:00+00:00', AT],
  ['2026-11-21T09:00:00+0000', AT],
  ['2026-11-21T09:00:00+00', AT],
  ['2026-11-21T10:00:00.000+0100', AT],
  ['2026-11-21T14:30:00+05:30', AT],
  ['2026-11-21T05:00:00-0400', AT],
  ['2026-11-21T09:00:00.1Z', AT + 100],
  ['2026-11-21T09:00:00.123456789Z', AT + 123],
  ['2026-11-21T09:00:00,5Z', AT + 500],
  ['2026-11-21 09:00:00', AT],
  ['2026-11-21 09:00:00 UTC', AT],
  ['2026-11-21 09:00:00 +0000', AT],
  [' 2026-11-21T09:00:00Z ', AT],
  [AT, AT],
  [AT / 1000, AT],
  [AT / 1000 + 0.25, AT + 250],
  [String(AT), AT],
  [String(AT / 1000), AT],
  [AT * 1000, AT],
  [`${AT}000000`, AT],
  ['Sat, 21 Nov 2026 09:00:00 +0000', AT],
  ['Sat, 21 Nov 2026 10:00:00 +0100', AT],
  ['21 Nov 2026 09:00 GMT', AT],
  ['2000-01-01T00:00:00Z', Date.UTC(2000, 0)],
  [NOW + 86_400_000, NOW + 86_400_000],
])('%o is a time', (value, ms) => {
  expect(readTime(value, NOW)).toBe(ms);
});

it.each<[label: string, value: unknown]>([
  ['before 2000', '1999-12-31T23:59:59Z'],
  ['the beginning of Unix time', 0],
  ['more than a day ahead', NOW + 86_400_001],
  ['years ahead', '2062-01-01T00:00:00Z'],
  ['a day that does not exist', '2026-02-30T00:00:00Z'],
  ['an hour that does not exist', '2026-11-21T25:00:00Z'],
  ['a day without a time', '2026-11-21'],
  ['ten digits of a fraction', '2026-11-21T09:00:00.1234567890Z'],
  ['prose', 'yesterday'],
  ['what only Date.parse takes', 'Nov 21'],
  ['nothing', ''],
  ['a long text', ' '.repeat(100_000)],
  ['too large', 1e300],
  ['below zero', -AT],
  ['no number', Number.NaN],
  ['true', true],
  ['null', null],
  ['an object', {}],
])('%s is none', (_label, value) => {
  expect(readTime(value, NOW)).toBeNull();
});

it('every spelling of one instant is one time', () => {
  const instant = fc.integer({ min: Date.UTC(2000, 0, 2), max: NOW });
  const zone = fc.integer({ min: -14 * 60, max: 14 * 60 });
  const spelling = fc.constantFrom('+hh:mm', '+hhmm', 'Z', 'ms', 'text');
  fc.assert(
    fc.property(instant, zone, spelling, fc.constantFrom('T', ' '), (ms, offset, form, between) => {
      expect(readTime(spell(ms, offset, form, between), NOW)).toBe(ms);
    }),
  );
});

function spell(ms: number, offset: number, form: string, between: string): string | number {
  if (form === 'ms') return ms;
  if (form === 'text') return String(ms);
  if (form === 'Z') return new Date(ms).toISOString().replace('T', between);
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((n) =>
    String(n).padStart(2, '0'),
  );
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, -1).replace('T', between);
  return `${local}${offset < 0 ? '-' : '+'}${hours}${form === '+hhmm' ? '' : ':'}${minutes}`;
}
