import { expect, it, test } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import type { Schedule } from '../../src/model.ts';
import { instantOf, occurrenceFor, occurrenceToShow, refuseOver } from '../../src/schedule/occurrence.ts';

const schedule: Schedule = { cron: '0 9 * * 1-5', timeZone: 'Europe/London', missed: 'catch-up' };
const SATURDAY = Date.parse('2026-11-21T12:00:00Z');
const FRIDAY = Date.parse('2026-11-20T12:00:00Z');

it.each<[label: string, named: string | undefined, nowMs: number, sent: string, shown: string]>([
  ['the instant that is due', undefined, FRIDAY, '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'],
  ['the last one is over: the next is shown', undefined, SATURDAY, '2026-11-20T09:00:00Z', '2026-11-23T09:00:00Z'],
  ['a name', 'trial', SATURDAY, 'trial', 'trial'],
  ['an instant', '2026-11-20T09:00:00Z', SATURDAY, '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'],
  ['an instant in another zone', '2026-07-01T09:00:00+01:00', FRIDAY, '2026-07-01T08:00:00Z', '2026-07-01T08:00:00Z'],
  ['an instant without seconds', '2026-11-20T09:00Z', FRIDAY, '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'],
  ['a date', '2026-11-20', FRIDAY, '2026-11-20', '2026-11-20'],
])('%s', async (_label, named, nowMs, sent, shown) => {
  expect(await occurrenceFor({ schedule }, named, nowMs)).toBe(sent);
  expect(await occurrenceToShow({ schedule }, named, nowMs)).toBe(shown);
});

test('without a schedule an occurrence is what it was named, or once', async () => {
  for (const occurrence of [occurrenceFor, occurrenceToShow]) {
    expect(await occurrence({ schedule: null }, undefined, FRIDAY)).toBe('once');
    expect(await occurrence({ schedule: null }, '2026-11-20T09:00Z', FRIDAY)).toBe('2026-11-20T09:00Z');
  }
});

test('an instant has one name', () => {
  expect(instantOf('2026-11-20T09:00:00Z')).toBe(Date.parse('2026-11-20T09:00:00Z'));
  for (const other of [
    '2026-11-20T09:00Z',
    '2026-11-20T09:00:00+00:00',
    '2026-11-20T09:00:00.5Z',
    'once',
    '2026-02-30T09:00:00Z',
  ]) {
    expect(instantOf(other)).toBeNull();
  }
});

it.each<[label: string, occurrence: string, over: boolean]>([
  ['a day ago', '2026-11-20T12:00:00Z', false],
  ['more than that', '2026-11-20T11:59:59Z', true],
  ['to come', '2026-11-23T09:00:00Z', false],
  ['a name', 'trial', false],
])('an instant that is over is not begun: %s', async (_label, occurrence, over) => {
  const refused = await refuseOver({ file: 'c.yaml', schedule }, occurrence, SATURDAY).then(
    () => null,
    (error: unknown) => error,
  );
  expect(refused instanceof HandbillError ? refused.code : null).toBe(over ? 'too-late' : null);
  if (over) expect(String(refused)).toContain('The next one is 2026-11-23T09:00:00Z.');
  await refuseOver({ file: 'c.yaml', schedule: null }, occurrence, SATURDAY);
});
