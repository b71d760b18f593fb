import { describe, expect, it } from 'vitest';
import type { Budget, Campaign } from '../../src/model.ts';
import { budgetNotice, budgetState, budgetText, checkBudget, checkOpen, claimBudget } from '../../src/plan/budget.ts';
import { addAt, createEstimator, type Estimate } from '../../src/plan/estimate.ts';
import { periodAt } from '../../src/plan/period.ts';

const at = (text: string): number => Date.parse(text);

describe('a period', () => {
  it.each([
    ['month', '2026-11-25T12:00:00Z', 'UTC', '2026-11', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    [
      'month',
      '2026-12-31T23:30:00Z',
      'Europe/Berlin',
      '2027-01',
      '2026-12-31T23:00:00.000Z',
      '2027-01-31T23:00:00.000Z',
    ],
    ['week', '2026-11-25T12:00:00Z', 'UTC', '2026-W48', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    // 1 January 2027 is a Friday, in the last week of 2026.
    ['week', '2027-01-01T12:00:00Z', 'UTC', '2026-W53', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
    ['day', '2026-11-25T23:30:00Z', 'Asia/Tokyo', '2026-11-26', '2026-11-25T15:00:00.000Z', '2026-11-26T15:00:00.000Z'],
    // A day of 25 hours, and one of 23.
    [
      'day',
      '2026-10-25T12:00:00Z',
      'Europe/London',
      '2026-10-25',
      '2026-10-24T23:00:00.000Z',
      '2026-10-26T00:00:00.000Z',
    ],
    [
      'day',
      '2027-03-28T12:00:00Z',
      'Europe/London',
      '2027-03-28',
      '2027-03-28T00:00:00.000Z',
      '2027-03-28T23:00:00.000Z',
    ],
  ] as const)('%s of %s in %s is %s', (per, instant, zone, name, begins, ends) => {
    const period = periodAt(per, at(instant), zone);
    expect([period.name, new Date(period.beginsMs).toISOString(), new Date(period.endsMs).toISOString()]).toEqual([
      name,
      begins,
      ends,
    ]);
    expect(periodAt(per, period.beginsMs, zone).name).toBe(name);
    expect(periodAt(per, period.endsMs - 1, zone).name).toBe(name);
    expect(periodAt(per, period.endsMs, zone).name).not.toBe(name);
  });

  it('is the same for each claim, whatever the order of the instants', () => {
    const budget = claimBudget(where('day'), { currency: 'EUR', micros: new Map() });
    const instants = ['2026-11-25T23:59:59Z', '2026-11-26T00:00:00Z', '2026-11-25T00:00:00Z', '2026-11-24T23:59:59Z'];
    expect(instants.map((instant) => budget?.periodOf(at(instant)))).toEqual([
      '2026-11-25',
      '2026-11-26',
      '2026-11-25',
      '2026-11-24',
    ]);
  });
});

function where(per: Budget['per'] | null, max = 500) {
  const budget = per === null ? null : { max, maxMicros: max * 1e6, per };
  return {
    environment: { name: 'production', identity: 'production', budget },
    campaign: { project: { timeZone: 'UTC' } },
  };
}

const CAMPAIGN = {
  file: 'c.yaml',
  recipients: { file: 'p.csv', each: null },
  send: { window: null },
  limits: { maxRecipients: null, maxParts: null, maxCost: null },
  variants: [],
  fallbacks: [],
} as unknown as Campaign;
const NOON = at('2026-11-25T12:00:00Z');
const EUR = { currency: 'EUR' };
const WORST = { above: null, mostExpensive: null, unpriced: 7, later: new Map<number, number>() };

function estimate(changes: Partial<Estimate>): Estimate {
  return { ...createEstimator(CAMPAIGN, null).result(), send: 10, currency: 'EUR', ...changes };
}

function state(spentUnits: number, max = 500) {
  return budgetState(where('month', max), EUR, NOON, { spent: () => spentUnits * 1e6 });
}

function said(changes: Partial<Estimate>, of = state(120)): string[] {
  return checkBudget(CAMPAIGN, estimate(changes), WORST, of).map(
    ({ code, message, hint }) => `${code}: ${message} ${hint}`,
  );
}

describe('a plan', () => {
  it('that fits is not refused, to the last micro-unit', () => {
    expect(said({ costMicros: 380e6 })).toEqual([]);
    expect(said({ costMicros: 380e6 + 1 })).toEqual([
      'over-budget: The plan may cost 380.000001 EUR; the budget of production has 380.00 EUR left in 2026-11 ' +
        '(120.00 of 500.00 EUR spent). Send it from 2026-12-01 00:00 (UTC) on, send to fewer recipients, or raise ' +
        'environments.production.budget.max in handbill.yaml.',
    ]);
  });

  it('above the whole budget fits into no period', () => {
    const refused = [
      'over-budget: The plan may cost 501.00 EUR; the budget of production allows 500.00 EUR a month. It fits into no ' +
        'period: send to fewer recipients, or raise environments.production.budget.max in handbill.yaml.',
    ];
    expect(said({ costMicros: 501e6 })).toEqual(refused);
    expect(said({ costMicros: 501e6 }, budgetState(where('month'), EUR, NOON))).toEqual(refused);
    expect(said({ costMicros: 499e6 }, budgetState(where('month'), EUR, NOON))).toEqual([]);
  });

  it('costs what its most expensive steps and those who wait may cost', () => {
    const fallback = { recipients: 1, parts: 1, costMicros: { low: 1e6, high: 300e6 } };
    expect(said({ costMicros: 1e6, fallback, waiting: { low: 0, high: 80e6 } })).toEqual([]);
    expect(said({ costMicros: 1e6, fallback, waiting: { low: 0, high: 81e6 } })).toHaveLength(1);
  });

  it('without prices is refused, and so is a destination without one', () => {
    expect(said({ costMicros: null }, budgetState(where('month'), null, NOON, null))).toEqual([
      'no-price: What the plan costs is not known, so that the budget of production cannot be kept. Name a price list ' +
        '(`prices` in handbill.yaml), or take environments.production.budget out.',
    ]);
    expect(said({ costMicros: 1e6, unpriced: 2 })).toEqual([
      'no-price: 2 recipients have no price, so that the budget of production cannot be kept. This row is the first of ' +
        'them: add its destination to the price list, or take environments.production.budget out.',
    ]);
  });

  it('that sends to no recipient, or an environment without a budget, is not asked', () => {
    expect(said({ send: 0, costMicros: null })).toEqual([]);
    expect(said({ costMicros: 501e6 }, budgetState(where(null), EUR, NOON, null))).toEqual([]);
    expect(claimBudget(where(null), null)).toBeNull();
  });

  it('of an amended run costs what is not sent yet', () => {
    const own = state(500);
    expect(said({ costMicros: 100e6 }, own && { ...own, ownMicros: 100e6 })).toEqual([]);
    expect(said({ costMicros: 100e6 }, own && { ...own, ownMicros: 99e6 })).toHaveLength(1);
  });

  it('that continues is compared with what is left', () => {
    const codesOf = (micros: number, of = state(120)) =>
      of && checkOpen(CAMPAIGN, new Map([[NOON, micros]]), of).map(({ code }) => code);
    expect(codesOf(380e6)).toEqual([]);
    expect(codesOf(381e6)).toEqual(['over-budget']);
    expect(codesOf(0, budgetState(where('month'), null, NOON, null))).toEqual(['no-price']);
  });
});

describe('rows with a time (`send.each`)', () => {
  const each = { column: 'visit', before: { ms: 0 }, timeZone: 'UTC' };
  const visits = (window: object | null) =>
    ({ ...CAMPAIGN, recipients: { ...CAMPAIGN.recipients, each }, send: { window } }) as unknown as Campaign;
  const VISITS = visits(null);
  /** Units of the currency at each moment. */
  const costs = (units: Readonly<Record<string, number>>) => {
    const all = new Map<number, number>();
    for (const [moment, cost] of Object.entries(units)) addAt(all, at(moment), cost * 1e6);
    return all;
  };
  /** Of a budget of 500 a week, of which 120 are spent in the week of Wednesday, 25 November 2026. */
  const week = (spent: number | null = 120, timeZone = 'UTC') => {
    const of = { ...where('week'), campaign: { project: { timeZone } } };
    return budgetState(of, EUR, NOON, spent === null ? undefined : { spent: () => spent * 1e6 });
  };
  const planned = (units: Readonly<Record<string, number>>, now = 0, of = week()) => {
    const later = costs(units);
    const high = [...later.values()].reduce((sum, one) => sum + one, 0);
    const given = estimate({ costMicros: now * 1e6, waiting: { low: 0, high }, deferred: { 'too-early': 1 } });
    return checkBudget(VISITS, given, { ...WORST, later }, of).map(({ message, hint }) => `${message} ${hint}`);
  };
  const WEEKS = { '2026-11-29T23:59:59Z': 380, '2026-11-30T00:00:00Z': 500, '2026-12-13T23:59:59Z': 500 };

  it('count in the period of their time: this one has what is left of the budget, each later one the whole', () => {
    expect(planned(WEEKS)).toEqual([]);
    expect(planned({ ...WEEKS, '2026-11-25T13:00:00Z': 1 })).toEqual([
      'The plan may cost 381.00 EUR in 2026-W48; the budget of production has 380.00 EUR left in 2026-W48 (120.00 of ' +
        '500.00 EUR spent). For 2026-W48: send to fewer recipients, or raise environments.production.budget.max in handbill.yaml.',
    ]);
    expect(planned({ '2026-11-30T00:00:00Z': 500 }, 380)).toEqual([]);
    expect(planned({ '2026-11-30T00:00:00Z': 500 }, 381)).toHaveLength(1);
  });

  it('that are too many in a later period are refused, and the error names it', () => {
    const refused = [
      'The plan may cost 501.00 EUR in 2026-W50; the budget of production allows 500.00 EUR a week. For 2026-W50: send ' +
        'to fewer recipients, or raise environments.production.budget.max in handbill.yaml.',
    ];
    const units = { ...WEEKS, '2026-12-08T12:00:00Z': 1 };
    expect(planned(units)).toEqual(refused);
    expect(planned(units, 0, week(null))).toEqual(refused);
  });

  it('are in the period by the zone of the project', () => {
    const units = { '2026-11-29T23:15:00Z': 381 };
    expect(planned(units)).toHaveLength(1);
    expect(planned(units, 0, week(120, 'Europe/Berlin'))).toEqual([]);
    // A quarter of an hour holds a midnight of no zone: here it is at 18:15 UTC.
    expect(planned({ '2026-11-29T18:14:59Z': 381 }, 0, week(120, 'Asia/Kathmandu'))).toHaveLength(1);
    expect(planned({ '2026-11-29T18:15:00Z': 381 }, 0, week(120, 'Asia/Kathmandu'))).toEqual([]);
  });

  it('of a run that continues are compared in the same way, but a window may move those of a later period', () => {
    const open = (units: Readonly<Record<string, number>>, window: object | null = null) => {
      const of = week();
      return of && checkOpen(visits(window), costs(units), of).map(({ message }) => message.slice(0, 41));
    };
    expect(open({ ...WEEKS, '2026-11-20T12:00:00Z': 0 })).toEqual([]);
    const over = { '2026-11-24T12:00:00Z': 381, '2026-12-07T12:00:00Z': 501 };
    const [now, later] = ['The plan may cost 381.00 EUR in 2026-W48;', 'The plan may cost 501.00 EUR in 2026-W50;'];
    expect(open(over)).toEqual([now, later]);
    expect(open(over, {})).toEqual([now]);
  });
});

it('what is spent is said with figures', () => {
  const of = state(120.5);
  expect(of && budgetText(of)).toBe('production: 120.50 of 500.00 EUR spent in 2026-11, until 2026-12-01 00:00 (UTC).');
  expect(budgetNotice(of).map(({ severity, code, message }) => `${severity} ${code} ${message}`)).toEqual([
    'note budget production: 120.50 of 500.00 EUR spent in 2026-11, until 2026-12-01 00:00 (UTC). What is left: 379.50 EUR.',
  ]);
  // From four fifths on.
  expect([399.99, 400, 501].map((spent) => budgetNotice(state(spent))[0]?.severity)).toEqual([
    'note',
    'warning',
    'warning',
  ]);
  expect(budgetNotice(state(501))[0]?.message).toContain('What is left: 0.00 EUR.');
});

it('without prices no claim has room: another machine may lack the list', () => {
  const budget = claimBudget(where('month'), null);
  expect([budget?.currency, budget?.maxMicros]).toEqual(['', 500e6]);
});
