import { createRequire } from 'node:module';
import type { CountryCode, PhoneNumber as LibraryNumber } from 'libphonenumber-js/max';
import { problem, refuse } from '../errors.ts';
import type { NumberKind } from '../model.ts';
import { listedForm } from '../util/address-form.ts';
import { compared } from '../util/cell.ts';
import { metadata } from '../util/numbering-plans.ts';
import { onDemand } from '../util/on-demand.ts';
import SPECIAL_TYPES from './number-types.json' with { type: 'json' };

export interface Address {
  /** Normalised: an E.164 number with `+`, an email address, or the id of a contact. */
  readonly to: string;
  /**
   * ISO 3166-1 alpha-2; null: none, as for networks that belong to no country. If several countries share a calling code
   * and none of them uses the number, it is the main one (the documentation number +447700900123 is GB).
   */
  readonly country: string | null;
  /** False for numbers that only have the right length, such as documentation numbers; true for everything else. */
  readonly assigned: boolean;
}

/** `problem` continues "The number ...", "The address ..." or "The contact id ...". */
export interface AddressProblem {
  readonly problem: string;
  readonly hint?: string;
}

export type AddressReader = (raw: string) => Address | AddressProblem;

/**
 * Reads phone numbers with the results of libphonenumber (`parsePhoneNumberFromString` of its `max` build, the whole
 * cell), only faster: compiled plans match plain digits. In addition, `00` is `+` wherever the country has no such
 * prefix for calls abroad. Refuses short codes, and cells with several numbers or more than a number.
 * @param defaultCountry ISO 3166-1 alpha-2, for numbers without a calling code
 * @throws HandbillError (exit 2): invalid-value, if the country does not exist
 */
export function createPhoneReader(defaultCountry: string | null): AddressReader {
  const isKnown = Object.hasOwn(metadata.countries, defaultCountry ?? '');
  const plan = isKnown ? planOf(defaultCountry ?? '') : null;
  if (defaultCountry !== null && plan === null) {
    const message = `\`recipients.defaultCountry\` is "${defaultCountry}", which is not a country with phone numbers.`;
    throw refuse(problem('invalid-value', message, { hint: 'Give a two-letter code such as GB, DE or US.' }));
  }
  const home = plan === null ? null : { country: defaultCountry as CountryCode, plan };
  return (raw) => readDigits(raw, home) ?? readSpelling(raw, home);
}

interface Home {
  readonly country: CountryCode;
  readonly plan: NumberingPlan;
}

/** Reads plain digits, the usual case; null: the library has to read it. */
function readDigits(raw: string, home: Home | null): Address | null {
  const first = raw.charCodeAt(0);
  if (first === PLUS) return isDigits(raw, 1) ? readInternational(raw) : null;
  return home !== null && isDigits(raw, 0) ? readNational(raw, home.plan) : null;
}

const PLUS = 0x2b;

function isDigits(text: string, from: number): boolean {
  const digits = text.length - from;
  if (digits < 5 || digits > MAX_DIGITS) return false;
  for (let i = from; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return false;
  }
  return true;
}

/** Reads `+` and digits, maybe with the national prefix, as in +44 (0)20. */
function readInternational(e164: string): Address | null {
  const plans = findPlans(e164);
  if (plans === null) return null;
  const [main] = plans;
  if (main.strayPrefix?.test(e164) !== true) return judge(e164, plans, null);
  return readPrefixed(e164.slice(1 + main.callingCode.length), main, plans, null);
}

/** Calling codes have one to three digits, and none is the beginning of another. */
function findPlans(e164: string): Plans | null {
  let code = e164.charCodeAt(1) - 0x30;
  if (code === 0) return null;
  for (let i = 2; i <= 4; i++) {
    const plans = plansOf(code);
    if (plans !== null) return plans;
    code = code * 10 + e164.charCodeAt(i) - 0x30;
  }
  return null;
}

function readNational(raw: string, home: NumberingPlan): Address | null {
  const plans = plansOf(Number(home.callingCode));
  if (plans === null || raw.startsWith('00') || raw.startsWith(home.callingCode)) return null;
  if (home.internationalPrefix.test(raw)) return null;
  const number = readPrefixed(raw, home, plans, home);
  if (number === null || number.assigned) return number;
  return number.to.length - 1 - home.callingCode.length < MIN_NATIONAL_DIGITS ? null : number;
}

