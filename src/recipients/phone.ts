import type { CountryCode } from 'libphonenumber-js/max';
import { problem, refuse } from '../errors.ts';
import { isPhoneCountry, phoneLibrary } from './phone-library.ts';
import {
  explainParsed,
  explainShape,
  explainUnparsed,
  MAX_DIGITS,
  MIN_NATIONAL_DIGITS,
  type PhoneProblem,
} from './phone-problem.ts';
import { type NumberingPlan, type NumberType, type Plans, planOf, plansOf } from './plans.ts';

/** A number that a network could have given out. */
export interface PhoneNumber {
  /** `+`, calling code and national number: at most 15 digits. */
  readonly e164: string;
  /**
   * ISO 3166-1 alpha-2; null for networks that belong to no country. Where several countries share a calling code and
   * none of them uses the number, it is the main one (the documentation number +447700900123 is GB).
   */
  readonly country: string | null;
  /** The numbering plan uses it: false for numbers that only have the right length, such as documentation numbers. */
  readonly assigned: boolean;
}

export type { PhoneProblem } from './phone-problem.ts';

export type PhoneReader = (raw: string) => PhoneNumber | PhoneProblem;

/**
 * Makes a reader of phone numbers as people write them. What it says of a number - spelling, country, possible,
 * assigned - is what libphonenumber says (`parsePhoneNumberFromString` of its `max` build, the whole cell), only
 * faster: plain digits are matched against compiled plans, and what does not fit goes to the library itself. On top
 * of that `00` is always `+`, short codes are refused, and so is what holds more or other than one number.
 * @param defaultCountry ISO 3166-1 alpha-2, for numbers without a calling code
 * @throws HandbillError (exit 2): invalid-value, when there is no such country
 */
export function createPhoneReader(defaultCountry: string | null): PhoneReader {
  const home = defaultCountry === null ? null : findHome(defaultCountry);

  return function readPhone(raw) {
    return readDigits(raw, home) ?? readSpelling(raw, home);
  };
}

interface Home {
  readonly country: CountryCode;
  readonly plan: NumberingPlan;
}

function findHome(defaultCountry: string): Home {
  const plan = planOf(defaultCountry);
  if (plan !== null && isPhoneCountry(defaultCountry)) return { country: defaultCountry, plan };
  const message = `\`recipients.defaultCountry\` is "${defaultCountry}", which is not a country with phone numbers.`;
  throw refuse(problem('invalid-value', message, { hint: 'Give a two-letter code such as GB, DE or US.' }));
}

