import { expect, test } from 'vitest';
import { checkLocale } from '../../src/campaign/check-values.ts';

const letters = Array.from({ length: 26 }, (_, n) => String.fromCharCode(97 + n));
const pairs = letters.flatMap((a) => letters.map((b) => a + b));

function isTaken(text: string): boolean {
  return 'value' in checkLocale(text);
}

test('the languages of a locale are those that Intl has numbers of', () => {
  const known = pairs.filter((language) => Intl.NumberFormat.supportedLocalesOf(language).length > 0);
  expect(known.length).toBeGreaterThan(100);
  expect(pairs.filter(isTaken)).toEqual(known);
});

test('the regions of a locale are those that Intl can name', () => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const locales = pairs.map((region) => new Intl.Locale(`en-${region}`));
  const known = locales.filter(({ region = '' }) => names.of(region) !== undefined).map(String);
  expect(known.length).toBeGreaterThan(200);
  expect(locales.map(String).filter(isTaken)).toEqual(known);
});