function readPrefixed(raw: string, plan: NumberingPlan, plans: Plans, home: NumberingPlan | null): Address | null {
  const whole = `+${plan.callingCode}${raw}`;
  const prefix = plan.nationalPrefix?.exec(raw) ?? null;
  if (prefix === null || prefix[0] === '') return judge(whole, plans, home);
  // Groups mean that the library rewrites the number (area codes of islands, carrier codes).
  if (prefix.length > 1 && (prefix.at(-1) ?? '') !== '') return null;
  const stripped = `+${plan.callingCode}${raw.slice(prefix[0].length)}`;
  // The library keeps the prefix when only the number with it is one, or when too little would remain.
  if (!plan.general.test(stripped) && plan.general.test(whole)) return null;
  return judge(stripped, plans, home);
}

/** Null: not even the length is possible. */
function judge(e164: string, plans: Plans, home: NumberingPlan | null): Address | null {
  const digits = e164.length - 1 - plans[0].callingCode.length;
  const owner = findOwner(e164, digits, plans);
  const plan = owner ?? home ?? plans[0];
  if ((plan.lengths & (1 << digits)) === 0 || e164.length - 1 > MAX_DIGITS) return null;
  const tried = plans.length > 1 && plan.leading === null;
  const assigned = tried ? owner !== null : isAssigned(e164, digits, plan);
  return { to: e164, country: plan.country, assigned };
}

/** The country among those that share a calling code, as the library finds it. */
function findOwner(e164: string, digits: number, plans: Plans): NumberingPlan | null {
  if (plans.length === 1) return plans[0];
  for (const plan of plans) {
    if (plan.leading === null ? isAssigned(e164, digits, plan) : plan.leading.test(e164)) return plan;
  }
  return null;
}

function isAssigned(e164: string, digits: number, plan: NumberingPlan): boolean {
  if (!plan.general.test(e164)) return false;
  for (const type of plan.types) if (isOfType(e164, digits, type)) return true;
  return false;
}

/** Types of numbers other than mobile, in the order in which libphonenumber tries them, with their place in its plans. */
type SpecialType = keyof typeof SPECIAL_TYPES;

/** Calls to these cost the caller more, or reach a device that takes no calls. */
const NOT_CALLED: readonly SpecialType[] = ['premium', 'shared-cost', 'personal', 'pager'];

/** A number of this kind is unlikely to get a message, although a network could have assigned it. */
export interface NumberDoubt {
  readonly kind: NumberKind;
  /** Follows on "The number". */
  readonly problem: string;
}

/**
 * The strongest reason to doubt a number; null: none.
 * @param calls landlines are fine: the message is spoken
 */
export function doubtAbout(
  { to, country, assigned }: { readonly to: string; readonly country: string | null; readonly assigned: boolean },
  calls: boolean,
): NumberDoubt | null {
  const plans = findPlans(to);
  if (plans === null) return null;
  const digits = to.length - 1 - plans[0].callingCode.length;
  const plan = plans.find((one) => one.country === country) ?? plans[0];
  if (assigned) {
    for (const [type, pattern] of plan.special) {
      if (!isOfType(to, digits, pattern) || (calls && !NOT_CALLED.includes(type))) continue;
      const which = country ?? `+${plans[0].callingCode}`;
      const what = calls ? 'calls to it cost more, or are not taken' : 'most get no SMS';
      return { kind: type, problem: `is ${SPECIAL_TYPES[type].called} of ${which}, and ${what}` };
    }
    // In some plans, as in North America, mobile numbers and landlines share their ranges.
    const isMobile = plan.mobile === null || isOfType(to, digits, plan.mobile);
    if (calls || isMobile || !isOfType(to, digits, plan.landline)) return null;
    return {
      kind: 'landline',
      problem: `is a landline of ${country ?? `+${plans[0].callingCode}`}, and most get no SMS`,
    };
  }
  const lengths = (plan.mobile?.lengths ?? 0) | (calls ? (plan.landline?.lengths ?? 0) : 0);
  if (lengths === 0 || (lengths & (1 << digits)) !== 0) {
    return { kind: 'unassigned', problem: 'is not in use by its numbering plan' };
  }
  const allowed = Array.from({ length: MAX_DIGITS + 1 }, (_, n) => n).filter((n) => (lengths & (1 << n)) !== 0);
  const whose = `${calls ? 'numbers' : 'mobile numbers'} of ${country ?? `+${plan.callingCode}`}`;
  const problem = `has ${digits} digits after +${plan.callingCode}, and ${whose} have ${allowed.join(' or ')}`;
  return { kind: 'wrong-length', problem };
}

