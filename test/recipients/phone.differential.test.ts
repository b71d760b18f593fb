import {
  type CountryCode,
  getCountries,
  getExampleNumber,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { type AddressReader, createPhoneReader, doubtAbout } from '../../src/recipients/phone.ts';

// Numbers in all regions: every country's example with some digits changed, digits at random behind every calling
// code, with and without national prefixes, plain and in the spellings that people use.
const rounds = process.env['HANDBILL_FULL'] === '1' ? 150 : 2;

/** mulberry32: the same numbers in every run, so that a failure can be looked at. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const random = createRandom(20260731);
const digits = (length: number): string => Array.from({ length }, () => random(10)).join('');
const mains = new Map(Object.entries(metadata.country_calling_codes).map(([code, countries]) => [code, countries[0]]));
const networks = Object.keys(metadata.nonGeographic);

/** What the library says, with handbill's own rules: E.164's 15 digits, no short codes, a country where one is main. */
function oracle(raw: string, country: CountryCode | null) {
  const options = country === null ? {} : { defaultCountry: country };
  const first = parsePhoneNumberFromString(raw, { extract: false, ...options });
  // The +52 1 of Mexico is read as +52, and +229 of Benin without its 01 as with it.
  const isWhole = first !== undefined && raw.replace(/\D/g, '').startsWith(first.countryCallingCode);
  const today = first?.number.replace(/^\+521(\d{10})$/, '+52$1').replace(/^\+229(\d{8})$/, '+22901$1');
  const isOld = isWhole && !first.isPossible() && today !== first.number;
  const parsed = isOld ? parsePhoneNumberFromString(today ?? '') : first;
  if (parsed === undefined || !parsed.isPossible() || parsed.number.length > 16) return null;
  const assigned = parsed.isValid();
  if (!raw.startsWith('+') && !assigned && parsed.nationalNumber.length < 7) return null;
  if (lacksPlusOrZero(raw, parsed)) return null;
  const owner = parsed.country ?? mains.get(parsed.countryCallingCode) ?? null;
  return { to: parsed.number, country: owner, assigned };
}

/** Refused: the library takes the country code for digits of the number, although it is in use as one, too. */
function lacksPlusOrZero(raw: string, parsed: PhoneNumber): boolean {
  const code = parsed.countryCallingCode;
  const bare = raw.replace(/\D/g, '') === parsed.nationalNumber && parsed.nationalNumber.startsWith(code);
  if (raw.startsWith('+') || !bare || parsePhoneNumberFromString(`+${parsed.nationalNumber}`)?.isValid() !== true)
    return false;
  const plan = metadata.countries[mains.get(code) ?? 'GB'];
  const dialsZero = Boolean(plan?.[5] ?? plan?.[7]);
  return !parsed.isValid() || (parsed.getType() !== 'MOBILE' && dialsZero);
}

const readers = new Map<CountryCode | null, AddressReader>();

function read(raw: string, country: CountryCode | null) {
  const reader = readers.get(country) ?? createPhoneReader(country);
  readers.set(country, reader);
  const found = reader(raw);
  return 'problem' in found ? null : found;
}

/** What is said of the library's types; VOIP and mobile numbers get texts. */
const KINDS: Readonly<Record<string, string>> = {
  FIXED_LINE: 'landline',
  PREMIUM_RATE: 'premium',
  TOLL_FREE: 'toll-free',
  SHARED_COST: 'shared-cost',
  PERSONAL_NUMBER: 'personal',
  PAGER: 'pager',
  UAN: 'uan',
  VOICEMAIL: 'voicemail',
};

interface Sample {
  readonly raw: string;
  readonly country: CountryCode | null;
}

function* samplesOf(country: CountryCode): Generator<Sample> {
  const example = getExampleNumber(country, examples);
  if (example === undefined) return;
  const { nationalNumber, countryCallingCode } = example;
  const prefix = String(metadata.countries[country]?.[5] || '0');
  for (let i = 0; i < rounds; i++) {
    const keep = i === 0 ? nationalNumber.length : random(nationalNumber.length);
    const change = [0, 0, 0, 1, -1][i % 5] ?? 0;
    const number =
      nationalNumber.slice(0, keep) + digits(Math.max(0, nationalNumber.length - keep + (i === 0 ? 0 : change)));
    yield* [number, prefix + number, `0${number}`, `${countryCallingCode}${number}`].map((raw) => ({ raw, country }));
    yield* [number, prefix + number, digits(2 + random(13))].map((rest) => ({
      raw: `+${countryCallingCode}${rest}`,
      country: null,
    }));
    yield { raw: `+${countryCallingCode} (0)${number}`, country: null };
    yield { raw: `(${prefix}${number.slice(0, 2)}) ${number.slice(2, 5)}-${number.slice(5)}`, country };
    yield { raw: `+${countryCallingCode}${number}`, country: 'DE' };
    yield { raw: digits(3 + random(12)), country };
  }
}

function* samples(): Generator<Sample> {
  for (const country of getCountries()) yield* samplesOf(country);
  for (const code of [...mains.keys(), ...networks]) {
    for (let i = 0; i < rounds * 2; i++) yield { raw: `+${code}${digits(1 + random(15))}`, country: null };
  }
  for (let i = 0; i < rounds * 20; i++) yield { raw: `+${digits(4 + random(13))}`, country: null };
}

describe('the fast way', () => {
  it('says of every number what libphonenumber says', () => {
    let count = 0;
    let possible = 0;
    let assigned = 0;
    for (const { raw, country } of samples()) {
      // 00 is + wherever it makes no number with the country's own prefix, which is not what the library does.
      if (/^\(?00/.test(raw)) continue;
      const expected = oracle(raw, country);
      const found = read(raw, country);
      if (JSON.stringify(found) !== JSON.stringify(expected))
        expect({ raw, country, found }).toEqual({ raw, country, found: expected });
      count++;
      if (expected !== null) possible++;
      if (expected?.assigned === true) assigned++;
    }
    // The samples must reach all three verdicts, or agreeing means little.
    expect(count).toBeGreaterThan(rounds * 2500);
    expect(possible - assigned).toBeGreaterThan(count / 20);
    expect(assigned).toBeGreaterThan(count / 10);
    expect(count - possible).toBeGreaterThan(count / 20);
  });

  it('finds the landlines and special numbers that libphonenumber finds', () => {
    let [landlines, specials] = [0, 0];
    for (const { raw, country } of samples()) {
      const found = read(raw, country);
      if (found === null || !found.assigned) continue;
      const { to, country: of, assigned } = found;
      const type = parsePhoneNumberFromString(to)?.getType();
      const kind = doubtAbout({ to, country: of, assigned }, false)?.kind ?? null;
      const expected = type === undefined ? null : (KINDS[type] ?? null);
      if (kind !== expected) expect({ to, kind }).toEqual({ to, kind: expected });
      if (kind === 'landline') landlines++;
      else if (kind !== null) specials++;
    }
    expect(landlines).toBeGreaterThan(rounds * 20);
    expect(specials).toBeGreaterThan(rounds);
  });

  it('reads what is dialled abroad from a country as the library does', () => {
    const dialled = {
      AU: ['0011'],
      HK: ['001'],
      KR: ['001', '002', '00700'],
      TH: ['001'],
      KH: ['001'],
      SG: ['001', '002'],
    };
    const carriers = {
      CO: ['005', '009'],
      NG: ['009'],
      BR: ['0014', '0021', '0031', '0041'],
      TW: ['002'],
      ID: ['008'],
    };
    const others = {
      US: ['011'],
      RU: ['810'],
      JP: ['010'],
      IL: ['012'],
      FI: ['990'],
      KE: ['000'],
      CL: ['1230'],
      UG: ['005'],
    };
    let count = 0;
    for (const [country, prefixes] of Object.entries({ ...dialled, ...carriers, ...others })) {
      for (const prefix of prefixes) {
        for (const abroad of getCountries()) {
          const number = getExampleNumber(abroad, examples)?.number.slice(1);
          if (number === undefined) continue;
          const raw = `${prefix} ${number}`;
          const expected = parsePhoneNumberFromString(raw, { defaultCountry: country as CountryCode, extract: false });
          if (expected?.isValid() !== true) continue;
          expect({ raw, country, e164: read(raw, country as CountryCode)?.to }).toEqual({
            raw,
            country,
            e164: expected.number,
          });
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(4000);
  });

  it('reads 00 as the library reads +', () => {
    for (const country of getCountries()) {
      const number = getExampleNumber(country, examples)?.number;
      if (number !== undefined) expect(read(`00${number.slice(1)}`, null)).toEqual(oracle(number, null));
    }
  });
});
