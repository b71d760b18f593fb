import { describe, expect, it, test } from 'vitest';
import type { Schedule } from '../../src/model.ts';
import { instantOf, occurrenceFor, overRefusal } from '../../src/schedule/occurrence.ts';

const schedule: Schedule = {
  cron: '0 9 * * 1-5',
  at: null,
  timeZone: 'Europe/London',
  missed: 'catch-up',
  asksCatchUp: false,
};
const SATURDAY = Date.parse('2026-11-21T12:00:00Z');
const FRIDAY = Date.parse('2026-11-20T12:00:00Z');

const zone = { schedule, timeZone: 'Europe/Berlin' };

async function meant(
  campaign: Parameters<typeof occurrenceFor>[0],
  named: string | undefined,
  { nowMs = FRIDAY, used = [], toShow = false }: { nowMs?: number; used?: readonly string[]; toShow?: boolean } = {},
): Promise<string> {
  const { occurrence, warnings } = await occurrenceFor(campaign, { named, nowMs, used, toShow });
  return [occurrence, ...warnings.map(({ code }) => code)].join(' ');
}

it.each<[label: string, named: string | undefined, nowMs: number, sent: string, shown: string]>([
  ['the instant that is due', undefined, FRIDAY, '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'],
  ['the last one is over: the next is shown', undefined, SATURDAY, '2026-11-20T09:00:00Z', '2026-11-23T09:00:00Z'],
  ['a name', 'trial', SATURDAY, 'trial', 'trial'],
  ['an instant', '2026-11-20T09:00:00Z', SATURDAY, '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'],
  ['an instant in another zone', '2026-07-01T09:00:00+01:00', FRIDAY, '2026-07-01T08:00:00Z', '2026-07-01T08:00:00Z'],
  ['an instant without seconds', '2026-11-20T09:00Z', FRIDAY, '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'],
])('%s', async (_label, named, nowMs, sent, shown) => {
  expect(await meant(zone, named, { nowMs })).toBe(sent);
  expect(await meant(zone, named, { nowMs, toShow: true })).toBe(shown);
});

test('a campaign that goes out at one time has that occurrence, before and after it', async () => {
  const at = { written: '2026-11-20T12:30', ms: Date.parse('2026-11-20T12:30:00Z') };
  const campaign = { schedule: { ...schedule, cron: null, at }, timeZone: 'UTC' };
  for (const nowMs of [FRIDAY, at.ms, SATURDAY])
    expect(await meant(campaign, undefined, { nowMs })).toBe('2026-11-20T12:30:00Z');
  expect(await overRefusal({ ...campaign, file: 'x' }, '2026-11-20T12:30:00Z', SATURDAY + 86_400_000)).toMatchObject({
    code: 'too-late',
  });
});

test('with a schedule, a date or a number is not a name', async () => {
  for (const named of ['2026-11-20', '2026-11', '42', '2026-11-20T09:00']) {
    await expect(meant(zone, named)).rejects.toMatchObject({ code: 'usage', exit: 2 });
  }
});

test('without a schedule an occurrence is what it was named, or once; an instant is one all the same', async () => {
  const campaign = { schedule: null, timeZone: 'UTC' };
  expect(await meant(campaign, undefined)).toBe('once');
  expect(await meant(campaign, '2026-11-20')).toBe('2026-11-20');
  expect(await meant(campaign, '2026-11-20T10:00+01:00')).toBe('2026-11-20T09:00:00Z');
});

describe('names that the ledger holds', () => {
  const campaign = { schedule: null, timeZone: 'UTC' };
  it.each<[label: string, named: string, used: string[], expected: string]>([
    ['another case', 'Spring', ['spring'], 'Spring occurrence-similar'],
    ['another width', 'ｓｐｒｉｎｇ', ['Spring'], 'ｓｐｒｉｎｇ occurrence-similar'],
    ['the same', 'Spring', ['spring', 'Spring'], 'Spring'],
    ['another one', 'autumn', ['spring'], 'autumn'],
  ])('%s', async (_label, named, used, expected) => {
    expect(await meant(campaign, named, { used })).toBe(expected);
  });
});

test('a run from before the campaign had a schedule keeps its name', async () => {
  expect(await meant(zone, '2026-11', { used: ['2026-11'] })).toBe('2026-11');
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
  const refused = await overRefusal({ file: 'c.yaml', schedule }, occurrence, SATURDAY);
  expect(refused?.code ?? null).toBe(over ? 'too-late' : null);
  if (over) expect(refused?.message).toContain('The next one is 2026-11-23T09:00:00Z.');
  expect(await overRefusal({ file: 'c.yaml', schedule: null }, occurrence, SATURDAY)).toBeNull();
});