function isOfType(e164: string, digits: number, type: NumberType | null): boolean {
  return type !== null && (type.lengths & (1 << digits)) !== 0 && type.pattern.test(e164);
}

/** Digits and separators: the library reads the same number without the separators. */
const SPACED = /^\+?[\d ().\-/\u00a0]+$/;
const NOT_DIGITS = /[^+\d]/g;
/** Without signs that may also mean a decimal or two numbers: needs no tidying. */
const PLAIN = /^ *\+?[\d ()\-\u00a0]+$/;
/** The limit of libphonenumber, which also bounds the expressions here. */
const MAX_CHARACTERS = 250;

function readSpelling(raw: string, home: Home | null): Address | AddressProblem {
  if (raw.length > MAX_CHARACTERS) return { problem: `has ${raw.length} characters, which no phone number has` };
  const plain = PLAIN.test(raw) ? readDigits(raw.replace(NOT_DIGITS, ''), home) : null;
  if (plain !== null) return plain;
  const text = tidy(raw);
  const wrong = explainShape(text);
  if (wrong !== null) return wrong;
  return readAbroad(text, home);
}

/**
 * A number with a prefix for calls abroad: that of the country itself (0011 in AU, 00700 in KR), or `00` for `+` where
 * that makes no number. North America follows neither from 001 in a country that dials it, nor from 0011.
 */
function readAbroad(text: string, home: Home | null): Address | AddressProblem {
  const dialled = text.replace(/^\(?00\)?/, '+');
  if (dialled === text) return readTidy(text, home);
  const standard = readTidy(dialled, home);
  const digits = text.replace(/\D/g, '');
  const dialsAbroad = home?.plan.internationalPrefix.exec(digits)?.[0].length ?? 0;
  const own =
    dialsAbroad > 2 ? readTidy(text.replace(new RegExp(`^(?:\\D*\\d){${dialsAbroad}}`), '+'), home) : standard;
  const isOwn = own !== standard && !('problem' in own);
  if (isOwn && own.assigned) return own;
  if ('problem' in standard) return own;
  const dials001 = digits.startsWith('0011') || home?.plan.dials001 === true;
  if (isOwn ? !standard.assigned : !(dials001 && standard.to.startsWith('+1'))) return isOwn ? own : standard;
  const where = home === null ? 'some countries dial' : `${home.country} may dial`;
  return {
    problem: `can be read in two ways: "00" may mean "+", or begin a prefix that ${where} for calls abroad`,
    hint: WITH_PLUS,
  };
}

const WITH_PLUS = 'Write it with "+" and the country code.';

function readTidy(text: string, home: Home | null): Address | AddressProblem {
  const compact = SPACED.test(text) ? text.replace(NOT_DIGITS, '') : text;
  return readDigits(compact, home) ?? askLibrary(text, home?.country ?? null);
}

/** WhatsApp's id of a person's phone, perhaps with a device: the number comes first. */
const CHAT_ID = /^\+?(\d{6,15})(?:[.:]\d+)*@(?:s\.whatsapp\.net|c\.us)$/i;

/** The id only looks like an email address; that of a group (`@g.us`) is no number. */
export function isChatId(text: string): boolean {
  return /@(?:s\.whatsapp\.net|[cg]\.us|lid|broadcast|newsletter)\s*$/i.test(text);
}

