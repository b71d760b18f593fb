import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { priceOf, readPrices } from '../../src/content/price.ts';
import { exactMoney } from '../../src/report/locale.ts';
import { parseMicros, unitsOf } from '../../src/util/units.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/content/${name}`, import.meta.url), 'utf8');

function pricesOf(text: string) {
  const { prices, diagnostics } = readPrices(text, 'prices.csv');
  if (prices === null) throw new Error(JSON.stringify(diagnostics));
  return prices;
}

describe('a price list', () => {
  const list = pricesOf(fixture('prices.csv'));
  test.each<[label: string, country: string | null, channel: 'sms' | 'rcs' | 'voice', micros: number | null]>([
    ['country and channel', 'GB', 'rcs', 31_000],
    ['country', 'GB', 'sms', 42_500],
    ['channel anywhere', 'FR', 'voice', 120_000],
    ['anywhere', 'FR', 'sms', 90_000],
    ['no country', null, 'sms', 90_000],
    ['free', 'DE', 'sms', 0],
  ])('%s', (_label, country, channel, micros) => {
    expect(priceOf(list, country, channel)).toBe(micros);
  });
  it('has one currency', () => {
    expect(list.currency).toBe('EUR');
  });
  it('has no price where nothing matches', () => {
    expect(priceOf(pricesOf('country,price\nGB,1\n'), 'FR', 'sms')).toBeNull();
    expect(priceOf(pricesOf('country,price\nGB,1\n'), null, 'sms')).toBeNull();
  });
});

test.each([
  ['semicolons, CR LF', 'country;price\r\ngb;0.04\r\n'],
  ['tabs', 'country\tprice\nGB\t0.04\n'],
  ['spaces and capitals', ' Country , PRICE \n gb , 0.04 \n'],
  ['blank lines', 'country,price\n\nGB,0.04\n\n'],
  ['no newline at the end', 'country,price\nGB,0.04'],
])('%s', (_label, text) => {
  expect(priceOf(pricesOf(text), 'GB', 'sms')).toBe(40_000);
});

test.each<[label: string, text: string, code: string, line: number | undefined, message: RegExp]>([
  ['empty', '', 'csv-no-header', undefined, /empty/],
  ['header only', 'country,price\n', 'csv-no-rows', undefined, /no prices/],
  ['no price column', 'country,cost\nGB,1\n', 'missing-key', 1, /"price"/],
  ['column twice', 'country,price,price\nGB,1,1\n', 'csv-duplicate-header', 1, /"price"/],
  ['ragged', 'country,price\nGB,1,2\n', 'csv-ragged-row', 2, /3 fields/],
  ['decimal comma', 'country;price\nGB;0,04\n', 'invalid-value', 2, /"0,04"/],
  ['negative', 'country,price\nGB,-1\n', 'invalid-value', 2, /"-1"/],
  ['exponent', 'country,price\nGB,1e3\n', 'invalid-value', 2, /"1e3"/],
  ['too exact', 'country,price\nGB,0.0000001\n', 'invalid-value', 2, /"0.0000001"/],
  ['too large', 'country,price\nGB,1000001\n', 'invalid-value', 2, /"1000001"/],
  ['empty price', 'country,price\nGB,\n', 'invalid-value', 2, /""/],
  ['not a country', 'country,price\nEngland,1\n', 'invalid-value', 2, /"England"/],
  ['UK', 'country,price\nUK,1\n', 'invalid-value', 2, /"UK"/],
  ['EU', 'country,price\nEU,1\n', 'invalid-value', 2, /"EU"/],
  ['unknown channel', 'country,price,channel\nGB,1,smss\n', 'invalid-value', 2, /"smss"/],
  ['two currencies', 'country,price,currency\nGB,1,EUR\nFR,1,GBP\n', 'invalid-value', 3, /GBP/],
  ['not a currency', 'country,price,currency\nGB,1,Euro\n', 'invalid-value', 2, /"Euro"/],
  ['country twice', 'country,price\nGB,1\ngb,2\n', 'invalid-value', 3, /line 2/],
  ['quote left open', 'country,price\n"GB,1\n', 'csv-syntax', 2, /well-formed/],
])('%s is refused', (_label, text, code, line, message) => {
  const { prices, diagnostics } = readPrices(text, 'prices.csv');
  expect(prices).toBeNull();
  const found = diagnostics.find((d) => d.severity === 'error');
  expect(found).toMatchObject({ code, at: { file: 'prices.csv' } });
  expect(found?.at?.line).toBe(line);
  expect(found?.message).toMatch(message);
});

it('reports everything at once, and warns of a column that is not read', () => {
  const { diagnostics } = readPrices('country,price,chanel\nUK,x,\nGB,1,\nGB,2,\n', 'p.csv');
  expect(diagnostics.map((d) => `${d.severity} ${d.code} ${d.at?.line}`)).toEqual([
    'warning unknown-key 1',
    'error invalid-value 2',
    'error invalid-value 2',
    'error invalid-value 4',
  ]);
  expect(diagnostics[0]?.hint).toBe('Did you mean "channel"?');
});

describe('money', () => {
  it('sums exactly', () => {
    expect(unitsOf((parseMicros('0.1') ?? 0) + (parseMicros('0.2') ?? 0))).toBe(0.3);
  });
  it('keeps every amount of at most six decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (micros) => {
        const written = `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
        expect(parseMicros(written)).toBe(micros);
        expect(parseMicros(exactMoney(unitsOf(micros), null).replaceAll(',', ''))).toBe(micros);
      }),
    );
  });
  test.each([
    ['0.0425', '0.0425'],
    ['12.5', '12.50'],
    ['3', '3.00'],
    ['.5', '0.50'],
  ])('%s is shown as %s', (written, shown) => {
    expect(exactMoney(unitsOf(parseMicros(written) ?? -1), null)).toBe(shown);
  });
});
