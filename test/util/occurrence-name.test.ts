import fc from 'fast-check';
import { expect, test } from 'vitest';
import { occurrenceAt, readOccurrence } from '../../src/util/occurrence-name.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';

const SCHEDULED = { timeZone: 'UTC', scheduled: true };
const NAMED = { timeZone: 'UTC', scheduled: false };

/** The name, or `refused`. */
function read(text: string, rules = SCHEDULED): string {
  const reading = readOccurrence(text, rules);
  return 'occurrence' in reading ? reading.occurrence : 'refused';
}

golden('an occurrence has one name, beside a schedule and without one', 'util/occurrence-name', (text) => [
  ...new Set([read(text), `${read(text, NAMED)} without a schedule`]),
]);

test('milliseconds are kept', () => {
  expect(read('2026-11-24T10:00:00.5Z')).toBe('2026-11-24T10:00:00.500Z');
});

test('a time without a zone is refused where it could mean two instants', () => {
  const rules = { timeZone: 'Europe/Berlin', scheduled: true };
  for (const text of ['2026-11-24T10:00', '2026-11-24 10:00:00']) {
    expect(read(text, rules)).toBe('refused');
    const reading = readOccurrence(text, rules);
    expect('message' in reading && reading.message).toMatch(/could mean two instants: in UTC, or in Europe\/Berlin/);
  }
});

const pad = (n: number, length = 2): string => String(n).padStart(length, '0');

/** Ways to write an instant that is a whole second, at an offset in minutes, all of which are read. */
const READ: readonly ((ms: number, offset: number) => string)[] = [
  (ms, offset) => `${local(ms, offset)}${zone(offset, ':')}`,
  (ms, offset) => `${local(ms, offset).replace('T', 't')}${zone(offset, '')}`,
  (ms, offset) => `${local(ms, offset).replace('T', ' ')} ${zone(offset, ':')}`,
  (ms) => `${local(ms, 0)}.0z`,
  (ms) => `${local(ms, 0)} UTC`,
  (ms) => local(ms, 0),
  (ms) => new Date(ms).toISOString(),
  (ms, offset) => [...`${local(ms, offset)}${zone(offset, ':')}`].map(fullWidth).join(''),
];

/** Others, which are refused: none is the name of another occurrence. */
const REFUSED: typeof READ = [
  (ms, offset) => `${local(ms, offset).replace('T', '_')}${zone(offset, ':')}`,
  (ms, offset) => `${local(ms, offset).replaceAll(/[-:]/g, '')}${zone(offset, '')}`,
  (ms, offset) => `${local(ms, offset)},000${zone(offset, ':')}[Some/Place]`,
  (ms) => new Date(ms).toUTCString(),
  (ms) => new Date(ms).toString(),
  (ms) => String(ms / 1000),
  (ms) => `@${ms / 1000}`,
  (ms) => String(ms),
  (ms) => `${ms}000000`,
  (ms, offset) => `${ordinal(ms, offset)}T${local(ms, offset).slice(11)}${zone(offset, ':')}`,
  (ms, offset) => `${new Date(ms + offset * 60_000).toUTCString().slice(0, -3)}${zone(offset, '')}`,
];

function local(ms: number, offset: number): string {
  return new Date(ms + offset * 60_000).toISOString().slice(0, 19);
}

function zone(offset: number, colon: string): string {
  const minutes = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${colon}${pad(minutes % 60)}`;
}

function ordinal(ms: number, offset: number): string {
  const at = new Date(ms + offset * 60_000);
  const year = at.getUTCFullYear();
  return `${year}-${pad(Math.floor((at.getTime() - Date.UTC(year, 0)) / 86_400_000) + 1, 3)}`;
}

function fullWidth(char: string): string {
  return /[0-9:+TZ]/.test(char) ? String.fromCodePoint((char.codePointAt(0) ?? 0) + 0xfee0) : char;
}

test('any instant is one occurrence or refused, in any spelling', () => {
  const seconds = fc.integer({ min: Date.UTC(2002, 0) / 1000, max: Date.UTC(2099, 0) / 1000 });
  const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
  fc.assert(
    fc.property(seconds, offsets, fc.constantFrom(...READ), fc.boolean(), (second, offset, write, scheduled) => {
      expect(read(write(second * 1000, offset), { timeZone: 'UTC', scheduled })).toBe(occurrenceAt(second * 1000));
    }),
    { numRuns: examples(2000) },
  );
  fc.assert(
    fc.property(seconds, offsets, fc.constantFrom(...REFUSED), fc.boolean(), (second, offset, write, scheduled) => {
      expect(read(write(second * 1000, offset), { timeZone: 'UTC', scheduled })).toBe('refused');
    }),
    { numRuns: examples(2000), examples: [[1_945_050_500, 0, (ms) => String(ms / 1000), false]] },
  );
});

test('what is read is read as itself, and anything can be given', () => {
  const dateLike = fc.string({ unit: fc.constantFrom(...'0123456789-:TZ+ ./,WNov@'), minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), dateLike), fc.boolean(), (text, scheduled) => {
      const rules = { timeZone: 'UTC', scheduled };
      const reading = readOccurrence(text, rules);
      if ('occurrence' in reading) expect(read(reading.occurrence, rules)).toBe(reading.occurrence);
      else expect(reading.hint).toMatch(/Write|Name|Add|write/);
    }),
    { numRuns: examples(5000) },
  );
});