function tidy(raw: string): string {
  return compared(raw)
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0)) // full width
    .replace(/^="(.*)"$/, '$1') // a formula that keeps a spreadsheet from changing the number
    .replace(/^['’]/, '') // a mark for the same purpose
    .replace(/^[“”"](.*)[“”"]$/u, '$1')
    .replace(/^tel: ?/i, '')
    .replace(CHAT_ID, '+$1')
    .replace(/^\(\+(\d+)\)/, '+$1 ');
}

function askLibrary(text: string, country: CountryCode | null): Address | AddressProblem {
  const home = country === null ? {} : { defaultCountry: country };
  const parsed = phoneLibrary().parsePhoneNumberFromString(text, { extract: false, ...home });
  const isWhole = parsed !== undefined && text.replace(/\D/g, '').startsWith(parsed.countryCallingCode);
  if (isWhole && !parsed.isPossible()) {
    // Messaging apps still write Mexico's +52 1, and Benin's numbers without 01, which the plans no longer have.
    const number = listedForm(parsed.number) === parsed.number ? null : readInternational(listedForm(parsed.number));
    if (number !== null) return number;
  }
  if (parsed === undefined) return explainUnparsed(text, country);
  const isShortCode = !text.startsWith('+') && parsed.nationalNumber.length < MIN_NATIONAL_DIGITS && !parsed.isValid();
  const isTooLong = parsed.number.length - 1 > MAX_DIGITS;
  if (parsed.ext !== undefined || isShortCode || isTooLong || !parsed.isPossible()) return explainParsed(parsed, text);
  if (mayLackPlus(text, parsed)) {
    const problem = `can be read in two ways: its first digits may be the country code ${parsed.countryCallingCode}, or not`;
    return { problem, hint: WITH_PLUS };
  }
  const main = plansOf(Number(parsed.countryCallingCode))?.[0].country ?? null;
  return { to: parsed.number, country: parsed.country ?? main, assigned: parsed.isValid() };
}

/**
 * In countries whose numbers have many lengths, digits that begin with the country code can be two numbers: in DE,
 * 4915123456789 is a mobile number without its `+`, and a landline without its 0. A mobile number of the country, or
 * one of a country that dials no such 0, has only one reading.
 */
function mayLackPlus(text: string, parsed: LibraryNumber): boolean {
  const { nationalNumber, countryCallingCode: code } = parsed;
  if (text.startsWith('+') || !nationalNumber.startsWith(code)) return false;
  if (text.replace(/\D/g, '') !== nationalNumber || readInternational(`+${nationalNumber}`)?.assigned !== true)
    return false;
  return !parsed.isValid() || (parsed.getType() !== 'MOBILE' && plansOf(Number(code))?.[0].nationalPrefix !== null);
}

/** Loaded on demand: its 93 modules take 60 ms, and plans made from its metadata (below) read plain digits. */
const phoneLibrary = onDemand(
  () => createRequire(import.meta.url)('libphonenumber-js/max') as typeof import('libphonenumber-js/max'),
);

/** Below this, digits dialled within a country that are not in use as a full number are a short code such as 999. */
const MIN_NATIONAL_DIGITS = 7;
const AS_TEXT = 'Give the column the format "Text" in the spreadsheet, enter the numbers again and save.';
/** E.164 (ITU-T), with the calling code. libphonenumber lets some German numbers have more. */
const MAX_DIGITS = 15;

function explainShape(text: string): AddressProblem | null {
  if (text === '') return { problem: 'is empty' };
  const [, fraction, power] = /^[+-]?\d+(?:[.,](\d+))?e[+-]?(\d+)$/i.exec(text) ?? [];
  if (power !== undefined) {
    return {
      problem: 'is in scientific notation: a spreadsheet turned this number into 4.47701E+11 or the like',
      hint: `${(fraction?.length ?? 0) < Number(power) ? 'Its last digits are lost. ' : ''}${AS_TEXT}`,
    };
  }
  if (/^\+?\d{7,}[.,]0+$/.test(text)) {
    return { problem: 'is a decimal: a spreadsheet or script turned this number into 447700900123.0', hint: AS_TEXT };
  }
  if (/[?&;]ext=\d/i.test(text)) return { problem: 'has an extension', ...NO_EXTENSION };
  return holdsSeveral(text) ? { problem: 'is more than one number', hint: 'Give each number its own row.' } : null;
}

const NO_EXTENSION = {
  hint: 'A message cannot be sent to an extension: give the direct number, or remove the extension.',
};

/** `07700 900123; 07700 900124`, `030 1234567/68`, but not `0171/1234567`, whose `/` follows the area code. */
function holdsSeveral(text: string): boolean {
  const parts = text.split(/[;/|&]|,| or | und | and | ou | y /i).map((part) => part.replace(/\D/g, '').length);
  if (parts.length < 2) return text.indexOf('+', 1) !== -1 && /\d.*\+\d/.test(text);
  const comma = !/[;/|&]/.test(text);
  return (parts[0] ?? 0) >= 7 && parts.slice(1).some((digits) => digits >= (comma ? 7 : 1));
}

function explainUnparsed(text: string, country: CountryCode | null): AddressProblem {
  const digits = text.replace(/\D/g, '');
  if (!/^\+?[\d\s()./~-]+$/.test(text) || digits === '') return { problem: 'is not a phone number' };
  if (digits.length > MAX_DIGITS) return tooManyDigits(digits.length);
  if (digits.length < 5) return { problem: 'is too short for a phone number' };
  if (text.startsWith('+')) return { problem: 'does not begin with a country code that is in use' };
  if (country !== null) return { problem: 'is not a phone number' };
  const lost = phoneLibrary().parsePhoneNumberFromString(`+${digits}`, { extract: false });
  if (!text.startsWith('0') && lost?.isValid() === true)
    return { problem: 'has no country code', hint: lostPlus(lost) };
  const hint = 'Write it with "+" and the country code, or set `recipients.defaultCountry`, for example to GB.';
  return { problem: 'has no country code', hint };
}

function explainParsed(parsed: LibraryNumber, text: string): AddressProblem {
  if (parsed.ext !== undefined) return { problem: 'has an extension', ...NO_EXTENSION };
  const where = parsed.country ?? `+${parsed.countryCallingCode}`;
  const digits = parsed.nationalNumber.length;
  if (parsed.number.length - 1 > MAX_DIGITS) return tooManyDigits(parsed.number.length - 1);
  if (!text.startsWith('+') && digits < MIN_NATIONAL_DIGITS) {
    return {
      problem: `is too short: what has ${digits} digits can at most be dialled within ${where}`,
      hint: 'Give the full number with "+" and the country code.',
    };
  }
  const lost = text.startsWith('+')
    ? undefined
    : phoneLibrary().parsePhoneNumberFromString(`+${text}`, { extract: false });
  const hint = lost?.isValid() === true ? lostPlus(lost) : 'Check its digits and its country code.';
  return { problem: `cannot be a number of ${where}: none has ${digits} digits after the country code`, hint };
}

function tooManyDigits(digits: number): AddressProblem {
  return {
    problem: `has ${digits} digits, and no phone number has more than ${MAX_DIGITS}`,
    hint: 'If the cell holds several numbers, give each its own row.',
  };
}

function lostPlus(lost: LibraryNumber): string {
  const where = lost.country ?? `+${lost.countryCallingCode}`;
  return `It would be a number of ${where} with a "+" in front: a spreadsheet may have removed it.`;
}

/**
 * The numbering plans of libphonenumber (its `max` metadata). Every regular expression is compiled once and anchored to
 * the calling code, so that it can be tried on `+447700900123` directly.
 */

type NumberingPlan = ReturnType<typeof compilePlan>;

interface NumberType {
  /** Bit n: such a number may have n digits. */
  readonly lengths: number;
  readonly pattern: RegExp;
}

/** Countries that share a calling code; the first one is the main one. */
type Plans = readonly [NumberingPlan, ...NumberingPlan[]];

const byCallingCode: (Plans | null | undefined)[] = new Array(1000);

function plansOf(callingCode: number): Plans | null {
  const known = byCallingCode[callingCode];
  return known !== undefined ? known : compileCallingCode(callingCode);
}

/** Null: libphonenumber does not know the country. */
function planOf(country: string): NumberingPlan | null {
  const callingCode = Object.entries(metadata.country_calling_codes).find(([, codes]) =>
    codes.some((code) => code === country),
  )?.[0];
  if (callingCode === undefined) return null;
  return plansOf(Number(callingCode))?.find((plan) => plan.country === country) ?? null;
}

function compileCallingCode(callingCode: number): Plans | null {
  const code = String(callingCode);
  const countries: readonly string[] = new Map(Object.entries(metadata.country_calling_codes)).get(code) ?? [];
  const sources = new Map<string, unknown>(Object.entries(metadata.countries));
  const network: unknown = new Map(Object.entries(metadata.nonGeographic)).get(code);
  const plans = countries.map((country) => compilePlan(country, sources.get(country)));
  if (network !== undefined) plans.push(compilePlan(null, network));
  const [main, ...others] = plans;
  const result: Plans | null = main === undefined ? null : [main, ...others];
  byCallingCode[callingCode] = result;
  return result;
}

// Places in libphonenumber-js's packed metadata, as its source/metadata.js reads them (version 4).
const CALLING_CODE = 0;
const INTERNATIONAL_PREFIX = 1;
const GENERAL = 2;
const LENGTHS = 3;
const NATIONAL_PREFIX = 5;
const NATIONAL_PREFIX_FOR_PARSING = 7;
const LEADING = 10;
const TYPES = 11;
const LANDLINE = 0;
const MOBILE = 1;

function compilePlan(country: string | null, source: unknown) {
  const packed = list(source);
  const callingCode = text(packed[CALLING_CODE]);
  const start = `^\\+${callingCode}`;
  const lengths = lengthBits(packed[LENGTHS]);
  const prefix = text(packed[NATIONAL_PREFIX_FOR_PARSING]) || text(packed[NATIONAL_PREFIX]);
  const leading = text(packed[LEADING]);
  const types = list(packed[TYPES]).map((type): NumberType | null => {
    const [pattern, own = 0] = list(type);
    if (text(pattern) === '') return null;
    const bits = own === 0 ? lengths : lengthBits(own);
    return { lengths: bits, pattern: new RegExp(`${start}(?:${text(pattern)})$`) };
  });
  // libphonenumber has two of Indonesia's four.
  const abroad = country === 'ID' ? '00[1789]' : text(packed[INTERNATIONAL_PREFIX]);
  const internationalPrefix = new RegExp(`^(?:${abroad})`);
  return {
    /** ISO 3166-1 alpha-2; null for networks that belong to no country (+800, +881 ...). */
    country,
    callingCode,
    /** Bit n: a national number may have n digits. */
    lengths,
    general: new RegExp(`${start}(?:${text(packed[GENERAL])})$`),
    types: types.filter((type) => type !== null),
    /** Null: the plan has none. In some countries a number may be either. */
    landline: types[LANDLINE] ?? null,
    mobile: types[MOBILE] ?? null,
    special: Object.entries(SPECIAL_TYPES).flatMap(([type, { place }]) => {
      const pattern = types[place] ?? null;
      return pattern === null ? [] : [[type as SpecialType, pattern] as const];
    }),
    /** Digits that only this country's numbers begin with, among those that share its calling code. */
    leading: leading === '' ? null : new RegExp(`${start}(?:${leading})`),
    /** With groups if it is not simply removed. */
    nationalPrefix: prefix === '' ? null : new RegExp(`^(?:${prefix})`),
    // The lookbehind leaves out matches of nothing, which Argentina's pattern makes of every number.
    /** Matches an international number that seems to carry a national prefix too. */
    strayPrefix: prefix === '' ? null : new RegExp(`${start}(?:${prefix})(?<!${start})`),
    internationalPrefix,
    /** One of these prefixes begins with 001. */
    dials001: Array.from('0123456789').some((d) => (internationalPrefix.exec(`001${d}`)?.[0].length ?? 0) > 2),
  };
}

function lengthBits(source: unknown): number {
  return list(source).reduce<number>((bits, length) => bits | (1 << Number(length)), 0);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The digits of an E.164 number behind its country code; null: it is no such number. */
export function nationalDigits(address: string): string | null {
  if (!/^\+\d+$/.test(address)) return null;
  const code = [1, 2, 3].map((length) => address.slice(1, 1 + length)).find((one) => CODES.has(one));
  return address.slice(1 + (code ?? '').length);
}

const CODES: ReadonlySet<string> = new Set([
  ...Object.keys(metadata.country_calling_codes),
  ...Object.keys(metadata.nonGeographic),
]);