/** Plain digits, the usual case; null when the library has to look at it. */
function readDigits(raw: string, home: Home | null): PhoneNumber | null {
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

/** `+` and digits; the national prefix may have been left in, as in +44 (0)20. */
function readInternational(e164: string): PhoneNumber | null {
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

/** Digits as they are dialled within a country, with or without the national prefix. */
function readNational(raw: string, home: NumberingPlan): PhoneNumber | null {
  const plans = plansOf(Number(home.callingCode));
  if (plans === null || raw.startsWith('00') || raw.startsWith(home.callingCode)) return null;
  if (home.internationalPrefix.test(raw)) return null;
  const number = readPrefixed(raw, home, plans, home);
  if (number === null || number.assigned) return number;
  return number.e164.length - 1 - home.callingCode.length < MIN_NATIONAL_DIGITS ? null : number;
}

/** Digits that may begin with the national prefix of a plan. */
function readPrefixed(raw: string, plan: NumberingPlan, plans: Plans, home: NumberingPlan | null): PhoneNumber | null {
  const whole = `+${plan.callingCode}${raw}`;
  const prefix = plan.nationalPrefix?.exec(raw) ?? null;
  if (prefix === null || prefix[0] === '') return judge(whole, plans, home);
  // Groups mean that the library rewrites the number (area codes of islands, carrier codes).
  if (prefix.length > 1 && (prefix.at(-1) ?? '') !== '') return null;
  const stripped = `+${plan.callingCode}${raw.slice(prefix[0].length)}`;
  // The library keeps the prefix when only the number with it is one, or when too little would be left.
  if (!plan.general.test(stripped) && plan.general.test(whole)) return null;
  return judge(stripped, plans, home);
}

/** The verdict on a number in E.164 form; null when it does not even have a possible length. */
function judge(e164: string, plans: Plans, home: NumberingPlan | null): PhoneNumber | null {
  const digits = e164.length - 1 - plans[0].callingCode.length;
  const owner = findOwner(e164, digits, plans);
  const plan = owner ?? home ?? plans[0];
  if ((plan.lengths & (1 << digits)) === 0 || e164.length - 1 > MAX_DIGITS) return null;
  const tried = plans.length > 1 && plan.leading === null;
  const assigned = tried ? owner !== null : isAssigned(e164, digits, plan);
  return { e164, country: plan.country, assigned };
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

/** What makes it unlikely that a number gets a message, although a network could have given it out. */
export const NUMBER_DOUBTS = ['wrong-length', 'landline', 'unassigned'] as const;

export interface NumberDoubt {
  readonly kind: (typeof NUMBER_DOUBTS)[number];
  /** Follows on "The number". */
  readonly problem: string;
}

/**
 * What speaks against a number, the most telling alone; null: nothing.
 * @param phone `country` and `assigned` as the reader of numbers says them
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
    // Without numbers of their own, mobile phones have those of landlines, as in North America.
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

/** Marks that show nothing and come along when a number is copied. */
const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Only digits and what stands between them: taking it out cannot change what the library reads. */
const SPACED = /^\+?[\d ().\-/\u00a0]+$/;

const NOT_DIGITS = /[^+\d]/g;

/** The same without what may also mean a decimal or two numbers: needs no tidying. */
const PLAIN = /^ *\+?[\d ()\-\u00a0]+$/;

/** Longest cell that is looked at: what libphonenumber takes. It also keeps the expressions here from long texts. */
const MAX_CHARACTERS = 250;

function readSpelling(raw: string, home: Home | null): PhoneNumber | PhoneProblem {
  if (raw.length > MAX_CHARACTERS) return { problem: `has ${raw.length} characters, which no phone number has` };
  const plain = PLAIN.test(raw) ? readDigits(raw.replace(NOT_DIGITS, ''), home) : null;
  if (plain !== null) return plain;
  const text = tidy(raw);
  const wrong = explainShape(text);
  if (wrong !== null) return wrong;
  const compact = SPACED.test(text) ? text.replace(NOT_DIGITS, '') : text;
  const number = compact === raw ? null : readDigits(compact, home);
  return number ?? askLibrary(text, home?.country ?? null);
}

/** One spelling for what means the same. */
function tidy(raw: string): string {
  return raw
    .replace(INVISIBLE, '')
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0)) // full width
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^="(.*)"$/, '$1') // a formula that keeps a spreadsheet from changing the number
    .replace(/^['’]/, '') // a mark for the same purpose
    .replace(/^tel: ?/i, '')
    .replace(/^\(\+(\d+)\)/, '+$1 ')
    .replace(/^\(?00\)?/, '+');
}

function askLibrary(text: string, country: CountryCode | null): PhoneNumber | PhoneProblem {
  const home = country === null ? {} : { defaultCountry: country };
  const parsed = phoneLibrary().parsePhoneNumberFromString(text, { extract: false, ...home });
  if (parsed === undefined) return explainUnparsed(text, country);
  const isShortCode = !text.startsWith('+') && parsed.nationalNumber.length < MIN_NATIONAL_DIGITS && !parsed.isValid();
  const isTooLong = parsed.number.length - 1 > MAX_DIGITS;
  if (parsed.ext !== undefined || isShortCode || isTooLong || !parsed.isPossible()) return explainParsed(parsed, text);
  const main = plansOf(Number(parsed.countryCallingCode))?.[0].country ?? null;
  return { e164: parsed.number, country: parsed.country ?? main, assigned: parsed.isValid() };
}
