import { expect, test } from 'vitest';
import { createReportedAddressReader } from '../../src/recipients/address.ts';

test.each<[written: string, country: string | null, expected: string | null]>([
  ['+447700900123', null, '+447700900123'],
  ['447700900123', null, '+447700900123'],
  ['447700900123', 'GB', '+447700900123'],
  ['447700900123', 'US', '+447700900123'],
  ['00447700900123', 'FR', '+447700900123'],
  ['00447700900123', null, '+447700900123'],
  ['07700900123', 'GB', '+447700900123'],
  ['0011 65 9234 5678', 'AU', '+6592345678'],
  ['00165 92345678', 'HK', '+6592345678'],
  ['001 212 555 0199', 'HK', null],
  ['07700 900 123', 'GB', '+447700900123'],
  ['07700900123', null, null],
  ['+44 (0)7700 900123', null, '+447700900123'],
  [' 447700900123 ', null, '+447700900123'],
  ['33639980001', 'FR', '+33639980001'],
  ['0639980001', 'FR', '+33639980001'],
  ['12025550199', 'US', '+12025550199'],
  ['2025550199', 'US', '+12025550199'],
  ['6591234567', 'SG', '+6591234567'],
  ['91234567', 'SG', '+6591234567'],
  ['Ada@Example.com', null, 'Ada@example.com'],
  ['handbill', 'GB', null],
  ['85000', 'GB', null],
  ['', 'GB', null],
  ['9'.repeat(300), 'GB', null],
  ['@', 'GB', null],
])('%j, %s', (written, country, expected) => {
  expect(createReportedAddressReader(country)(written)).toBe(expected);
});
